"""How far a person is, as the page is told."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from typing import Any

from .settings import Settings
from .store import Sitting

OVER = ("screened_out", "timed_out")
"""States in which nothing more is asked, although questions are left."""


def state_of(sitting: Sitting, settings: Settings) -> str:
    """One of done, screened_out, timed_out, paused, running and new."""
    if sitting.screened_out:
        return "screened_out"
    if sitting.done:
        return "done"
    if _is_late(sitting, settings):
        return "timed_out"
    if sitting.paused:
        return "paused"
    return "running" if sitting.answered else "new"


def progress_of(sitting: Sitting, settings: Settings, replied: Collection[str] = ()) -> dict[str, Any]:
    """How far a person is, and, at the end, the completion code and where to go.

    `replied` holds the names of the questions about the person that have a reply; there is no code before the last.
    """
    state = state_of(sitting, settings)
    told: dict[str, Any] = {"answered": sitting.answered, "total": sitting.total, "state": state}
    if state == "done" and any(about.at == "end" and about.name not in replied for about in settings.about):
        return told
    if state == "done" and settings.completion_code:
        told["completion_code"] = settings.completion_code
    if settings.panel is not None and state in ("done", *OVER):
        told |= leave(sitting, settings, state)
    return told


def leave(sitting: Sitting, settings: Settings, end: str) -> dict[str, Any]:
    """The link back to the panel, if there is one."""
    panel = settings.panel
    leaving = None if panel is None else panel.leaving(end, sitting.panel, settings.completion_code)
    if panel is None or leaving is None:
        return {}
    return {"leave": {"url": leaving.url, "fields": leaving.fields, "seconds": panel.seconds}}


def _is_late(sitting: Sitting, settings: Settings) -> bool:
    if settings.panel is None or not settings.panel.minutes or not sitting.started_at:
        return False
    return datetime.now(UTC) - datetime.fromisoformat(sitting.started_at) > timedelta(minutes=settings.panel.minutes)
