"""The first screen of the report."""

from __future__ import annotations

import numpy as np

from oddkernel import SKLR, Comparisons
from oddkernel.report import Report


def test_items_of_answers_that_were_set_aside_do_not_count_as_asked_about() -> None:
    X = np.random.default_rng(0).normal(size=(30, 3))
    labels = np.arange(30) % 3
    said = Comparisons.odd_one_out([[0, 3, 1], [1, 4, 2]], [2, 2])
    report = Report(
        SKLR(penalty=1.0, rank=None).fit(X, said), X, held_out=Comparisons.from_labels(labels, 40, random_state=0)
    )
    assert report.opening.items[1].startswith("5 asked about;")
