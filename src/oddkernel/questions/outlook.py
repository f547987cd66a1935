"""When to stop: how well the next answers would be foretold, and what more of them would bring."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from ..comparisons import Comparisons, Kind
from ..learning.sklr import SKLR
from ..problem import choices
from ..support.types import Array

# The curve is learned from these shares of the answers, the first ones asked.
SHARES = (0.25, 0.35, 0.5, 0.7, 1.0)
# Times that the held-out answers are drawn again for the intervals, and what these cover.
RESAMPLES, COVERED = 2000, 0.95
# With fewer held-out answers than this no interval is worth its name; with fewer to learn from, there is no curve.
FEWEST_HELD_OUT, FEWEST = 20, 20
# Less than this, in share of answers foretold, is hardly worth as many answers again.
WORTH = 0.01


@dataclass(frozen=True, eq=False)
class Outlook:
    """An estimate of what the model is worth, and of what more answers would bring.

    Attributes
    ----------
    n_answers, n_held_out : int
        Answers learned from, and decided ones (not *can't tell*) held out.
    agreement : float
        The share of held-out answers that the model foretells.
    interval : tuple of float
        Where that share would lie over all random questions, with 95% confidence.
    sizes, scores : (k,) arrays
        Numbers of answers learned from, and the share foretold after so many.
    limit, slope : float
        The curve through these: limit − slope/√n.
    resampled : (b, 2) array
        The same for as many draws of the held-out answers.
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

    def gain(self, more: int) -> tuple[float, tuple[float, float]]:
        """What so many more answers would add to the share foretold, and its 95% interval."""
        step = 1.0 / np.sqrt(self.n_answers) - 1.0 / np.sqrt(self.n_answers + more)
        low, high = np.quantile(self.resampled[:, 1] * step, _tails())
        return self.slope * step, (float(low), float(high))

    @property
    def enough(self) -> bool:
        """Whether as many answers again would, at the upper end of the interval, hardly bring anything."""
        return self.gain(self.n_answers)[1][1] < WORTH

    def __str__(self) -> str:
        (low, high), (gain, (least, most)) = self.interval, self.gain(self.n_answers)
        verdict = (
            "More answers of this kind would hardly help: this is the time to stop."
            if self.enough
            else "Whether that is worth asking for is for you to say."
        )
        return (
            f"Of {self.n_held_out} random answers held out, the model foretells {self.agreement:.0%}; of all random "
            f"ones, between {low:.0%} and {high:.0%} (95% interval). {self.n_answers} more answers, twice as many in "
            f"all, would bring about {_points(gain)} ({100 * least:.1f} to {100 * most:.1f}). {verdict}"
        )

    def plot(self, ax: Any = None) -> Any:
        """Draw the share foretold over the number of answers, and how it would go on.

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
        n = np.linspace(self.sizes[0], 3 * self.n_answers, 100)
        drawn = self.resampled[:, :1] - self.resampled[:, 1:] / np.sqrt(n)
        ax.fill_between(n, *np.quantile(drawn, _tails(), axis=0), alpha=0.2, label="95% interval")
        ax.plot(n, self.limit - self.slope / np.sqrt(n), label="expected")
        ax.plot(self.sizes, self.scores, "o", label="measured on held-out answers")
        ax.axvline(self.n_answers, color="0.4", linestyle=":", label="answers so far")
        ax.set(xlabel="answers", ylabel="share of random answers foretold")
        ax.legend()
        return ax


def outlook(X: ArrayLike, said: Comparisons, held_out: Comparisons, *, learner: Any = None) -> Outlook:
    """Estimate how well the next answers would be foretold, and what more answers would bring.

    Parameters
    ----------
    X : array-like of shape (n_items, d)
        The items' features.
    said : Comparisons
        Answers to learn from, in the order asked.
    held_out : Comparisons
        Odd-one-out answers to *random* questions that nothing was learned from. Questions that a policy chose are
        harder than others and would mislead.
    learner : estimator, optional
        What learns; `SKLR` with its defaults if none is given.

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
    right = np.array([clone(template).fit(X, said[:n]).odd_one(X, kept.shown) == kept.odd for n in sizes], dtype=float)
    # Every draw of the held-out answers gives scores at all sizes, and these a curve.
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
    )


def _curve(sizes: Array, scores: Array) -> Array:
    """(b, 2): limit and slope of limit − slope/√n through each row of scores; more answers never do harm."""
    x = 1.0 / np.sqrt(sizes)
    centred = x - x.mean()
    slope = np.maximum(-(scores @ centred) / (centred @ centred), 0.0)
    limit = scores.mean(axis=1) + slope * x.mean()
    # What is foretold ends at all of it: a steeper curve through the last point would pass that.
    over = np.maximum(limit - 1.0, 0.0)
    slope = np.maximum(slope - over / x[-1], 0.0)
    return np.column_stack([np.minimum(limit, 1.0), slope])


def _interval(share: float, weight: Array) -> tuple[float, float]:
    """Wilson's interval, for as many answers as the weights are worth."""
    n, z = weight.sum() ** 2 / np.square(weight).sum(), 1.96
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    # At a share of 0 or 1 an end is the share itself, but for rounding.
    return min(float(middle - half), share), max(float(middle + half), share)


def _tails() -> list[float]:
    return [(1 - COVERED) / 2, (1 + COVERED) / 2]


def _points(gain: float) -> str:
    return f"{100 * gain:.1f} percentage points"
