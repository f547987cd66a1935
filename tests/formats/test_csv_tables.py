"""Plain tables of answers: the same answers in every way of writing them."""

from __future__ import annotations

import csv
import io
import string
from collections.abc import Sequence
from pathlib import Path
from unicodedata import normalize

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from oddkernel import Comparisons, formats
from oddkernel.comparisons.answers import is_cant_tell

letters = string.ascii_letters + "äéñ漢-_'"
names = st.text(letters + " ,;", min_size=2, max_size=8).filter(
    lambda name: name == name.strip() and not is_cant_tell(name) and len(name.strip(" ,;")) > 1
)
CANT_TELL = ["cant_tell", "can't tell", "Can’t tell", "Cannot tell", "DON'T KNOW", "unsure", "not sure"]


@st.composite
def answers(draw: st.DrawFn) -> Comparisons:
    items = sorted(draw(st.sets(names, min_size=3, max_size=6)))
    shown = draw(st.lists(st.permutations(range(len(items))).map(lambda order: order[:3]), min_size=1, max_size=5))
    odd = [draw(st.integers(-1, 2)) for _ in shown]
    weight = [draw(st.sampled_from([0.5, 1.0, 2.25])) for _ in shown]
    return Comparisons.odd_one_out(shown, odd, weight=weight, items=items)


@given(said=answers(), data=st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_the_same_answers_in_every_way_of_writing_them(tmp_path: Path, said: Comparisons, data: st.DataObject) -> None:
    separator = data.draw(st.sampled_from([",", ";", "\t"]))
    by_name, in_capitals, row_names, aside = (data.draw(st.booleans()) for _ in range(4))
    heads = ["a", "b", "c", "answer", "weight"]
    rows = []
    for shown, odd, weight in zip(said.shown.tolist(), said.odd.tolist(), said.weight.tolist(), strict=True):
        called = [(said.items or ())[item] for item in shown]
        decided = called[odd] if by_name else "abc"[odd]
        number = str(weight) if separator == "," else str(weight).replace(".", ",")
        rows.append([*called, decided if odd >= 0 else data.draw(st.sampled_from(CANT_TELL)), number])
    if in_capitals:
        heads = [head.upper() for head in heads]
    if row_names:
        heads, rows = ["", *heads], [[str(number), *row] for number, row in enumerate(rows, 1)]
    if aside:
        heads, rows = [*heads, "when"], [[*row, "today"] for row in rows]
    sheet = io.StringIO(newline="")
    csv.writer(sheet, delimiter=separator, lineterminator=data.draw(st.sampled_from(["\r\n", "\n"]))).writerows(
        [heads, *rows]
    )
    text = sheet.getvalue() + data.draw(st.sampled_from(["", "\n\n", separator * 3 + "\n"]))
    encoding = data.draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]))
    file = tmp_path / data.draw(st.sampled_from(["said.csv", "said.tsv", "said.txt"]))
    file.write_bytes(text.encode(encoding))
    read, notes = formats.examine(file)
    occurring = [(said.items or ())[item] for item in said.constrained]
    assert read == said.reindex(occurring)
    assert ("Columns left aside: when." in notes) == aside


def test_heads_may_hold_what_separates_cells(tmp_path: Path) -> None:
    (tmp_path / "said.csv").write_text('"a","b","c","answer","which, or none; why"\nant,oak,bee,b,"x, y; z"\n')
    assert len(formats.read(tmp_path / "said.csv")) == 1


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"d": "a"}, "columns: 'd' is none of ours"),
        ({"a": "x", "b": "x"}, "columns: 'x' is given twice"),
        ({"a_index": "x"}, "column b_index, c_index is missing|column a, b, c is missing"),
    ],
)
def test_columns_that_are_refused(tmp_path: Path, columns: dict[str, str], message: str) -> None:
    (tmp_path / "said.csv").write_text("x,y,z,answer\nant,oak,bee,a\n")
    with pytest.raises(ValueError, match=message):
        formats.read(tmp_path / "said.csv", columns=columns)
    formats.write(Comparisons.closer([0], [1], [2]), tmp_path / "said.jsonl")
    with pytest.raises(ValueError, match="jsonl has fixed ones; expected them only for csv, xlsx"):
        formats.read(tmp_path / "said.jsonl", columns=columns)


class TestNumbersInNames:
    """Numbered answers about items whose names have other numbers than their places."""

    NAMES = tuple(sorted(f"cars/{number}.jpg" for number in range(1, 13)))  # 1, 10, 11, 12, 2, …

    @pytest.fixture
    def file(self, tmp_path: Path) -> Path:
        (tmp_path / "said.csv").write_text("a,b,c,answer\n1,2,12,c\n")
        return tmp_path / "said.csv"

    @pytest.mark.parametrize("names", [NAMES, [*NAMES, "note.txt"], [name[5:-4] for name in NAMES]])
    def test_are_refused(self, file: Path, names: Sequence[str]) -> None:
        with pytest.raises(
            ValueError,
            match=r"line 2: item 2 could be '.*10.*', at this place .* counted from 1, or '.*2.*', whose name .*names'"
            r" \(--numbers-are names\).*'positions' \(--numbers-are positions\)",
        ):
            formats.read(file, count_from=1, items=names)

    def test_both_remedies(self, file: Path) -> None:
        by_name = formats.read(file, items=self.NAMES, numbers_are="names")
        assert [by_name.items[item] for item in by_name.shown[0]] == ["cars/1.jpg", "cars/2.jpg", "cars/12.jpg"]
        by_place = formats.read(file, count_from=1, items=self.NAMES, numbers_are="positions")
        assert by_place.shown.tolist() == [[0, 1, 11]]

    @pytest.mark.parametrize(
        ("names", "rows", "first"),
        [
            ([f"car {number:02}.png" for number in range(1, 13)], "1,2,12", 1),
            ([f"car {number:02}.png" for number in range(13)], "0,2,12", 0),
            ([f"car {number}.png" for number in range(1, 13)], "0,2,11", 0),  # nothing is called 0
            (["film 1995", "film 2003", "film 1971"], "0,1,2", 0),
            (["v 1", "w 1", "u 2"], "0,1,2", 0),
            (["ant", "bee", "cat 1"], "0,1,2", 0),
        ],
        ids=["their places", "from 0", "no such name", "far away", "not distinct", "few names"],
    )
    def test_that_can_be_meant_in_one_way_only(self, file: Path, names: list[str], rows: str, first: int) -> None:
        file.write_text(f"a,b,c,answer\n{rows},c\n")
        places = [int(number) - first for number in rows.split(",")]
        assert formats.read(file, count_from=first, items=names).shown.tolist() == [places]

    @pytest.mark.parametrize(
        ("names", "rows", "first", "message"),
        [
            ([f"{number}.jpg" for number in range(1, 13)], "1,2,11", 0, r"1 could be '2\.jpg', .* or '1\.jpg'"),
            ([f"{number}.jpg" for number in range(12)], "1,2,11", 1, r"1 could be '0\.jpg', .* or '1\.jpg'"),
            (["1.jpg", "2.jpg", "4.jpg", "5.jpg"], "1,2,3", 1, r"3 could be '4\.jpg', .* or none, as no name"),
            (["1.jpg", "2.jpg", "4.jpg", "5.jpg"], "1,2,5", 1, r"5 could be none in .*, or '5\.jpg', whose"),
        ],
        ids=["named from 1", "named from 0", "a gap", "beyond the list"],
    )
    def test_off_by_one(self, file: Path, names: list[str], rows: str, first: int, message: str) -> None:
        file.write_text(f"a,b,c,answer\n{rows},c\n")
        with pytest.raises(ValueError, match=f"line 2: item {message}"):
            formats.read(file, count_from=first, items=names)

    def test_say_what_they_are_only_where_names_are_listed(self, file: Path) -> None:
        for options, message in (
            ({"numbers_are": "places"}, "numbers_are is 'places'; expected 'positions', 'names' or None"),
            ({"numbers_are": "names"}, "numbers_are is given without items"),
            ({"numbers_are": "names", "items": {"1": "ant"}}, "numbers_are is given, but items say what"),
            ({"numbers_are": "names", "items": ["ant", "bee"]}, "names don't end in numbers of their own"),
        ):
            with pytest.raises(ValueError, match=message):
                formats.read(file, **options)


def test_items_give_names_to_numbers(tmp_path: Path) -> None:
    file = tmp_path / "said.csv"
    file.write_text("a,b,c,answer\n1,3,2,b\n")
    items = ["ant", "bee", "oak", "yew"]
    from_1 = formats.read(file, count_from=1, items=items)
    assert from_1 == Comparisons.odd_one_out([[0, 2, 1]], [1], items=items)
    assert formats.read(file, items={"1": "ant", "2": "bee", "3": "oak", "4": "yew"}) == from_1
    with pytest.raises(ValueError, match="line 2: b is '3'; expected one of the 2 items"):
        formats.read(file, items={"1": "ant", "2": "bee"})
    file.write_text("a,b,c,answer\nant,oak,bee,b\n")
    assert formats.read(file, items=items) == from_1
    assert formats.read(file, items={"ant": "Ameise", "bee": "Biene", "oak": "Eiche"}).items == (
        "Ameise",
        "Biene",
        "Eiche",
    )


def test_answers_by_the_number_of_the_item(tmp_path: Path) -> None:
    file = tmp_path / "said.csv"
    file.write_text("a_index,b_index,c_index,answer\n12,40,7,7\n1,2,9,2\n")
    assert formats.read(file).odd.tolist() == [2, 1]
    file.write_text("a_index,b_index,c_index,answer\n1,2,9,2\n")
    with pytest.raises(ValueError, match="line 2: answer '2' could be a position"):
        formats.read(file)


def test_weights_that_may_have_separators_of_thousands_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "said.tsv"
    file.write_text("a\tb\tc\tanswer\tweight\nant\toak\tbee\tb\t1,234\nant\tfly\tbee\tb\t950\n")
    with pytest.raises(ValueError, match=r"said\.tsv: column weight: 1,234 beside 950 could be 1234 or 1\.234"):
        formats.read(file)
    file.write_text("a\tb\tc\tanswer\tweight\nant\toak\tbee\tb\t1,25\nant\tfly\tbee\tb\t950\n")
    assert formats.read(file).weight.tolist() == [1.25, 950.0]


def test_names_in_another_unicode_form(tmp_path: Path) -> None:
    file, items = tmp_path / "said.csv", ["Bär.jpg", "Öl.jpg", "Uhr.jpg"]
    for here, there in (("NFC", "NFD"), ("NFD", "NFC"), ("NFD", "NFD")):
        file.write_text(normalize(here, "a,b,c,answer\nÖl.jpg,Bär.jpg,Uhr.jpg,b\n"), encoding="utf-8")
        listed = [normalize(there, name) for name in items]
        assert formats.read(file, items=listed) == Comparisons.odd_one_out([[1, 0, 2]], [1], items=listed)
        renamed = formats.read(file, items={name: name[0] for name in listed})
        assert renamed.odd.tolist() == [1]
    file.write_text("a,b,c,answer\nÖl.jpg,Bär.jpg,Uhr.jpg," + normalize("NFD", "Bär.jpg") + "\n", encoding="utf-8")
    assert formats.read(file).odd.tolist() == [1]


def test_answers_by_position(tmp_path: Path) -> None:
    file = tmp_path / "said.csv"
    file.write_text("a,b,c,answer\nant,oak,bee,1\nant,fly,bee,3\nbee,fly,oak,cant_tell\nbee,fly,oak,2\n")
    assert formats.read(file).odd.tolist() == [0, 2, -1, 1]
    assert formats.read(file, count_from=1).odd.tolist() == [0, 2, -1, 1]
    assert Comparisons.from_frame(pd.read_csv(file)).odd.tolist() == [0, 2, -1, 1]
    with pytest.raises(ValueError, match=r"line 3: answer '3'; expected 0, 1, 2, as positions are counted from 0"):
        formats.read(file, count_from=0)
    file.write_text("a,b,c,answer\nant,oak,bee,1\nant,fly,bee,2\n")
    with pytest.raises(ValueError, match=r"line 2: answer '1' could be a position.* count_from=1 \(--count-from\)$"):
        formats.read(file)
    assert formats.read(file, count_from=1).odd.tolist() == [0, 1]
    assert formats.read(file, count_from=0).odd.tolist() == [1, 2]
    renamed = {"ant": "1", "oak": "2", "fly": "3", "bee": "4"}
    assert formats.read(file, count_from=0, items=renamed).odd.tolist() == [1, 2]
    file.write_text("a,b,c,answer\nant,oak,bee,1\nant,fly,bee,3\nant,fly,bee,0\n")
    with pytest.raises(ValueError, match="line 2: answer '1' could be a position"):
        formats.read(file)
    file.write_text("a,b,c,answer\nant,3,bee,1\nant,fly,bee,3\n")
    with pytest.raises(ValueError, match=r"line 2: answer '1' could be a position.*or cant_tell$"):
        formats.read(file)
    with pytest.raises(ValueError, match="items stand by name; expected it to be left out"):
        formats.read(file, count_from=1)
    file.write_text("a_index,b_index,c_index,answer\n12,40,7,3\n40,30,8,2\n")
    assert formats.read(file).odd.tolist() == [2, 1]


def test_answers_by_the_number_of_an_item_that_is_counted_from_1(tmp_path: Path) -> None:
    file = tmp_path / "said.csv"
    file.write_text("a,b,c,answer\n7,8,6,7\n9,7,8,8\n")
    said = formats.read(file, count_from=1)
    assert (said.shown.tolist(), said.odd.tolist()) == ([[6, 7, 5], [8, 6, 7]], [0, 2])


def test_empty_lines_within(tmp_path: Path) -> None:
    file = tmp_path / "said.csv"
    file.write_text("a,b,c,answer\nant,oak,bee,b\n\n , ,,\nant,fly,bee,b\nant,fly\n")
    with pytest.raises(ValueError, match="line 6: 2 fields; expected 4 fields"):
        formats.read(file)
    file.write_text("a,b,c,answer\nant,oak,bee,b\n\n , ,,\nant,fly,bee,b\n")
    assert formats.read(file) == Comparisons.odd_one_out(
        [["ant", "oak", "bee"], ["ant", "fly", "bee"]], [1, 1], items=["ant", "bee", "fly", "oak"]
    )


def test_rows_that_have_no_answer_need_no_column_of_answers(tmp_path: Path) -> None:
    file = tmp_path / "said.csv"
    for separator in ",;":
        file.write_text("kind,a,b,c\ncloser,ant,oak,bee\ncloser,ant,fly,bee\n".replace(",", separator))
        said = formats.read(file)
        assert said.kind.tolist() == Comparisons.closer([0, 0], [1, 2], [3, 3]).kind.tolist()
    frame = pd.read_csv(file, sep=";")
    assert Comparisons.from_frame(frame) == said
    frame.to_parquet(tmp_path / "said.parquet")
    assert formats.read(tmp_path / "said.parquet") == said
    with pytest.raises(ValueError, match=r"row 0: the answer is empty"):
        Comparisons.from_frame(frame.assign(kind="odd_one_out"))
