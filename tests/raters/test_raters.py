"""Raters: agreement is counted right, careless people are found, and their answers come to count less."""

from __future__ import annotations

import numpy as np
import pytest
from comparison_strategies import comparisons
from hypothesis import given
from hypothesis import strategies as st
from properties import examples

from oddkernel.comparisons import Comparisons, RowError
from oddkernel.raters import noise_ceiling, reliability, report, weigh

N_QUESTIONS = 120
CAREFUL = ("ann", "bob", "cem", "dee")
CARELESS = ("guesser", "left")


def same_question(*answers: tuple[str | None, int]) -> Comparisons:
    """What each person says about items 0, 1 and 2, by item; -1 is can't tell."""
    said = Comparisons.empty()
    for number, (rater, odd) in enumerate(answers):
        shown = np.roll([0, 1, 2], number)  # everyone sees the items in another order
        place = -1 if odd < 0 else int(np.flatnonzero(shown == odd)[0])
        said += Comparisons.odd_one_out([shown], [place], rater=rater)
    return said


@pytest.fixture(scope="module")
def preferences() -> np.ndarray:
    """How likely careful people call each of the three items of each question odd."""
    return np.random.default_rng(0).dirichlet([0.2, 0.2, 0.2], N_QUESTIONS)


@pytest.fixture(scope="module")
def crowd(preferences) -> Comparisons:
    """Four careful people, one who guesses and one who always takes the first place, in that order of rows."""
    random = np.random.default_rng(1)
    said = Comparisons.empty()
    for rater in (*CAREFUL, *CARELESS):
        shown = random.permuted(np.arange(3 * N_QUESTIONS).reshape(-1, 3), axis=1)
        item = [random.choice(3, p=p) for p in preferences]
        meant = np.argmax(shown % 3 == np.array(item)[:, None], axis=1)
        place = {"guesser": random.integers(0, 3, N_QUESTIONS), "left": np.zeros(N_QUESTIONS, dtype=int)}
        said += Comparisons.odd_one_out(shown, place.get(rater, meant), rater=rater)
    return said


@pytest.fixture(scope="module")
def probability(crowd, preferences) -> np.ndarray:
    """What a perfect model predicts for each place of each row."""
    return preferences[crowd.shown // 3, crowd.shown % 3]


# The noise ceiling


@pytest.mark.parametrize(
    ("odd", "agreement"),
    [
        ([0, 0], 1.0),
        ([0, 1], 0.0),
        ([0, 0, 0, 2], 3 / 4),
        ([0, 0, 2], 1 / 3),  # the first sees a tie of 0 and 2, and so does the second; the last is alone
        ([-1, -1, -1], 1.0),
        ([-1, -1, 1], 1 / 3),
        ([0, 0, 1, 1], 0.0),  # whoever is left out makes the other answer the majority
        ([0, 0, 0, 1, 1, 1], 0.0),
        ([0, 1, 2], 0.0),
    ],
)
def test_ceiling_holds_each_answer_against_the_majority_of_others(odd, agreement):
    ceiling = noise_ceiling(same_question(*((None, answer) for answer in odd)))
    assert ceiling.agreement == pytest.approx(agreement)
    assert (ceiling.n_questions, ceiling.n_answers) == (1, len(odd))


def test_ceiling_is_about_other_people():
    said = same_question(("ann", 0), ("ann", 0), ("bob", 1))
    assert noise_ceiling(said).agreement == 0.0
    assert noise_ceiling(said[:2]).agreement is None


def test_ceiling_is_a_mean_over_questions():
    agreed = Comparisons.odd_one_out([[3, 4, 5]] * 10, [0] * 10)
    assert noise_ceiling(agreed + same_question((None, 0), (None, 1))).agreement == pytest.approx(0.5)


def test_ceiling_without_repeats_says_what_to_do():
    ceiling = noise_ceiling(Comparisons.odd_one_out([[0, 1, 2], [0, 1, 3]], [0, 1]))
    assert (ceiling.agreement, ceiling.low, ceiling.high, ceiling.n_questions) == (None, 0.0, 1.0, 0)
    assert "to several people" in str(ceiling)


def test_ceiling_interval_narrows_and_covers():
    random = np.random.default_rng(0)
    shown = np.repeat(np.arange(3000).reshape(-1, 3), 2, axis=0)
    said = Comparisons.odd_one_out(shown, (random.random(2000) < 0.3).astype(int))
    truth = 0.7**2 + 0.3**2
    few, many = noise_ceiling(said[:40]), noise_ceiling(said)
    assert few.low < truth < few.high
    assert many.low < truth < many.high
    assert many.high - many.low < 0.07 < few.high - few.low


def test_ceiling_is_sure_of_nothing_after_one_question():
    ceiling = noise_ceiling(same_question((None, 0), (None, 0)))
    assert ceiling.low < 0.5
    assert ceiling.high == 1.0


# The report


def test_report_counts():
    said = (
        same_question(("ann", 0), ("bob", 0), ("ann", 1), ("cem", 0))
        + Comparisons.odd_one_out([[3, 4, 5], [6, 7, 8]], [1, -1], rater="ann")
        + Comparisons.must_link([[0, 1]], rater="dan")
    )
    found = report(said, [1, 0, 0, 1, 0.5, np.nan, np.nan], seconds=[2, 3, 4, 5, np.nan, 6, np.nan])
    ann = found["ann"]
    assert [row.rater for row in found] == ["ann", "bob", "cem"]
    assert ann.n_answers == 4
    assert ann.undecided == 0.25
    assert ann.with_model == pytest.approx(0.5)
    assert ann.with_others == pytest.approx(0.5)
    assert ann.with_self == 0.0
    assert ann.places == pytest.approx((2 / 3, 1 / 3, 0))
    assert ann.seconds == 4.0
    assert (found["bob"].with_self, found["bob"].failed) == (None, None)
    assert len(found) == 3
    with pytest.raises(KeyError):
        found["dan"]


def test_with_self_takes_the_share_of_repeats_that_say_the_same():
    assert report(same_question(("ann", 0), ("ann", 0), ("ann", 1)))["ann"].with_self == pytest.approx(1 / 3)


def test_flags_find_the_careless_and_only_them(crowd, probability):
    agrees = probability[np.arange(len(crowd)), crowd.odd] == probability.max(axis=1)
    found = report(crowd, agrees)
    assert set(found.flagged) == set(CARELESS)
    assert found["left"].flags[0] == "names place 0 in 100% of answers"
    assert found["guesser"].flags[0].startswith("agrees with others in")
    assert any("the model" in flag for flag in found["guesser"].flags)
    assert all(found["ann"].with_others > found[rater].with_others for rater in CARELESS)


def test_flags_find_the_hurried(crowd):
    seconds = np.where(crowd.rater == "ann", 0.5, 3.0)
    assert report(crowd, seconds=seconds)["ann"].flags == ("takes less than 1 seconds for 100% of answers",)
    assert not report(crowd, seconds=seconds / 3 + 1)["ann"].flags
    assert report(crowd, seconds=np.full(len(crowd), 0.2))["bob"].too_fast == 1.0


def test_flags_find_failed_catches(crowd):
    caught = np.full(len(crowd), np.nan)
    of = {rater: np.flatnonzero(crowd.rater == rater)[:10] for rater in CAREFUL}
    caught[of["ann"]] = [1, 1, 1, 1, 1, 0, 0, 0, 0, 0]
    caught[of["bob"]] = [1, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    caught[of["cem"][0]] = 1
    found = report(crowd, caught=caught)
    assert found["ann"].flags == ("failed 5 of 10 catch questions",)
    assert found["ann"].failed == 0.5
    assert not found["bob"].flags
    assert not found["cem"].flags  # one question alone proves nothing
    assert found["dee"].failed is None


def test_a_slight_leaning_is_no_flag_however_many_answers():
    odd = np.repeat([0, 1, 2], [400, 300, 300])
    assert not report(Comparisons.odd_one_out(np.arange(3000).reshape(-1, 3), odd, rater="ann")).flagged


def test_one_answer_breaks_nothing():
    row = report(Comparisons.odd_one_out([[0, 1, 2]], [0], rater="ann"), [False], seconds=[0.1], caught=[1.0])["ann"]
    assert row.n_answers == 1
    assert row.flags == ("takes less than 0.3 seconds for 100% of answers",)


def test_report_becomes_a_frame(crowd):
    frame = report(crowd).to_frame()
    assert list(frame["rater"]) == sorted((*CAREFUL, *CARELESS))
    assert frame.set_index("rater").loc["left", "places"] == (1.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"agrees": [1, 2]}, "row 1: agrees holds 2; expected true or false"),
        ({"agrees": [1]}, "agrees has 1 entries for 2 rows"),
        ({"agrees": 1}, "agrees is a single"),
        ({"seconds": [1, -3]}, "row 1: seconds holds -3"),
        ({"seconds": ["fast", 1]}, "row 0: seconds holds 'fast'"),
        ({"caught": [0.5, 0]}, r"row 0: caught holds 0\.5"),
        ({"caught": np.array([True, False])}, "row 0: caught holds .*; expected 1 for a catch question failed, 0 for"),
    ],
)
def test_report_refuses_columns_that_do_not_fit(columns, message):
    said = Comparisons.odd_one_out([[0, 1, 2], [3, 4, 5]], [0, 1], rater="ann")
    with pytest.raises(ValueError, match=message):
        report(said, **columns)


@pytest.mark.parametrize("look", [report, reliability])
def test_without_raters_there_is_nothing_to_report(look):
    with pytest.raises(ValueError, match=r"none of the 1 odd-one-out answers says who gave it; build .* rater="):
        look(Comparisons.odd_one_out([[0, 1, 2]], [0]) + Comparisons.must_link([[0, 1]], rater="ann"))


# Reliability


@pytest.mark.parametrize("by", ["people", "model"])
def test_reliability_ranks_raters(by, crowd, probability):
    shares = reliability(crowd, probability if by == "model" else None)
    assert set(shares) == {*CAREFUL, *CARELESS}
    assert max(shares[rater] for rater in CARELESS) < 0.4
    assert min(shares[rater] for rater in CAREFUL) > 0.8


def test_reliability_is_the_share_of_answers_that_are_meant():
    random = np.random.default_rng(0)
    n = 20_000
    probability = random.dirichlet([0.3, 0.3, 0.3], n)
    meant = (random.random((n, 1)) > probability.cumsum(axis=1)).sum(axis=1)
    odd = np.where(random.random(n) < 0.6, meant, random.integers(0, 3, n))
    said = Comparisons.odd_one_out(np.arange(3 * n).reshape(-1, 3), odd, rater="ann")
    assert reliability(said, probability)["ann"] == pytest.approx(0.6, abs=0.02)
    with_cant_tell = np.column_stack([0.5 * probability, np.full(n, 0.5)])
    assert reliability(said, with_cant_tell)["ann"] == pytest.approx(reliability(said, probability)["ann"])


def test_reliability_is_the_maximum_of_its_objective(crowd, probability):
    shares = reliability(crowd, probability)
    grid = np.linspace(1e-3, 1, 2000)
    for rater in (*CAREFUL, *CARELESS):
        rows = np.flatnonzero(crowd.rater == rater)
        p = probability[rows, crowd.odd[rows]]
        with np.errstate(divide="ignore"):
            objective = np.log(np.outer(grid, p) + np.outer(1 - grid, np.full(len(p), 1 / 3))).sum(axis=1)
        assert shares[rater] == pytest.approx(grid[np.argmax(objective + 2 * np.log(grid))], abs=1e-3)


def test_those_nobody_can_judge_count_in_full(crowd):
    alone = Comparisons.odd_one_out([[900, 901, 902]], [0], rater="hermit")
    assert reliability(crowd + alone)["hermit"] == 1.0
    undecided = Comparisons.odd_one_out([[0, 1, 2]], [-1], rater="unsure")
    assert reliability(undecided, [[0.2, 0.3, 0.5]]) == {"unsure": 1.0}


def test_one_answer_says_little(crowd):
    wrong = Comparisons.odd_one_out(crowd.shown[:1], [(crowd.odd[0] + 1) % 3], rater="once")
    assert reliability(crowd + wrong)["once"] > 0.5


def test_always_cant_tell_is_unreliable_where_others_can(crowd):
    unsure = Comparisons.odd_one_out(crowd.shown[:N_QUESTIONS], np.full(N_QUESTIONS, -1), rater="unsure")
    assert reliability(crowd + unsure)["unsure"] < 0.2


def test_two_who_always_disagree_are_equally_unreliable():
    shown = np.arange(90).reshape(-1, 3)
    said = Comparisons.odd_one_out(shown, [0] * 30, rater="ann") + Comparisons.odd_one_out(shown, [1] * 30, rater="bob")
    shares = reliability(said)
    assert shares["ann"] == pytest.approx(shares["bob"])
    assert shares["ann"] < 0.5


def test_the_order_of_the_answers_plays_no_part(crowd):
    shuffled = reliability(crowd[np.random.default_rng(0).permutation(len(crowd))])
    assert shuffled == pytest.approx(reliability(crowd))


def test_weigh_multiplies_weights():
    said = Comparisons.odd_one_out(
        [[0, 1, 2], [3, 4, 5], [6, 7, 8]], [0, 1, 2], rater=["ann", "bob", None], weight=[2, 2, 3]
    )
    weighed = weigh(said, {"ann": 0.25, "eve": 0.1})
    np.testing.assert_array_equal(weighed.weight, [0.5, 2.0, 3.0])
    assert weighed.with_weight(said.weight) == said
    nameless = Comparisons.odd_one_out([[0, 1, 2]], [0])
    assert weigh(nameless, {"ann": 0.5}) == nameless


@pytest.mark.parametrize(
    ("probability", "message"),
    [
        ([0.2, 0.8], r"probability has shape \(2,\); expected \(m, 3\)"),
        ([[0.2, 0.3, 0.5]], "probability has 1 entries for 2 rows"),
        ([[0.2, 0.3, 0.5], [np.nan, 0.5, 0.5]], r"row 1: probability \[nan"),
        ([[0.2, 0.3, 0.5], [-1, 1, 1]], "row 1: probability"),
        ([[2, 0, 0], [0.2, 0.3, 0.5]], "row 0: probability"),
        ([[0.2, 0.3, 0.5], [0.9, 0.9, 0.9]], r"row 1: probability .* sum to 1"),
        ([[0, 0, 0, 1], [0.2, 0.3, 0.5, 0.0]], "row 0: probability"),
    ],
)
def test_reliability_refuses_probabilities_that_are_none(probability, message):
    said = Comparisons.odd_one_out([[0, 1, 2], [3, 4, 5]], [0, 1], rater="ann")
    with pytest.raises(ValueError, match=message):
        reliability(said, probability)


def test_a_wrong_row_is_a_row_error():
    with pytest.raises(RowError) as caught:
        reliability(Comparisons.odd_one_out([[0, 1, 2]], [0], rater="ann"), [[np.inf, 0, 0]])
    assert caught.value.row == 0


# Anything at all

rows_on_few_items = st.lists(
    st.tuples(st.permutations(range(4)), st.integers(-1, 2), st.sampled_from(["ann", "bob", "cem", None])),
    min_size=1,
    max_size=30,
)


@pytest.mark.slow
@examples(80)
@given(rows=rows_on_few_items, other=comparisons(), data=st.data())
def test_numbers_stay_within_their_bounds(rows, other, data):
    said = Comparisons.odd_one_out(
        [order[:3] for order, _, _ in rows], [odd for _, odd, _ in rows], rater=[rater for _, _, rater in rows]
    )
    if other.items is None:
        said += other
    ceiling = noise_ceiling(said)
    assert 0 <= ceiling.low <= ceiling.high <= 1
    assert ceiling.agreement is None or ceiling.low <= ceiling.agreement <= ceiling.high
    assert "nan" not in str(ceiling)
    if said.rater is None or not (said.rater[said.kind == 0] != "").any():
        return
    share = data.draw(st.lists(st.floats(0, 1) | st.just(np.nan), min_size=len(said), max_size=len(said)))
    for row in report(said, share, seconds=share, caught=np.round(share)):
        numbers = [row.undecided, row.with_model, row.with_others, row.with_self, row.too_fast, row.failed]
        numbers += [*(row.places or ()), row.seconds]
        assert all(number is None or 0 <= number <= 1 for number in numbers)
        assert row.n_answers >= 1
    probability = data.draw(st.sampled_from([None, np.tile([0.0, 0.0, 1.0], (len(said), 1))]))
    assert all(0 < value <= 1 for value in reliability(said, probability).values())
