"""The colours of pictures and pages."""

from __future__ import annotations

PALETTE = (
    "#4e79a7", "#f28e2b", "#e15759", "#76b7b2", "#59a14f", "#d9a900", "#b07aa1", "#ff7f9b", "#8c5a3c", "#5b5fd6",
    "#1f9d76", "#c2468f", "#93a83a", "#3f9fe0", "#c0652a", "#8b6fc9", "#5f8794", "#d85c8a", "#7a8b2f", "#a04848",
)  # fmt: skip
"""Colours that can be distinguished on white and on black, chosen by hand; groups also have labels."""

RAMP = ("#98a1ac", "#e9bf4f", "#ee9447", "#d9644f", "#b5446e", "#83429a")
"""A colour scale from zero to the largest value, chosen by hand."""


def colour_of(group: int) -> str:
    """The colour of the group with this number."""
    return PALETTE[group % len(PALETTE)]
