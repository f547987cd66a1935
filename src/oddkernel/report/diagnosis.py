"""What a fit means, in plain words, and what to try next."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .. import raters
from ..comparisons import Comparisons, Kind
from ..kernels import Identity, Precomputed
from ..learning.folds import FEWEST
from ..learning.sklr import SKLR
from ..problem import choices
from ..problem.solution import Status
from .held_out import HeldOut
from .opening import OTHERS, has_identity, initially, why_unknown
from .verdicts import Verdicts
from .wording import capital, percentages, plural, points

# Thresholds beyond which a note is shown. Chosen by hand; only the notes depend on them. In order: drop in agreement
# from learned to held-out answers; lead of the initial distances over guessing; share of items asked about; ratio of
# the farthest to the closest pair in *can't tell* answers, the same as EQUAL in answers.js.
OVERFITTED = 0.1
WEAK_FEATURES = 0.1
RARELY_ASKED = 0.2
UNEQUAL = 1.25
NAMED = 5
"""So many people are named in a note. Chosen by hand."""


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
            "The distances after learning are those before.",
            "Collect odd-one-out answers and fit again.",
        )
        return
    if model.penalty_ == 0:
        yield _nothing_learned(model)
    elif held_out is None:
        few = np.count_nonzero(choices.decided(model.comparisons_)) < FEWEST
        yield Note(
            "plain",
            "How well it predicts new answers is not known",
            f"{why_unknown(model)} Agreement with the answers learned from is too optimistic.",
            f"Collect at least {FEWEST} answers that name an item."
            if few
            else "Set some answers aside and show them with held_out= (on the command line, --held-out).",
        )
    else:
        yield _compared(model, held_out)
    if held_out is not None and held_out.before < held_out.chance + WEAK_FEATURES and not has_identity(model.kernel_):
        automatic = model.kernel == "auto" and model.penalty == "auto"
        identity = "" if automatic else ", or add an identity kernel, which lets each item move by itself"
        yield Note(
            "look",
            f"{capital(initially(model))} {'say' if initially(model).endswith('features alone') else 'says'} little",
            f"The distances before learning predict {held_out.before:.1%} of held-out answers; guessing would predict "
            f"{held_out.chance:.0%}.",
            f"Try features that show what people look at{identity}.",
        )


def _nothing_learned(model: SKLR) -> Note:
    if model.penalty != "auto":
        return Note(
            "plain",
            "Nothing was learned: the penalty was set to 0",
            "The distances after learning are those before.",
            'Give a penalty above 0, or penalty="auto", with which held-out answers choose it.',
        )
    return Note(
        "look",
        "Nothing was learned: the answers don't support a change yet",
        "Nothing that was tried predicts held-out answers better than the initial kernel by more than a standard "
        "error, so the kernel was left as it was.",
        "Collect more answers, or give features that have more to do with what people look at.",
    )


def _compared(model: SKLR, held_out: HeldOut) -> Note:
    """Held-out answers before and after learning, and what was not tried yet."""
    before, after = percentages(held_out.before, held_out.after, digits=1)
    low, high = held_out.interval
    numbers = (
        f"The learned distances agree with {after} of {plural(held_out.n_answers, 'held-out answer')}, "
        f"{initially(model)} with {before}. The 95% interval of the gain is {points(low)} to {points(high)} "
        f"percentage points. Guessing would reach {held_out.chance:.0%}."
    )
    advice = f"Collect more answers. Also worth a try: {_untried(model)}."
    if not held_out.beats_guessing:
        title = "Not clearly better than guessing" if held_out.after > held_out.chance else "No better than guessing"
        return Note("look", title, numbers, advice)
    if held_out.verdict == "better":
        return Note("good", "Learning helps with answers it has not seen", numbers)
    if held_out.verdict == "worse":
        meaning = f"{numbers} The kernel follows mistakes in the answers it learned from (overfitting)."
        return Note("look", "Learning makes new answers harder to predict", meaning, advice)
    return Note("look", "It is not certain that learning helps", numbers, advice)


def _untried(model: SKLR) -> str:
    """What could be given to the learner and was not."""
    ways = [] if model.penalty == "auto" else ['penalty="auto", with which held-out answers choose the penalty']
    if isinstance(model.kernel_, Identity | Precomputed):
        return "; ".join([*ways, "features of the items in place of the kernel"])
    return "; ".join([*ways, *([] if model.kernel == "auto" else ['kernel="auto"']), "other features"])


def _about_answers(model: SKLR, verdicts: Verdicts, held_out: HeldOut | None) -> Iterator[Note]:
    agreement = verdicts.agreement()
    learned = verdicts.influence is not None and model.penalty_ > 0
    if agreement is not None and learned and held_out is not None and agreement[1] - held_out.after > OVERFITTED:
        yield Note(
            "look",
            "Part of it was memorised (overfitting)",
            f"It agrees with {agreement[1]:.1%} of the answers it learned from and with {held_out.after:.1%} of "
            "those it did not.",
            "Held-out answers chose the penalty, so a smaller one predicts no better; more answers do."
            if model.tuning_ is not None
            else 'A smaller penalty follows single answers less; penalty="auto" finds one.'
            if model.penalty != "auto"
            else f"From {FEWEST} answers on, held-out answers choose the penalty.",
        )
    if verdicts.conflicts:
        yield _contradictions(verdicts)
    yield from _careless(verdicts.said)
    unclear = verdicts.said.undecided
    if unclear.any() and model.penalty_ > 0:
        yield _cant_tell(model, verdicts, unclear)


def _careless(said: Comparisons) -> Iterator[Note]:
    """People whose answers look careless, by the answers themselves."""
    if said.rater is None or not (said.rater[said.kind == Kind.ODD_ONE_OUT] != "").any():
        return
    found = raters.report(said)
    flagged = found.flagged
    # Where most are flagged it is the data: files whose odd one always comes last tell nothing about places.
    if not flagged or 2 * len(flagged) > len(found):
        return
    named = [f"{rater} {' and '.join(signs)}" for rater, signs in list(flagged.items())[:NAMED]]
    more = len(flagged) - len(named)
    yield Note(
        "look",
        f"{plural(len(flagged), 'person')} may have answered carelessly",
        f"{'; '.join([*named, *([f'and {more} more'] if more else [])])}. Places count from 0.",
        "Look at their answers, then learn without them, or with weights from oddkernel.raters.weigh.",
    )


def _contradictions(verdicts: Verdicts) -> Note:
    rows, groups = sum(map(len, verdicts.conflicts)), len(verdicts.conflicts)
    rater = verdicts.said.rater
    people = 0 if rater is None else len(np.unique(rater[rater != ""]))
    where = (
        "This is one question whose answers can't all hold."
        if groups == 1
        else f"There are {groups:,} questions whose answers can't all hold."
    )
    return Note(
        "look",
        f"{plural(rows, 'answer')} contradict one another",
        f"{where} Every kernel must disagree with some of them; this is normal where people differ.",
        "Look at them under Answers"
        + ("; oddkernel.raters.report finds people who answer carelessly." if people > 1 else "."),
    )


def _cant_tell(model: SKLR, verdicts: Verdicts, unclear: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Note:
    first, then = (float(np.median(spread[unclear])) for spread in (verdicts.spread_before, verdicts.spread_after))
    good = then <= UNEQUAL
    ratio = f"{then:.2f} times" if np.isfinite(then) else "infinitely many times"
    start = f"{first:.2f}" if np.isfinite(first) else "infinite, as some items coincide,"
    more = "A larger weight on these answers makes them count for more."
    return Note(
        ("good" if then <= first else "plain") if good else "look",
        f"“Can't tell” is {'reproduced' if good else 'not reproduced'}",
        f"Where people can't tell, the farthest pair of the three is typically {ratio} as far apart as the closest. "
        f"Before learning the ratio was {start}; 1 would be equally far.",
        "" if good else more if model.penalty == "auto" else f"{more} So does a larger penalty, for all answers.",
    )


def _about_solving(model: SKLR) -> Iterator[Note]:
    solution = model.solution_
    if not len(model.comparisons_) or model.penalty_ == 0:
        return
    exact = solution.status is Status.OPTIMAL
    passes = f" after {solution.n_iter} {'pass' if solution.n_iter == 1 else 'passes'}" if solution.n_iter else ""
    yield Note(
        "good" if exact else "plain" if solution.status.success else "look",
        "The solver found the optimum" if exact else "The solver stopped before the optimum",
        f"{solution.status} The residual, the largest relative error in a condition of the optimum, is "
        f"{solution.residual:.1e}{passes}.",
        _solver_advice(model),
    )
    yield Note(
        "plain",
        f"The kernel moved by {solution.divergence:.3g}",
        "The divergence measures how far the learned kernel is from the initial one, by the factors by which it "
        "stretched or shrank each direction; 0 is no change. Compare it only between fits with the same "
        f"{plural(model.features_.rank, 'dimension')}.",
    )


def _solver_advice(model: SKLR) -> str:
    status = model.solution_.status
    if status is Status.EXHAUSTED:
        return "Raise max_iter."
    if status is Status.CONTRADICTORY:
        return "Give a finite penalty, which permits violated answers."
    if status is Status.OPTIMAL or model.solver == "auto":
        return ""
    return 'solver="auto" finds the optimum.' if status.success else 'Try solver="auto".'


def _about_items(model: SKLR, n_items: int) -> Iterator[Note]:
    asked = len(model.comparisons_.constrained)
    if len(model.comparisons_) and asked < RARELY_ASKED * n_items:
        yield Note(
            "plain",
            f"{asked:,} of {plural(n_items, 'item')} {'was' if asked == 1 else 'were'} asked about",
            f"{capital(OTHERS)}.",
            "If some kind of item was never shown, ask about it.",
        )
