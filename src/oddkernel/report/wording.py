"""Counts and shares as text."""

from __future__ import annotations

from collections.abc import Sequence


def plural(count: int, word: str) -> str:
    """A count with its noun, in the singular or the plural.

    Examples
    --------
    >>> plural(1, "answer"), plural(1200, "answer"), plural(2, "person")
    ('1 answer', '1,200 answers', '2 people')
    """
    several = "people" if word == "person" else f"{word}s"
    return f"{count:,} {word if count == 1 else several}"


def listed(parts: Sequence[str]) -> str:
    """Parts of a sentence, joined by commas and *and*.

    Examples
    --------
    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join([*([", ".join(parts[:-1])] if len(parts) > 1 else []), *parts[-1:]])


def percentages(*shares: float, digits: int = 0) -> tuple[str, ...]:
    """Shares in percent, with as many digits as it takes to show which differ, at most two.

    Examples
    --------
    >>> percentages(0.621, 0.81), percentages(0.621, 0.624), percentages(0.5, 0.5)
    (('62%', '81%'), ('62.1%', '62.4%'), ('50%', '50%'))
    """
    for count in range(digits, 3):
        shown = tuple(f"{share:.{count}%}" for share in shares)
        if len(set(shown)) == len(set(shares)):
            return shown
    return tuple(f"{share:.{digits}%}" for share in shares)


def points(share: float) -> str:
    """A difference of shares in percentage points, with its sign.

    Examples
    --------
    >>> points(0.125), points(-0.0201), points(-0.0001)
    ('+12.5', '−2.0', '0.0')
    """
    shown = round(100 * share, 1)
    return f"{shown:+.1f}".replace("-", "−") if shown else "0.0"


def capital(words: str) -> str:
    """The words, with a capital letter first."""
    return words[:1].upper() + words[1:]
