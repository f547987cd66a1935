"""``oddkernel report``: a page to look at."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .answers import add_reading, read_answers
from .fit import add_names, add_random_state
from .summary import Summary, working

if TYPE_CHECKING:
    from ..report import Report

PARTS = {
    "maps": "drawing the maps",
    "resolutions": "finding clusters at several resolutions",
    "neighbours": "finding neighbours",
    "held_out": "learning again without some of the answers",
    "thumbnails": "shrinking the images",
}


def add(commands: Any) -> argparse.ArgumentParser:
    """Describe the command."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "report",
        help="write a page with maps, clusters, neighbours, answers and fit",
        description="Writes one HTML file that shows what was learned: maps before and after, clusters from coarse to\n"
        "fine, neighbours, answers and fit. It opens anywhere and needs no network.",
        epilog="example:\n"
        "  oddkernel report animals.oddkernel --items animals.csv --images photographs --out animals.html",
    )
    parser.add_argument("model", metavar="MODEL", type=Path, help="a model that oddkernel fit wrote")
    parser.add_argument(
        "--items", metavar="FEATURES", type=Path, required=True, help="features: .npy, .npz, .csv or .parquet"
    )
    add_names(parser)
    parser.add_argument("--out", metavar="FILE", type=Path, required=True, help="file to write: .html")
    looks = parser.add_argument_group("what the items look like")
    looks.add_argument("--images", metavar="DIR", type=Path, help="folder with an image for each item, called like it")
    looks.add_argument(
        "--about", metavar="FILE", type=Path, help="a .csv with a line for each item: item, and text or class or both"
    )
    shown = parser.add_argument_group("what is shown")
    shown.add_argument("--answers", metavar="FILE", type=Path, help="answers to show, not those learned from")
    shown.add_argument("--held-out", metavar="FILE", type=Path, help="answers set aside, to see how well new ones fare")
    add_reading(shown)
    shown.add_argument(
        "-k", metavar="N", type=int, action="append", help="number of clusters; may be given several times (2 to 20)"
    )
    shown.add_argument("--map", default="tsne", help="tsne, umap, mds or pca")
    shown.add_argument("--title", help="the page's title")
    shown.add_argument("--figures", metavar="DIR", type=Path, help="folder for every picture as PNG and SVG")
    add_random_state(parser)
    parser.set_defaults(run=run)
    return parser


def run(arguments: argparse.Namespace) -> Summary:
    """Read, compute part by part, write."""
    started = time.perf_counter()
    if arguments.out.suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"{arguments.out}: expected a name that ends with .html")
    if not arguments.out.resolve().parent.is_dir():
        raise ValueError(f"{arguments.out}: the folder doesn't exist")
    with working("reading"):
        report = _report(arguments)
    compute(report)
    with working("writing"):
        report.save(arguments.out)
    pictures = []
    if arguments.figures is not None:
        with working("drawing pictures"):
            pictures = report.figures(arguments.figures)
    return _summary(report, arguments.out, pictures, time.perf_counter() - started)


def compute(report: Report) -> None:
    """Compute the parts of a report that take long, saying which."""
    for part, words in PARTS.items():
        with working(words):
            getattr(report, part)


def _report(arguments: argparse.Namespace) -> Report:
    import warnings

    from ..items import tables
    from ..learning import models
    from ..report import Report
    from ..report.about import read_about
    from ..report.figures import require_matplotlib
    from ..report.thumbnails import images_in, require_pillow

    if arguments.figures is not None:
        require_matplotlib()
    if arguments.images is not None:
        require_pillow()
    model = models.load(arguments.model)
    items = tables.read(arguments.items, names=arguments.names)
    # scikit-learn checks the names of features in data frames only; `features` has just checked them.
    warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
    about = {} if arguments.about is None else read_about(arguments.about, items.names, len(items.X))
    if arguments.images is not None and items.names is None:
        raise ValueError("--images needs items with names to find their files by; add a column called item")
    return Report(
        model,
        items.features(getattr(model, "feature_names_in_", None)),
        names=items.names,
        texts=about.get("text"),
        classes=about.get("class"),
        images=None if arguments.images is None else images_in(arguments.images, items.names or ()),
        answers=None if arguments.answers is None else read_answers(arguments.answers, arguments, items).said,
        held_out=None if arguments.held_out is None else read_answers(arguments.held_out, arguments, items).said,
        clusters=arguments.k,
        map=arguments.map,
        title=arguments.title,
        random_state=arguments.random_state,
    )


def _summary(report: Report, out: Path, pictures: list[Path], seconds: float) -> Summary:
    agreement, held_out, suggestion = report.verdicts.agreement(), report.held_out, report.resolutions.suggestion
    size = out.stat().st_size
    sentences = [
        f"{len(report.X)} items, {len(report.answers)} answers.",
        *(
            []
            if held_out is None
            else [
                f"Agrees with {held_out.after:.1%} of {held_out.n_answers} answers it has not seen, "
                f"{held_out.before:.1%} before learning."
            ]
        ),
        f"{suggestion.k} clusters are a good number to begin with.",
        *([f"Pictures: {len(pictures)} files in {pictures[0].parent}"] if pictures else []),
        f"Page: {out} ({size / 1e6:.1f} MB, {seconds:.0f} s); open it in a browser",
    ]
    facts = {
        "out": str(out),
        "bytes": size,
        "n_items": len(report.X),
        "n_answers": len(report.answers),
        "agreement": None if agreement is None else {"before": agreement[0], "after": agreement[1]},
        "held_out": None if held_out is None else {"before": held_out.before, "after": held_out.after},
        "suggested_clusters": suggestion.k,
        "pictures": [str(picture) for picture in pictures],
        "seconds": round(seconds, 3),
    }
    return Summary(sentences, facts)
