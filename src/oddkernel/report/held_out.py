"""Agreement of a kernel with held-out answers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.utils import check_random_state

from ..comparisons import Comparisons, kinds
from ..learning.rounds import learn
from ..learning.sklr import SKLR
from ..learning.tuning import FEWEST, folds_of
from ..problem import choices
from ..problem.constraints import Constraints
from ..solvers import Newton
from ..support.numbered import places
from ..support.types import Array

MOST = 20_000
"""With more answers than this there is no cross-validation. Chosen by hand: it would take minutes."""


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


def from_folds(model: SKLR, X: Array) -> HeldOut | None:
    """Cross-validation: learn again without each fold of the answers; None if there are too few or too many.

    The initial kernel, loss, ratio, margin, penalty and softness are the model's.
    """
    said = model.comparisons_
    rows = np.flatnonzero(choices.decided(said))
    if len(rows) < FEWEST or len(said) > MOST or model.penalty_ == 0:
        return None
    items = said.constrained
    phi = model.features_.transform(X[items])
    said = _with_bounds(said, model._rows)
    first, then = np.full(len(said), np.nan), np.full(len(said), np.nan)
    where, penalties = places(items, said.shown), model._penalties()
    for out in folds_of(said, None, check_random_state(0)):
        rest = said[np.setdiff1d(np.arange(len(said)), out)]
        constraints = Constraints.from_comparisons(rest, ratio=model.ratio_, margin=model.margin).relabelled(items)
        learned = learn(
            phi,
            constraints,
            model.loss_,
            penalties,
            solver=Newton(),
            starts=[],
            tol=1e-3,
            max_iter=60,
            softness=model.softness_,
        )
        tested = np.intersect1d(out, rows)
        for share, points in ((first, phi), (then, phi @ learned.root)):
            share[tested] = choices.agreement(choices.sides(points, where[tested]), said[tested])
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


def _with_bounds(said: Comparisons, rows: Constraints) -> Comparisons:
    """The answers, with the bounds that the learner chose for links without one."""
    bound = said.bound.copy()
    is_link = said.links[rows.answer]
    bound[rows.answer[is_link]] = np.abs(rows.offset[is_link])
    return Comparisons(said.kind, said.shown, said.odd, bound, said.weight, said.rater, said.items)
