"""The texts that participants read: complete in every language, and shown in the study's."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the judge needs oddkernel[judge]")

from judge_studies import make_folder, running

from oddkernel.judge import admission, participant
from oddkernel.judge.settings import Settings
from oddkernel.judge.store import answers
from oddkernel.judge.study import Study
from oddkernel.judge.words import ENGLISH, Words, languages, texts

OTHERS = [language for language in languages() if language != ENGLISH]


def test_the_languages() -> None:
    assert set(languages()) == {"de", "en", "es", "fr", "zh"}


@pytest.mark.parametrize("language", OTHERS)
def test_no_translation_lacks_a_word(language: str) -> None:
    assert list(texts(language)) == list(texts(ENGLISH))
    for key, english in texts(ENGLISH).items():
        translation = texts(language)[key]
        assert translation.strip(), key
        assert translation != english, f"{key} is not translated"
        assert re.findall(r"\{\w+\}", translation) == re.findall(r"\{\w+\}", english), key
        assert translation.count("\n\n") == english.count("\n\n"), key
        ends = ".!?。！？", ("…", "……")
        assert translation.endswith(tuple(ends[0])) == english.endswith(tuple(ends[0])), key
        assert translation.endswith(ends[1]) == english.endswith("…"), key


@pytest.mark.parametrize("language", languages())
def test_texts_name_the_button_as_it_is_written(language: str) -> None:
    words = texts(language)
    for key in ("study_instructions", "instructions_keys", "study_instructions_anchor", "instructions_keys_anchor"):
        assert words["cant_tell"].lower() in words[key].lower()


def test_what_a_participant_may_be_refused_with_is_a_text() -> None:
    def sentences(module: object, name: str) -> set[str]:
        return set(re.findall(name + r'"([^"]+)"', Path(str(module.__file__)).read_text(encoding="utf-8")))  # type: ignore[attr-defined]

    told = sentences(answers, r"Unknown\(")
    for module in (participant, admission):
        told |= sentences(module, r"HTTPException\(403, ")
    told -= {"Simulated people need the study's key."}
    assert len(told) >= 5
    assert {sentence for sentence in told if sentence not in texts(ENGLISH).values()} == set()


def test_a_region_does_not_matter_and_an_unknown_language_stays_english() -> None:
    assert Words("de-AT").say("begin") == Words("DE_ch").say("begin") == Words("de").say("begin") == "Beginnen"
    assert Words("pt-BR").say("begin") == Words("no language").say("begin") == "Begin"
    assert Words("de", {"begin": "Los"}).say("begin") == "Los"


def test_texts_are_filled_in_like_in_the_page() -> None:
    assert Words("en", {"pick": "{place} of {x} {"}).say("pick", place="{x}") == "{x} of {x} {"


def test_the_language_translates_the_texts_that_were_left_as_they_are(tmp_path: Path) -> None:
    settings = Settings.read('language = "fr"\nquestion = "Lequel ?"\n')
    assert settings.title == texts("fr")["study_title"]
    assert settings.question == "Lequel ?"
    folder = make_folder(tmp_path / "birds")
    Study.open(folder)
    file = folder / "study.toml"
    file.write_text(file.read_text(encoding="utf-8").replace('language = "en"', 'language = "de"'), encoding="utf-8")
    assert Study.open(folder).settings.instructions == texts("de")["study_instructions"]


def test_the_server_speaks_the_language(tmp_path: Path) -> None:
    settings = 'language = "de"\nentry = "invitation"\ntitle = "<b>Vögel & Co</b>"\n'
    with running(make_folder(tmp_path / "birds", settings=settings)) as run:
        client = run.client()
        page = client.get("/").text
        assert '<html lang="de" data-words="de">' in page
        assert "<title>&lt;b&gt;Vögel &amp; Co&lt;/b&gt;</title>" in page
        assert texts("de")["noscript"] in page
        assert "{{" not in page
        refusal = client.post("/api/sitting", json={})
        assert (refusal.status_code, refusal.json()["error"]) == (403, texts("de")["reason_not_invited"])
    (tmp_path / "birds" / "study.toml").write_text('language = "de"')
    with running(tmp_path / "birds") as run:
        person = run.person(participant="ann")
        assert [item["label"] for item in person.questions(1)[0]["items"]] == ["Nummer 1", "Nummer 2", "Nummer 3"]
        again = run.client().post("/api/sitting", json={"participant": "ann"})
        assert (again.status_code, again.json()["error"]) == (409, texts("de")["reason_begun"])
        assert again.json()["study"] == run.judge.tag
