"""What the experimenter may do, with the token: watch, pause, delete a participant, take the answers home."""

from __future__ import annotations

from fastapi import APIRouter

from .app import Judge


def router(judge: Judge) -> APIRouter:
    """The experimenter's part of the application."""
    return APIRouter(prefix="/experimenter")
