"""The page that the demo leaves: one HTML file that needs nothing else."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from string import Template

import numpy as np
from numpy.typing import NDArray

from .picture import COLOURS

Array = NDArray[np.float64]

# Width and height of a map in its own units, and the room that its dots leave at the edge.
_SIDE, _EDGE = 400, 8


@dataclass(frozen=True, eq=False)
class Question:
    """Three images, the position of the odd one, and the positions picked before and after learning."""

    images: Array
    odd: int
    before: int
    after: int


def demo_page(
    facts: Mapping[str, str], before: Array, after: Array, groups: NDArray[np.intp], questions: Sequence[Question]
) -> str:
    """Fill the demo's page.

    Parameters
    ----------
    facts : mapping of str to str
        What the text calls for: n_answers, n_items, n_asked, n_unseen, score_before, score_after, rand_before,
        rand_after and status.
    before, after : ndarray of shape (n, 2)
        Maps of the items.
    groups : ndarray of shape (n,)
        Which group, 0 to 9, each item belongs to.
    questions : sequence of Question
        Questions to show.

    Returns
    -------
    str
        An HTML page.
    """
    template = Template(files(__package__).joinpath("demo.html").read_text(encoding="utf-8"))
    return template.substitute(
        {name: escape(fact) for name, fact in facts.items()},
        map_before=_svg(before, groups, "Map of the images before learning"),
        map_after=_svg(after, groups, "Map of the images after learning"),
        questions="\n".join(map(_question, questions)),
    )


def _svg(flat: Array, groups: NDArray[np.intp], title: str) -> str:
    low, high = flat.min(axis=0), flat.max(axis=0)
    scale = (_SIDE - 2 * _EDGE) / max(float((high - low).max()), np.finfo(float).tiny)
    points = _SIDE / 2 + (flat - (low + high) / 2) * scale * [1, -1]
    dots, names = [], []
    for group in np.unique(groups):
        mine = points[groups == group]
        # A stroke of no length with round ends is a dot, and by far its shortest notation.
        path = "".join(f"M{x:.1f} {y:.1f}h0" for x, y in mine)
        dots.append(f'<path stroke="{COLOURS[group % len(COLOURS)]}" d="{path}"/>')
        x, y = np.median(mine, axis=0)
        names.append(f'<text x="{x:.0f}" y="{y:.0f}">{group}</text>')
    drawing = "".join(dots + names)
    return f'<svg viewBox="0 0 {_SIDE} {_SIDE}" role="img" aria-label="{escape(title)}">{drawing}</svg>'


def _question(question: Question) -> str:
    pictures = "".join(
        f'<img alt="{"odd one" if position == question.odd else "one of the other two"}"'
        f'{" class=odd" if position == question.odd else ""} src="{_data_url(image)}">'
        for position, image in enumerate(question.images)
    )
    verdicts = ", ".join(
        f'{when} <span class="{"right" if pick == question.odd else "wrong"}">{_ORDINALS[pick]}</span>'
        for when, pick in (("before:", question.before), ("after:", question.after))
    )
    return f'<li><div class="three">{pictures}</div><p>{verdicts}</p></li>'


_ORDINALS = ("the first", "the second", "the third")


def _data_url(image: Array) -> str:
    from matplotlib.image import imsave

    file = io.BytesIO()
    imsave(file, image, cmap="gray_r", format="png")
    return "data:image/png;base64," + base64.b64encode(file.getvalue()).decode()
