"""A panel that sends participants: the ids in their links, and the links that lead them back."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from reprlib import repr as brief
from typing import Any, Self
from urllib.parse import quote, urlsplit

ENDS = ("done", "screened_out", "timed_out", "declined")
"""How a participant's visit may end, each with a link of its own."""

AGAIN = ("same browser", "anywhere", "never")
"""What a second visit of the same id may do."""

LONGEST_ID = 100
"""Longest id that is stored, in characters. Chosen by hand: those of the panels have at most 64."""

MTURK_HOSTS = ("https://www.mturk.com", "https://workersandbox.mturk.com")
"""Where Amazon Mechanical Turk takes answers: for real and in its sandbox."""
MTURK_FRAMES = (*MTURK_HOSTS, "https://worker.mturk.com")
"""The sites of Amazon Mechanical Turk that show a task in a frame."""
MTURK_SUBMIT = "/mturk/externalSubmit"

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,49}")
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
_LOOPBACK = ("127.0.0.1", "localhost", "::1")

PRESETS: dict[str, dict[str, Any]] = {
    "prolific": {
        "id": "PROLIFIC_PID",
        "keep": ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID"),
        "done": "https://app.prolific.com/submissions/complete?cc={code}",
    },
    "sona": {"id": "survey_code", "keep": ("survey_code",)},
    "mturk": {"id": "workerId", "keep": ("workerId", "assignmentId", "hitId", "turkSubmitTo")},
    "cloudresearch": {
        "id": "participantId",
        "keep": ("participantId", "assignmentId", "projectId"),
        "done": "https://connect.cloudresearch.com/participant/project/{code}/complete",
    },
}
"""What is known about each panel; ``study.toml`` may replace every entry."""


@dataclass(frozen=True)
class Leaving:
    """Where a participant goes at the end.

    Attributes
    ----------
    url : str
        The address.
    fields : dict of str to str, or None
        What a form sends there; None if the address is simply opened.
    """

    url: str
    fields: dict[str, str] | None = None


@dataclass(frozen=True)
class Panel:
    """The table ``[panel]`` of the settings.

    Attributes
    ----------
    kind : str
        A name in `PRESETS`, or empty.
    id : str
        The parameter of the link that names the participant.
    keep : tuple of str
        The parameters that are stored and exported.
    done, screened_out, timed_out, declined : str
        Links back to the panel, empty for none. ``{code}`` is replaced by the completion code, and ``{NAME}`` by the
        parameter of that name.
    again : {"same browser", "anywhere", "never"}
        Where the same id may go on: in the browser that it began in, in any browser, or only within one visit.
    seconds : int
        After so many seconds the page follows the link by itself; 0 leaves it to a button.
    minutes : int
        A sitting that has taken longer is timed out; 0 for no limit.
    """

    kind: str = ""
    id: str = "participant"
    keep: tuple[str, ...] = ()
    done: str = ""
    screened_out: str = ""
    timed_out: str = ""
    declined: str = ""
    again: str = "same browser"
    seconds: int = 5
    minutes: int = 0

    @classmethod
    def read(cls, table: object) -> Self:
        """Check the table; raises a ValueError that names the first wrong entry."""
        if not isinstance(table, dict):
            raise ValueError(f"panel is {brief(table)}; expected a table, [panel]")
        known = [field.name for field in fields(cls)]
        for key in table:
            if key not in known:
                raise ValueError(f"[panel] {brief(key)} is unknown; expected {', '.join(known)}")
        kind = table.get("kind", "")
        if kind and kind not in PRESETS:
            raise ValueError(f"[panel] kind = {brief(kind)}; expected {', '.join(PRESETS)}, or none")
        given = {**PRESETS.get(kind, {}), **table}
        _check_whole(given, "seconds", 600)
        _check_whole(given, "minutes", 60 * 24 * 30)
        if given.get("again", AGAIN[0]) not in AGAIN:
            raise ValueError(f"[panel] again = {brief(given['again'])}; expected {', '.join(AGAIN)}")
        id = given.get("id", cls.id)
        keep = given.get("keep", ())
        if not isinstance(keep, (list, tuple)):
            raise ValueError(f"[panel] keep = {brief(keep)}; expected a list of names")
        for name in (id, *keep):
            if not isinstance(name, str) or not _NAME.fullmatch(name) or name in ("code", "invitation"):
                raise ValueError(
                    f"[panel] the parameter {brief(name)}; expected a name of letters, digits and underscores other "
                    "than code and invitation"
                )
        given["keep"] = tuple(dict.fromkeys([id, *keep]))
        for end in ENDS:
            _check_link(end, given.get(end, ""), given["keep"])
        return cls(**given)

    def kept(self, link: Mapping[str, str]) -> dict[str, str]:
        """The parameters of a link that are stored."""
        values = {name: link.get(name, "") for name in self.keep}
        return {name: text for name, text in values.items() if 0 < len(text) <= LONGEST_ID and text.isprintable()}

    def leaving(self, end: str, ids: Mapping[str, str], code: str) -> Leaving | None:
        """Where a participant with these ids goes; None if there is no link, or it needs an id that is missing.

        Examples
        --------
        >>> panel = Panel.read({"kind": "prolific"})
        >>> panel.leaving("done", {}, "C 1")
        Leaving(url='https://app.prolific.com/submissions/complete?cc=C%201', fields=None)
        """
        template: str = getattr(self, end)
        if not template:
            return self._submission(ids, code) if self.kind == "mturk" and end == "done" else None
        values = {**ids, "code": code} if code else dict(ids)
        if any(name not in values for name in _PLACEHOLDER.findall(template)):
            return None
        return Leaving(_PLACEHOLDER.sub(lambda found: quote(values[found[1]], safe=""), template))

    def _submission(self, ids: Mapping[str, str], code: str) -> Leaving | None:
        """The form of an external HIT: Amazon wants the assignment, and one more field."""
        host = ids.get("turkSubmitTo", "").rstrip("/")
        if host not in MTURK_HOSTS or "assignmentId" not in ids:
            return None
        return Leaving(host + MTURK_SUBMIT, {"assignmentId": ids["assignmentId"], "code": code or "done"})

    @property
    def needs_code(self) -> bool:
        """Whether a link holds the completion code."""
        return any("{code}" in getattr(self, end) for end in ENDS)

    @property
    def policy(self) -> dict[str, str]:
        """What the content security policy allows beyond the page's own site, by directive."""
        if self.kind != "mturk":
            return {}
        return {"form-action": " ".join(("'self'", *MTURK_FRAMES)), "frame-ancestors": " ".join(MTURK_FRAMES)}


def _check_whole(given: Mapping[str, Any], key: str, most: int) -> None:
    value = given.get(key, 0)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= most:
        raise ValueError(f"[panel] {key} = {brief(value)}; expected a whole number from 0 to {most}")


def _check_link(end: str, link: object, keep: tuple[str, ...]) -> None:
    """Raise unless host and scheme of a link are written out, so that no id can lead elsewhere."""
    if link == "":
        return
    wanted = "an address such as https://panel.example.org/finish?id={ID}"
    if not isinstance(link, str) or not link.isprintable() or any(letter in link for letter in " \\"):
        raise ValueError(f"[panel] {end} = {brief(link)}; expected {wanted}")
    try:
        parts = urlsplit(link)
        host, secure = parts.hostname, parts.scheme == "https"
    except ValueError:
        host, secure = None, False
    if not host or "@" in parts.netloc or not (secure or (parts.scheme == "http" and host in _LOOPBACK)):
        raise ValueError(f"[panel] {end} = {brief(link)}; expected {wanted}")
    if "{" in parts.netloc or "}" in _PLACEHOLDER.sub("", link) or "{" in _PLACEHOLDER.sub("", link):
        raise ValueError(f"[panel] {end} = {brief(link)}; expected {{names}} behind the host only")
    if link.endswith("survey_code=XXXX"):
        raise ValueError(f"[panel] {end} = {brief(link)}; expected {{survey_code}} in place of XXXX")
    for name in _PLACEHOLDER.findall(link):
        if name not in (*keep, "code"):
            raise ValueError(f"[panel] {end}: {{{name}}} is unknown; expected {{code}} or one of keep: {brief(keep)}")
