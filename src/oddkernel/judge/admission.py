"""Who is let in: a person's own sitting, a new one, or a refusal."""

from __future__ import annotations

import hmac
import secrets
from typing import Annotated, NamedTuple
from uuid import UUID

import numpy as np
from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException

from .next_questions import plan
from .settings import Settings
from .signing import Keys, fingerprint
from .store import Records, Sitting
from .study import Study


def _printable(text: str) -> str:
    if not text.isprintable():
        raise ValueError("expected printable characters")
    return text


Word = Annotated[str, Field(min_length=1, max_length=100), AfterValidator(_printable)]


class Body(BaseModel):
    """What a page sends."""

    model_config = ConfigDict(extra="forbid")


class Entrance(Body):
    """What a page knows about the person: the link's parameters, and the key that it made."""

    participant: Word | None = None
    invitation: Word | None = None
    key: UUID | None = None
    simulated: Word | None = None
    link: dict[str, str] = {}


class Entered(NamedTuple):
    """A person's sitting, and whether this visit is one too many."""

    sitting: Sitting
    turned_away: bool = False


def nobody() -> HTTPException:
    """The refusal of a page without a sitting."""
    return HTTPException(401, "This browser has no sitting; please open the link again.")


def enter(records: Records, study: Study, keys: Keys, entrance: Entrance, id: str | None, tag: str | None) -> Entered:
    """The person's sitting, or a new one. If the page names a sitting by its tag, only that one.

    Parameters
    ----------
    records : Records
    study : Study
    keys : Keys
    entrance : Entrance
        What the page sent.
    id : str or None
        The sitting that the browser's cookie names.
    tag : str or None
        The sitting that the page names.
    """
    key = None if entrance.key is None else fingerprint(str(entrance.key))
    invitation = None if entrance.invitation is None else fingerprint(entrance.invitation)
    settings, panel = study.settings, study.settings.panel
    ids = {} if panel is None else panel.kept(entrance.link)
    found = _find(records, settings, entrance.participant, invitation, id, key)
    if tag is not None and (found is None or keys.tag(found.id) != tag):
        raise nobody()
    if found is None:
        simulated = _is_simulated(keys, entrance)
        return Entered(_begin(records, study, entrance.participant, invitation, key, simulated, ids))
    if panel is None or not ids or ids == found.panel:
        return Entered(found)
    if panel.again == "never" and found.panel:
        return Entered(found, turned_away=True)
    return Entered(records.set_panel(found, ids))  # the link back names the latest visit


def _is_simulated(keys: Keys, entrance: Entrance) -> bool:
    """Whether a person is simulated; only whoever has the study's key can prove it."""
    if entrance.simulated is None:
        return False
    expected = keys.simulation(entrance.participant or "")
    if not hmac.compare_digest(entrance.simulated.encode(), expected.encode()):
        raise HTTPException(403, "Simulated people need the study's key.")
    return True


def _find(
    records: Records,
    settings: Settings,
    participant: str | None,
    invitation: str | None,
    id: str | None,
    key: str | None,
) -> Sitting | None:
    if invitation is not None:
        if not records.invited(invitation):
            raise HTTPException(403, "This invitation is not known; please check the link.")
        # The code can't be guessed, so whoever has it may continue in another browser.
        return records.sitting_by(invitation)
    # The browser made the key, so the key opens the sitting even if the reply to the first request was lost.
    for sitting in [] if key is None else records.sittings_with(key):
        if participant in (None, sitting.participant):
            return sitting
    known = None if id is None else records.sitting(id)
    if known is not None and participant in (None, known.participant):
        if key is not None:
            records.set_key(known, key)
        return known
    if settings.entry == "invitation":
        raise HTTPException(403, "This study is by invitation; please use the link that you were sent.")
    if participant is not None and settings.panel is not None and settings.panel.again == "anywhere":
        return records.sitting_of(participant)
    return None


def _begin(
    records: Records,
    study: Study,
    participant: str | None,
    invitation: str | None,
    key: str | None,
    simulated: bool,
    ids: dict[str, str],
) -> Sitting:
    seed = secrets.randbits(62)
    kinds = plan(study, np.random.default_rng(seed))
    name = participant or f"p-{secrets.token_hex(4)}"
    return records.begin(name, kinds, seed, invitation, key, simulated, ids)
