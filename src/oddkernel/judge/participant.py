"""The participants' requests: begin, agree, get questions, answer, take an answer back, see the items."""

from __future__ import annotations

import asyncio
import hmac
import secrets
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Annotated, Any, Literal
from uuid import UUID

import numpy as np
from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import FileResponse
from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException

from .asking import plan
from .guard import MEDIA_POLICY
from .items import open_inside
from .keys import fingerprint
from .pictures import Box
from .running import Judge
from .store import Question, Records, Sitting

OLD_COOKIE = "oddkernel_sitting"  # as it was called before every study had its own
TAG = "oddkernel-sitting"
"""The header in which a page names its sitting."""
A_YEAR = 365 * 24 * 3600
LONGEST_RESPONSE_MS = 7 * 24 * 3600 * 1000
"""Longest response time that is accepted: a week. Chosen by hand: someone may leave the page open for days."""


def _printable(text: str) -> str:
    if not text.isprintable():
        raise ValueError("expected printable characters")
    return text


Word = Annotated[str, Field(min_length=1, max_length=100), AfterValidator(_printable)]


Side = Annotated[int, Query(ge=1, le=100_000)]
"""Width or height, in screen pixels, of the room that a page has for a picture."""


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Entrance(_Body):
    participant: Word | None = None
    invitation: Word | None = None
    key: UUID | None = None
    simulated: Word | None = None


class Agreement(_Body):
    agreed: Literal[True]


class Said(_Body):
    client_id: UUID
    question: Word
    answer: Literal[-1, 0, 1, 2]
    response_ms: Annotated[int, Field(ge=0, le=LONGEST_RESPONSE_MS)]
    answered_at: Annotated[
        AwareDatetime, Field(ge=datetime(1900, 1, 1, tzinfo=UTC), le=datetime(9000, 1, 1, tzinfo=UTC))
    ]


class Undo(_Body):
    client_id: UUID
    of: UUID


def router(judge: Judge) -> APIRouter:
    """The participants' part of the application."""
    routes = APIRouter()
    settings = judge.study.settings

    def standing(sitting: Sitting) -> dict[str, Any]:
        if sitting.done:
            state = "done"
        elif sitting.paused:
            state = "paused"
        else:
            state = "running" if sitting.answered else "new"
        told: dict[str, Any] = {"answered": sitting.answered, "total": sitting.total, "state": state}
        if sitting.done and settings.completion_code:
            told["completion_code"] = settings.completion_code
        return told

    async def as_shown(questions: Iterable[tuple[str, tuple[str, str, str]]]) -> list[dict[str, Any]]:
        """Questions, by id and items, as the page shows them."""

        def one(id: str, names: tuple[str, str, str]) -> dict[str, Any]:
            items = [{**judge.shown(name), "label": f"Item {place}"} for place, name in enumerate(names, start=1)]
            return {"id": id, "items": items}

        if not judge.has_files:
            return [one(id, names) for id, names in questions]
        return await asyncio.to_thread(lambda: [one(id, names) for id, names in questions])  # it may read files

    def visitor(request: Request) -> str | None:
        """The id of the sitting that the cookie names; raises 429 if requests come too often.

        None without a cookie, and if the page names another sitting: a browser has one cookie for the study, but may
        have pages of two people open.
        """
        id = judge.keys.signed(request.cookies.get(judge.cookie)) or judge.keys.signed(request.cookies.get(OLD_COOKIE))
        if id is not None and request.headers.get(TAG) not in (None, judge.keys.tag(id)):
            id = None
        address = request.client.host if request.client else ""
        wait = judge.newcomers.wait(address) if id is None else judge.per_sitting.wait(id)
        if wait:
            raise HTTPException(429, "Too many requests; please wait a moment.", {"retry-after": str(int(wait) + 1)})
        return id

    def nobody() -> HTTPException:
        return HTTPException(401, "This browser has no sitting; please open the link again.")

    def present(records: Records, id: str | None) -> Sitting:
        sitting = None if id is None else records.sitting(id)
        if sitting is None:
            raise nobody()
        return sitting

    def agreed(records: Records, id: str | None) -> Sitting:
        sitting = present(records, id)
        if settings.consent and not sitting.consented:
            raise HTTPException(403, "Please agree to take part first.")
        return sitting

    def enter(records: Records, entrance: Entrance, id: str | None, tag: str | None) -> Sitting:
        """The person's sitting, or a new one. If the page names a sitting by its tag, only that one."""
        key = None if entrance.key is None else fingerprint(str(entrance.key))
        invitation = None if entrance.invitation is None else fingerprint(entrance.invitation)
        found = find(records, entrance.participant, invitation, id, key)
        if tag is not None and (found is None or judge.keys.tag(found.id) != tag):
            raise nobody()
        return found or begin(records, entrance.participant, invitation, key, is_simulated(entrance))

    def is_simulated(entrance: Entrance) -> bool:
        """Whether a person is simulated; only whoever has the study's key can prove it."""
        if entrance.simulated is None:
            return False
        expected = judge.keys.simulation(entrance.participant or "")
        if not hmac.compare_digest(entrance.simulated.encode(), expected.encode()):
            raise HTTPException(403, "Simulated people need the study's key.")
        return True

    def find(
        records: Records, participant: str | None, invitation: str | None, id: str | None, key: str | None
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
        return None

    def begin(
        records: Records, participant: str | None, invitation: str | None, key: str | None, simulated: bool
    ) -> Sitting:
        seed = secrets.randbits(62)
        kinds = plan(settings, np.random.default_rng(seed))
        return records.begin(participant or f"p-{secrets.token_hex(4)}", kinds, seed, invitation, key, simulated)

    @routes.get("/")
    async def index() -> Response:
        return judge.pages.page("participant/index.html")

    @routes.post("/api/sitting")
    async def sit_down(entrance: Entrance, request: Request, response: Response) -> dict[str, Any]:
        id, tag = visitor(request), request.headers.get(TAG)
        sitting = await judge.write(lambda records: enter(records, entrance, id, tag))
        response.set_cookie(
            judge.cookie,
            judge.keys.sign(sitting.id),
            max_age=A_YEAR,
            httponly=True,
            samesite="strict",
            secure=request.url.scheme == "https",
        )
        practice = await as_shown((f"practice-{n}", items) for n, items in enumerate(judge.asking.practice(sitting)))
        about = {
            "title": settings.title,
            "question": settings.question,
            "instructions": settings.instructions,
            "consent": (settings.consent or None) if not sitting.consented else None,
            "language": settings.language,
            "words": settings.words,
            "practice": practice,
            "can_undo": True,
            "tag": judge.tag,
        }
        told = standing(sitting)
        code = {"completion_code": told.pop("completion_code")} if "completion_code" in told else {}
        return {"sitting": {**told, "tag": judge.keys.tag(sitting.id)}, "study": about, **code}

    @routes.post("/api/consent")
    async def agree(_: Agreement, request: Request) -> dict[str, Any]:
        id = visitor(request)
        await judge.write(lambda records: records.consent(present(records, id)))
        return {"agreed": True}

    @routes.get("/api/questions")
    async def questions(request: Request, count: Annotated[int, Query(ge=1, le=20)] = 3) -> dict[str, Any]:
        id = visitor(request)
        sitting, found = await judge.asking.next(lambda records: agreed(records, id), count)
        return {"questions": await as_shown((question.id, question.items) for question in found), **standing(sitting)}

    @routes.post("/api/answers")
    async def answer(said: Said, request: Request) -> dict[str, Any]:
        id = visitor(request)

        when = said.answered_at.astimezone(UTC).isoformat(timespec="milliseconds")

        def work(records: Records) -> Sitting:
            sitting = agreed(records, id)
            question, is_new = records.answer(
                sitting, str(said.client_id), said.question, said.answer, said.response_ms, when
            )
            if is_new:
                judge.asking.answered(question, said.answer)
            return sitting._replace(answered=sitting.answered + is_new)

        return {"stored": True, **standing(await judge.write(work))}

    @routes.post("/api/undo")
    async def undo(asked: Undo, request: Request) -> dict[str, Any]:
        id = visitor(request)

        def work(records: Records) -> tuple[Question, Sitting]:
            sitting = agreed(records, id)
            question, is_new = records.undo(sitting, str(asked.client_id), str(asked.of))
            if is_new:
                judge.asking.taken_back(question)
            return question, sitting._replace(answered=sitting.answered - is_new)

        question, sitting = await judge.write(work)
        # An item that was taken out of the study can't be shown again.
        shown = await as_shown([(question.id, question.items)] if judge.asking.can_ask(question) else [])
        return {"question": shown[0] if shown else None, **standing(sitting)}

    @routes.get("/media/{id}")
    async def media(id: str, v: str = "", w: Side | None = None, h: Side | None = None) -> Response:
        name = judge.media.get(id)
        item = None if name is None else judge.study.items[judge.study.index_of[name]]
        if item is None or item.path is None:
            raise HTTPException(404, "There is no such item.")
        try:
            path = open_inside(item.path, judge.study.media_root)
            box = None if w is None or h is None else Box.around(w, h)
            picture = await judge.pictures.get(path, box) if item.medium == "image" else None
        except (ValueError, OSError):
            raise HTTPException(404, "The item's file is gone.") from None
        is_current = v == await asyncio.to_thread(judge.versions.of, item.path)
        headers = {
            "cache-control": f"private, max-age={A_YEAR}, immutable" if is_current else "no-cache",
            "content-security-policy": MEDIA_POLICY,
            "content-disposition": "inline",
        }
        if picture is not None:
            return Response(picture, media_type=item.media_type, headers=headers)
        return FileResponse(path, media_type=item.media_type, headers=headers)

    return routes
