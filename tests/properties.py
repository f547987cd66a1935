"""How many examples Hypothesis draws of a property: up to a hundred, and in `make quick` a few."""

from __future__ import annotations

from typing import Any

from hypothesis import settings

QUICK = 20
"""Chosen by hand: the quick tests then spend a fifth as much on properties as all tests do, 3 s in place of 12."""


def examples(most: int, **options: Any) -> settings:
    """Settings of a test whose examples are expensive: at most so many, and no more than in any other test."""
    return settings(max_examples=min(most, settings.default.max_examples), **options)
