"""Load test: many people answer at once. Is every answer stored exactly once and correctly, and how long does it take?

python -m oddkernel_benchmarks.judge_load                200 people, 50 questions each, on SQLite
python -m oddkernel_benchmarks.judge_load --postgresql   the same on a private PostgreSQL server
python -m oddkernel_benchmarks.judge_load --kill         with the server killed in the middle and started again
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from oddkernel.judge.keys import Keys
from oddkernel.judge.simulate import Crowd, Told, by_labels
from oddkernel.judge.store import Database
from oddkernel.judge.study import Study
from oddkernel_benchmarks.postgresql import private_cluster

N_ITEMS = 40

SERVE = """
import sys
from pathlib import Path
from oddkernel.judge.server import Server
from oddkernel.judge.study import Study
source, database, port = sys.argv[1:]
server = Server(Study.open(Path(source)), database=database, port=int(port))
server.run(lambda: print(server.url, flush=True))
"""


@dataclass(frozen=True)
class Outcome:
    """The result of a load test.

    Attributes
    ----------
    told : Told
        The answers that the server confirmed.
    n_stored : int
        Number of stored answers.
    lost, doubled, misplaced : int
        Answers confirmed but not stored; stored twice; stored with other items, another answer or another person.
    seconds : float
        Duration.
    """

    told: Told
    n_stored: int
    lost: int
    doubled: int
    misplaced: int
    seconds: float

    @property
    def sound(self) -> bool:
        """Whether no answer was lost, doubled or misplaced."""
        return not (self.lost or self.doubled or self.misplaced or self.told.problems)


def make_study(folder: Path, n_questions: int) -> Study:
    """A study of short texts in two groups, without media files."""
    table = folder / "words.csv"
    table.write_text("item,text\n" + "".join(f"item {i},word {i}\n" for i in range(N_ITEMS)))
    home = folder / "words-study"
    home.mkdir(exist_ok=True)
    (home / "study.toml").write_text(f'name = "load"\nquestions = {n_questions}\n')
    return Study.open(table)


@contextmanager
def serving(study: Study, source: Path, database: str, port: int = 0) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The server in a separate process, and its address."""
    process = subprocess.Popen(
        [sys.executable, "-c", SERVE, str(source), database, str(port)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        if not url:
            raise RuntimeError(f"the server for {study.name} did not start")
        yield process, url
    finally:
        process.kill()
        process.communicate()


def load(folder: Path, database: str | None, n_people: int, n_questions: int, *, kill: bool = False) -> Outcome:
    """Let people answer, optionally with the server killed and restarted in the middle, and count."""
    study = make_study(folder, n_questions)
    source = folder / "words.csv"
    address = database or study.database
    opened = Database(address, study.name)
    keys = Keys(opened.write(lambda records: records.secret()).result())
    opened.close()
    with serving(study, source, address) as (process, url):
        crowd = Crowd(url, study, keys, by_labels(np.arange(N_ITEMS) % 2), patience=120)
        started = time.perf_counter()
        people = threading.Thread(target=crowd.answer, args=(n_people, n_questions), daemon=True)
        people.start()
        if kill:
            while len(crowd.told.stored) < n_people * n_questions // 3 and people.is_alive():
                time.sleep(0.01)
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
        again = serving(study, source, address, int(url.rstrip("/").rpartition(":")[2])) if kill else nullcontext()
        with again:
            people.join()
        seconds = time.perf_counter() - started
    opened = Database(address, study.name)
    answers = opened.read(lambda records: records.answers())
    opened.close()
    stored = {
        answer.client_id: (answer.participant, tuple(study.index_of[name] for name in answer.items), answer.odd)
        for answer in answers
    }
    told = crowd.told
    per_question = Counter(answer.question for answer in answers)
    return Outcome(
        told=told,
        n_stored=len(answers),
        lost=len(told.stored.keys() - stored.keys()),
        doubled=len(answers) - len(stored) + sum(times > 1 for times in per_question.values()),
        misplaced=sum(stored.get(id, said) != said for id, said in told.stored.items()),
        seconds=seconds,
    )


def main() -> int:
    """Run the load test and print the result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=200)
    parser.add_argument("--questions", type=int, default=50)
    parser.add_argument("--postgresql", action="store_true", help="on a private PostgreSQL server")
    parser.add_argument("--kill", action="store_true", help="kill the server in the middle and start it again")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # stop the servers also when this program is terminated
    with (
        tempfile.TemporaryDirectory() as folder,
        private_cluster() if arguments.postgresql else nullcontext() as cluster,
    ):
        address = None if cluster is None else cluster.address
        outcome = load(Path(folder), address, arguments.people, arguments.questions, kill=arguments.kill)
    median, p99 = (1000 * np.quantile(outcome.told.seconds, [0.5, 0.99])).tolist()
    facts = {
        "database": "postgresql" if arguments.postgresql else "sqlite",
        "people": arguments.people,
        "questions": arguments.questions,
        "killed": arguments.kill,
        "told": len(outcome.told.stored),
        "stored": outcome.n_stored,
        "lost": outcome.lost,
        "doubled": outcome.doubled,
        "misplaced": outcome.misplaced,
        "problems": outcome.told.problems[:5],
        "sent_again": outcome.told.retries,
        "median_ms": round(median, 1),
        "p99_ms": round(p99, 1),
        "answers_per_second": round(outcome.n_stored / outcome.seconds, 1),
    }
    if arguments.json:
        print(json.dumps(facts))
    else:
        print(*(f"{name}: {value}" for name, value in facts.items()), sep="\n")
    return 0 if outcome.sound else 1


if __name__ == "__main__":
    sys.exit(main())
