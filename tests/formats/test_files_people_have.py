"""Files as people have them: each in `files_people_have` is read or refused as its table of expectations says."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from oddkernel import formats

FOLDER = Path(__file__).parents[1] / "files_people_have"
EXPECTED: list[dict[str, Any]] = tomllib.loads((FOLDER / "expected.toml").read_text(encoding="utf-8"))["file"]


@pytest.mark.parametrize("expected", EXPECTED, ids=[expected["name"] for expected in EXPECTED])
def test_is_read_or_refused_as_expected(expected: dict[str, Any]) -> None:
    file = FOLDER / expected["name"]
    options = {name: expected[name] for name in ("columns", "format", "count_from") if name in expected}
    if "refused" in expected:
        with pytest.raises(ValueError) as caught:  # noqa: PT011
            formats.read(file, **options)
        assert str(caught.value).startswith(f"{file}: ")
        assert expected["refused"] in str(caught.value)
        return
    said, notes = formats.examine(file, **options)
    n_items = len(said.constrained) if said.items is None else len(said.items)
    assert (len(said), int(said.decided.sum()), n_items) == tuple(expected[n] for n in ("answers", "decided", "items"))
    assert expected.get("notes", "") in notes or "notes" not in expected


def test_every_file_is_expected() -> None:
    named = {expected["name"] for expected in EXPECTED}
    files = {file.name for file in FOLDER.iterdir() if not file.name.endswith((".items.csv", ".toml"))}
    assert named == files
    assert len(named) >= 40
