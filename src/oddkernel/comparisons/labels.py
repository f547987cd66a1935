"""Drawing odd-one-out questions, and their answers, from class labels."""

from __future__ import annotations

from reprlib import repr as brief
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..support.checks import RowError
from ..support.types import Array, Indices
from .columns import as_column


def draw_answers(
    y: ArrayLike, n: int, undecided: int, noise: float, random_state: Any
) -> tuple[Indices, NDArray[np.int8]]:
    """Draw what `Comparisons.from_labels` promises: items shown, and positions of the odd ones."""
    from sklearn.utils import check_random_state  # takes a second; reading and writing answers need none of it

    for count, what in ((n, "n"), (undecided, "undecided")):
        if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < 0:
            raise ValueError(f"{what} is {brief(count)}; expected a whole number, 0 or more")
    if not 0 <= noise <= 1:
        raise ValueError(f"noise is {noise}; expected a share between 0 and 1")
    random = check_random_state(random_state)
    labelled = _LabelledItems(y, random)
    shown, odd = _shuffle_rows(random, labelled.odd_one_out(n))
    wrong = random.permutation(n)[: round(noise * n)]
    odd[wrong] = (odd[wrong] + random.randint(1, 3, size=len(wrong))) % 3
    unclear, _ = _shuffle_rows(random, labelled.undecided(undecided))
    return np.concatenate([shown, unclear]), np.concatenate([odd, np.full(undecided, -1, dtype=np.int8)])


class _LabelledItems:
    """Labelled items, those of one class side by side, so that drawing from some classes only takes an addition."""

    def __init__(self, y: ArrayLike, random: np.random.RandomState) -> None:
        labelled, classes, class_of = labelled_items(y, "y")
        self.count: Indices = np.bincount(class_of, minlength=len(classes))
        by_class = np.argsort(class_of, kind="stable")
        self.item = labelled[by_class]
        self.class_of: Indices = class_of[by_class]
        self.start: Indices = np.cumsum(self.count) - self.count
        self.random = random

    def odd_one_out(self, n: int) -> Indices:
        """Draw (n, 3) items: two different ones of one class, then one of another class."""
        if n == 0:
            return np.empty((0, 3), dtype=np.intp)
        if len(self.count) < 2:
            raise ValueError(f"y has {len(self.count)} labelled classes; expected at least 2 to draw an odd one out")
        if self.count.max() < 2:
            raise ValueError("no class in y has two labelled items; expected at least one that does")
        first = self._member_of_class_of(n, size=2)
        second = self._other_of_class(first)
        return self.item[np.column_stack([first, second, self._outside(first[:, None])])]

    def undecided(self, n: int) -> Indices:
        """Draw (n, 3) items: all of one class, or each of a different one, at random where both are possible."""
        if n == 0:
            return np.empty((0, 3), dtype=np.intp)
        alike, different = self.count.max(initial=0) >= 3, len(self.count) >= 3
        if not (alike or different):
            raise ValueError("can't-tell answers need a class of three labelled items, or three classes; y has neither")
        n_alike = int(self.random.binomial(n, 0.5)) if alike and different else n * int(alike)
        drawn: list[Indices] = []
        if n_alike:
            first = self._member_of_class_of(n_alike, size=3)
            second = self._other_of_class(first)
            drawn.append(np.column_stack([first, second, self._other_of_class(first, second)]))
        if n > n_alike:
            first = self.random.randint(len(self.item), size=n - n_alike)
            second = self._outside(first[:, None])
            drawn.append(np.column_stack([first, second, self._outside(np.column_stack([first, second]))]))
        return self.item[np.concatenate(drawn)[self.random.permutation(n)]]

    def _member_of_class_of(self, n: int, size: int) -> Indices:
        candidates = np.flatnonzero(self.count[self.class_of] >= size)
        return candidates[self.random.randint(len(candidates), size=n)]

    def _other_of_class(self, *taken: Indices) -> Indices:
        """Uniform over the class of the items taken, without them: draw from fewer places and step over theirs."""
        of_class = self.class_of[taken[0]]
        drawn = self.start[of_class] + self.random.randint(self.count[of_class] - len(taken))
        for place in np.sort(np.column_stack(taken), axis=1).T:
            drawn = drawn + (drawn >= place)
        return drawn

    def _outside(self, taken: Indices) -> Indices:
        """Uniform over the items of all classes but those of the items in each row of `taken`."""
        blocks = np.sort(self.class_of[taken], axis=1)
        drawn: Indices = self.random.randint(len(self.item) - self.count[blocks].sum(axis=1))
        for block in blocks.T:
            drawn = drawn + np.where(drawn >= self.start[block], self.count[block], 0)
        return drawn


def _shuffle_rows(random: np.random.RandomState, triples: Indices) -> tuple[Indices, NDArray[np.int8]]:
    """Shuffle each row by itself; also return where its last entry went."""
    order = np.argsort(random.random_sample(triples.shape), axis=1)
    return np.take_along_axis(triples, order, axis=1), np.argmax(order == 2, axis=1).astype(np.int8)


def labelled_items(y: ArrayLike, what: str) -> tuple[Indices, Array, Indices]:
    """The items that have a label, the classes in their order, and which of these each of the items belongs to.

    Labels are numbers or text, and the number -1 where there is none; ``what`` is their name in errors.
    """
    labels = _check_labels(y, what)
    labelled = np.flatnonzero(labels != -1)
    try:
        classes, class_of = np.unique(labels[labelled], return_inverse=True)
    except TypeError:
        raise ValueError(f"labels in {what} can't be sorted together; expected all numbers or all text") from None
    return labelled, classes, class_of


def _check_labels(y: ArrayLike, what: str) -> Array:
    labels = as_column(y, what)
    if labels.dtype.kind in "OUT":
        labels = labels.astype(object)
        for row, label in enumerate(labels):
            if _is_missing(label):
                raise RowError(row, f"label {label} in {what}; expected a class, or the number -1 for unlabelled")
            if isinstance(label, str) and label == "-1":
                raise RowError(row, f"label '-1' in {what} is text; expected the number -1 if it means unlabelled")
    elif labels.dtype.kind == "f" and np.isnan(labels).any():
        row = int(np.isnan(labels).argmax())
        raise RowError(row, f"label NaN in {what}; expected a class, or the number -1 for unlabelled")
    return labels


def _is_missing(label: object) -> bool:
    """Whether this is None, NaN, or what pandas has in their place, which can't even be compared with itself."""
    try:
        return label is None or bool(label != label)
    except TypeError:
        return True
