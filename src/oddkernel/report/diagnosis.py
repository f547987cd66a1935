"""What a fit means, in plain words, and what to try next."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..kernels import Identity
from ..learning.sklr import SKLR
from ..problem.solution import Status
from .held_out import HeldOut
from .verdicts import Verdicts

# Thresholds beyond which a note is shown. Chosen by hand; only the notes depend on them. In order: drop in agreement
# from learned to held-out answers; lead of the initial features over guessing; share of items asked about; ratio of the
# farthest to the closest pair in *can't tell* answers.
OVERFITTED = 0.1
WEAK_FEATURES = 0.1
RARELY_ASKED = 0.2
UNEQUAL = 1.25


@dataclass(frozen=True)
class Note:
    """One thing to know about a fit.

    Attributes
    ----------
    tone : {"good", "plain", "look"}
        Whether it is good, neutral, or needs attention.
    title : str
        The finding, in a few words.
    meaning : str
        What it means.
    advice : str
        What to try next; empty if nothing.
    """

    tone: str
    title: str
    meaning: str
    advice: str = ""


def diagnose(model: SKLR, verdicts: Verdicts, held_out: HeldOut | None, n_items: int) -> list[Note]:
    """Notes on what a fit means and what to try next, the most important first."""
    return [
        *_about_learning(model, held_out),
        *_about_answers(model, verdicts, held_out),
        *_about_solving(model),
        *_about_items(model, n_items),
    ]


def _about_learning(model: SKLR, held_out: HeldOut | None) -> Iterator[Note]:
    if not len(model.comparisons_):
        yield Note(
            "plain",
            "Nothing was learned: there were no answers",
            "Distances are those of the features alone, so that before and after are the same.",
            "Collect odd-one-out answers and fit again.",
        )
        return
    if model.penalty_ == 0:
        yield Note(
            "look",
            "The answers don't support a change yet",
            "Held-out answers were predicted no better after learning than before, so the kernel was left as it was.",
            "Collect more answers, or give features that have more to do with what people look at.",
        )
        return
    if held_out is None:
        yield Note(
            "plain",
            "How well it predicts new answers is not known",
            "Agreement with the answers learned from is too optimistic: only held-out answers show how it predicts.",
            "Set some answers aside and show them with held_out= (on the command line, --held-out).",
        )
        return
    low, high = held_out.interval
    numbers = f"from {held_out.before:.1%} to {held_out.after:.1%}"
    sure = f"the 95% interval of the gain is {low:+.1%} to {high:+.1%}"
    if low > 0:
        yield Note(
            "good",
            "Learning helps with answers it has not seen",
            f"Agreement with {held_out.n_answers} held-out answers rises {numbers}; {sure}. Guessing would "
            f"reach {held_out.chance:.0%}.",
        )
    elif high < 0:
        yield Note(
            "look",
            "Learning makes new answers harder to predict",
            f"Agreement with {held_out.n_answers} held-out answers falls {numbers}. The kernel follows the noise in "
            "the answers (overfitting).",
            'Let held-out answers choose the loss and the penalty: penalty="auto".',
        )
    else:
        yield Note(
            "look",
            "It is not certain that learning helps",
            f"Agreement with {held_out.n_answers} held-out answers goes {numbers}, but {sure}.",
            'Collect more answers, or try penalty="auto", another kernel or other features.',
        )
    if held_out.before < held_out.chance + WEAK_FEATURES and not isinstance(model.kernel_, Identity):
        yield Note(
            "look",
            "The features alone say little",
            f"Before learning they predict {held_out.before:.1%} of held-out answers, hardly more than guessing.",
            "Try features that show what people look at, or add an identity kernel: it lets items move by themselves.",
        )


def _about_answers(model: SKLR, verdicts: Verdicts, held_out: HeldOut | None) -> Iterator[Note]:
    agreement = verdicts.agreement()
    learned = verdicts.influence is not None
    if agreement is not None and learned and held_out is not None and model.penalty_ > 0:
        gap = agreement[1] - held_out.after
        if gap > OVERFITTED:
            yield Note(
                "look",
                "Part of it was memorised (overfitting)",
                f"It agrees with {agreement[1]:.1%} of the answers it learned from and with {held_out.after:.1%} of "
                "those it did not.",
                'A smaller penalty follows single answers less; penalty="auto" finds one.',
            )
    if verdicts.conflicts:
        rows = sum(map(len, verdicts.conflicts))
        yield Note(
            "look",
            f"{rows} answers contradict one another",
            f"There are {len(verdicts.conflicts)} questions with answers that can't all hold. Every kernel must "
            "disagree with some of them; this is normal where people differ.",
            "Look at them under Answers; oddkernel.raters finds raters who answer carelessly.",
        )
    unclear = verdicts.said.undecided
    if unclear.any():
        first, then = (float(np.median(spread[unclear])) for spread in (verdicts.spread_before, verdicts.spread_after))
        share = f"The farthest pair of such three is typically {then:.2f} times as far apart as the closest"
        good = then <= UNEQUAL
        yield Note(
            "good" if good else "look",
            f"“Can't tell” is {'understood' if good else 'not understood'}",
            f"{share}; it was {first:.2f} before learning, and 1 would be equally far.",
            "" if good else "A larger weight on these answers, or a larger penalty, makes them count for more.",
        )


def _about_solving(model: SKLR) -> Iterator[Note]:
    solution = model.solution_
    if not len(model.comparisons_) or model.penalty_ == 0:
        return
    exact = solution.status is Status.OPTIMAL
    yield Note(
        "good" if exact else "plain" if solution.status.success else "look",
        "The solver found the optimum" if exact else "The solver stopped before the optimum",
        f"{solution.status} The residual, the largest relative error in a condition of the optimum, is "
        f"{solution.residual:.1e} after {solution.n_iter} passes.",
        "" if exact else "Raise max_iter." if not solution.status.success else 'solver="auto" finds the optimum.',
    )
    yield Note(
        "plain",
        f"The kernel moved by {solution.divergence:.3g}",
        "The divergence measures how far the learned kernel is from the initial one, by the factors by which it "
        "stretched or shrank each direction; 0 is no change. Compare it only between fits with the same "
        f"{model.features_.rank} dimensions.",
    )


def _about_items(model: SKLR, n_items: int) -> Iterator[Note]:
    asked = len(model.comparisons_.constrained)
    if len(model.comparisons_) and asked < RARELY_ASKED * n_items:
        yield Note(
            "plain",
            f"{asked} of {n_items} items were asked about",
            "The others follow by their features: an item goes where items like it go.",
            "If some kind of item was never shown, ask about it.",
        )
