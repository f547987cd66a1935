"""Answers as people write them: a letter, an item's own name, or *can't tell* in one of its usual spellings."""

from __future__ import annotations

import re
from collections.abc import Sequence
from reprlib import repr as brief

from ..support.spelling import did_you_mean, same_text

POSITIONS = ("a", "b", "c")
"""The columns of a question's items."""
ANSWERS = {"a": 0, "b": 1, "c": 2, "cant_tell": -1}
"""What our own files hold in the column of answers."""
EXPECTED = "a, b or c, the column that holds the odd one, the odd one's own name, or cant_tell"

# Spellings of *can't tell* without apostrophes, with a blank for each gap. Collected by hand.
_CANT_TELL = {
    "cant tell", "cannot tell", "can not tell", "could not tell", "couldnt tell", "cant say", "cannot say",
    "cant decide", "cannot decide", "dont know", "do not know", "idk", "unsure", "not sure", "undecided", "no idea",
}  # fmt: skip
# How programs write a missing value. Collected by hand.
_MISSING = {
    "",
    "na",
    "n/a",
    "nan",
    "null",
    "nil",
    "none",
    "missing",
    "-",
    "--",
    ".",
    "?",
    "-1",
    "99",
    "-99",
    "999",
    "-999",
}
# Positions, which could be counted from 0 or from 1.
_COUNTED = {"0", "1", "2", "3"}
_APOSTROPHES = re.compile("['’‘`´]")
_GAPS = re.compile(r"[\s_\-]+")


def is_cant_tell(answer: str) -> bool:
    """Whether an answer says *can't tell*.

    Examples
    --------
    >>> [is_cant_tell(answer) for answer in ("Can’t tell", "DONT_KNOW", "NA", "oak")]
    [True, True, False, False]
    """
    return _GAPS.sub(" ", _APOSTROPHES.sub("", answer)).strip().casefold() in _CANT_TELL


def are_items(answers: Sequence[object], shown: Sequence[Sequence[object]]) -> bool:
    """Whether numbers in the column of answers are items: all are among those shown, and some can't be positions."""
    numbers = [(str(answer), row) for answer, row in zip(answers, shown, strict=True) if str(answer).isdecimal()]
    among = all(number in map(str, row) for number, row in numbers)
    return among and any(number not in _COUNTED for number, _ in numbers)


class NumberedAnswer(ValueError):
    """An answer that is a number, of which nobody knows where it counts from."""


def count_from(answers: Sequence[object]) -> int | None:
    """The number of the first position where answers are positions: 1 if some are 3 and none is 0, None if in doubt.

    Examples
    --------
    >>> count_from(["1", "3", "cant_tell"]), count_from(["1", "2"])
    (1, None)
    """
    numbers = positions_in(answers)
    return 1 if "3" in numbers and "0" not in numbers else None


def positions_in(answers: Sequence[object]) -> set[str]:
    """The numbers among the answers that may be positions."""
    return {str(answer).strip() for answer in answers} & _COUNTED


def position_of(
    answer: object, shown: Sequence[object], heads: Sequence[str] = POSITIONS, *, numbers_are_items: bool = False
) -> int:
    """The position 0, 1 or 2 of the odd one among the three items shown, or -1 for *can't tell*.

    Parameters
    ----------
    answer : object
        As a file or a frame holds it.
    shown : sequence of three
        The items, by name or index.
    heads : sequence of three str
        What the file calls the three columns, beside a, b and c.
    numbers_are_items : bool, default=False
        Whether the numbers 0 to 3 are known to be items, and not positions.

    Raises
    ------
    ValueError
        If the answer could be read two ways, or in none.

    Examples
    --------
    >>> position_of("oak", ["ant", "oak", "bee"]), position_of("C", ["ant", "oak", "bee"])
    (1, 2)
    """
    said = "" if answer is None else str(answer).strip()
    if isinstance(answer, bool) or not isinstance(answer, (str, int, type(None))):
        raise ValueError(f"answer {brief(answer)}; expected {EXPECTED}")
    meant = {position for position, item in enumerate(shown) if str(item) == said}
    meant = meant or {position for position, item in enumerate(shown) if same_text(str(item)) == same_text(said)}
    if said in _COUNTED and not numbers_are_items:
        raise NumberedAnswer(
            f"answer {brief(answer)} could be a position, counted from 0 or from 1, or an item; expected {EXPECTED}"
        )
    folded = said.casefold()
    for position, (letter, head) in enumerate(zip(POSITIONS, heads, strict=True)):
        if folded in (letter, head.strip().casefold()):
            meant.add(position)
    if is_cant_tell(said):
        meant.add(-1)
    if len(meant) == 1:
        return meant.pop()
    if meant:
        words = " and ".join("can't tell" if p < 0 else f"{POSITIONS[p]} ({shown[p]})" for p in sorted(meant))
        raise ValueError(f"answer {brief(answer)} could mean {words}; expected {EXPECTED}, such that it means one")
    if folded in _MISSING:
        seen = f"answer {brief(answer)}" if said else "the answer is empty, which"
        raise ValueError(
            f"{seen} could mean can't tell or that nobody answered; expected {EXPECTED}, or the row left out"
        )
    raise ValueError(f"answer {brief(answer)}; expected {EXPECTED}{did_you_mean(said, [*shown, 'cant_tell'])}")
