"""The first screen of the report: what was asked, who answered, what came of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..comparisons import Comparisons, Kind
from ..kernels import Identity, Kernel, Precomputed
from ..learning.folds import FEWEST
from ..learning.sklr import SKLR
from ..problem import choices
from ..raters import NoiseCeiling, noise_ceiling
from .held_out import MOST, HeldOut
from .wording import capital, listed, percentages, plural, points

QUESTIONS = {
    Kind.ODD_ONE_OUT: "Which one is least like the other two?",
    Kind.MOST_CENTRAL: "Which one is the most central of the three?",
    Kind.CLOSER: "Which of these two is more like the third?",
    Kind.EQUALLY_CLOSE: "Which of these two is more like the third?",
    Kind.MUST_LINK: "Which items belong together, and which apart?",
    Kind.CANNOT_LINK: "Which items belong together, and which apart?",
}
"""The question that each kind of answer replies to, unless the caller gives its words."""


@dataclass(frozen=True)
class Level:
    """One bar of the comparison on held-out answers.

    Attributes
    ----------
    name : str
        What predicts the answers.
    share : float or None
        The share of answers that it predicts; None if unknown.
    detail : str
        What the number means, or why there is none; empty where the name says it all.
    """

    name: str
    share: float | None
    detail: str


@dataclass(frozen=True)
class Opening:
    """The report's first screen.

    Attributes
    ----------
    headline : str
        What happened, in one sentence.
    lead : str
        The numbers behind it.
    question : str
        What people were asked.
    people, answers, items : (str, str)
        A number and what it counts, each with a detail; details are empty where there is nothing to explain.
    levels : tuple of Level
        Guessing, the distances before learning, the learned ones, and people among themselves.
    """

    headline: str
    lead: str
    question: str
    people: tuple[str, str]
    answers: tuple[str, str]
    items: tuple[str, str]
    levels: tuple[Level, ...]


def open_report(
    model: SKLR,
    said: Comparisons,
    *,
    learned_from: bool,
    set_aside: Comparisons | None,
    held_out: HeldOut | None,
    n_items: int,
    question: str,
) -> Opening:
    """Say what was asked and what came of it.

    Parameters
    ----------
    model : SKLR
        The fitted model.
    said : Comparisons
        The answers that the report shows.
    learned_from : bool
        Whether the model learned from them.
    set_aside : Comparisons, or None
        Answers that the caller held out.
    held_out : HeldOut, or None
        Agreement with held-out answers.
    n_items : int
        Number of items.
    question : str
        The question in the caller's words; empty for the usual words.
    """
    everything = said if set_aside is None else _together(said, set_aside)
    ceiling = noise_ceiling(everything[choices.decided(everything)])
    return Opening(
        headline=headline(model, held_out),
        lead=_lead(model, held_out),
        question=question or _question(everything),
        people=_people(everything),
        answers=_answers(said, set_aside, None if learned_from else len(model.comparisons_)),
        items=_items(model, said, n_items, learned_from),
        levels=tuple(_levels(model, held_out, everything, ceiling)) if len(everything) else (),
    )


def headline(model: SKLR, held_out: HeldOut | None) -> str:
    """What happened, in one sentence."""
    if not len(model.comparisons_):
        return "Nothing was learned: there were no answers"
    if model.penalty_ == 0:
        reason = "the answers don't support a change yet" if model.penalty == "auto" else "the penalty was set to 0"
        return f"Nothing was learned: {reason}"
    if held_out is None:
        return f"Learned from {plural(len(model.comparisons_), 'answer')}; how well it predicts others is not known"
    if not held_out.beats_guessing:
        after, chance = percentages(held_out.after, held_out.chance)
        if held_out.after <= held_out.chance:
            return f"Nothing useful was learned: it predicts {after} of unseen answers, guessing {chance}"
        return f"Not clearly better than guessing: it predicts {after} of unseen answers, guessing {chance}"
    after, before = percentages(held_out.after, held_out.before)
    verdict = {
        "better": "Learning helps",
        "worse": "Learning does harm",
        "open": "It is not certain that learning helps",
    }[held_out.verdict]
    return f"{verdict}: it predicts {after} of unseen answers, {initially(model)} {before}"


def initially(model: SKLR) -> str:
    """What the distances before learning come from."""
    if isinstance(model.kernel_, Identity):
        return "knowing nothing"
    return "the given kernel alone" if isinstance(model.kernel_, Precomputed) else "the features alone"


def has_identity(kernel: Kernel) -> bool:
    """Whether an identity kernel is a part of this kernel."""
    parts = [*getattr(kernel, "kernels", ()), *([kernel.kernel] if hasattr(kernel, "kernel") else [])]
    return isinstance(kernel, Identity) or any(map(has_identity, parts))


def why_unknown(model: SKLR) -> str:
    """Why there is no agreement with held-out answers."""
    said = model.comparisons_
    known = int(np.count_nonzero(choices.decided(said)))
    if not known:
        return "None of the answers names one of three items, so there is nothing to predict."
    if known < FEWEST:
        return f"There are too few answers to hold some out: {known} name an item, and it takes {FEWEST}."
    return f"With more than {MOST:,} answers the report doesn't learn again to hold some out."


def _lead(model: SKLR, held_out: HeldOut | None) -> str:
    if not len(model.comparisons_):
        return "Distances between items are those before learning."
    if held_out is None:
        return why_unknown(model)
    if model.penalty_ == 0:
        more = ", and nothing tried predicts them better by more than a standard error" if model.tuning_ else ""
        share = f"{held_out.before:.1%} of {plural(held_out.n_answers, 'answer')}"
        return f"Distances are those before learning. They predict {share}{more}."
    low, high = held_out.interval
    return (
        f"The gain over {initially(model)} is {points(held_out.gain)} percentage points, with a 95% interval from "
        f"{points(low)} to {points(high)}."
    )


def _question(said: Comparisons) -> str:
    there = [words for kind, words in QUESTIONS.items() if (said.kind == kind).any()]
    return " ".join(dict.fromkeys(there))


def _people(said: Comparisons) -> tuple[str, str]:
    if said.rater is None:
        return "People", "not recorded: the answers don't say who gave them" if len(said) else "none yet"
    known = said.rater != ""
    _, each = np.unique(said.rater[known], return_counts=True)
    least, most = int(each.min()), int(each.max())
    details = [f"{least:,} to {plural(most, 'answer')} each" if least < most else f"{plural(most, 'answer')} each"]
    if len(each) == 1:
        details = [plural(most, "answer")]
    unknown = int(np.count_nonzero(~known))
    if unknown:
        details.append(f"{plural(unknown, 'other answer')} by people unknown")
    return plural(len(each), "person"), "; ".join(details)


def _answers(said: Comparisons, set_aside: Comparisons | None, n_others: int | None) -> tuple[str, str]:
    """The count of the answers shown, the kinds that it adds up from, and what other answers there are."""
    known, unclear, links = (
        int(np.count_nonzero(rows)) for rows in (choices.decided(said), said.undecided, said.links)
    )
    parts = [
        f"{'all' if 1 < count == len(said) else f'{count:,}'} {words}"
        for count, words in (
            (known, "name an item" if known != 1 else "names an item"),
            (unclear, "say “can't tell”" if unclear != 1 else "says “can't tell”"),
            (links, "link two items or keep them apart" if links != 1 else "links two items or keeps them apart"),
        )
        if count
    ]
    details = [listed(parts)] if parts else []
    if set_aside is not None:
        details.append(f"{plural(len(set_aside), 'other answer')} set aside and not learned from")
    if n_others is not None:
        details.append(f"the model learned from {plural(n_others, 'answer')} given to it")
    return plural(len(said), "answer"), "; ".join(details)


def _items(model: SKLR, said: Comparisons, n_items: int, learned_from: bool) -> tuple[str, str]:
    asked = len(said.constrained)
    if not asked:
        return plural(n_items, "item"), ""
    if not learned_from:
        return plural(n_items, "item"), f"{'all' if asked == n_items else f'{asked:,}'} in the answers shown"
    if asked == n_items:
        return plural(n_items, "item"), "all asked about"
    rest = "the answers say nothing about the others" if isinstance(model.kernel_, Identity) else OTHERS
    return plural(n_items, "item"), f"{asked:,} asked about; {rest}"


OTHERS = "the others move with items that have similar features"


def _levels(model: SKLR, held_out: HeldOut | None, said: Comparisons, ceiling: NoiseCeiling) -> list[Level]:
    levels = []
    if held_out is not None:
        levels.append(Level("Guessing", held_out.chance, ""))
        levels.append(Level(capital(initially(model)), held_out.before, ""))
        if model.penalty_ > 0:
            levels.append(Level("Learned", held_out.after, ""))
    else:
        levels.append(Level("Learned", None, ""))  # the lead says why
    if ceiling.agreement is None:
        asked = bool((choices.decided(said) & (said.kind == Kind.ODD_ONE_OUT)).any())
        why = "no two people named the odd one of the same three" if asked else "it takes answers that name the odd one"
        levels.append(Level("People among themselves", None, f"the noise ceiling is not known: {why}"))
        return levels
    shared = plural(ceiling.n_questions, "question")
    detail = f"the noise ceiling: how often one answer is what most others said, by {shared} ({_interval(ceiling)})"
    if held_out is not None and held_out.after > ceiling.agreement:
        detail += "; with two or three answers to a question this estimate is too low, so a model can be above it"
    levels.append(Level("People among themselves", ceiling.agreement, detail))
    return levels


def _interval(ceiling: NoiseCeiling) -> str:
    return f"95% interval {ceiling.low:.0%} to {ceiling.high:.0%}"


def _together(said: Comparisons, set_aside: Comparisons) -> Comparisons:
    """Both, by item number: names were joined before."""
    return said.with_names(None) + set_aside.with_names(None)
