"""Held-out answers choose the penalty and say what learning gains."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_wine

from oddkernel import SKLR, Comparisons
from oddkernel.learning.recipe import Recipe
from oddkernel.learning.tuning import Trial, Tuning


@pytest.mark.slow
def test_clean_answers_are_worth_learning_from(wine) -> None:
    X, y = wine
    model = SKLR("linear", penalty="auto", random_state=0).fit(X, Comparisons.from_labels(y, 300, random_state=0))
    assert model.penalty_ > 0
    assert model.tuning_.gain_interval[0] > 0
    assert model.tuning_.trials[0].penalty == 0
    assert "better" in str(model.tuning_)
    fresh = Comparisons.from_labels(y, 1000, random_state=1)
    assert model.score(X, fresh) > SKLR("linear", penalty=0).fit(X, fresh).score(X, fresh)


@pytest.mark.slow
def test_answers_that_mean_nothing_leave_the_kernel_alone(wine) -> None:
    """The tests have a level of 5%: of ten draws one may seem to mean something."""
    X, _ = wine
    fresh = Comparisons.from_labels(load_wine().target, 1000, random_state=1)
    before = SKLR("linear", penalty=0).fit(X).score(X, fresh)
    learned = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        said = Comparisons.odd_one_out([rng.permutation(len(X))[:3] for _ in range(120)], rng.integers(0, 3, 120))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = SKLR("linear", penalty="auto", random_state=0).fit(X, said)
        told = any("don't support a change" in str(each.message) for each in caught)
        assert told == (model.penalty_ == 0)
        assert model.penalty_ or model.score(X, fresh) == pytest.approx(before, abs=0.03)
        learned += bool(model.penalty_)
    assert learned <= 1


@pytest.mark.slow
def test_noise_calls_for_a_smaller_penalty_or_a_likelihood(wine) -> None:
    X, y = wine
    said = Comparisons.from_labels(y, 300, noise=0.35, random_state=0)
    fresh = Comparisons.from_labels(y, 1000, random_state=1)
    paper = SKLR("linear", penalty=1e5, random_state=0).fit(X, said)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # either verdict will do: it is the comparison that counts
        tuned = SKLR("linear", penalty="auto", random_state=0).fit(X, said)
    assert tuned.score(X, fresh) > paper.score(X, fresh) + 0.03


def test_too_few_answers_choose_nothing(wine) -> None:
    X, y = wine
    model = SKLR("linear", penalty="auto").fit(X, Comparisons.from_labels(y, 20, random_state=0))
    assert model.tuning_ is None
    assert model.penalty_ == 10.0


@pytest.mark.slow
def test_the_result_does_not_depend_on_the_units_of_a_precomputed_kernel(wine) -> None:
    X, y = wine
    said = Comparisons.from_labels(y, 80, noise=0.1, random_state=0)
    K = X @ X.T
    small, large = (SKLR("precomputed", penalty="auto", tol=1e-9, random_state=0).fit(c * K, said) for c in (1e-3, 1e3))
    assert small.loss_ == large.loss_
    assert large.kernel_matrix(1e3 * K) == pytest.approx(1e6 * small.kernel_matrix(1e-3 * K), rel=1e-4, abs=1e-2)


@pytest.mark.parametrize("loss", ["squared", "hinge", "logistic", "softmax"])
def test_weight_two_is_the_answer_doubled(wine, loss: str) -> None:
    X, y = wine
    said = Comparisons.from_labels(y, 30, noise=0.2, random_state=0)
    heavy = Comparisons.odd_one_out(said.shown, said.odd, weight=2.0)
    settings = {"loss": loss, "penalty": 1.0, "tol": 1e-10}
    doubled = SKLR("linear", **settings).fit(X, said + said).kernel_matrix(X)
    assert SKLR("linear", **settings).fit(X, heavy).kernel_matrix(X) == pytest.approx(doubled, rel=1e-6, abs=1e-6)


@pytest.mark.slow
def test_probabilities_are_calibrated(wine) -> None:
    X, y = wine
    said = Comparisons.from_labels(y, 400, noise=0.3, random_state=0)
    model = SKLR("linear", penalty="auto", random_state=0).fit(X, said)
    fresh = Comparisons.from_labels(y, 4000, noise=0.3, random_state=1)
    p = model.odd_one_proba(X, fresh.shown)
    assert p.sum(axis=1) == pytest.approx(1.0)
    assert p[:, :3].argmax(axis=1).tolist() == model.odd_one(X, fresh.shown).tolist()
    sure = p.max(axis=1)
    right = p.argmax(axis=1) == fresh.odd
    assert abs(sure.mean() - right.mean()) < 0.08


@pytest.mark.slow
def test_noisy_answers_keep_the_dimensions_that_predict(wine) -> None:
    X, y = wine
    said = Comparisons.from_labels(y, 400, noise=0.3, random_state=0)
    model = SKLR("linear", random_state=0).fit(X, said)
    assert model.rank_ == model.tuning_.rank < model.features_.rank
    assert model.transform(X).shape == (len(X), model.rank_)
    assert np.linalg.matrix_rank(model.metric_) == model.rank_
    # The same optimum with all of its dimensions predicts new answers worse.
    settings = {"loss": model.loss_, "ratio": model.ratio_, "penalty": model.tuning_.penalties}
    whole = SKLR("linear", **settings).fit(X, said)
    fresh = Comparisons.from_labels(y, 4000, noise=0.3, random_state=1)
    assert whole.rank_ == model.features_.rank
    assert model.score(X, fresh) > whole.score(X, fresh) + 0.01
    # What is kept is where the optimum puts the items farthest apart.
    spread = np.linalg.eigvalsh(np.cov(whole.transform(X).T, bias=True))[::-1]
    assert np.linalg.eigvalsh(np.cov(model.transform(X).T, bias=True))[::-1] == pytest.approx(
        spread[: model.rank_], rel=1e-4
    )


@pytest.mark.slow
def test_a_second_round_is_tried_and_kept_only_if_it_helps(wine) -> None:
    X, y = wine
    model = SKLR("linear", random_state=0).fit(X, Comparisons.from_labels(y, 200, noise=0.2, random_state=0))
    rounds = [trial for trial in model.tuning_.trials if len(trial.penalties) == 2]
    assert rounds
    assert len({trial.penalties[0] for trial in rounds}) == 1
    best = max(trial.log_likelihood for trial in model.tuning_.trials)
    chosen = next(trial for trial in model.tuning_.trials if trial.penalties == model.tuning_.penalties)
    assert chosen.log_likelihood >= best - 0.05
    assert model.penalty_ == model.tuning_.penalty == chosen.penalty


@pytest.mark.slow
def test_plenty_of_answers_may_add_a_part_of_the_identity() -> None:
    rng = np.random.default_rng(0)
    _, said = placed(rng, 12, 400)
    features = rng.normal(size=(12, 3))  # they say nothing
    model = SKLR(random_state=0).fit(features, said)
    kernels = ["adaptive", "adaptive + 0.5 identity", "adaptive + 3 identity"]
    assert {trial.recipe.kernel for trial in model.tuning_.trials} == set(kernels)
    assert model.tuning_.recipe.kernel in kernels[1:]
    few = SKLR(random_state=0).fit(features, said[:150])
    assert {trial.recipe.kernel for trial in few.tuning_.trials} == set(kernels[:2])
    assert model.tuning_.gain_interval[0] > 0.2
    assert model.solution_.gain == model.tuning_.gain
    assert model.embed(features, 2).shape == (12, 2)
    assert model.embed(features).shape == (12, model.tuning_.dimension)
    assert model.tuning_.dimension <= 5
    assert model.embed(features, 12)[:, :2] == pytest.approx(model.embed(features, 2))


def placed(rng: np.random.Generator, n_items: int, n_answers: int) -> tuple[np.ndarray, Comparisons]:
    """Items in a plane, and noisy answers about them."""
    hidden = rng.normal(size=(n_items, 2))
    shown = np.array([rng.permutation(n_items)[:3] for _ in range(n_answers)])
    sides = np.stack([np.square(hidden[shown[:, p - 1]] - hidden[shown[:, p - 2]]).sum(axis=1) for p in range(3)], 1)
    noisy = sides + rng.gumbel(size=sides.shape)
    return np.arange(n_items)[:, None], Comparisons.odd_one_out(shown, noisy.argmin(axis=1))


def test_a_large_softness_learns_few_dimensions() -> None:
    items, said = placed(np.random.default_rng(0), 20, 600)

    def spread_over(softness: float) -> float:
        model = SKLR("identity", rank=None, loss="softmax", penalty=0.1 * softness / 0.3, softness=softness)
        share = np.linalg.eigvalsh(model.fit(items, said).kernel_matrix(items))
        share = share / share.sum()
        return float(1.0 / np.square(share).sum())

    stiff, soft = spread_over(0.3), spread_over(3.0)
    assert soft < 0.7 * stiff


@pytest.mark.slow
def test_held_out_answers_may_choose_a_large_softness() -> None:
    items, said = placed(np.random.default_rng(1), 30, 900)
    known, fresh = said[:600], said[600:]
    model = SKLR("identity", random_state=0).fit(items, known)
    assert model.softness_ == model.tuning_.recipe.softness == 3.0
    stiff = SKLR("identity", softness=0.3, random_state=0).fit(items, known)
    assert {trial.recipe.softness for trial in stiff.tuning_.trials} == {0.3} == {stiff.softness_}
    assert model.score(items, fresh) > stiff.score(items, fresh)
    settings = {"loss": model.loss_, "penalty": model.tuning_.penalties, "softness": model.softness_}
    again = SKLR("identity", **settings).fit(items, known)
    assert again.solution_.multipliers == pytest.approx(model.solution_.multipliers, rel=1e-6)


@pytest.mark.slow
def test_a_question_asked_often_counts_once_in_choosing(wine) -> None:
    X, y = wine
    said = Comparisons.from_labels(y, 120, noise=0.1, random_state=0)
    often = Comparisons.odd_one_out([said.shown[0]] * 200, [(said.odd[0] + 1) % 3] * 200)
    once = SKLR("linear", random_state=0).fit(X, said).tuning_
    sway = SKLR("linear", random_state=0).fit(X, said + often).tuning_
    assert sway.start == pytest.approx(once.start, abs=0.02)
    low, high = sway.gain_interval
    assert high - low > 0.5 * (once.gain_interval[1] - once.gain_interval[0])


@pytest.mark.slow
def test_the_path_can_be_drawn(wine) -> None:
    pytest.importorskip("matplotlib").use("agg")
    X, y = wine
    tuning = SKLR("linear", random_state=0).fit(X, Comparisons.from_labels(y, 60, random_state=0)).tuning_
    axes = tuning.plot()
    assert axes.get_xscale() == "log"
    for line in axes.get_lines():
        assert (np.diff(line.get_xdata()) >= 0).all()  # a path ascends, in whatever order it was tried
    assert any("softmax" in text.get_text() for text in axes.get_legend().get_texts())


def tuned(gain: float, error: float, penalties: tuple[float, ...] = (10.0,)) -> Tuning:
    """A choice between nothing, one round and two, with this gain."""
    recipe = Recipe("adaptive", "softmax", 1.0, 0.0)
    trials = [
        Trial(recipe, (0.0,), 0.6, 0.02, -0.9, 5),
        Trial(recipe, (1.0,), 0.61, 0.02, -0.85, 5),
        Trial(recipe, (10.0,), 0.6 + gain, 0.02, -0.8, 3),
        Trial(recipe, (10.0, 5.0), 0.6, 0.02, -0.81, 3),
        Trial(recipe, (100.0,), 0.9, 0.02, -0.1, 3, solved=False),
    ]
    interval = gain - 2 * error, gain + 2 * error
    return Tuning(recipe, penalties, tuple(trials), 0.6, gain, interval, 1.0, 0.0, 0.0, ((3, -0.8),), 3, 3)


def test_the_sentence_follows_the_numbers() -> None:
    assert tuned(0.1, 0.02).sentence.startswith("Learning predicts held-out answers better: 0.600 +0.100 (95%")
    for gain in (-0.013, 0.01):
        assert "better" not in tuned(gain, 0.02).sentence
        assert "is open: 0.600" in tuned(gain, 0.02).sentence
    assert "agrees with fewer" in tuned(-0.1, 0.02).sentence
    assert "+0.000" not in tuned(0.0, 0.0, (0.0,)).sentence
    assert "don't support a change" in tuned(0.0, 0.0, (0.0,)).sentence


def test_a_choice_prints_as_a_short_table() -> None:
    sentence, empty, head, *rows, mark = str(tuned(0.1, 0.02)).splitlines()
    assert (sentence, empty, mark) == (tuned(0.1, 0.02).sentence, "", "* chosen")
    assert head.split() == ["kernel", "loss", "penalty", "dimensions", "agreement", "log-likelihood"]
    assert [row.split("  ")[0] for row in rows] == ["*", "", ""]  # the best of each, without the unsolved one
    assert rows[0].split() == [
        "*",
        "adaptive",
        "softmax,",
        "softness",
        "0.3",
        "10",
        "3",
        "0.700",
        "±",
        "0.020",
        "-0.800",
    ]
    assert "10, 5" in rows[1]
    assert "nothing learned" in rows[2]
    assert str(tuned(0.0, 0.0, (0.0,))).splitlines()[-2].startswith("*")
