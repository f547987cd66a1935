"""HTTP: what the pages of participants and of the experimenter ask for."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException

from .asking import Asking
from .atlas import Atlas
from .export import Export, Filter, HoldOut, export
from .guard import HEADERS, Guard, Rate
from .keys import Keys
from .store import Database, Records, Refused, Unavailable, Unknown
from .study import Study

T = TypeVar("T")

HOLDOUTS: tuple[HoldOut, HoldOut] = ("drop", "only")
STATIC = Path(__file__).with_name("static")


class Judge:
    """A study that is being run: what the handlers of requests share."""

    def __init__(self, study: Study, database: Database) -> None:
        self.study = study
        self.database = database
        self.keys = Keys(database.write(lambda records: records.secret()).result())
        self.media = self.keys.media(study.names)
        self.media_id = {name: id for id, name in self.media.items()}
        self.asking = Asking(study, database)
        self.atlas = Atlas(self._exported, study.names, study.features)
        self.per_sitting = Rate(per_second=20, burst=100)
        self.newcomers = Rate(per_second=5, burst=500)  # a whole lecture hall may come from one address at once
        self.token_tries = Rate(per_second=1, burst=20)

    def _exported(self) -> tuple[Export, Export]:
        """The answers to learn from, and those held out."""
        answers = self.database.read(lambda records: records.answers())
        learned, held_out = (
            export(answers, self.study.names, self.study.name, Filter(holdout=which)) for which in HOLDOUTS
        )
        return learned, held_out

    def shown(self, name: str) -> dict[str, Any]:
        """An item as a page shows it."""
        item = self.study.items[self.study.index_of[name]]
        what = {"text": item.text} if item.path is None else {"url": f"/media/{self.media_id[name]}"}
        return {"kind": item.medium, **what}

    async def write(self, work: Callable[[Records], T]) -> T:
        """Change the records; returns when the change is durable."""
        return await asyncio.wrap_future(self.database.write(work))

    async def read(self, work: Callable[[Records], T]) -> T:
        """Look at the records, while other requests go on."""
        return await asyncio.to_thread(self.database.read, work)


def create_app(study: Study, database: Database) -> FastAPI:
    """The whole web application.

    Parameters
    ----------
    study : Study
        What to ask, about what.
    database : Database
        Where the answers go; to be closed by whoever opened it.
    """
    from . import experimenter, participant

    judge = Judge(study, database)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        judge.atlas.close()
        judge.asking.close()

    app = FastAPI(title=study.settings.title, lifespan=lifespan, openapi_url=None, docs_url=None, redoc_url=None)
    app.state.judge = judge
    app.include_router(participant.router(judge))
    app.include_router(experimenter.router(judge))
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    app.add_middleware(Guard, per_address=Rate(per_second=1000, burst=5000))
    for problem, handler in _HANDLERS.items():
        app.add_exception_handler(problem, handler)
    return app


def page(name: str) -> FileResponse:
    """One of the pages."""
    return FileResponse(STATIC / name)


def sentence(status: int, text: str, headers: dict[str, str] | None = None) -> JSONResponse:
    """An error, in one sentence."""
    return JSONResponse({"error": text}, status, headers)


async def _on_http(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    return sentence(error.status_code, str(error.detail), dict(error.headers or {}))


async def _on_invalid(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"] if part != "body") or "the body"
    return sentence(422, f"{place}: {first['msg']}.")


async def _on_unavailable(_: Request, error: Exception) -> JSONResponse:
    return sentence(503, str(error), {"retry-after": "2"})


async def _on_refused(_: Request, error: Exception) -> JSONResponse:
    return sentence(409, str(error))


async def _on_unknown(_: Request, error: Exception) -> JSONResponse:
    return sentence(404, str(error))


async def _on_failure(_: Request, error: Exception) -> JSONResponse:
    # What it was is in the log. This answer is given outside the guard, which adds the headers to all others.
    return sentence(500, "Something went wrong on the server.", HEADERS)


_HANDLERS = {
    Exception: _on_failure,
    HTTPException: _on_http,
    RequestValidationError: _on_invalid,
    Unavailable: _on_unavailable,
    Refused: _on_refused,
    Unknown: _on_unknown,
}
