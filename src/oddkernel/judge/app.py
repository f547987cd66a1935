"""HTTP: what the pages of participants and of the experimenter ask for."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from . import experimenter, participant
from .guard import HEADERS, Guard, Rate
from .running import Judge
from .store import Database, Refused, Unavailable, Unknown
from .study import Study


def create_app(study: Study, database: Database, is_crowded: Callable[[], bool] = lambda: False) -> FastAPI:
    """The whole web application.

    Parameters
    ----------
    study : Study
        What to ask, about what.
    database : Database
        Where the answers go; to be closed by whoever opened it.
    is_crowded : callable, optional
        Whether connections are scarce, so that each is to be closed once it has its answer.
    """
    judge = Judge(study, database)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        judge.atlas.close()
        judge.describing.close()
        judge.reporting.close()
        judge.asking.close()
        judge.pictures.close()

    app = FastAPI(title=study.settings.title, lifespan=lifespan, openapi_url=None, docs_url=None, redoc_url=None)
    app.state.judge = judge
    app.mount("/static", judge.pages, name="static")
    app.include_router(participant.router(judge))
    app.include_router(experimenter.router(judge))
    app.add_middleware(Guard, per_address=Rate(per_second=1000, burst=5000), is_crowded=is_crowded)
    for problem, handler in _HANDLERS.items():
        app.add_exception_handler(problem, handler)
    return app


def sentence(status: int, text: str, headers: dict[str, str] | None = None) -> JSONResponse:
    """An error, in one sentence."""
    return JSONResponse({"error": text}, status, headers)


def verdict(request: Request, status: int, text: str) -> JSONResponse:
    """A refusal for good, signed by the study: only on such a one does a page let go of an answer."""
    return JSONResponse({"error": text, "study": request.app.state.judge.tag}, status)


async def _on_http(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    return sentence(error.status_code, str(error.detail), dict(error.headers or {}))


async def _on_invalid(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"] if part != "body") or "the body"
    return verdict(request, 422, f"{place}: {first['msg']}.")


async def _on_unavailable(_: Request, error: Exception) -> JSONResponse:
    return sentence(503, str(error), {"retry-after": "2"})


async def _on_refused(request: Request, error: Exception) -> JSONResponse:
    return verdict(request, 409, str(error))


async def _on_unknown(request: Request, error: Exception) -> JSONResponse:
    return verdict(request, 404, str(error))


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
