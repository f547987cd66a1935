"""`oddkernel.comparisons.kinds`: every kind of answer means what its sentence says about distances."""

import numpy as np
import pytest
from comparison_strategies import comparisons
from hypothesis import given
from properties import examples

from oddkernel.comparisons import Comparisons, Kind
from oddkernel.comparisons.kinds import LINKS, MEANINGS, compared, farthest, orders, pairs, singled_out


def spelled_out(kind: Kind, odd: int) -> tuple[set[frozenset[int]], set[frozenset[int]]]:
    """The pairs of positions that are near and far, written out by hand."""
    pair = [frozenset({1, 2}), frozenset({0, 2}), frozenset({0, 1})]  # by the position opposite
    if kind == Kind.ODD_ONE_OUT:
        return (set(), set()) if odd < 0 else ({pair[odd]}, {pair[p] for p in range(3) if p != odd})
    return {
        Kind.MOST_CENTRAL: ({pair[1], pair[2]}, {pair[0]}),
        Kind.CLOSER: ({pair[2]}, {pair[1]}),
        Kind.EQUALLY_CLOSE: (set(), set()),
        Kind.MUST_LINK: ({pair[2]}, set()),
        Kind.CANNOT_LINK: (set(), {pair[2]}),
    }[kind]


def test_every_kind_has_a_meaning() -> None:
    assert set(MEANINGS) == set(Kind)
    assert set(LINKS) == {Kind.MUST_LINK, Kind.CANNOT_LINK}


@given(comparisons())
@examples(60)
def test_pairs_and_orders_are_those_spelled_out(said: Comparisons) -> None:
    found = {near: pairs(said.kind, said.odd, near=near) for near in (True, False)}
    row, anchor, near, far = orders(said.kind, said.odd)
    for number, (kind, odd) in enumerate(zip(said.kind.tolist(), said.odd.tolist(), strict=True)):
        expected = dict(zip((True, False), spelled_out(Kind(kind), odd), strict=True))
        for side, (rows, positions) in found.items():
            listed = [frozenset(pair) for pair in positions[rows == number].tolist()]
            assert set(listed) == expected[side]
            assert len(listed) == len(expected[side])
        ours = row == number
        ordered = {
            (frozenset({a, n}), frozenset({a, f}))
            for a, n, f in zip(anchor[ours].tolist(), near[ours].tolist(), far[ours].tolist(), strict=True)
        }
        assert ordered == {(n, f) for n in expected[True] for f in expected[False]}
        assert (np.diff(anchor[ours]) > 0).all()


@pytest.mark.parametrize("kind", [kind for kind in Kind if kind not in (*LINKS, Kind.EQUALLY_CLOSE)])
@pytest.mark.parametrize("odd", [0, 1, 2])
def test_the_pair_singled_out_is_the_extreme_of_those_compared(kind: Kind, odd: int) -> None:
    kinds, odds = np.array([kind]), np.array([odd if kind == Kind.ODD_ONE_OUT else -1])
    near, far = spelled_out(kind, odd)
    side = int(singled_out(kinds, odds)[0])
    one = frozenset({0, 1, 2} - {side})
    others = {frozenset({0, 1, 2} - {p}) for p in np.flatnonzero(compared(kinds)[0]).tolist()} - {one}
    assert (near, far) == ((others, {one}) if farthest(kinds)[0] else ({one}, others))


def test_cant_tell_singles_out_nothing() -> None:
    said = Comparisons.odd_one_out([[0, 1, 2]], [-1]) + Comparisons.anchor([[0, 1, 2]], [-1])
    assert singled_out(said.kind, said.odd).tolist() == [-1, -1]
    assert not len(orders(said.kind, said.odd).row)
