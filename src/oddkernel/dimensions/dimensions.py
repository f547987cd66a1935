"""Dimensions: the estimator that turns a learned similarity into interpretable, non-negative loadings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..comparisons import Comparisons
from ..items.frames import join
from ..learning.folds import FEWEST
from ..learning.sklr import SKLR
from ..problem import choices
from ..support.checks import is_count, is_real, require
from ..support.progress import Heartbeat
from ..support.types import Array
from .explanation import Explanation, explain
from .factorisation import factorise, gaussian
from .fits import DimensionsFit, check_items, ridge_map, rows_asked
from .halves import REPRODUCIBLE, Halves, Strength, weighted_mean
from .likelihood import Choice, losses_without, similarities
from .loadings import correlations, fit_loadings
from .rdm import rdm


class Dimensions(TransformerMixin, BaseEstimator):
    """Non-negative, sparse dimensions whose products add up to the similarity that people's answers show.

    Each item i has a loading z_ik ≥ 0 on each dimension k, and two items are as similar as Σ_k z_ik z_jk. Of three
    items the two most similar are called the pair with a probability proportional to exp(similarity), as in SPoSE
    (Hebart et al. 2020) and VICE (Muttenthaler et al. 2022). Unlike theirs, the loadings start from a kernel that was
    learned from features and answers (`SKLR`), and new items have loadings, too.

    Parameters
    ----------
    n_dimensions : int or "auto", default="auto"
        How many dimensions. ``"auto"``: of those among 2, 4, 8, 15, 30 and 60 that predict unseen answers about as well
        as the best, the one with the most reproducible dimensions.
    shrinkage : float or "auto", default="auto"
        How firmly loadings are held at those of the learned kernel: the inverse variance of a loading around its start.
        ``"auto"``: 30, 100 or 300, chosen in the same way.
    sparsity : float or "auto", default="auto"
        What a loading costs for each unit of its size, in units of log-likelihood. ``"auto"``: 3 if that
        predicts unseen answers about as well as 1.
    random_state : int, RandomState or None, default=None
        For the halves of the answers and the start of every factorisation.
    verbose : int, default=1
        1: report progress on stderr, every two seconds; 0: never.

    Attributes
    ----------
    n_dimensions_ : int
        The number of dimensions.
    loadings_ : (n, d) array
        The loadings of the items in `fit`, the dimension with the largest weight first.
    names_ : tuple of str
        The dimensions' names, which may be set: ``dimensions.names_ = [...]``; see `rename`.
    weight_, weight_error_ : (d,) arrays
        By how much the mean log-probability of an unseen answer falls if the dimension is left out, and its standard
        error. Every answer is predicted from the half of the answers that it is not in.
    reproducibility_ : (d,) array
        How well the dimension's loadings agree with those of two more fits, each to one half of the answers, with no
        question in common and from different random starts: the smallest of the three correlations.
    reproducible_ : (d,) array of bool
        Whether the reproducibility is above 0.8 and the weight above its standard error.
    model_ : SKLR
        The learned kernel.
    fit_ : DimensionsFit
        The record of the fit; all of the above but the names are parts of it.

    Examples
    --------
    >>> import numpy as np
    >>> from oddkernel import SKLR, Comparisons
    >>> from oddkernel.dimensions import Dimensions
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(30, 2)) + 4 * np.eye(3)[np.arange(30) % 3, :2]
    >>> said = Comparisons.from_labels(np.arange(30) % 3, 200, random_state=0)
    >>> dimensions = Dimensions(n_dimensions=3, random_state=0).fit(X, said)
    >>> dimensions.transform(X).shape
    (30, 3)
    >>> dimensions.explain(0, 3, 1).odd
    1
    """

    def __init__(
        self,
        n_dimensions: int | str = "auto",
        *,
        shrinkage: float | str = "auto",
        sparsity: float | str = "auto",
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 1,
    ) -> None:
        self.n_dimensions = n_dimensions
        self.shrinkage = shrinkage
        self.sparsity = sparsity
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: ArrayLike, y: Comparisons | None = None, *, model: SKLR | None = None) -> Self:
        """Find the dimensions.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The items' features, as in `SKLR.fit`.
        y : Comparisons, optional
            What people said about rows of X. A kernel is learned from it first, by ``SKLR()``.
        model : SKLR, optional
            In place of ``y``: a model fitted to X, with the answers that it learned from.

        Returns
        -------
        self
        """
        self._check_parameters()
        if (y is None) == (model is None):
            raise ValueError("y and model are both given or both missing; expected answers, or a fitted model")
        random = check_random_state(self.random_state)
        if model is None:
            if not isinstance(y, Comparisons):
                raise TypeError(f"y is {type(y).__name__}; expected Comparisons: Comparisons.odd_one_out(shown, odd)")
            seed = self.random_state if isinstance(self.random_state, int) else None
            model = SKLR(random_state=seed, verbose=self.verbose).fit(X, y)
        check_is_fitted(model)
        n_decided = int(np.count_nonzero(model.comparisons_.decided))
        if n_decided < FEWEST:
            raise ValueError(f"{n_decided} answers name one of three items; dimensions need at least {FEWEST}")
        telling = Heartbeat("finding dimensions") if self.verbose else nullcontext()
        with telling as progress:
            self.fit_ = self._fitted(X, model, random, progress)
        self._names = tuple(map(default_name, range(self.n_dimensions_)))
        self.n_features_in_ = model.n_features_in_
        return self

    def _fitted(
        self, X: ArrayLike, model: SKLR, random: np.random.RandomState, progress: Heartbeat | None
    ) -> DimensionsFit:
        tell = progress or (lambda sentence: None)
        fit = model.fit_
        _check_number(self.n_dimensions, len(fit.asked))
        check_items(X, model)
        halves = Halves(fit, random, tell, model.device)
        trial = halves.choose(
            None if isinstance(self.n_dimensions, str) else int(self.n_dimensions),
            None if isinstance(self.shrinkage, str) else float(self.shrinkage),
            None if isinstance(self.sparsity, str) else float(self.sparsity),
        )
        settings = trial.settings
        tell(f"fitting {settings.n_dimensions} dimensions to all answers")
        coordinates = fit.asked @ fit.root
        begun = np.sqrt(trial.start_scale) * factorise(gaussian(coordinates), settings.n_dimensions, random)
        choice = Choice.of(fit.said, fit.calibration.tie)
        asked = np.sqrt(trial.scale) * fit_loadings(begun, choice, settings.shrinkage, settings.sparsity)
        strength = halves.strength(trial, asked)
        order = np.argsort(-strength.weight, kind="stable")
        asked = asked[:, order]
        centre, mean = coordinates.mean(axis=0), asked.mean(axis=0)
        slope = ridge_map(coordinates - centre, asked - mean)
        loadings = np.maximum(mean + (np.asarray(model.transform(X)) - centre) @ slope, 0.0)
        loadings[rows_asked(model)] = asked
        return DimensionsFit(
            model, settings, loadings, asked, centre, mean, slope, Strength(*(each[order] for each in strength))
        )

    def transform(self, X: ArrayLike) -> Array:
        """The loadings of items, known or new: (n, d).

        An item that people were asked about, known by its features, has the loadings fitted to the answers. Any other
        has those that its learned coordinates predict, by ridge regression over the items asked about.
        """
        check_is_fitted(self)
        fit = self.fit_
        loadings = np.maximum(fit.mean + (np.asarray(fit.model.transform(X)) - fit.centre) @ fit.slope, 0.0)
        features = getattr(fit.model.kernel_, "X_fit_", None)
        if features is not None:
            learned = features[fit.model.fit_.comparisons.constrained]
            place = {row.tobytes(): number for number, row in reversed(list(enumerate(learned + 0.0)))}
            rows = np.asarray(fit.model._check_items(X)) + 0.0
            found = np.array([place.get(row.tobytes(), -1) for row in rows], dtype=np.intp)
            loadings[found >= 0] = fit.asked[found[found >= 0]]
        return np.asarray(loadings)

    def get_feature_names_out(self, input_features: object = None) -> Array:
        """The dimensions' names."""
        check_is_fitted(self)
        return np.array(self.names_, dtype=object)

    def score(self, X: ArrayLike, y: Comparisons) -> float:
        """The share of answers that the loadings agree with; *can't tell* and links are left out."""
        loadings = self._loadings(X)
        known = join(y[choices.decided(y)], X, len(loadings))
        agreement = choices.agreement(-similarities(loadings, known.shown), known)
        return float(np.average(agreement, weights=known.weight))

    def log_likelihood(self, X: ArrayLike, y: Comparisons) -> float:
        """The mean log-probability of answers about three items."""
        loadings = self._loadings(X)
        choice = Choice.of(join(y, X, len(loadings)), self.model_.tie_)
        found = choice.log_likelihood(similarities(loadings, choice.shown))
        return float(np.average(found, weights=choice.weight))

    def weigh(self, X: ArrayLike, y: Comparisons) -> tuple[Array, Array]:
        """By how much the mean log-probability of these answers falls without each dimension, with standard errors.

        For answers that nothing was learned from; `weight_` is the same for the halves of those learned from.
        """
        loadings = self._loadings(X)
        choice = Choice.of(join(y, X, len(loadings)), self.model_.tie_)
        return weighted_mean(losses_without(loadings, choice), choice.weight)

    def explain(self, *items: int | str) -> Explanation:
        """What one item is, why two are alike, or which of three is odd and why: by dimension.

        Parameters
        ----------
        *items : one to three int or str
            Items in `fit`: rows, or names where items have names.
        """
        check_is_fitted(self)
        if not 1 <= len(items) <= 3:
            raise ValueError(f"{len(items)} items; expected one, two or three")
        return explain(self.loadings_, [self._row(item) for item in items], self.names_)

    def rename(self, names: Mapping[int | str, str] | Sequence[str]) -> Self:
        """Name dimensions: all of them in order, or some by their present name or by their number, counted from 1."""
        if isinstance(names, Mapping):
            renamed = list(self.names_)
            for which, name in names.items():
                known = which in renamed if isinstance(which, str) else 1 <= which <= len(renamed)
                if not known:
                    raise ValueError(f"no dimension {which!r}; expected a number from 1 to {len(renamed)}, or a name")
                renamed[renamed.index(which) if isinstance(which, str) else which - 1] = name
            names = renamed
        self.names_ = tuple(names)
        return self

    def inherit(self, other: Dimensions) -> list[str]:
        """Take over the names that people gave to earlier dimensions: each goes to the dimension that is most like it.

        Like means that the loadings of the items that both know correlate by more than 0.8.

        Returns
        -------
        list of str
            Names that no dimension here is like, and that were therefore not taken over.
        """
        row = {name: number for number, name in enumerate(self.item_names_)}
        both = [(row[name], number) for number, name in enumerate(other.item_names_) if name in row]
        mine, theirs = np.array(both, dtype=np.intp).reshape(-1, 2).T
        lost, names = [], list(self.names_)
        like = correlations(other.loadings_[theirs], self.loadings_[mine]) if len(both) > 2 else None
        for k, name in enumerate(other.names_):
            if name == default_name(k):
                continue
            place = -1 if like is None else int(np.argmax(like[k]))
            if like is None or like[k, place] <= REPRODUCIBLE or names[place] != default_name(place):
                lost.append(name)
            else:
                names[place] = name
        self.names_ = names
        return lost

    def rdm(self) -> dict[str, Any]:
        """The arguments of ``rsatoolbox.rdm.RDMs``, for the items in `fit`; see `dimensions.rdm`."""
        return rdm(self.loadings_, self.item_names_)

    @property
    def names_(self) -> tuple[str, ...]:
        """The dimensions' names."""
        check_is_fitted(self)
        return self._names

    @names_.setter
    def names_(self, names: Sequence[str]) -> None:
        check_is_fitted(self)
        self._names = check_names(names, self.n_dimensions_)

    @property
    def item_names_(self) -> tuple[str, ...]:
        """The names of the items in `fit`, or their row numbers as text."""
        return self.model_.items_ or tuple(map(str, range(len(self.loadings_))))

    @property
    def model_(self) -> SKLR:
        """The learned kernel."""
        return self.fit_.model

    @property
    def loadings_(self) -> Array:
        """The loadings of the items in `fit`."""
        return self.fit_.loadings

    @property
    def n_dimensions_(self) -> int:
        """The number of dimensions."""
        return self.fit_.settings.n_dimensions

    @property
    def weight_(self) -> Array:
        """What each dimension adds to the mean log-probability of an unseen answer."""
        return self.fit_.strength.weight

    @property
    def weight_error_(self) -> Array:
        """The standard errors of the weights."""
        return self.fit_.strength.weight_error

    @property
    def reproducibility_(self) -> Array:
        """How well each dimension's loadings agree with those from either half of the answers."""
        return self.fit_.strength.reproducibility

    @property
    def reproducible_(self) -> Array:
        """Whether each dimension is found again and adds to the prediction."""
        return self.fit_.strength.sure

    def _loadings(self, X: ArrayLike) -> Array:
        return np.asarray(self.transform(X))

    def _row(self, item: int | str) -> int:
        n = len(self.loadings_)
        if isinstance(item, str):
            if self.model_.items_ is None or item not in self.model_.items_:
                raise ValueError(f"no item {item!r}; expected one of the {n} items in fit")
            return self.model_.items_.index(item)
        if not 0 <= item < n:
            raise ValueError(f"item {item}; expected a row from 0 to {n - 1}")
        return int(item)

    def _check_parameters(self) -> None:
        d, shrinkage, sparsity = self.n_dimensions, self.shrinkage, self.sparsity
        require(d == "auto" or (d is not None and is_count(d)), "n_dimensions", d, "a whole number, or 'auto'")
        for name, value, least in (("shrinkage", shrinkage, 1e-9), ("sparsity", sparsity, 0.0)):
            require(
                value == "auto" or (is_real(value) and least <= float(value) < np.inf),
                name,
                value,
                f"a {'positive ' if least else ''}number{'' if least else ' of at least 0'}, or 'auto'",
            )


def default_name(k: int) -> str:
    """What the k-th dimension is called until someone names it; k counts from 0."""
    return f"dimension {k + 1}"


def check_names(names: Sequence[str], n_dimensions: int) -> tuple[str, ...]:
    """The names of dimensions: as many as there are, none empty, no two the same."""
    if isinstance(names, str) or len(names) != n_dimensions or not all(isinstance(name, str) for name in names):
        raise ValueError(f"names={names!r}; expected {n_dimensions} names")
    checked = tuple(name.strip() for name in names)
    for k, name in enumerate(checked):
        if not name or name in checked[:k]:
            raise ValueError(f"dimension {k + 1} is called {name!r}; expected a name of its own")
    return checked


def _check_number(n_dimensions: int | str, n_items: int) -> None:
    require(
        isinstance(n_dimensions, str) or n_dimensions <= n_items,
        "n_dimensions",
        n_dimensions,
        f"at most {n_items}, one for each item that was asked about",
    )
