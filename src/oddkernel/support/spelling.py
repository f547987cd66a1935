"""Which word was meant: the same in another Unicode form, or one that is spelt alike."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from difflib import get_close_matches
from pathlib import PurePosixPath
from unicodedata import normalize


def same_text(word: str) -> str:
    """The word in Unicode's composed form (NFC): macOS names files in the decomposed one, where an ä is two letters."""
    return normalize("NFC", word)


def finder(names: Iterable[str]) -> Callable[[str], int]:
    """A function that finds the place of a name, also in another Unicode form if only one name has it; -1: nowhere.

    Examples
    --------
    >>> find = finder(["ant", "b\u00e4r"])
    >>> find("ant"), find("ba\u0308r"), find("bar")
    (0, 1, -1)
    """
    exact: dict[str, int] = {}
    by_form: dict[str, int] = {}
    for place, name in enumerate(names):
        form = same_text(name)
        exact[name], by_form[form] = place, -1 if form in by_form else place

    def find(name: str) -> int:
        found = exact.get(name)
        return by_form.get(same_text(name), -1) if found is None else found

    return find


def closest(word: object, known: Iterable[object], cutoff: float = 0.6) -> str | None:
    """The known word that is spelt most like `word`, whatever the case of its letters; None if none is.

    A file is known without its folder and ending, too, if these letters name one file only.

    Examples
    --------
    >>> closest("Oka", ["ant", "oak"]), closest("zebra", ["ant", "oak"])
    ('oak', None)
    >>> closest("4", ["4.jpg", "14.jpg", "40.jpg"])
    '4.jpg'
    """
    spelt = {str(each).strip().casefold(): str(each) for each in known}
    sought = str(word).strip().casefold()
    files = [name for name in spelt if PurePosixPath(name).stem == sought] if sought not in spelt else []
    if len(files) == 1:
        return spelt[files[0]]
    found = get_close_matches(sought, spelt, n=1, cutoff=cutoff)
    return spelt[found[0]] if found else None


def did_you_mean(word: object, known: Iterable[object]) -> str:
    """A question to end an error with, or nothing.

    Examples
    --------
    >>> did_you_mean("oka", ["ant", "oak"])
    "; did you mean 'oak'?"
    """
    found = closest(word, known)
    return "" if found is None else f"; did you mean {found!r}?"
