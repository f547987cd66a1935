"""tripletTools' CSV: which of two items, Left and Right, is most like the one in the Center?

- **Center**: name of the target;
- **Left**, **Right**: names of the two options;
- **Answer**: name of the option chosen, the one closer to the target;
- **worker_id**: who answered; also as sessionID, session_ID, puid, Participant.ID, sub_id or pid;
- **sampleAlg**: rows that say ``check`` test attention and are left out, as tripletTools does when it fits.

All other columns are left out, among them rt, sampleSet and the numbers head, winner and loser, which follow from the
names.
"""

from __future__ import annotations

from ...comparisons import Comparisons
from ...comparisons.rows import Rows
from ..omissions import names_of, triplets_of, warn_of_losses
from ..peer_csv import Sheet, only_one, other_choice, write_sheet

REQUIRED = ("Center", "Left", "Right", "Answer")
RATERS = ("worker_id", "sessionID", "session_ID", "puid", "Participant.ID", "sub_id", "pid")


def read(data: bytes) -> Rows:
    """Read triplets."""
    sheet = Sheet.read(data, REQUIRED)
    who = only_one(sheet.names, RATERS)
    triplets, places, rater = [], [], []
    for row, place in zip(sheet.rows, sheet.places, strict=True):
        if row.get("sampleAlg") != "check":
            triplets.append((row["Center"], row["Answer"], row[other_choice(row, place, "Left", "Right", "Answer")]))
            places.append(place)
            rater.append(row[who] or None if who else None)
    n_checks = len(sheet.rows) - len(triplets)
    notes = [f"Attention checks left out: {n_checks}."] if n_checks else []
    return Rows.of_triples(
        "closer", triplets, places, rater=rater, notes=notes + sheet.without({*REQUIRED, "sampleAlg", who})
    )


def write(said: Comparisons) -> bytes:
    """Write triplets by name; the option chosen stands left."""
    names, triplets = names_of(said), triplets_of(said)
    warn_of_losses(said, triplets.source, ["rater", "items"])
    raters = [""] * len(triplets.source) if said.rater is None else said.rater[triplets.source].tolist()
    return write_sheet(
        [*REQUIRED, "worker_id"],
        [
            (names[anchor], names[near], names[far], names[near], rater)
            for (anchor, near, far), rater in zip(triplets.shown.tolist(), raters, strict=True)
        ],
    )
