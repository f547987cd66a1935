from __future__ import annotations

from html.parser import HTMLParser

import numpy as np
from scipy.spatial.distance import pdist

from oddkernel.report import before_after, demo_page, flat_map
from oddkernel.report.page import Question

FACTS = dict.fromkeys(
    ["n_answers", "n_items", "n_asked", "n_unseen", "score_before", "score_after", "rand_before", "rand_after"], "12"
) | {"status": "a < b & c"}
FLAT = np.random.default_rng(0).normal(size=(30, 2))
GROUPS = np.arange(30) % 10


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


def test_the_picture_is_one() -> None:
    assert before_after([FLAT, -FLAT], ["before", "after"], GROUPS, "kind").startswith(b"\x89PNG")


class Reader(HTMLParser):
    """Collects what a page asks of the network, and how its tags nest."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href")]
        if tag not in ("meta", "img", "path"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass


def test_the_page_needs_nothing_else() -> None:
    question = Question(np.random.default_rng(0).random((3, 8, 8)), odd=1, before=0, after=1)
    page = demo_page(FACTS, FLAT, -FLAT, GROUPS, [question])
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    assert len(reader.addresses) == 3
    assert all(address.startswith("data:") for address in reader.addresses)
    assert "http" not in page
    assert "a &lt; b &amp; c" in page
    assert "$" not in page
