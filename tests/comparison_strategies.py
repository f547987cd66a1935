"""Hypothesis strategies for arbitrary `Comparisons`."""

from __future__ import annotations

from hypothesis import strategies as st

from oddkernel.comparisons import Comparisons

# NUL and half surrogate pairs are refused by Comparisons; "Cs" is the category of the latter.
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=6)
hostile = st.sampled_from(
    [
        "a,b",
        'say "hi"',
        "two\nlines",
        "\r",
        "\r\n",
        " padded ",
        "cant_tell",
        "-1",
        "0",
        "#x",
        "=cmd()",
        "null",
        "é",
        "\u2028",
    ]
)
names = (texts | hostile).filter(bool)
weights = st.floats(min_value=0, exclude_min=True, allow_infinity=False, allow_nan=False)
bounds = st.floats(min_value=0, allow_infinity=False, allow_nan=False)


@st.composite
def comparisons(draw: st.DrawFn, max_rows: int = 6) -> Comparisons:
    """Any kinds together, with or without names, weights, raters and bounds."""
    items = draw(st.none() | st.lists(names, min_size=4, max_size=8, unique=True).map(tuple))
    index = st.integers(0, 9 if items is None else len(items) - 1)
    distinct = lambda size: st.lists(index, min_size=size, max_size=size, unique=True)  # noqa: E731
    said = Comparisons.empty(items=items)
    for kind in draw(
        st.lists(st.sampled_from(["odd", "central", "closer", "anchor", "grid", "must", "cannot"]), max_size=max_rows)
    ):
        about = {"weight": draw(st.none() | weights), "rater": draw(st.none() | texts | hostile), "items": items}
        if kind == "odd":
            said += Comparisons.odd_one_out([draw(distinct(3))], [draw(st.integers(-1, 2))], **about)
        elif kind == "central":
            central, *others = draw(distinct(3))
            said += Comparisons.most_central([central], [others], **about)
        elif kind == "closer":
            said += Comparisons.closer(*([item] for item in draw(distinct(3))), **about)
        elif kind == "anchor":
            said += Comparisons.anchor([draw(distinct(3))], [draw(st.sampled_from([-1, 1, 2]))], **about)
        elif kind == "grid":
            middle, *around = draw(distinct(4))
            about["weight"] = draw(st.none() | st.floats(1e-300, 1e300))  # rows have half of it
            said += Comparisons.grid([middle], [around], [[draw(st.integers(0, 2))]], **about)
        elif kind == "must":
            said += Comparisons.must_link([draw(distinct(2))], draw(st.none() | bounds), **about)
        else:
            said += Comparisons.cannot_link([draw(distinct(2))], draw(st.none() | bounds), **about)
    return said
