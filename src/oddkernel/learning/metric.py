"""What a learned metric can do: coordinates, kernel, distances, predicted answers and their scores."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ..comparisons import Comparisons, Kind
from ..items.frames import check_columns, check_features, is_polars, join, label_of, row_names, same_kind, without_names
from ..kernels import Kernel, LowRank
from ..kernels.distances import squared_distances
from ..problem import choices
from ..problem.solution import Solution
from ..support.checks import is_count, named, refuse_masked, require
from ..support.interruptible import is_ctrl_c
from ..support.types import Array, Indices
from .answers import Learned, in_learning_order, in_order_asked, labels_as_answers, questions
from .fits import Fit, SKLRFit
from .folds import FEWEST
from .nearest import nearest_others
from .remainder import Remainder
from .scores import Scores
from .tuning import Tuning

# An item is out of reach if φ(x)ᵀφ(x) is below this share of k₀(x, x). Chosen by hand.
OUT_OF_REACH = 0.01


class LearnedMetric(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Base of estimators whose `fit` leaves a record of a learned metric, `fit_`.

    Attributes
    ----------
    fit_ : Fit
        The record; all other attributes are parts of it.
    """

    fit_: Fit

    def transform(self, X: ArrayLike) -> Array:
        """Coordinates of items in which plain Euclidean distance is the learned one, for the items of `fit`.

        Coordinates can't hold what new items lack, which `distance` adds: in them a new item is too close to all
        others. See *New items at their expected distance* in the mathematics.

        Parameters
        ----------
        X : array-like of shape (a, d)
            Items, known or new.

        Returns
        -------
        array of shape (a, r)
        """
        return self._coordinates(X)

    def kernel_matrix(self, A: ArrayLike, B: ArrayLike | None = None, *, residual: bool = False) -> Array:
        """The learned kernel k(x, y) = φ(x)ᵀWφ(y) between the rows of A and of B (of A, if B is None).

        These are the inner products of `transform`, also for new items.

        Parameters
        ----------
        A, B : array-like of shape (a, d) and (b, d)
        residual : bool, default=False
            Add k₀(x, y) − φ(x)ᵀφ(y), the part of the initial kernel that learning can't touch (the paper's
            out-of-sample formula). Under truncation this breaks answers that hold without it.

        Returns
        -------
        array of shape (a, b)
        """
        A = self._check_items(A)
        B = A if B is None else self._check_items(B)
        left = self._initial(A)
        right = left if A is B else self._initial(B)
        learned = (left @ self.fit_.root) @ (right @ self.fit_.root).T
        if residual:
            learned += self.kernel_(A, None if A is B else B) - left @ right.T
        return np.asarray(learned)

    def distance(self, A: ArrayLike, B: ArrayLike | None = None) -> Array:
        """The learned distance (not squared) between the rows of A and of B (of A, if B is None): (a, b).

        That of new items is the root of the expected squared distance: the part of a new item that no item of `fit`
        shares has no coordinates, and its expected squared length is added. The distance of an item to itself or to a
        copy is 0, and an exact copy of an item of `fit` is that item. A precomputed kernel doesn't know k₀(x, x) of new
        items, and nothing is added.
        """
        left = self._remainder(A)
        return np.sqrt(self._squared(left, left if B is None else self._remainder(B)))

    def odd_one(self, X: ArrayLike, shown: ArrayLike | Comparisons) -> Array:
        """Which of three items the model finds odd: the one left out of the closest pair.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Items, known or new.
        shown : array-like of shape (m, 3), or Comparisons
            Rows of X, three a question; or names, where X is a frame with names. Of answers, the items that they are
            about, joined by name where both sides have names.

        Returns
        -------
        array of shape (m,)
            Positions 0, 1 or 2. Of equally close pairs the first one counts.
        """
        asked = questions(X, shown)
        if not len(asked):
            return np.empty(0, dtype=np.intp)
        return np.asarray(np.argmin(self._opposite(X, asked, by_row=not isinstance(shown, Comparisons)), axis=1))

    def score(self, X: ArrayLike, y: Comparisons | ArrayLike) -> float:
        """The share of answers that the learned distances agree with.

        Ratio and margin play no part; ties count by their share; *can't tell* and links are left out; weights count.
        Where X is a frame with names and the answers name their items, they are joined by name, as in `fit`. From class
        labels, one for each row of X, 1,000 answers are drawn, always the same.
        """
        of_labels = not isinstance(y, Comparisons)
        said = y if isinstance(y, Comparisons) else labels_as_answers(y, X, len(self._check_items(X)))
        known = said[choices.decided(said)]
        if not len(known):
            raise ValueError("nothing to score: there are no answers about three items besides can't tell")
        opposite = self._opposite(X, known, joined=of_labels)
        return float(np.average(choices.agreement(opposite, known), weights=known.weight))

    def odd_one_proba(self, X: ArrayLike, shown: ArrayLike | Comparisons) -> Array:
        """How likely people are to call each of three items odd, and to say *can't tell*.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Items, known or new.
        shown : array-like of shape (m, 3), or Comparisons
            Rows of X, three a question; or names, where X is a frame with names. Of answers, the items that they are
            about, joined by name where both sides have names.

        Returns
        -------
        array of shape (m, 4)
            Three positions and *can't tell*, which has probability 0 if nobody ever said so; rows sum to 1.
        """
        asked = questions(X, shown)
        if not len(asked):
            return choices.probabilities(np.empty((0, 3)), *self.fit_.calibration)
        opposite = self._opposite(X, asked, by_row=not isinstance(shown, Comparisons))
        return choices.probabilities(opposite, *self.fit_.calibration)

    def evaluate(self, X: ArrayLike, y: Comparisons) -> Scores:
        """Agreement, log-likelihood, Brier score and calibration on odd-one-out answers, *can't tell* included.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Items, known or new; a frame with names is joined by name, as in `fit`.
        y : Comparisons
            Answers that the model has not seen, or the scores flatter.
        """
        if not isinstance(y, Comparisons):
            raise TypeError(f"evaluate needs Comparisons, not {type(y).__name__}: Comparisons.odd_one_out(shown, odd)")
        asked = y[y.kind == Kind.ODD_ONE_OUT]
        if not choices.decided(asked).any():
            raise ValueError(
                "nothing to evaluate: no odd-one-out answers besides can't tell; score takes other answers, too"
            )
        agreement = self.score(X, asked)
        proba = choices.probabilities(self._opposite(X, asked), *self.fit_.calibration)
        return Scores.of(agreement, proba, np.where(asked.undecided, 3, asked.odd), asked.weight)

    def embed(self, X: ArrayLike, n_components: int | str = "auto") -> Array:
        """Coordinates of items in few dimensions, the leading ones of the learned kernel.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Items, known or new.
        n_components : int or "auto", default="auto"
            How many dimensions; ``"auto"``: as few as predict held-out answers within a standard error of the best
            (``tuning_.dimension``), which needs ``penalty="auto"``.

        Returns
        -------
        array of shape (n, n_components)
            Centred on the items that people were asked about, most important dimension first.
        """
        coordinates = self._coordinates(X)
        if n_components == "auto":
            if self.tuning_ is None:
                raise ValueError(
                    f'n_components="auto" needs answers held out in fit: SKLR(penalty="auto") and at least {FEWEST} '
                    "answers; or give a number of dimensions"
                )
            n_components = self.tuning_.dimension
        require(n_components is not None and is_count(n_components), "n_components", n_components, "a whole number")
        centre, axes = principal_axes(self.fit_.asked @ self.fit_.root if len(self.fit_.asked) else coordinates)
        return np.asarray((coordinates - centre) @ axes[:, : int(n_components)])

    def neighbours(self, X: ArrayLike, k: int = 10) -> Any:
        """The k items of X nearest to each item of X by the learned distance, nearest first; itself left out.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Items, known or new.
        k : int, default=10
            How many; fewer where X has no more.

        Returns
        -------
        array of shape (n, k), or DataFrame
            Rows of X. Where X is a frame with names: a frame of names of the same kind, with the index or the column of
            names of X and columns 1 to k.

        Examples
        --------
        >>> import pandas as pd
        >>> from oddkernel import SKLR
        >>> frame = pd.DataFrame({"legs": [6, 6, 4, 4], "grams": [1, 2, 40, 50]}, index=["ant", "bee", "rat", "owl"])
        >>> SKLR("linear").fit(frame).neighbours(frame, 1).loc["bee"].tolist()
        ['ant']
        """
        require(k is not None and is_count(k), "k", k, "a whole number of at least 1")
        items = self._remainder(X)
        nearest = nearest_others(items.phi @ self.fit_.root, items, int(k))
        names = row_names(X)
        if names is None:
            return nearest
        found = np.array(names, dtype=object)[nearest]
        return same_kind(X, names, {str(place): column for place, column in enumerate(found.T, 1)})

    @property
    def items_(self) -> tuple[str, ...] | None:
        """The names of the items in `fit`, in the order of its X; None where neither X nor the answers gave names."""
        return self.fit_.comparisons.items if self.fit_.given is None else self.fit_.given

    @property
    def comparisons_(self) -> Comparisons:
        """The answers learned from, about rows of X in `fit`."""
        said = self.fit_.comparisons
        return said if self.fit_.given is None else said.reindex(self.fit_.given)

    @property
    def features_(self) -> LowRank:
        """The feature map φ of the initial kernel."""
        return self.fit_.features

    @property
    def kernel_(self) -> Kernel:
        """The fitted initial kernel."""
        return self.fit_.features.kernel

    @property
    def metric_(self) -> Array:
        """W: the learned kernel is φ(x)ᵀWφ(y)."""
        return self.fit_.metric

    @property
    def rank_(self) -> int:
        """The number of dimensions of `transform`: the initial kernel's, or fewer where held-out answers ask for it."""
        return int(self.fit_.root.shape[1])

    @property
    def solution_(self) -> Solution:
        """Status, residual, gap, divergence, multipliers, slack, history."""
        return self.fit_.solution

    @property
    def n_iter_(self) -> int:
        """Passes or steps used."""
        return self.fit_.solution.n_iter

    @property
    def tuning_(self) -> Tuning | None:
        """What held-out answers said, where settings were chosen by them."""
        return self.fit_.tuning

    @property
    def temperature_(self) -> float:
        """The difference of squared distances at which a choice becomes clear."""
        return self.fit_.calibration.temperature

    @property
    def tie_(self) -> float:
        """How strong *can't tell* is beside three equal distances."""
        return self.fit_.calibration.tie

    @property
    def guess_(self) -> float:
        """The share of answers that seem to be given at random."""
        return self.fit_.calibration.guess

    @property
    def _n_features_out(self) -> int:
        return self.rank_

    @contextmanager
    def _unchanged_on_error(self) -> Iterator[None]:
        """Leave the estimator as it was if fitting fails or is interrupted."""
        before = dict(self.__dict__)
        try:
            yield
        except BaseException as error:
            self.__dict__.clear()
            self.__dict__.update(before)
            if isinstance(error, SystemError) and is_ctrl_c(error):
                raise KeyboardInterrupt from error
            raise

    def _in_learning_order(self, y: object, X: ArrayLike, checked: Array, said: Comparisons) -> Learned:
        """Items and answers as they are learned from; rows of a kernel stay where its columns are."""
        if self.__sklearn_tags__().input_tags.pairwise:
            return Learned(checked, said, None)
        return in_learning_order(y, X, checked, said)

    def _opposite(self, X: ArrayLike, asked: Comparisons, *, by_row: bool = False, joined: bool = False) -> Array:
        """(m, 3): the squared learned distance of the pair opposite each position."""
        checked = self._check_items(X)
        about = asked if joined else join(asked, X, len(checked), by_row=by_row)
        items, local = in_order_asked(about)  # the same sums, however X is sorted
        phi = self._initial(checked[items], items)
        sides = choices.sides(phi @ self.fit_.root, local.shown)
        return np.asarray(sides + self.fit_.remainder(checked[items], phi).of_triples(local.shown))

    def _remainder(self, X: ArrayLike) -> Remainder:
        """Items with their φ, and with what it leaves out of new ones."""
        checked = self._check_items(X)
        return self.fit_.remainder(checked, self._initial(checked))

    def _squared(self, left: Remainder, right: Remainder) -> Array:
        """(a, b): expected squared distances."""
        here = left.phi @ self.fit_.root
        there = here if right is left else right.phi @ self.fit_.root
        return np.asarray(squared_distances(here, there) + left.between(right))

    def _coordinates(self, X: ArrayLike) -> Array:
        """`transform`, whatever container ``set_output`` asks that to return."""
        return np.asarray(self._initial(self._check_items(X)) @ self.fit_.root)

    def _initial(self, items: Array, number: Indices | None = None) -> Array:
        """φ of checked items; warns of those that φ hardly reaches, by ``number`` if they are only some rows of X."""
        phi = self.features_.transform(items)
        reach = self.features_.reach(items, phi)
        far = np.flatnonzero(np.zeros(0) if reach is None else reach < OUT_OF_REACH)
        if len(far):
            rows = far if number is None else np.sort(number[far])
            warnings.warn(
                f"{named(rows)}: so far from everything seen in fit that the learned kernel says next to nothing "
                "about these items.",
                UserWarning,
                stacklevel=3,
            )
        return phi

    def _check_items(self, X: ArrayLike, *, reset: bool = False) -> Array:
        if not reset:
            check_is_fitted(self)
        refuse_masked(X, "X")
        features = without_names(X)
        check_columns(features)
        if reset:
            check_features(features)
        checked: Array = validate_data(self, features, dtype=np.float64, ensure_all_finite=False, reset=reset)
        if reset and is_polars(features) and not hasattr(self, "feature_names_in_"):
            raise ValueError(
                "this scikit-learn can't read the column names of this polars, so columns in another order would go "
                "unnoticed; expected scikit-learn 1.9 or newer, polars older than 2, or X.to_pandas()"
            )
        missing = np.argwhere(~np.isfinite(checked))
        if len(missing):
            row, column = missing[0]
            heads = getattr(self, "feature_names_in_", None)
            called = column if heads is None else repr(heads[column])
            raise ValueError(
                f"X contains NaN or inf: row {label_of(X, row)}, column {called} holds {checked[row, column]}; "
                "expected finite numbers: fill it in, or drop the item or the column. scikit-learn's SimpleImputer "
                "fills in a column's mean"
            )
        return checked


class UncertainMetric(LearnedMetric):
    """A learned metric that is the mode of a posterior, and so has standard deviations."""

    fit_: SKLRFit

    def distance_std(self, A: ArrayLike, B: ArrayLike | None = None) -> Array:
        """Standard deviations of `distance`, by Laplace's approximation: (a, b).

        What the initial kernel leaves open and the answers don't settle; see `learning.Uncertainty`. With more than
        3,000 rows at work this takes a linear solve for each pair.

        With few answers they are too small: of the true distances, 95% intervals covered 90 ± 2% after 60 simulated
        answers and 94 ± 1% after 300 (``benchmarks/error_bars.py``).
        """
        left = self._remainder(A)
        right = left if B is None else self._remainder(B)
        apart = np.sqrt(self._squared(left, right))
        pairs = (left.phi[:, None, :] - right.phi[None, :, :]).reshape(-1, 1, left.phi.shape[1])
        beyond = left.between(right).reshape(-1, 1, 1)
        squared_std = np.sqrt(self.fit_.covariance(pairs, beyond)[:, 0, 0]).reshape(apart.shape)
        return np.divide(squared_std, 2.0 * apart, out=np.zeros_like(apart), where=apart > 0)

    def odd_one_std(self, X: ArrayLike, shown: ArrayLike | Comparisons) -> Array:
        """Standard deviations of `odd_one_proba`, from those of the distances: (m, 4).

        With few answers they are too small: of the true probabilities, 95% intervals covered 81 ± 2% after 60 simulated
        answers and 90 ± 1% after 300 (``benchmarks/error_bars.py``).
        """
        asked = join(questions(X, shown), X, np.shape(X)[0], by_row=not isinstance(shown, Comparisons))
        slope = choices.probability_slopes(self.odd_one_proba(X, shown), self.temperature_, self.guess_)
        items, local = in_order_asked(asked)
        checked = self._check_items(X)[items]
        phi = self.features_.transform(checked)
        beyond = self.fit_.remainder(checked, phi).products(local.shown)
        three = phi[local.shown]
        pairs = np.stack([three[:, (p + 1) % 3] - three[:, (p + 2) % 3] for p in range(3)], axis=1)
        covariance = slope @ self.fit_.covariance(pairs, beyond) @ slope.transpose(0, 2, 1)
        return np.asarray(np.sqrt(np.maximum(np.diagonal(covariance, axis1=1, axis2=2), 0.0)))


def principal_axes(coordinates: Array) -> tuple[Array, Array]:
    """The mean of items, and the eigenvectors of their covariance, those of the largest eigenvalues first."""
    centre = coordinates.mean(axis=0)
    _, vectors = np.linalg.eigh(np.cov(coordinates.T, bias=True).reshape(len(centre), len(centre)))
    return centre, vectors[:, ::-1]
