"""Work in a process of its own, so that answering never waits: features of a study's items, its report, its plan."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..formats import FORMATS
from ..items.encoders import NONE
from .study import Study
from .study_data import study_data_from
from .study_report import report_of, save_report, work_out

Task = dict[str, Any]
"""What a process is told: ``source`` and ``features``; for a report also ``said``, ``held_out`` and ``out``; for a plan
also ``seconds``."""


class BackgroundTask:
    """Something that a process does, and how far it is; any thread may ask.

    Parameters
    ----------
    task : callable
        Returns what the process is told, when one begins.
    done : callable, optional
        Called with what the process reports when it has ended well.
    """

    def __init__(self, task: Callable[[], Task], done: Callable[[dict[str, Any]], None] | None = None) -> None:
        self._task, self._done = task, done
        self._lock = threading.Lock()
        self._worker: threading.Thread | None = None
        self._process: subprocess.Popen[str] | None = None
        self._progress = ""
        self._problem: str | None = None
        self._result: dict[str, Any] = {}
        self._closed = False

    def begin(self) -> None:
        """Begin, unless it is under way."""
        with self._lock:
            if self._closed or (self._worker is not None and self._worker.is_alive()):
                return
            self._progress, self._problem = "starting", None
            self._worker = threading.Thread(target=self._run, name="oddkernel-task", daemon=True)
            self._worker.start()

    @property
    def begun(self) -> bool:
        """Whether it was ever begun."""
        return self._worker is not None

    def state(self) -> dict[str, Any]:
        """How far it is: ``working``, ``progress``, ``problem``, and what the last one reported."""
        with self._lock:
            working = self._worker is not None and self._worker.is_alive()
            return {
                "working": working,
                "progress": self._progress if working else "",
                "problem": self._problem,
                **self._result,
            }

    def close(self) -> None:
        """Give it up."""
        with self._lock:
            self._closed = True
            process = self._process
        if process is not None and process.poll() is None:
            process.kill()

    def _run(self) -> None:
        try:
            result = self._elsewhere(self._task())
            if self._done is not None:
                self._done(result)
            with self._lock:
                self._result = result
        except Exception as error:  # whatever goes wrong here, answering goes on
            with self._lock:
                self._problem = str(error)

    def _elsewhere(self, task: Task) -> dict[str, Any]:
        one_thread = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
        with self._lock:
            if self._closed:
                raise RuntimeError("The server is stopping.")
            self._process = subprocess.Popen(
                [sys.executable, "-m", "oddkernel.judge.background_tasks"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                env={**os.environ, **one_thread, "PYTHONIOENCODING": "utf-8"},
            )
        complaints = [""]
        result: dict[str, Any] | None = None
        with self._process as process:  # closes the pipes in the end
            assert process.stdin is not None
            assert process.stdout is not None
            listener = threading.Thread(target=lambda: complaints.extend(process.stderr or ()), daemon=True)
            listener.start()
            try:
                with process.stdin as told:
                    told.write(json.dumps(task))
                for line in process.stdout:
                    said = json.loads(line)
                    with self._lock:
                        self._progress = said.get("progress", self._progress)
                    result = said.get("done", result)
                process.wait()
            finally:
                process.kill()  # if it has not ended
                listener.join()
        if process.returncode or result is None:
            last = [line.strip() for line in complaints if line.strip()]
            raise RuntimeError(last[-1] if last else "Its process was ended.")
        return result


def main() -> None:
    """Read a task from stdin, do it, write how far it is to stdout; at low priority, as people's answers come first."""
    if hasattr(os, "nice"):
        os.nice(10)
    warnings.simplefilter("ignore")
    task: Task = json.loads(sys.stdin.read())
    try:
        done = _do(task)
    except (ValueError, OSError, ImportError) as error:
        sys.exit(" ".join(str(error).split()))
    _say({"done": done})


def _do(task: Task) -> dict[str, Any]:
    from .item_features import describe

    def tell(sentence: str) -> None:
        _say({"progress": sentence})

    features = None if task["features"] is None else Path(task["features"])
    study = Study.open(Path(task["source"]), features)
    if "seconds" in task:
        return plan_of(study, task["seconds"], tell)
    if "said" not in task:
        kept = describe(study.items, study.home, file=study.features_file, progress=tell)
        return {"encoder": kept.encoder, "n_items": len(kept.items.X)}
    said, held_out = (FORMATS["jsonl"].read(task[part].encode()).understand() for part in ("said", "held_out"))
    data = study_data_from(study, said, held_out, progress=tell)
    tell(f"learning from {len(data.said)} answers")
    model, _ = data.model()
    report = report_of(data, model)
    work_out(report, tell)
    tell("writing")
    save_report(report, Path(task["out"]))
    return {"answers": len(data.said), "held_out": len(data.held_out)}


def plan_of(study: Study, seconds: float, tell: Callable[[str], None]) -> dict[str, Any]:
    """How many answers a study needs, by simulation."""
    from ..questions import plan
    from .item_features import describe

    kept = describe(study.items, study.home, file=study.features_file, progress=tell)
    found = plan(
        None if kept.option == NONE else kept.items.X,
        n_items=len(study.items),
        per_person=study.settings.learned_from,
        policy=study.settings.policy,
        seconds=seconds,
        progress=tell,
    )
    return {"plan": {**found.facts, "per_person": study.settings.learned_from}}


def _say(what: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
