"""Items and answers that several files learn from."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.preprocessing import StandardScaler

from oddkernel import SKLR, Comparisons
from oddkernel.kernels import AdaptiveGaussian, Gaussian, Identity, Linear

KERNELS = {
    "adaptive": AdaptiveGaussian(neighbors=10),
    "gaussian": "gaussian",
    "linear": "linear",
    "identity": "identity",
    "sum": 0.5 * Gaussian() + 0.5 * Linear() + 0.1 * Identity(),
    "precomputed": "precomputed",
}


@pytest.fixture(scope="module")
def wine() -> tuple[np.ndarray, np.ndarray]:
    X, y = load_wine(return_X_y=True)
    return StandardScaler().fit_transform(X), y


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(X))
    return X[order], y[order]


@pytest.fixture(scope="module")
def items(iris):
    """60 training items and 20 new ones."""
    return iris[0][:60], iris[0][60:80]


@pytest.fixture(scope="module")
def said(iris):
    """Answers of every kind about the training items."""
    labels = iris[1][:60]
    same = np.argwhere(np.triu(labels[:, None] == labels, 1))[::40]
    apart = np.argwhere(np.triu(labels[:, None] != labels, 1))[::100]
    return (
        Comparisons.from_labels(labels, 25, undecided=3, noise=0.1, random_state=0, weight=np.linspace(0.5, 2, 28))
        + Comparisons.closer([0, 3], [1, 4], [2, 5])
        + Comparisons.must_link(same, at_most=0.2)
        + Comparisons.cannot_link(apart, at_least=0.5)
        + Comparisons.must_link(same[::2])
        + Comparisons.cannot_link(apart[::2])
    )


@pytest.fixture(params=KERNELS)
def fitted(request, items, said):
    """A model, its training items and new ones, in the form that its kernel takes."""
    train, new = items
    if request.param == "precomputed":
        kernel = (Gaussian(1.0) + Linear()).fit(train)
        train, new = kernel(train), kernel(new, train)
    return SKLR(KERNELS[request.param], rank=0.95, ratio=2.0, margin=0.05).fit(train, said), train, new
