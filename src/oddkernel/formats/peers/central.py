"""Most-central answers, in the columns of the 60 cars of Kleindessner and von Luxburg; items are counted from 1.

- **triplet_object_1**, **triplet_object_2**, **triplet_object_3**: numbers of the three items shown;
- **chosen_center**: number of the one that was called the most central;
- **survey_round**: the round of the survey in which it was said, kept as the rater.

Other columns, among them response_time, are left out.
"""

from __future__ import annotations

from ...comparisons.rows import Rows
from ..peer_csv import Sheet, whole_number

SHOWN = ("triplet_object_1", "triplet_object_2", "triplet_object_3")


def read(data: bytes) -> Rows:
    """Read answers."""
    sheet = Sheet.read(data, ("chosen_center", *SHOWN))
    triples, rater = [], []
    for row, place in zip(sheet.rows, sheet.places, strict=True):
        center = whole_number(row["chosen_center"], "chosen_center", place)
        shown = [whole_number(row[column], column, place) for column in SHOWN]
        if shown.count(center) != 1 or len(set(shown)) != 3:
            raise ValueError(f"{place}: chosen_center is {center} of {shown}; expected one of three different items")
        triples.append((center, *(item for item in shown if item != center)))
        rater.append(row.get("survey_round") or None)
    note = f"{len(sheet.rows)} most-central answers: the other two are the farthest apart."
    notes = [note, *sheet.without({"chosen_center", "survey_round", *SHOWN})]
    return Rows.of_triples("most_central", triples, sheet.places, first=1, rater=rater, notes=notes)
