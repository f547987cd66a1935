"""Agreement of a kernel with held-out answers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.utils import check_random_state

from ..comparisons import Comparisons, kinds
from ..learning.folds import FEWEST, folds_of, without
from ..learning.rounds import learn
from ..learning.sklr import SKLR
from ..problem import choices
from ..solvers import Newton
from ..support.types import Array

MOST = 20_000
"""Above this many answers nothing is learned again in order to hold some out: that would take minutes."""
# Tolerance and most steps of these fits: held-out answers can't tell more exact ones apart.
TOLERANCE, STEPS = 1e-3, 60


@dataclass(frozen=True)
class HeldOut:
    """Agreement with held-out answers, before and after learning.

    Attributes
    ----------
    before, after : float
        Share of the answers that the initial and the learned distances agree with.
    interval : (float, float)
        95% interval of the gain.
    n_answers : int
        Number of held-out answers.
    chance : float
        Chance level: a third for answers about three items, a half for *closer*.
    how : str
        How they were held out, as text.
    """

    before: float
    after: float
    interval: tuple[float, float]
    n_answers: int
    chance: float
    how: str

    @property
    def gain(self) -> float:
        """By how much learning raises the agreement."""
        return self.after - self.before


def from_tuning(model: SKLR) -> HeldOut | None:
    """The held-out agreement that ``penalty="auto"`` measured."""
    tuning = model.tuning_
    if tuning is None:
        return None
    known = model.comparisons_[choices.decided(model.comparisons_)]
    how = "held out in turn while the penalty was chosen"
    return HeldOut(tuning.start, tuning.start + tuning.gain, tuning.gain_interval, len(known), _chance(known), how)


def from_answers(said: Comparisons, before: Array, after: Array) -> HeldOut:
    """The agreement with answers that the caller held out."""
    known = said[choices.decided(said)]
    if not len(known):
        raise ValueError("held_out holds no answers about three items besides can't tell; expected some to predict")
    first, then = (choices.agreement(choices.sides(points, known.shown), known) for points in (before, after))
    return _compared(first, then, known, "set aside before learning")


def from_folds(model: SKLR) -> HeldOut | None:
    """Learn again without a part of the answers, part by part; None where they are too few or too many.

    The initial kernel, loss, ratio, margin, penalty and softness are the model's.
    """
    fit, said = model.fit_, model.fit_.said
    rows = np.flatnonzero(choices.decided(said))
    if len(rows) < FEWEST or len(said) > MOST or model.penalty_ == 0:
        return None
    first, then = np.full(len(said), np.nan), np.full(len(said), np.nan)
    for out in folds_of(said, None, check_random_state(0)):
        learned = learn(
            fit.asked, without(said, out), fit.recipe, fit.penalties, solver=Newton(), tol=TOLERANCE, max_iter=STEPS
        )
        tested = np.intersect1d(out, rows)
        for share, points in ((first, fit.asked), (then, fit.asked @ learned.root)):
            share[tested] = choices.agreement(choices.sides(points, said.shown[tested]), said[tested])
    seen = ~np.isnan(then)
    return _compared(first[seen], then[seen], said[seen], "held out in turn, and the rest learned from again")


def _compared(before: Array, after: Array, known: Comparisons, how: str) -> HeldOut:
    share = known.weight / known.weight.sum()
    difference = after - before
    gain = float(share @ difference)
    error = 1.96 * float(np.sqrt(share**2 @ np.square(difference - gain)))
    interval = (gain - error, gain + error)
    return HeldOut(float(share @ before), float(share @ after), interval, len(known), _chance(known), how)


def _chance(known: Comparisons) -> float:
    return float(np.average(1 / kinds.compared(known.kind).sum(axis=1), weights=known.weight))
