"""The files of the pages: every word is there, and nothing that the content security policy would stop."""

from __future__ import annotations

import json
import re
from pathlib import Path

STATIC = Path(__file__).parents[2] / "src" / "oddkernel" / "judge" / "static"


def test_every_word_is_used_and_every_used_word_is_there() -> None:
    words = json.loads((STATIC / "participant" / "words.en.json").read_text(encoding="utf-8"))
    code = "".join(file.read_text(encoding="utf-8") for file in STATIC.rglob("*.js"))
    served = "".join(file.read_text(encoding="utf-8") for file in sorted(STATIC.parent.rglob("*.py")))
    composed = re.compile(
        r"(offline|busy)_waiting|(study_(title|question|instructions)|instructions_keys)(_anchor|_central|_grid)?"
    )
    for key, text in words.items():
        says_so = json.dumps(text, ensure_ascii=False) in served  # an error, which is translated as a sentence
        assert f'"{key}"' in code + served or composed.fullmatch(key) or says_so, key
    used = set(re.findall(r'words\.say\(\s*"(\w+)"', code))
    assert used - set(words) == set()


def test_pages_hold_no_inline_code() -> None:
    for page in STATIC.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert (
            re.findall(r"<style|style=|\son\w+=|<script(?![^>]*\bsrc=)|https?:|//", text.replace("<!doctype", "")) == []
        )
    code = "".join(file.read_text(encoding="utf-8") for file in STATIC.rglob("*.js"))
    assert re.findall(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", code) == []
