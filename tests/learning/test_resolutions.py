"""Whether answers come at several resolutions."""

from __future__ import annotations

import numpy as np
import pytest

from oddkernel import SKLR, Comparisons
from oddkernel.learning.resolutions import several_resolutions

CLASSES = np.arange(60) % 6


def answers(classes: np.ndarray, n: int = 100, noise: float = 0.0) -> Comparisons:
    return Comparisons.from_labels(classes, n, noise=noise, random_state=0)


def test_answers_by_groups_and_by_classes() -> None:
    assert several_resolutions(answers(CLASSES) + answers(CLASSES % 2))


def test_few_answers_about_many_items() -> None:
    """Hardly any answer parts what others join: 8 of 600 here."""
    random = np.random.RandomState(6)
    classes = random.randint(10, size=1000)
    by_class, by_group = (Comparisons.from_labels(y, 300, random_state=random) for y in (classes, classes // 5))
    assert several_resolutions(by_class + by_group)
    assert not several_resolutions(by_class)


@pytest.mark.parametrize("noise", [0.0, 0.2, 0.4])
def test_answers_by_classes_alone(noise: float) -> None:
    assert not several_resolutions(answers(CLASSES, 200, noise))


def test_answers_that_decide_nothing() -> None:
    assert not several_resolutions(answers(CLASSES)[:0])
    assert not several_resolutions(Comparisons.odd_one_out([[0, 1, 2]], [-1]))
    assert not several_resolutions(Comparisons.must_link([[0, 1]]))


@pytest.mark.filterwarnings("ignore:Nothing was learned")
def test_the_ratio_is_at_most_two_where_answers_come_at_several_resolutions() -> None:
    X = np.random.default_rng(0).normal(size=(60, 4)) + 2.0 * np.random.default_rng(1).normal(size=(6, 4))[CLASSES]
    mixed = answers(CLASSES) + answers(CLASSES % 2)
    for said, given, expected in ((mixed, "auto", 2.0), (answers(CLASSES, 200), "auto", 4.0), (mixed, 3.0, 3.0)):
        tuning = SKLR("linear", loss="squared", ratio=given).fit(X, said).tuning_
        assert max(trial.recipe.ratio for trial in tuning.trials) == tuning.trials[1].recipe.ratio == expected
    assert SKLR("linear", loss="softmax").fit(X, mixed).tuning_.trials[1].recipe.ratio == 1.0
