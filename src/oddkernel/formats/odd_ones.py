"""Odd-one-out answers by name, as the places that collect them write them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..comparisons import Comparisons
from .omissions import names_of


class OddOne(NamedTuple):
    """Three names as shown, the position of the odd one, and who said so."""

    shown: tuple[str, str, str]
    odd: int
    rater: str


def odd_ones(said: Comparisons) -> Iterator[OddOne]:
    """The decided odd-one-out answers."""
    names = names_of(said)
    for row in np.flatnonzero(said.odd >= 0).tolist():
        one, two, three = said.shown[row].tolist()
        rater = "" if said.rater is None else str(said.rater[row])
        yield OddOne((names[one], names[two], names[three]), int(said.odd[row]), rater)
