"""Salmon's ``responses.csv``: which of two items, left and right, is most like the head?

- **head**, **winner**, **loser**: numbers of the targets, counted from 0; the winner is closer to the head;
- **left**, **right**: what was shown; they stand in for loser where that is missing;
- **head_filename**, **winner_filename**, **loser_filename**: names, used in place of the numbers if all are there;
- **puid**: who answered.

All other columns, among them response_time, are left out.
"""

from __future__ import annotations

from reprlib import repr as brief

from ...comparisons import Comparisons
from ...comparisons.rows import Rows
from ..omissions import triplets_of, warn_of_losses
from ..peer_csv import Sheet, check_columns, check_names, other_choice, whole_number, write_sheet

ROLES = ("head", "winner", "loser")
FILENAMES = tuple(f"{role}_filename" for role in ROLES)


def read(data: bytes) -> Rows:
    """Read responses."""
    sheet = Sheet.read(data, ROLES[:2])
    shown = {"left", "right"} <= set(sheet.names)
    if not shown:
        check_columns(sheet.names, ROLES)
    triplets = [_triplet(row, place, shown) for row, place in zip(sheet.rows, sheet.places, strict=True)]
    rater = [row.get("puid") or None for row in sheet.rows]
    notes = sheet.without({*ROLES, "left", "right", *FILENAMES, "puid"})
    if not set(FILENAMES) <= set(sheet.names):
        return Rows.of_triples("closer", triplets, sheet.places, first=0, rater=rater, notes=notes)
    names = [tuple(row[column] for column in FILENAMES) for row in sheet.rows]
    check_names(
        (place, number, name)
        for place, numbers, called in zip(sheet.places, triplets, names, strict=True)
        for number, name in zip(numbers, called, strict=True)
    )
    notes.append("Items go by their file names; their numbers are left out.")
    return Rows.of_triples("closer", names, sheet.places, rater=rater, notes=notes)


def _triplet(row: dict[str, str], place: str, shown: bool) -> tuple[int, ...]:
    if shown:
        loser = row[other_choice(row, place, "left", "right", "winner")]
        if row.setdefault("loser", loser) != loser:
            raise ValueError(
                f"{place}: loser is {brief(row['loser'])}; expected {loser}, which was shown and didn't win"
            )
    return tuple(whole_number(row[role], role, place) for role in ROLES)


def write(said: Comparisons) -> bytes:
    """Write head, winner and loser, with their names and who answered where that is known; the winner stands left."""
    triplets = triplets_of(said)
    warn_of_losses(said, triplets.source, ["rater", "items"])
    columns = [*ROLES, "left", "right", "puid", *(FILENAMES if said.items is not None else ())]
    raters = [""] * len(triplets.source) if said.rater is None else said.rater[triplets.source].tolist()
    rows = []
    for (head, near, far), rater in zip(triplets.shown.tolist(), raters, strict=True):
        names = () if said.items is None else (said.items[head], said.items[near], said.items[far])
        rows.append((head, near, far, near, far, rater, *names))
    return write_sheet(columns, rows)
