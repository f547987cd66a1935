"""Answers as constraints: rows that are linear in the kernel.

Every row reads ``near_factor·δ(near) − far_factor·δ(far) + offset ≤ slack`` (``= slack`` for an equality), where
δ(i, j) is the squared learned distance. Either part may be absent: its factor is then zero.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np

from ..comparisons import Comparisons, Kind
from ..comparisons.kinds import Orders, orders
from ..support.types import Array
from .distances import of_pairs


@dataclass(frozen=True, eq=False)
class Constraints:
    """Rows over pairs of items, as columns of equal length m.

    Attributes
    ----------
    near, far : (m, 2) int arrays
        The pair that should be close and the pair that should be far.
    near_factor, far_factor : (m,) arrays
        Their factors, 0 where a part is absent.
    offset : (m,) array
        The constant term: the margin, or a link's bound.
    equality : (m,) bool array
        Whether a row is an equality; *can't tell* gives equalities.
    weight : (m,) array
        Weight of a violation.
    answer : (m,) int array
        Index of the answer or link that a row comes from.
    """

    near: Array
    far: Array
    near_factor: Array
    far_factor: Array
    offset: Array
    equality: Array
    weight: Array
    answer: Array

    def __len__(self) -> int:
        return len(self.offset)

    def __getitem__(self, rows: Array | slice) -> Constraints:
        return Constraints(**{f.name: getattr(self, f.name)[rows] for f in fields(self)})

    def renumbered(self, numbers: Array) -> Constraints:
        """The same rows, where item i has the number ``numbers[i]``."""
        return replace(self, near=numbers[self.near], far=numbers[self.far])

    def violation(self, coordinates: Array) -> Array:
        """(m,): near_factor·δ_near − far_factor·δ_far + offset, for items with these Euclidean coordinates."""
        pairs = np.sort(np.concatenate([self.near, self.far]), axis=1)
        near, far = np.split(of_pairs(coordinates, *pairs.T), 2)
        return np.asarray(self.near_factor * near - self.far_factor * far + self.offset)

    def matched(self, others: Constraints, values: Array) -> Array:
        """(m,): for each row the value of the equal row among ``others``, or 0.

        The values of repeated rows are summed and divided evenly: the kernel depends on their sum only.
        """
        keys = np.vstack([self._content(), others._content()])
        _, key = np.unique(keys, axis=0, return_inverse=True)
        mine, theirs = np.split(key.ravel(), [len(self)])  # NumPy 2.0 returns a column
        size = int(key.max(initial=-1)) + 1
        total = np.bincount(theirs, values, minlength=size)
        return np.asarray(total[mine] / np.bincount(mine, minlength=size)[mine])

    def _content(self) -> Array:
        """(m, 7): the content of each row, independent of the order within its pairs."""
        near, far = np.sort(self.near, axis=1), np.sort(self.far, axis=1)
        rest = (self.near_factor > 0, self.far_factor > 0, self.equality)
        return np.column_stack([near, far, *rest]).astype(np.int64)

    @classmethod
    def from_comparisons(
        cls,
        said: Comparisons,
        *,
        ratio: float = 1.0,
        margin: float = 0.0,
        at_most: float = np.nan,
        at_least: float = np.nan,
    ) -> Constraints:
        """Translate answers into rows.

        An odd one out ``(i, j | k)`` gives two rows, ``ratio·δ(i,j) + margin ≤ δ(i,k)`` and ``≤ δ(j,k)``. *Can't tell*
        gives three equalities, so that no item is special. The most central item c of a, b, c gives two rows, with
        δ(a,c) and δ(b,c) near and δ(a,b) far. *Closer* gives one row, *equally close* one equality. A link bounds
        one distance, by ``at_most`` or ``at_least`` if it has no bound of its own.

        Examples
        --------
        >>> from oddkernel import Comparisons
        >>> rows = Constraints.from_comparisons(Comparisons.odd_one_out([[0, 1, 2]], [2]), ratio=4.0)
        >>> rows.near.tolist(), rows.far.tolist()
        ([[0, 1], [1, 0]], [[0, 2], [1, 2]])
        """
        decided, *positions = _by_anchor(orders(said.kind, said.odd), said)
        undecided = np.flatnonzero(said.undecided & (said.kind == Kind.ODD_ONE_OUT))
        equal = np.flatnonzero(said.kind == Kind.EQUALLY_CLOSE)
        must = np.flatnonzero(said.kind == Kind.MUST_LINK)
        cannot = np.flatnonzero(said.kind == Kind.CANNOT_LINK)

        anchor, near, far = (said.shown[decided, position] for position in positions)
        a, b, c = np.sort(said.shown[undecided], axis=1).T
        center, one, other = np.column_stack([said.shown[equal, 0], np.sort(said.shown[equal, 1:], axis=1)]).T
        must_i, must_j, _ = said.shown[must].T
        cannot_i, cannot_j, _ = said.shown[cannot].T

        parts = [
            _block(decided, (anchor, near), (anchor, far), ratio, 1.0, margin),
            _block(undecided, (a, b), (a, c), 1.0, 1.0, 0.0, equality=True),
            _block(undecided, (b, a), (b, c), 1.0, 1.0, 0.0, equality=True),
            _block(undecided, (c, a), (c, b), 1.0, 1.0, 0.0, equality=True),
            _block(equal, (center, one), (center, other), 1.0, 1.0, 0.0, equality=True),
            _block(must, (must_i, must_j), (must_i, must_j), 1.0, 0.0, -_given(said.bound[must], at_most)),
            _block(cannot, (cannot_i, cannot_j), (cannot_i, cannot_j), 0.0, 1.0, _given(said.bound[cannot], at_least)),
        ]
        columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        order = np.argsort(columns["answer"], kind="stable")
        return cls(
            **{name: column[order] for name, column in columns.items()}, weight=said.weight[columns["answer"]][order]
        )


def _by_anchor(said_so: Orders, said: Comparisons) -> Orders:
    """The one or two statements of each answer, sorted by anchor, so that the order shown has no effect."""
    row, anchor = said_so.row, said.shown[said_so.row, said_so.anchor]
    later = np.flatnonzero((row[:-1] == row[1:]) & (anchor[:-1] > anchor[1:]))
    order = np.arange(len(row))
    order[later], order[later + 1] = later + 1, later
    return Orders(*(column[order] for column in said_so))


def _given(bound: Array, default: float) -> Array:
    return np.where(np.isnan(bound), default, bound)


def _block(
    answer: Array,
    near: tuple[Array, Array],
    far: tuple[Array, Array],
    near_factor: float,
    far_factor: float,
    offset: float | Array,
    *,
    equality: bool = False,
) -> dict[str, Array]:
    m = len(answer)
    return {
        "near": np.stack(near, axis=1),
        "far": np.stack(far, axis=1),
        "near_factor": np.full(m, near_factor),
        "far_factor": np.full(m, far_factor),
        "offset": np.broadcast_to(np.asarray(offset, dtype=float), m),
        "equality": np.full(m, equality),
        "answer": answer,
    }
