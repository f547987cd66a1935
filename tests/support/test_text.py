"""`oddkernel.support.text`: CSV files as spreadsheets and people write them."""

from __future__ import annotations

import re

import pytest

from oddkernel.support.text import check_distinct, csv_table


def test_a_table_has_its_rows_and_their_places() -> None:
    data = '\ufeffitem,note\r\nant,"two\r\nlines"\r\n\r\nbee,\r\n'.encode()
    assert csv_table(data) == (["item", "note"], [("line 2", ["ant", "two\r\nlines"]), ("line 5", ["bee", ""])])


@pytest.mark.parametrize("data", [b"", b"\n\n"])
def test_an_empty_file_has_no_columns(data: bytes) -> None:
    assert csv_table(data) == ([], [])


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"item,legs\nant,6\nbee\n", "line 3: 1 fields; expected 2, one for each column"),
        (b"item,legs\nant,6,0\n", "line 2: 3 fields; expected 2"),
        (b'item,legs\n"ant,6\n', "line 2: unexpected end of data"),
        (b"item,legs\n\xffnt,6\n", "line 2: byte 0xff is not UTF-8"),
    ],
)
def test_what_is_no_table_is_refused(data: bytes, sentence: str) -> None:
    with pytest.raises(ValueError, match=re.escape(sentence)):
        csv_table(data)


@pytest.mark.parametrize(
    "data",
    [
        b"Table 1: my cars\n\nitem,legs,wings\nant,6,0\n",
        b"Table 1: my cars,,\n,,\nitem,legs,wings\nant,6,0\n",
        b"Table 1: my cars;;\r\n;;\r\nitem;legs;wings\r\nant;6;0,5\r\n",
        b"Table 1: my cars\n\nitem;legs\nant;6\nbee;7\n",
        b"\nTable 1: my cars\t\t\nfrom a book\t\t\nitem\tlegs\twings\nant\t6\t0\n",
        b"Table 1: my cars\n\nitem,legs\nant,6\nbee,7\n",
        b"Table 1: my cars,\n,\nitem,legs\nant,6\n",
        b"Table 1: my cars,,\nitem,legs,wings\nant,6,0\n",
    ],
)
def test_a_title_above_the_header_is_told_apart(data: bytes) -> None:
    with pytest.raises(
        ValueError, match=r"line \d holds only 'Table 1: my cars', and the header seems to be line"
    ) as told:
        csv_table(data)
    number = 1 + next(k for k, line in enumerate(data.splitlines()) if line.startswith(b"item"))
    assert f"line {number} (item, legs" in str(told.value)
    assert "delete what stands above it" in str(told.value)


@pytest.mark.parametrize(
    "data",
    [
        b"text\n\nthe cat; and the dog\nthe fox\n",  # one column, an empty line within
        b"x\na,1\nb,2\n",  # R's row names
        b",x\na,1\nb,2\n",  # an index that pandas wrote
        b"item,,\nant,,\n",
    ],
)
def test_a_short_header_is_no_title(data: bytes) -> None:
    csv_table(data)


def test_columns_of_one_name_are_refused() -> None:
    check_distinct(["item", "legs"])
    with pytest.raises(ValueError, match="column 'legs' stands twice"):
        check_distinct(["item", "legs", "legs"])


@pytest.mark.parametrize(
    "data",
    [
        b"item;legs\r\nant;6\r\n",
        b"item\tlegs\nant\t6\n",
        b"item, legs\nant, 6\n\n",
        b"sep=;\nitem;legs\nant;6\n",
        b"item,legs,\nant,6,\n,,\n",
        "item\tlegs\nant\t6\n".encode("utf-16"),
        "item,legs\nant,6\n".encode("utf-16"),
    ],
)
def test_tables_as_spreadsheets_write_them(data: bytes) -> None:
    header, rows = csv_table(data)
    assert header == ["item", "legs"]
    assert [cells for _, cells in rows] == [["ant", "6"]]


def test_the_rows_decide_where_the_header_leaves_two_ways() -> None:
    assert csv_table(b"item,height;cm\nant,1\n")[0] == ["item", "height;cm"]
    assert csv_table(b"item;height,cm\nant;1\n")[0] == ["item", "height,cm"]
