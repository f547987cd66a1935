"""Whatever comes in: an error or a warning that names the rows, or a kernel that is one; never a half-fitted model."""

from __future__ import annotations

import pickle
import signal
import subprocess
import sys
import time
import warnings

import numpy as np
import pytest
from comparison_strategies import comparisons
from hypothesis import given
from hypothesis import strategies as st
from properties import examples
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from oddkernel import SKLR, Comparisons, ContradictionError, KernelKMeans
from oddkernel.comparisons import RowError
from oddkernel.kernels import Gaussian, Identity, Linear
from oddkernel.problem.constraints import Constraints
from oddkernel.problem.solution import Status
from oddkernel.solvers import Ascent, Newton

X = np.random.default_rng(0).normal(size=(12, 3))
SAID = Comparisons.odd_one_out([[0, 1, 2], [3, 4, 5], [6, 7, 8]], [0, -1, 2])


# Comparisons and labels


@pytest.mark.parametrize(
    ("build", "row", "message"),
    [
        (
            lambda: Comparisons.odd_one_out([[0, 1, 2], [3, 4, 12]], [0, 1]),
            1,
            "index 12 is out of range; expected 0 to 11",
        ),
        (lambda: Comparisons.must_link([[0, 1], [2, 99]]), 1, "index 99 is out of range; expected 0 to 11"),
        (lambda: Comparisons.odd_one_out([[0, 1, 2], [3, -4, 5]], [0, 1]), 1, "negative index; expected"),
        (
            lambda: Comparisons.odd_one_out([[0, 1, 2], [3, 3, 5]], [0, 1]),
            1,
            "repeats an item, 3; expected different items",
        ),
        (lambda: Comparisons.closer([0, 3], [1, 4], [2, 3]), 1, "repeats an item, 3; expected different items"),
        (lambda: Comparisons.odd_one_out([[0, 1, 2], [3, 4, 5]], [0, 3]), 1, "answer 3; expected 0, 1 or 2"),
        (lambda: Comparisons.odd_one_out([[0, 1, 2], [3, 4, 5]], [0, -2]), 1, "-1 for can't tell"),
        (lambda: Comparisons.odd_one_out([[0, 1, 2], [3, 4, 5]], [0, np.nan]), 1, "-1 for can't tell"),
        (
            lambda: Comparisons.odd_one_out([[0, 1, 2], [3, 4, 5]], [0, 1], weight=[1, 1e-40]),
            1,
            "weight 1e-40; expected",
        ),
        (lambda: Comparisons.must_link([[0, 1], [3, 4]], [0.1, 1e40]), 1, "bound 1e\\+40; expected"),
        (lambda: np.r_[np.zeros(6), np.nan, np.ones(5)], 6, "label nan in y; expected a whole number or text"),
        (lambda: np.r_[np.zeros(6), 0.5, np.ones(5)], 6, "label 0.5 in y; expected a whole number or text"),
    ],
)
def test_what_was_said_is_refused_by_row(build, row, message):
    with pytest.raises(RowError, match=message) as error:
        SKLR().fit(X, build())
    assert error.value.row == row
    assert str(error.value).startswith(f"row {row}: ")


def test_masked_values_are_not_taken_for_real_ones():
    masked = np.ma.masked_array(X, mask=np.arange(X.size).reshape(X.shape) == 7)
    model = SKLR(penalty=1.0).fit(X, SAID)
    for use in (
        lambda: SKLR().fit(masked, SAID),
        lambda: model.transform(masked),
        lambda: Linear().fit(masked),
        lambda: KernelKMeans(2).fit(np.ma.masked_array(X @ X.T, mask=np.eye(12) * np.arange(12) == 2)),
        lambda: SKLR().fit(X, np.ma.masked_array(np.arange(12) % 2, mask=np.arange(12) == 2)),
        lambda: Comparisons.odd_one_out(np.ma.masked_array([[0, 1, 2]] * 3, mask=np.arange(9).reshape(3, 3) == 7), 0),
        lambda: Comparisons.odd_one_out([[0, 1, 2]] * 3, np.ma.masked_array([0, 1, 2], mask=[False, False, True])),
    ):
        with pytest.raises(
            ValueError, match="row 2: masked, which is missing; expected a value in each row: fill it in"
        ):
            use()
    whole = np.ma.masked_array(X, mask=np.zeros_like(X))
    np.testing.assert_array_equal(SKLR(penalty=1.0).fit(whole, SAID).metric_, model.metric_)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([[0, 1, 2]], r"neither Comparisons .* Comparisons\.odd_one_out\(shown, odd\)"),
        (np.array([[0, 1, 2], [3, 4, 5]]), r"neither Comparisons .* Comparisons\.odd_one_out\(shown, odd\)"),
        ([[0, 1, 2], [3, 4]], r"neither Comparisons .* Comparisons\.odd_one_out\(shown, odd\)"),
        ([0, 1, 2], "3 class labels for 12 items; expected one label an item"),
        (np.zeros(12), "one class; expected at least two"),
        (np.arange(12), "no class in y has two labelled items"),
        (Comparisons.closer([0], [1], [2], items=["a", "b", "c"]), "name 3 items, but there are 12"),
    ],
    ids=["list", "array", "ragged", "too few labels", "one class", "all different", "names"],
)
def test_what_was_said_is_refused_as_a_whole(y, message):
    with pytest.raises(ValueError, match=message):
        SKLR().fit(X, y)


def test_names_of_as_many_items_are_taken():
    said = Comparisons.closer([0], [1], [2], items=[f"item {i}" for i in range(12)])
    assert SKLR().fit(X, said).comparisons_.items == said.items


# Features


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_missing_features_are_named(value):
    spoilt = X.copy()
    spoilt[4, 1] = value
    message = f"row 4, column 1 holds {value}; expected finite numbers: fill it in, or drop the item"
    with pytest.raises(ValueError, match=message):
        SKLR().fit(spoilt, SAID)
    model = SKLR().fit(X, SAID)
    for use in (model.transform, model.kernel_matrix, model.distance, lambda items: model.score(items, SAID)):
        with pytest.raises(ValueError, match=message):
            use(spoilt)


@pytest.mark.parametrize(
    ("kernel", "scale", "message"),
    [
        ("linear", 1e80, "row .*, column .* overflow when they are squared. Rescale the features"),
        ("precomputed", 1e40, "rescale the features, or the precomputed kernel"),
        ("precomputed", 1e-40, "rescale the features, or the precomputed kernel"),
    ],
)
def test_extreme_scales_are_refused(kernel, scale, message):
    with pytest.raises(ValueError, match=message):
        SKLR(kernel).fit((X @ X.T if kernel == "precomputed" else X) * scale, SAID)


@pytest.mark.parametrize(
    ("K", "message"),
    [
        (X, r"square, n × n over the training items; got shape \(12, 3\)"),
        (X @ X.T + np.eye(12, k=1), r"symmetric; entry \(0, 1\) is .* but entry \(1, 0\) is .* give \(K \+ K.T\) / 2"),
        (X @ X.T - np.eye(12), "smallest eigenvalue is -1 .* add 1 or more to the diagonal"),
    ],
    ids=["not square", "not symmetric", "not semidefinite"],
)
def test_matrices_that_are_no_kernel(K, message):
    with pytest.raises(ValueError, match=message):
        SKLR("precomputed").fit(K, SAID)


def test_rounding_is_no_reason_to_refuse_a_kernel():
    noise = np.random.default_rng(1).normal(scale=1e-12, size=(12, 12))
    single = X.astype(np.float32) @ X.T.astype(np.float32)
    for K in (X @ X.T + noise, single):
        assert SKLR("precomputed").fit(K, SAID).solution_.status is Status.OPTIMAL


# Items that can't be told apart


COPIES = np.concatenate([X[:11], X[2:3]])  # item 11 is a copy of item 2


@pytest.mark.parametrize(
    "copied",
    [
        Comparisons.odd_one_out([[2, 5, 11]], [2]),
        Comparisons.closer([2], [5], [11]),
        Comparisons.cannot_link([[2, 11]], at_least=0.5),
    ],
    ids=["odd", "closer", "link"],
)
def test_an_outlier_that_copies_an_inlier_is_named(copied):
    with pytest.warns(UserWarning, match="row 3: the item that should be far is a copy .* Drop these rows, or give"):
        model = SKLR().fit(COPIES, SAID + copied)
    assert model.solution_.status is Status.OPTIMAL
    with pytest.raises(ContradictionError, match="row 3: the item that should be far is a copy") as error:
        SKLR(penalty=np.inf).fit(COPIES, SAID + copied)
    assert error.value.rows == [3]


def test_copies_elsewhere_are_no_trouble():
    fine = Comparisons.odd_one_out([[2, 11, 5], [2, 5, 11]], [2, 1]) + Comparisons.cannot_link([[2, 11]], at_least=0.0)
    fine += Comparisons.must_link([[2, 11]], at_most=0.0)
    assert SKLR(penalty=np.inf, rank=None).fit(COPIES, SAID + fine).solution_.status is Status.OPTIMAL


def test_a_feature_of_their_own_tells_copies_apart():
    copied = Comparisons.odd_one_out([[2, 5, 11]], [2])
    numbered = np.column_stack([COPIES, np.arange(12)])
    model = SKLR("identity", rank=None, penalty=np.inf).fit(numbered, copied)
    assert model.score(numbered, copied) == 1.0


@pytest.mark.slow
def test_a_metric_stretched_to_the_limit_has_a_root():
    # A margin a million times the kernel, three places for eleven items: W's eigenvalues span all of float64's digits.
    places = np.array([0.0, 0, 2, 1, 0, 2, 0, 0, 0, 1, 0])[:, None]
    for seed in (29, 138):
        rng = np.random.default_rng(seed)
        shown = np.array([rng.permutation(11)[:3] for _ in range(8)])
        said = Comparisons.odd_one_out(shown[:3], [0, 1, 2]) + Comparisons.closer(*shown[3:].T)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # copies that should be far apart
            model = SKLR(rank=1.0, margin=1e6, penalty=5e5).fit(places, said)
        assert np.isfinite(model.transform(places)).all()


# Answers that can't all hold


def test_contradicting_answers_are_named():
    said = SAID + Comparisons.odd_one_out([[9, 10, 11], [2, 1, 0]], [0, 0])
    with pytest.raises(ContradictionError, match=r"rows 0, 4 can't all hold. .* set a finite penalty=") as error:
        SKLR(penalty=np.inf, rank=None).fit(X, said)
    assert pickle.loads(pickle.dumps(error.value)).rows == [0, 4]
    assert SKLR(rank=None).fit(X, said).solution_.status is Status.OPTIMAL


def test_contradicting_links_are_named():
    said = SAID + Comparisons.must_link([[9, 10]], at_most=0.1) + Comparisons.cannot_link([[10, 9]], at_least=0.2)
    with pytest.raises(ContradictionError, match="rows 3, 4 can't all hold"):
        SKLR(penalty=np.inf, rank=None).fit(X, said)  # in fewer dimensions rows 0, 1 and 2 contradict one another, too


def test_a_row_that_can_never_hold_is_named():
    with pytest.raises(ContradictionError, match=r"row 3 can't hold\. No metric on these features .* or drop it"):
        SKLR(penalty=np.inf).fit(X, SAID + Comparisons.must_link([[9, 10]], at_most=0.0))


def test_projection_gives_up_on_a_row_that_can_never_hold():
    # Items 1 and 2 are copies, so that 0 can't be closer to one of them.
    with pytest.raises(ContradictionError, match="row 0 can't hold"):
        SKLR(solver="projection", penalty=np.inf).fit([[1.0], [0.0], [0.0]], Comparisons.closer([0], [1], [2]))


@pytest.mark.parametrize("seed", [0, 1])
def test_consistent_answers_may_need_the_whole_rank(seed):
    features, y = load_iris(return_X_y=True)
    said = Comparisons.from_labels(y, 40, random_state=seed)
    with pytest.raises(ContradictionError, match=r"They do at .* full rank: set rank=None") as error:
        SKLR(rank=0.9, penalty=np.inf).fit(features, said)
    rows = error.value.rows
    assert 2 <= len(rows) <= 5
    model = SKLR(rank=None, penalty=np.inf).fit(features, said)
    assert model.solution_.status is Status.OPTIMAL
    assert model.score(features, said) == 1.0
    # None of the rows named is superfluous.
    with pytest.raises(ContradictionError):
        SKLR(rank=0.9, penalty=np.inf).fit(features, said[rows])
    for left_out in range(len(rows)):
        rest = said[np.delete(rows, left_out)]
        assert SKLR(rank=0.9, penalty=np.inf).fit(features, rest).solution_.status is Status.OPTIMAL


# Parameters


@pytest.mark.parametrize(
    ("parameters", "accepted"),
    [
        ({"kernel": "cubic"}, '"adaptive", "gaussian"'),
        ({"kernel": None}, '"adaptive", "gaussian"'),
        ({"rank": 0}, "an int of at least 1"),
        ({"rank": 1.5}, r"a float in \(0, 1\]"),
        ({"rank": True}, "None for all"),
        ({"ratio": 0.5}, "at least 1"),
        ({"ratio": np.nan}, "at least 1"),
        ({"margin": -1.0}, "at least 0"),
        ({"margin": np.inf}, "at least 0"),
        ({"loss": "absolute"}, "one of 'squared'"),
        ({"loss": ["squared"]}, "one of 'squared'"),
        ({"penalty": -1.0}, "positive number"),
        ({"penalty": "10"}, "positive number"),
        ({"softness": 0.0}, "positive number"),
        ({"softness": "soft"}, "positive number"),
        ({"penalty": np.nan}, "positive number"),
        ({"solver": "simplex"}, "'newton'"),
        ({"solver": 3}, "a name or a Solver"),
        ({"tol": 0.0}, "a positive number"),
        ({"max_iter": 0}, "at least 1, or None"),
        ({"max_iter": 2.5}, "at least 1, or None"),
        ({"n_comparisons": 0}, "at least 1, or None"),
    ],
)
def test_parameters_that_mean_nothing(parameters, accepted):
    (name, value), *_ = parameters.items()
    with pytest.raises(ValueError, match=accepted) as error:
        SKLR(**parameters).fit(X, SAID)
    assert f"{name}={value!r}" in str(error.value)


def test_an_early_stop_is_said():
    with pytest.warns(ConvergenceWarning, match=r"max_iter were used up .* Raise max_iter or tol"):
        model = SKLR(max_iter=1, tol=1e-12).fit(X, SAID)
    assert model.solution_.status is Status.EXHAUSTED
    assert np.isfinite(model.transform(X)).all()


# A fit that fails leaves the model as it was


class Interrupted(Newton):
    """Takes one step; then someone presses Ctrl-C."""

    def __init__(self, raised):
        self.raised = raised

    def step(self, point):
        if point.alpha.any():
            raise self.raised
        return super().step(point)


FAILURES = {
    "bad features": ({}, np.full((12, 5), np.nan), SAID, ValueError),
    "bad answers": ({}, X, Comparisons.closer([0], [1], [99]), ValueError),
    "bad labels": ({}, X, [0, 1], ValueError),
    "bad parameter": ({"ratio": -1}, X, SAID, ValueError),
    "bad kernel": ({"kernel": "precomputed"}, -np.eye(12), SAID, ValueError),
    "contradiction": ({"penalty": np.inf}, X, SAID + Comparisons.odd_one_out([[0, 1, 2]], [1]), ContradictionError),
    "Ctrl-C": ({"solver": Interrupted(KeyboardInterrupt), "tol": 1e-15}, X[:, :2], SAID, KeyboardInterrupt),
    "out of memory": ({"solver": Interrupted(MemoryError), "tol": 1e-15}, X[:, :2], SAID, MemoryError),
}


@pytest.mark.parametrize(("parameters", "items", "said", "error"), FAILURES.values(), ids=FAILURES)
def test_a_fit_that_fails_leaves_the_model_as_it_was(parameters, items, said, error):
    fresh = SKLR(**parameters)
    before = dict(vars(fresh))
    with pytest.raises(error):
        fresh.fit(items, said)
    assert vars(fresh) == before
    with pytest.raises(NotFittedError):
        fresh.transform(X)

    fitted = SKLR().fit(X, SAID).set_params(**parameters)
    before, coordinates = dict(vars(fitted)), fitted.transform(X)
    with pytest.raises(error):
        fitted.fit(items, said)
    assert vars(fitted) == before
    np.testing.assert_array_equal(fitted.transform(X), coordinates)


LONG_FIT = """
import time
import numpy as np
from oddkernel import SKLR, Comparisons
from oddkernel.solvers import Ascent

class Endless(Ascent):
    def step(self, point):
        global began
        began = time.process_time()
        print("solving", flush=True)
        while True:
            super().step(point)

X = np.random.default_rng(0).normal(size=(400, 5))
said = Comparisons.from_labels(np.arange(400) % 7, 300, random_state=0)
model = SKLR(penalty=10.0).fit(X, said[:5])
model.set_params(solver=Endless())
before = dict(vars(model))
try:
    model.fit(X, said)
except KeyboardInterrupt:
    print("interrupted", vars(model) == before, time.process_time() - began, flush=True)
"""


@pytest.mark.parametrize(("cause", "expected"), [(OSError, SystemError), (KeyboardInterrupt, KeyboardInterrupt)])
def test_ctrl_c_is_found_where_numba_hides_it(cause, expected):
    class Interrupted(Ascent):
        def step(self, point):
            between = SystemError("returned a result with an exception set")
            between.__cause__ = cause()
            raise SystemError("returned a result with an exception set") from between

    model = SKLR("linear", solver=Interrupted(), penalty=10.0)
    with pytest.raises(expected):
        model.fit(np.eye(3), Comparisons.odd_one_out([[0, 1, 2]], [2]))
    assert not hasattr(model, "metric_")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals to another process work differently there")
def test_ctrl_c_stops_a_long_fit():
    process = subprocess.Popen([sys.executable, "-c", LONG_FIT], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "solving\n"
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=120)
        said, untouched, seconds = rest.splitlines()[-1].split()
        assert (said, untouched) == ("interrupted", "True")
        assert float(seconds) < 5  # of its own: others may keep it from the processor for longer
    finally:
        process.kill()
        process.wait()


# Anything at all


KERNELS = [
    "adaptive",
    "gaussian",
    "linear",
    "identity",
    "precomputed",
    Gaussian(0.5) + 0.1 * Identity(),
    0.5 * Linear() + Gaussian(),
]
entries = st.integers(-3, 3).map(float) | st.floats(-1, 1)
scales = st.sampled_from([1.0, 1e-3, 1e6, 1e-150, 1e-70, 1e-30, 1e30, 1e70])
parameters = st.fixed_dictionaries(
    {
        "kernel": st.sampled_from(KERNELS),
        "rank": st.sampled_from([0.9, None, 1, 2, 0.5, 1.0]),
        "ratio": st.sampled_from([1.0, 4.0]) | st.floats(1, 1e6),
        "margin": st.sampled_from([0.0, 0.1]) | st.floats(0, 1e6),
        "loss": st.sampled_from(["squared", "squared", "hinge", "logistic", "softmax"]),
        "penalty": st.sampled_from([np.inf, 10.0]) | st.floats(1e-6, 1e6),
        "solver": st.sampled_from(["auto", "auto", "newton", "ascent", "projection"]),
    }
)


@st.composite
def items(draw: st.DrawFn, at_least: int, exactly: bool) -> np.ndarray:
    """Features with copies, constant columns, any scale and any offset."""
    n = at_least if exactly else draw(st.integers(max(at_least, 1), max(at_least, 1) + 3))
    d = draw(st.integers(1, 3))
    distinct = np.array(draw(st.lists(st.lists(entries, min_size=d, max_size=d), min_size=1, max_size=n)))
    which = draw(st.lists(st.integers(0, len(distinct) - 1), min_size=n, max_size=n))
    constant = np.array(draw(st.lists(st.booleans(), min_size=d, max_size=d)))
    X = np.where(constant, 1.0, distinct[which])
    return (X + draw(st.sampled_from([0.0, 1e3, 1e9]))) * draw(scales)


@st.composite
def answers(draw: st.DrawFn) -> Comparisons:
    """Mostly with weights and bounds that a person might give."""
    said = draw(comparisons(max_rows=8))
    if not draw(st.integers(0, 4)):
        return said
    bound = np.clip(said.bound, draw(st.sampled_from([0.0, 1e-3])), draw(st.sampled_from([1.0, 1e3])))
    return Comparisons(said.kind, said.shown, said.odd, bound, np.clip(said.weight, 0.1, 10), items=said.items)


@pytest.mark.slow
@examples(60)
@given(st.data())
def test_arbitrary_input_gives_an_error_or_a_kernel(data):
    said = data.draw(answers())
    X = data.draw(items(said.n_items, said.items is not None))
    model = SKLR(**data.draw(parameters))
    if model.kernel == "precomputed":
        X = X @ X.T if np.abs(X).max() < 1e30 else X[:, :1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # copies, items out of reach, no convergence: all in words
        try:
            model.fit(X, said)
        except ValueError:
            assert "solution_" not in vars(model)
            return
        K, Z = model.kernel_matrix(X), model.transform(X)
        assert np.isfinite(Z).all()
        np.testing.assert_allclose(K, K.T, rtol=1e-12, atol=0)
        assert np.linalg.eigvalsh(K)[0] >= -1e-10 * np.abs(K).max()
        decided = said[~(said.links | said.undecided)]
        if len(decided):
            assert 0 <= model.score(X, decided) <= 1
        delta = model.distance(X) ** 2
    solution = model.solution_
    assert all(np.isfinite([solution.residual, solution.gap, solution.divergence, solution.objective]))
    assert np.isfinite(solution.multipliers).all()
    # What the solution says of the answers is what the kernel does to them.
    rows = Constraints.from_comparisons(said, ratio=model.ratio, margin=model.margin)
    near, far = rows.near_factor * delta[tuple(rows.near.T)], rows.far_factor * delta[tuple(rows.far.T)]
    given = np.isfinite(rows.offset)  # links without a bound take theirs from the initial kernel
    slack = (near - far + rows.offset)[given]
    scale = (near + far + np.abs(rows.offset))[given] + 1e-9 * np.abs(K).max()
    assert (np.abs(slack - solution.slack[given]) <= 1e-6 * scale).all()
    if np.isinf(model.penalty) and solution.status is Status.OPTIMAL:
        broken = np.where(rows.equality[given], np.abs(slack), slack)
        assert (broken <= 1e-5 * scale).all()
