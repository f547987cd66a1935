"""The participants' requests: begin, agree, get questions, answer, take an answer back, see the items."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import FileResponse
from pydantic import AwareDatetime, Field
from starlette.exceptions import HTTPException

from .admission import Body, Entered, Entrance, Word, enter, nobody
from .items import open_inside
from .middleware import MEDIA_POLICY, page_policy
from .pictures import CONVERTED, Box
from .progress import leave, progress_of
from .question_forms import ANCHOR, GRID, MOST_AROUND
from .questionnaire import LONGEST_TEXT, screens_out
from .running_study import RunningStudy
from .store import Question, Records, Sitting

OLD_COOKIE = "oddkernel_sitting"  # as it was called before every study had its own
TAG = "oddkernel-sitting"
"""The header in which a page names its sitting."""
PASS = "oddkernel-pass"
"""The header with which a page enters its sitting where the browser keeps no cookie, as in a panel's frame."""
A_YEAR = 365 * 24 * 3600
LONGEST_RESPONSE_MS = 7 * 24 * 3600 * 1000
"""Longest response time that is accepted: a week. Chosen by hand: someone may leave the page open for days."""


Side = Annotated[int, Query(ge=1, le=100_000)]
"""Width or height, in screen pixels, of the room that a page has for a picture."""


Moment = Annotated[AwareDatetime, Field(ge=datetime(1900, 1, 1, tzinfo=UTC), le=datetime(9000, 1, 1, tzinfo=UTC))]


def _in_utc(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="milliseconds")


Text = Annotated[str, Field(max_length=2 * LONGEST_TEXT)]  # line breaks may count twice
Number = Annotated[float, Field(allow_inf_nan=False)]


Around = Annotated[int, Field(strict=True, ge=1, le=MOST_AROUND)]
"""A position around the middle of a grid."""

KEYS = "123456789ABCDEFGHIJK"
"""What stands beside the items, and the keys that pick them; as in question.js."""

# What a screen reader calls the first item, where it can't be picked.
FIRST = {ANCHOR: "anchor", GRID: "middle"}


class Agreement(Body):
    agreed: Literal[True]


class Said(Body):
    client_id: UUID
    question: Word
    answer: Literal[-1, 0, 1, 2] | Annotated[list[Around], Field(min_length=1, max_length=MOST_AROUND)]
    response_ms: Annotated[int, Field(ge=0, le=LONGEST_RESPONSE_MS)]
    answered_at: Moment


class Reply(Body):
    client_id: UUID
    name: Word
    value: Text | int | Number | None
    answered_at: Moment


class Undo(Body):
    client_id: UUID
    of: UUID


def _parts(question: Question) -> tuple[str, str, tuple[str, ...], int]:
    return question.id, question.form, question.items, question.picks


def router(judge: RunningStudy) -> APIRouter:
    """The participants' part of the application."""
    routes = APIRouter()
    settings = judge.study.settings

    async def as_shown(questions: Iterable[tuple[str, str, tuple[str, ...], int]]) -> list[dict[str, Any]]:
        """Questions, by id, form, items and number of picks, as the page shows them."""

        def one(id: str, form: str, names: tuple[str, ...], picks: int) -> dict[str, Any]:
            items = [
                {
                    **judge.shown(name),
                    "label": judge.words.say("item", place=KEYS[place - 1]) if place else judge.words.say(FIRST[form]),
                }
                for place, name in enumerate(names, start=0 if form in FIRST else 1)
            ]
            return {"id": id, "form": form, "picks": picks, "items": items}

        if not judge.has_files:
            return [one(*each) for each in questions]
        return await asyncio.to_thread(lambda: [one(*each) for each in questions])  # it may read files

    def visitor(request: Request) -> str | None:
        """The id of the sitting that pass or cookie name; raises 429 if requests come too often.

        None without either, and if the page names another sitting: a browser has one cookie for the study, but may
        have pages of two people open.
        """
        given = (request.headers.get(PASS), request.cookies.get(judge.cookie), request.cookies.get(OLD_COOKIE))
        id = next((id for each in given if (id := judge.keys.signed(each)) is not None), None)
        if id is not None and request.headers.get(TAG) not in (None, judge.keys.tag(id)):
            id = None
        address = request.client.host if request.client else ""
        wait = judge.newcomers.wait(address) if id is None else judge.per_sitting.wait(id)
        if wait:
            raise HTTPException(429, "Too many requests; please wait a moment.", {"retry-after": str(int(wait) + 1)})
        return id

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

    @routes.get("/")
    async def index() -> Response:
        panel = settings.panel
        return judge.pages.page(
            "participant/index.html",
            None if panel is None else {"content-security-policy": page_policy(panel.policy)},
            language=settings.language,
            words=judge.words.language,
            title=settings.title,
            noscript=judge.words.say("noscript"),
            participant="participant" if panel is None else panel.id,
        )

    @routes.post("/api/sitting")
    async def sit_down(entrance: Entrance, request: Request, response: Response) -> dict[str, Any]:
        id, tag = visitor(request), request.headers.get(TAG)

        def work(records: Records) -> tuple[Entered, set[str]]:
            entered = enter(records, judge.study, judge.keys, entrance, id, tag)
            return entered, records.replied(entered.sitting.id) if settings.about else set()

        (sitting, turned_away), replied = await judge.write(work)
        signed = judge.keys.sign(sitting.id)
        response.set_cookie(
            judge.cookie,
            signed,
            max_age=A_YEAR,
            path=f"{judge.root}/",
            httponly=True,
            samesite="strict",
            secure=request.url.scheme == "https",
        )
        practice = await as_shown((f"practice-{n}", *each) for n, each in enumerate(judge.asking.practice(sitting)))
        asked = [about.shown() for about in settings.about if about.name not in replied]
        about = {
            "title": settings.title,
            "question": settings.question,
            "questions": settings.questions_by_form,
            "instructions": settings.instructions,
            "consent": (settings.consent or None) if not sitting.consented else None,
            "language": settings.language,
            "words": settings.words,
            "practice": practice,
            "about": asked,
            "can_undo": True,
            "declined": leave(sitting, settings, "declined").get("leave"),
            "tag": judge.tag,
        }
        told = progress_of(sitting, settings, replied)
        if turned_away:
            told = {"answered": sitting.answered, "total": sitting.total, "state": "turned_away"}
        end: dict[str, Any] = {name: told.pop(name) for name in ("completion_code", "leave") if name in told}
        return {"sitting": {**told, "tag": judge.keys.tag(sitting.id)}, "pass": signed, "study": about, **end}

    @routes.post("/api/consent")
    async def agree(_: Agreement, request: Request) -> dict[str, Any]:
        id = visitor(request)
        await judge.write(lambda records: records.consent(present(records, id)))
        return {"agreed": True}

    @routes.post("/api/decline")
    async def decline(_: Body, request: Request) -> dict[str, Any]:
        """Delete a sitting in which nothing was said: whoever doesn't want to take part leaves no trace."""
        id = visitor(request)

        def work(records: Records) -> None:
            sitting = None if id is None else records.sitting(id)
            if sitting is not None and not sitting.consented and not sitting.answered:
                records.withdraw(sitting.participant)

        await judge.write(work)
        return {"declined": True}

    @routes.get("/api/questions")
    async def questions(request: Request, count: Annotated[int, Query(ge=1, le=20)] = 3) -> dict[str, Any]:
        id = visitor(request)
        sitting, found = await judge.asking.next(lambda records: agreed(records, id), count)
        return {
            "questions": await as_shown(map(_parts, found)),
            **progress_of(sitting, settings),
        }

    @routes.post("/api/answers")
    async def answer(said: Said, request: Request) -> dict[str, Any]:
        id = visitor(request)
        given = tuple(sorted(said.answer)) if isinstance(said.answer, list) else said.answer

        def work(records: Records) -> Sitting:
            sitting = agreed(records, id)
            question, is_new = records.answer(
                sitting,
                str(said.client_id),
                said.question,
                given,
                said.response_ms,
                _in_utc(said.answered_at),
            )
            if is_new:
                judge.asking.answered(question, given)
            return sitting._replace(answered=sitting.answered + is_new)

        return {"stored": True, **progress_of(await judge.write(work), settings)}

    @routes.post("/api/about")
    async def about_person(reply: Reply, request: Request) -> dict[str, Any]:
        id = visitor(request)
        ends = screens_out(settings.about, reply.name, reply.value)
        when = _in_utc(reply.answered_at)

        def work(records: Records) -> Sitting:
            # What was said is stored also if the settings have changed meanwhile: the page checked it.
            sitting = agreed(records, id)
            records.reply(sitting.id, str(reply.client_id), reply.name, reply.value, when, ends)
            return sitting._replace(screened_out=sitting.screened_out or ends)

        return {"stored": True, **progress_of(await judge.write(work), settings)}

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
        shown = await as_shown([_parts(question)] if judge.asking.can_ask(question) else [])
        return {"question": shown[0] if shown else None, **progress_of(sitting, settings)}

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
        media_type = item.media_type
        if path.suffix.lower() in CONVERTED:
            if not picture:
                raise HTTPException(404, "The item's file can't be read.")
            media_type = CONVERTED[path.suffix.lower()][1]
        headers = {
            "cache-control": f"private, max-age={A_YEAR}, immutable" if is_current else "no-cache",
            "content-security-policy": MEDIA_POLICY,
            "content-disposition": "inline",
        }
        if picture is not None:
            return Response(picture, media_type=media_type, headers=headers)
        return FileResponse(path, media_type=media_type, headers=headers)

    return routes
