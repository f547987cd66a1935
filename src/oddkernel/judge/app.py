"""HTTP: what the pages of participants and of the experimenter ask for."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.types import Lifespan

from . import experimenter, participant
from .middleware import HEADERS, Guard, Rate
from .running_study import RunningStudy
from .store import Refused, Unavailable, Unknown

HEALTH_PATIENCE = 5.0
"""Seconds after which a database that doesn't answer counts as unavailable. Chosen by hand."""


def create_app(judges: Sequence[RunningStudy], is_crowded: Callable[[], bool] = lambda: False) -> FastAPI:
    """The whole web application: one study at ``/``, or several, each below its own root.

    Parameters
    ----------
    judges : sequence of RunningStudy
        The studies; each is closed when the application stops.
    is_crowded : callable, optional
        Whether connections are scarce, so that each is to be closed once it has its answer.
    """

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        for judge in judges:
            judge.close()

    if len(judges) == 1:
        app = _study_app(judges[0], lifespan)
    else:
        app = FastAPI(lifespan=lifespan, openapi_url=None, docs_url=None, redoc_url=None)
        for judge in judges:
            app.mount(judge.root, _study_app(judge))
        app.add_exception_handler(HTTPException, _on_elsewhere)
        app.add_exception_handler(Unavailable, _on_unavailable)
        app.add_exception_handler(Exception, _on_failure)
    app.state.judges = judges

    @app.get("/health")
    async def health() -> dict[str, str]:
        """Whether every study can store answers now; nothing about the studies."""
        try:
            async with asyncio.timeout(HEALTH_PATIENCE):
                for judge in judges:
                    await judge.write(lambda records: records.paused())
        except TimeoutError:
            raise Unavailable("The answers can't be stored at the moment.") from None
        return {"status": "ok"}

    app.add_middleware(Guard, per_address=Rate(per_second=1000, burst=5000), is_crowded=is_crowded)
    return app


def _study_app(judge: RunningStudy, lifespan: Lifespan[FastAPI] | None = None) -> FastAPI:
    """The part of the application that is about one study."""
    app = FastAPI(lifespan=lifespan, openapi_url=None, docs_url=None, redoc_url=None)
    app.state.judge = judge
    app.mount("/static", judge.pages, name="static")
    app.include_router(participant.router(judge))
    app.include_router(experimenter.router(judge))
    for problem, handler in _HANDLERS.items():
        app.add_exception_handler(problem, handler)
    return app


def sentence(status: int, text: str, headers: dict[str, str] | None = None) -> JSONResponse:
    """An error, in one sentence."""
    return JSONResponse({"error": text}, status, headers)


def verdict(request: Request, status: int, text: str) -> JSONResponse:
    """A refusal for good, signed by the study: only on such a one does a page let go of an answer."""
    return JSONResponse({"error": _translated(request, text), "study": request.app.state.judge.tag}, status)


def _translated(request: Request, text: str) -> str:
    judge: RunningStudy = request.app.state.judge
    return judge.words.translated(text)


async def _on_http(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    return sentence(error.status_code, _translated(request, str(error.detail)), dict(error.headers or {}))


async def _on_elsewhere(_: Request, error: Exception) -> JSONResponse:
    """Outside all studies; which there are is nobody's business."""
    assert isinstance(error, HTTPException)
    return sentence(error.status_code, "There is no study here; please use the whole link that you were sent.")


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
    # What it was is in the log. This answer is given outside the guard, which adds the headers to all others. Uvicorn
    # closes the connection after it, and a client that isn't told might send its next request there and lose it.
    return sentence(500, "Something went wrong on the server.", HEADERS | {"connection": "close"})


_HANDLERS = {
    Exception: _on_failure,
    HTTPException: _on_http,
    RequestValidationError: _on_invalid,
    Unavailable: _on_unavailable,
    Refused: _on_refused,
    Unknown: _on_unknown,
}
