from __future__ import annotations

import numpy as np
import pytest

from oddkernel import SKLR
from oddkernel.questions import planning
from oddkernel.questions.planning import Plan, Row, plan

RNG = np.random.default_rng(0)
X = RNG.standard_normal((30, 6)) * [3, 3, 2, 1, 1, 1]
QUICK = SKLR("linear", loss="softmax", penalty=1.0, verbose=0)


@pytest.mark.slow
def test_more_answers_agree_more_and_the_same_seed_plans_the_same() -> None:
    found = plan(X, per_person=40, policy="random", sizes=(40, 800), draws=3, learner=QUICK, seconds=1e6)
    assert [(row.n_answers, row.n_people, row.n_draws) for row in found.rows] == [(40, 1, 3), (800, 20, 3)]
    few, many = found.rows
    assert found.before < few.agreement < many.agreement <= found.ceiling
    assert all(row.low <= row.agreement <= row.high for row in found.rows)
    assert found == plan(X, per_person=40, policy="random", sizes=(40, 800), draws=3, learner=QUICK, seconds=1e6)
    assert found != plan(
        X, per_person=40, policy="random", sizes=(40, 800), draws=3, learner=QUICK, seconds=1e6, random_state=1
    )


def test_what_people_go_by_is_found_if_they_never_guess() -> None:
    sure = SKLR("linear", loss="softmax", penalty=100.0, verbose=0, rank=None)
    found = plan(
        X, per_person=50, dimensions=6, noise=0.0, policy="random", sizes=(1500,), draws=1, learner=sure, seconds=1e6
    )
    assert found.ceiling == 1.0
    assert found.rows[0].agreement > 0.93


def test_the_agreement_counts_guesses_as_people_give_them() -> None:
    """Against a simulation of the answers themselves: 60% guesses, and a model that knows what people go by."""
    truth = planning._truth(X, None, 4, np.random.default_rng(1))
    draw = planning._Draw(X, truth, 0.6, (), None, 0.0, None, "", np.random.default_rng(2))
    rng = np.random.default_rng(3)
    said = np.array([[rng.integers(3) if rng.random() < 0.6 else odd for odd in draw._opinion] for _ in range(100)])
    assert draw._agreement(draw._opinion) == pytest.approx(1 - 2 * 0.6 / 3)
    assert (said == draw._opinion).mean() == pytest.approx(1 - 2 * 0.6 / 3, abs=0.01)


def test_people_who_go_by_classes() -> None:
    labels = np.arange(30) % 3
    found = plan(
        np.eye(3)[labels] + 0.1 * X[:, :3] / 3,
        per_person=50,
        labels=labels,
        policy="random",
        sizes=(100,),
        draws=1,
        learner=QUICK,
        seconds=1e6,
    )
    assert found.rows[0].agreement > 0.8
    assert found.assumed[0] == "Everybody goes by the same classes."
    with pytest.raises(ValueError, match="expected at least two classes"):
        plan(X, per_person=50, labels=np.zeros(30), sizes=(50,))


def test_items_without_features_are_learned_from_answers_alone() -> None:
    found = plan(
        None,
        n_items=12,
        per_person=50,
        dimensions=2,
        sizes=(300,),
        draws=1,
        learner=SKLR("identity", loss="softmax", penalty=1.0, rank=None, verbose=0),
        seconds=1e6,
    )
    assert 'The policy "random" chooses' in found.assumed[2]
    assert found.rows[0].agreement > 0.6 > 0.5 > found.before


class Clock:
    """A clock that a fit moves on by as many seconds as it has answers."""

    now = 0.0

    def monotonic(self) -> float:
        return self.now


class Slow(SKLR):
    clock = Clock()

    def fit(self, X, y):  # type: ignore[no-untyped-def]
        self.clock.now += len(y)
        return super().fit(X, y)


def test_it_keeps_to_its_time_and_always_measures_the_first_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planning, "time", Slow.clock)
    learner = Slow("linear", loss="softmax", penalty=1.0, verbose=0)
    told: list[str] = []

    def sizes_within(seconds: float) -> list[tuple[int, int]]:
        found = plan(X, per_person=50, policy="random", sizes=(50, 100, 200, 400), learner=learner, seconds=seconds,
                     progress=told.append)  # fmt: skip
        return [(row.n_answers, row.n_draws) for row in found.rows]

    assert sizes_within(1) == [(50, 1)]
    assert told == ["50 answers, draw 1 of 5; about 1 s more"]
    # 50 + 100 seconds; 200 answers would then take 100 · 2^1.5 = 283 seconds by expectation.
    assert sizes_within(400) == [(50, 4), (100, 2)]
    assert sizes_within(434) == [(50, 3), (100, 1), (200, 1)]


def test_what_reaches_an_agreement() -> None:
    rows = (Row(50, 1, 0.5, 0.4, 0.6, 5), Row(100, 2, 0.75, 0.75, 0.75, 1))
    found = Plan(rows, 0.4, 0.83, ("It is so.",))
    assert (found.reaches(0.625), found.reaches(0.8)) == (75, None)
    assert (found.reaches(0.4), found.reaches(0.41)) == (0, 50)
    assert str(found).splitlines() == [
        "answers  people  agreement",
        "      0          40%",
        "     50       1  50% (40% to 60%)",
        "    100       2  75%",
        "No model can agree with more than 83%, because of the guesses.",
        "Assumed:",
        "- It is so.",
    ]


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"per_person": 0}, "per_person"),
        ({"noise": 1.0}, "noise"),
        ({"dimensions": 0}, "dimensions"),
        ({"sizes": ()}, "sizes"),
        ({"draws": 0}, "draws"),
        ({"seconds": 0}, "seconds"),
        ({"policy": "clever"}, "policy"),
    ],
)
def test_what_cannot_be_meant_is_named(wrong: dict[str, object], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        plan(X, **{"per_person": 50, **wrong})  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="n_items"):
        plan(None, per_person=50)
