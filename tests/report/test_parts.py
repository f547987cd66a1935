"""The parts of the report that need no model: maps, clusters, neighbours, thumbnails."""

from __future__ import annotations

import io
import sys
import types
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from properties import examples
from scipy.spatial.distance import cdist, pdist
from sklearn.datasets import load_iris

from oddkernel.report import draw_maps, flat_map
from oddkernel.report import thumbnails as thumbs
from oddkernel.report.neighbours import find_neighbours, nearest
from oddkernel.report.resolutions import find_resolutions, flows

FLAT = np.random.default_rng(0).normal(size=(30, 2))


# Maps


def test_a_flat_arrangement_is_found_again() -> None:
    turned = FLAT @ np.array([[0.6, 0.8, 0.0], [0.0, 0.0, 1.0]]) + 5
    np.testing.assert_allclose(pdist(flat_map(turned)), pdist(FLAT), rtol=1e-3)


def test_a_map_lowers_the_stress() -> None:
    points = np.random.default_rng(1).normal(size=(40, 8))
    stress = [np.square(pdist(points) - pdist(flat_map(points, n_iter=n))).sum() for n in (0, 5, 50)]
    assert stress[0] > stress[1] > stress[2]


def test_maps_of_little_are_finite() -> None:
    for points in (np.zeros((1, 3)), np.zeros((4, 3)), np.arange(4.0)[:, None], 1e-30 * FLAT):
        flat = flat_map(points)
        assert flat.shape == (len(points), 2)
        assert np.isfinite(flat).all()


@pytest.mark.parametrize("method", ["tsne", "mds", "pca"])
def test_maps_fill_the_square_and_are_the_same_each_time(method: str) -> None:
    points = np.random.default_rng(1).normal(size=(40, 8))
    maps, again = (draw_maps(points, 3 * points, method) for _ in range(2))
    for flat in (maps.before, maps.after):
        assert flat.shape == (40, 2)
        assert flat.min() >= 0
        assert flat.max() <= 1
        assert np.ptp(flat, axis=0).max() == pytest.approx(1)
    assert np.array_equal(maps.after, again.after)


def test_many_items_are_placed_by_open_tsne(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("openTSNE", reason="needs openTSNE: pip install openTSNE")
    from oddkernel.report import maps

    monkeypatch.setattr(maps, "MANY", 20)
    assert draw_maps(FLAT, FLAT).after.shape == (30, 2)


def test_the_second_map_is_turned_towards_the_first() -> None:
    maps = draw_maps(FLAT, FLAT @ [[0, -1], [1, 0]], "pca")
    np.testing.assert_allclose(maps.before, maps.after, atol=1e-9)


@pytest.mark.parametrize("method", ["tsne", "mds", "pca"])
def test_maps_of_one_dimension_of_none_and_of_copies(method: str) -> None:
    line = FLAT[:, :1]
    for before, after in ((FLAT, line), (line, line), (FLAT, line[:, :0]), (np.ones((30, 3)), line)):
        maps = draw_maps(before, after, method)
        assert maps.after.shape == (30, 2)
        assert np.isfinite(maps.before).all()
        assert np.isfinite(maps.after).all()
    # A line stays one, in the order of its points, from either end.
    placed = draw_maps(line, line, method).after
    assert np.ptp(placed, axis=0).min() < 1e-6
    along = placed[np.argsort(line[:, 0]), np.argmax(np.ptp(placed, axis=0))]
    assert method == "tsne" or np.all(np.diff(along) > 0) or np.all(np.diff(along) < 0)


def test_many_items_of_one_dimension(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("openTSNE")
    monkeypatch.setattr("oddkernel.report.maps.MANY", 20)
    assert np.isfinite(draw_maps(FLAT, FLAT[:, :1]).after).all()


def test_umap_where_it_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    class UMAP:
        def __init__(self, **_: Any) -> None: ...

        def fit_transform(self, points: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
            return points[:, :2]

    monkeypatch.setitem(sys.modules, "umap", types.SimpleNamespace(UMAP=UMAP))
    assert draw_maps(FLAT, FLAT, "umap").method == "UMAP"
    monkeypatch.setitem(sys.modules, "umap", None)
    with pytest.raises(ImportError, match="pip install umap-learn"):
        draw_maps(FLAT, FLAT, "umap")


# Clusters


def test_clusters_keep_their_numbers_and_flows_add_up() -> None:
    found = find_resolutions(load_iris(return_X_y=True)[0], [2, 3, 6])
    for coarse, fine in pairwise(found.levels):
        counts = flows(coarse.labels, fine.labels)
        assert counts.sum(axis=1).tolist() == np.bincount(coarse.labels).tolist()
        assert counts.sum(axis=0).tolist() == np.bincount(fine.labels).tolist()
        # Giving numbers otherwise would not leave more items with the number they had.
        assert np.trace(counts) >= max(np.trace(counts[:, np.roll(range(fine.k), s)]) for s in range(fine.k))
    for level in found.levels:
        assert sorted(level.order) == list(range(level.k))
        for cluster in range(level.k):
            members = np.flatnonzero(level.labels == cluster)
            assert set(level.typical[cluster]) <= set(members)
            assert set(level.odd[cluster]) <= set(members) - set(level.typical[cluster])


@pytest.mark.slow
def test_the_suggestion_finds_plain_clusters_and_says_why() -> None:
    rng = np.random.default_rng(0)
    points = np.repeat(10 * rng.normal(size=(6, 9)), 25, axis=0) + 0.1 * rng.normal(size=(150, 9))
    suggestion = find_resolutions(points).suggestion
    assert suggestion.k == 6
    assert "eigenvalues also point to 6" in suggestion.reason
    assert "continuum" in find_resolutions(rng.normal(size=(200, 30)), [7, 8]).suggestion.reason


def test_copies_are_no_clusters() -> None:
    points = np.repeat([[0.0, 1.0], [2.0, 2.0], [5.0, 0.0]], 20, axis=0)
    assert [level.k for level in find_resolutions(points).levels] == [2, 3]
    with pytest.raises(ValueError, match="copies of one another"):
        find_resolutions(np.empty((20, 0)))
    with pytest.raises(ValueError, match="copies of one another"):
        find_resolutions(np.ones((5, 2)))


# Neighbours


@examples(30)
@given(n=st.integers(2, 40), count=st.integers(1, 45), seed=st.integers(0, 99))
def test_neighbours_are_the_nearest(n: int, count: int, seed: int) -> None:
    points = np.random.default_rng(seed).integers(0, 4, size=(n, 3)).astype(float)  # with ties and copies
    found = nearest(points, count)
    distance = cdist(points, points)
    np.fill_diagonal(distance, np.inf)
    assert found.shape == (n, min(count, n - 1))
    for row in range(n):
        assert row not in found[row]
        assert len(set(found[row])) == found.shape[1]
        np.testing.assert_allclose(distance[row, found[row]], np.sort(distance[row])[: found.shape[1]])


def test_kept_neighbours_are_counted() -> None:
    assert (find_neighbours(FLAT, FLAT, 5).kept == 5).all()


# Thumbnails


def test_photographs_become_sheets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from PIL import EpsImagePlugin, Image

    rng = np.random.default_rng(0)
    for number in range(5):
        pixels = rng.integers(0, 255, size=(300, 200 + number, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(tmp_path / f"car {number}.jpg")
    paths = thumbs.images_in(tmp_path, [f"car {number}" for number in (3, 1)])
    assert [path.name for path in paths] == ["car 3.jpg", "car 1.jpg"]
    small = thumbs.make_thumbnails([*paths, rng.random((40, 60)), Image.new("L", (50, 50))])
    assert (small.side, small.columns, small.exact, len(small.sheets)) == (thumbs.LARGEST, 2, False, 1)
    with pytest.raises(ValueError, match="no image for 1 of 1 items, the first being 'bus'"):
        thumbs.images_in(tmp_path, ["bus"])
    (tmp_path / "broken.png").write_bytes(b"no picture")
    with pytest.raises(ValueError, match=r"image 0, .*broken.png: can't be read"):
        thumbs.make_thumbnails([tmp_path / "broken.png"])
    program = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n%%EndComments\nshowpage\n%%EOF\n"
    (tmp_path / "program.png").write_bytes(program)
    monkeypatch.setattr(EpsImagePlugin, "Ghostscript", lambda *_, **__: pytest.fail("PostScript was run"))
    with pytest.warns(
        UserWarning, match=r"left out, 2 of 4 images: image 1, .*broken.*image 3, .*program\.png"
    ) as warned:
        left = thumbs.make_thumbnails([paths[0], tmp_path / "broken.png", paths[1], tmp_path / "program.png"])
    assert len(warned) == 1
    sheet = np.asarray(Image.open(io.BytesIO(left.sheets[0])))
    tile = thumbs.LARGEST
    assert [sheet[y : y + tile, x : x + tile, 3].any() for y in (0, tile) for x in (0, tile)] == [1, 0, 1, 0]
    with pytest.raises(ValueError, match="image 1 is float64 of shape"):
        thumbs.make_thumbnails([rng.random((4, 4)), rng.random((4, 4, 2))])


def test_small_images_are_kept_pixel_by_pixel() -> None:
    from PIL import Image

    images = np.random.default_rng(0).integers(0, 255, size=(7, 8, 8), dtype=np.uint8)
    sheets = thumbs.make_thumbnails(images)
    sheet = np.asarray(Image.open(io.BytesIO(sheets.sheets[0])).convert("L"))
    assert np.array_equal(sheet[8:16, :8], images[3])


def test_many_thumbnails_take_several_sheets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thumbs, "SHEET", 16)
    assert len(thumbs.make_thumbnails(np.zeros((9, 8, 8))).sheets) == 3
