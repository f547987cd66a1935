"""Features and the report, made by the server in processes of their own."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

pytest.importorskip("fastapi", reason="the judge needs oddkernel[judge]")

from judge_studies import make_folder, running

from oddkernel.cli import main
from oddkernel.items.feature_cache import read_kept
from oddkernel.judge.background_tasks import BackgroundTask
from oddkernel.judge.study import Study

pytestmark = pytest.mark.slow  # starts servers and processes


def ended(client: httpx.Client) -> dict[str, Any]:
    """The state of the report once nothing is being made."""
    while True:
        state: dict[str, Any] = client.get("/experimenter/api/report").json()
        if not state["working"]:
            return state
        assert state["progress"]
        time.sleep(0.05)


def test_the_page_makes_the_report_of_the_command_line(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "photos", settings="questions = 20\npractice = 0\n")
    with running(folder) as study:
        experimenter = study.experimenter()
        state = experimenter.get("/experimenter/api/report").json()
        assert (state["working"], state["made_at"], state["problem"]) == (False, None, None)
        assert experimenter.get("/experimenter/report").status_code == 404
        for name in ("ann", "ben"):
            study.person(participant=name).answer_all()
        assert study.client().post("/experimenter/api/report", json={}).status_code == 401
        assert experimenter.post("/experimenter/api/report", json={}).json()["working"]
        state = ended(experimenter)
        assert state["problem"] is None
        assert (state["answers"], state["held_out"]) == (36, 4)
        assert state["made_at"]
        page = experimenter.get("/experimenter/report")
        assert page.content == (folder / "report.html").read_bytes()
        assert "sandbox allow-scripts allow-downloads" in page.headers["content-security-policy"]
        assert study.client().get("/experimenter/report").status_code == 401
        for secret in (folder / ".oddkernel" / "model.oddkernel", folder / "report.html"):
            assert b"ben" not in secret.read_bytes()  # nobody's name, as both may be shown to others
        assert main(["report", str(folder)]) == 0
        assert (folder / "report.html").read_bytes() == page.content

        experimenter.post("/experimenter/api/withdraw", json={"participant": "ben"})
        assert not (folder / "report.html").exists()
        assert not (folder / ".oddkernel" / "model.oddkernel").exists()
        assert read_kept(folder) is not None


def test_what_goes_wrong_is_said(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "photos", settings="questions = 5\npractice = 0\n")
    with running(folder) as study:
        study.person(participant="ann").answer_all()
        for picture in folder.glob("*.png"):
            picture.write_bytes(b"not a picture")
        experimenter = study.experimenter()
        experimenter.post("/experimenter/api/report", json={})
        assert "8 of 8 images can't be read" in ended(experimenter)["problem"]


def test_the_map_gets_features_without_being_told(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "photos", settings="questions = 20\npractice = 0\n")
    with running(folder) as study:
        study.person(participant="ann").answer_all()
        experimenter = study.experimenter()
        assert study.judge.study.features is None
        experimenter.get("/experimenter/api/map")
        while study.judge.describing.state()["working"]:
            time.sleep(0.05)
        assert study.judge.describing.state()["problem"] is None
        kept = read_kept(folder)
        assert kept is not None
        np.testing.assert_array_equal(study.judge.live_map._features, kept.items.X)
    assert Study.open(folder).features is not None
    shutil.rmtree(folder / ".oddkernel")
    assert Study.open(folder).features is None


def test_an_errand_that_is_given_up_ends() -> None:
    task = BackgroundTask(lambda: {"source": "/", "features": None})
    task.begin()
    task.close()
    while task.state()["working"]:
        time.sleep(0.02)
    task.begin()
    assert not task.state()["working"]


def test_a_task_that_has_ended_keeps_no_files_open(tmp_path: Path) -> None:
    task = BackgroundTask(lambda: {"source": str(tmp_path), "features": None})  # an empty folder: an error
    task.begin()
    while task.state()["working"]:
        time.sleep(0.02)
    assert task.state()["problem"]
    process = task._process
    assert process is not None
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.closed
    assert process.stderr.closed
