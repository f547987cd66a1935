"""What participants read, in each language: the files ``words.<language>.json`` of their page."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache

from .pages import FOLDER

ENGLISH = "en"


@cache
def texts(language: str) -> Mapping[str, str]:
    """All texts in a language, by key."""
    found: dict[str, str] = json.loads((FOLDER / f"participant/words.{language}.json").read_text(encoding="utf-8"))
    return found


@cache
def languages() -> tuple[str, ...]:
    """The languages that there are texts in."""
    return tuple(sorted(file.name.split(".")[1] for file in (FOLDER / "participant").glob("words.*.json")))


class Words:
    """The texts of a study: those of its language, or English ones, with some replaced.

    Parameters
    ----------
    language : str
        A language tag; of ``de-AT`` the first part decides. A language without texts leaves them English.
    replaced : mapping of str to str, optional
        Texts of the study's own, by key.

    Examples
    --------
    >>> Words("de-AT").say("position", position=3, total=60)
    'Frage 3 von 60'
    """

    def __init__(self, language: str, replaced: Mapping[str, str] | None = None) -> None:
        spoken = language.lower().replace("_", "-").partition("-")[0]
        self.language = spoken if spoken in languages() else ENGLISH
        self._texts = {**texts(self.language), **(replaced or {})}

    def say(self, key: str, **values: object) -> str:
        """A text, with every {name} in it replaced by the value of that name."""
        return re.sub(r"\{(\w+)\}", lambda found: str(values.get(found[1], found[0])), self._texts[key])

    def translated(self, sentence: str) -> str:
        """An English sentence of the server in the study's language; one that is no text for participants stays."""
        key = next((key for key, text in texts(ENGLISH).items() if text == sentence), None)
        return sentence if key is None else self._texts[key]
