"""Choosing any parameter by held-out comparisons.

scikit-learn's own searches slice X and y alike; here every item stays, and only the answers are put into folds. All
answers about one triple are in one fold, so that nothing is predicted from a repeat of itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import rankdata
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.model_selection import ParameterGrid
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ..comparisons import Comparisons
from ..support.types import Array
from .answers import in_order_asked
from .folds import folds_of, without


def _delegates(name: str) -> Any:
    return available_if(lambda search: hasattr(getattr(search, "best_estimator_", search.estimator), name))


class SearchCV(MetaEstimatorMixin, BaseEstimator):
    """Search over parameters, scored on held-out comparisons; the best is fitted to all of them.

    Parameters
    ----------
    estimator : estimator
        `SKLR`, or a pipeline that ends with it.
    param_grid : dict of str to list, or a list of such dicts
        As in scikit-learn's `GridSearchCV`.
    folds : int or None, default=None
        None: 5, 3 from 500 answers on. From 5,000 answers about more than 200 items on, only one part is held out: a
        fifth, or a tenth from 20,000 answers on.
    random_state : int, RandomState or None
        Draws the folds.

    Attributes
    ----------
    best_estimator_, best_params_, best_score_
        Fitted to all answers; its parameters; its mean held-out agreement.
    cv_results_ : dict
        ``params``, ``mean_test_score``, ``std_test_score``, ``rank_test_score`` and ``split{k}_test_score``.

    Examples
    --------
    >>> import numpy as np
    >>> from oddkernel import SKLR, Comparisons, SearchCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(40, 3))
    >>> said = Comparisons.from_labels((X[:, 0] > 0).astype(int), 60, random_state=0)
    >>> search = SearchCV(SKLR("linear"), {"penalty": [0.1, 10.0]}, random_state=0).fit(X, said)
    >>> sorted(search.best_params_)
    ['penalty']
    """

    def __init__(
        self,
        estimator: Any,
        param_grid: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]],
        *,
        folds: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.folds = folds
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: Comparisons) -> Self:
        """Try every setting on every fold, then fit the best to all answers."""
        if not isinstance(y, Comparisons):
            raise TypeError(f"y is {type(y).__name__}; expected Comparisons, whose answers are put into folds")
        asked = in_order_asked(y)[1]  # the folds are the same, however the items are numbered
        held_out = list(folds_of(asked, self.folds, check_random_state(self.random_state)))
        if any(not len(rows) for rows in held_out):
            raise ValueError(f"{len(y)} answers are too few for {len(held_out)} folds; set folds= lower")
        tried = list(ParameterGrid(self.param_grid))
        scores = np.array(
            [
                [
                    clone(self.estimator).set_params(**params).fit(X, without(y, rows)).score(X, y[rows])
                    for rows in held_out
                ]
                for params in tried
            ]
        )
        mean = scores.mean(axis=1)
        best = int(np.argmax(mean))
        refitted = clone(self.estimator).set_params(**tried[best]).fit(X, y)
        self.cv_results_ = {
            "params": tried,
            "mean_test_score": mean,
            "std_test_score": scores.std(axis=1),
            "rank_test_score": rankdata(-mean, method="min").astype(np.intp),
            **{f"split{k}_test_score": scores[:, k] for k in range(scores.shape[1])},
        }
        self.best_params_, self.best_score_ = tried[best], float(mean[best])
        self.best_estimator_ = refitted
        return self

    @_delegates("score")
    def score(self, X: ArrayLike, y: Comparisons) -> float:
        """The best estimator's agreement with answers."""
        check_is_fitted(self)
        return float(self.best_estimator_.score(X, y))

    @_delegates("transform")
    def transform(self, X: ArrayLike) -> Array:
        """The best estimator's coordinates."""
        check_is_fitted(self)
        return np.asarray(self.best_estimator_.transform(X))
