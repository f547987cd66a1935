"""A panel's whole way: arrival with ids, answers, the way back with the code, and a second visit."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from judge_studies import Person, make_folder, open_client, running

from oddkernel.judge.panel import MTURK_HOSTS, Leaving, Panel
from oddkernel.judge.settings import Settings

IDS = {"PROLIFIC_PID": "5f1e0c3b9a77", "STUDY_ID": "study-77", "SESSION_ID": "session-1"}
CODE = "C9 & Co"
SETTINGS = """
questions = 3
practice = 0
catch_share = 0
repeat_share = 0
holdout_share = 0
completion_code = "C9 & Co"
"""


def prolific(more: str = "") -> str:
    return f'{SETTINGS}\n[panel]\nkind = "prolific"\n{more}'


def entrance(**ids: str) -> dict[str, Any]:
    """What the page sends for somebody whom Prolific sent."""
    link = IDS | ids
    return {"participant": link["PROLIFIC_PID"], "link": {**link, "utm_source": "elsewhere"}}


def test_presets_and_templates() -> None:
    assert Panel.read({"kind": "prolific"}).leaving("done", {}, "C1") == Leaving(
        "https://app.prolific.com/submissions/complete?cc=C1"
    )
    credit = (
        "https://uni.sona-systems.com/webstudy_credit.aspx?experiment_id=1&credit_token=2&survey_code={survey_code}"
    )
    sona = Panel.read({"kind": "sona", "done": credit})
    assert sona.leaving("done", {"survey_code": "9&x=1"}, "") == Leaving(
        credit.replace("{survey_code}", "9%26x%3D1")  # an id can't add a parameter
    )
    assert sona.leaving("done", {}, "") is None
    connect = Panel.read({"kind": "cloudresearch"})
    assert connect.leaving("done", {}, "C1") == Leaving(
        "https://connect.cloudresearch.com/participant/project/C1/complete"
    )
    assert connect.kept({"participantId": "p", "projectId": "q", "other": "r"}) == {
        "participantId": "p",
        "projectId": "q",
    }
    assert Panel.read({}).kept({"participant": "p"}) == {"participant": "p"}


@pytest.mark.parametrize("host", MTURK_HOSTS)
def test_mturk_submits_to_amazon_alone(host: str) -> None:
    panel = Panel.read({"kind": "mturk"})
    ids = {"workerId": "W", "assignmentId": "A", "hitId": "H", "turkSubmitTo": f"{host}/"}
    assert panel.leaving("done", ids, "C1") == Leaving(
        f"{host}/mturk/externalSubmit", {"assignmentId": "A", "code": "C1"}
    )
    assert panel.leaving("screened_out", ids, "C1") is None
    for other in ("https://evil.example", f"{host}.evil.example", f"{host}@evil.example", "http://www.mturk.com", ""):
        assert panel.leaving("done", ids | {"turkSubmitTo": other}, "C1") is None


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"kind": "prolifik"}, r"kind = 'prolifik'; expected prolific, sona, mturk, cloudresearch"),
        ({"done": "https://{PID}.example/"}, "behind the host only"),
        ({"done": "{PID}"}, "expected an address"),
        ({"done": "javascript:alert(1)"}, "expected an address"),
        ({"done": "http://panel.example/"}, "expected an address"),
        ({"done": "https://a@panel.example/"}, "expected an address"),
        ({"done": "//panel.example/"}, "expected an address"),
        ({"done": "https://panel.example/{PID}"}, r"\{PID\} is unknown"),
        ({"done": "https://u.sona-systems.com/webstudy_credit.aspx?survey_code=XXXX"}, "in place of XXXX"),
        ({"again": "sometimes"}, "expected same browser, anywhere, never"),
        ({"seconds": -1}, "from 0 to 600"),
        ({"keep": ["a b"]}, "letters, digits"),
        ({"finish": "https://panel.example/"}, "unknown"),
    ],
)
def test_wrong_settings_are_named(table: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Panel.read(table)


def test_a_link_with_a_code_needs_one() -> None:
    with pytest.raises(ValueError, match="expected completion_code"):
        Settings.read('[panel]\nkind = "prolific"')


@pytest.mark.slow
def test_arrival_answers_and_the_way_back(tmp_path: Path) -> None:
    with running(make_folder(tmp_path / "birds", 8, prolific())) as run:
        ann = run.person(**entrance())
        assert "leave" not in ann.told
        ann.answer_all()
        told = ann.post("/api/sitting", entrance())
        url = "https://app.prolific.com/submissions/complete?cc=C9%20%26%20Co"
        assert told["leave"] == {"url": url, "fields": None, "seconds": 5}
        assert told["completion_code"] == CODE
        (sitting,) = run.database.read(lambda records: records.sittings())
        assert sitting.participant == IDS["PROLIFIC_PID"]
        assert sitting.panel == IDS  # and not what else was in the link
        page = run.client().get("/")
        assert '<meta name="oddkernel-participant" content="PROLIFIC_PID">' in page.text
        assert "frame-ancestors 'none'" in page.headers["content-security-policy"]


@pytest.mark.slow
@pytest.mark.parametrize("again", ["same browser", "anywhere", "never"])
def test_a_second_visit(tmp_path: Path, again: str) -> None:
    with running(make_folder(tmp_path / "birds", 8, prolific(f'again = "{again}"'))) as run:
        ann = run.person(**entrance())
        first = ann.questions()[0]
        ann.say(first["id"], 0)
        assert ann.post("/api/sitting", entrance())["sitting"]["state"] == "running"  # a reload is the same visit
        later = ann.post("/api/sitting", entrance(SESSION_ID="session-2"))
        assert later["sitting"]["state"] == ("turned_away" if again == "never" else "running")
        (sitting,) = run.database.read(lambda records: records.sittings())
        assert sitting.panel["SESSION_ID"] == ("session-1" if again == "never" else "session-2")
        elsewhere = run.client().post("/api/sitting", json=entrance())
        if again == "anywhere":
            assert elsewhere.json()["sitting"]["answered"] == 1
        else:
            assert (elsewhere.status_code, "another browser" in elsewhere.text) == (409, True)


@pytest.mark.slow
def test_time_runs_out_and_late_answers_are_stored(tmp_path: Path) -> None:
    more = 'minutes = 30\ntimed_out = "https://app.prolific.com/submissions/complete?cc=LATE"'
    with running(make_folder(tmp_path / "birds", 8, prolific(more))) as run:
        ann = run.person(**entrance())
        first, second, _ = ann.questions()
        ann.say(first["id"], 0)
        run.database.write(
            lambda records: records._run("UPDATE sitting SET started_at = '2020-01-01T00:00:00.000+00:00'")
        ).result(60)
        assert ann.questions() == []
        told = ann.say(second["id"], 1)  # it was on its way
        assert (told["answered"], told["state"]) == (2, "timed_out")
        assert told["leave"]["url"].endswith("cc=LATE")
        assert "completion_code" not in told


@pytest.mark.slow
def test_whoever_declines_leaves_no_trace(tmp_path: Path) -> None:
    settings = 'consent = "May we?"\n' + prolific('declined = "https://app.prolific.com/submissions/complete?cc=NO"')
    with running(make_folder(tmp_path / "birds", 8, settings)) as run:
        ann = run.person(**entrance())
        assert ann.told["study"]["declined"]["url"].endswith("cc=NO")
        ann.post("/api/decline", {})
        assert run.database.read(lambda records: records.sittings()) == []
        ann.post("/api/decline", {})
        ann.post("/api/sitting", entrance())
        ann.post("/api/consent", {"agreed": True})
        ann.post("/api/decline", {})  # too late: whoever agreed is deleted by the experimenter
        assert len(run.database.read(lambda records: records.sittings())) == 1


@pytest.mark.slow
def test_a_frame_without_cookies(tmp_path: Path) -> None:
    settings = SETTINGS + '\n[panel]\nkind = "mturk"'
    ids = {"workerId": "W1", "assignmentId": "A1", "hitId": "H1", "turkSubmitTo": "https://workersandbox.mturk.com"}
    with running(make_folder(tmp_path / "birds", 8, settings)) as run:
        policy = run.client().get("/").headers["content-security-policy"]
        assert "form-action 'self' https://www.mturk.com https://workersandbox.mturk.com" in policy
        assert re.search(r"frame-ancestors [^;]*https://worker\.mturk\.com", policy)
        ann = run.person(participant="W1", link=ids)
        ann.client.cookies.clear()
        ann.client.headers["oddkernel-pass"] = ann.told["pass"]

        class Forgetful(Person):
            def post(self, path: str, body: dict[str, Any], status: int = 200) -> dict[str, Any]:
                told = super().post(path, body, status)
                self.client.cookies.clear()
                return told

        ann.__class__ = Forgetful
        assert ann.answer_all() == 3
        leave = ann.post("/api/sitting", {"participant": "W1", "link": ids})["leave"]
        assert leave["url"] == "https://workersandbox.mturk.com/mturk/externalSubmit"
        assert leave["fields"] == {"assignmentId": "A1", "code": CODE}
        ann.client.headers["oddkernel-pass"] = ann.told["pass"][:-1]
        assert ann.client.get("/api/questions").status_code == 401


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
def test_nothing_personal_is_in_the_logs(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "birds", 8, prolific('again = "never"'))
    program = "import sys; from oddkernel.cli import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", program, "judge", str(folder), "--no-browser", "--port", "0"]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    ) as server:
        assert server.stdout is not None
        said, url = "", ""
        while "Ctrl-C" not in said:
            line = server.stdout.readline()
            assert line, said
            said += line
            if "participants" in line:
                url = line.split()[-1]
        with open_client(base_url=url) as client:
            client.get("/", params=IDS)
            ann = Person(client, **entrance())
            ann.answer_all()
            ann.post("/api/sitting", entrance(SESSION_ID="session-2"))
            ann.say("no such question", 1, status=404)
            ann.post("/api/answers", {"client_id": IDS["PROLIFIC_PID"]}, status=422)
        with open_client(base_url=url) as client:
            assert client.post("/api/sitting", json=entrance()).status_code == 409
        server.send_signal(signal.SIGINT)
        said += server.stdout.read()
    assert "3 answers came in" in said
    for word in (*IDS.values(), "session-2", CODE):
        assert word not in said
