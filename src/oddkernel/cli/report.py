"""``oddkernel report``: a page to look at."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .answers import add_answers, read_answers, require_answers
from .fit import add_random_state
from .items import check_there, is_study, read_items
from .model import Learned, add_learned, chosen, default_out, read_learned, settings_of
from .outputs import add_output
from .summary import Summary, working

if TYPE_CHECKING:
    from ..learning.sklr import SKLR
    from ..report import Report


def add(commands: Any) -> argparse.ArgumentParser:
    """Describe the command."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "report",
        help="write a page with maps, clusters, neighbours, answers and fit",
        description="Writes one HTML file that shows what was learned: maps before and after, clusters from coarse to\n"
        "fine, neighbours, answers and fit. It opens anywhere and needs no network.\n\n"
        "A study's folder is enough: features are made if there are none, the answers are learned from, all but those\n"
        "held out, which are used for the score, and the page is report.html in the folder. What was made stays\n"
        "there, and the next report makes only what has changed.",
        epilog="examples:\n"
        "  oddkernel report photos/\n"
        "  oddkernel report animals.csv answers.csv --out animals.html\n"
        "  oddkernel report animals.csv --model animals.oddkernel --images photographs --out animals.html",
    )
    add_learned(parser)
    add_answers(parser)
    add_output(parser, "--out", metavar="FILE", help="file to write: .html (report.html in the study's folder)")
    looks = parser.add_argument_group("what the items look like")
    looks.add_argument("--images", metavar="DIR", type=Path, help="folder with an image for each item, called like it")
    looks.add_argument(
        "--about", metavar="FILE", type=Path, help="a .csv with a line for each item: item, and text or class or both"
    )
    shown = parser.add_argument_group("what is shown")
    shown.add_argument("--held-out", metavar="FILE", type=Path, help="answers set aside, to see how well new ones fare")
    shown.add_argument(
        "-k", metavar="N", type=int, action="append", help="number of clusters; may be given several times (2 to 20)"
    )
    shown.add_argument(
        "--dimensions",
        metavar="MODEL",
        type=Path,
        help="a model with dimensions (oddkernel dimensions --save); a study keeps its own",
    )
    shown.add_argument("--map", default="tsne", help="tsne, umap, mds or pca")
    shown.add_argument("--title", help="the page's title")
    add_output(shown, "--figures", folder=True, metavar="DIR", help="folder for every picture as PNG and SVG")
    add_random_state(parser)
    parser.set_defaults(run=run)
    return parser


def run(arguments: argparse.Namespace) -> Summary:
    """Read, compute part by part, write."""
    started = time.perf_counter()
    check_there(arguments.items)
    is_learned = _is_learned(arguments)
    out = _check_out(arguments)
    with working("starting"):
        from ..judge.study_report import save_report
        from ..report.figures import require_matplotlib
        from ..report.thumbnails import require_pillow

        if arguments.figures is not None:
            require_matplotlib()
        if arguments.images is not None:
            require_pillow()
    learned = read_learned(arguments) if is_learned else _learn(arguments)
    with working("reading"):
        report = _report(arguments, learned)
    compute(report)
    with working("writing"):
        if learned.data is None:
            report.save(out)
        else:
            save_report(report, out)
    pictures = []
    if arguments.figures is not None:
        with working("drawing pictures"):
            pictures = report.figures(arguments.figures)
    return _summary(report, learned, out, pictures, time.perf_counter() - started)


def _check_out(arguments: argparse.Namespace) -> Path:
    out = default_out(arguments, "report.html")
    if out.suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"{out}: expected a name that ends with .html")
    return out


def _is_learned(arguments: argparse.Namespace) -> bool:
    """Whether the model is in a file or kept with a study; otherwise it is learned from a file of answers."""
    if arguments.model is not None or (arguments.answers is None and is_study(arguments.items)):
        return True
    require_answers(arguments)
    return False


def _learn(arguments: argparse.Namespace) -> Learned:
    from ..learning.sklr import SKLR

    given = read_items(arguments)
    said, notes, n_simulated = read_answers(arguments.answers, arguments, given.items)
    without = given.kept is not None and given.kept.option == "none"
    model = SKLR("identity", rank=None, random_state=0) if without else SKLR(random_state=0)
    model.fit(given.items.X, said)
    return Learned(model, given, given.items.X, None, [*given.sentences, *notes], notes, n_simulated)


def compute(report: Report) -> None:
    """Compute the parts of a report that take long, saying which."""
    from ..judge.study_report import PARTS

    for part, words in PARTS.items():
        with working(words):
            getattr(report, part)


def _report(arguments: argparse.Namespace, learned: Learned) -> Report:
    from ..judge.study_report import looks_of, report_of, simulated_mark
    from ..report import Report
    from ..report.item_details import read_about
    from ..report.thumbnails import images_in

    items = learned.given.items
    options: dict[str, Any] = {"clusters": arguments.k, "map": arguments.map, "random_state": arguments.random_state}
    if arguments.about is not None:
        about = read_about(arguments.about, items.names, len(items.X))
        called = {"text": "texts", "class": "classes"}
        options |= {called[column]: values for column, values in about.items() if column in called}
    if arguments.images is not None:
        if items.names is None:
            raise ValueError("--images needs items with names to find their files by; add a column called item")
        options["images"] = images_in(arguments.images, items.names)
    if arguments.held_out is not None:
        options["held_out"] = read_answers(arguments.held_out, arguments, items).said
    n_simulated = learned.n_simulated
    if arguments.model is not None and arguments.answers is not None:
        options["answers"], notes, n_simulated = read_answers(arguments.answers, arguments, items)
        if n_simulated:
            learned.sentences.extend([*([] if learned.sentences else [f"{len(items.X)} items."]), notes[-1]])
    if arguments.dimensions is not None:
        from ..dimensions import load

        options["dimensions"] = load(arguments.dimensions)
    if arguments.title is not None:
        options["title"] = arguments.title
    if learned.data is not None:
        return report_of(learned.data, learned.model, **options)
    if n_simulated:
        n_answers = options.get("answers", learned.model.comparisons_).n_answers
        options.setdefault("title", arguments.items.stem + simulated_mark(n_simulated, n_answers))
    looks = looks_of(learned.given.source, items.names or ())
    return Report(learned.model, learned.X, **{"names": items.names, **looks, **options})


def _summary(report: Report, learned: Learned, out: Path, pictures: list[Path], seconds: float) -> Summary:
    agreement, held_out, suggestion = report.verdicts.agreement(), report.held_out, report.resolutions.suggestion
    from ..report.wording import plural

    size = out.stat().st_size
    sentences = [
        *(learned.sentences or [f"{len(report.X)} items."]),
        *([] if learned.data is not None else [f"{plural(len(report.answers), 'answer')}."]),
        *_chosen(learned.model),
        f"{report.opening.headline}.",
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
        **learned.facts,
        **settings_of(learned.model),
        "n_items": len(report.X),
        "n_answers": len(report.answers),
        "headline": report.opening.headline,
        "encoder": None if learned.given.kept is None else learned.given.kept.option,
        "agreement": None if agreement is None else {"before": agreement[0], "after": agreement[1]},
        "held_out": None
        if held_out is None
        else {"before": held_out.before, "after": held_out.after, "n_answers": held_out.n_answers},
        "suggested_clusters": suggestion.k,
        "pictures": [str(picture) for picture in pictures],
        "seconds": round(seconds, 3),
    }
    return Summary(sentences, facts)


def _chosen(model: SKLR) -> list[str]:
    """What was chosen while learning."""
    tuning = model.tuning_
    return [] if tuning is None else [f"Chosen: {chosen(model)}. {tuning.sentence}"]
