"""The settings of a study, as ``study.toml`` holds them."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from reprlib import repr as brief
from typing import Any, Self

from ..questions.policies import DEFAULT, POLICIES
from . import questionnaire as _about
from .catch_questions import Catch
from .panel import Panel
from .question_forms import FORMS, MOST_AROUND, ODD, is_form
from .question_list import ListSettings
from .questionnaire import About
from .words import ENGLISH, Words, languages, texts

MOST_QUESTIONS = 5000
"""Largest number of questions for one person. Chosen by hand: more than anybody answers, and the plan stays small."""

ID_COMMENT = "Tells this study from all others in a database; keep it, and take it out of a copy that is another study."


def _is_text(value: object) -> bool:
    return isinstance(value, str) and "\0" not in value


def _is_line(value: object) -> bool:
    return isinstance(value, str) and value.isprintable() and len(value) <= 200


def _is_name(value: object) -> bool:
    return _is_line(value) and bool(value)


def _is_share(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1


def _is_whole(least: int, most: int) -> Callable[[object], bool]:
    return lambda value: isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def _is_seconds(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 60


def _setting(default: Any, comment: str, check: Callable[[Any], bool], accepted: str) -> Any:
    return field(default=default, metadata={"comment": comment, "check": check, "accepted": accepted})


def _default(key: str) -> str:
    return texts(ENGLISH)[f"study_{key}"]


@dataclass(frozen=True)
class Settings:
    """What ``study.toml`` says; every setting has a default."""

    name: str = _setting("", "What the study is called in exported files.", _is_name, "")
    title: str = _setting(_default("title"), "The heading of the page.", _is_line, "a line of text")
    question: str = _setting(_default("question"), "The question above the three items.", _is_line, "a line of text")
    instructions: str = _setting(
        _default("instructions"), "What people read first. An empty line starts a new paragraph.", _is_text, "a text"
    )
    language: str = _setting(
        ENGLISH,
        f"The language of the page: {', '.join(languages())}. The three texts above are translated if you leave them\n"
        "as they are. Any other code (pt-BR) states the language of your own texts, those in [words] included.",
        _is_name,
        "a code: en",
    )
    form: str | Sequence[str] = _setting(
        ODD,
        'What is asked: "odd" (which of three is least like the others), "anchor" (which of two is more like the one\n'
        'above), "central" (which of three is the most central) or "grid" (which around are most like the one in the\n'
        'middle); or a list of them to mix: ["odd", "anchor"].',
        is_form,
        " or ".join(FORMS) + ", or a list of different ones",
    )
    grid_size: int = _setting(
        8,
        "In a grid: how many items are around the one in the middle.",
        _is_whole(2, MOST_AROUND),
        f"a whole number from 2 to {MOST_AROUND}",
    )
    grid_picks: int = _setting(
        2,
        "In a grid: how many of them people pick.",
        _is_whole(1, MOST_AROUND - 1),
        "a whole number from 1 to grid_size - 1",
    )
    questions: int = _setting(
        60,
        "How many questions each person answers, all kinds together.",
        _is_whole(1, MOST_QUESTIONS),
        f"a whole number from 1 to {MOST_QUESTIONS}",
    )
    practice: int = _setting(
        2, "How many practice questions come first; they aren't recorded.", _is_whole(0, 20), "a number from 0 to 20"
    )
    catch_share: float = _setting(
        0.05, "Share of questions with a known answer, from the [[catch]] tables below.", _is_share, "a number, 0 to 1"
    )
    repeat_share: float = _setting(
        0.1, "Share of questions that repeat an earlier one, in another order.", _is_share, "a number from 0 to 1"
    )
    holdout_share: float = _setting(
        0.1, "Share of random questions kept apart for an honest evaluation.", _is_share, "a number from 0 to 1"
    )
    policy: str = _setting(
        DEFAULT,
        f"How the other questions are chosen: {' or '.join(POLICIES)}.",
        lambda value: value in POLICIES,
        " or ".join(POLICIES),
    )
    consent: str = _setting("", "A text that people must agree to first; empty for none.", _is_text, "a text")
    completion_code: str = _setting("", "A code that people see at the end; empty for none.", _is_line, "a line")
    entry: str = _setting(
        "open",
        'Who may answer: "open" for anyone with the link, "invitation" for those with a link of their own\n'
        "(oddkernel judge STUDY --invite 20 makes such links).",
        lambda value: value in ("open", "invitation"),
        "open or invitation",
    )
    too_fast: float = _setting(
        0.3, "An answer that took fewer seconds counts as too fast.", _is_seconds, "seconds from 0 to 60"
    )
    features: str = _setting(
        "",
        "A file of features, with item names; empty: oddkernel makes features itself, and keeps them in .oddkernel.",
        _is_line,
        "a file",
    )
    id: str = _setting("", ID_COMMENT, _is_name, "")
    words: dict[str, str] = field(default_factory=dict)
    catch: tuple[Catch, ...] = ()
    panel: Panel | None = None
    list: ListSettings | None = None
    about: tuple[About, ...] = ()

    @classmethod
    def read(cls, text: str) -> Self:
        """Read settings from TOML; raises a ValueError that names the first wrong one."""
        try:
            given = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise ValueError(f"not TOML: {error}") from None
        known = {item.name: item for item in fields(cls)}
        for key, value in given.items():
            if key not in known:
                raise ValueError(f"the setting {brief(key)} is unknown; expected {', '.join(known)}")
            meta = known[key].metadata
            if meta and not meta["check"](value):
                raise ValueError(f"{key} = {brief(value)}; expected {meta['accepted'] or 'a short name'}")
        given["words"] = _words(given.get("words", {}))
        given["catch"] = tuple(
            Catch.read(number, table) for number, table in enumerate(given.get("catch", ()), start=1)
        )
        words = Words(given.get("language", ENGLISH))
        picks = given.get("grid_picks", cls.grid_picks)
        for key in ("title", "question", "instructions"):
            given[key] = _in_language(key, given.get(key, _default(key)), _forms(given.get("form", ODD)), words, picks)
        if "panel" in given:
            given["panel"] = Panel.read(given["panel"])
        if "list" in given:
            given["list"] = ListSettings.read(given["list"])
        panel = given.get("panel")
        given["about"] = _about.read_all(given.get("about", []), () if panel is None else panel.keep)
        settings = cls(**given)
        if settings.catch_share + settings.repeat_share + settings.holdout_share > 1:
            raise ValueError("catch_share, repeat_share and holdout_share add up to more than 1; expected at most 1")
        if settings.grid_picks >= settings.grid_size:
            raise ValueError(
                f"grid_picks = {settings.grid_picks} of grid_size = {settings.grid_size}; expected fewer picks "
                "than items around the middle"
            )
        for number, catch in enumerate(settings.catch, start=1):
            if catch.form not in settings.forms:
                wanted = " or ".join(settings.forms)
                raise ValueError(
                    f"[[catch]] number {number} is of the form {catch.form}; expected {wanted}, as in form"
                )
        if settings.list is not None and settings.forms != (ODD,):
            raise ValueError(f'[list] with form = {json.dumps(settings.form)}; expected form = "{ODD}" for a list')
        if settings.panel is not None and settings.panel.needs_code and not settings.completion_code:
            raise ValueError("[panel] a link holds {code}; expected completion_code, the code that the panel gave you")
        return settings

    @property
    def forms(self) -> tuple[str, ...]:
        """The forms of questions, in the order of the setting."""
        return _forms(self.form)

    @property
    def questions_by_form(self) -> dict[str, str]:
        """The question above the items, by form: the setting is that of the first form, the others are texts."""
        words = Words(self.language, self.words)
        return {
            form: self.question
            if form == self.forms[0]
            else words.say(_text_key("question", form), picks=self.grid_picks)
            for form in self.forms
        }

    @property
    def learned_from(self) -> int:
        """How many of a person's answers are learned from: those to questions that are neither catches nor held out."""
        others = self.holdout_share + (self.catch_share if self.catch else 0.0)
        return max(1, round((1.0 - others) * self.questions))

    def text(self) -> str:
        """The settings as TOML, each with its comment."""
        parts = ["# Settings of this study. The server reads them when it starts.\n"]
        for item in fields(self):
            if item.metadata:
                comment = "".join(f"# {line}\n" for line in item.metadata["comment"].splitlines())
                parts.append(f"{comment}{item.name} = {json.dumps(getattr(self, item.name), ensure_ascii=False)}\n")
        return "\n".join(parts) + _EXAMPLES


_EXAMPLES = """
# Other words for the buttons and sentences of the page; those that can be replaced are in words.en.json of oddkernel.
# [words]
# cant_tell = "I can't tell"

# Questions with a known answer, asked now and then to see who looks at them. As many as you like.
# [[catch]]
# items = ["cat.jpg", "dog.jpg", "hammer.jpg"]
# odd = "hammer.jpg"
# In place of odd, an anchor question has closer = "dog.jpg", and its first item is the anchor.
# In the same way a question of the form central has central = "dog.jpg". A grid has all its items, the one in
# the middle first, and picked = ["dog.jpg", "wolf.jpg"].

# A list of questions in place of those that the policy chooses, or before them (then = "policy").
# [list]
# file = "questions.csv"

# Questions about the person, at the start or at the end: a choice, a number or a text. As many as you like.
# [[about]]
# name = "age"
# ask = "How old are you?"
# kind = "number"
# at = "end"

# A panel that sends people and takes them back at the end: prolific, sona, mturk, cloudresearch, or your own links.
# [panel]
# kind = "sona"
"""


def _words(given: object) -> dict[str, str]:
    if not isinstance(given, dict) or not all(_is_text(value) for value in given.values()):
        raise ValueError('[words] holds something else than texts; expected lines such as cant_tell = "I can\'t tell"')
    return given


def _forms(value: str | Sequence[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


def _text_key(key: str, form: str) -> str:
    """What the texts call a setting's default for a form."""
    return f"study_{key}" if form == ODD else f"study_{key}_{form}"


def _in_language(key: str, given: str, forms: Sequence[str], words: Words, picks: int) -> str:
    """A text of the settings; where it was left as it is, that for the study's forms in its language."""
    if given != _default(key):
        return words.translated(given)
    if key == "instructions":
        return "\n\n".join(words.say(_text_key(key, form), picks=picks) for form in forms)
    return words.say(_text_key(key, forms[0]), picks=picks)
