"""Similarity matrices for representational similarity analysis, beside the formula written out."""

from __future__ import annotations

import numpy as np

from oddkernel.dimensions import choice_similarity, rdm


def test_the_similarity_is_the_mean_probability() -> None:
    z = np.random.default_rng(0).random((6, 2)) * 2
    strength = np.exp(z @ z.T)
    found = choice_similarity(z)
    for i, j in ((0, 1), (4, 2)):
        others = [k for k in range(6) if k not in (i, j)]
        proba = [strength[i, j] / (strength[i, j] + strength[i, k] + strength[j, k]) for k in others]
        np.testing.assert_allclose(found[i, j], np.mean(proba))
    np.testing.assert_array_equal(found, found.T)


def test_a_matrix_has_the_parts_that_rsatoolbox_takes() -> None:
    z = np.random.default_rng(0).random((4, 2))
    found = rdm(z, ["a", "b", "c", "d"])
    assert found["dissimilarities"].shape == (1, 6)
    np.testing.assert_allclose(found["dissimilarities"][0, 0], 1 - choice_similarity(z)[0, 1])
    assert found["pattern_descriptors"] == {"item": ["a", "b", "c", "d"]}
    assert set(found) == {
        "dissimilarities", "dissimilarity_measure", "descriptors", "rdm_descriptors", "pattern_descriptors",
    }  # fmt: skip
