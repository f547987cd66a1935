"""Speed and memory of oddkernel compared with the alternatives.

``CASES`` lists the cases by name. Each is a function of a size, ``"full"`` or ``"tiny"``, and of a callable that
reports progress, and returns a `results.Case`.
"""

from __future__ import annotations

from collections.abc import Callable

from . import answers, clustering, first_call, growth, items, paper
from .results import Case

Tell = Callable[[str], None]

CASES: dict[str, Callable[[str, Tell], Case]] = {
    "paper": paper.run,
    "answers": answers.run,
    "items": items.run,
    "clustering": clustering.run,
    "first_call": first_call.run,
    "growth": growth.run,
}

__all__ = ["CASES", "Case", "Tell"]
