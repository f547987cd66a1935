"""What held-out answers say about the settings: the trials, the choice, and the gain over the initial kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .recipe import Recipe


@dataclass(frozen=True)
class Trial:
    """One recipe and its penalties, one for each round, on held-out answers.

    ``agreement`` is the share of them that the learned distances agree with, ``log_likelihood`` their mean
    log-probability; ``error`` is the standard error of the agreement. A penalty of 0 is the initial kernel. ``rank``
    is how many leading dimensions of the learned kernel do this: all, or fewer where these predict better. A trial is
    ``solved`` if the solver reached its tolerance on every fold; others are never chosen.
    """

    recipe: Recipe
    penalties: tuple[float, ...]
    agreement: float
    error: float
    log_likelihood: float
    rank: int
    solved: bool = True

    @property
    def penalty(self) -> float:
        """The last round's penalty."""
        return self.penalties[-1]


@dataclass(frozen=True)
class Tuning:
    """What held-out answers say.

    Attributes
    ----------
    recipe, penalties
        The best: highest log-likelihood. Penalty 0, the initial kernel, unless that is beaten by more than a standard
        error; one round, unless a second beats it by as much.
    trials : tuple of Trial
        Everything tried.
    start : float
        Agreement of the initial kernel with held-out answers.
    gain : float
        By how much learning raises it.
    gain_interval : (float, float)
        95% interval of the gain, from paired answers.
    temperature, tie, guess : float
        Of `choices.probabilities`, fitted to held-out answers; the temperature in mean squared distances between the
        items by the learned kernel, which grow with the answers learned from.
    dimensions : tuple of (int, float)
        How likely held-out answers are by the learned coordinates' leading dimensions alone: their number, and the
        mean log-likelihood.
    dimension : int
        The fewest that come within a standard error of the best.
    rank : int
        How many leading dimensions the learned kernel keeps: those that predict held-out answers best, if that is
        better than all of them by more than two standard errors; otherwise all.
    """

    recipe: Recipe
    penalties: tuple[float, ...]
    trials: tuple[Trial, ...]
    start: float
    gain: float
    gain_interval: tuple[float, float]
    temperature: float
    tie: float
    guess: float
    dimensions: tuple[tuple[int, float], ...]
    dimension: int
    rank: int

    @property
    def penalty(self) -> float:
        """The last round's penalty."""
        return self.penalties[-1]

    def __str__(self) -> str:
        low, high = self.gain_interval
        if self.penalty == 0:
            verdict = "The answers don't support a change yet"
        else:
            verdict = "Learning predicts held-out answers better"
        return f"{verdict}: {self.start:.3f} {self.gain:+.3f} (95% interval {low:+.3f} to {high:+.3f})."

    def plot(self, ax: Any = None) -> Any:
        """Draw the paths: held-out agreement over the penalty, a line for each recipe and round.

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
        paths: dict[tuple[Recipe, int], list[Trial]] = {}
        for trial in self.trials[1:]:
            paths.setdefault((trial.recipe, len(trial.penalties)), []).append(trial)
        for (recipe, rounds), path in paths.items():
            x, y, error = zip(*((trial.penalty, trial.agreement, trial.error) for trial in path), strict=True)
            label = f"{recipe.kernel} kernel, {recipe.loss} loss" + (", second round" if rounds > 1 else "")
            ax.errorbar(x, y, yerr=error, marker="o", capsize=2, label=label)
        ax.axhline(self.start, color="0.4", linestyle="--", label="nothing learned")
        if self.penalty:
            ax.axvline(self.penalty, color="0.4", linestyle=":", label="chosen")
        ax.set(xscale="log", xlabel="penalty", ylabel="share of held-out answers right")
        ax.legend()
        return ax
