"""When to stop: how well the model predicts new answers, and what more answers would gain."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from ..comparisons import Comparisons, Kind
from ..items.frames import join
from ..learning.sklr import SKLR
from ..problem import choices
from ..support.types import Array

# The learning curve is measured at these shares of the answers, each about 1.4 times the one before. Chosen by hand.
SHARES = (0.25, 0.35, 0.5, 0.7, 1.0)
# Number of bootstrap resamples of the held-out answers, and the coverage of the intervals. Chosen by hand.
RESAMPLES, COVERED = 2000, 0.95
# Smallest numbers of held-out answers and of answers to learn from. Chosen by hand: with fewer, the intervals are too
# wide to be useful.
FEWEST_HELD_OUT, FEWEST = 20, 20
# A gain below this share of answers is hardly worth doubling the number of answers. Chosen by hand.
WORTH = 0.01


@dataclass(frozen=True, eq=False)
class Outlook:
    """How well the model predicts new answers, and what more answers would gain.

    Attributes
    ----------
    n_answers, n_held_out : int
        Number of answers learned from, and of decided answers held out.
    agreement : float
        Share of held-out answers that the model predicts correctly.
    interval : tuple of float
        95% interval of that share over all random questions.
    sizes, scores : (k,) arrays
        Numbers of answers learned from, and the share predicted correctly after each.
    limit, slope : float
        The curve fitted to these: limit − slope/√n.
    resampled : (b, 2) array
        Limit and slope for each of b bootstrap resamples of the held-out answers.
    learned : bool
        Whether anything was learned from all of the answers. If not, the kernel is the initial one, whose scores say
        nothing about what more answers would bring.
    """

    n_answers: int
    n_held_out: int
    agreement: float
    interval: tuple[float, float]
    sizes: Array
    scores: Array
    limit: float
    slope: float
    resampled: Array
    learned: bool = True

    def gain(self, more: int) -> tuple[float, tuple[float, float]]:
        """Gain in the share predicted correctly from ``more`` further answers, and its 95% interval.

        NaN, and an interval of NaN, where nothing was learned yet.
        """
        if not self.learned:
            return np.nan, (np.nan, np.nan)
        step = 1.0 / np.sqrt(self.n_answers) - 1.0 / np.sqrt(self.n_answers + more)
        low, high = np.quantile(self.resampled[:, 1] * step, _tails())
        return self.slope * step, (float(low), float(high))

    @property
    def enough(self) -> bool:
        """Whether doubling the number of answers would gain less than 1%, even at the upper end of the interval."""
        return self.gain(self.n_answers)[1][1] < WORTH

    def __str__(self) -> str:
        (low, high), (gain, (least, most)) = self.interval, self.gain(self.n_answers)
        if not self.learned:
            return (
                f"Nothing was learned from the {self.n_answers} answers yet: the initial kernel predicts "
                f"{self.agreement:.0%} of {self.n_held_out} held-out answers to random questions; 95% interval "
                f"{low:.0%} to {high:.0%}. What more answers would gain can't be said yet; collect some and look again."
            )
        verdict = (
            "More answers of this kind would hardly help: you can stop here."
            if self.enough
            else "Decide whether that gain is worth the effort."
        )
        return (
            f"The model predicts {self.agreement:.0%} of {self.n_held_out} held-out answers to random questions; "
            f"95% interval {low:.0%} to {high:.0%}. {self.n_answers} more answers, twice as many in all, would gain "
            f"about {_points(gain)} ({100 * least:.1f} to {100 * most:.1f}). {verdict}"
        )

    def plot(self, ax: Any = None) -> Any:
        """Plot the share predicted correctly against the number of answers, with the extrapolated curve.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib axes
        """
        if ax is None:
            from matplotlib import pyplot

            ax = pyplot.subplots(layout="constrained")[1]
        if self.learned:
            n = np.linspace(self.sizes[0], 3 * self.n_answers, 100)
            drawn = self.resampled[:, :1] - self.resampled[:, 1:] / np.sqrt(n)
            ax.fill_between(n, *np.quantile(drawn, _tails(), axis=0), alpha=0.2, label="95% interval")
            ax.plot(n, self.limit - self.slope / np.sqrt(n), label="expected")
        ax.plot(self.sizes, self.scores, "o", label="measured on held-out answers")
        ax.axvline(self.n_answers, color="0.4", linestyle=":", label="answers so far")
        ax.set(xlabel="answers", ylabel="share of random answers predicted")
        ax.legend()
        return ax


def outlook(X: ArrayLike, said: Comparisons, held_out: Comparisons, *, learner: Any = None) -> Outlook:
    """Estimate how well the model predicts new answers, and what more answers would gain.

    Parameters
    ----------
    X : array-like of shape (n_items, d)
        The items' features.
    said : Comparisons
        Answers to learn from, in the order asked.
    held_out : Comparisons
        Odd-one-out answers to *random* questions, not used for learning. Answers to questions that a policy chose would
        bias the estimate: such questions are harder than others.
    learner : estimator, optional
        The learner; by default `SKLR()`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from oddkernel.questions import ByLabels, simulate
    >>> X, y = load_iris(return_X_y=True)
    >>> said = simulate(X, ByLabels(y), n=80, random_state=0)
    >>> held_out = simulate(X, ByLabels(y), policy="random", n=60, random_state=1)
    >>> ahead = outlook(X, said, held_out, learner=SKLR(penalty=10))
    >>> ahead.n_answers, ahead.n_held_out
    (80, 41)
    """
    kept = held_out[choices.decided(held_out) & (held_out.kind == Kind.ODD_ONE_OUT)]
    if len(kept) < FEWEST_HELD_OUT:
        raise ValueError(
            f"{len(kept)} decided odd-one-out answers are held out; expected at least {FEWEST_HELD_OUT} to say anything"
        )
    if len(said) < FEWEST:
        raise ValueError(f"{len(said)} answers to learn from; expected at least {FEWEST} to see what more would bring")
    template = SKLR() if learner is None else learner
    sizes = np.unique(np.ceil(np.array(SHARES) * len(said)).astype(int))
    asked = join(kept, X, len(np.asarray(X))).shown
    right = np.empty((len(sizes), len(kept)))
    learned = True
    for row, n in enumerate(sizes):
        with warnings.catch_warnings():
            # The first parts may be too few to learn from, and of all of them the outlook says it itself.
            warnings.filterwarnings("ignore", "Nothing was learned", UserWarning)
            model = clone(template).fit(X, said[:n])
        right[row] = model.odd_one(X, asked) == kept.odd
        learned = getattr(model, "penalty_", 1.0) != 0  # other learners have no penalty
    # Every bootstrap resample gives a score at each size, and a curve through these.
    times = np.random.default_rng(0).multinomial(len(kept), kept.weight / kept.weight.sum(), size=RESAMPLES)
    scores = right @ kept.weight / kept.weight.sum()
    limit, slope = _curve(sizes, scores[None])[0]
    return Outlook(
        len(said),
        len(kept),
        float(scores[-1]),
        _interval(float(scores[-1]), kept.weight),
        sizes,
        scores,
        limit,
        slope,
        _curve(sizes, times @ right.T / len(kept)),
        learned,
    )


def _curve(sizes: Array, scores: Array) -> Array:
    """(b, 2): limit and slope ≥ 0 of limit − slope/√n, fitted to each row of scores."""
    x = 1.0 / np.sqrt(sizes)
    centred = x - x.mean()
    slope = np.maximum(-(scores @ centred) / (centred @ centred), 0.0)
    limit = scores.mean(axis=1) + slope * x.mean()
    # The limit of a share is at most 1, which bounds the slope of a curve through the last point.
    over = np.maximum(limit - 1.0, 0.0)
    slope = np.maximum(slope - over / x[-1], 0.0)
    return np.column_stack([np.minimum(limit, 1.0), slope])


def _interval(share: float, weight: Array) -> tuple[float, float]:
    """Wilson's interval, for the effective number of answers (Kish) of these weights."""
    n, z = weight.sum() ** 2 / np.square(weight).sum(), 1.96
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    # At a share of 0 or 1 one end equals the share up to rounding.
    return min(float(middle - half), share), max(float(middle + half), share)


def _tails() -> list[float]:
    return [(1 - COVERED) / 2, (1 + COVERED) / 2]


def _points(gain: float) -> str:
    return f"{100 * gain:.1f} percentage points"
