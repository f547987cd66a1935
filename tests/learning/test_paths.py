"""The settings that are tried along paths of penalties."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest

from oddkernel import SKLR, Comparisons
from oddkernel.learning import learn, paths
from oddkernel.learning.paths import path_of
from oddkernel.problem.losses import LOSSES
from oddkernel.problem.solution import Status


@pytest.mark.parametrize("loss", LOSSES)
def test_a_path_grows_and_is_in_the_unit_of_its_loss(loss: str) -> None:
    path = path_of(loss, 1.0, 0.5)
    assert np.log10(path[[0, -1]]).tolist() == pytest.approx(LOSSES[loss].penalties)
    assert np.diff(np.log10(path)) == pytest.approx(0.5)
    # Squared slack counts squared distances twice, hinges once, likelihoods have no unit.
    power = {"squared": 2, "hinge": 1, "logistic": 0, "softmax": 0}[loss]
    assert path_of(loss, 10.0, 0.5) == pytest.approx(path / 10.0**power)


@pytest.mark.parametrize("unsolved", ["some", "all"])
def test_fits_that_were_not_solved_are_never_chosen(unsolved: str, monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.random.default_rng(0).normal(size=(40, 3))
    said = Comparisons.from_labels((X[:, 0] > 0).astype(int), 80, random_state=0)
    chosen = SKLR("linear", loss="squared").fit(X, said).tuning_
    assert all(trial.solved for trial in chosen.trials)

    def failing(phi, said, recipe, penalties, **options):
        learned = learn(phi, said, recipe, penalties, **options)
        worst = unsolved == "all" or penalties[0] == pytest.approx(chosen.penalties[0])
        status = Status.EXHAUSTED if worst else learned.solution.status
        return replace(learned, solution=replace(learned.solution, status=status))

    monkeypatch.setattr(paths, "learn", failing)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        found = SKLR("linear", loss="squared").fit(X, said).tuning_
    assert not all(trial.solved for trial in found.trials)
    assert all(trial.solved for trial in found.trials if trial.penalties == found.penalties)
    assert found.penalties[0] != chosen.penalties[0]
