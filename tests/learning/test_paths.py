"""The settings that are tried along paths of penalties."""

from __future__ import annotations

import re
import threading
import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_digits
from threadpoolctl import threadpool_info, threadpool_limits

from oddkernel import SKLR, Comparisons
from oddkernel.learning import fold_fits, folds, learn, paths, sklr, trials
from oddkernel.learning.paths import path_of, tune
from oddkernel.learning.recipe import Recipe
from oddkernel.learning.trials import WORTHWHILE, Trials, _Prediction
from oddkernel.learning.tuning import Trial
from oddkernel.problem.losses import LOSSES
from oddkernel.problem.solution import Status


@pytest.mark.parametrize("loss", LOSSES)
def test_a_path_grows_and_is_in_the_unit_of_its_loss(loss: str) -> None:
    path = path_of(loss, 1.0, 0.5)
    assert np.log10(path[[0, -1]]).tolist() == pytest.approx(LOSSES[loss].penalties)
    assert np.diff(np.log10(path)) == pytest.approx(0.5)
    # Squared slack counts squared distances twice, hinges once, likelihoods have no unit.
    power = {"squared": 2, "hinge": 1, "logistic": 0, "softmax": 0}[loss]
    assert path_of(loss, 10.0, 0.5) == pytest.approx(path / 10.0**power)


@pytest.mark.parametrize("unsolved", ["some", "all"])
def test_fits_that_were_not_solved_are_never_chosen(unsolved: str, monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.random.default_rng(0).normal(size=(40, 3))
    said = Comparisons.from_labels((X[:, 0] > 0).astype(int), 80, random_state=0)
    chosen = SKLR("linear", loss="squared").fit(X, said).tuning_
    assert all(trial.solved for trial in chosen.trials)

    def failing(phi, said, recipe, penalties, **options):
        learned = learn(phi, said, recipe, penalties, **options)
        worst = unsolved == "all" or penalties[0] == pytest.approx(chosen.penalties[0])
        status = Status.EXHAUSTED if worst else learned.solution.status
        return replace(learned, solution=replace(learned.solution, status=status))

    monkeypatch.setattr(fold_fits, "learn", failing)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        found = SKLR("linear", loss="squared").fit(X, said).tuning_
    assert not all(trial.solved for trial in found.trials)
    assert all(trial.solved for trial in found.trials if trial.penalties == found.penalties)
    assert found.penalties[0] != chosen.penalties[0]


def test_what_the_first_folds_put_behind_is_not_tried_on_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.random.default_rng(0).normal(size=(60, 3))
    said = Comparisons.from_labels((X[:, 0] > 0).astype(int), 300, random_state=0)
    fits: list[tuple[str, float]] = []

    def counted(phi, said, recipe, penalties, **options):
        fits.append((recipe.loss, penalties[0]))
        return learn(phi, said, recipe, penalties, **options)

    monkeypatch.setattr(fold_fits, "learn", counted)
    tuning = SKLR("linear").fit(X, said).tuning_
    judged = {trial.n_answers for trial in tuning.trials}
    assert judged == {60, 120, 300}  # one fold of five holds 30 answers, two hold 100, or all judge
    for trial in tuning.trials[1:]:
        assert fits.count((trial.recipe.loss, trial.penalty)) >= {60: 1, 120: 2, 300: 5}[trial.n_answers]
    assert len(fits) < 3 * (len(tuning.trials) - 1)
    chosen = next(trial for trial in tuning.trials if trial.penalties == tuning.penalties)
    assert chosen.n_answers == 300
    behind = [trial.log_likelihood for trial in tuning.trials if trial.n_answers == 120]
    assert max(behind) <= chosen.log_likelihood + WORTHWHILE
    standard = tuning.trials[1].log_likelihood
    assert all(trial.log_likelihood < standard for trial in tuning.trials if trial.n_answers == 60)


def test_few_answers_judge_every_trial_with_a_prospect() -> None:
    X = np.random.default_rng(0).normal(size=(30, 3))
    said = Comparisons.from_labels((X[:, 0] > 0).astype(int), 60, random_state=0)
    tuning = SKLR("linear").fit(X, said).tuning_
    assert {trial.n_answers for trial in tuning.trials} == {
        37,
        60,
    }  # three folds hold 30 answers, and all fewer than 100


def test_folds_in_threads_leave_blas_one_thread_and_one_alone_has_all(monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.random.default_rng(0).normal(size=(30, 3))
    said = Comparisons.from_labels((X[:, 0] > 0).astype(int), 60, random_state=0)
    judge, seen = Trials.judge, {True: set(), False: set()}

    def watched(*arguments, **options):
        alone = threading.current_thread() is threading.main_thread()
        seen[alone].update(each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas")
        return judge(*arguments, **options)

    monkeypatch.setattr(Trials, "judge", watched)
    monkeypatch.setattr(paths, "workers", lambda phis: 2)
    with threadpool_limits(2, user_api="blas"):
        SKLR("linear", loss="squared").fit(X, said)
    assert seen[False] == {1}
    assert 2 in seen[True]


def test_progress_says_which_step_of_how_many() -> None:
    X = np.random.default_rng(0).normal(size=(40, 3))
    said = Comparisons.from_labels((X[:, 0] > 0).astype(int), 200, random_state=0)
    recipes, heard = [Recipe("linear", loss, LOSSES[loss].ratio, 0.0) for loss in ("squared", "softmax")], []
    covariances = {"linear": np.cov(X.T)}
    tune({"linear": X}, covariances, said, recipes, random=np.random.RandomState(0), progress=heard.append)
    steps = [tuple(map(int, re.findall(r"step (\d+) of at most (\d+)", each)[0])) for each in heard]
    numbers = [number for number, _ in steps]
    assert numbers == sorted(set(numbers))
    # 6 penalties for each loss, 2 between, 2 for a second round; after each of the three the best is confirmed
    assert {most for _, most in steps} == {12 + 1 + 2 + 1 + 2 + 1}
    assert numbers[0] == 1
    assert numbers[-1] <= 19
    assert any("confirming linear kernel" in each for each in heard)
    assert "trying linear kernel, squared, penalty" in heard[0]


def test_the_search_starts_at_the_standard_penalty_and_below() -> None:
    X = np.random.default_rng(0).normal(size=(40, 3))
    said = Comparisons.from_labels((X[:, 0] > 0).astype(int), 200, noise=0.1, random_state=1)
    _, standard, *others = SKLR("linear", loss="squared").fit(X, said).tuning_.trials
    assert standard.n_answers == 200  # all folds judge it
    tried = [round(np.log10(10.0 * trial.penalty / standard.penalty), 1) for trial in others]
    assert tried[:2] == [-1.0, -2.0]  # with many errors the best penalty may be far below
    assert not {0.0, 3.0} <= set(tried)  # neither way is gone to its end


def test_clean_answers_keep_the_standard_recipe() -> None:
    X = np.random.default_rng(0).normal(size=(60, 3))
    said = Comparisons.from_labels((X[:, 0] > 0).astype(int), 80, random_state=1)
    tuning = SKLR("linear").fit(X, said).tuning_
    best = max(tuning.trials, key=lambda trial: trial.log_likelihood)
    chosen = next(trial for trial in tuning.trials if trial.penalties == tuning.penalties)
    assert (chosen is tuning.trials[1]) or chosen.log_likelihood > tuning.trials[1].log_likelihood + WORTHWHILE
    assert best.log_likelihood >= chosen.log_likelihood


def test_folds_in_threads_lead_to_the_same_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.random.default_rng(0).normal(size=(60, 3))
    said = Comparisons.from_labels((X[:, 0] > 0).astype(int), 150, noise=0.1, random_state=0)
    one = SKLR("linear").fit(X, said).tuning_
    monkeypatch.setattr(paths, "workers", lambda phis: 3)
    assert SKLR("linear").fit(X, said).tuning_ == one


def test_a_trial_has_a_prospect_unless_a_lead_in_the_end_is_unlikely(monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.random.default_rng(0).normal(size=(40, 3))
    said = Comparisons.from_labels((X[:, 0] > 0).astype(int), 200, random_state=0)
    held_out = np.split(np.arange(200), 5)
    tried = Trials({"linear": X}, {"linear": np.cov(X.T)}, said, held_out)
    recipe = Recipe("linear", "squared", 4.0, 0.0)
    for penalty, judging in ((0.0, 5), (10.0, 5), (1.0, 1)):
        tried.enter(recipe, (penalty,), [tried.judge("linear", np.eye(3), fold) for fold in range(judging)])
    # 40 of 200 answers judged it: the lead is known up to error·√0.8, and must exceed error·√0.2.
    least = np.sqrt(0.2) - 1.645 * np.sqrt(0.8)
    for lead, able in ((least + 0.01, True), (least - 0.01, False)):
        monkeypatch.setattr(tried, "ahead", lambda number, of, lead=lead: (lead * 0.1, 0.1))
        assert tried.has_prospect(2, 1) is able
    # So it is: leads that are drawn from a normal distribution rarely turn out well from there.
    rng = np.random.default_rng(0)
    first, rest = rng.normal(size=(20_000, 40)), rng.normal(size=(20_000, 160))
    by = np.hstack([first, rest])
    ended_ahead = by.mean(axis=1) > by.std(axis=1) / np.sqrt(200)
    dropped = first.mean(axis=1) < least * first.std(axis=1) / np.sqrt(40)
    assert dropped.mean() > 0.1
    assert ended_ahead[dropped].mean() < 0.05


def test_the_best_of_what_is_ahead_of_the_standard_recipe_is_confirmed() -> None:
    X = np.random.default_rng(0).normal(size=(40, 3))
    said = Comparisons.from_labels((X[:, 0] > 0).astype(int), 600, random_state=0)
    tried = Trials({"linear": X}, {"linear": np.cov(X.T)}, said, np.split(np.arange(600), 5))
    recipe = Recipe("linear", "squared", 4.0, 0.0)
    # What does not matter shrinks by these factors; the first two trials are judged by all folds.
    for number, shrunk in enumerate([1.0, 1.0, 0.1, 0.12, 0.9]):
        root, folds = np.diag([1.0, shrunk, shrunk]), range(5 if number < 2 else 1)
        tried.enter(recipe, (float(number),), [tried.judge("linear", root, fold) for fold in folds])
    assert all(tried.ahead(n, 1)[0] > WORTHWHILE for n in (2, 3, 4))  # ahead of the standard recipe on the first fold
    assert tried.promising() == 2
    assert not tried.predictions[3].judged
    assert not tried.predictions[4].judged


def many(monkeypatch: pytest.MonkeyPatch) -> tuple[np.ndarray, Comparisons]:
    """Items and answers for which every fit counts as expensive, and both kernels are tried."""
    monkeypatch.setattr(folds, "MANY", 900)
    monkeypatch.setattr(folds, "FEW_ITEMS", 20)
    monkeypatch.setattr(sklr, "MANY", 900)
    monkeypatch.setattr(paths, "MANY", 900)
    rng = np.random.default_rng(0)
    X, own = rng.normal(size=(40, 4)), rng.normal(size=(40, 4))
    shown = np.array([rng.choice(40, 3, replace=False) for _ in range(2000)])
    places = np.hstack([X[:, :2], own])
    sides = [np.square(places[shown[:, p - 1]] - places[shown[:, p - 2]]).sum(axis=1) for p in range(3)]
    odd = (0.5 * np.stack(sides, axis=1) + rng.gumbel(size=(2000, 3))).argmin(axis=1)
    return X, Comparisons.odd_one_out(shown, odd)


def test_where_fits_are_expensive_one_path_is_climbed_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    X, said = many(monkeypatch)
    found = SKLR(random_state=0).fit(X, said).tuning_
    first = [trial for trial in found.trials if len(trial.penalties) == 1 and trial.penalty]
    kernels = [trial.recipe.kernel for trial in first]
    assert kernels == sorted(kernels, key=kernels.index)  # all trials of one kernel come before those of the next
    alone, mixed = ([t for t in first if t.recipe.kernel == kernel] for kernel in dict.fromkeys(kernels))
    assert alone[0].penalty == pytest.approx(0.1)  # the standard recipe
    assert mixed[0].penalty == max(alone, key=lambda trial: trial.log_likelihood).penalty
    # All penalties on all paths lead to the same choice.
    monkeypatch.setattr(trials, "BEYOND", np.inf)
    every = SKLR(random_state=0).fit(X, said).tuning_
    assert len(every.trials) >= len(found.trials)
    assert (every.recipe, every.penalties) == (found.recipe, found.penalties)
    # Where whatever is behind counts as hopeless, the second path has no neighbours left to try.
    monkeypatch.setattr(trials, "BEYOND", 0.0)
    fewest = SKLR(random_state=0).fit(X, said).tuning_
    assert len(fewest.trials) < len(every.trials)
    assert next(trial.penalty for trial in fewest.trials if trial.recipe.kernel == kernels[-1]) == mixed[0].penalty


def test_learning_from_all_answers_starts_with_multipliers_for_those_held_out(monkeypatch: pytest.MonkeyPatch) -> None:
    X, said = many(monkeypatch)
    given: list[np.ndarray] = []

    def noted(phi, rows, recipe, penalties, **options):
        learned = learn(phi, rows, recipe, penalties, **options)
        if not options.get("rough"):
            given.append(options["starts"][0] / learned.multipliers[0])
        return learned

    monkeypatch.setattr(sklr, "learn", noted)
    SKLR(random_state=0).fit(X, said)
    # With their mean in place of what the metric says of those held out, it would be 1.8.
    assert np.quantile(np.abs(np.log(given[0])), 0.95) < 1.0


def noisy(n_items: int, n_features: int, n: int, noise: float) -> tuple[np.ndarray, Comparisons]:
    """Items, and answers of which a share is wrong."""
    X = np.random.default_rng(0).normal(size=(n_items, n_features))
    return X, Comparisons.from_labels((X[:, 0] > 0).astype(int), n, noise=noise, random_state=0)


@pytest.mark.parametrize("beyond", [3.0, np.inf])
def test_the_other_folds_judge_the_standard_recipe_unless_another_is_ahead_beyond_doubt(
    beyond: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, said = noisy(60, 3, 900, 0.4)
    monkeypatch.setattr(trials, "BEYOND", beyond)
    found = SKLR("adaptive", random_state=0).fit(X, said).tuning_
    assert found.penalties != found.trials[1].penalties
    assert found.trials[1].n_answers == (302 if beyond < np.inf else 900)


def test_the_standard_recipe_is_chosen_where_what_was_ahead_is_not_solved(monkeypatch: pytest.MonkeyPatch) -> None:
    X, said = noisy(100, 8, 900, 0.3)
    standard = SKLR("linear", random_state=0).fit(X, said).tuning_.trials[1]
    fits: dict[tuple[str, float], int] = {}

    def failing(phi, rows, recipe, penalties, **options):
        learned = learn(phi, rows, recipe, penalties, **options)
        key = recipe.loss, penalties[0]
        fits[key] = fits.get(key, 0) + 1
        worse = key != (standard.recipe.loss, standard.penalty) and fits[key] > 1  # on the folds that confirm
        return replace(learned, solution=replace(learned.solution, status=Status.EXHAUSTED)) if worse else learned

    monkeypatch.setattr(trials, "BEYOND", 0.0)
    monkeypatch.setattr(fold_fits, "learn", failing)
    found = SKLR("linear", random_state=0).fit(X, said).tuning_
    assert any(not trial.solved for trial in found.trials)
    assert found.trials[1].n_answers == 900
    assert (found.recipe, found.penalties) == (standard.recipe, standard.penalties)


def test_folds_judge_a_trial_in_their_order_wherever_it_is_confirmed(monkeypatch: pytest.MonkeyPatch) -> None:
    X, said = noisy(100, 8, 200, 0.3)
    enter = Trials.enter

    def watched(tried, recipe, penalties, judged, **options):
        sizes = [each.sides.shape[1] for each in judged]
        assert sizes == [len(out) for out in tried.held_out[: len(judged)]]
        return enter(tried, recipe, penalties, judged, **options)

    monkeypatch.setattr(Trials, "enter", watched)
    monkeypatch.setattr(Trials, "has_prospect", lambda *_: False)  # what is confirmed was judged once
    held_out = [np.arange(40), np.arange(40, 81), np.arange(81, 123), np.arange(123, 166), np.arange(166, 200)]
    monkeypatch.setattr(paths, "folds_of", lambda *_: held_out)
    found = SKLR("linear", random_state=0).fit(X, said).tuning_
    assert {trial.n_answers for trial in found.trials[2:]} == {40, 123, 200}  # 123: tried alone


def by_classes_and_groups() -> tuple[np.ndarray, Comparisons]:
    """150 digits of six classes, and 150 answers each by class and by parity."""
    X, y = load_digits(return_X_y=True)
    rows = np.random.default_rng(0).permutation(np.flatnonzero(y < 6))[:150]
    said = [Comparisons.from_labels(each[rows], 150, random_state=0) for each in (y, y % 2)]
    return X[rows], said[0] + said[1]


def test_other_ratios_are_tried_and_kept_where_they_predict_better(monkeypatch: pytest.MonkeyPatch) -> None:
    X, said = by_classes_and_groups()
    assert SKLR(loss="squared", random_state=0).fit(X, said).tuning_.recipe.ratio <= 2.0  # several resolutions
    monkeypatch.setattr(sklr, "several_resolutions", lambda said: False)
    tuning = SKLR(loss="squared", random_state=0).fit(X, said).tuning_
    assert {trial.recipe.ratio for trial in tuning.trials} == {4.0, 2.0, 1.0}
    assert tuning.recipe.ratio == 2.0
    assert {trial.recipe.ratio for trial in SKLR(ratio=3.0).fit(X, said).tuning_.trials} == {3.0}


def test_many_answers_about_many_items_leave_the_ratio_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "RATIOED", 299)
    monkeypatch.setattr(paths, "FEW_ITEMS", 100)
    monkeypatch.setattr(sklr, "several_resolutions", lambda said: False)
    X, said = by_classes_and_groups()
    assert {trial.recipe.ratio for trial in SKLR(loss="squared").fit(X, said).tuning_.trials} == {4.0}


@pytest.mark.parametrize(("best", "kept"), [(0.0, 3), (0.4, 2), (0.8, 1)])
def test_the_most_dimensions_close_to_the_best_are_kept(best: float, kept: int) -> None:
    """All three where nothing is ahead by two standard errors; else the most within one of the best."""
    tried, noise = Trials.__new__(Trials), np.random.default_rng(0).normal(size=100)
    tried.decided = Comparisons.odd_one_out(np.tile([0, 1, 2], (100, 1)), np.zeros(100, dtype=int))
    tried.question = np.arange(100)
    noise -= noise.mean()
    assert tried._rank({1: noise + best, 2: 2.0 * noise + 0.35, 3: np.zeros(100)}) == kept


@pytest.mark.parametrize(("errors", "rounds"), [(1.9, 1), (2.1, 2)])
def test_a_second_round_must_be_ahead_by_two_standard_errors(errors: float, rounds: int) -> None:
    """Trials whose leads are set by hand: the initial kernel, the standard recipe, and a second round after it."""
    rng = np.random.default_rng(0)
    noise = rng.normal(size=100)
    noise -= noise.mean()
    lead = noise + errors * np.linalg.norm(noise) / 100
    found = [np.zeros(100), np.full(100, 0.5), 0.5 + lead]
    tried = Trials.__new__(Trials)
    recipe = Recipe("linear", "squared", 4.0, 0.0)
    penalties = (0.0,), (10.0,), (10.0, 5.0)
    tried.trials = [
        Trial(recipe, each, 0.5, 0.1, values.mean(), 3) for each, values in zip(penalties, found, strict=True)
    ]
    tried.predictions = [_Prediction((), np.empty(0), np.empty(0), values, 3, {}) for values in found]
    tried.decided = Comparisons.odd_one_out(np.tile([0, 1, 2], (100, 1)), np.zeros(100, dtype=int))
    tried.question = np.arange(100)
    assert len(tried.trials[tried.preferred([1, 2])].penalties) == rounds


@pytest.mark.parametrize("decided", [1, 2, 4])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_many_people_may_have_answered_fewer_questions_than_there_are_folds(decided: int) -> None:
    """A fold without a decided answer once ended in a division by zero."""
    rng = np.random.default_rng(decided)
    X = rng.normal(size=(30, 3))
    asked, others = (np.array([rng.permutation(30)[:3] for _ in range(n)]) for n in (decided, 100))
    shown = np.concatenate([np.repeat(asked, 60, axis=0), others])
    odd = np.concatenate([np.repeat(rng.integers(0, 3, decided), 60), np.full(100, -1)])
    tuning = SKLR("linear").fit(X, Comparisons.odd_one_out(shown, odd)).tuning_
    assert tuning is not None
    assert tuning.trials[0].n_answers == 60 * decided
