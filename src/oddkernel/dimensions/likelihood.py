"""The likelihood of answers where the similarity of two items is a sum over dimensions, s(i, j) = Σ_k z_ik z_jk.

Of three items, a pair is called the closest with probability proportional to exp(s), as in `problem.choices` with s in
place of −δ/temperature; *can't tell* has ``tie`` times the geometric mean of the three (Davidson 1970).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from scipy import special

from ..comparisons import Comparisons, Kind, kinds
from ..problem import choices
from ..support.types import Array, Indices

# Answers whose products are formed at a time, to bound the memory. Chosen by hand; results don't depend on it.
BLOCK = 4096
# Stands for the logit of what can't be answered. Derived: its exponential is 0, and sums with it stay finite.
NEVER = -1e30


@dataclass(frozen=True)
class Choice:
    """Answers about three items in the form in which the likelihood reads them; links are left out.

    Attributes
    ----------
    shown : (m, 3) array
        The items.
    chosen : (m,) array
        The position opposite the pair that is singled out; 3 for *can't tell*.
    sign : (m, 4) array
        What multiplies the similarity of each pair: 1, or −1 where the least similar pair is singled out, or 0 where
        the pair isn't compared; the last column says whether *can't tell* could have been answered.
    weight : (m,) array
    tie : float
        The strength of *can't tell*.
    """

    shown: Indices
    chosen: Indices
    sign: Array
    weight: Array
    tie: float

    @classmethod
    def of(cls, said: Comparisons, tie: float) -> Choice:
        """Answers, with the strength of *can't tell*; where that is 0, such answers are left out.

        Links and *can't tell* between two pairs, which is no choice of three, are always left out.
        """
        three = (said.kind == Kind.ODD_ONE_OUT) & (tie > 0)
        said = said[three | choices.decided(said)]
        sign = np.where(kinds.farthest(said.kind), -1.0, 1.0)[:, None] * kinds.compared(said.kind)
        may_tie = (said.kind == Kind.ODD_ONE_OUT) & (tie > 0)
        chosen = np.where(said.undecided, 3, choices.chosen(said))
        return cls(said.shown, chosen, np.column_stack([sign, may_tie]), said.weight, tie)

    def __len__(self) -> int:
        return len(self.shown)

    def log_likelihood(self, similarity: Array) -> Array:
        """(m,): the log-probability of each answer, from the similarities of the pairs opposite each position."""
        logits = np.where(self.sign[:, :3] == 0, NEVER, self.sign[:, :3] * similarity)
        undecided = np.where(self.sign[:, 3] > 0, np.log(self.tie or 1.0) + similarity.mean(axis=1), NEVER)
        logits = np.column_stack([logits, undecided])
        return np.asarray(logits[np.arange(len(self)), self.chosen] - special.logsumexp(logits, axis=1))

    def cost(self, loadings: Array) -> tuple[float, Array]:
        """The negative log-likelihood of all answers, and its gradient by the loadings."""
        gradient = np.zeros_like(loadings)
        tie = float(np.log(self.tie)) if self.tie > 0 else 0.0
        cost = _cost(loadings, self.shown, self.chosen, self.sign, self.weight, tie, gradient)
        return float(cost), gradient


def similarities(loadings: Array, shown: Indices) -> Array:
    """(m, 3): z_i · z_j for the pair opposite each position.

    Examples
    --------
    >>> similarities(np.array([[1.0, 0.0], [2.0, 1.0], [0.0, 3.0]]), np.array([[0, 1, 2]]))
    array([[3., 0., 2.]])
    """
    found = np.empty((len(shown), 3))
    for start in range(0, len(shown), BLOCK):
        z = loadings[shown[start : start + BLOCK].T]
        for p in range(3):
            found[start : start + BLOCK, p] = np.einsum("ij,ij->i", z[(p + 1) % 3], z[(p + 2) % 3])
    return found


def losses_without(loadings: Array, choice: Choice) -> Array:
    """(m, d): by how much the log-probability of each answer falls if a dimension is left out."""
    whole = similarities(loadings, choice.shown)
    best = choice.log_likelihood(whole)
    lost = np.empty((len(choice), loadings.shape[1]))
    for k in range(loadings.shape[1]):
        lost[:, k] = best - choice.log_likelihood(whole - similarities(loadings[:, [k]], choice.shown))
    return lost


# Sums may be reordered, so that they are computed several terms at a time; infinities and NaN keep their meaning.
@njit(cache=True, fastmath={"reassoc", "contract"}, error_model="numpy")
def _cost(z: Array, shown: Array, chosen: Array, sign: Array, weight: Array, log_tie: float, gradient: Array) -> float:
    d = z.shape[1]
    total = 0.0
    logits, proba, pull = np.empty(4), np.empty(4), np.empty(3, z.dtype)
    for m in range(len(shown)):
        a, b, c = z[shown[m, 0]], z[shown[m, 1]], z[shown[m, 2]]
        bc, ac, ab = z.dtype.type(0), z.dtype.type(0), z.dtype.type(0)
        for k in range(d):
            bc += b[k] * c[k]
            ac += a[k] * c[k]
            ab += a[k] * b[k]
        logits[0] = sign[m, 0] * bc if sign[m, 0] != 0 else NEVER
        logits[1] = sign[m, 1] * ac if sign[m, 1] != 0 else NEVER
        logits[2] = sign[m, 2] * ab if sign[m, 2] != 0 else NEVER
        logits[3] = log_tie + (bc + ac + ab) / 3.0 if sign[m, 3] != 0 else NEVER
        top = logits.max()
        whole = 0.0
        for p in range(4):
            proba[p] = np.exp(logits[p] - top)
            whole += proba[p]
        total += weight[m] * (np.log(whole) + top - logits[chosen[m]])
        undecided = proba[3] / whole - (1.0 if chosen[m] == 3 else 0.0)
        for p in range(3):
            slope = proba[p] / whole - (1.0 if chosen[m] == p else 0.0)
            pull[p] = weight[m] * (sign[m, p] * slope + undecided * sign[m, 3] / 3.0)
        ga, gb, gc = gradient[shown[m, 0]], gradient[shown[m, 1]], gradient[shown[m, 2]]
        for k in range(d):
            ga[k] += pull[1] * c[k] + pull[2] * b[k]
            gb[k] += pull[0] * c[k] + pull[2] * a[k]
            gc[k] += pull[0] * b[k] + pull[1] * a[k]
    return total
