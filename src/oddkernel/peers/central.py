"""Most-central answers, in the columns of the 60 cars of Kleindessner and von Luxburg; items are counted from 1.

- **triplet_object_1**, **triplet_object_2**, **triplet_object_3**: numbers of the three items shown;
- **chosen_center**: number of the one that was called the most central;
- **survey_round**: the round of the survey in which it was said, kept as the rater.

The most central item c of a, b, c leaves a and b the farthest apart: δ(a,c) ≤ δ(a,b) and δ(b,c) ≤ δ(a,b), which are two
`closer` rows, (a, c, b) and (b, c, a). Other columns, among them response_time, are left out. There is no writer, as
few comparisons come in such pairs.
"""

from __future__ import annotations

from .._rows import Rows
from ._sheet import Sheet, whole_number

SHOWN = ("triplet_object_1", "triplet_object_2", "triplet_object_3")


def read(data: bytes) -> Rows:
    """Read answers; each becomes two rows."""
    sheet = Sheet.read(data, ("chosen_center", *SHOWN))
    triplets, places, rater = [], [], []
    for row, place in zip(sheet.rows, sheet.places, strict=True):
        center = whole_number(row["chosen_center"], "chosen_center", place)
        shown = [whole_number(row[column], column, place) for column in SHOWN]
        if shown.count(center) != 1 or len(set(shown)) != 3:
            raise ValueError(f"{place}: chosen_center is {center} of {shown}; expected one of three different items")
        one, other = (item for item in shown if item != center)
        triplets += [(one, center, other), (other, center, one)]
        places += [place] * 2
        rater += [row.get("survey_round") or None] * 2
    note = (
        f"{len(sheet.rows)} most-central answers, each taken as two statements: each of the other two is closer to the "
        "central one than to the other."
    )
    notes = [note, *sheet.without({"chosen_center", "survey_round", *SHOWN})]
    return Rows.of_triples("closer", triplets, places, first=1, rater=rater, notes=notes)
