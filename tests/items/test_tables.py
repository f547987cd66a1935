from __future__ import annotations

from datetime import date
from pathlib import Path

import numpy as np
import openpyxl
import pandas as pd
import polars as pl
import pyarrow as arrow
import pyarrow.parquet
import pytest

from oddkernel import Comparisons
from oddkernel.items import tables
from oddkernel.scale.source import open_source

X = np.array([[1.5, -2.0], [0.1, 3e-9], [7.0, 0.0]])
NAMES = ("ant", "bee, or wasp", "Ünïcode")


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("named", [True, False])
def test_written_tables_are_read_back_exactly(suffix: str, named: bool, tmp_path: Path) -> None:
    path = tmp_path / f"items{suffix}"
    tables.write(path, {**({"item": NAMES} if named else {}), "width": X[:, 0], "height": X[:, 1]})
    items = tables.read(path)
    assert np.array_equal(items.X, X)
    assert items.names == (NAMES if named else None)
    assert items.columns == ("width", "height")


def test_arrays(tmp_path: Path) -> None:
    np.save(tmp_path / "plain.npy", X.astype(np.float32))
    np.savez(tmp_path / "named.npz", features=X, names=np.array(NAMES))
    np.savez(tmp_path / "otherwise.npz", X=X, label=np.array(NAMES))
    assert tables.read(tmp_path / "plain.npy").names is None
    assert tables.read(tmp_path / "named.npz").names == NAMES
    assert tables.read(tmp_path / "otherwise.npz").names is None
    assert tables.read(tmp_path / "otherwise.npz", names="label").names == NAMES


@pytest.mark.parametrize(
    "text",
    [
        ",legs,wings\nant,6,0\ncat,4,1\n",  # pandas, to_csv of a frame with names in its index
        '"","legs","wings"\n"ant",6,FALSE\n"cat",4,TRUE\n',  # R, write.csv of a frame with row names
        ",item,legs,wings\n0,ant,6,0\n1,cat,4,1\n",  # pandas, a frame with a column of names
        '"","item","legs","wings"\n"1","ant",6,FALSE\n"2","cat",4,TRUE\n',  # R
        "species;legs;wings\nant;6,0;0,0\ncat;4,0;1,0\n",  # a column of names called otherwise
        "Unnamed: 0,Name,legs,wings\n0,ant,6,False\n1,cat,4,True\n",  # pandas, a frame that was written twice
        "item\tlegs\twings\nant\t6\t0\ncat\t4\t1\n",
        '"legs" "wings"\n"ant" 6 0\n"cat" 4 1\n',  # R, write.table
        "legs,wings\nant,6,0\ncat,4,1\n",  # R, write.table(sep = ",")
    ],
)
def test_tables_as_pandas_and_r_write_them(text: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(text)
    items = tables.read(tmp_path / "a.csv")
    assert (items.names, items.columns) == (("ant", "cat"), ("legs", "wings"))
    assert items.X.tolist() == [[6.0, 0.0], [4.0, 1.0]]


def test_parquet_files_as_pandas_and_others_write_them(tmp_path: Path) -> None:
    frame = pd.DataFrame({"legs": [6, 4], "wings": [False, True]}, index=["ant", "cat"])
    frame.to_parquet(tmp_path / "named.parquet")
    frame.reset_index(names="species").to_parquet(tmp_path / "column.parquet")
    frame.reset_index(names="Name").iloc[::-1].iloc[::-1].to_parquet(tmp_path / "called.parquet")
    frame.reset_index(names="item").set_axis([7, 3]).to_parquet(tmp_path / "numbered.parquet")
    frame.rename_axis("species").to_parquet(tmp_path / "index.parquet")
    pl.from_pandas(frame.reset_index(names="species")).write_parquet(tmp_path / "polars.parquet")
    for name in ("named", "column", "called", "numbered", "index", "polars"):
        items = tables.read(tmp_path / f"{name}.parquet")
        assert (items.names, items.columns) == (("ant", "cat"), ("legs", "wings"))
        assert items.X.tolist() == [[6.0, 0.0], [4.0, 1.0]]
        blocks = list(open_source(tmp_path / f"{name}.parquet", n_features=2).blocks(2))
        assert blocks[0].X.tolist() == items.X.tolist()
        assert blocks[0].names == ["ant", "cat"]


def test_another_column_may_hold_the_names(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("species,legs\nant,6\ncat,4\n")
    assert tables.read(tmp_path / "a.csv", names="species").names == ("ant", "cat")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "empty"),
        ("1,2\n3,4\n", "line 1 holds only numbers"),
        ("item,legs\nant,6\ncat\n", "line 3: 1 fields; expected 2"),
        ("item,legs\nant,six\n", "line 2, column legs: 'six'; expected a number"),
        ("item,legs\nant,\n", "line 2, column legs: '', a missing value; .*fill it in"),
        ("item,legs\nant,nan\n", "line 2, column legs: 'nan', a missing value"),
        ("item,legs\nant,6\ncat,NA\n", "line 3, column legs: 'NA', a missing value"),
        ("item,legs\nant,inf\n", "line 2, column legs: 'inf'; expected a finite number"),
        ("item,legs\nant,6\nbee,TRUE\n", "line 3, column legs: 'TRUE'; expected a number"),
        ("item,born\nant,2024-05-01\n", "column born: '2024-05-01'; expected a number; .*categories or dates"),
        ("size,legs\n2,6\nbig,4\n", "line 3, column size: 'big'; expected a number"),
        (",legs,wings\nant,6,\ncat,4,1\n", "line 2, column wings: '', a missing value"),
        (",legs,kind\nant,6,insect\ncat,4,mammal\n", "line 2, column kind: 'insect'; .*if it holds categories"),
        ("id,legs\n1,6\n2,4\n", "column id numbers the items, so it is no feature; drop it, or choose it as"),
        ("item,legs\nant,6,7\ncat,4,1\n", "line 2, column : 'ant'; expected a number"),
        ("species,kind,legs\nant,insect,6\n", "column species: 'ant'; .*choose it as the column of names"),
        ("item,legs\nant,6\nant,4\n", "both are 'ant'"),
        ("item,name,legs\nant,ant,6\n", "both item and name"),
        ("item,legs,legs\nant,6,6\n", "'legs' stands twice"),
        ("item\nant\n", "no features"),
        (
            "Table 1\n\nitem,legs\nant,6\n",
            r"line 1 holds only 'Table 1', and the header seems to be line 3 \(item, legs\)",
        ),
        ("item,legs\n", "no features"),
        ('item,legs\n"ant,6\n', "line 2: unexpected end"),
    ],
)
def test_bad_csv_is_refused(text: str, sentence: str, tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_text(text)
    with pytest.raises(ValueError, match=f"bad.csv: .*{sentence}"):
        tables.read(tmp_path / "bad.csv")


FRAME = pd.DataFrame({"p": np.arange(6) + 0.5, "q": [3, 1, 2, 9, 8, 7]})
CUT = {
    "shuffled": FRAME.sample(frac=1, random_state=0),
    "sorted": FRAME.sort_values("q"),
    "reversed": FRAME[::-1],
    "filtered": FRAME[FRAME.q > 1],
    "begins later": FRAME[3:],
    "dropped": FRAME.drop(5).drop(2),
    "joined": pd.concat([FRAME, FRAME]),
    "floats": FRAME.set_axis(np.arange(6)[::-1] * 1.0),
}


@pytest.mark.parametrize("frame", CUT.values(), ids=CUT)
def test_an_index_that_is_not_the_rows_place_is_no_feature(frame: pd.DataFrame, tmp_path: Path) -> None:
    frame.to_csv(tmp_path / "cut.csv")
    frame.to_excel(tmp_path / "cut.xlsx")
    frame.reset_index(names="Unnamed: 0").to_csv(tmp_path / "twice.csv")
    for name in ("cut.csv", "cut.xlsx", "twice.csv"):
        with pytest.raises(
            ValueError, match=r"the column .* is an index other than 0, 1, 2, .*index=False.*or item as"
        ):
            tables.read(tmp_path / name)
    frame.to_parquet(tmp_path / "cut.parquet")
    with pytest.raises(
        ValueError, match=r"the index of the frame begins with .*reset_index\(drop=True\).*astype\(str\)"
    ):
        tables.read(tmp_path / "cut.parquet")
    frame.reset_index(drop=True).to_parquet(tmp_path / "cut.parquet")
    frame.to_csv(tmp_path / "cut.csv", index=False)
    for name in ("cut.parquet", "cut.csv"):
        assert tables.read(tmp_path / name).columns == ("p", "q")
    called = frame[~frame.index.duplicated()]
    called.rename_axis("item").to_csv(tmp_path / "cut.csv")
    called.set_axis(called.index.astype(str)).to_parquet(tmp_path / "cut.parquet")
    for name in ("cut.parquet", "cut.csv"):
        items = tables.read(tmp_path / name)
        assert (items.names, items.columns) == (tuple(called.index.astype(str)), ("p", "q"))


def test_an_index_beside_names_is_left_out(tmp_path: Path) -> None:
    frame = pd.DataFrame({"item": ["ant", "bee", "cat"], "legs": [6, 6, 4]}, index=[7, 3, 5])
    frame.to_csv(tmp_path / "named.csv")
    assert tables.read(tmp_path / "named.csv").columns == ("legs",)
    (tmp_path / "named.csv").write_text(",item,legs\n0.5,ant,6\n1.5,bee,6\n")
    with pytest.raises(ValueError, match=r"column without a name holds 0\.5; expected a name"):
        tables.read(tmp_path / "named.csv")


@pytest.mark.parametrize(
    ("text", "names", "columns"),
    [
        (",0,1\nant,6,0\n", ("ant",), ("0", "1")),
        ("item,1,2\nant,6,0\n", ("ant",), ("1", "2")),
        ("id,1,2\nant,6,0\n", ("ant",), ("1", "2")),
        ("ant,1,2\nbee,3,4\n", None, None),
        ("ant;1,5;2,5\nbee;3;4,5\n", None, None),
        ("species,0,1\nant,6,0\n", None, None),
    ],
)
def test_a_first_line_that_may_be_an_item_is_refused(
    text: str, names: tuple[str, ...] | None, columns: tuple[str, ...] | None, tmp_path: Path
) -> None:
    file = tmp_path / "items.csv"
    file.write_text(text)
    if names is not None:
        assert (tables.read(file).names, tables.read(file).columns) == (names, columns)
        return
    for read in (tables.read, tables.read_names):
        with pytest.raises(ValueError, match=r"line 1 holds .*, then only numbers, so it may be an item"):
            read(file)


def test_the_refusal_of_a_column_that_numbers_items_names_the_option(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,legs\n7,6\n2,4\n")
    with pytest.raises(ValueError, match=r"in every command that reads this table: names='id' \(--names id\)"):
        tables.read(tmp_path / "a.csv")
    assert tables.read(tmp_path / "a.csv", names="id").names == ("7", "2")
    pd.read_csv(tmp_path / "a.csv").to_parquet(tmp_path / "a.parquet")
    with pytest.raises(ValueError, match=r"in every command that reads this table: names='id' \(--names id\)"):
        tables.read(tmp_path / "a.parquet")
    items = tables.read(tmp_path / "a.parquet", names="id")
    assert (items.names, items.columns) == (("7", "2"), ("legs",))


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        ({"id": [7, 2], "legs": [6, 4]}, "column id numbers the items"),
        ({"legs": ["six"]}, "column legs holds string"),
        ({"legs": [6, None]}, "column legs has 1 entries missing"),
        ({"item": [1], "legs": [6]}, "expected text"),
        ({"item": ["ant"], "born": [date(2024, 5, 1)]}, "column born holds date32.*categories or dates"),
    ],
)
def test_bad_parquet_is_refused(columns: dict[str, list[object]], sentence: str, tmp_path: Path) -> None:
    arrow.parquet.write_table(arrow.table(columns), tmp_path / "bad.parquet")
    with pytest.raises(ValueError, match=sentence):
        tables.read(tmp_path / "bad.parquet")


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".parquet"])
@pytest.mark.parametrize("data", [b"", b"nonsense", b"\x93NUMPY\x01\x00"])
def test_damaged_files_are_refused(suffix: str, data: bytes, tmp_path: Path) -> None:
    (tmp_path / f"bad{suffix}").write_bytes(data)
    with pytest.raises(ValueError, match="not a readable"):
        tables.read(tmp_path / f"bad{suffix}")


def test_bad_arrays_are_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "objects.npy", np.array([[{}]], dtype=object))
    np.save(tmp_path / "flat.npy", np.arange(3))
    np.savez(tmp_path / "unnamed.npz", X)
    np.savez(tmp_path / "few.npz", X=X, names=np.array(NAMES[:2]))
    for name, sentence in {
        "objects.npy": "not a readable",
        "flat.npy": r"shape \(3,\)",
        "unnamed.npz": "arrays arr_0; expected one called X or features",
        "few.npz": "2 names for 3 items",
        "items.doc": r"ends with .npy, .npz, .csv, .parquet",
    }.items():
        with pytest.raises(ValueError, match=sentence):
            tables.read(tmp_path / name)
    with pytest.raises(ValueError, match="holds no names"):
        tables.read(tmp_path / "flat.npy", names="item")


def test_answers_are_joined_by_name_or_refused() -> None:
    by_name = Comparisons.odd_one_out([["ant", "cat", "dog"]], [0], items=["dog", "cat", "ant"])
    by_row = Comparisons.odd_one_out([[0, 1, 2]], [0])
    named, nameless = tables.Items(X, names=("ant", "cat", "dog")), tables.Items(X)
    assert named.join(by_name).shown.tolist() == [[0, 1, 2]]
    assert nameless.join(by_row) == by_row
    with pytest.raises(ValueError, match=r"give names to the answers .*--items FEATURES"):
        named.join(by_row)
    with pytest.raises(ValueError, match="add a column called item"):
        nameless.join(by_name)
    with pytest.raises(ValueError, match="missing from the 3 given"):
        tables.Items(X, names=NAMES).join(by_name)
    with pytest.raises(ValueError, match="out of range"):
        tables.Items(X[:2]).join(by_row)


def test_features_are_put_into_the_order_learned_from() -> None:
    items = tables.Items(X, columns=("width", "height"))
    assert np.array_equal(items.features(["height", "width"]), X[:, ::-1])
    assert np.array_equal(items.features(None), X)
    with pytest.raises(ValueError, match=r"missing \['depth'\], new \['height'\]"):
        items.features(["depth", "width"])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("german.csv", "\ufeffItem;Breite;Höhe\r\nAmeise;0,5;1\r\nBiene;1,25;2\r\n;;\r\n"),
        ("tabs.tsv", "item\tBreite\tHöhe\nAmeise\t0.5\t1\nBiene\t1.25\t2\n"),
        ("sep.csv", "sep=;\nitem;Breite;Höhe\nAmeise;0.5;1\nBiene;1.25;2\n"),
    ],
)
def test_tables_that_people_have(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8", newline="")
    items = tables.read(tmp_path / name)
    assert items.names == ("Ameise", "Biene")
    assert items.columns == ("Breite", "Höhe")
    assert items.X.tolist() == [[0.5, 1.0], [1.25, 2.0]]


def test_excel_workbooks(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in (["item", "legs"], ["ant", 6], ["bee", 6.5]):
        book.active.append(row)
    book.save(tmp_path / "animals.xlsx")
    items = tables.read(tmp_path / "animals.xlsx")
    assert (items.names, items.X.tolist()) == (("ant", "bee"), [[6.0], [6.5]])
    assert tables.read_names(tmp_path / "animals.xlsx") == ["ant", "bee"]


def test_a_title_in_a_workbook_is_told_apart(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in (["Table 1: my cars"], [], ["item", "legs", "wings"], ["ant", 6, 0], ["bee", 6, 4]):
        book.active.append(row)
    book.save(tmp_path / "titled.xlsx")
    with pytest.raises(ValueError, match=r"titled.xlsx: row 1 holds only 'Table 1: my cars', .* row 3 \(item, legs, w"):
        tables.read(tmp_path / "titled.xlsx")


def test_numbers_that_could_be_read_two_ways_are_refused(tmp_path: Path) -> None:
    (tmp_path / "mixed.csv").write_text("item;x;y\nant;1,5;1.500\n")
    with pytest.raises(ValueError, match=r"mixed\.csv: numbers with a decimal comma \(1,5\) and a decimal point"):
        tables.read(tmp_path / "mixed.csv")
    (tmp_path / "thousands.csv").write_text('item,x\nant,"1,500"\n')
    with pytest.raises(ValueError, match="line 2, column x: '1,500'; expected a number with a decimal point"):
        tables.read(tmp_path / "thousands.csv")


@pytest.mark.parametrize(
    "text",
    [
        "item\tprice\nA1\t1,234\nA2\t950\n",
        "item;price\nA1;1.234\nA2;950\n",
        "item;x;price\nA1;0;-12.345\nA2;7;-100\n",
        "item;price\nA1;1,250\nA2;3\n",
        "item;x;price\nA1;1,234;1,500\nA2;2,345;800\n",
    ],
)
def test_numbers_that_may_have_separators_of_thousands_are_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "thousands.csv").write_text(text)
    with pytest.raises(
        ValueError, match=r"column price: .* beside .* could be .* or .*; expected \S+, or \S+0 for the"
    ):
        tables.read(tmp_path / "thousands.csv")


@pytest.mark.parametrize(
    ("text", "x"),
    [
        ("item;x\nA1;0,125\nA2;950\n", [0.125, 950.0]),
        ("item;x\nA1;1,234\nA2;950,5\n", [1.234, 950.5]),
        ("item;x;y\nA1;1,234;0,5\nA2;950;1\n", [1.234, 950.0]),
        ("item;x\nA1;1,234\nA2;2,345\n", [1.234, 2.345]),
        ("item;x\nA1;1.234\nA2;3\n", [1.234, 3.0]),
        ("item;x\nA1;1234,125\nA2;950\n", [1234.125, 950.0]),
        ("item;x\nA1;1,2340\nA2;950\n", [1.234, 950.0]),
        ("item,x\nA1,1.234\nA2,950\n", [1.234, 950.0]),
    ],
)
def test_decimals_that_are_no_thousands(text: str, x: list[float], tmp_path: Path) -> None:
    (tmp_path / "decimals.csv").write_text(text)
    assert tables.read(tmp_path / "decimals.csv").X[:, 0].tolist() == x


@pytest.mark.parametrize("number", ["1,234,567", "1.234.567", "1'234", "1 234 567,5", "1_000", "1_000_000"])
def test_numbers_with_separators_of_thousands_are_refused(number: str, tmp_path: Path) -> None:
    (tmp_path / "thousands.tsv").write_text(f"item\tx\nant\t{number}\nbee\t3\n")
    with pytest.raises(ValueError, match=r"line 2, column x: .* expected a number without separators of thousands"):
        tables.read(tmp_path / "thousands.tsv")


def test_lists_of_names(tmp_path: Path) -> None:
    file = tmp_path / "names.csv"
    file.write_text("index,item\n1,'=ant\n2,bee\n")
    assert tables.read_names(file) == {"1": "=ant", "2": "bee"}
    for text in ("animal,legs\nant,6\nbee,6\n", "animal\nant\nbee\n"):
        file.write_text(text)
        assert tables.read_names(file) == ["ant", "bee"]
    for text, message in (
        ("index,item\n1,ant\n1,bee\n", "column index is empty somewhere, or holds a value twice"),
        ("item\nant\nant\n", "both are 'ant'"),
        ("legs\n6\n", "columns legs; expected one called item or name"),
        ("legs,kind\n6,ant\n", "columns legs, kind; expected one called item or name"),
    ):
        file.write_text(text)
        with pytest.raises(ValueError, match=rf"names\.csv: .*{message}"):
            tables.read_names(file)


def test_names_that_a_spreadsheet_would_run_are_harmless(tmp_path: Path) -> None:
    tables.write(tmp_path / "groups.csv", {"item": ["=cmd()", "bee"], "group": [-1, 2]})
    assert (tmp_path / "groups.csv").read_text().splitlines() == ["item,group", "'=cmd(),-1", "bee,2"]
