"""New items at their expected distance, against the kernel extended by them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from oddkernel import SKLR, Comparisons, models
from oddkernel.kernels import AdaptiveGaussian, Gaussian, Identity, Kernel, Linear
from oddkernel.learning.remainder import learned_factor

KERNELS = {
    "gaussian": Gaussian(1.0),
    "with identity": Gaussian(1.0) + 0.5 * Identity(),
    "adaptive with identity": AdaptiveGaussian(neighbors=5) + 0.5 * Identity(),
    "more features than items": Linear(),
}


def problem(n: int = 14, new: int = 6, d: int = 30, seed: int = 0) -> tuple[np.ndarray, np.ndarray, Comparisons]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n + new, d)) / np.sqrt(d)
    shown = [rng.permutation(n)[:3] for _ in range(40)]
    return X[:n], X[n:], Comparisons.odd_one_out(shown, rng.integers(0, 3, 40))


def full(kernel: Kernel, X: np.ndarray, new: np.ndarray) -> np.ndarray:
    """k₀ between all items; the kernel's own parameters come from the known ones."""
    both = np.vstack([X, new])
    return kernel.fit(X)(both)


def squared(K: np.ndarray) -> np.ndarray:
    return K.diagonal()[:, None] + K.diagonal() - 2 * K


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_before_learning_all_items_have_the_distances_of_the_whole_kernel(kernel: Kernel) -> None:
    X, new, _ = problem()
    model = SKLR(kernel, rank=None).fit(X)
    wanted = squared(full(kernel, X, new))
    both = np.vstack([X, new])
    assert np.square(model.distance(both)) == pytest.approx(wanted, abs=1e-9)
    assert np.square(model.distance(new, X)) == pytest.approx(wanted[14:, :14], abs=1e-9)


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_the_remainder_is_what_an_extended_kernel_has_beyond_the_coordinates(kernel: Kernel) -> None:
    """Learned with the new items in the kernel, nothing is said about them: their remainder is the initial one."""
    X, new, said = problem()
    settings = {"rank": None, "loss": "softmax", "penalty": 1.0, "tol": 1e-10}
    model = SKLR(kernel, **settings).fit(X, said)
    extended = SKLR("precomputed", **settings).fit(K := full(kernel, X, new), said)
    whole = np.square(extended.distance(K))
    z = model.transform(np.vstack([X, new]))
    beyond = whole - squared(z @ z.T)
    factor = learned_factor(model.features_, model.fit_.root, said.constrained)
    assert factor > 0
    found = np.square(model.distance(np.vstack([X, new]))) - squared(z @ z.T)
    assert found == pytest.approx(factor * beyond, abs=1e-6)
    assert not np.allclose(found[14:], 0.0, atol=1e-3)
    assert found[:14, :14] == pytest.approx(0.0, abs=1e-9)

    # With the factor of that problem, 1, error bars are those of the extended kernel, too.
    model.fit_ = replace(model.fit_)
    model.fit_.__dict__["_factor"] = 1.0
    both = np.vstack([X, new])
    assert model.distance_std(both) == pytest.approx(extended.distance_std(K), abs=1e-5)
    shown = [[0, 1, 14], [15, 2, 16], [17, 18, 19], [3, 4, 5]]
    extended.fit_ = replace(extended.fit_, calibration=model.fit_.calibration)
    assert model.odd_one_proba(both, shown) == pytest.approx(extended.odd_one_proba(K, shown), abs=1e-6)
    assert model.odd_one_std(both, shown) == pytest.approx(extended.odd_one_std(K, shown), abs=1e-5)


def test_the_factor_is_what_known_items_would_lose_if_they_were_new() -> None:
    X, _, said = problem()
    kernel = Gaussian(1.0) + 0.5 * Identity()
    model = SKLR(kernel, rank=None, loss="softmax", penalty=10.0).fit(X, said)
    K, G = kernel.fit(X)(X), model.features_.basis @ model.fit_.root
    z = model.transform(X)
    loss, lacking = [], []
    for t in range(len(X)):
        others = np.delete(np.arange(len(X)), t)
        column = K[t].copy()
        column[t] = K[t, others] @ np.linalg.solve(K[np.ix_(others, others)], K[others, t])
        lacking.append(K[t, t] - column[t])
        as_new = column @ G
        loss.append(np.mean(np.square(z[t] - z[others]).sum(axis=1) - np.square(as_new - z[others]).sum(axis=1)))
    assert learned_factor(model.features_, model.fit_.root, np.arange(14)) == pytest.approx(sum(loss) / sum(lacking))


def test_new_items_are_as_far_apart_as_known_ones_at_truncated_rank() -> None:
    """On average over many draws, new items have the known ones' mean squared distance; by coordinates they don't."""
    known, found, plain = [], [], []
    for seed in range(8):
        X, new, said = problem(60, 60, 20, seed)
        model = SKLR(AdaptiveGaussian(neighbors=10), rank=0.9, loss="softmax", penalty=1.0).fit(X, said)
        assert model.features_.rank < 60
        upper = np.triu_indices(60, 1)
        z = model.transform(X)
        assert np.square(model.distance(X)) == pytest.approx(squared(z @ z.T), abs=1e-9)  # as learned
        known.append(np.square(model.distance(X))[upper].mean())
        found.append(np.square(model.distance(new))[upper].mean())
        z = model.transform(new)
        plain.append(squared(z @ z.T)[upper].mean())
    assert np.mean(plain) < 0.75 * np.mean(known)
    assert np.mean(found) == pytest.approx(np.mean(known), rel=0.1)


def test_copies_and_the_item_itself() -> None:
    X, new, said = problem()
    model = SKLR(Gaussian(1.0) + 0.5 * Identity(), rank=0.9, penalty=1.0).fit(X, said)
    mixed = np.vstack([X[3], new[0], X[3], new[0], -0.0 * new[1], 0.0 * new[1]])
    distance = model.distance(mixed)
    assert not distance.diagonal().any()
    assert distance[0, 2] == distance[1, 3] == distance[4, 5] == 0.0
    assert model.distance(mixed, X)[0] == pytest.approx(model.distance(X)[3], abs=1e-9)
    assert model.distance(new[:1], mixed)[0, 1] == pytest.approx(0.0, abs=1e-12)
    assert model.distance(new[:1], new[1:2]) == pytest.approx(model.distance(new)[:1, 1:2])


def test_triples_pairs_and_neighbours_agree_with_the_distances(monkeypatch: pytest.MonkeyPatch) -> None:
    X, new, said = problem(14, 20)
    model = SKLR(Gaussian(1.0) + 0.5 * Identity(), rank=None, loss="softmax", penalty=1.0).fit(X, said)
    both = np.vstack([X, new])[np.random.default_rng(0).permutation(34)]
    delta = np.square(model.distance(both))
    shown = np.array([np.random.default_rng(seed).permutation(34)[:3] for seed in range(200)])
    sides = np.stack([delta[tuple(shown[:, pair].T)] for pair in ([1, 2], [2, 0], [0, 1])], axis=1)
    odd = model.odd_one(both, shown)
    np.testing.assert_array_equal(odd, sides.argmin(axis=1))
    assert model.score(both, Comparisons.odd_one_out(shown, odd)) == 1.0
    np.fill_diagonal(delta, np.inf)
    np.testing.assert_array_equal(model.neighbours(both, 5), np.argsort(delta, axis=1, kind="stable")[:, :5])
    monkeypatch.setattr("oddkernel.kernels.distances.BLOCK_ENTRIES", 40)  # in many blocks
    np.testing.assert_array_equal(model.odd_one(both, shown), odd)
    np.testing.assert_array_equal(model.neighbours(both, 5), np.argsort(delta, axis=1, kind="stable")[:, :5])


def test_nothing_is_missing_of_features_that_phi_reaches() -> None:
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(40, 3)), rng.normal(size=(10, 3))
    model = SKLR("linear", rank=None, penalty=1.0).fit(X, Comparisons.odd_one_out([[0, 1, 2], [3, 4, 5]], [0, 1]))
    z = model.transform(new)
    assert np.square(model.distance(new)) == pytest.approx(squared(z @ z.T), abs=1e-9)


def test_a_precomputed_kernel_adds_nothing() -> None:
    X, new, said = problem()
    kernel = (Gaussian(1.0) + 0.5 * Identity()).fit(X)
    model = SKLR("precomputed", rank=None, penalty=1.0).fit(kernel(X), said)
    rows = kernel(new, X)
    z = model.transform(rows)
    assert np.square(model.distance(rows)) == pytest.approx(squared(z @ z.T), abs=1e-9)


def test_items_asked_about_count_and_one_item_is_no_error() -> None:
    X, new, _ = problem()
    few = Comparisons.odd_one_out([[0, 1, 2]] * 20, [0] * 20)
    model = SKLR(Gaussian(1.0) + 0.5 * Identity(), rank=None, loss="softmax", penalty=10.0).fit(X, few)
    wanted = learned_factor(model.features_, model.fit_.root, np.arange(3))
    assert wanted != pytest.approx(learned_factor(model.features_, model.fit_.root, np.arange(14)), rel=1e-3)
    z = model.transform(np.vstack([new[:1], X[:1]]))
    missing = 1.5 - np.square(model.features_.transform(new[:1])).sum()
    distance = model.distance(new[:1], X[:1])[0, 0]
    assert distance**2 == pytest.approx(np.square(z[0] - z[1]).sum() + wanted * missing)
    one = SKLR("identity").fit([[1.0]])
    with pytest.warns(UserWarning, match="so far from everything"):
        assert one.distance([[1.0]], [[2.0]])[0, 0] == pytest.approx(np.sqrt(2.0))


def test_a_saved_model_gives_the_same_distances(tmp_path) -> None:
    X, new, said = problem()
    model = SKLR(Gaussian(1.0) + 0.5 * Identity(), rank=0.9, penalty=1.0).fit(X, said)
    models.save(model, tmp_path / "model.oddkernel")
    loaded = models.load(tmp_path / "model.oddkernel")
    np.testing.assert_array_equal(loaded.distance(new, X), model.distance(new, X))
    np.testing.assert_array_equal(loaded.odd_one_proba(new, [[0, 1, 2]]), model.odd_one_proba(new, [[0, 1, 2]]))
