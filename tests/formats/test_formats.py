from __future__ import annotations

import csv
import io
import json
import os
import stat
import sys
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from comparison_strategies import comparisons
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from properties import examples

from oddkernel import formats
from oddkernel.comparisons import Comparisons
from oddkernel.items.tables import read_names

FORMATS = ["csv", "jsonl", "parquet"]
NAMES = "# oddkernel comparisons 1; items: names\n"
INDICES = "# oddkernel comparisons 1; items: indices\n"
HEADER = '{"oddkernel": "comparisons", "version": 1, "items": ["ant", "bee", "cat"]}\n'
reuse_folder = examples(80, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


@pytest.fixture
def said() -> Comparisons:
    items = ["bee", "ant", "#never asked", "cat"]
    return (
        Comparisons.odd_one_out(
            [["ant", "bee", "cat"]] * 2, [1, -1], weight=[0.1, 1e-300], rater=["é", ""], items=items
        )
        + Comparisons.closer(["cat"], ["ant"], ["bee"], items=items)
        + Comparisons.must_link([["ant", "bee"]], at_most=1 / 3, items=items)
        + Comparisons.cannot_link([["ant", "cat"]], items=items)
    )


def read_text(folder: Path, name: str, text: str | bytes) -> Comparisons:
    file = folder / name
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return formats.read(file)


class TestRoundTrip:
    @pytest.mark.slow
    @pytest.mark.parametrize("format", FORMATS)
    @given(said=comparisons())
    @reuse_folder
    def test_gives_the_same(self, tmp_path: Path, format: str, said: Comparisons) -> None:
        formats.write(said, tmp_path / f"said.{format}")
        again = formats.read(tmp_path / f"said.{format}")
        assert again == said
        assert again.items == said.items

    @pytest.mark.parametrize("format", FORMATS)
    @pytest.mark.parametrize("items", [None, (), ("ant", "bee")])
    def test_without_rows(self, tmp_path: Path, format: str, items: tuple[str, ...] | None) -> None:
        formats.write(Comparisons.empty(items=items), tmp_path / f"none.{format}")
        assert formats.read(tmp_path / f"none.{format}").items == items

    def test_from_one_format_to_the_next(self, tmp_path: Path, said: Comparisons) -> None:
        again = said
        for format in FORMATS:
            formats.write(again, tmp_path / "said", format=format)
            again = formats.read(tmp_path / "said", format=format)
        assert again == said

    def test_files_look_as_documented(self, tmp_path: Path) -> None:
        said = Comparisons.odd_one_out([["ant", "bee", "cat"]], [2], rater="ann", items=["cat", "bee", "ant"])
        formats.write(said, tmp_path / "said.csv")
        assert (tmp_path / "said.csv").read_text().splitlines() == [
            "a,b,c,answer,rater,weight,bound,kind",
            "ant,bee,cat,c,ann,1.0,,odd_one_out",
        ]
        assert (tmp_path / "said.items.csv").read_text().splitlines() == ["index,item", "0,cat", "1,bee", "2,ant"]
        formats.write(said, tmp_path / "said.jsonl")
        assert [json.loads(line) for line in (tmp_path / "said.jsonl").read_text().splitlines()] == [
            {"oddkernel": "comparisons", "version": 1, "items": ["cat", "bee", "ant"]},
            {"kind": "odd_one_out", "a": "ant", "b": "bee", "c": "cat", "answer": "c", "weight": 1.0, "rater": "ann"},
        ]
        formats.write(said, tmp_path / "said.parquet")
        assert pq.read_table(tmp_path / "said.parquet").column("answer").to_pylist() == ["c"]


class TestGenerosity:
    def test_csv_with_four_columns(self, tmp_path: Path) -> None:
        said = read_text(tmp_path, "said.csv", "a,b,c,answer\nowl,ant,bee,a\nant,bee,cat,cant_tell")
        assert said.items == ("ant", "bee", "cat", "owl")
        assert said == Comparisons.odd_one_out([[3, 0, 1], [0, 1, 2]], [0, -1], items=said.items)

    def test_csv_with_bom_padding_and_columns_in_any_order(self, tmp_path: Path) -> None:
        text = f"\ufeff{NAMES.strip()},,,\nanswer,c,b,a\r\nb,cat,bee,ant\n"
        assert read_text(tmp_path, "SAID.CSV", text).odd.tolist() == [1]

    def test_csv_whole_numbers_beside_names_are_names(self, tmp_path: Path) -> None:
        assert read_text(tmp_path, "said.csv", "a,b,c,answer\n1,2,x,a\n").items == ("1", "2", "x")

    def test_csv_declared_numbers(self, tmp_path: Path) -> None:
        table = "a,b,c,answer\n5,3,10,b\n"
        assert read_text(tmp_path, "said.csv", INDICES + table).shown.tolist() == [[5, 3, 10]]
        assert read_text(tmp_path, "said.csv", NAMES + table).items == ("10", "3", "5")

    def test_csv_of_ours_without_rows(self, tmp_path: Path) -> None:
        text = "a_index,b_index,c_index,answer,rater,weight,bound,kind\n"
        assert read_text(tmp_path, "said.csv", text) == Comparisons.empty()

    def test_jsonl_without_header(self, tmp_path: Path) -> None:
        by_name = read_text(tmp_path, "said.jsonl", '{"a": "ant", "b": "bee", "c": "1", "answer": "c"}\r\n')
        assert by_name.items == ("1", "ant", "bee")
        text = '{"kind": "must_link", "a": 3, "b": 1, "bound": 2, "rater": 4}'
        with pytest.raises(
            ValueError, match=r"said\.jsonl: all items are whole numbers, .* count_from=0 or count_from=1"
        ):
            read_text(tmp_path, "said.jsonl", text)
        by_index = formats.read(tmp_path / "said.jsonl", count_from=0)
        assert by_index == Comparisons.must_link([[3, 1]], at_most=2, rater="4")

    def test_blank_lines_in_jsonl(self, tmp_path: Path) -> None:
        first, second = ('{"a": "ant", "b": "bee", "c": "1", "answer": "%s"}\n' % letter for letter in "ca")  # noqa: UP031
        text = f"\n{first} \n{second}\n"
        assert read_text(tmp_path, "said.jsonl", text).odd.tolist() == [2, 0]
        assert read_text(tmp_path, "ours.jsonl", "\n" + HEADER + "\n") == Comparisons.empty(items=["ant", "bee", "cat"])

    @pytest.mark.parametrize("ending", ["jsonl", "parquet", "csv"])
    def test_whole_numbers_may_be_names_or_counted_from_1(self, tmp_path: Path, ending: str) -> None:
        file = tmp_path / f"said.{ending}"
        frame = pd.DataFrame({"a": [1, 4], "b": [3, 2], "c": [2, 1], "answer": [3, 4]})
        write = {
            "jsonl": lambda: frame.to_json(file, orient="records", lines=True),
            "parquet": lambda: frame.to_parquet(file),
        }
        write.get(ending, lambda: frame.to_csv(file, index=False))()
        with pytest.raises(ValueError, match=r"all items are .*numbers, which could be names or indices.*--count-from"):
            formats.read(file)
        assert formats.read(file, count_from=1) == Comparisons.odd_one_out([[0, 2, 1], [3, 1, 0]], [1, 0])
        assert formats.read(file, count_from=0).shown.tolist() == [[1, 3, 2], [4, 2, 1]]
        names = ["ant", "bee", "cat", "dog"]
        assert formats.read(file, count_from=1, items=names).items == tuple(names)
        assert formats.read(file, items=dict(zip("1234", names, strict=True))).shown.tolist() == [[0, 2, 1], [3, 1, 0]]
        assert formats.read(file, items=["4", "3", "2", "1"]).shown.tolist() == [[3, 1, 2], [0, 2, 3]]

    @pytest.mark.parametrize("ending", ["jsonl", "parquet", "csv"])
    def test_indices_in_files_of_ours_count_from_0(self, tmp_path: Path, ending: str) -> None:
        said = Comparisons.odd_one_out([[1, 3, 2]], [1])
        formats.write(said, tmp_path / f"said.{ending}", details={"place": [4]})
        assert formats.read(tmp_path / f"said.{ending}") == said
        with pytest.raises(ValueError, match="the file counts items from 0; expected it to be left out"):
            formats.read(tmp_path / f"said.{ending}", count_from=1)

    def test_parquet_from_elsewhere(self, tmp_path: Path, said: Comparisons) -> None:
        said.to_frame().to_parquet(tmp_path / "named.parquet")
        again = formats.read(tmp_path / "named.parquet")
        assert again.items == ("ant", "bee", "cat")
        assert again == said.reindex(again.items)
        plain = Comparisons.closer([0], [1], [2]) + Comparisons.must_link([[3, 4]])
        plain.to_frame().to_parquet(tmp_path / "plain.parquet")
        assert formats.read(tmp_path / "plain.parquet") == plain


class TestRefusals:
    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("", "no line names the columns"),
            (NAMES, "no line names the columns"),
            ("a,b,c,answer\n", "no answers: there is a header and no row below it"),
            ("a,b,answer\n", "column c is missing; expected at least a, b, c, answer"),
            ("a,b,c,answer,wieght\n", "column 'wieght' is unknown; expected kind, a"),
            ("a,b,c,a,answer\n", "column 'a' stands twice"),
            ("a,b,c,answer\nant,bee,cat\n", "line 2: 3 fields; expected 4"),
            ("a,b,c,answer\nant,bee,cat,a,b\n", "line 2: 5 fields; expected 4"),
            (
                "a,b,c,answer\nant,bee,cat,0\n",
                "line 2: answer '0' could be a position, .*; expected a, b or c, .*cant_tell",
            ),
            ("a,b,c,answer\nant,bee,cat,\n", "line 2: the answer is empty, .*; expected a, b or c"),
            ("a,b,c,answer\nant,bee,,a\n", "line 2: items .*: c is missing; expected odd_one_out to fill in a, b, c"),
            ("a,b,c,answer\nant,bee,ant,a\n", "line 2: .* repeats an item"),
            ("a,b,c,answer\n1,2,3,a\n", "could be names or indices; expected columns .*a_name.*a_index.*--count-from"),
            ("kind,a,b,c\nodd_one_out,ant,bee,cat\n", "column answer is missing"),
            ("kind,a,b,c,answer\nodd,ant,bee,cat,a\n", "line 2: kind 'odd' is unknown; expected odd_one_out, closer"),
            ("kind,a,b,c,answer\n,ant,bee,cat,a\n", "line 2: kind None is unknown"),
            ("kind,a,b,c,answer\ncloser,ant,bee,cat,a\n", "line 2: answer 'a'; expected none for closer"),
            (
                "kind,a,b,c,answer\nmust_link,ant,bee,cat,\n",
                "line 2: .*: c is not empty; expected must_link to fill in a, b",
            ),
            ("kind,a,b,c,answer\nitem,ant,bee,,\n", "line 2: a row of kind item .*expected a name in a, no more"),
            ("kind,a,b,c,answer\nitem,,,,\n", "line 2: a row of kind item"),
            ("kind,a,b,c,answer\nitem,ant,,,\nitem,ant,,,\n", "positions 0 and 1: both are 'ant'"),
            ("kind,a,b,c,answer\nitem,ant,,,\nmust_link,ant,bee,,\n", "line 3: b is 'bee'; expected one of the 1 item"),
            (INDICES + "kind,a,b,c,answer\nitem,ant,,,\n", "items stand by index, yet"),
            (INDICES + "a,b,c,answer\n0,1,ant,a\n", "line 3: c is 'ant'; expected an item's index"),
            (INDICES + "a,b,c,answer\n0,1,-2,a\n", "line 3: c is '-2'; expected an item's index"),
            (INDICES + "a,b,c,answer\n0,1,1_0,a\n", "line 3: c is '1_0'"),
            (INDICES + f"a,b,c,answer\n0,1,{'9' * 5000},a\n", "line 3: c is '999"),
            (INDICES + "a,b,c,answer,weight\n0,1,2,a,0\n", "line 3: weight 0.0; expected a positive"),
            (INDICES + "a,b,c,answer,weight\n0,1,2,a,1_0\n", "line 3: weight is '1_0'; expected a finite number"),
            (INDICES + "a,b,c,answer,weight\n0,1,2,a,1e999\n", "line 3: weight is inf"),
            (INDICES + "a,b,c,answer,bound\n0,1,2,a,nan\n", "line 3: bound is 'nan'"),
            (INDICES + "a,b,c,answer,bound\n0,1,2,a,1\n", "line 3: bound 1.0; .*links only"),
            (INDICES + "a,b,c,answer\n0,1,2,a", "the last line is cut off"),
            (INDICES.replace("1", "3"), "version 3 of the format is newer than this oddkernel"),
            (INDICES.replace("indices", "both"), "line 1: .*expected '# oddkernel comparisons 1; items: names'"),
            ('a,b,c,answer\nant,"be\ne",cat,a\nant,"bee,cat,a\n', "line 4: unexpected end of data"),
            (b"a,b,c,answer\n\xff,b,c,a\n", "line 2: byte 0xff is not UTF-8"),
            ("a,b,c,answer\nan\0t,bee,cat,a\n", "NUL"),
        ],
    )
    def test_csv(self, tmp_path: Path, text: str | bytes, message: str) -> None:
        with pytest.raises(ValueError, match=rf"bad\.csv: .*{message}"):
            read_text(tmp_path, "bad.csv", text)

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("", "line 1: not JSON"),
            (HEADER + '{"a": "ant", "b": "bee", "c": "ca', "line 2: not JSON"),
            (HEADER + "[1, 2, 3]\n", r"line 2: \[1, 2, 3\]; expected an object"),
            (HEADER + '{"a": "ant", "b": "bee", "c": "cat"}\n', "line 2: answer None; expected a, b or c"),
            (HEADER + '{"a": "ant", "b": "bee", "c": "cat", "answer": 0}\n', "line 2: answer 0; expected a, b or c"),
            (
                HEADER + '{"a": "ant", "b": "bee", "c": "cow", "answer": "a"}\n',
                "line 2: c is 'cow'; expected one of the 3",
            ),
            (HEADER + '{"a": "ant", "b": "bee", "c": 2, "answer": "a"}\n', "line 2: c is 2; expected one of the 3"),
            (HEADER + '{"a": "ant", "a": "bee"}\n', "line 2: not JSON .a key stands twice"),
            (HEADER + '{"a": "ant", "x": "bee"}\n', "line 2: column 'x' is unknown"),
            (HEADER + '{"kind": [], "a": "ant", "b": "bee"}\n', r"line 2: kind \[\] is unknown"),
            ('{"kind": "must_link", "a": 1, "b": true}\n', "line 1: b is True; expected an item's index"),
            ('{"kind": "must_link", "a": 1, "b": 1.0}\n', "line 1: b is 1.0; expected an item's index"),
            ('{"kind": "must_link", "a": 1, "b": "bee"}\n', "line 1: b is 'bee'; expected an item's index"),
            ('{"kind": "must_link", "a": 1, "b": 2, "bound": NaN}\n', "line 1: not JSON .NaN"),
            ('{"kind": "must_link", "a": "1", "b": "2", "weight": "1"}\n', "line 1: weight is '1'"),
            ('\n{"kind": "must_link", "a": "1", "b": "2", "rater": 1.5}\n', "line 2: rater 1.5 is a float"),
            ("\n \n", "line 1: not JSON"),
            ('{"a": 1, "b": 2, "c": 3, "answer": "c"}\n', "all items are whole numbers.*count_from=1 .--count-from"),
            ('{"a": ' + "[" * 100_000, "line 1: not JSON"),
            (HEADER.replace("1", "2"), "version 2 of the format is newer"),
            (HEADER.replace("1", '"1"'), "version '1'; expected a whole number"),
            (HEADER.replace('["ant", "bee", "cat"]', "3"), "items 3 in the header; expected a list of names, or null"),
            (HEADER.replace("items", "names"), "expected the keys oddkernel .*, version and items"),
            (HEADER.replace("bee", "ant"), "positions 0 and 1: both are 'ant'"),
            (b"\xff", "line 1: byte 0xff is not UTF-8"),
        ],
    )
    def test_jsonl(self, tmp_path: Path, text: str | bytes, message: str) -> None:
        with pytest.raises(ValueError, match=rf"bad\.jsonl: .*{message}"):
            read_text(tmp_path, "bad.jsonl", text)

    def test_parquet(self, tmp_path: Path, said: Comparisons) -> None:
        file = tmp_path / "bad.parquet"
        formats.write(said, file)
        with pytest.raises(ValueError, match=r"bad\.parquet: not a readable Parquet file"):
            read_text(tmp_path, "bad.parquet", file.read_bytes()[:-20])
        columns = {"a": ["ant"], "b": ["bee"], "c": ["cat"], "answer": ["d"]}
        pq.write_table(pa.table(columns), file)
        with pytest.raises(ValueError, match="row 0: answer 'd'; expected a, b or c"):
            formats.read(file)
        pq.write_table(pa.table({**columns, "c": [1.5]}), file)
        with pytest.raises(ValueError, match=r"row 0: c is 1\.5; expected one of the 2 item names"):
            formats.read(file)
        pq.write_table(pa.table({"a": ["ant"]}), file)
        with pytest.raises(ValueError, match="column b, c, answer is missing"):
            formats.read(file)
        pq.write_table(pa.table(columns).replace_schema_metadata({"oddkernel": "no"}), file)
        with pytest.raises(ValueError, match="metadata: not JSON"):
            formats.read(file)

    def test_parquet_without_pyarrow(self, tmp_path: Path, said: Comparisons, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "pyarrow", None)
        with pytest.raises(ImportError, match=r'pip install "oddkernel\[parquet\]"'):
            formats.write(said, tmp_path / "said.parquet")

    def test_excel_without_openpyxl(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "said.xlsx").touch()
        monkeypatch.setitem(sys.modules, "openpyxl", None)
        with pytest.raises(ImportError, match=r'pip install "oddkernel\[excel\]"'):
            formats.read(tmp_path / "said.xlsx")

    def test_a_damaged_list_of_items_is_named(self, tmp_path: Path, said: Comparisons) -> None:
        formats.write(said, tmp_path / "said.csv")
        (tmp_path / "said.items.csv").write_text("index,item\n0\n")
        with pytest.raises(ValueError, match=r"said\.csv: said\.items\.csv, which lists the items: line 2: 1 fields"):
            formats.read(tmp_path / "said.csv")

    @given(data=st.data())
    @reuse_folder
    def test_damaged_workbook_is_read_or_refused(self, tmp_path: Path, data: st.DataObject) -> None:
        whole = bytearray((Path(__file__).parents[1] / "files_people_have" / "excel.xlsx").read_bytes())
        if data.draw(st.booleans()):
            del whole[data.draw(st.integers(0, len(whole))) :]
        else:
            whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
        (tmp_path / "said.xlsx").write_bytes(bytes(whole))
        try:
            assert isinstance(formats.read(tmp_path / "said.xlsx"), Comparisons)
        except ValueError as error:
            assert str(error).startswith(str(tmp_path / "said.xlsx"))  # noqa: PT017

    def test_unknown_format(self, tmp_path: Path, said: Comparisons) -> None:
        with pytest.raises(
            ValueError, match=r"said\.doc: .*expected one of csv, jsonl, parquet, tsv, txt, xlsx, ndjson, or"
        ):
            formats.read(tmp_path / "said.doc")
        with pytest.raises(ValueError, match=r"said\.sav: .*export it as \.csv"):
            formats.read(tmp_path / "said.sav")
        with pytest.raises(ValueError, match=r"said\.txt: .*expected one of csv, jsonl, parquet, or"):
            formats.write(said, tmp_path / "said.txt")
        with pytest.raises(ValueError, match=r"format 'xls'; expected one of csv, jsonl, parquet"):
            formats.write(said, tmp_path / "said.csv", format="xls")

    def test_field_too_long_for_csv(self, tmp_path: Path) -> None:
        said = Comparisons.must_link([[0, 1]], items=["x" * 200_000, "y"])
        with pytest.raises(ValueError, match="too long for a CSV field; expected jsonl or parquet"):
            formats.write(said, tmp_path / "said.csv")
        formats.write(said, tmp_path / "said.jsonl")
        assert formats.read(tmp_path / "said.jsonl") == said

    @pytest.mark.parametrize("format", FORMATS)
    @given(said=comparisons(max_rows=2), data=st.data())
    @reuse_folder
    def test_damaged_file_is_read_or_refused(
        self, tmp_path: Path, format: str, said: Comparisons, data: st.DataObject
    ) -> None:
        file = tmp_path / f"said.{format}"
        formats.write(said, file)
        whole = bytearray(file.read_bytes())
        if data.draw(st.booleans()):
            del whole[data.draw(st.integers(0, len(whole))) :]
        else:
            whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
        file.write_bytes(bytes(whole))
        try:
            assert isinstance(formats.read(file), Comparisons)
        except ValueError as error:
            assert str(error).startswith(str(file))  # noqa: PT017


class TestWriting:
    def test_interrupted_leaves_the_old_file(
        self, tmp_path: Path, said: Comparisons, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        file = tmp_path / "said.csv"
        formats.write(said, file)

        def interrupt(*_: object) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr(os, "fsync", interrupt)
        with pytest.raises(KeyboardInterrupt):
            formats.write(said[:1], file)
        assert formats.read(file) == said
        assert {entry.name for entry in tmp_path.iterdir()} == {"said.csv", "said.items.csv"}

    def test_follows_links_and_the_umask(self, tmp_path: Path, said: Comparisons) -> None:
        (tmp_path / "plain.txt").touch()
        (tmp_path / "link.csv").symlink_to(tmp_path / "target.csv")
        formats.write(said, tmp_path / "link.csv")
        assert (tmp_path / "link.csv").is_symlink()
        assert formats.read(tmp_path / "target.csv") == said
        modes = {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("plain.txt", "target.csv")}
        assert len(modes) == 1

    def test_missing_folder(self, tmp_path: Path, said: Comparisons) -> None:
        with pytest.raises(FileNotFoundError):
            formats.write(said, tmp_path / "nowhere" / "said.csv")


@given(st.lists(st.text(alphabet="'=+-@\t\r\n1.a", min_size=1, max_size=4), min_size=3, max_size=6, unique=True))
@reuse_folder
def test_text_that_a_spreadsheet_would_run_is_harmless_in_csv_and_reads_back(tmp_path: Path, names: list[str]) -> None:
    given = Comparisons.odd_one_out([names[:3]], [0], rater=[names[-1]], items=names)
    formats.write(given, tmp_path / "a.csv", details={"study": [names[0]], "place": [-1]})
    assert formats.read(tmp_path / "a.csv") == given
    assert formats.details(tmp_path / "a.csv") == {"study": [names[0]], "place": [-1]}
    for file in tmp_path.iterdir():
        for row in list(csv.reader(io.StringIO(file.read_bytes().decode(), newline="")))[1:]:
            for cell in row:
                assert not cell.startswith(("=", "@", "\t", "\r", "\n"))
                if cell.startswith(("+", "-")):
                    float(cell)


def test_an_apostrophe_is_a_name_like_others_where_the_file_does_not_say_that_they_guard(tmp_path: Path) -> None:
    for first in ("# oddkernel comparisons 1; items: names\n", ""):
        said = read_text(tmp_path, "a.csv", f"{first}a,b,c,answer\n'=x,y,z,a\n")
        assert "'=x" in (said.items or ())
    plain = Comparisons.odd_one_out([["'x", "-5", "z"]], [0], items=["'x", "-5", "z"])
    formats.write(plain, tmp_path / "b.csv")
    assert (tmp_path / "b.csv").read_text().splitlines()[1].startswith("'x,-5,z,a,")
    assert formats.read(tmp_path / "b.csv") == plain


OLDER = """\
# oddkernel comparisons {version}; items: names
kind,a,b,c,answer,bound,weight,rater
item,=ant,,,,,,
item,bee,,,,,,
item,cat,,,,,,
odd_one_out,=ant,bee,cat,b,,1.0,ann
"""


def test_files_of_earlier_versions_are_read(tmp_path: Path) -> None:
    said = Comparisons.odd_one_out([[0, 1, 2]], [1], rater="ann", items=["=ant", "bee", "cat"])
    assert read_text(tmp_path, "said.csv", OLDER.format(version=1)) == said
    assert read_text(tmp_path, "said.csv", OLDER.format(version=2).replace("=ant", "'=ant")) == said
    assert read_text(tmp_path, "said.csv", OLDER.format(version=1).partition("\n")[2]) == said


class TestListing:
    """The list of items beside a file."""

    def test_is_written_where_the_rows_do_not_tell_all_items_in_order(self, tmp_path: Path) -> None:
        said = Comparisons.odd_one_out([[0, 1, 2]], [1], items=["ant", "bee", "cat"])
        formats.write(said, tmp_path / "said.csv")
        assert [file.name for file in tmp_path.iterdir()] == ["said.csv"]
        more = said.reindex(["ant", "bee", "cat", "dog"])
        formats.write(more, tmp_path / "said.csv")
        assert formats.read(tmp_path / "said.csv") == more
        formats.write(said, tmp_path / "said.csv")  # an older list must not tell of other items
        assert formats.read(tmp_path / "said.csv") == said

    def test_names_that_are_numbers_are_names_without_it(self) -> None:
        said = Comparisons.odd_one_out([[0, 1, 2]], [1], items=["10", "2", "5"])
        data = formats.dump(said, "csv")
        assert data.startswith(b"a_name,b_name,c_name,answer")
        assert formats.FORMATS["csv"].read(data).understand() == said

    def test_an_item_that_it_lacks_is_refused(self, tmp_path: Path, said: Comparisons) -> None:
        formats.write(said, tmp_path / "said.csv")
        text = (tmp_path / "said.csv").read_text().replace("cat", "cut")
        (tmp_path / "said.csv").write_text(text)
        with pytest.raises(
            ValueError, match=r"line 2: c is 'cut'; expected one of the 4 item names; did you mean 'cat'.*said\.items"
        ):
            formats.read(tmp_path / "said.csv")

    def test_another_file_of_that_name_is_left_alone(self, tmp_path: Path, said: Comparisons) -> None:
        (tmp_path / "said.items.csv").write_text("item,legs\nant,6\n")
        with pytest.raises(ValueError, match=r"said\.items\.csv: is there already"):
            formats.write(said, tmp_path / "said.csv")
        assert not (tmp_path / "said.csv").exists()

    @pytest.mark.parametrize(("format", "first"), [("spose", 0), ("psiz", 1), ("cblearn-list-count", 0)])
    def test_numbered_exports_get_their_names_back(self, tmp_path: Path, format: str, first: int) -> None:
        said = Comparisons.odd_one_out([[3, 1, 2]], [1], items=["elk", "bee", "cat", "ant"])
        with pytest.warns(UserWarning, match="names dropped"):
            formats.write(said, tmp_path / "said.txt", format=format)
        listing = formats.listing_of(tmp_path / "said.txt")
        assert listing.read_text().splitlines()[1] == f"{first},elk"
        again = formats.read(tmp_path / "said.txt", format=format, items=read_names(listing))
        assert again.items == said.items
        assert {again.items[i] for i in again.constrained} == {"ant", "bee", "cat"}


def test_further_columns_of_others_are_left_aside_and_named(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": ["ant"], "b": ["oak"], "c": ["bee"], "answer": ["oak"], "mood": ["good"]})
    frame.rename_axis("trial").to_parquet(tmp_path / "said.parquet")
    frame.to_json(tmp_path / "said.jsonl", orient="records", lines=True)
    frame.to_json(tmp_path / "said.ndjson", orient="records", lines=True)
    frame.to_csv(tmp_path / "said.csv", index=False)
    for ending in ("parquet", "jsonl", "ndjson", "csv"):
        said, notes = formats.examine(tmp_path / f"said.{ending}")
        assert said == Comparisons.odd_one_out([[0, 2, 1]], [1], items=["ant", "bee", "oak"])
        assert notes == ("Columns left aside: mood.",)
    frame.rename(columns={"mood": "wieght"}).to_parquet(tmp_path / "said.parquet")
    with pytest.raises(ValueError, match=r"column 'wieght' is unknown; .* did you mean 'weight'"):
        formats.read(tmp_path / "said.parquet")


def test_whole_numbers_that_a_parquet_file_holds_as_floats(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": [4.0, 1.0], "b": [0.0, 2.0], "c": [1.0, 3.0], "answer": ["a", "cant_tell"]})
    frame.to_parquet(tmp_path / "said.parquet")
    said = formats.read(tmp_path / "said.parquet", count_from=0)
    assert said == Comparisons.odd_one_out([[4, 0, 1], [1, 2, 3]], [0, -1])


@given(said=comparisons())
@reuse_folder
def test_pandas_reads_every_table_that_we_write(tmp_path: Path, said: Comparisons) -> None:
    formats.write(said, tmp_path / "said.csv")
    frame = pd.read_csv(tmp_path / "said.csv")
    assert len(frame) == len(said)
    assert set(frame.columns) >= {"answer", "rater", "weight", "bound", "kind"}
    assert frame["kind"].tolist() == said.to_dict()["kind"]
    if (tmp_path / "said.items.csv").exists():
        listed = pd.read_csv(tmp_path / "said.items.csv", keep_default_na=False, dtype=str)
        assert listed.columns.tolist() == ["index", "item"]
        (tmp_path / "said.items.csv").unlink()
