"""Items and answers that both have names are joined by name, in whatever order."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oddkernel import SKLR, Comparisons, SearchCV, models
from oddkernel.baselines import ITML, LSML, SKMS, links_from_labels
from oddkernel.questions import outlook
from oddkernel.report import Report

N = 24
Y = np.arange(N) % 3
X = np.random.default_rng(0).normal(size=(N, 4)) + 2.0 * np.eye(3, 4)[Y]
SAID = Comparisons.from_labels(Y, 60, random_state=0)
NEW = Comparisons.from_labels(Y, 40, undecided=5, random_state=1)
LINKS = links_from_labels(Y, 20, random_state=0)
PLAIN = SKLR(penalty=10.0).fit(X, SAID)


def named(said: Comparisons, names: list[str], order: np.ndarray) -> Comparisons:
    """The same answers with names, the list of which stands in another order."""
    place = np.append(np.argsort(order), -1)
    items = [names[i] for i in order]
    return Comparisons(said.kind, place[said.shown], said.odd, said.bound, said.weight, said.rater, items)


orders = st.permutations(range(N)).map(np.array)
name_lists = st.lists(st.text("abcäß 0-", min_size=1, max_size=5), min_size=N + 2, max_size=N + 2, unique=True)


@settings(max_examples=15, deadline=None)
@given(names=name_lists, rows=orders, listed=orders, later=orders)
def test_any_order_and_any_names_give_the_same(names, rows, listed, later):
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
    assert one.recipe == other.recipe
    assert one.penalties == other.penalties
    np.testing.assert_allclose([t.agreement for t in one.trials], [t.agreement for t in other.trials])


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

    def test_questions_by_name_about_an_array(self):
        with pytest.raises(ValueError, match="holds 'ant'; expected"):
            SKLR(penalty=1.0).fit(self.FRAME, self.SAID).odd_one(X[:4], [["ant", "bee", "oak"]])
        with pytest.raises(ValueError, match=r"holds 'aok'; expected .*did you mean 'oak'"):
            SKLR(penalty=1.0).fit(self.FRAME, self.SAID).odd_one(self.FRAME, [["ant", "bee", "aok"]])

    def test_columns_that_are_no_numbers(self):
        frame = self.FRAME.reset_index(names="kind")
        with pytest.raises(ValueError, match=r"column 'kind' holds 'ant'; expected numbers.*set_index\('kind'\)"):
            SKLR().fit(frame)
        with pytest.raises(ValueError, match="row bee, column 2 holds nan"):
            SKLR().fit(self.FRAME.mask(self.FRAME.eq(X[1, 2])))


class TestAccepted:
    def test_an_array_with_as_many_rows(self):
        assert SKLR(penalty=1.0).fit(X[:4], TestRefused.SAID).items_ == TestRefused.NAMES

    @pytest.mark.parametrize("index", [None, list(range(N, 0, -1)), ["same"] * N])
    def test_answers_without_names_are_about_rows(self, index):
        model = SKLR(penalty=10.0).fit(pd.DataFrame(X, index=index), SAID)
        assert model.score(pd.DataFrame(X, index=index), NEW) == PLAIN.score(X, NEW)
        assert model.items_ is None

    def test_a_saved_model_knows_its_items(self, tmp_path):
        names = [f"item {i}" for i in range(N)]
        for said in (SAID, None, Y):
            model = SKLR(penalty=10.0).fit(pd.DataFrame(X, index=names), said)
            models.save(model, tmp_path / "model.oddkernel")
            assert models.load(tmp_path / "model.oddkernel").items_ == model.items_ == tuple(names)

    def test_coordinates_keep_the_index(self):
        frame = pd.DataFrame(X, index=[f"item {i}" for i in range(N)])
        moved = SKLR(penalty=10.0).set_output(transform="pandas").fit(frame, SAID).transform(frame)
        assert list(moved.index) == list(frame.index)

    def test_neighbours_leave_the_item_out(self):
        copies = np.repeat(X[:3], 2, axis=0)
        nearest = PLAIN.neighbours(copies, 9)
        assert nearest.shape == (6, 5)
        np.testing.assert_array_equal(nearest[:, 0], [1, 0, 3, 2, 5, 4])
