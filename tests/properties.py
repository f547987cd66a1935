"""How many examples Hypothesis draws of a property: up to a hundred, in `make quick` a few, in `make explore` many."""

from __future__ import annotations

from typing import Any

from hypothesis import settings

QUICK = 20
"""Chosen by hand: the quick tests then spend a fifth as much on properties as all tests do, 3 s in place of 12."""


ALL, NEW = 100, 1000
"""Examples in all tests, which is Hypothesis's default, and in `make explore`. The second is chosen by hand."""


def examples(most: int, **options: Any) -> settings:
    """Settings of a test whose examples are expensive: at most so many, and no more than in any other test.

    In `make explore` as many times as many as of any other property.
    """
    drawn = settings.default.max_examples
    return settings(max_examples=min(most, drawn) if drawn <= ALL else most * drawn // ALL, **options)
