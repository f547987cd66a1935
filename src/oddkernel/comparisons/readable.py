"""Comparisons as people read them: columns of names and words, and a summary in one line."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from .answers import POSITIONS
from .kinds import MEANINGS, Kind

if TYPE_CHECKING:
    import pandas as pd

    from .comparisons import Comparisons


def readable_columns(said: Comparisons) -> dict[str, list[Any]]:
    """See `Comparisons.to_dict`."""
    kinds = [Kind(kind) for kind in said.kind.tolist()]
    indices = said.constrained.tolist()
    name: dict[int, Any] = (
        dict(zip(indices, indices, strict=True)) if said.items is None else dict(enumerate(said.items))
    )
    columns: dict[str, list[Any]] = {
        "kind": [kind.name.lower() for kind in kinds],
        **{column: [name.get(i) for i in said.shown[:, p].tolist()] for p, column in enumerate(POSITIONS)},
        "answer": [
            None if kind != Kind.ODD_ONE_OUT else "cant_tell" if odd < 0 else POSITIONS[odd]
            for kind, odd in zip(kinds, said.odd.tolist(), strict=True)
        ],
        "bound": [None if math.isnan(bound) else bound for bound in said.bound.tolist()],
        "weight": said.weight.tolist(),
        "rater": [None] * len(said) if said.rater is None else [rater or None for rater in said.rater.tolist()],
    }
    return columns if said.part_of is None else columns | {"answer_id": [str(part) for part in said.part_of.tolist()]}


def readable_frame(said: Comparisons) -> pd.DataFrame:
    """See `Comparisons.to_frame`."""
    try:
        import pandas as pd
    except ImportError:
        raise ImportError('to_frame needs pandas: pip install "oddkernel[pandas]"') from None
    types = {"bound": "float64"} | ({} if said.items is not None else dict.fromkeys(POSITIONS, "Int64"))
    return pd.DataFrame(readable_columns(said)).astype(types)


def summary(said: Comparisons) -> str:
    """How many statements of each kind there are, about how many items, by how many raters."""
    counts = {kind: int(np.count_nonzero(said.kind == kind)) for kind in Kind}
    unclear = int(np.count_nonzero(said.undecided & (said.kind == Kind.ODD_ONE_OUT)))
    phrases = [_count(counts[kind], meaning.words) for kind, meaning in MEANINGS.items() if counts[kind]]
    if unclear:
        phrases[0] += f" ({unclear} can't tell)"
    n_used = len(said.constrained)
    over = _count(n_used, "item") if said.items is None else f"{n_used} of {_count(len(said.items), 'named item')}"
    raters = "" if said.rater is None else f" by {_count(len(set(said.rater.tolist()) - {''}), 'rater')}"
    return f"Comparisons: {', '.join(phrases) or 'none'} over {over}{raters}"


def _count(number: int, words: str) -> str:
    return f"{number} {words}{'' if number == 1 else 's'}"
