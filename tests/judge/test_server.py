"""Several studies on one server: nothing of one is seen in another; health; what is logged."""

from __future__ import annotations

import logging
import re
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

pytest.importorskip("fastapi", reason="the judge needs oddkernel[judge]")

from judge_databases import address, cluster  # noqa: F401
from judge_studies import Person, make_folder, open_client, running

from oddkernel.cli import main
from oddkernel.judge.logs import Plain
from oddkernel.judge.server import Server
from oddkernel.judge.study import Study

KEY = "7a2f0c1e-6f6b-4a9e-9d43-0f1f3f2b8f11"


@contextmanager
def serving(folders: list[Path], database: str | None = None) -> Iterator[Server]:
    server = Server(*map(Study.open, folders), database=database)
    started = threading.Event()
    thread = threading.Thread(target=server.run, args=(started.set,), daemon=True)
    thread.start()
    assert started.wait(60)
    try:
        yield server
    finally:
        server.stop()
        thread.join()


def make_folders(home: Path) -> list[Path]:
    return [make_folder(home / name, settings=f'title = "{name}"\nquestions = 4\n') for name in ("birds", "cars")]


@pytest.mark.parametrize(("policy", "loads"), [("random", False), ("uncertain", True)])
def test_a_learner_is_loaded_before_people_come_and_only_if_the_policy_learns(
    policy: str, loads: bool, tmp_path: Path
) -> None:
    folder = make_folder(tmp_path / "birds", settings=f'policy = "{policy}"\n')
    features = tmp_path / "features.csv"
    features.write_text("name,x\n" + "".join(f"picture {i}.png,{i}\n" for i in range(8)))
    program = (
        "import sys; from pathlib import Path; from oddkernel.judge.server import Server; "
        "from oddkernel.judge.study import Study; server = Server(Study.open(*map(Path, sys.argv[1:]))); "
        "print(*sys.modules); server.judges[0].close()"
    )
    command = [sys.executable, "-c", program, str(folder), str(features)]
    loaded = set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())
    assert "oddkernel.judge.app" in loaded
    assert loads == bool({"sklearn", "numba", "pandas", "oddkernel.learning"} & loaded)


def test_each_study_has_its_own_address_cookie_token_and_answers(tmp_path: Path, address: str) -> None:  # noqa: F811
    folders = make_folders(tmp_path)
    with serving(folders, address) as server, open_client() as client:
        (_, birds, birds_link), (_, cars, cars_link) = server.addresses
        assert birds != cars
        for number, url in enumerate((birds, cars), start=1):
            page = client.get(url)
            assert f"<title>{('birds', 'cars')[number - 1]}</title>" in page.text
            static = page.text.partition('<script type="module" src="')[2].partition('"')[0]
            script = client.get(url + static)
            assert (script.status_code, "immutable" in script.headers["cache-control"]) == (200, True)
            client.base_url = httpx.URL(url.rstrip("/"))
            ann = Person(client, participant="ann")  # one browser takes part in both
            for question in ann.questions()[:number]:
                picture = client.get(httpx.URL(url).join(question["items"][0]["url"]))
                assert picture.headers["content-type"] == "image/png"
                assert ann.say(question["id"], 0)["stored"]
        assert {(cookie.name, cookie.path) for cookie in client.cookies.jar} == {
            (judge.cookie, f"{judge.root}/") for judge in server.judges
        }
        for number, (url, link) in enumerate(((birds, birds_link), (cars, cars_link)), start=1):
            with open_client(follow_redirects=True) as experimenter:
                assert experimenter.get(link).status_code == 200
                summary = experimenter.get(f"{url}experimenter/api/summary")
                assert (summary.json()["answers"], summary.headers["cache-control"]) == (number, "no-store")
                other = {birds: cars, cars: birds}[url]
                assert experimenter.get(f"{other}experimenter/api/summary").status_code == 401
                token = link.partition("token=")[2]
                assert experimenter.get(f"{other}experimenter?token={token}").status_code == 401
    for number, folder in enumerate(folders, start=1):
        opened = Study.open(folder).connect(address)
        assert opened.read(lambda records: records.n_answers()) == number
        opened.close()


def test_an_answer_for_another_study_is_refused(tmp_path: Path) -> None:
    with serving(make_folders(tmp_path)) as server, open_client() as client:
        birds, cars = (address.url for address in server.addresses)
        client.base_url = httpx.URL(birds.rstrip("/"))
        (question, *_) = Person(client).questions()
        client.base_url = httpx.URL(cars.rstrip("/"))
        person = Person(client)
        assert person.say(question["id"], 0, status=404)["study"] == server.judges[1].tag
        assert [judge.database.read(lambda records: records.n_answers()) for judge in server.judges] == [0, 0]


def test_each_keeps_its_answers_in_its_folder_unless_told_otherwise(tmp_path: Path) -> None:
    folders = make_folders(tmp_path)
    with serving(folders) as server:
        for place in server.addresses:
            with open_client(base_url=place.url.rstrip("/")) as client:
                assert Person(client, key=KEY).answer_all() == 4
    for folder in folders:
        with running(folder) as run:  # alone, at /, as before
            assert (run.judge.root, run.server.n_answers()) == ("", 4)
            assert run.client().get("/").status_code == 200
            assert (
                run.person(key=KEY).told["sitting"]["state"] == "done"
            )  # the browser's key opens the sitting here, too


def test_nothing_tells_which_studies_there_are(tmp_path: Path) -> None:
    with serving(make_folders(tmp_path)) as server, open_client() as client:
        origin = httpx.URL(server.url).join("/")
        for path in ("/", "/s/", "/s/birds/", "/experimenter", "/api/questions"):
            answer = client.get(origin.join(path))
            assert (answer.status_code, set(answer.json())) == (404, {"error"})
            assert "content-security-policy" in answer.headers
        redirect = client.get(server.url.rstrip("/"))
        assert httpx.URL(server.url).join(redirect.headers["location"]) == server.url


def test_one_study_twice_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = make_folder(tmp_path / "birds")
    assert main(["judge", str(folder), str(folder), "--port", "0", "--no-browser"]) == 2
    assert "are one study, with the same id" in capsys.readouterr().err
    other = make_folder(tmp_path / "cars")
    key = (folder / "study.key").read_text(encoding="utf-8")
    (other / "study.key").write_text(re.sub('id = ".*"', f'id = "{"0" * 32}"', key), encoding="utf-8")
    assert main(["judge", str(folder), str(other), "--port", "0", "--no-browser"]) == 2
    assert "or the same secret" in capsys.readouterr().err
    (other / "study.key").unlink()
    assert main(["judge", str(folder), str(other), "--export", str(tmp_path / "x.csv")]) == 2
    assert "--export with 2 studies; expected one" in capsys.readouterr().err


def test_invitations_to_several_studies_lead_to_each(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folders = [make_folder(tmp_path / name, settings='entry = "invitation"\n') for name in ("birds", "cars")]
    assert main(["judge", *map(str, folders), "--invite", "1", "--port", "0"]) == 0
    lines = capsys.readouterr().out.splitlines()
    with serving(folders) as server, open_client() as client:
        for study, url, _ in server.addresses:
            link = lines[lines.index(f"{study.home}:") + 1]
            assert httpx.URL(link).path == httpx.URL(url).path
            entrance = dict(httpx.URL(link).params)
            assert client.post(f"{url}api/sitting", json=entrance).status_code == 200


@pytest.mark.parametrize("n_studies", [1, 2])
def test_health_says_whether_answers_can_be_stored(tmp_path: Path, n_studies: int) -> None:
    folders = make_folders(tmp_path)[:n_studies]
    with serving(folders) as server, open_client() as client:
        health = httpx.URL(server.url).join("/health")
        assert (client.get(health).status_code, client.get(health).json()) == (200, {"status": "ok"})
        holder = sqlite3.connect(folders[-1] / "answers.sqlite3", isolation_level=None)
        holder.execute("BEGIN IMMEDIATE")
        assert client.get(health).status_code == 503
        holder.execute("ROLLBACK")
        holder.close()
        assert client.get(health).status_code == 200


def test_nothing_personal_is_logged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving([make_folder(tmp_path / "birds")]) as server, open_client(base_url=server.url) as client:
        ann = Person(client, participant="ann-the-first")
        ann.say(ann.questions()[0]["id"], 1)

        def break_down(*_: object, **__: object) -> None:
            raise KeyError("ann-the-first said 2")

        monkeypatch.setattr(server.judges[0].asking, "answered", break_down)
        ann.say(ann.questions()[0]["id"], 1, status=500)
        holder = sqlite3.connect(tmp_path / "birds" / "answers.sqlite3", isolation_level=None)
        holder.execute("BEGIN IMMEDIATE")
        httpx.post(
            f"{server.url}api/sitting", json={"participant": "ben-the-second"}, timeout=60
        )  # 500 ended the connection
        holder.execute("ROLLBACK")
        holder.close()
        secrets = [server.keys.token, *(str(value) for value in client.cookies.values())]
    logged = capsys.readouterr().err
    assert "KeyError" in logged
    assert "the database refused: database is locked" in logged
    for personal in ("ann-the", "ben-the", "127.0.0.1", *secrets):
        assert personal not in logged


def test_a_log_has_the_time_and_all_causes() -> None:
    try:
        try:
            raise KeyError("ann")
        except KeyError:
            raise ValueError("ben") from None
    except ValueError as error:
        record = logging.LogRecord("x", logging.ERROR, "f.py", 1, "it broke", None, (type(error), error, None))
    record.created = 0.0
    lines = Plain().format(record).splitlines()
    assert lines[0] == "1970-01-01T00:00:00Z ERROR it broke"
    assert [line for line in lines if not line.startswith(" ")][1:] == ["ValueError", "KeyError"]
