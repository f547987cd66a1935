"""What people said about the items: `Comparisons`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..support.checks import refuse
from ..support.numbered import numbered
from ..support.types import Indices
from .columns import (
    ANSWER,
    INDEX,
    Rater,
    Weight,
    as_column,
    as_grid,
    as_indices,
    as_numbers,
    as_raters,
    as_whole_numbers,
    check_length,
    check_rows,
)
from .conflicts import find_conflicts
from .keys import canonical_keys
from .kinds import LINKS, Kind
from .labels import draw_answers
from .names import Names, as_items, check_same_names, common_names, new_names, new_positions
from .parts import as_parts, grid_rows, joined_parts, question_numbers, renumbered_parts
from .readable import readable_columns, readable_frame, summary

if TYPE_CHECKING:
    import pandas as pd

_NUMERIC = ("kind", "shown", "odd", "bound", "weight")
_COLUMNS = (*_NUMERIC, "rater", "items", "part_of")


class Comparisons:
    """What people said about the items: an immutable table with one row for each statement.

    Build it with `odd_one_out`, `anchor`, `grid`, `most_central`, `closer`, `must_link`, `cannot_link` or
    `from_labels`, and join tables with ``+``. The constructor itself takes ready columns, checks them and copies them.

    Items are rows of the features, counted from 0. They may also carry names: pass all of them, in order, as
    ``items=``, and rows may then be given by name as well as by index.

    Attributes
    ----------
    kind : ndarray of shape (m,), int8
        What each row says, a value of `Kind`.
    shown : ndarray of shape (m, 3), intp
        Odd-one-out: the three items as shown. Most central: the central one, then the other two. Closer: anchor, near,
        far. Equally close: the anchor, then the other two. Links: the two items and -1.
    odd : ndarray of shape (m,), int8
        Position 0..2 of the odd one in `shown`; -1 means *can't tell*. Always -1 for the other kinds.
    bound : ndarray of shape (m,), float64
        Bound on the squared distance, for links; NaN where none was given, and for the other kinds.
    weight : ndarray of shape (m,), float64
        How much each row counts; positive, 1 unless given.
    rater : ndarray of shape (m,), str, or None
        Who said it, ``""`` where that is unknown; None when nobody is named.
    items : tuple of str, or None
        Names of all items, in order.
    part_of : ndarray of shape (m,), intp, or None
        The number of the answer that each row is part of, from 0; None when every row is an answer of its own. The rows
        of one `grid` answer have the same number.

    Examples
    --------
    >>> from oddkernel.comparisons import Comparisons
    >>> said = Comparisons.odd_one_out([[12, 40, 7], [3, 9, 55]], [2, -1], rater="ann")
    >>> said + Comparisons.must_link([[3, 9]])
    Comparisons: 2 odd-one-out answers (1 can't tell), 1 must-link over 6 items by 1 rater
    >>> said[said.undecided].shown
    array([[ 3,  9, 55]])
    """

    __slots__ = ("bound", "items", "kind", "odd", "part_of", "rater", "shown", "weight")

    kind: NDArray[np.int8]
    shown: Indices
    odd: NDArray[np.int8]
    bound: NDArray[np.float64]
    weight: NDArray[np.float64]
    rater: NDArray[np.str_] | None
    items: tuple[str, ...] | None
    part_of: Indices | None

    def __init__(
        self,
        kind: ArrayLike,
        shown: ArrayLike,
        odd: ArrayLike,
        bound: ArrayLike,
        weight: Weight = None,
        rater: Rater = None,
        items: Names = None,
        part_of: ArrayLike | None = None,
    ) -> None:
        names = as_items(items)
        kinds = as_whole_numbers(as_column(kind, "kind"), "kind", "a Kind")
        refuse(~np.isin(kinds, list(Kind)), lambda row: f"kind {kinds[row]} is unknown; expected a Kind, 0 to 5")
        m = len(kinds)
        triples = as_whole_numbers(as_grid(shown, 3, "shown"), "shown", INDEX).astype(np.intp)
        check_length(triples, m, "shown")
        answers = as_whole_numbers(as_column(odd, "odd"), "odd", ANSWER)
        check_length(answers, m, "odd")
        bounds = as_numbers(bound, m, "bound", "a number") + 0.0  # no negative zero
        weights = as_numbers(1.0 if weight is None else weight, m, "weight", "a positive number")
        check_rows(kinds, triples, answers, bounds, weights, names)
        parts = as_parts(part_of, kinds, triples)
        self._store(
            kinds.astype(np.int8), triples, answers.astype(np.int8), bounds, weights, as_raters(rater, m), names, parts
        )

    def _with(self, *columns: Any) -> Self:
        """Make another one of columns that need no check, as they come from checked ones."""
        return object.__new__(type(self))._store(*columns)

    def _store(self, *columns: Any) -> Self:
        for name, column in zip(_COLUMNS, columns, strict=True):
            if isinstance(column, np.ndarray):
                column.setflags(write=False)
            object.__setattr__(self, name, column)
        return self

    @classmethod
    def empty(cls, items: Names = None) -> Self:
        """No rows at all.

        Examples
        --------
        >>> Comparisons.empty(items=["ant", "bee"])
        Comparisons: none over 0 of 2 named items
        """
        return cls.odd_one_out([], [], items=items)

    @classmethod
    def odd_one_out(
        cls, shown: ArrayLike, odd: ArrayLike, *, weight: Weight = None, rater: Rater = None, items: Names = None
    ) -> Self:
        """Answers to *which of these three is least like the other two?*

        Parameters
        ----------
        shown : array-like of shape (m, 3)
            The three items of each question, in the order shown; indices, or names when `items` is given.
        odd : array-like of shape (m,)
            Position 0, 1 or 2 of the odd one, or -1 for *can't tell*.
        weight : float or array-like of shape (m,), default=1
            How much each answer counts; positive.
        rater : str, int or sequence of them of length m, optional
            Who answered.
        items : iterable of str, optional
            Names of all items, in order.

        Examples
        --------
        >>> Comparisons.odd_one_out([["ant", "oak", "bee"]], [1], items=["ant", "bee", "oak"]).shown
        array([[0, 2, 1]])
        """
        names = as_items(items)
        triples = as_indices(as_grid(shown, 3, "shown"), "shown", names)
        return cls._of_kind(Kind.ODD_ONE_OUT, triples, odd, np.nan, weight, rater, names)

    @classmethod
    def most_central(
        cls, central: ArrayLike, others: ArrayLike, *, weight: Weight = None, rater: Rater = None, items: Names = None
    ) -> Self:
        """Answers to *which of these three is the most central?*: the other two are the farthest apart.

        Parameters
        ----------
        central : array-like of shape (m,)
            The item that was named.
        others : array-like of shape (m, 2)
            The other two that were shown.
        weight, rater, items
            As in `odd_one_out`.

        Examples
        --------
        >>> Comparisons.most_central([4, 7], [[1, 2], [4, 9]])
        Comparisons: 2 most-central answers over 5 items
        """
        names = as_items(items)
        middle = as_indices(as_column(central, "central"), "central", names)
        pairs = as_indices(as_grid(others, 2, "others"), "others", names)
        check_length(pairs, len(middle), "others")
        return cls._of_kind(Kind.MOST_CENTRAL, np.column_stack([middle, pairs]), None, np.nan, weight, rater, names)

    @classmethod
    def closer(
        cls,
        anchor: ArrayLike,
        near: ArrayLike,
        far: ArrayLike,
        *,
        weight: Weight = None,
        rater: Rater = None,
        items: Names = None,
    ) -> Self:
        """Statements that `anchor` is more like `near` than like `far`; each array-like of shape (m,).

        The other parameters are those of `odd_one_out`.

        Examples
        --------
        >>> Comparisons.closer([0, 4], [1, 5], [2, 6])
        Comparisons: 2 closer statements over 6 items
        """
        names = as_items(items)
        columns = [
            as_indices(as_column(values, what), what, names)
            for values, what in ((anchor, "anchor"), (near, "near"), (far, "far"))
        ]
        for column, what in zip(columns[1:], ("near", "far"), strict=True):
            check_length(column, len(columns[0]), what)
        return cls._of_kind(Kind.CLOSER, np.column_stack(columns), None, np.nan, weight, rater, names)

    @classmethod
    def anchor(
        cls, shown: ArrayLike, chosen: ArrayLike, *, weight: Weight = None, rater: Rater = None, items: Names = None
    ) -> Self:
        """Answers to *which of these two is more like the first?*

        Parameters
        ----------
        shown : array-like of shape (m, 3)
            The anchor, then the other two.
        chosen : array-like of shape (m,)
            Position 1 or 2 of the item that is more like the anchor, or -1 for *can't tell*: both are equally far from
            the anchor.
        weight, rater, items
            As in `odd_one_out`.

        Examples
        --------
        >>> Comparisons.anchor([[0, 1, 2], [4, 5, 6]], [2, -1])
        Comparisons: 1 closer statement, 1 equally-close answer over 6 items
        """
        names = as_items(items)
        triples = as_indices(as_grid(shown, 3, "shown"), "shown", names)
        accepted = "1 or 2, the position of the item that is more like the first, or -1 for can't tell"
        picked = as_whole_numbers(as_column(chosen, "chosen"), "chosen", accepted)
        check_length(picked, len(triples), "chosen")
        refuse(~np.isin(picked, (-1, 1, 2)), lambda row: f"chosen is {picked[row]}; expected {accepted}")
        ordered = np.where((picked == 2)[:, None], triples[:, [0, 2, 1]], triples)
        kind = np.where(picked < 0, Kind.EQUALLY_CLOSE, Kind.CLOSER)
        return cls(kind, ordered, np.full(len(kind), -1), np.nan, weight, rater, names)

    @classmethod
    def grid(
        cls,
        middle: ArrayLike,
        around: Sequence[ArrayLike],
        picked: Sequence[ArrayLike],
        *,
        weight: Weight = None,
        rater: Rater = None,
        items: Names = None,
    ) -> Self:
        """Answers to *which k of the n items around are most like the one in the middle?*

        Each answer becomes k·(n − k) `closer` rows: the middle is closer to each item picked than to each of the
        others. The rows share a number in `part_of`, so that they stay together in folds and scores.

        Parameters
        ----------
        middle : array-like of shape (m,)
            The item in the middle of each grid.
        around : sequence of m sequences
            The items around it.
        picked : sequence of m sequences
            The positions in `around` of the items that were picked.
        weight : float or array-like of shape (m,), default=1
            How much each answer counts; positive. Each of its rows gets this weight divided by k.
        rater : str, int or sequence of them of length m, optional
            Who answered.
        items : iterable of str, optional
            Names of all items, in order.

        Examples
        --------
        >>> Comparisons.grid([0], [[1, 2, 3, 4]], [[0, 3]]).shown
        array([[0, 1, 2],
               [0, 1, 3],
               [0, 4, 2],
               [0, 4, 3]])
        """
        names = as_items(items)
        *columns, grid, share = grid_rows(middle, around, picked, names)
        m = len(around)
        weights = as_numbers(1.0 if weight is None else weight, m, "weight", "a positive number")
        raters = as_raters(rater, m)
        kind = np.full(len(grid), Kind.CLOSER)
        who = None if raters is None else raters[grid]
        odd = np.full(len(grid), -1)
        return cls(kind, np.column_stack(columns), odd, np.nan, weights[grid] * share, who, names, part_of=grid)

    @classmethod
    def must_link(
        cls,
        pairs: ArrayLike,
        at_most: ArrayLike | None = None,
        *,
        weight: Weight = None,
        rater: Rater = None,
        items: Names = None,
    ) -> Self:
        """Pairs of items, array-like of shape (m, 2), that belong together.

        Their squared distance is to be no larger than `at_most`, a number or one for each pair; None leaves the choice
        to the learner, which takes the 5th percentile of the initial squared distances. The other parameters are those
        of `odd_one_out`.

        Examples
        --------
        >>> Comparisons.must_link([[0, 1], [2, 5]], at_most=0.1)
        Comparisons: 2 must-links over 4 items
        """
        return cls._links(Kind.MUST_LINK, pairs, at_most, "at_most", weight, rater, items)

    @classmethod
    def cannot_link(
        cls,
        pairs: ArrayLike,
        at_least: ArrayLike | None = None,
        *,
        weight: Weight = None,
        rater: Rater = None,
        items: Names = None,
    ) -> Self:
        """Pairs of items, array-like of shape (m, 2), that belong apart.

        Their squared distance is to be no smaller than `at_least`, a number or one for each pair; None leaves the
        choice to the learner, which takes the 95th percentile of the initial squared distances. The other parameters
        are those of `odd_one_out`.

        Examples
        --------
        >>> Comparisons.cannot_link([["ant", "oak"]], items=["ant", "oak"])
        Comparisons: 1 cannot-link over 2 of 2 named items
        """
        return cls._links(Kind.CANNOT_LINK, pairs, at_least, "at_least", weight, rater, items)

    @classmethod
    def from_labels(
        cls,
        y: ArrayLike,
        n: int,
        *,
        undecided: int = 0,
        noise: float = 0.0,
        random_state: Any = None,
        weight: Weight = None,
        rater: Rater = None,
        items: Names = None,
    ) -> Self:
        """Simulate a person who answers by class.

        Each of `n` answers shows two random items of one class and one of another, in random order; the latter is the
        odd one. After them come `undecided` *can't tell* answers, on three items of one class or of three classes.

        Parameters
        ----------
        y : array-like of shape (n_items,)
            Class of each item; the number -1 marks an unlabelled item, which is never drawn.
        n : int
            How many odd-one-out answers to draw.
        undecided : int, default=0
            How many *can't tell* answers to add.
        noise : float, default=0.0
            Share of the `n` answers, rounded to a whole number of them, that name one of the other two items instead.
        random_state : int, RandomState instance or None, default=None
            As in scikit-learn; an int makes the draw reproducible.
        weight, rater, items
            As in `odd_one_out`, for ``n + undecided`` rows.

        Examples
        --------
        >>> Comparisons.from_labels([0, 0, 0, 1, 1, -1], 20, undecided=5, random_state=0)
        Comparisons: 25 odd-one-out answers (5 can't tell) over 5 items
        """
        labels = as_column(y, "y")
        names = as_items(items)
        if names is not None and len(names) != len(labels):
            raise ValueError(f"items has {len(names)} names and y {len(labels)} labels; expected as many of both")
        shown, odd = draw_answers(labels, n, undecided, noise, random_state)
        return cls._of_kind(Kind.ODD_ONE_OUT, shown, odd, np.nan, weight, rater, names)

    @classmethod
    def from_frame(cls, frame: Any, *, columns: Mapping[str, str] | None = None, items: Names = None) -> Comparisons:
        """Take the rows of a data frame, such as `to_frame` makes.

        Parameters
        ----------
        frame : DataFrame
            Of pandas, polars or Arrow, with the columns a, b, c and answer, and perhaps kind, bound, weight and rater;
            others are left aside. Items are names if they are text, and indices if they are whole numbers. An answer is
            the letter of a column, the odd one's own name or *can't tell* in one of its usual spellings.
        columns : mapping of str to str, optional
            The heads of those columns that are called otherwise: ``{"answer": "chosen"}``.
        items : iterable of str, optional
            Names of all items, in order; by default those that occur, sorted.

        Examples
        --------
        >>> import pandas as pd
        >>> frame = pd.DataFrame({"a": ["ant"], "b": ["oak"], "c": ["bee"], "chosen": ["oak"]})
        >>> Comparisons.from_frame(frame, columns={"answer": "chosen"}).odd
        array([1], dtype=int8)
        """
        from .frames import read_frame

        return read_frame(frame, columns, items)

    @classmethod
    def _of_kind(cls, kind: Kind, shown: Indices, odd: Any, bound: Any, weight: Any, rater: Any, items: Any) -> Self:
        kinds = np.full(len(shown), kind)
        return cls(kinds, shown, np.full(len(shown), -1) if odd is None else odd, bound, weight, rater, items)

    @classmethod
    def _links(cls, kind: Kind, pairs: Any, bound: Any, bound_name: str, weight: Any, rater: Any, items: Any) -> Self:
        names = as_items(items)
        indices = as_indices(as_grid(pairs, 2, "pairs"), "pairs", names)
        refuse(indices < 0, lambda row: f"{indices[row].tolist()} holds a negative index; expected {INDEX}")
        if bound is not None:
            accepted = "a finite number, 0 or more; leave it out to let the learner choose"
            bound = as_numbers(bound, len(indices), bound_name, accepted)
            refuse(~np.isfinite(bound), lambda row: f"{bound_name} is {bound[row]}; expected {accepted}")
        shown = np.column_stack([indices, np.full(len(indices), -1)])
        return cls._of_kind(kind, shown, None, np.nan if bound is None else bound, weight, rater, names)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"Comparisons can't be changed, so {name} can't be set; build a new one instead")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"Comparisons can't be changed, so {name} can't be deleted; build a new one instead")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(getattr(self, name) for name in _COLUMNS)

    def __array__(self, *args: object, **kwargs: object) -> NoReturn:
        raise TypeError("Comparisons aren't an array; use their columns (shown, odd, ...) or to_frame()")

    @property
    def shape(self) -> NoReturn:
        """A TypeError that points to `SearchCV`: scikit-learn asks for the shape before it slices X and y alike."""
        raise TypeError(
            "scikit-learn can't split Comparisons: it would slice the items alike. To search or cross-validate, use "
            "oddkernel.SearchCV, which holds out answers and keeps all items; to split answers alone, said[rows]"
        )

    def __len__(self) -> int:
        return len(self.kind)

    def __getitem__(self, rows: Any) -> Self:
        """Rows by number (one row), slice, array of numbers or boolean mask; always `Comparisons`."""
        if isinstance(rows, (int, np.integer)) and not isinstance(rows, bool):
            rows = [rows]
        number = np.arange(len(self))[rows]
        if number.ndim != 1:
            raise IndexError("Comparisons have one axis; index them with a number, a slice, a 1-D array or a mask")
        rater = None if self.rater is None else self.rater[number]
        if rater is not None and (rater == "").all():
            rater = None
        parts = None if self.part_of is None else renumbered_parts(self.part_of[number])
        return self._with(*(getattr(self, name)[number] for name in _NUMERIC), rater, self.items, parts)

    def __add__(self, other: object) -> Self:
        """Rows of both, one after the other; both must name the items alike."""
        if not isinstance(other, Comparisons):
            return NotImplemented
        items = common_names(self.items, other.items, len(self), len(other))
        rater = None
        if self.rater is not None or other.rater is not None:
            rater = np.concatenate([np.full(len(c), "") if c.rater is None else c.rater for c in (self, other)])
        columns = (np.concatenate([getattr(self, name), getattr(other, name)]) for name in _NUMERIC)
        parts = joined_parts(self.part_of, len(self), other.part_of, len(other))
        return self._with(*columns, rater, items, parts)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Comparisons):
            return NotImplemented
        same_names = self.items == other.items and np.array_equal(self.rater, other.rater)  # type: ignore[arg-type]
        same_parts = np.array_equal(self.part_of, other.part_of)  # type: ignore[arg-type]
        return (
            same_names
            and same_parts
            and all(
                np.array_equal(getattr(self, name), getattr(other, name), equal_nan=name == "bound")
                for name in _NUMERIC
            )
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return summary(self)

    @property
    def undecided(self) -> NDArray[np.bool_]:
        """Mask of shape (m,): the *can't tell* answers."""
        mask: NDArray[np.bool_] = (self.kind == Kind.ODD_ONE_OUT) & (self.odd == -1)
        mask |= self.kind == Kind.EQUALLY_CLOSE
        return mask

    @property
    def links(self) -> NDArray[np.bool_]:
        """Mask of shape (m,): the must-links and cannot-links, which are about two items; all else is about three."""
        return np.isin(self.kind, LINKS)

    @property
    def decided(self) -> NDArray[np.bool_]:
        """Mask of shape (m,): answers that name one of the items; not *can't tell*, not links."""
        return ~(self.undecided | self.links)

    @property
    def constrained(self) -> Indices:
        """Indices of the items that some row is about, in ascending order."""
        return numbered(self.shown[self.shown >= 0], int(self.shown.max(initial=-1)) + 1)[0]

    @property
    def n_items(self) -> int:
        """The number of items: the number of names or, without names, the largest index plus 1."""
        return int(self.shown.max(initial=-1)) + 1 if self.items is None else len(self.items)

    @property
    def n_answers(self) -> int:
        """The number of answers: the rows of one `grid` answer count once."""
        return len(self) if self.part_of is None else int(self.part_of.max(initial=-1)) + 1

    def check_items(self, n_items: int, names: Names = None) -> None:
        """Raise a ValueError unless these rows can be about `n_items` items, called `names` if given.

        Where both sides know names, they must be the same in the same order; `reindex` makes them so.

        Examples
        --------
        >>> Comparisons.closer([0], [7], [2]).check_items(5)
        Traceback (most recent call last):
            ...
        oddkernel.support.checks.RowError: row 0: index 7 is out of range; expected 0 to 4, as there are 5 items
        """
        if self.items is not None and len(self.items) != n_items:
            raise ValueError(
                f"the comparisons name {len(self.items)} items, but there are {n_items}; expected as many, in the same "
                "order, or a data frame whose index holds the names: reindex(names) joins by name. Steps of a pipeline "
                'keep a frame\'s names with set_output(transform="pandas")'
            )
        refuse(
            self.shown >= n_items,
            lambda row: (
                f"index {self.shown[row].max()} is out of range; "
                + (f"expected 0 to {n_items - 1}, as there are {n_items} items" if n_items else "there are no items")
            ),
        )
        if self.items is not None and names is not None:
            check_same_names(self.items, as_items(names) or ())

    def reindex(self, names: Names) -> Self:
        """Say the same about items that are called `names`, in that order; rows are joined by name.

        Every name that a row uses must be there; names that no row uses may come and go. A name may have another
        Unicode form, as those of files under macOS do, unless that fits two names.

        Examples
        --------
        >>> said = Comparisons.must_link([["ant", "bee"]], items=["ant", "bee"])
        >>> said.reindex(["bee", "cat", "ant"]).shown
        array([[ 2,  0, -1]])
        """
        if self.items is None:
            raise ValueError("these comparisons carry no item names to join by; build or read them with items=")
        target = as_items(names) or ()
        # The entry at the end maps the -1 in a link's third place to itself.
        moved = np.append(new_positions(self.items, self.constrained, target), -1)
        columns = (self.kind, moved[self.shown], self.odd, self.bound, self.weight, self.rater, target, self.part_of)
        used = moved[self.constrained]
        # Two names may be one item in two Unicode forms, and a row may show both.
        return self._with(*columns) if len(np.unique(used)) == len(used) else type(self)(*columns)

    def with_names(self, names: Names | Mapping[Any, str]) -> Self:
        """Say the same about items that are called otherwise.

        Parameters
        ----------
        names : iterable of str, mapping or None
            The name of each item, in the order of the items; or the new name of each item by its name or, where items
            have none, by its index: names that are not mentioned stay. None takes the names away.

        Examples
        --------
        >>> said = Comparisons.odd_one_out([[0, 2, 1]], [1]).with_names(["ant", "bee", "oak"])
        >>> said.with_names({"oak": "elm"}).items
        ('ant', 'bee', 'elm')
        >>> said.with_names(None).shown
        array([[0, 2, 1]])
        """
        items = new_names(self.items, self.n_items, names)
        self.check_items(self.n_items if items is None else len(items))
        return self._with(*(getattr(self, name) for name in _NUMERIC), self.rater, items, self.part_of)

    def with_weight(self, weight: Weight) -> Self:
        """Say the same, each row counting `weight`: a positive number, or one for each row.

        Examples
        --------
        >>> said = Comparisons.closer([0, 4], [1, 5], [2, 6])
        >>> said.with_weight([1, 0.5]).weight
        array([1. , 0.5])
        """
        columns = (self.kind, self.shown, self.odd, self.bound, weight, self.rater, self.items, self.part_of)
        return type(self)(*columns)

    def canonical(self) -> NDArray[np.int64]:
        """Sortable key of shape (m, 6): equal for two rows exactly when they say the same.

        The order in which a question listed its items, the weight and the rater play no part.

        Examples
        --------
        >>> key = Comparisons.odd_one_out([[5, 8, 2], [2, 5, 8]], [1, 2]).canonical()
        >>> bool((key[0] == key[1]).all())
        True
        """
        return canonical_keys(self.kind, self.shown, self.odd, self.bound)

    def item_sets(self) -> Indices:
        """Key of shape (m, 3): the items that each row is about, sorted, whatever it says about them.

        A link's key starts with -1.

        Examples
        --------
        >>> Comparisons.odd_one_out([[5, 8, 2], [8, 5, 2]], [1, -1]).item_sets()
        array([[2, 5, 8],
               [2, 5, 8]])
        """
        return np.sort(self.shown, axis=1)

    def questions(self) -> Indices:
        """(m,): the number of the question that each row replies to, from 0; equal for answers about the same items.

        The items of a `grid` are the middle and all around it, so that all rows of its answer have the same number.
        Folds that keep equal numbers together never test on a question that they trained on.

        Examples
        --------
        >>> said = Comparisons.odd_one_out([[5, 8, 2], [8, 5, 2]], [1, -1])
        >>> (said + Comparisons.grid([5], [[8, 2, 1]], [[0]])).questions()
        array([1, 1, 0, 0])
        """
        return question_numbers(self.item_sets(), self.part_of)

    def conflicts(self) -> list[Indices]:
        """Groups of rows that contradict one another on their face.

        Two things are looked for. Rows on the same three items whose orders of the three distances can't all hold:
        different odd ones or central ones, *can't tell* against any of them, `closer` against its reverse or against
        another answer. And a pair both must- and cannot-linked, unless ``at_most >= at_least`` are both given.
        Contradictions that take several triples are found by the solver.

        Returns
        -------
        list of ndarray
            Row numbers of each group, ascending; groups in the order of their first rows.

        Examples
        --------
        >>> Comparisons.odd_one_out([[0, 1, 2], [3, 4, 5], [2, 1, 0]], [0, 0, 0]).conflicts()
        [array([0, 2])]
        """
        return find_conflicts(self.kind, self.shown, self.odd, self.bound)

    def to_dict(self) -> dict[str, list[Any]]:
        """Columns as lists, readable: kind, a, b, c, answer, bound, weight, rater; None where there is nothing to say.

        Items stand by name if they have one. The answer to an odd-one-out question is the letter of the column that
        holds the odd one, or ``"cant_tell"``.

        Examples
        --------
        >>> said = Comparisons.odd_one_out([["ant", "oak", "bee"]], [1], items=["ant", "bee", "oak"])
        >>> {column: values[0] for column, values in said.to_dict().items() if values[0] is not None}
        {'kind': 'odd_one_out', 'a': 'ant', 'b': 'oak', 'c': 'bee', 'answer': 'b', 'weight': 1.0}
        """
        return readable_columns(self)

    def to_frame(self) -> pd.DataFrame:
        """Make a pandas DataFrame with the columns of `to_dict`; items without names become nullable integers."""
        return readable_frame(self)
