"""Items and answers that both have names are joined by name, in whatever order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import astuple
from datetime import date
from functools import cache
from typing import Any
from unicodedata import normalize

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import Phase, given
from hypothesis import strategies as st
from properties import examples
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from oddkernel import SKLR, Comparisons, KernelMeanShift, SearchCV, models, raters, scale
from oddkernel.baselines import ITML, LSML, SKMS, links_from_labels
from oddkernel.items.frames import row_names
from oddkernel.learning import metric
from oddkernel.questions import Recorded, learning_curve, outlook, simulate
from oddkernel.report import Report

N = 24
Y = np.arange(N) % 3
X = np.random.default_rng(0).normal(size=(N, 4)) + 2.0 * np.eye(3, 4)[Y]
SAID = Comparisons.from_labels(Y, 60, random_state=0, rater=[f"rater {k % 3}" for k in range(60)])
NEW = Comparisons.from_labels(Y, 40, undecided=5, random_state=1)
LINKS = links_from_labels(Y, 20, random_state=0)
PLAIN = SKLR(penalty=10.0).fit(X, SAID)


def named(said: Comparisons, names: list[str], order: np.ndarray) -> Comparisons:
    """The same answers with names, the list of which stands in another order."""
    place = np.append(np.argsort(order), -1)
    items = [names[i] for i in order]
    return Comparisons(said.kind, place[said.shown], said.odd, said.bound, said.weight, said.rater, items)


def pandas_frame(X: Any, names: Sequence[str]) -> Any:
    return pd.DataFrame(X, index=list(names), columns=list("wxyz"))


def polars_frame(X: Any, names: Sequence[str]) -> Any:
    return pl.DataFrame({"item": list(names)} | dict(zip("wxyz", np.transpose(X), strict=True)))


def arrow_table(X: Any, names: Sequence[str]) -> Any:
    columns = dict(zip("wxyz", np.transpose(X), strict=True))
    return pa.table({"w": columns["w"], "item": list(names)} | {head: columns[head] for head in "xyz"})


def as_columns(frame: Any) -> dict[str, list[Any]]:
    return frame.to_pydict() if isinstance(frame, pa.Table) else frame.to_dict(as_series=False)


def in_turn(history: Any, n: int, rng: Any) -> Any:
    return history.allowed[:n]


orders = st.permutations(range(N)).map(np.array)
name_lists = st.lists(st.text("abcäß 0-", min_size=1, max_size=5), min_size=N + 2, max_size=N + 2, unique_by=str.strip)
makers = st.sampled_from([pandas_frame, polars_frame, arrow_table])


class Case:
    """Everything that takes items and answers, on one way to name and sort them, with results by the first names."""

    def __init__(self, names: Sequence[str], rows: Any, listed: Any, make: Callable[..., Any]) -> None:
        self.names, self.make = list(names), make
        self.said, self.new, self.links = (named(each, self.names[:N], listed) for each in (SAID, NEW, LINKS))
        self.frame = make(X[rows], [self.names[row] for row in rows])
        self.first = {name: row for row, name in enumerate(self.names)}
        self.by_name = np.array(self.names, dtype=object)[NEW.shown]

    def predictions(self, model: Any, more: Any) -> list[Any]:
        """All that a fitted metric says about answers and questions."""
        scores = model.evaluate(more, self.new)
        found = [model.score(more, self.new), *astuple(scores)]
        found += [model.odd_one(more, self.by_name), model.odd_one_proba(more, self.by_name)]
        if hasattr(model, "odd_one_std"):
            found.append(model.odd_one_std(more, self.by_name))
        return [*found, self.neighbours(model, self.frame)]

    def neighbours(self, model: Any, frame: Any) -> Any:
        """The neighbours of each item, as places in the first order of items."""
        found = model.neighbours(frame, 3)
        table = found if isinstance(found, pd.DataFrame) else pd.DataFrame(dict(as_columns(found))).set_index("item")
        return np.vectorize(self.first.get)(table.loc[self.names[:N]].to_numpy())

    def results(self, later: Any) -> dict[str, list[Any]]:
        """What each method gives; ``later`` sorts the items that predictions are about, two more among them."""
        more = self.make(np.vstack([X[:2] + 9.0, X[later]]), [*self.names[N:], *(self.names[row] for row in later)])
        fitted = {
            "SKLR": SKLR(penalty=10.0).fit(self.frame, self.said),
            "LSML": LSML(max_iter=50).fit(self.frame, self.said),
            "ITML": ITML(random_state=0).fit(self.frame, self.links),
            "SKMS": SKMS(random_state=0).fit(self.frame, self.links),
        }
        found = {name: self.predictions(model, more) for name, model in fitted.items()}
        model = fitted["SKLR"]
        search = SearchCV(SKLR("linear"), {"penalty": [0.1, 10.0]}, folds=2, random_state=0).fit(self.frame, self.said)
        found["SearchCV"] = [search.best_score_, *search.cv_results_["mean_test_score"], search.score(more, self.new)]
        ahead = outlook(self.frame, self.said, self.new, learner=SKLR("linear", penalty=1.0))
        found["outlook"] = [ahead.agreement, ahead.interval, ahead.limit, ahead.slope, ahead.scores, ahead.resampled]
        curve = learning_curve(
            self.frame, self.said, lambda fitted: fitted.score(more, self.new), at=[30], learner=SKLR(penalty=1.0)
        )
        found["learning_curve"] = [curve.score]
        played = simulate(self.frame, Recorded(self.said), policy=in_turn, n=20, random_state=0)
        place = np.vectorize(self.first.get)(np.array(played.items, dtype=object)[played.shown])
        found["simulate"] = [np.sort(place, axis=1), place[np.arange(len(place)), played.odd]]
        report = Report(model, self.frame, held_out=self.new, map="pca")
        found["Report"] = [report.held_out.before, report.held_out.after, report.held_out.interval]
        verdicts = report.verdicts
        # Coordinates of all items at once: a row's last bits depend on where BLAS finds it.
        found["Report"] += [verdicts.before, verdicts.after, verdicts.pick, verdicts.probability.round(12)]
        found["Report"] += [verdicts.influence]
        found["Report"] += [[(note.title, note.meaning) for note in report.notes]]
        found["raters"] = [
            list(raters.reliability(self.said).items()),
            raters.noise_ceiling(self.said),
            raters.report(self.said, model.odd_one(self.frame, self.said) == self.said.odd),
            list(raters.reliability(self.said, model.odd_one_proba(self.frame, self.said)).items()),
            model.odd_one_std(self.frame, self.said),
        ]
        found["KernelMeanShift"] = [self.mean_shift(model)]
        found["scale"] = [self.nearest_by_index(model)]
        return found

    def mean_shift(self, model: Any) -> float:
        """The bandwidth, which is all that answers are used for; the kernel is the same in every order."""
        K = SKLR("linear").fit(X).kernel_matrix(X)
        order = [self.first[name] for name in row_names(self.frame)]
        frame = pd.DataFrame(K[np.ix_(order, order)], index=[self.names[row] for row in order])
        return KernelMeanShift().fit(frame, self.said).bandwidth_

    def nearest_by_index(self, model: Any) -> Any:
        """The nearest items in a search index, as places in the first order of items."""
        index = scale.Index.build(model, self.frame)
        by_name = dict(zip(index.names, index.query(self.frame, 2).names, strict=True))
        return np.vectorize(self.first.get)(np.array([by_name[name] for name in self.names[:N]], dtype=object))


@cache
def reference() -> dict[str, list[Any]]:
    return Case([f"item {i}" for i in range(N + 2)], np.arange(N), np.arange(N), pandas_frame).results(np.arange(N))


@pytest.mark.slow
@examples(10, phases=[Phase.generate])  # an example takes seconds: too long to shrink
@given(names=name_lists, rows=orders, listed=orders, later=orders, make=makers)
def test_any_order_any_names_and_any_frame_give_the_same_to_the_last_digit(names, rows, listed, later, make):
    found = Case(names, rows, listed, make).results(later)
    assert found.keys() == reference().keys()
    for method, values in reference().items():
        for one, other in zip(found[method], values, strict=True):
            np.testing.assert_array_equal(one, other, err_msg=method)


@examples(15)
@given(names=name_lists, rows=orders, listed=orders, later=orders)
def test_a_named_frame_gives_the_same_as_an_array(names, rows, listed, later):
    frame = pd.DataFrame(X, index=names[:N]).iloc[rows]
    said, new = named(SAID, names[:N], listed), named(NEW, names[:N], later)
    more = pd.concat([pd.DataFrame(X[:2] + 9.0, index=names[N:]), frame.iloc[later]])
    model = SKLR(penalty=10.0).fit(frame, said)
    shown, by_name = NEW.shown[:9], np.array(names, dtype=object)[NEW.shown[:9]]

    assert model.score(more, new) == PLAIN.score(X, NEW)
    assert model.evaluate(more, new).agreement == PLAIN.evaluate(X, NEW).agreement
    np.testing.assert_array_equal(model.odd_one(more, by_name), PLAIN.odd_one(X, shown))
    np.testing.assert_allclose(model.odd_one_proba(more, by_name), PLAIN.odd_one_proba(X, shown), atol=1e-6)
    np.testing.assert_allclose(model.odd_one_std(more, by_name), PLAIN.odd_one_std(X, shown), atol=1e-5)
    assert model.items_ == tuple(frame.index)
    np.testing.assert_array_equal(np.array(model.items_)[model.comparisons_.shown], np.array(names)[SAID.shown])
    found = model.neighbours(frame, 3).loc[names[:N]]
    np.testing.assert_array_equal(found.to_numpy(), np.array(names, dtype=object)[PLAIN.neighbours(X, 3)])


@pytest.mark.parametrize("learner", [LSML(), ITML(), SKMS()], ids=lambda learner: type(learner).__name__)
def test_baselines_join_by_name(learner):
    names, order = [f"item {i}" for i in range(N)], np.random.default_rng(1).permutation(N)
    said = SAID if isinstance(learner, LSML) else LINKS
    plain = learner.fit(X, said).score(X, SAID)
    frame = pd.DataFrame(X, index=names).iloc[order]
    assert learner.fit(frame, named(said, names, np.arange(N))).score(frame, named(SAID, names, order)) == plain


def test_held_out_answers_choose_the_same_however_a_frame_is_sorted():
    names = [f"item {i}" for i in range(N)]
    frame, said = pd.DataFrame(X, index=names), named(SAID, names, np.arange(N))
    models_ = [SKLR(random_state=0).fit(frame.iloc[order], said) for order in (np.arange(N), np.roll(np.arange(N), 7))]
    one, other = (model.tuning_ for model in models_)
    assert one == other
    np.testing.assert_array_equal(*(model.metric_ for model in models_))


def test_search_outlook_and_report_join_by_name():
    names, order = [f"item {i}" for i in range(N)], np.random.default_rng(2).permutation(N)
    frame = pd.DataFrame(X, index=names, columns=list("abcd")).iloc[order]
    said, new = named(SAID, names, np.arange(N)), named(NEW, names, order)
    grid = {"penalty": [0.1, 10.0]}
    plain = SearchCV(SKLR("linear"), grid, random_state=0).fit(X, SAID)
    assert SearchCV(SKLR("linear"), grid, random_state=0).fit(frame, said).best_score_ == plain.best_score_
    ahead = outlook(frame, said, new, learner=SKLR(penalty=10))
    assert ahead.agreement == outlook(X, SAID, NEW, learner=SKLR(penalty=10)).agreement
    model = SKLR(penalty=10.0).fit(frame, said)
    report = Report(model, frame.iloc[::-1], held_out=new)
    assert report.maps.after.shape == (N, 2)
    assert report.names == tuple(frame.index[::-1])
    np.testing.assert_array_equal(np.array(report.names)[report.answers.shown], np.array(names)[SAID.shown])
    np.testing.assert_array_equal(np.array(report.names)[report.held_out_answers.shown], np.array(names)[NEW.shown])


class TestPipelines:
    """scikit-learn's steps keep the names where they are told to return frames."""

    NAMES = tuple(f"item {i}" for i in range(N))
    FRAME = pandas_frame(X, NAMES).iloc[::-1]
    SAID = named(SAID, NAMES, np.arange(N))

    def test_frames_between_steps_keep_the_names(self):
        by_hand = SKLR(penalty=10.0).fit((X - X.mean(axis=0)) / X.std(axis=0), SAID)
        steps = make_pipeline(StandardScaler(), SKLR(penalty=10.0)).set_output(transform="pandas")
        steps.fit(self.FRAME, self.SAID)
        assert steps[-1].items_ == tuple(self.FRAME.index)
        Z = (X - X.mean(axis=0)) / X.std(axis=0)
        assert steps.score(self.FRAME, self.SAID) == by_hand.score(Z, SAID)
        columns = make_column_transformer((MinMaxScaler(), ["w", "x"]), remainder="passthrough")
        steps = make_pipeline(columns, SKLR(penalty=10.0)).set_output(transform="pandas").fit(self.FRAME, self.SAID)
        assert steps[-1].items_ == tuple(self.FRAME.index)

    def test_arrays_between_steps_lose_them(self):
        steps = make_pipeline(StandardScaler(), SKLR(penalty=10.0))
        with pytest.raises(ValueError, match=r"name 24 items, but there are 23; .*set_output\(transform=\"pandas\"\)"):
            steps.fit(self.FRAME.iloc[:-1], self.SAID)


class TestOtherFrames:
    """polars and Arrow: a column holds the names."""

    @pytest.mark.parametrize("make", [pl.DataFrame, pa.table])
    def test_which_column(self, make):
        assert row_names(make({"Item": ["ant", "bee"], "kind": ["a", "b"], "legs": [6, 4]})) == ("ant", "bee")
        assert row_names(make({"species": ["ant", "bee"], "legs": [6, 4]})) == ("ant", "bee")
        assert row_names(make({"legs": [6, 4], "species": ["ant", "bee"]})) is None
        assert row_names(make({"legs": [6, 4]})) is None
        with pytest.raises(ValueError, match="both item and name are there; choose one"):
            row_names(make({"item": ["ant", "bee"], "name": ["Ant", "Bee"], "legs": [6, 4]}))

    @pytest.mark.parametrize("make", [pl.DataFrame, pa.table])
    @pytest.mark.parametrize(
        ("columns", "message"),
        [
            ({"species": ["ant", "ant"], "legs": [6, 4]}, "column 'species', positions 0 and 1: both are 'ant'"),
            ({"item": ["ant", None], "legs": [6, 4]}, "column 'item', position 1: .* expected text"),
            ({"item": [1, 2], "legs": [6, 4]}, "column 'item' holds 1; expected names"),
            ({"legs": [6, 4], "kind": ["a", "b"]}, "column 'kind' holds 'a'; expected numbers.*call it item: X.rename"),
            ({"item": ["ant", "bee"], "kind": ["a", "b"]}, "column 'kind' holds 'a'; .*categories, encode them"),
            (
                {"size": ["1,5", "2,5"], "legs": [6, 4], "kind": ["a", "b"]},
                "column 'size' holds '1,5'; .*decimal comma",
            ),
            ({"item": ["ant", "bee"], "legs": [6, None]}, "row bee, column 'legs' holds nan"),
            ({"item": ["ant", "bee"], "born": [date(2024, 5, 1)] * 2}, "column 'born' holds .*a date into a number"),
        ],
    )
    def test_what_is_refused(self, make, columns, message):
        with pytest.raises(ValueError, match=message):
            SKLR().fit(make(columns))

    def test_columns_whose_names_cannot_be_read_are_refused(self, monkeypatch):
        """Before version 1.9, scikit-learn reads them through the interchange protocol, which polars 2 doesn't have."""
        monkeypatch.setattr(metric, "validate_data", lambda model, frame, **options: np.asarray(frame))
        with pytest.raises(
            ValueError, match=r"can't read the column names .*scikit-learn 1.9 or newer, polars older than 2, or X"
        ):
            SKLR().fit(polars_frame(X, [f"item {i}" for i in range(N)]))

    def test_neighbours_come_as_a_frame_of_the_same_kind(self):
        names = [f"item {i}" for i in range(N)]
        plain = SKLR(penalty=10.0).fit(X, SAID)
        for make in (polars_frame, arrow_table):
            found = SKLR(penalty=10.0).fit(make(X, names), SAID).neighbours(make(X, names), 2)
            assert isinstance(found, type(make(X, names)))
            assert as_columns(found)["item"] == names
            assert as_columns(found)["1"] == [names[row] for row in plain.neighbours(X, 2)[:, 0]]


class TestRefused:
    NAMES = ("ant", "bee", "oak", "elm")
    FRAME = pd.DataFrame(X[:4], index=list(NAMES))
    SAID = Comparisons.odd_one_out([["ant", "bee", "oak"]], [2], items=NAMES)

    @pytest.mark.parametrize(
        ("index", "message"),
        [
            (["ant", "bee", "aok", "elm"], r"1 compared items are missing .*'oak'; did you mean 'aok'\?"),
            (["ant", "bee", "oak", "ant"], "the index of X, positions 0 and 3: both are 'ant'"),
            (["ant", "bee", "oak", None], "the index of X, position 3: name .* expected text"),
            (["ant", "bee", "oak", ""], "the index of X, position 3: the name is empty"),
            (["ant", "bee", "oak", 7], "the index of X, position 3: name 7 is a int; expected text"),
        ],
    )
    def test_names(self, index, message):
        frame = self.FRAME.set_axis(pd.Index(index, dtype=object))
        with pytest.raises(ValueError, match=message):
            SKLR(penalty=1.0).fit(frame, self.SAID)
        with pytest.raises(ValueError, match=message):
            SKLR(penalty=1.0).fit(self.FRAME, self.SAID).score(frame, self.SAID)

    def test_an_array_with_another_number_of_rows(self):
        with pytest.raises(ValueError, match=r"name 4 items, but there are 5; .* frame whose index holds the names"):
            SKLR().fit(X[:5], self.SAID)
        with pytest.raises(ValueError, match="name 4 items, but there are 2"):
            SKLR().fit(X[:2], self.SAID)

    def test_a_frame_sorted_in_another_way_than_its_own_numbers(self):
        said = Comparisons.odd_one_out([[1, 2, 5]], [0])
        for frame in (pd.DataFrame(X).sort_values(0), pd.DataFrame(X).sample(frac=1.0, random_state=0)):
            with pytest.raises(ValueError, match=r"item 1 could be row 1 of X, which the index calls \d+, or the row"):
                SKLR().fit(frame, said)
            with pytest.raises(ValueError, match=r"X\.reset_index\(drop=True\).*X\.sort_index\(\)"):
                PLAIN.score(frame, said)
            SKLR(penalty=1.0).fit(frame.sort_index(), said)

    @pytest.mark.parametrize("shown", [[0, 1, 8], [3, 4, 7], [0, 1, 2]])
    def test_a_frame_without_some_rows_whatever_is_asked(self, shown):
        frame = pd.DataFrame(X).drop(index=3)
        said = Comparisons.odd_one_out([shown], [2])
        with pytest.raises(ValueError, match=r"row \d of X, which the index calls \d, .*X\.reset_index\(drop=True\)"):
            SKLR().fit(frame, said)
        with pytest.raises(ValueError, match=r"row \d of X, which the index calls \d"):
            PLAIN.score(frame, said)
        SKLR(penalty=1.0).fit(frame.reset_index(drop=True), said)

    @pytest.mark.parametrize("make", [pandas_frame, polars_frame])
    def test_names_that_end_in_the_numbers_of_other_rows(self, make):
        names = sorted(f"{number}.jpg" for number in range(N))  # 0, 1, 10, …
        with pytest.raises(
            ValueError, match=r"row 2 of X, which is called '10\.jpg', or '2\.jpg'.*numbers_are='names'"
        ):
            SKLR().fit(make(X, names), SAID)
        said = SAID.with_names({number: f"{number}.jpg" for number in range(N)})
        assert SKLR(penalty=10.0).fit(make(X, names), said).items_ == tuple(names)
        SKLR(penalty=1.0).fit(make(X, [f"{number}.jpg" for number in range(1, N + 1)]), SAID)  # in order

    @pytest.mark.parametrize(
        "index",
        [
            np.arange(N)[::-1] * 1.0,
            pd.Index(np.arange(N)[::-1], dtype=object),
            [str(label) for label in range(N)][::-1],
            pd.MultiIndex.from_arrays([["a"] * N, np.arange(N)[::-1]]),
        ],
        ids=["floats", "objects", "text", "levels"],
    )
    def test_an_index_of_numbers_whatever_their_type(self, index):
        frame = pd.DataFrame(X, index=index)
        with pytest.raises(ValueError, match="item 0 could be row 0 of X, which the index calls 23, or the row"):
            SKLR().fit(frame, SAID)
        SKLR(penalty=1.0).fit(frame.iloc[::-1].set_axis(range(N)), SAID)

    @pytest.mark.parametrize(
        "frame", [pd.DataFrame(X, index=range(1, N + 1)), pd.DataFrame(np.vstack([X] * 2)).iloc[1::2]]
    )
    def test_the_remedies_work(self, frame):
        said = SAID if 0 in frame.index else SAID[(SAID.shown > 0).all(axis=1) & (SAID.shown % 2 > 0).all(axis=1)]
        with pytest.raises(ValueError, match=r"X\.reset_index\(drop=True\).*said\.with_names\(map\(str, range"):
            SKLR().fit(frame, said)
        model = SKLR(penalty=1.0)
        by_row = model.fit(frame.reset_index(drop=True), said).metric_
        np.testing.assert_array_equal(by_row, model.fit(frame.to_numpy(), said).metric_)
        model.fit(frame, said.with_names(map(str, range(said.n_items))))
        shown = said.shown[0]
        assert [model.items_[item] for item in model.comparisons_.shown[0]] == [str(item) for item in shown]

    @pytest.mark.parametrize(
        "index",
        [
            [3, 1, 0, 2],
            [1, 2, 3, 4],
            [3.0, 1.0, 0.0, 2.0],
            pd.Index([3, 1, 0, 2], dtype=object),
            pd.date_range("2024-05-01", periods=4),
            pd.MultiIndex.from_tuples([("ant", 1), ("bee", 1), ("oak", 2), ("elm", 2)]),
        ],
        ids=["shuffled", "from 1", "floats", "objects", "dates", "levels"],
    )
    def test_an_index_without_names_where_answers_have_some(self, index):
        frame = self.FRAME.set_axis(index)
        with pytest.raises(ValueError, match=r"index of X begins with .*answers name .*set_axis\(names\).*reset_index"):
            SKLR().fit(frame, self.SAID)
        model = SKLR(penalty=1.0).fit(frame.reset_index(drop=True), self.SAID)
        assert model.items_ == SKLR(penalty=1.0).fit(frame.set_axis(list(self.NAMES)), self.SAID).items_ == self.NAMES

    def test_names_that_are_the_numbers_of_other_rows(self):
        names = sorted(map(str, range(N)))  # "0", "1", "10", …
        said, frame = SAID.with_names(dict(enumerate(map(str, range(N))))).reindex(names), pd.DataFrame(X)
        with pytest.raises(ValueError, match=r"item 10 could be the row that .* calls 10, or row 2, .*astype\(str\)"):
            SKLR().fit(frame, said)
        joined = SKLR(penalty=10.0).fit(frame.set_axis(frame.index.astype(str)), said)
        assert joined.score(frame.sample(frac=1.0, random_state=0), said) == pytest.approx(PLAIN.score(X, SAID))

    @pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
    @pytest.mark.parametrize("head", ["id", "Index", "Unnamed: 0", ""])
    def test_a_column_that_numbers_the_items(self, make, head):
        columns = {head: np.random.default_rng(0).permutation(N), "legs": X[:, 0]}
        with pytest.raises(ValueError, match=f"X, column '{head}' numbers the items, so it is no feature; drop it or"):
            SKLR().fit(make(columns), SAID)
        assert SKLR(penalty=1.0).fit(make({"id": Y, "legs": X[:, 0]}), SAID).n_features_in_ == 2

    @pytest.mark.parametrize("fill", [0.0, np.nan])
    def test_frames_that_hold_no_dense_rows(self, fill):
        with pytest.raises(ValueError, match=r"X is a polars LazyFrame, .*: X\.collect\(\)"):
            SKLR().fit(pl.LazyFrame(X), SAID)
        with pytest.raises(
            ValueError, match=r"columns of X are sparse; expected a dense frame: X\.sparse\.to_dense\(\)"
        ):
            SKLR().fit(pd.DataFrame(X).astype(pd.SparseDtype(float, fill)), SAID)

    def test_questions_by_name_about_an_array(self):
        with pytest.raises(ValueError, match="holds 'ant'; expected"):
            SKLR(penalty=1.0).fit(self.FRAME, self.SAID).odd_one(X[:4], [["ant", "bee", "oak"]])
        with pytest.raises(ValueError, match=r"holds 'aok'; expected .*did you mean 'oak'"):
            SKLR(penalty=1.0).fit(self.FRAME, self.SAID).odd_one(self.FRAME, [["ant", "bee", "aok"]])

    def test_questions_by_links(self):
        links = Comparisons.must_link([["ant", "bee"]], items=self.NAMES)
        with pytest.raises(ValueError, match="row 0: a link is about two items; expected answers about three"):
            SKLR(penalty=1.0).fit(self.FRAME, self.SAID).odd_one(self.FRAME, links)

    def test_columns_that_are_no_numbers(self):
        frame = self.FRAME.reset_index(names="kind")
        with pytest.raises(ValueError, match=r"column 'kind' holds 'ant'; expected numbers.*set_index\('kind'\)"):
            SKLR().fit(frame)
        with pytest.raises(ValueError, match="row bee, column 2 holds nan"):
            SKLR().fit(self.FRAME.mask(self.FRAME.eq(X[1, 2])))

    @pytest.mark.parametrize(
        ("column", "message"),
        [
            (["1,5", "2,5", "3", "4"], r"column 'size' holds '1,5'; .*decimal comma: .*decimal=','"),
            (pd.to_datetime(["2024-05-01"] * 4), "column 'size' holds Timestamp.*Turn a Timestamp into a number"),
            (pd.Categorical(["a", "b", "a", "b"]), "column 'size' holds 'a'; .*pandas.get_dummies"),
            (pd.array([1, 2, None, 4], dtype="Int64"), "row oak, column 'size' holds nan; .*SimpleImputer"),
            ([1.0, 2.0, np.inf, 4.0], "row oak, column 'size' holds inf"),
            ([1.0, None, "3", 4.0], "row bee, column 'size' holds nan"),
            ([1j, 2j, 3j, 4j], "column 'size' holds 1j; expected numbers. Turn a complex"),
        ],
    )
    def test_values_that_are_no_numbers(self, column, message):
        with pytest.raises(ValueError, match=message):
            SKLR().fit(self.FRAME.set_axis(list("wxyz"), axis=1).assign(size=column))


class TestAccepted:
    def test_names_in_another_unicode_form(self):
        names = [f"Müller {i}.jpg" for i in range(N)]
        decomposed = [normalize("NFD", name) for name in names]
        assert not set(names) & set(decomposed)
        for there in (names, decomposed):
            frame = pd.DataFrame(X, index=there).iloc[::-1]
            for here in (names, decomposed):
                model = SKLR(penalty=10.0).fit(frame, named(SAID, here, np.arange(N)))
                assert model.score(frame, named(SAID, here, np.arange(N))) == PLAIN.score(X, SAID)
                assert model.odd_one(frame, [here[:3]]) == PLAIN.odd_one(X, [[0, 1, 2]])
        both = pd.DataFrame(X[:3], index=[names[0], decomposed[0], "ant"])
        exact = Comparisons.odd_one_out([[decomposed[0], names[0], "ant"]], [0], items=both.index)
        assert SKLR(penalty=1.0).fit(both, exact).comparisons_.shown.tolist() == [[1, 0, 2]]
        with pytest.raises(ValueError, match=r"row 0: .* repeats an item"):
            exact.reindex([names[0], "ant"])

    @pytest.mark.parametrize(
        "column", [[True, False, True, True], ["1", "2.5", "3", "4"], pd.array([1, 2, 3, 4], dtype="Int64")], ids=str
    )
    def test_truth_values_and_numbers_of_any_type(self, column):
        frame = TestRefused.FRAME.set_axis(list("wxyz"), axis=1).assign(size=column)
        assert SKLR().fit(frame).n_features_in_ == 5

    def test_an_array_with_as_many_rows(self):
        assert SKLR(penalty=1.0).fit(X[:4], TestRefused.SAID).items_ == TestRefused.NAMES

    @pytest.mark.parametrize(
        "index", [None, pd.date_range("2024-05-01", periods=N), ["same"] * N], ids=["none", "dates", "same"]
    )
    def test_answers_without_names_are_about_rows(self, index):
        model = SKLR(penalty=10.0).fit(pd.DataFrame(X, index=index), SAID)
        assert model.score(pd.DataFrame(X, index=index), NEW) == PLAIN.score(X, NEW)
        assert model.items_ is None

    @pytest.mark.parametrize("y", [Y, pd.Series(Y)], ids=["array", "series"])
    def test_labels_are_about_rows_whatever_the_index_counts(self, y):
        frame = pd.DataFrame(X, index=np.arange(N)[::-1])
        plain = SKLR(penalty=10.0, random_state=0).fit(X, Y)
        assert SKLR(penalty=10.0, random_state=0).fit(frame, y).comparisons_ == plain.comparisons_

    @pytest.mark.parametrize("index", [np.arange(N)[::-1], np.arange(N) + 1, np.arange(2 * N)[1::2]])
    def test_what_needs_no_numbered_answers(self, index):
        frame = pd.DataFrame(X, index=index)
        model, plain = SKLR(penalty=10.0, random_state=0).fit(frame, Y), SKLR(penalty=10.0, random_state=0).fit(X, Y)
        assert model.score(frame, Y) == pytest.approx(plain.score(X, Y))
        np.testing.assert_allclose(model.transform(frame), plain.transform(X), atol=1e-8)
        np.testing.assert_array_equal(PLAIN.neighbours(frame), PLAIN.neighbours(X))
        cut = frame.iloc[2:]
        np.testing.assert_allclose(PLAIN.distance(cut, frame), PLAIN.distance(X[2:], X), atol=1e-7)
        far = [[N - 3, 4, 5]] if index[0] else [[0, 1, 2]]
        cut = cut.set_axis(cut.index + 1000)
        np.testing.assert_array_equal(PLAIN.odd_one(cut, far), PLAIN.odd_one(X[2:], far))
        assert SKLR().fit(frame).n_features_in_ == X.shape[1]

    def test_whole_numbers_as_names(self):
        ids = np.random.default_rng(0).permutation(N) + 1000
        said = Comparisons.odd_one_out(ids.astype(str)[SAID.shown], SAID.odd, items=ids.astype(str))
        frame = pd.DataFrame(X, index=ids)
        model = SKLR(penalty=10.0).fit(frame.sort_index(), said)
        assert model.score(frame, said) == pytest.approx(PLAIN.score(X, SAID))
        with pytest.raises(ValueError, match=f"missing from the {N - 1} given: '{ids[3]}'"):
            SKLR().fit(frame.drop(index=ids[3]), said)

    def test_a_saved_model_knows_its_items(self, tmp_path):
        names = [f"item {i}" for i in range(N)]
        for said in (SAID, None, Y):
            model = SKLR(penalty=10.0).fit(pd.DataFrame(X, index=names), said)
            models.save(model, tmp_path / "model.oddkernel")
            assert models.load(tmp_path / "model.oddkernel").items_ == model.items_ == tuple(names)

    def test_labels_with_names_are_joined_by_name(self):
        names = [f"item {i}" for i in range(N)]
        frame, labels = pd.DataFrame(X, index=names), pd.Series(Y, index=names)
        plain = SKLR(penalty=10.0, random_state=0).fit(X, Y)
        sorted_otherwise = SKLR(penalty=10.0, random_state=0).fit(frame, labels.iloc[::-1])
        assert sorted_otherwise.comparisons_.with_names(None) == plain.comparisons_
        with pytest.raises(ValueError, match=r"missing .*'item 3'"):
            SKLR().fit(frame, labels.drop("item 3"))

    def test_coordinates_keep_the_index(self):
        frame = pd.DataFrame(X, index=[f"item {i}" for i in range(N)])
        moved = SKLR(penalty=10.0).set_output(transform="pandas").fit(frame, SAID).transform(frame)
        assert list(moved.index) == list(frame.index)

    def test_neighbours_leave_the_item_out(self):
        copies = np.repeat(X[:3], 2, axis=0)
        nearest = PLAIN.neighbours(copies, 9)
        assert nearest.shape == (6, 5)
        np.testing.assert_array_equal(nearest[:, 0], [1, 0, 3, 2, 5, 4])
