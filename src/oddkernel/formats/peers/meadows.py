"""Meadows' annotations (CSV) of its Triplet Choice task, with the question which of three is the odd one out.

- **stim1_id**, **stim2_id**, **stim3_id**: Meadows' ids of the three items as shown;
- **stim1_name**, **stim2_name**, **stim3_name**: their names, which are kept;
- **label**: id of the item chosen, the odd one;
- **task**: name of the task; all rows about three items must be of one;
- **participation**: who answered.

Meadows documents that the label varies with the task; that it is an id in this one is taken from a published download,
and any other label is refused. The file doesn't hold the question: check that people were asked for the odd one. Rows
about fewer than three items, or with one shown twice, are left out, as are all other columns, among them the times.
"""

from __future__ import annotations

from reprlib import repr as brief

import numpy as np

from ...comparisons import Comparisons
from ...comparisons.answers import POSITIONS
from ...comparisons.rows import Rows
from ..odd_ones import odd_ones
from ..omissions import warn_of_losses
from ..peer_csv import Sheet, check_names, write_sheet

IDS = ("stim1_id", "stim2_id", "stim3_id")
NAMES = ("stim1_name", "stim2_name", "stim3_name")
REQUIRED = ("task", "participation", *IDS, *NAMES, "label")


def read(data: bytes) -> Rows:
    """Read odd-one-out annotations."""
    sheet = Sheet.read(data, REQUIRED)
    asked = [
        (place, row)
        for place, row in zip(sheet.places, sheet.rows, strict=True)
        if len({row[column] for column in IDS} - {""}) == 3
    ]
    tasks = sorted({row["task"] for _, row in asked})
    if len(tasks) > 1:
        raise ValueError(f"tasks {brief(tasks)} all show three items; expected the rows of one odd-one-out task")
    check_names((place, row[IDS[p]], row[NAMES[p]]) for place, row in asked for p in range(3))
    n_other = len(sheet.rows) - len(asked)
    notes = [
        "The item that was chosen is taken for the odd one, as the file doesn't hold the question.",
        *([f"Rows that don't show three different items left out: {n_other}."] if n_other else []),
        *sheet.without(REQUIRED),
    ]
    return Rows.of_triples(
        "odd_one_out",
        [[row[column] for column in NAMES] for _, row in asked],
        [place for place, _ in asked],
        answer=[_answer(row, place) for place, row in asked],
        rater=[row["participation"] or None for _, row in asked],
        notes=notes,
    )


def _answer(row: dict[str, str], place: str) -> str:
    for column, letter in zip(IDS, POSITIONS, strict=True):
        if row["label"] == row[column]:
            return letter
    raise ValueError(f"{place}: label is {brief(row['label'])}; expected the id of one of the three items")


def write(said: Comparisons) -> bytes:
    """Write decided odd-one-out answers; as Meadows' ids are its own, names stand in for them."""
    answers = list(odd_ones(said))
    warn_of_losses(said, np.flatnonzero(said.odd >= 0), ["rater", "items"])
    rows = [("odd-one-out", answer.rater, *answer.shown, *answer.shown, answer.shown[answer.odd]) for answer in answers]
    return write_sheet(REQUIRED, rows)
