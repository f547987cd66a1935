"""The methods compared: the paper's method in several forms, its rivals, and a classifier for comparison."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.svm import SVC

from oddkernel import SKLR, Comparisons
from oddkernel.baselines import ITML, LSML, SKMS
from oddkernel.kernels import AdaptiveGaussian, LowRank

Array = NDArray[Any]

NOTHING, TRIPLES, PAIRS, CLASSES = "nothing", "triples", "pairs", "classes"


@dataclass(frozen=True)
class Method:
    """A method that learns a kernel, or predicts classes.

    Attributes
    ----------
    title : str
        Its name in tables and figures.
    asks : str
        What it learns from: triples, pairs, the class of every item, or nothing.
    estimator : type
        The class of the estimator.
    settings : mapping
        The estimator's parameters. They are stored with the results; other parameters make another method.
    """

    title: str
    asks: str
    estimator: Any
    settings: Mapping[str, Any] = field(default_factory=dict)

    def fit(self, X: Array, said: Comparisons | Array | None) -> Any:
        """An estimator with a method ``kernel_matrix``, or ``predict`` if it learns from classes."""
        estimator = self.estimator(**self.settings)
        return estimator.fit(X) if said is None else estimator.fit(X, said)

    def described(self) -> str:
        """The settings as JSON, to store with the results."""
        return json.dumps({"estimator": self.estimator.__name__, **self.settings}, sort_keys=True)


class InitialKernel:
    """The adaptive Gaussian kernel, without learning."""

    def fit(self, X: Array) -> InitialKernel:
        """Fit the kernel's bandwidths."""
        self._kernel = AdaptiveGaussian().fit(X)
        self._features = LowRank.fit(self._kernel, X, rank=0.9)
        return self

    def kernel_matrix(self, A: Array, B: Array | None = None) -> Array:
        """k₀ between the rows of A and of B."""
        return np.asarray(self._kernel(A, B))

    def transform(self, A: Array) -> Array:
        """Coordinates of k₀, with the same share of the trace as the learners."""
        return np.asarray(self._features.transform(A))


def _sklr(title: str, *, ratio: float, penalty: float | str, **more: Any) -> Method:
    return Method(title, TRIPLES, SKLR, {"rank": 0.9, "ratio": ratio, "penalty": penalty, "loss": "squared", **more})


# At most 100 passes, chosen by hand: if answers are wrong, projections may never satisfy them all.
PASSES = {"solver": "projection", "max_iter": 100}
# Practically infinite. The paper's algorithm returns the kernel that it has after its passes; with an infinite penalty,
# the learner would refuse contradictory answers.
HARD = 1e12

METHODS: dict[str, Method] = {
    "kkm": Method("Kkm", NOTHING, InitialKernel),
    "lsml": Method("LSML", TRIPLES, LSML, {"penalty": 10.0}),
    "itml": Method("ITML", PAIRS, ITML, {"slack": 1.0}),
    "skkm": Method("SKkm", PAIRS, SKMS, {"slack": 100.0, "bandwidth": "median", "rank": None}),
    "sklr_paper": _sklr("SKLR, the paper's algorithm", ratio=2.0, penalty=HARD, **PASSES),
    "ssklr_paper": _sklr("sSKLR, the paper's algorithm", ratio=2.0, penalty=1e5, **PASSES),
    "sklr": _sklr("SKLR, exact", ratio=4.0, penalty=np.inf),
    "ssklr": _sklr("sSKLR, exact", ratio=4.0, penalty=1e5),
    "ssklr_10": _sklr("sSKLR, exact, λ = 10", ratio=4.0, penalty=10.0),
    "sklr_2": _sklr("SKLR, exact, ratio 2", ratio=2.0, penalty=np.inf),
    "ssklr_2": _sklr("sSKLR, exact, ratio 2", ratio=2.0, penalty=1e5),
    "ssklr_2_10": _sklr("sSKLR, exact, ratio 2, λ = 10", ratio=2.0, penalty=10.0),
    "ssklr_auto": Method(
        "SKLR, loss and λ by held-out answers",
        TRIPLES,
        SKLR,
        {"kernel": "adaptive", "rank": 0.9, "penalty": "auto", "random_state": 0},
    ),
    "default": Method("SKLR()", TRIPLES, SKLR, {"random_state": 0}),
    "told": Method("Classifier told every class", CLASSES, SVC, {"C": 10.0}),
}
RIVALS = ("lsml", "itml", "skkm")
