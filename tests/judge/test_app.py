from __future__ import annotations

import csv
import gc
import io
import logging
import sqlite3
import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from judge_studies import Person, Running, let_time_pass, make_folder, png, running

from oddkernel import formats
from oddkernel.cli import main
from oddkernel.judge.middleware import LARGEST_BODY, Rate
from oddkernel.judge.statistics import statistics
from oddkernel.judge.study import Study

pytestmark = pytest.mark.slow  # starts servers

SETTINGS = """
name = "birds"
title = "Birds <b>&</b> bees"
questions = 6
completion_code = "THANKS-42"
"""


WHEN = "2026-05-04T10:00:00Z"


def media_id(item: dict[str, str]) -> str:
    return item["url"].removeprefix("/media/").partition("?")[0]


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Running]:
    with running(make_folder(tmp_path / "birds", 8, SETTINGS)) as started:
        yield started


def test_a_whole_sitting(run: Running) -> None:
    ann = run.person(participant="ann")
    tag = ann.told["sitting"].pop("tag")
    assert ann.told["sitting"] == {"answered": 0, "total": 6, "state": "new"}
    assert ann.told["study"]["title"] == "Birds <b>&</b> bees"
    assert len(ann.told["study"]["practice"]) == 2
    assert "completion_code" not in ann.told
    for number in range(6):
        waiting = ann.questions()
        assert len(waiting) == min(3, 6 - number)
        assert [item["label"] for item in waiting[0]["items"]] == ["Item 1", "Item 2", "Item 3"]
        told = ann.say(waiting[0]["id"], number % 4 - 1)
        assert told["answered"] == number + 1
    assert told == {"stored": True, "answered": 6, "total": 6, "state": "done", "completion_code": "THANKS-42"}
    assert ann.questions() == []
    again = ann.post("/api/sitting", {})
    assert (again["completion_code"], again["sitting"]["tag"]) == ("THANKS-42", tag)


def test_a_reload_goes_on_where_it_was(run: Running) -> None:
    ann = run.person()
    first = ann.questions()
    assert ann.questions() == first
    assert ann.questions(1) == first[:1]
    ann.say(first[0]["id"], 1)
    told = ann.post("/api/sitting", {})
    assert (told["sitting"]["answered"], told["sitting"]["state"]) == (1, "running")
    assert ann.questions()[:2] == first[1:]


def test_what_is_shown_tells_nothing_about_file_or_kind(run: Running) -> None:
    ann = run.person()
    for question in [*ann.questions(6), *ann.told["study"]["practice"]]:
        assert question.keys() == {"id", "form", "picks", "items"}
        for item in question["items"]:
            assert item.keys() == {"kind", "label", "url"}
            assert "picture" not in item["url"]
    picture = ann.client.get(question["items"][0]["url"])
    assert picture.content.startswith(b"\x89PNG")
    assert picture.headers["content-type"] == "image/png"
    assert picture.headers["x-content-type-options"] == "nosniff"
    assert picture.headers["cache-control"] == "private, max-age=31536000, immutable"
    assert "picture" not in str(picture.headers)
    assert "sandbox" in picture.headers["content-security-policy"]


def test_answers_arrive_once_and_undo_takes_back(run: Running) -> None:
    ann = run.person()
    first, second, _ = ann.questions()
    sent = str(uuid.uuid4())
    for _ in range(3):
        assert ann.say(first["id"], 1, sent)["answered"] == 1
    ann.say(first["id"], 2, sent, status=409)
    ann.say(first["id"], 1, status=409)
    undo = {"client_id": str(uuid.uuid4()), "of": sent}
    for _ in range(2):
        told = ann.post("/api/undo", undo)
        assert told["question"] == first
        assert told["answered"] == 0
    assert ann.questions()[0] == first
    assert len(run.judge.asking.history.open) == 3
    ann.say(first["id"], -1)
    ann.say(second["id"], 0)
    ann.post("/api/undo", {"client_id": str(uuid.uuid4()), "of": str(uuid.uuid4())}, status=404)
    answers = run.database.read(lambda records: records.answers())
    assert [answer.odd for answer in answers] == [-1, 0]
    assert answers[0].answered_at == "2026-05-04T10:00:00.000+00:00"


def test_people_cannot_act_for_one_another(run: Running) -> None:
    ann, bob = run.person(participant="ann"), run.person(participant="bob")
    question = ann.questions()[0]
    bob.say(question["id"], 0, status=404)
    stranger = run.client()
    assert stranger.get("/api/questions").status_code == 401
    stranger.cookies.set("oddkernel_sitting", "0" * 32 + "." + "0" * 64)
    assert stranger.get("/api/questions").status_code == 401
    again = run.client().post("/api/sitting", json={"participant": "ann"})
    assert again.status_code == 409
    assert "another browser" in again.json()["error"]
    # The same browser, another person: a sitting of their own.
    assert Person(bob.client, participant="cem").told["sitting"]["answered"] == 0


def test_a_key_opens_the_sitting_that_it_began(run: Running) -> None:
    ann = run.person(participant="ann", key=str(uuid.uuid4()))
    ann.say(ann.questions()[0]["id"], 0)
    key = str(uuid.uuid4())
    bob = run.client().post("/api/sitting", json={"participant": "bob", "key": key}).json()  # the cookie gets lost
    assert run.person(participant="bob", key=key).told["sitting"] == bob["sitting"]
    assert run.person(key=key).told["sitting"] == bob["sitting"]
    Person(run.client(), participant="cem", key=key)  # another person with the same key, as a link says
    for other in ({"participant": "bob"}, {"participant": "bob", "key": str(uuid.uuid4())}):
        assert run.client().post("/api/sitting", json=other).status_code == 409
    # Who began before there were keys gets one by coming back with the cookie.
    dan = run.person(participant="dan")
    later = str(uuid.uuid4())
    dan.post("/api/sitting", {"participant": "dan", "key": later})
    assert run.person(participant="dan", key=later).told["sitting"] == dan.told["sitting"]


def test_a_page_says_which_sitting_it_means(run: Running) -> None:
    key = str(uuid.uuid4())
    ann = run.person(participant="ann", key=key)
    own = {"oddkernel-sitting": ann.told["sitting"]["tag"]}
    question = ann.questions()[0]["id"]
    Person(ann.client, participant="ben")  # in the same browser, which now has ben's cookie
    said = {"client_id": str(uuid.uuid4()), "question": question, "answer": 0, "response_ms": 9, "answered_at": WHEN}
    refused = ann.client.post("/api/answers", json=said, headers=own)
    assert (refused.status_code, refused.json().keys()) == (401, {"error"})
    entrance = {"participant": "ann", "key": key}
    other = {"oddkernel-sitting": "0" * 16}
    for headers, status in ((other, 401), (own, 200)):
        assert ann.client.post("/api/sitting", json=entrance, headers=headers).status_code == status
    assert ann.client.post("/api/answers", json=said, headers=own).json()["answered"] == 1
    assert [sitting.participant for sitting in run.database.read(lambda records: records.sittings())] == ["ann", "ben"]


def test_only_a_study_says_for_good_that_an_answer_cannot_be_stored(run: Running) -> None:
    ann = run.person()
    tag = ann.told["study"]["tag"]
    question = ann.questions()[0]["id"]
    ann.say(question, 0)
    assert ann.say(question, 1, status=409)["study"] == tag
    assert ann.say("nothing", 1, status=404)["study"] == tag
    assert ann.say(question, 3, status=422)["study"] == tag
    assert "study" not in ann.post("/api/nothing", {}, status=404)
    ann.client.cookies.clear()
    assert "study" not in ann.say(question, 1, status=401)


def test_studies_on_one_host_do_not_share_a_cookie(run: Running, tmp_path: Path) -> None:
    with running(make_folder(tmp_path / "bees")) as other:
        ann = run.person()
        client = other.client()
        client.cookies.update(dict(ann.client.cookies))  # a browser sends a host's cookies to all of its ports
        there = Person(client)
        assert len(client.cookies) == 2
        assert ann.told["sitting"]["tag"] != there.told["sitting"]["tag"]
        ann.client.cookies.update(dict(client.cookies))
        assert len(ann.questions()) == len(there.questions()) == 3


def test_a_cookie_from_before_every_study_had_its_own_still_counts(run: Running) -> None:
    ann = run.person()
    (value,) = dict(ann.client.cookies).values()
    ann.client.cookies.clear()
    ann.client.cookies.set("oddkernel_sitting", value)
    assert Person(ann.client).told["sitting"]["tag"] == ann.told["sitting"]["tag"]


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/api/answers", {}, 422),
        ("/api/answers", {"client_id": "x"}, 422),
        ("/api/sitting", {"participant": ""}, 422),
        ("/api/sitting", {"participant": "x" * 101}, 422),
        ("/api/sitting", {"participant": "a\u0000b"}, 422),
        ("/api/sitting", {"participant": "a\nb"}, 422),
        ("/api/sitting", {"who": "ann"}, 422),
        ("/api/sitting", {"invitation": "guess"}, 403),
        ("/api/consent", {"agreed": False}, 422),
        ("/api/sitting", [], 422),
        ("/api/nothing", {}, 404),
    ],
)
def test_requests_that_cannot_be_meant_get_one_sentence(run: Running, path: str, body: object, status: int) -> None:
    response = run.person().client.post(path, json=body)
    assert response.status_code == status
    assert response.json().keys() - {"study"} == {"error"}
    assert isinstance(response.json()["error"], str)


@pytest.mark.parametrize(
    "change",
    [
        {"answer": 3},
        {"answer": "0"},
        {"response_ms": -1},
        {"answered_at": "yesterday"},
        {"answered_at": "0001-01-01T00:00:00+14:00"},
    ],
)
def test_answers_that_cannot_be_meant_are_refused(run: Running, change: dict[str, object]) -> None:
    ann = run.person()
    said = {
        "client_id": str(uuid.uuid4()),
        "question": ann.questions()[0]["id"],
        "answer": 0,
        "response_ms": 5,
        "answered_at": "2026-05-04T10:00:00Z",
    }
    ann.post("/api/answers", {**said, **change}, status=422)
    ann.post("/api/answers", said)


def test_bodies_and_rates_are_bounded(run: Running) -> None:
    client = run.person().client
    assert client.post("/api/sitting", content=b"{" + b" " * LARGEST_BODY + b"}").status_code == 413

    def in_pieces() -> Iterator[bytes]:
        for _ in range(LARGEST_BODY // 1024 + 1):
            yield b" " * 1024

    assert client.post("/api/sitting", content=in_pieces()).status_code == 413
    run.judge.per_sitting = Rate(per_second=0.001, burst=3)
    statuses = [client.get("/api/questions").status_code for _ in range(5)]
    assert statuses == [200, 200, 200, 429, 429]
    assert int(client.get("/api/questions").headers["retry-after"]) > 0
    assert run.person().told["sitting"]["answered"] == 0  # others go on
    run.judge.newcomers = Rate(per_second=0.001, burst=1)
    assert [run.client().post("/api/sitting", json={}).status_code for _ in range(2)] == [200, 429]


def test_pages_keep_to_themselves(run: Running) -> None:
    client = run.client()
    for path in ("/", "/static/participant/judge.js", "/api/questions", "/nothing", "/experimenter"):
        headers = client.get(path).headers
        assert headers["content-security-policy"].startswith("default-src 'self'")
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert "server" not in headers
    assert client.get("/api/questions").headers["cache-control"] == "no-store"
    given = client.post("/api/sitting", json={}).headers["set-cookie"].lower()
    assert "httponly" in given
    assert "samesite=strict" in given
    assert client.get("/docs").status_code == client.get("/openapi.json").status_code == 404


def test_behind_https_cookies_are_secure(run: Running) -> None:
    given = run.client().post("/api/sitting", json={}, headers={"x-forwarded-proto": "https"}).headers["set-cookie"]
    assert "secure" in given.lower()


@pytest.mark.parametrize(
    "path",
    [
        "/media/picture 0.png",
        "/media/../study.toml",
        "/media/..%2fstudy.toml",
        "/media/%2e%2e/answers.sqlite3",
        "/media/%2fetc%2fpasswd",
        "/static/../app.py",
        "/static/..%2fapp.py",
        "/static/%2e%2e/app.py",
        "/static//etc/passwd",
    ],
)
def test_no_file_is_served_but_items_and_pages(run: Running, path: str) -> None:
    assert run.client().get(path).status_code == 404


def test_a_link_planted_later_is_not_followed(run: Running, tmp_path: Path) -> None:
    ann = run.person()
    url = ann.questions()[0]["items"][0]["url"]
    name = run.judge.media[media_id({"url": url})]
    (tmp_path / "secret").write_text("secret")
    target = tmp_path / "birds" / name
    target.unlink()
    target.symlink_to(tmp_path / "secret")
    assert ann.client.get(url).status_code == 404
    target.unlink()
    assert ann.client.get(url).status_code == 404


def test_a_replaced_picture_gets_another_address(run: Running, tmp_path: Path) -> None:
    ann = run.person()
    item = ann.questions()[0]["items"][0]
    before = ann.client.get(item["url"])
    assert "immutable" in before.headers["cache-control"]
    (tmp_path / "birds" / run.judge.media[media_id(item)]).write_bytes(png(200, 100, 50) + b"longer")
    again = ann.questions()[0]["items"][0]
    assert media_id(again) == media_id(item)
    assert again["url"] != item["url"]
    for url, kept in ((again["url"], "immutable"), (item["url"], "no-cache"), (f"/media/{media_id(item)}", "no-cache")):
        after = ann.client.get(url)
        assert after.content == png(200, 100, 50) + b"longer"
        assert kept in after.headers["cache-control"]


@pytest.mark.parametrize("name", ["study.toml", "study.key", "answers.sqlite3", "notes.txt"])
def test_links_to_what_is_no_item_are_not_served(run: Running, tmp_path: Path, name: str) -> None:
    (tmp_path / "birds" / "notes.txt").write_text("mine")
    ann = run.person()
    item = ann.questions()[0]["items"][0]
    target = tmp_path / "birds" / run.judge.media[media_id(item)]
    target.unlink()
    target.symlink_to(tmp_path / "birds" / name)
    assert ann.client.get(item["url"]).status_code == 404
    with pytest.raises(ValueError, match=f"a link to {name}; expected a file that ends with"):
        Study.open(tmp_path / "birds")


def test_hostile_names_and_texts_are_data(tmp_path: Path) -> None:
    folder = tmp_path / "hostile"
    folder.mkdir()
    names = ["<script>alert(1)<\u2215script>.png", "\"'--;.png", "..%2f..%2fx.png", "a\tb\nc.svg"]
    for name in names:
        (folder / name).write_bytes(png())
    with running(folder) as run:
        ann = run.person(participant="<i>ann</i>'; DROP TABLE answer; --")
        ann.answer_all()
        urls = {item["url"] for question in ann.told["study"]["practice"] for item in question["items"]}
        assert all(ann.client.get(url).status_code == 200 for url in urls)
        exported = run.experimenter().get("/experimenter/api/export?format=jsonl&holdout=keep").json
        assert exported is not None
        summary = run.experimenter().get("/experimenter/api/summary").json()
    assert summary["persons"][0]["participant"] == "<i>ann</i>'; DROP TABLE answer; --"
    table = tmp_path / "texts.csv"
    table.write_text('text\n<script>alert(1)</script>\n{{7*7}}\n"a""b"\n')
    with running(table) as run:
        response = run.person().client.get("/api/questions")
        assert "<script>alert(1)</script>" in {item["text"] for item in response.json()["questions"][0]["items"]}
        assert response.headers["content-type"] == "application/json"


def test_consent_comes_first(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "birds", settings='consent = "I agree."\n')
    with running(folder) as run:
        ann = run.person()
        assert ann.told["study"]["consent"] == "I agree."
        assert ann.client.get("/api/questions").status_code == 403
        assert ann.post("/api/consent", {"agreed": True}) == {"agreed": True}
        assert len(ann.questions()) == 3
        assert ann.post("/api/sitting", {})["study"]["consent"] is None


def test_consent_that_is_asked_for_later(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "birds", settings="questions = 6\nrepeat_share = 0\n")
    with running(folder) as run:
        ann = run.person()
        first, second, _ = ann.questions()
        ann.say(first["id"], 0)
        cookies = dict(ann.client.cookies)
    settings = folder / "study.toml"
    settings.write_text('consent = "I agree."\n' + settings.read_text())
    with running(folder) as run:
        client = run.client()
        client.cookies.update(cookies)
        again = Person(client)
        assert again.told["study"]["consent"] == "I agree."
        for path, body in (
            ("/api/answers", {"question": second["id"], "answer": 1, "response_ms": 9, "answered_at": WHEN}),
            ("/api/undo", {"of": str(uuid.uuid4())}),
        ):
            refused = again.post(path, {"client_id": str(uuid.uuid4()), **body}, status=403)
            assert refused == {"error": "Please agree to take part first."}  # not for good: the page keeps the answer
        again.post("/api/consent", {"agreed": True})
        assert again.say(second["id"], 1)["answered"] == 2
        assert again.answer_all() == 4


def test_an_answer_about_a_removed_item_can_be_taken_back_and_one_that_comes_late_is_stored(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "birds", 4, "questions = 8\nrepeat_share = 0\n")
    with running(folder) as run:
        ann = run.person()
        waiting = ann.questions(8)
        name_of = run.judge.media
        removed = name_of[media_id(waiting[0]["items"][0])]
        late = [q["id"] for q in waiting[1:] if removed in [name_of[media_id(item)] for item in q["items"]]]
        sent = str(uuid.uuid4())
        ann.say(waiting[0]["id"], 0, sent)
        cookies = dict(ann.client.cookies)
    (folder / removed).unlink()
    with running(folder) as run:
        client = run.client()
        client.cookies.update(cookies)
        again = Person(client)
        undo = {"client_id": str(uuid.uuid4()), "of": sent}
        for _ in range(2):
            assert again.post("/api/undo", undo) == {"question": None, "answered": 0, "total": 8, "state": "new"}
        left = {question["id"] for question in again.questions(8)}
        assert len(left) == 8
        assert not left & {waiting[0]["id"], *late}
        # A page that was open all the while shows what it has loaded, and its answers are worth as much as others.
        for number, id in enumerate([waiting[0]["id"], *late], start=1):
            assert again.say(id, 2)["answered"] == number
        assert again.answer_all() == 8 - number
        assert again.post("/api/sitting", {})["sitting"]["state"] == "done"
        answers = run.database.read(lambda records: records.answers())
        assert len(answers) == 8
        assert sorted(answer.place for answer in answers)[:number] == list(range(-number, 0))


def test_by_invitation(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = make_folder(tmp_path / "birds", settings='entry = "invitation"\nquestions = 4\n')
    assert main(["judge", str(folder), "--invite", "2", "--port", "8080"]) == 0
    links = capsys.readouterr().out.split()
    assert len(links) == 2
    code = links[0].partition("http://127.0.0.1:8080/?invitation=")[2]
    with running(folder) as run:
        assert run.client().post("/api/sitting", json={}).status_code == 403
        assert run.client().post("/api/sitting", json={"participant": "ann"}).status_code == 403
        ann = run.person(invitation=code)
        ann.say(ann.questions()[0]["id"], 0)
        elsewhere = run.person(invitation=code)
        assert elsewhere.told["sitting"]["answered"] == 1
        assert ann.post("/api/sitting", {})["sitting"]["answered"] == 1


def test_the_experimenter_needs_the_token(run: Running) -> None:
    ann = run.person()
    for path in ("", "/api/summary", "/api/map", "/api/export"):
        assert ann.client.get(f"/experimenter{path}").status_code == 401
    for path in ("/api/pause", "/api/resume", "/api/withdraw"):
        assert ann.client.post(f"/experimenter{path}", json={"participant": "ann"}).status_code == 401
    assert run.client().get("/experimenter?token=guess").status_code == 401
    client = run.client()
    answer = client.get(run.server.experimenter_url)
    assert answer.status_code == 303
    assert answer.headers["location"] == "/experimenter"
    assert client.get("/experimenter").status_code == 200
    assert client.get("/experimenter/api/summary").status_code == 200
    run.judge.token_tries = Rate(per_second=0.001, burst=1)
    assert [run.client().get("/experimenter?token=guess").status_code for _ in range(2)] == [401, 429]


def test_an_experimenter_may_watch_two_studies_on_one_host(run: Running, tmp_path: Path) -> None:
    with running(make_folder(tmp_path / "bees")) as other:
        first, second = run.client(), other.client()
        first.get(run.server.experimenter_url)
        second.cookies.update(dict(first.cookies))  # a browser sends a host's cookies to all of its ports
        second.get(other.server.experimenter_url)
        first.cookies.update(dict(second.cookies))
        for client in (first, second):
            assert client.get("/experimenter/api/summary").status_code == 200


@pytest.mark.parametrize("by", ["cookie", "header"])
@pytest.mark.parametrize("path", ["/experimenter", "/experimenter/api/summary", "/experimenter/api/export"])
def test_guesses_of_the_token_are_limited(run: Running, path: str, by: str) -> None:
    cookie = f"oddkernel_experimenter_{run.judge.tag}=guess"
    guess = {"cookie": cookie} if by == "cookie" else {"authorization": "Bearer guess"}
    right = {"authorization": f"Bearer {run.judge.keys.token}"}
    run.judge.token_tries = Rate(per_second=0.001, burst=3)
    assert [run.client().get(path, headers=right).status_code for _ in range(5)] == [200] * 5  # this is no guess
    assert [run.client().get(path, headers=guess).status_code for _ in range(5)] == [401] * 3 + [429] * 2
    assert run.client().get(path, headers=right).status_code == 429  # or else one could go on guessing


def test_the_experimenters_link_may_be_clicked_on_another_site(run: Running) -> None:
    # A browser doesn't send a Strict cookie where a redirect follows a click on another site.
    given = run.client().get(run.server.experimenter_url).headers["set-cookie"].lower()
    assert "samesite=lax" in given
    assert "httponly" in given


def test_the_summary_of_many_answers_is_made_now_and_then(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []

    def counted(sittings: Any, answers: Any, *given: Any, **named: Any) -> Any:
        made.append(len(answers))
        return statistics(sittings, answers, *given, **named)

    monkeypatch.setattr("oddkernel.judge.statistics_cache.statistics", counted)
    with running(make_folder(tmp_path / "birds", 8, "questions = 6\n")) as run:
        client, ann = run.experimenter(), run.person(participant="ann")
        first, second, third = ann.questions()

        def answers() -> int:
            count: int = client.get("/experimenter/api/summary").json()["answers"]
            return count

        ann.say(first["id"], 0)
        assert [answers() for _ in range(3)] == [1] * 3
        assert made == [1]  # nothing new was said meanwhile
        ann.say(second["id"], 0)
        assert answers() == 2  # while it is quick
        monkeypatch.setattr("oddkernel.judge.statistics_cache.QUICK", 0.0)
        monkeypatch.setattr("oddkernel.judge.statistics_cache.REST", 1e9)
        ann.say(third["id"], 0)
        assert [answers() for _ in range(3)] == [2] * 3
        monkeypatch.setattr("oddkernel.judge.statistics_cache.REST", 0.0)
        assert answers() == 2
        worker = run.judge.statistics._worker
        assert worker is not None
        worker.join(60)
        assert answers() == 3
        monkeypatch.setattr("oddkernel.judge.statistics_cache.REST", 1e9)
        client.post("/experimenter/api/pause", json={})
        assert client.get("/experimenter/api/summary").json()["state"] == "paused"
        client.post("/experimenter/api/withdraw", json={"participant": "ann"})
        assert answers() == 0  # at once
    assert made == [1, 2, 3, 0]


def test_pause_and_resume(run: Running) -> None:
    ann, experimenter = run.person(), run.experimenter()
    waiting = ann.questions()
    assert experimenter.post("/experimenter/api/pause", json={}).json() == {"state": "paused"}
    assert ann.questions() == []
    assert ann.say(waiting[0]["id"], 0)["state"] == "paused"  # what was answered is not lost
    assert experimenter.get("/experimenter/api/summary").json()["state"] == "paused"
    experimenter.post("/experimenter/api/resume", json={})
    assert ann.questions()[:2] == waiting[1:]


def test_what_the_experimenter_sees(tmp_path: Path) -> None:
    settings = """
questions = 20
catch_share = 0.2
repeat_share = 0.2
holdout_share = 0.2
[[catch]]
items = ["picture 0.png", "picture 1.png", "picture 2.png"]
odd = "picture 2.png"
"""
    with running(make_folder(tmp_path / "birds", 5, settings)) as run:
        experimenter = run.experimenter()
        empty = experimenter.get("/experimenter/api/summary").json()
        assert (empty["answers"], empty["cant_tell"], empty["agreement"], empty["persons"]) == (0, None, None, [])
        run.person(participant="curious").questions()  # opened the page, and no more
        run.person(participant="slow").answer_all(odd=-1, ms=5000)
        run.person(participant="fast").answer_all(odd=-1, ms=100)
        ann = run.person(participant="ann")
        ann.say(ann.questions()[0]["id"], 0)
        let_time_pass(run.database)
        told = experimenter.get("/experimenter/api/summary").json()
    assert (told["answers"], told["people"], told["finished"], told["opened"]) == (41, 3, 2, 1)
    assert told["by_kind"]["catch"] == 8
    assert told["by_kind"]["repeat"] == 8
    assert told["catches"] == {"asked": 8, "right": 0}
    assert told["repeats"] == {"asked": 8, "right": 8}
    assert told["cant_tell"] == 40 / 41
    assert told["too_fast"] == 20 / 41
    assert sum(told["response_times"]["counts"]) == 41
    assert len(told["response_times"]["counts"]) == len(told["response_times"]["edges"])
    assert told["agreement"]["share"] > 0.5
    slow, fast, _ = told["persons"]
    assert (slow["participant"], slow["answered"], slow["done"], slow["too_fast"]) == ("slow", 20, True, 0)
    assert (fast["too_fast"], fast["cant_tell"], fast["catches"]) == (20, 20, {"asked": 4, "right": 0})
    assert any("seconds" in flag for flag in fast["flags"])


def test_a_participant_withdraws(run: Running) -> None:
    ann, bob = run.person(participant="ann"), run.person(participant="bob")
    ann.answer_all()
    bob.answer_all()
    experimenter = run.experimenter()
    gone = experimenter.post("/experimenter/api/withdraw", json={"participant": "ann"})
    assert gone.json() == {"withdrawn": "ann", "answers_deleted": 6, "lingers": False}
    assert experimenter.get("/experimenter/api/summary").json()["answers"] == 6
    assert experimenter.post("/experimenter/api/withdraw", json={"participant": "ann"}).status_code == 404
    assert ann.client.get("/api/questions").status_code == 401


def test_secrets_are_not_in_logs(run: Running, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        ann = run.person(participant="ann-with-a-secret")
        run.client().get(run.server.experimenter_url)
        run.client().get("/?participant=ann-with-a-secret&invitation=hush")
        ann.say(ann.questions()[0]["id"], 0)
    ours = "\n".join(
        record.getMessage() for record in caplog.records if not record.name.startswith(("httpx", "httpcore"))
    )
    cookie = ann.client.cookies[run.judge.cookie]
    for secret in (run.judge.keys.token, "ann-with-a-secret", "hush", cookie):
        assert secret not in ours


def test_an_item_taken_out_of_the_study_is_no_longer_asked_about(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "birds", 5, "questions = 12\nrepeat_share = 0.5\n")
    with running(folder) as run:
        ann = run.person()
        for question in ann.questions(7)[:4]:
            ann.say(question["id"], 0)
        cookies = dict(ann.client.cookies)
    (folder / "picture 0.png").unlink()
    with running(folder) as run:
        client = run.client()
        client.cookies.update(cookies)
        again = Person(client)
        assert again.told["sitting"]["answered"] == 4
        assert again.answer_all() == 8
        assert again.post("/api/sitting", {})["sitting"]["state"] == "done"
        assert run.experimenter().get("/experimenter/api/summary").status_code == 200


@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
def test_on_another_address_a_warning_is_given(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "birds")
    program = "import sys; from oddkernel.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", program, "judge", str(folder), "--host", "0.0.0.0", "--port", "0", "--no-browser"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        told = ""
        while "Ctrl-C" not in told:
            line = process.stderr.readline()
            assert line, told
            told += line
        assert "warning: 0.0.0.0 can be reached by others" in told
        url = told.partition("For the experimenter:")[2].split()[0].replace("0.0.0.0", "127.0.0.1")
        assert httpx.get(url.partition("?")[0], timeout=60).status_code == 401
        assert httpx.get(url, timeout=60).status_code == 303
        process.send_signal(2)
        out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert out.startswith("Stopped. 0 answers came in, 0 in all.")


def test_what_the_user_can_mend_takes_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make_folder(tmp_path / "birds")
    away = "postgresql://ann:hush-hush@127.0.0.1:1/nothing"
    for options, told in (
        (["--database", away], "the database can't be opened"),
        (["--port", "70000"], "port"),
        (["--export", "answers.parquet", "--database", "mysql://host/name"], "expected sqlite or postgresql"),
        (["--simulate", "0"], "take a number from 1 up"),
        (["--invite", "0"], "expected a number from 1 to 10000"),
    ):
        assert main(["judge", str(folder), "--no-browser", *options]) == 2
        error = capsys.readouterr().err
        assert told in error.splitlines()[-1]
        assert "hush-hush" not in error
    monkeypatch.setattr("oddkernel.judge.find_spec", lambda name: None)
    assert main(["judge", str(folder)]) == 2
    assert 'pip install "oddkernel[judge]"' in capsys.readouterr().err


def test_a_database_of_a_newer_version_takes_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = make_folder(tmp_path / "birds")
    Study.open(folder).connect().close()
    with closing(sqlite3.connect(folder / "answers.sqlite3")) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    for options in (["--no-browser", "--port", "0"], ["--export", str(tmp_path / "answers.csv")]):
        assert main(["judge", str(folder), *options]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert "newer version of oddkernel (schema 9999" in line


def test_what_goes_wrong_inside_is_told_in_one_sentence(run: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    ann = run.person()
    monkeypatch.setattr(run.judge.asking, "next", lambda *_: 1 / 0)
    response = ann.client.get("/api/questions")
    assert (response.status_code, response.json()) == (500, {"error": "Something went wrong on the server."})
    assert response.headers["content-security-policy"].startswith("default-src 'self'")
    assert response.headers["connection"] == "close"  # the server closes it, and the next request needs another one
    monkeypatch.undo()
    assert len(ann.questions()) == 3


@pytest.mark.parametrize("name", ["-5f3b", "=cmd()", "@ann", "+49", "'=1"])
def test_names_that_a_spreadsheet_would_run_are_names(run: Running, name: str, tmp_path: Path) -> None:
    run.person(participant=name).answer_all()
    url = "/experimenter/api/export?format=csv&holdout=keep"
    data = run.experimenter().get(url).content
    cells = {cell for row in csv.reader(io.StringIO(data.decode())) for cell in row}
    assert f"'{name}" in cells or name == "+49"  # a number is harmless
    assert not {cell for cell in cells if cell.startswith(("=", "@")) or cell == "-5f3b"}
    (tmp_path / "answers.csv").write_bytes(data)
    read = formats.read(tmp_path / "answers.csv").rater
    assert read is not None
    assert set(read.tolist()) == {name}


def test_names_in_links_are_what_the_link_says(run: Running) -> None:
    assert run.client().get(f"/?participant={quote('<ann & bob>')}").status_code == 200
    assert run.person(participant="<ann & bob>").told["sitting"]["state"] == "new"


@pytest.fixture
def thawed() -> Iterator[None]:
    """Nothing is excluded from garbage collection, as in a program that has only just begun."""
    gc.unfreeze()
    yield
    gc.collect()
    gc.freeze()  # as all other tests find it


@pytest.mark.usefixtures("thawed")
def test_what_lives_as_long_as_the_server_is_left_out_of_garbage_collection(tmp_path: Path) -> None:
    with running(make_folder(tmp_path / "birds", 6)):
        assert gc.get_freeze_count() > 100_000
    assert gc.get_freeze_count() == 0


@pytest.mark.usefixtures("thawed")
def test_what_the_program_around_it_has_left_out_stays_left_out(tmp_path: Path) -> None:
    gc.freeze()
    before = gc.get_freeze_count()
    with running(make_folder(tmp_path / "birds", 6)):
        assert gc.get_freeze_count() <= before
    assert gc.get_freeze_count() > before / 2  # some of what was excluded was not needed any more
