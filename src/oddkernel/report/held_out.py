"""Agreement of a kernel with held-out answers."""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum, sqrt

import numpy as np
from sklearn.utils import check_random_state

from ..comparisons import Comparisons
from ..learning.folds import FEWEST, folds_of, without
from ..learning.rounds import learn
from ..learning.sklr import SKLR
from ..problem import choices
from ..solvers import Newton
from ..support.types import Array

MOST = 20_000
"""Above this many answers the report doesn't learn again to hold some out, to bound its time. Chosen by hand."""
# Tolerance and most steps of these fits. Chosen by hand: shares of held-out answers are shown to a tenth of a percent.
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
        Number of held-out answers that were predicted.
    chance : float
        Chance level: a third for answers about three items, a half for *closer*.
    how : str
        How they were held out, as text.
    n_undecided, n_links : int
        *Can't tell* answers and links among the same answers. They name no item of three and are left out.
    """

    before: float
    after: float
    interval: tuple[float, float]
    n_answers: int
    chance: float
    how: str
    n_undecided: int = 0
    n_links: int = 0

    @property
    def gain(self) -> float:
        """By how much learning raises the agreement."""
        return self.after - self.before

    @property
    def verdict(self) -> str:
        """``"better"`` or ``"worse"`` if the interval of the gain excludes zero, otherwise ``"open"``."""
        low, high = self.interval
        return "better" if low > 0 else "worse" if high < 0 else "open"

    @property
    def beats_guessing(self) -> bool:
        """Whether the agreement after learning is above the chance level by more than 1.96 binomial standard errors."""
        return bool(self.after > self.chance + 1.96 * np.sqrt(self.chance * (1 - self.chance) / self.n_answers))


def from_tuning(model: SKLR) -> HeldOut | None:
    """The held-out agreement that ``penalty="auto"`` measured."""
    tuning, said = model.tuning_, model.comparisons_
    if tuning is None:
        return None
    known = said[choices.decided(said)]
    # Only some of many answers are held out; models saved by earlier versions don't say how many.
    n_answers = max((trial.n_answers or 0 for trial in tuning.trials), default=0) or len(known)
    which = "held out in turn" if n_answers == len(known) else "a random part, held out"
    how = f"{which} while the same answers chose the settings, so the figure is slightly optimistic"
    figures = tuning.start, tuning.start + tuning.gain, tuning.gain_interval
    return HeldOut(*figures, n_answers, choices.chance(known), how, *_left_out(said))


def from_answers(said: Comparisons, before: Array, after: Array, how: str = "set aside before learning") -> HeldOut:
    """The agreement with answers that the caller held out, or that nothing was learned from."""
    known = said[choices.decided(said)]
    if not len(known):
        raise ValueError("held_out holds no answers about three items besides can't tell; expected some to predict")
    first, then = (choices.agreement(choices.sides(points, known.shown), known) for points in (before, after))
    return _compared(first, then, known, said, how)


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
    return _compared(first[seen], then[seen], said[seen], said, "held out in turn, and the rest learned from again")


def _compared(before: Array, after: Array, known: Comparisons, said: Comparisons, how: str) -> HeldOut:
    share = known.weight / known.weight.sum()
    # Exact sums: the same to the last digit in whatever order items and answers stand.
    gain = fsum(share * (after - before))
    # Rows of one answer, such as a grid's, err together.
    _, question = np.unique(known.questions(), return_inverse=True)
    errors = np.bincount(question, share * (after - before - gain))
    # As if half a question more had changed sides each way (Agresti and Min 2005), so that a few questions that all
    # stay the same don't make the gain certain.
    error = 1.96 * sqrt(fsum(np.square(errors)) + 1.0 / len(errors) ** 2)
    figures = fsum(share * before), fsum(share * after), (gain - error, gain + error)
    return HeldOut(*figures, known.n_answers, choices.chance(known), how, *_left_out(said))


def _left_out(said: Comparisons) -> tuple[int, int]:
    return int(np.count_nonzero(said.undecided)), int(np.count_nonzero(said.links))
