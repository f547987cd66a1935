"""``oddkernel demo``: the main job on data that scikit-learn carries."""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .outputs import add_output
from .report import compute
from .summary import Summary, command_name, working

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ..comparisons import Comparisons
    from ..learning.sklr import SKLR

N_ANSWERS = 300
N_UNSEEN = 1000


def add(commands: Any) -> argparse.ArgumentParser:
    """Describe the command."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "demo",
        help="learn from 300 simulated answers about handwritten digits; leave a picture and a report",
        description="Learns from 300 odd-one-out answers about the 1797 handwritten digits that scikit-learn carries,\n"
        "says what was learned, and leaves a picture, a folder of the digits as pictures and a report about them to\n"
        "open in a browser.",
        epilog="example:\n  oddkernel demo --out digits",
    )
    add_output(
        parser,
        "--out",
        folder=True,
        metavar="DIR",
        default=Path("oddkernel-demo"),
        help="folder to write to (oddkernel-demo)",
    )
    parser.set_defaults(run=run)
    return parser


def run(arguments: argparse.Namespace) -> Summary:
    """Learn, measure, draw."""
    if find_spec("matplotlib") is None:
        raise ImportError('the demo draws with matplotlib: pip install "oddkernel[plot]"')
    started = time.perf_counter()
    with working("starting"):
        from sklearn.datasets import load_digits

        from ..comparisons import Comparisons
        from ..learning.sklr import SKLR
        from ..report import Report, before_after
        from ..support.files import replace

    images = load_digits()
    X, digits = images.data, images.target
    said = Comparisons.from_labels(digits, N_ANSWERS, random_state=0)
    unseen = Comparisons.from_labels(digits, N_UNSEEN, random_state=1)
    before, after = SKLR().fit(X), SKLR().fit(X, said)
    with working("clustering"):
        facts: dict[str, Any] = {
            "n_items": len(X),
            "n_answers": len(said),
            "n_asked": len(said.constrained),
            "n_unseen": len(unseen),
            "score_before": before.score(X, unseen),
            "score_after": after.score(X, unseen),
            "rand_before": _adjusted_rand(before, X, digits),
            "rand_after": _adjusted_rand(after, X, digits),
            "status": str(after.solution_.status),
        }
    shown = {name: _shown(name, fact) for name, fact in facts.items()}
    ink = (255 - 15 * images.images).astype("uint8")  # dark on light, as it was written
    with working("writing the pictures"):
        folder = _Folder.write(arguments.out, ink, X, said)
    report = Report(
        after,
        X,
        names=folder.names,
        classes=digits,
        images=ink,
        held_out=unseen,
        title=f"Handwritten digits: what {N_ANSWERS} answers taught",
    )
    compute(report)
    with working("drawing"):
        titles = [
            f"Before: by their pixels\nclusters match the digits at {shown['rand_before']}",
            f"After {N_ANSWERS} answers\nclusters match the digits at {shown['rand_after']}",
        ]
        legend = f"the digit that was written; maps by {report.maps.method}, as in the report"
        picture = before_after([report.maps.before, report.maps.after], titles, digits, legend)
    files = {"picture": arguments.out / "before_after.png", "report": arguments.out / "report.html"}
    replace(files["picture"], picture)
    report.save(files["report"])
    facts |= {name: str(file) for name, file in files.items()}
    facts["seconds"] = round(time.perf_counter() - started, 1)
    sentences = [*_sentences(shown, str(after.solution_), files, facts["seconds"]), *folder.sentences()]
    return Summary(sentences, {**facts, "pictures": str(folder.path)})


@dataclass(frozen=True)
class _Folder:
    """The digits as people have their items: a folder of pictures, with features and answers in files beside it."""

    path: Path
    names: list[str]

    @classmethod
    def write(cls, out: Path, ink: NDArray[np.uint8], X: NDArray[np.float64], said: Comparisons) -> _Folder:
        import numpy as np
        from PIL import Image

        from .. import formats

        folder = cls(out / "digits", [f"digit {number:04}.png" for number in range(len(ink))])
        folder.path.mkdir(parents=True, exist_ok=True)
        for name, image in zip(folder.names, ink.repeat(4, axis=1).repeat(4, axis=2), strict=True):
            Image.fromarray(image).save(folder.path / name)
        np.savez(out / "pixels.npz", X=X, names=np.array(folder.names))
        formats.write(said.with_names(folder.names), out / "answers.csv")
        return folder

    def sentences(self) -> list[str]:
        """What to type next."""
        answers, features, page = (self.path.with_name(name) for name in ("answers.csv", "pixels.npz", "again.html"))
        program = command_name()
        return [
            f"Folder:  {self.path}, the digits as pictures. A report from the folder:",
            f"  {program} report {self.path} {answers} --with {features} --out {page}",
            "With your own pictures and people, these two are the whole way:",
            f"  {program} judge photos/",
            f"  {program} report photos/",
        ]


def _shown(name: str, fact: Any) -> str:
    if name.startswith("score"):
        return f"{fact:.1%}"
    return f"{fact:.2f}" if isinstance(fact, float) else str(fact)


def _sentences(shown: dict[str, str], solution: str, files: dict[str, Path], seconds: float) -> list[str]:
    return f"""\
{shown["n_items"]} images of handwritten digits. {shown["n_answers"]} answers, simulated from the digits, about
{shown["n_asked"]} of the images: which one of these three is least like the other two?

                                                    before   after
Agrees with {shown["n_unseen"]} answers it did not learn from      {shown["score_before"]:>6}  {shown["score_after"]:>6}
Clusters match the digits (Adjusted Rand, best 1)   {shown["rand_before"]:>6}  {shown["rand_after"]:>6}

{solution}
It took {seconds:.0f} seconds.

Picture: {files["picture"]}
Report:  {files["report"]} (open it in a browser)""".splitlines()


def _adjusted_rand(model: SKLR, X: NDArray[np.float64], digits: NDArray[np.intp]) -> float:
    """How well clusters by the model's kernel match the digits."""
    from sklearn.metrics import adjusted_rand_score

    from ..cluster import KernelKMeans

    groups = KernelKMeans(n_clusters=10, random_state=0).fit_predict(model.kernel_matrix(X))
    return float(adjusted_rand_score(digits, groups))
