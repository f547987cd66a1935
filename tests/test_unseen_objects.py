"""The experiment on unseen objects: what is left out, the rivals, and results that are kept."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from oddkernel_experiments import rivals, unseen
from scipy.optimize import approx_fprime

from oddkernel import Comparisons
from oddkernel.cli import main

pytestmark = pytest.mark.slow  # runs experiments


def people(n: int = 30, m: int = 900, d: int = 6, seed: int = 0) -> tuple[np.ndarray, Comparisons]:
    """Features of which people see the first three, and answers without noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    shown = np.array([rng.permutation(n)[:3] for _ in range(m)])
    sides = rivals.by_distances(X[:, :3])(shown)
    return X, Comparisons.odd_one_out(shown, sides.argmax(axis=1))


def test_nothing_about_unseen_objects_is_learned_from() -> None:
    X, said = people()
    parts = unseen.divide(said, len(X), 0, draw=3)
    left_out = np.setdiff1d(np.arange(30), parts.seen)
    assert len(left_out) == 6
    assert not np.isin(parts.seen[parts.known.shown], left_out).any()
    learned = {tuple(triple) for triple in np.sort(parts.seen[parts.known.shown])}
    held_out = {tuple(triple) for triple in parts.held_out[0].item_sets()}
    assert held_out
    assert not learned & held_out
    for number, answers in parts.held_out.items():
        assert (np.isin(answers.shown, left_out).sum(axis=1) == number).all()
    assert len(parts.known) + sum(map(len, parts.held_out.values())) == len(said)
    few = unseen.divide(said, len(X), 100, draw=3)
    assert len(few.known) == 100
    assert few.held_out[1] == parts.held_out[1]


@pytest.mark.parametrize("distances", [False, True])
def test_the_slope_of_the_choice_cost(distances: bool) -> None:
    Z = np.random.default_rng(0).normal(size=(8, 2))
    shown = [[0, 1, 2], [3, 4, 5], [5, 6, 7], [0, 1, 2]]
    said = Comparisons.odd_one_out(shown, [0, 1, 2, 1], weight=[1.0, 2.0, 1.0, 0.5])
    value, slope = rivals.choice_cost(Z, said, distances)
    predict = rivals.by_distances(Z) if distances else rivals.by_dot_products(Z)
    strength = np.exp(predict(said.shown))
    likelihood = np.log(strength[np.arange(4), said.odd] / strength.sum(axis=1))
    assert value == pytest.approx(-np.average(likelihood, weights=said.weight))
    wanted = approx_fprime(Z.ravel(), lambda flat: rivals.choice_cost(flat.reshape(8, 2), said, distances)[0], 1e-7)
    assert slope.ravel() == pytest.approx(wanted, abs=1e-5)


def test_ties_count_by_their_share() -> None:
    said = Comparisons.odd_one_out([[0, 1, 2], [2, 1, 0]], [2, 0])
    assert rivals.agreement(rivals.by_dot_products(np.zeros((3, 2))), said) == pytest.approx(1 / 3)


def test_rivals_learn_what_people_see(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rivals, "DIMENSIONS", 8)
    X, said = people(m=3000)
    train, test = said[:2500], said[2500:]
    before = rivals.agreement(rivals.by_distances(X), test)
    for distances in (True, False):
        probe = rivals.linear_probe(X, np.arange(30), train, distances, (train[:2000], train[2000:]))
        assert rivals.agreement(probe.predict, test) > before + 0.1 * distances
        assert probe.chosen.startswith("ridge ")
    found = rivals.embedding(len(X), train, (train[:2000], train[2000:]), seed=0)
    assert rivals.agreement(found.predict, test) > 0.6


def test_results_are_kept_and_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(unseen, "recorded", lambda dataset: people())
    monkeypatch.setattr(rivals, "DIMENSIONS", 5)
    arguments = ["reproduce", "unseen", "--draws", "2", "--answers", "200", "--out", str(tmp_path), "--json"]
    assert main(arguments) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["measured"] == 2 * len(unseen.METHODS)
    means = told["unseen"]["means"]
    assert means["sklr any"]["draws"] == 2
    assert means["sklr one"]["mean"] > 0.5
    assert "embedding none" in means
    assert "embedding one" not in means
    assert main(arguments) == 0
    assert json.loads(capsys.readouterr().out)["measured"] == 0
    page = (tmp_path / "unseen.md").read_text()
    assert page.startswith("# Objects that nobody was asked about")
    assert "SKLR, defaults minus Linear probe, distances, paired by draw" in page
    assert "SKLR, defaults: what an unseen object's coordinates lack adds" in page
    assert main(["reproduce", "table1", "--answers", "5", "--out", str(tmp_path)]) != 0
    assert "only the experiment unseen" in capsys.readouterr().err
