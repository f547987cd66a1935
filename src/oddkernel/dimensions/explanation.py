"""Why: the share of each dimension in what one item is, why two are alike, why one of three is odd."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..support.types import Array, Indices


@dataclass(frozen=True, eq=False)
class Explanation:
    """Contributions of the dimensions, the largest first.

    Attributes
    ----------
    items : tuple of int
        The rows that it is about.
    names : tuple of str
        The dimensions.
    contribution : (d,) array
        Of each dimension: the item's loading; for two items z_ik z_jk, their similarity; for three what speaks for the
        pair besides the odd one: z_ik z_jk less the mean of the other two pairs' products, which may be negative.
    odd : int or None
        For three items the one that is odd: the one besides the most similar pair.
    """

    items: tuple[int, ...]
    names: tuple[str, ...]
    contribution: Array
    odd: int | None = None

    @property
    def share(self) -> Array:
        """(d,): each contribution as a share of all positive ones; negative where a dimension speaks against it."""
        whole = float(np.maximum(self.contribution, 0.0).sum())
        return self.contribution / whole if whole > 0 else np.zeros(len(self.contribution))

    def __str__(self) -> str:
        said = [f"{name} {share:.0%}" for name, share in zip(self.names, self.share, strict=True) if share >= 0.005]
        return ", ".join(said[:5]) or "nothing in common"


def explain(loadings: Array, items: Sequence[int], names: Sequence[str]) -> Explanation:
    """Explain one, two or three rows of loadings.

    Examples
    --------
    >>> z = np.array([[2.0, 0.0], [1.0, 1.0], [0.0, 2.0]])
    >>> print(explain(z, [1], ["food", "round"]))
    food 50%, round 50%
    >>> print(explain(z, [0, 1], ["food", "round"]))
    food 100%
    """
    z = loadings[list(items)]
    odd = None
    if len(items) == 1:
        contribution = z[0]
    elif len(items) == 2:
        contribution = z[0] * z[1]
    else:
        products = np.stack([z[1] * z[2], z[0] * z[2], z[0] * z[1]])
        place = int(np.argmax(products.sum(axis=1)))
        odd = int(items[place])
        contribution = products[place] - np.delete(products, place, axis=0).mean(axis=0)
    order: Indices = np.argsort(-contribution, kind="stable")
    return Explanation(tuple(map(int, items)), tuple(names[k] for k in order), contribution[order], odd)
