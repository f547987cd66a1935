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
    ``solved`` if the solver reached its tolerance on every fold; others are never chosen. ``n_answers`` is how many
    held-out answers judged it: all, or those of the first folds if these put it behind another trial. Its
    agreement and log-likelihood are then the chosen trial's plus the difference on these answers.
    """

    recipe: Recipe
    penalties: tuple[float, ...]
    agreement: float
    error: float
    log_likelihood: float
    rank: int
    solved: bool = True
    n_answers: int | None = None

    @property
    def penalty(self) -> float:
        """The last round's penalty."""
        return self.penalties[-1]

    @property
    def cells(self) -> tuple[str, ...]:
        """Kernel, loss, penalties, dimensions, agreement and log-likelihood, for a table."""
        loss = self.recipe.named if self.penalty else "nothing learned"
        penalties = ", ".join(f"{penalty:.2g}" for penalty in self.penalties)
        scores = f"{self.agreement:.3f} ± {self.error:.3f}", f"{self.log_likelihood:.3f}"
        return self.recipe.kernel, loss, penalties, str(self.rank), *scores


@dataclass(frozen=True)
class Tuning:
    """What held-out answers say.

    Attributes
    ----------
    recipe, penalties
        What was chosen. Penalty 0, the initial kernel, unless two tests together show at a level of about 5% that there
        is something to learn: whether a trial predicts better, adjusted for everything tried, and whether the answers
        contradict the initial kernel (`evidence.suffices`). Then the standard recipe, unless another beats it by more
        than a standard error of the mean log-likelihood; one round, unless a second beats it by more than two.
    trials : tuple of Trial
        Everything tried.
    start : float
        Agreement of the initial kernel with held-out answers.
    gain : float
        By how much learning raises it, less what the choice among the trials adds by chance (`evidence.optimism`).
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
        How many leading dimensions the learned kernel keeps: all, unless some number of them predicts held-out answers
        better than all by more than two standard errors; then the most that come within a standard error of the best.
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

    @property
    def sentence(self) -> str:
        """The verdict."""
        if self.penalty == 0:
            return (
                "Nothing was learned: the answers don't support a change yet. The initial kernel agrees with "
                f"{self.start:.3f} of held-out answers, and chance can explain by how much any of "
                f"{len(self.trials) - 1} candidates predicts them better (at a level of about 5%)."
            )
        low, high = self.gain_interval
        if low > 0:
            verdict = "Learning predicts held-out answers better"
        elif high < 0:
            verdict = "Learning makes held-out answers likelier on the whole, but agrees with fewer of them"
        else:
            verdict = "Learning makes held-out answers likelier; whether it agrees with more of them is open"
        return f"{verdict}: {self.start:.3f} {self.gain:+.3f} (95% interval {low:+.3f} to {high:+.3f})."

    def __str__(self) -> str:
        """The verdict, and a table of the initial kernel and the best trial of each recipe with one round and two."""
        best: dict[tuple[Recipe, int], Trial] = {}
        for trial in self.trials[1:]:
            key = trial.recipe, len(trial.penalties)
            if trial.solved and (key not in best or trial.log_likelihood > best[key].log_likelihood):
                best[key] = trial
        chosen = next(each for each in self.trials if (each.recipe, each.penalties) == (self.recipe, self.penalties))
        if self.penalty:
            best[self.recipe, len(self.penalties)] = chosen
        shown = sorted([self.trials[0], *best.values()], key=lambda trial: -trial.log_likelihood)
        rows: list[tuple[str, ...]] = [("", "kernel", "loss", "penalty", "dimensions", "agreement", "log-likelihood")]
        rows += [("*" if trial is chosen else "", *trial.cells) for trial in shown]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
        return "\n".join([self.sentence, "", *lines, "* chosen"])

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
            points = sorted((trial.penalty, trial.agreement, trial.error) for trial in path)
            x, y, error = zip(*points, strict=True)
            label = f"{recipe.kernel} kernel, {recipe.named}" + (", second round" if rounds > 1 else "")
            ax.errorbar(x, y, yerr=error, marker="o", capsize=2, label=label)
        ax.axhline(self.start, color="0.4", linestyle="--", label="nothing learned")
        if self.penalty:
            ax.axvline(self.penalty, color="0.4", linestyle=":", label="chosen")
        ax.set(xscale="log", xlabel="penalty", ylabel="share of held-out answers right")
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.15), fontsize="small")  # labels are long: below
        return ax
