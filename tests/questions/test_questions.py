from __future__ import annotations

import logging
import pickle
import subprocess
import sys
import threading
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from properties import examples

from oddkernel import SKLR, Comparisons
from oddkernel.questions import (
    POLICIES,
    Belief,
    ByLabels,
    ByMetric,
    History,
    LearningCurve,
    Recorded,
    adaptive,
    learning_curve,
    outlook,
    simulate,
)
from oddkernel.questions import belief as beliefs
from oddkernel.questions.background import Background
from oddkernel.questions.history import draw_triples, key
from oddkernel.questions.policies import LEARNING
from oddkernel.questions.process import LearningProcess, bounded
from oddkernel.questions.spread import CONTRASTS, NOISE, Spread
from oddkernel.questions.stopping import _interval


def groups(n_each: int = 8, n_groups: int = 4, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(n_groups), n_each)
    return 3.0 * rng.standard_normal((n_groups, 3))[y] + rng.standard_normal((len(y), 3)), y


def history_of(X: Any, said: Comparisons, **more: Any) -> History:
    belief = Belief.learn(X, said)
    times = np.bincount(said.shown.ravel(), minlength=len(X)) if len(said) else np.zeros(len(X), dtype=np.intp)
    return History(len(X), times, lambda: said, X, belief=lambda: belief, space=lambda: belief.space, **more)


@given(n_items=st.integers(3, 9), n=st.integers(0, 40), seed=st.integers(0, 2**32))
@examples(50)
def test_triples_are_three_different_items(n_items: int, n: int, seed: int) -> None:
    rows = draw_triples(n_items, n, np.random.default_rng(seed))
    assert rows.shape == (n, 3)
    assert all(len(set(row)) == 3 and min(row) >= 0 and max(row) < n_items for row in rows.tolist())


def test_triples_are_uniform_in_every_order() -> None:
    rows = draw_triples(4, 24_000, np.random.default_rng(0))
    times = Counter(map(tuple, rows.tolist()))
    assert len(times) == 24
    assert max(times.values()) < 1.25 * min(times.values())


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("n_answers", [0, 1, 30])
def test_every_policy_chooses_as_many_as_asked_for(policy: str, n_answers: int) -> None:
    X, y = groups()
    said = simulate(X, ByLabels(y), policy="random", n=30, random_state=0)[:n_answers]
    past = history_of(X, said)
    for n in (0, 1, 25):
        chosen = POLICIES[policy](past, n, np.random.default_rng(n))
        assert chosen.shape == (n, 3)
        assert all(len(set(row)) == 3 and min(row) >= 0 and max(row) < len(X) for row in chosen.tolist())


@pytest.mark.parametrize("policy", POLICIES)
def test_among_three_items_there_is_one_question(policy: str) -> None:
    X = np.arange(6.0).reshape(3, 2)
    past = history_of(X, Comparisons.odd_one_out([[0, 1, 2]], [2]))
    assert np.array_equal(np.sort(POLICIES[policy](past, 2, np.random.default_rng(0))), [[0, 1, 2]] * 2)


@pytest.mark.parametrize("policy", ["uncertain", "informative", "diverse", "prototypes"])
def test_a_batch_asks_nothing_twice(policy: str) -> None:
    X, y = groups()
    said = simulate(X, ByLabels(y), policy="random", n=40, random_state=1)
    past = history_of(X, said)
    chosen = POLICIES[policy](past, 20, np.random.default_rng(0))
    assert len(np.unique(np.sort(chosen, axis=1), axis=0)) == 20
    asked = {key(tuple(row)) for row in said.shown.tolist()}
    assert not asked & {key(tuple(row)) for row in chosen.tolist()}


def test_diverse_looks_at_what_others_are_being_asked() -> None:
    X, y = groups()
    past = history_of(X, simulate(X, ByLabels(y), policy="random", n=40, random_state=1))
    alone = key(tuple(POLICIES["diverse"](past, 1, np.random.default_rng(0))[0].tolist()))
    past.open = {alone}
    beside = POLICIES["diverse"](past, 1, np.random.default_rng(0))[0]
    assert len(set(beside.tolist()) & set(alone)) <= 1


@pytest.mark.parametrize("policy", LEARNING)
def test_without_a_belief_a_policy_asks_by_chance(policy: str) -> None:
    past = History(10, np.zeros(10, dtype=np.intp), Comparisons.empty)
    assert POLICIES[policy](past, 4, np.random.default_rng(0)).shape == (4, 3)


def test_people_answer_by_class() -> None:
    answer = ByLabels(["a", "a", "a", "b", "b", "c"])
    assert [answer(shown) for shown in ([0, 1, 3], [3, 0, 4], [5, 0, 1], [0, 1, 2], [0, 3, 5])] == [2, 1, 0, -1, -1]


def test_people_answer_by_a_hidden_metric() -> None:
    answer = ByMetric([[0.0], [1.0], [2.05], [7.0]])
    assert [answer(shown) for shown in ([0, 1, 3], [3, 1, 2], [0, 1, 2])] == [2, 0, 2]
    unsure = ByMetric([[0.0], [1.0], [2.05], [7.0]], undecided=0.1)
    assert [unsure(shown) for shown in ([0, 1, 3], [0, 1, 2])] == [2, -1]


@pytest.mark.parametrize("make", [ByLabels, lambda y, **more: ByMetric(np.array(y)[:, None], **more)])
def test_noise_is_a_share_of_guesses(make: Any) -> None:
    answer = make([0, 0, 9], noise=0.3, random_state=0)
    said = [answer([0, 1, 2]) for _ in range(4000)]
    assert said.count(2) / 4000 == pytest.approx(0.7 + 0.1, abs=0.03)
    assert said.count(0) / 4000 == pytest.approx(0.1, abs=0.02)
    with pytest.raises(ValueError, match=r"noise=1\.5"):
        make([0, 0, 1], noise=1.5)


def test_people_answer_every_form_of_question() -> None:
    by_class = ByLabels(["a", "a", "a", "b", "b", "c"], random_state=0)
    assert (by_class.anchor([0, 3, 1]), by_class.anchor([0, 1, 3]), by_class.anchor([0, 1, 2])) == (2, 1, -1)
    assert sorted(by_class.grid(0, [3, 1, 4, 2])) == [1, 3]
    assert {by_class.central([0, 1, 3]) for _ in range(40)} == {0, 1}
    metric = ByMetric([[0.0], [1.0], [2.05], [7.0], [6.0]], undecided=0.1)
    assert (metric.anchor([1, 0, 2]), metric.anchor([1, 3, 2])) == (-1, 2)
    assert (metric.central([0, 3, 2]), metric.central([1, 0, 2])) == (2, 0)
    assert metric.grid(2, [3, 0, 4, 1], 3) == [3, 1, 2]
    with pytest.raises(ValueError, match="k"):
        metric.grid(2, [0, 1], 2)


def test_guesses_are_guesses_in_every_form() -> None:
    guess = ByMetric([[0.0], [1.0], [2.0], [7.0]], noise=1.0, random_state=0)
    assert {guess.anchor([0, 1, 3]) for _ in range(40)} == {1, 2}
    assert {guess.central([0, 1, 3]) for _ in range(40)} == {0, 1, 2}
    assert {tuple(sorted(guess.grid(0, [1, 2, 3]))) for _ in range(60)} == {(0, 1), (0, 2), (1, 2)}


def test_recorded_answers_are_played_back_and_used_up() -> None:
    said = Comparisons.odd_one_out([[0, 1, 2], [2, 0, 1], [1, 2, 3]], [2, 1, -1])
    answer = Recorded(said)
    assert sorted(map(tuple, answer.questions.tolist())) == [(0, 1, 2), (1, 2, 3)]
    assert [answer([2, 1, 0]), answer([0, 1, 2]), answer([3, 2, 1])] == [0, 0, -1]
    assert answer.questions.shape == (0, 3)
    with pytest.raises(ValueError, match="no recorded answer about"):
        answer([0, 1, 2])
    with pytest.raises(ValueError, match="row 0: a link"):
        Recorded(Comparisons.must_link([[0, 1]]))


@pytest.mark.parametrize("policy", ["random", "diverse"])
def test_closer_statements_are_played_back_together(policy: str) -> None:
    X, _ = groups()
    recorded = Comparisons.closer([0, 0, 3, 4], [1, 1, 5, 9], [2, 3, 4, 8]) + Comparisons.closer([2], [0], [1])
    said = simulate(X, Recorded(recorded), policy=policy, n=10, batch=2, random_state=0)
    assert sorted(map(tuple, said.shown.tolist())) == sorted(map(tuple, recorded.shown.tolist()))
    assert len(simulate(X, Recorded(recorded[[0, 4]]), n=1)) == 2


def test_central_answers_are_played_back_one_by_one() -> None:
    X, _ = groups()
    recorded = Comparisons.most_central([0, 1, 5], [[1, 2], [0, 2], [3, 4]])
    assert len(simulate(X, Recorded(recorded), n=1)) == 1
    said = simulate(X, Recorded(recorded), policy="random", n=10, random_state=0)
    assert sorted(map(tuple, said.canonical().tolist())) == sorted(map(tuple, recorded.canonical().tolist()))


@pytest.mark.parametrize("policy", POLICIES)
def test_only_what_was_recorded_is_asked(policy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = groups()
    recorded = simulate(X, ByLabels(y), policy="random", n=60, random_state=0)
    monkeypatch.setattr(adaptive, "RECORDED", 10)
    said = simulate(X, Recorded(recorded), policy=policy, n=100, batch=25, random_state=1)
    kept = Counter(key(tuple(row)) for row in recorded.shown.tolist())
    assert Counter(key(tuple(row)) for row in said.shown.tolist()) == kept


@pytest.mark.parametrize("policy", POLICIES)
def test_a_simulation_can_be_repeated(policy: str) -> None:
    X, y = groups()
    first, second = (simulate(X, ByLabels(y), policy=policy, n=45, random_state=3) for _ in range(2))
    assert first == second
    assert len(first) == 45


def test_simulate_says_what_it_does_not_know() -> None:
    X, y = groups()
    with pytest.raises(ValueError, match="policy='best'; expected one of"):
        simulate(X, ByLabels(y), policy="best", n=3)
    with pytest.raises(ValueError, match="n=0"):
        simulate(X, ByLabels(y), n=0)
    with pytest.raises(ValueError, match="three different items"):
        simulate(X, ByLabels(y), policy=lambda history, n, rng: np.zeros((n, 3), dtype=np.intp), n=3)


def test_typical_items_stand_for_many() -> None:
    rng = np.random.default_rng(0)
    centres = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]])
    phi = np.concatenate([centre + rng.standard_normal((40, 2)) for centre in centres])
    first = beliefs.typical_items(phi, 3)
    assert sorted(first // 40) == [0, 1, 2]
    assert np.all(np.linalg.norm(phi[first] - centres[first // 40], axis=1)[1:] < 1.0)
    assert np.array_equal(beliefs.typical_items(phi, 30)[:3], first)


def test_a_belief_warm_or_cold_is_the_same() -> None:
    X, y = groups()
    said = simulate(X, ByLabels(y), policy="random", n=60, random_state=0)
    cold = Belief.learn(X, said)
    warm = Belief.learn(X, said, last=Belief.learn(X, said[:40]))
    shown = draw_triples(len(X), 50, np.random.default_rng(0))
    np.testing.assert_allclose(warm.sides(shown), cold.sides(shown), rtol=0.02, atol=1e-3)
    np.testing.assert_allclose(cold.probabilities(cold.sides(shown)).sum(axis=1), 1.0)
    covariance, squared = cold.covariance(shown[:, :2])
    np.testing.assert_allclose(squared, cold.sides(shown)[:, 2])
    assert np.linalg.eigvalsh(covariance).min() > -1e-6 * np.abs(covariance).max()


def test_a_belief_knows_what_was_answered_best() -> None:
    X, y = groups()
    said = simulate(X, ByLabels(y), policy="random", n=60, random_state=0)
    belief, before = Belief.learn(X, said), Belief.learn(X, said[:0])
    told = [Spread(each, said.shown).information() for each in (before, belief)]
    assert np.median(told[1]) < 0.9 * np.median(told[0])


def test_what_is_being_asked_tells_nothing_new() -> None:
    X, y = groups()
    belief = Belief.learn(X, simulate(X, ByLabels(y), policy="random", n=20, random_state=0))
    pool = np.array([[0, 8, 16], [8, 16, 24], [1, 9, 25]])
    spread = Spread(belief, pool)
    before = spread.information()
    other = spread.copy()
    spread.tell({(0, 8, 16)})
    after = spread.information()
    assert after[0] < 0.5 * before[0]
    assert np.all(after <= before + 1e-12)
    spread.tell({(0, 8, 16), (2, 3, 4)})  # known already, and not in the pool
    assert np.array_equal(spread.information(), after)
    assert np.array_equal(other.information(), before)
    # Conditioning by hand: the joint covariance of the two questions' pairs that differ.
    pairs = np.array([[8, 16], [0, 16], [0, 8], [16, 24], [8, 24]])
    covariance, squared = belief.covariance(pairs)
    R = covariance / np.outer(squared, squared)
    A = np.zeros((2, 5))
    A[:, :3] = CONTRASTS
    R = R - R @ A.T @ np.linalg.inv(A @ R @ A.T + NOISE * np.eye(2)) @ A @ R
    B = np.zeros((2, 5))
    B[:, [3, 4, 0]] = CONTRASTS
    other.tell({(8, 16, 24), (0, 8, 16)})
    spread.tell({(8, 16, 24)})
    np.testing.assert_allclose(other.information(), spread.information())  # both at once, or one after the other
    assert after[1] == pytest.approx(0.5 * np.linalg.slogdet(np.eye(2) + B @ R @ B.T / NOISE)[1])


def test_questions_that_people_can_decide_are_worth_more() -> None:
    X, y = groups()
    said = simulate(X, ByLabels(y), policy="random", n=60, random_state=0)
    pool = np.unique(np.sort(draw_triples(len(X), 400, np.random.default_rng(0)), axis=1), axis=0)
    before, after = (Spread(Belief.learn(X, said[:n]), pool) for n in (0, 60))
    assert np.array_equal(before.worth(), before.information())
    decided = after.worth() / after.information()
    assert np.all((decided > 0) & (decided < 1))
    alike = np.array([len(set(y[shown])) == 1 for shown in pool])
    assert np.median(decided[alike]) < 0.5 * np.median(decided[~alike])
    # What is being asked changes what is left to tell, not what people can decide.
    told = after.copy()
    told.tell({tuple(pool[0].tolist())})
    np.testing.assert_allclose(told.worth() / told.information(), decided)


def test_a_curve_scores_the_first_answers() -> None:
    X, y = groups()
    said = simulate(X, ByLabels(y), policy="random", n=60, random_state=0)
    seen: list[int] = []

    def score(model: SKLR) -> float:
        seen.append(len(model.comparisons_))
        return model.score(X, said)

    curve = learning_curve(X, said, score, at=[10, 60], learner=SKLR(penalty=10))
    assert seen == [10, 60] == curve.n_answers.tolist()
    assert curve.score[1] == SKLR(penalty=10).fit(X, said).score(X, said)
    with pytest.raises(ValueError, match="at=61"):
        learning_curve(X, said, score, at=[61])


def test_a_curve_says_when_it_reaches_a_score() -> None:
    curve = LearningCurve(np.array([10, 20, 40]), np.array([0.2, 0.4, 0.5]))
    assert [curve.reaches(score) for score in (0.1, 0.3, 0.5, 0.6)] == [10, 15, 40, None]


def test_learning_goes_on_in_the_background() -> None:
    X, y = groups()
    said = simulate(X, ByLabels(y), policy="random", n=40, random_state=0)
    go, known = threading.Event(), 20

    def answers() -> Comparisons:
        go.wait(30)
        return said[:known]

    background = Background(X, answers, every=10)
    background.answered(0)
    before = background.latest()
    assert before is None or not before.n_answers  # and nobody waited
    go.set()
    background.wait(60)
    belief = background.latest()
    assert belief is not None
    assert belief.n_answers == 20
    known = 40
    background.answered(9)
    background.wait(60)
    assert background.latest() is belief  # not yet worth it
    background.answered(1)
    background.wait(60)
    latest = background.latest()
    assert latest is not None
    assert latest.n_answers == 40
    assert latest.space is belief.space


@pytest.mark.parametrize("prepared", [False, True])
def test_a_process_learns_what_this_one_would(prepared: bool) -> None:
    X, y = groups()
    said = simulate(X, ByLabels(y), policy="random", n=40, random_state=0)
    process = LearningProcess(X, prepared=prepared)
    try:
        for n in (0, 20, 40):
            elsewhere, here = process.learn(said[:n]), Belief.learn(X, said[:n])
            assert elsewhere.n_answers == here.n_answers == n
            np.testing.assert_allclose(elsewhere.sides(said.shown), here.sides(said.shown), rtol=0.02)
            assert ("spread" in elsewhere._memory) == prepared
        running = process._process
        assert running is not None
        running.kill()
        with pytest.raises(RuntimeError, match="was ended"):
            process.learn(said)
        assert process.learn(said).n_answers == 40  # by another one
        with pytest.raises(RuntimeError, match=r"IndexError|ValueError"):
            process.learn(Comparisons.odd_one_out([[0, 1, 5000]], [0]))
        assert process.learn(said).n_answers == 40
    finally:
        process.close()
    with pytest.raises(RuntimeError, match="closed"):
        process.learn(said)


def test_a_process_learns_from_every_form_of_question() -> None:
    X, y = groups()
    person, rng = ByLabels(y, random_state=0), np.random.default_rng(0)
    asked = [rng.choice(len(X), 3, replace=False) for _ in range(60)]
    middles, around = zip(
        *((int(i), rng.choice(np.delete(np.arange(len(X)), i), 5, False)) for i in range(20)), strict=True
    )
    said = (
        Comparisons.anchor(asked, [person.anchor(row) for row in asked])
        + Comparisons.grid(middles, around, [person.grid(i, row) for i, row in zip(middles, around, strict=True)])
        + Comparisons.odd_one_out(asked, [person(row) for row in asked])
    )
    process = LearningProcess(X)
    try:
        elsewhere, here = process.learn(said), Belief.learn(X, said)
    finally:
        process.close()
    assert (elsewhere.n_answers, elsewhere.n_decided) == (here.n_answers, here.n_decided)
    np.testing.assert_allclose(elsewhere.sides(said.shown), here.sides(said.shown), rtol=0.02)


def test_a_process_whose_parent_has_ended_says_nothing() -> None:
    task = pickle.dumps((np.zeros((50, 50)), False), protocol=5)
    for told in (b"", task[:100], task + pickle.dumps("cut short", protocol=5)[:5]):
        ended = subprocess.run(
            [sys.executable, "-m", "oddkernel.questions.process"], input=told, capture_output=True, check=False
        )
        assert (ended.returncode, ended.stderr) == (0, b"")


def test_a_process_that_does_not_listen_yet_can_be_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    start, begun = subprocess.Popen, threading.Event()

    def deaf(command: list[str], **options: Any) -> Any:
        process = start([sys.executable, "-c", "import time; time.sleep(60)"], **options)
        begun.set()
        return process

    monkeypatch.setattr(subprocess, "Popen", deaf)
    process = LearningProcess(np.zeros((1000, 100)))  # more than a pipe holds
    problems: list[BaseException] = []

    def learn() -> None:
        try:
            process.learn(Comparisons.empty())
        except RuntimeError as error:
            problems.append(error)

    learning = threading.Thread(target=learn, daemon=True)
    learning.start()
    assert begun.wait(20)
    ending = threading.Thread(target=process.close, daemon=True)
    ending.start()
    for each in (ending, learning):
        each.join(20)
        assert not each.is_alive()
    assert len(problems) == 1


def test_of_many_answers_the_same_are_learned_from_again() -> None:
    said = Comparisons.odd_one_out([[i, i + 1, i + 2] for i in range(400)], [0] * 400)
    before, after = (set(bounded(said[:n], 100).shown[:, 0].tolist()) for n in (390, 400))
    assert len(before) == len(after) == 100
    assert len(before & after) >= 90


def test_what_fails_in_the_background_leaves_the_last_belief(caplog: pytest.LogCaptureFixture) -> None:
    X, _ = groups()

    def broken() -> Comparisons:
        raise OSError("the database is gone")

    background = Background(X, broken)
    with caplog.at_level(logging.ERROR):
        background.answered(0)
        background.wait(60)
    latest = background.latest()
    assert latest is not None
    assert latest.n_answers == 0
    assert "questions are chosen with what was learned before" in caplog.text


def test_the_items_are_known_before_many_answers_are_learned_from() -> None:
    X, y = groups()
    said = simulate(X, ByLabels(y), policy="random", n=40, random_state=0)
    begun, go = threading.Event(), threading.Event()

    def learn(answers: Comparisons) -> Belief:
        if len(answers):
            begun.set()
            go.wait(60)
        return Belief.learn(X, answers)

    background = Background(X, lambda: said, learn=learn)
    background.answered(0)
    assert begun.wait(60)
    assert background.space() is not None
    assert background.latest() is not None
    go.set()
    background.wait(60)
    latest = background.latest()
    assert latest is not None
    assert latest.n_answers == 40


def by_group(n: int, seed: int, policy: str = "random", noise: float = 0.0) -> tuple[Any, Comparisons]:
    X, y = groups(20, 4)
    return X, simulate(X, ByLabels(y, noise=noise, random_state=seed), policy=policy, n=n, random_state=seed)


def test_an_outlook_is_about_random_answers_held_out() -> None:
    X, said = by_group(100, 0)
    _, held_out = by_group(150, 1)
    ahead = outlook(X, said, held_out, learner=SKLR(penalty=10))
    decided = held_out[~held_out.undecided]
    assert (ahead.n_answers, ahead.n_held_out) == (100, len(decided))
    assert ahead.agreement == pytest.approx(SKLR(penalty=10).fit(X, said).score(X, decided))
    assert 0 <= ahead.interval[0] < ahead.agreement < ahead.interval[1] <= 1
    gain, (low, high) = ahead.gain(100)
    assert 0 <= low <= gain <= high
    assert ahead.gain(300)[0] >= gain
    assert ahead.limit <= 1
    assert f"of {len(decided)} held-out answers to random questions" in str(ahead)


@pytest.mark.slow
def test_the_interval_of_an_outlook_holds_what_comes() -> None:
    X, said = by_group(60, 0, noise=0.2)
    _, many = by_group(4000, 2, noise=0.2)
    truth = SKLR(penalty=10).fit(X, said).score(X, many)
    held = [
        low <= truth <= high
        for seed in range(20)
        for low, high in [outlook(X, said, by_group(80, 10 + seed, noise=0.2)[1], learner=Fixed(X, said)).interval]
    ]
    assert sum(held) >= 16


@pytest.mark.parametrize("n_answers", range(20, 60))
@pytest.mark.parametrize("share", [0.0, 1.0])
def test_the_interval_of_an_outlook_holds_the_share_itself(share: float, n_answers: int) -> None:
    low, high = _interval(share, np.ones(n_answers))
    assert low <= share <= high


class Fixed:
    """A learner that has learned."""

    def __init__(self, X: Any, said: Comparisons) -> None:
        self.model = SKLR(penalty=10).fit(X, said)

    def __sklearn_clone__(self) -> Fixed:
        return self

    def fit(self, X: Any, said: Comparisons) -> SKLR:
        return self.model


def test_where_more_answers_change_nothing_it_is_time_to_stop() -> None:
    X, said = by_group(60, 0)
    ahead = outlook(X, said, by_group(150, 1)[1], learner=Fixed(X, said))
    assert ahead.gain(60) == (0.0, (0.0, 0.0))
    assert ahead.enough
    assert "you can stop here" in str(ahead)


@pytest.mark.parametrize("learner", [SKLR(penalty=0), SKLR(random_state=0)])
def test_where_nothing_was_learned_nothing_can_be_said_about_more(
    learner: SKLR, recwarn: pytest.WarningsRecorder
) -> None:
    X = groups(20, 4)[0]
    chance = np.random.default_rng(0)
    said = simulate(X, lambda _: int(chance.integers(3)), policy="random", n=120, random_state=0)
    ahead = outlook(X, said, by_group(150, 1)[1], learner=learner)
    assert not ahead.learned
    gain, interval = ahead.gain(120)
    assert np.isnan([gain, *interval]).all()
    assert not ahead.enough
    assert "can't be said yet" in str(ahead)
    assert "you can stop" not in str(ahead)
    assert "0.0 to 0.0" not in str(ahead)
    assert not [warned for warned in recwarn if "Nothing was learned" in str(warned.message)]
    pytest.importorskip("matplotlib").use("Agg")
    assert len(ahead.plot().get_legend().get_texts()) == 2


def test_an_outlook_can_be_drawn() -> None:
    pytest.importorskip("matplotlib").use("Agg")
    X, said = by_group(60, 0)
    ax = outlook(X, said, by_group(80, 1)[1], learner=SKLR(penalty=10)).plot()
    assert ax.get_xlabel() == "answers"
    assert len(ax.get_legend().get_texts()) == 4


def test_an_outlook_needs_enough_to_go_by() -> None:
    X, said = by_group(60, 0)
    with pytest.raises(ValueError, match="held out; expected at least 20"):
        outlook(X, said, said[:10])
    with pytest.raises(ValueError, match="5 answers to learn from"):
        outlook(X, said[:5], said)
