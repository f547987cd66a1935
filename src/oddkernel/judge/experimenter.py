"""What the experimenter may do, with the token: watch, pause, delete a participant, take the answers home."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import RedirectResponse, Response
from pydantic import BaseModel, ConfigDict
from starlette.exceptions import HTTPException

from .. import formats
from ..formats.listing import list_items
from ..items import tables
from .admission import Word
from .export import Filter, HoldOut, export
from .middleware import REPORT_POLICY
from .people_table import table_of_people
from .running_study import RunningStudy
from .study_data import forget

TYPES = {
    "csv": "text/csv; charset=utf-8",
    "jsonl": "application/jsonl; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
    "items.csv": "text/csv; charset=utf-8",
    "people.csv": "text/csv; charset=utf-8",
}


class Leaving(BaseModel):
    model_config = ConfigDict(extra="forbid")
    participant: Word


def router(judge: RunningStudy) -> APIRouter:
    """The experimenter's part of the application."""
    study, settings = judge.study, judge.study.settings
    cookie = f"oddkernel_experimenter_{judge.tag}"

    def required(request: Request) -> None:
        kind, _, bearer = request.headers.get("authorization", "").partition(" ")
        given = [token for token in (request.cookies.get(cookie), bearer if kind == "Bearer" else None) if token]
        if not any(try_token(request, token) for token in given):
            raise HTTPException(401, "This needs the token that the server printed when it started.")

    def try_token(request: Request, token: str) -> bool:
        """Whether this is the token; whoever has guessed too often is told to wait, right or wrong."""
        address = request.client.host if request.client else ""
        wait = judge.token_tries.left(address)
        if wait:
            raise HTTPException(429, "Too many tries; please wait a moment.", {"retry-after": str(int(wait) + 1)})
        is_right = judge.keys.opens(token)
        if not is_right:
            judge.token_tries.wait(address)
        return is_right

    routes = APIRouter(prefix="/experimenter")
    api = APIRouter(prefix="/api", dependencies=[Depends(required)])

    @routes.get("")
    async def index(request: Request, token: str | None = None) -> Response:
        if token is None:
            required(request)
            return judge.pages.page("experimenter/experimenter.html")
        if not try_token(request, token):
            raise HTTPException(401, "This is not the token that the server printed when it started.")
        # The address with the token leaves the address bar at once.
        answer = RedirectResponse(f"{judge.root}/experimenter", status_code=303)
        answer.set_cookie(
            cookie,
            judge.keys.token,
            path=f"{judge.root}/experimenter",
            httponly=True,
            samesite="lax",  # the link may be clicked on another site; what changes something needs this origin anyway
            secure=request.url.scheme == "https",
        )
        return answer

    @api.get("/summary")
    async def summary() -> dict[str, Any]:
        facts = await asyncio.to_thread(judge.statistics.latest)
        return {
            "title": settings.title,
            "question": settings.question,
            "items": len(study.items),
            "questions_per_person": study.n_questions,
            "policy": settings.policy,
            "too_fast_seconds": settings.too_fast,
            **facts,
        }

    @api.get("/map")
    async def learned_map() -> dict[str, Any]:
        judge.describe()
        found = judge.live_map.latest(await judge.read(lambda records: records.n_answers()))
        columns = zip(*(found.pop(name, ()) for name in ("items", "x", "y", "cluster")), strict=True)

        def place() -> list[dict[str, Any]]:
            return [
                {"name": study.names[i], **judge.shown(study.names[i]), "x": x, "y": y, "cluster": cluster}
                for i, x, y, cluster in columns
            ]

        return {**found, "items": await asyncio.to_thread(place)}

    @api.post("/report")
    async def make_report() -> dict[str, Any]:
        judge.reporting.begin()
        return report_state()

    @api.get("/report")
    async def report_progress() -> dict[str, Any]:
        return report_state()

    def report_state() -> dict[str, Any]:
        try:
            made = datetime.fromtimestamp(judge.report_file.stat().st_mtime, UTC).isoformat()
        except OSError:
            made = None
        return {**judge.reporting.state(), "made_at": made}

    @api.post("/plan")
    async def make_plan() -> dict[str, Any]:
        judge.planning.begin()
        return judge.planning.state()

    @api.get("/plan")
    async def plan_progress() -> dict[str, Any]:
        return judge.planning.state()

    @routes.get("/report")
    async def report(request: Request) -> Response:
        required(request)
        try:
            page = await asyncio.to_thread(judge.report_file.read_bytes)
        except OSError:
            raise HTTPException(404, "There is no report yet; the experimenter's page makes one.") from None
        headers = {"content-security-policy": REPORT_POLICY}
        return Response(page, media_type="text/html; charset=utf-8", headers=headers)

    @api.post("/pause")
    async def pause() -> dict[str, Any]:
        await judge.write(lambda records: records.pause(True))
        return {"state": "paused"}

    @api.post("/resume")
    async def resume() -> dict[str, Any]:
        await judge.write(lambda records: records.pause(False))
        return {"state": "running"}

    @api.post("/withdraw")
    async def withdraw(leaving: Leaving) -> dict[str, Any]:
        deleted = await judge.write(lambda records: records.withdraw(leaving.participant))
        is_gone = await asyncio.to_thread(judge.database.forget_deleted)
        await asyncio.to_thread(forget, study.home)
        judge.statistics.forget()
        await judge.write(judge.asking.refresh)
        return {"withdrawn": leaving.participant, "answers_deleted": deleted, "lingers": not is_gone}

    @api.get("/export")
    async def download(
        format: Literal["csv", "jsonl", "parquet", "items.csv", "people.csv"] = "csv",
        holdout: HoldOut = "drop",
        failed_catches: Literal["keep", "drop"] = "keep",
        too_fast: Literal["keep", "drop"] = "keep",
        incomplete: Literal["keep", "drop"] = "keep",
        participants: Annotated[Literal["yes", "no"], Query()] = "yes",
    ) -> Response:
        chosen = Filter(
            holdout=holdout,
            failed_catches=failed_catches == "drop",
            too_fast=settings.too_fast if too_fast == "drop" else None,
            incomplete=incomplete == "drop",
            participants=participants == "yes",
        )
        answers, sittings, replies = await judge.read(
            lambda records: (records.answers(), records.sittings(), records.replies())
        )

        def make() -> bytes:
            if format == "people.csv":
                people = table_of_people(sittings, answers, replies, settings, participants=chosen.participants)
                return tables.WRITERS[".csv"](people)
            said, details = export(answers, study.names, study.name, chosen)
            if format == "items.csv":
                return list_items(said.items or ())
            return formats.dump(said, format, details=details)

        name = "holdout" if holdout == "only" else "answers"
        headers = {"content-disposition": f'attachment; filename="{name}.{format}"'}
        return Response(await asyncio.to_thread(make), media_type=TYPES[format], headers=headers)

    routes.include_router(api)
    return routes
