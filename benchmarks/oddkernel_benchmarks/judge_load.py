"""Load and faults on the judging page: is any answer lost or doubled, is any page broken, and how long does it take?

python -m oddkernel_benchmarks.judge_load answers                 200 people, 50 questions each, on SQLite
python -m oddkernel_benchmarks.judge_load answers --kill          and the server killed three times meanwhile
python -m oddkernel_benchmarks.judge_load answers --postgresql --kill    and the database once, too
python -m oddkernel_benchmarks.judge_load answers --kill --form anchor grid    questions of other forms, mixed
python -m oddkernel_benchmarks.judge_load studies                 10 studies in one database, 20 people each
python -m oddkernel_benchmarks.judge_load pages                   1,000 people open the page with its pictures at once
python -m oddkernel_benchmarks.judge_load slow                    1,100 clients that never finish a request, 20 who do
python -m oddkernel_benchmarks.judge_load choosing --policy prototypes   2,000 items, 50,000 answers, 20 people

In `pages` and `slow` the server may open 1,024 files and no more.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import resource
import signal
import sys
import tempfile
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import numpy as np
from numpy.typing import NDArray

from oddkernel.judge.question_forms import FORMS, ODD
from oddkernel.judge.running_study import root_of
from oddkernel.judge.simulate import Crowd, Told, by_labels
from oddkernel.judge.store import Records
from oddkernel.judge.study import Study
from oddkernel_benchmarks.judge_browsers import Item, Seen, answer, dawdle, visit
from oddkernel_benchmarks.judge_server import ServerProcess, Weight
from oddkernel_benchmarks.postgresql import Cluster, private_cluster

N_ITEMS = 40
DESCRIPTORS = 1024
PER_PERSON = 50
"""Questions for each person where what counts is the number of answers."""

WEIGHED = 3
"""In `choosing`, the server's memory is printed at first, at the end, and twice in between."""

Facts = dict[str, Any]


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
        How long it all took.
    memory : float
        The megabytes that the server held at most.
    """

    told: Told
    n_stored: int
    lost: int
    doubled: int
    misplaced: int
    seconds: float
    memory: float

    @property
    def sound(self) -> bool:
        """Whether no answer was lost, doubled or misplaced."""
        return not (self.lost or self.doubled or self.misplaced or self.told.problems)


def make_study(folder: Path, n_questions: int, n_items: int = N_ITEMS, settings: str = "") -> Study:
    """A study of short texts, which need no media to be served."""
    table = folder / "words.csv"
    table.write_text("item,text\n" + "".join(f"item {i},word {i}\n" for i in range(n_items)))
    home = folder / "words-study"
    home.mkdir(exist_ok=True)
    (home / "study.toml").write_text(f'name = "load"\nquestions = {n_questions}\n{settings}')
    return Study.open(table)


def load(
    folder: Path,
    database: str | None,
    n_people: int,
    n_questions: int,
    *,
    n_studies: int = 1,
    kill: bool = False,
    cluster: Cluster | None = None,
    settings: str = "",
) -> Outcome:
    """Let people answer, and count; if asked for, kill the server three times and a database of our own once.

    Of several studies, each is asked about by `n_people`, and the people of all have the same names.
    """
    homes = [folder / f"study {number}" for number in range(n_studies)]
    for home in homes:
        home.mkdir()
    studies = [make_study(home, n_questions, settings=settings) for home in homes]
    address = database or ""
    for study in studies:
        study.connect(address or None).close()
    with ServerProcess(*(home / "words.csv" for home in homes), database=address) as server:
        crowds = [
            Crowd(
                urljoin(server.url, f"{root_of(study)}/" if n_studies > 1 else "/"),
                study,
                study.keys,
                by_labels(np.arange(N_ITEMS) % 2),
                patience=120,
            )
            for study in studies
        ]
        started = time.perf_counter()
        people = [
            threading.Thread(target=crowd.answer, args=(n_people, n_questions, number), daemon=True)
            for number, crowd in enumerate(crowds)
        ]
        for each in people:
            each.start()
        if kill:
            _kill_now_and_then(crowds[0], people[0], n_people * n_questions, server, cluster)
        for each in people:
            each.join()
        seconds = time.perf_counter() - started
    parts = [_compared(study, address or None, crowd.told) for study, crowd in zip(studies, crowds, strict=True)]
    told = Told()
    for part in parts:
        told.stored |= part.told.stored
        told.seconds += part.told.seconds
        told.seconds_at_once += part.told.seconds_at_once
        told.retries += part.told.retries
        told.problems += part.told.problems
    return Outcome(
        told=told,
        n_stored=sum(part.n_stored for part in parts),
        lost=sum(part.lost for part in parts),
        doubled=sum(part.doubled for part in parts),
        misplaced=sum(part.misplaced for part in parts),
        seconds=seconds,
        memory=max((weight.server_mb for weight in server.weights), default=0.0),
    )


def _compared(study: Study, address: str | None, told: Told) -> Outcome:
    """What is stored in a study beside what its people were told; an answer that nobody gave here is misplaced."""
    opened = study.connect(address)
    answers = opened.read(lambda records: records.answers())
    opened.close()
    stored = {
        answer.client_id: (answer.participant, tuple(study.index_of[name] for name in answer.items), answer.odd)
        for answer in answers
    }
    per_question = Counter(answer.question for answer in answers)
    return Outcome(
        told=told,
        n_stored=len(answers),
        lost=len(told.stored.keys() - stored.keys()),
        doubled=len(answers) - len(stored) + sum(times > 1 for times in per_question.values()),
        misplaced=sum(told.stored.get(id) != said for id, said in stored.items()),
        seconds=0.0,
        memory=0.0,
    )


def _kill_now_and_then(
    crowd: Crowd, people: threading.Thread, n_answers: int, server: ServerProcess, cluster: Cluster | None
) -> None:
    for share, victim in ((0.2, "server"), (0.4, "server"), (0.6, "database"), (0.8, "server")):
        while len(crowd.told.stored) < share * n_answers and people.is_alive():
            time.sleep(0.01)
        if victim == "server":
            server.kill_and_restart()
        elif cluster is not None:
            cluster.stop()
            cluster.start()


def answers(arguments: argparse.Namespace) -> Facts:
    """People × answers, with kills of server and database."""
    with (
        tempfile.TemporaryDirectory() as folder,
        private_cluster() if arguments.postgresql else nullcontext() as cluster,
    ):
        outcome = load(
            Path(folder),
            None if cluster is None else cluster.address,
            arguments.people,
            arguments.questions,
            kill=arguments.kill,
            cluster=cluster,
            settings=f"form = {json.dumps(arguments.form)}\n",
        )
    return {"killed": arguments.kill, "form": arguments.form, **_of_answers(arguments, outcome)}


def studies(arguments: argparse.Namespace) -> Facts:
    """Several studies on one server and in one database, and people in each at the same time."""
    with (
        tempfile.TemporaryDirectory() as folder,
        private_cluster() if arguments.postgresql else nullcontext() as cluster,
    ):
        address = f"sqlite:///{folder}/answers.sqlite3" if cluster is None else cluster.address
        outcome = load(Path(folder), address, arguments.people, arguments.questions, n_studies=arguments.studies)
    return {"studies": arguments.studies, **_of_answers(arguments, outcome)}


def _of_answers(arguments: argparse.Namespace, outcome: Outcome) -> Facts:
    told = outcome.told
    return {
        "database": "postgresql" if arguments.postgresql else "sqlite",
        "people": arguments.people,
        "questions": arguments.questions,
        "told": len(told.stored),
        "stored": outcome.n_stored,
        "lost": outcome.lost,
        "doubled": outcome.doubled,
        "misplaced": outcome.misplaced,
        "broken": len(told.problems),
        "first_broken": told.problems[:3],
        "sent_again": told.retries,
        **_quantiles("answer", told.seconds_at_once),
        **_quantiles("answer_with_outages", told.seconds),
        "answers_per_second": round(outcome.n_stored / outcome.seconds, 1),
        "server_mb": round(outcome.memory),
    }


def pages(arguments: argparse.Namespace) -> Facts:
    """Whole pages with pictures, opened by everybody at once, at 1,024 descriptors."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "photos"
        _make_photos(source, arguments.pictures)
        (source / "study.toml").write_text('name = "load"\nquestions = 20\npractice = 0\n')
        seen = Seen()

        async def everybody(url: str) -> None:
            await visit(url, "experimenter", seen)  # who has tried the page, as everybody does
            seen.seconds.clear()
            await asyncio.gather(*(visit(url, f"person {n}", seen) for n in range(arguments.people)))

        with ServerProcess(source, descriptors=DESCRIPTORS) as server:
            began = time.perf_counter()
            asyncio.run(everybody(server.url))
            seconds = time.perf_counter() - began
        lost, doubled = _compare(Study.open(source), seen)
        return {
            "people": arguments.people,
            "descriptors": DESCRIPTORS,
            "lost": lost,
            "doubled": doubled,
            **_of_seen(seen, ("first_question", "page", "question", "answer")),
            "seconds": round(seconds, 1),
            "log_kb": round(server.log_bytes / 1000, 1),
            **_memory(server),
        }


def slow(arguments: argparse.Namespace) -> Facts:
    """Clients that begin requests and never end them, while some people answer."""
    with tempfile.TemporaryDirectory() as folder:
        study = make_study(Path(folder), PER_PERSON)
        seen = Seen()

        async def everybody(url: str) -> None:
            others = [asyncio.create_task(dawdle(url)) for _ in range(arguments.clients)]
            await asyncio.sleep(3.0)  # by then all of them are connected
            people = (
                answer(url, f"person {n}", PER_PERSON, lambda _: 0, seen, pause=0.3) for n in range(arguments.people)
            )
            await asyncio.gather(*people)
            for task in others:
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)

        with ServerProcess(Path(folder) / "words.csv", descriptors=DESCRIPTORS) as server:
            asyncio.run(everybody(server.url))
        lost, doubled = _compare(study, seen)
        return {
            "slow_clients": arguments.clients,
            "people": arguments.people,
            "descriptors": DESCRIPTORS,
            "lost": lost,
            "doubled": doubled,
            **_of_seen(seen, ("question", "answer")),
            "log_kb": round(server.log_bytes / 1000, 1),
            **_memory(server),
        }


def choosing(arguments: argparse.Namespace) -> Facts:
    """Questions chosen by a policy that learns, among many items and after many answers."""
    n_before = arguments.answers - arguments.measured
    rng = np.random.default_rng(0)
    labels = rng.integers(40, size=arguments.items)
    X = 2 * rng.standard_normal((40, 20))[labels] + rng.standard_normal((arguments.items, 20))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        study = make_study(folder, PER_PERSON, arguments.items, f'policy = "{arguments.policy}"\n')
        features = folder / "features.csv"
        rows = (f"item {i}," + ",".join(f"{x:.6g}" for x in row) for i, row in enumerate(X))
        features.write_text("\n".join(["item," + ",".join(f"x{j}" for j in range(20)), *rows]))
        _answer_before(study, n_before, labels, rng)
        seen, respond = Seen(), by_labels(labels)
        index = {item.text: number for number, item in enumerate(study.items)}

        def odd_of(items: list[Item]) -> int:
            first, second, third = (index[item["text"]] for item in items)
            return respond((first, second, third), rng)

        async def one_after_another(url: str, place: int) -> None:
            for turn in range(arguments.measured // PER_PERSON // arguments.people):
                await answer(url, f"person {place} {turn}", PER_PERSON, odd_of, seen, arguments.pause)

        weights: dict[int, Weight] = {}

        async def weigh_now_and_then(server: ServerProcess) -> None:
            while True:
                there = n_before + len(seen.stored)
                if there >= n_before + len(weights) * arguments.measured / WEIGHED:
                    weights[there] = server.weigh()
                await asyncio.sleep(0.1)

        async def everybody(server: ServerProcess) -> None:
            await asyncio.sleep(arguments.warm)  # until something was learned
            weighing = asyncio.create_task(weigh_now_and_then(server))
            await asyncio.gather(*(one_after_another(server.url, place) for place in range(arguments.people)))
            weighing.cancel()
            weights[n_before + len(seen.stored)] = server.weigh()

        with ServerProcess(folder / "words.csv", features=features) as server:
            asyncio.run(everybody(server))
        lost, doubled = _compare(study, seen)
        return {
            "policy": arguments.policy,
            "items": arguments.items,
            "answers": n_before + len(seen.stored),
            "people": arguments.people,
            "lost": lost,
            "doubled": doubled,
            **_of_seen(seen, ("question", "answer")),
            **_growth(weights),
        }


def _answer_before(study: Study, n: int, labels: NDArray[np.intp], rng: np.random.Generator) -> None:
    """Random questions and their answers, put into the database directly."""
    when = "2026-01-01T00:00:00.000+00:00"
    respond = by_labels(labels)

    def sit(records: Records) -> None:
        sitting = records.begin(f"earlier {uuid.uuid4()}", ["chosen"] * PER_PERSON, 0)
        for place in range(PER_PERSON):
            first, second, third = rng.choice(len(labels), 3, replace=False).tolist()
            items = (study.names[first], study.names[second], study.names[third])
            question = records.hand_out(sitting, place, "random", items)
            odd = respond((first, second, third), rng)
            records.answer(sitting, str(uuid.uuid4()), question.id, odd, 1500, when)

    database = study.connect()
    for future in [database.write(sit) for _ in range(n // PER_PERSON)]:
        future.result()
    database.close()


def _make_photos(folder: Path, n: int) -> None:
    """Pictures of two megapixels and some 400 kB each, as cameras make them if told to be brief."""
    from PIL import Image

    folder.mkdir()
    rng = np.random.default_rng(0)
    for number in range(n):
        coarse = Image.fromarray(rng.integers(0, 256, (120, 180, 3), dtype=np.uint8))
        coarse.resize((1800, 1200), Image.Resampling.BICUBIC).save(folder / f"photo {number}.jpg", quality=92)


def _compare(study: Study, seen: Seen) -> tuple[int, int]:
    """How many answers that were confirmed are not stored, and how many questions have two."""
    database = study.connect()
    stored = database.read(lambda records: records.answers())
    database.close()
    there = {answer.client_id: (answer.question, answer.odd) for answer in stored}
    lost = sum(there.get(client_id) != said for client_id, said in seen.stored.items())
    return lost, len(stored) - len({answer.question for answer in stored})


def _quantiles(name: str, seconds: Sequence[float]) -> Facts:
    if not seconds:
        return {}
    median, p99 = (1000 * np.quantile(seconds, [0.5, 0.99])).tolist()
    return {f"{name}_p50_ms": round(median, 1), f"{name}_p99_ms": round(p99, 1)}


def _of_seen(seen: Seen, kinds: Sequence[str]) -> Facts:
    facts: Facts = {"broken": len(seen.broken), "first_broken": seen.broken[:3], "sent_again": seen.again}
    facts["told"] = len(seen.stored)
    for kind in kinds:
        facts |= _quantiles(kind, seen.seconds.get(kind, ()))
    return facts


def _memory(server: ServerProcess) -> Facts:
    """Megabytes, of the server and of the processes it started: at first, at the end and at most."""
    own, others = ([getattr(weight, of) for weight in server.weights] for of in ("server_mb", "learner_mb"))
    if not own:
        return {}
    return {
        "server_mb_first": round(own[0]),
        "server_mb_last": round(own[-1]),
        "server_mb_most": round(max(own)),
        "learner_mb_most": round(max(others)),
    }


def _growth(weights: dict[int, Weight]) -> Facts:
    """Memory in megabytes by number of answers, how much it has grown in between, and CPU time for each answer."""
    (first, before), *_, (last, after) = weights.items()
    grown = {
        f"{which}_growth_percent": round(100 * (getattr(after, of) / getattr(before, of) - 1), 1)
        for which, of in (("server", "server_mb"), ("learner", "learner_mb"))
        if getattr(before, of)
    }
    return {
        "server_mb": {n: round(weight.server_mb) for n, weight in weights.items()},
        "learner_mb": {n: round(weight.learner_mb) for n, weight in weights.items()},
        **grown,
        "server_cpu_ms_per_answer": round(1000 * (after.cpu - before.cpu) / (last - first), 2),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a scenario and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    scenarios = parser.add_subparsers(required=True)

    def scenario(run: Callable[[argparse.Namespace], Facts], people: int) -> argparse.ArgumentParser:
        added = scenarios.add_parser(run.__name__, help=(run.__doc__ or "").partition("\n")[0])
        added.set_defaults(run=run)
        added.add_argument("--people", type=int, default=people)
        added.add_argument("--json", action="store_true")
        return added

    of_answers = scenario(answers, 200)
    of_answers.add_argument("--questions", type=int, default=50)
    of_answers.add_argument("--postgresql", action="store_true", help="on a private PostgreSQL server")
    of_answers.add_argument(
        "--form", nargs="+", default=[ODD], choices=FORMS, help="the form of the questions; several are mixed"
    )
    of_answers.add_argument("--kill", action="store_true", help="kill the server, and PostgreSQL, meanwhile")
    of_studies = scenario(studies, 20)
    of_studies.add_argument("--studies", type=int, default=10)
    of_studies.add_argument("--questions", type=int, default=50)
    of_studies.add_argument("--postgresql", action="store_true", help="on a private PostgreSQL server")
    scenario(pages, 1000).add_argument("--pictures", type=int, default=60)
    scenario(slow, 20).add_argument("--clients", type=int, default=1100)
    of_choosing = scenario(choosing, 20)
    of_choosing.add_argument("--policy", default="prototypes")
    of_choosing.add_argument("--items", type=int, default=2000)
    of_choosing.add_argument("--answers", type=int, default=50_000, help="how many there are in the end")
    of_choosing.add_argument("--measured", type=int, default=30_000, help="how many of them people give, the last ones")
    of_choosing.add_argument("--pause", type=float, default=0.0, help="seconds that people look at a question")
    of_choosing.add_argument("--warm", type=float, default=60.0, help="seconds to learn before people come")
    given = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # the servers are ours to stop, also when time is up
    with contextlib.suppress(ValueError, OSError):  # of this process: browsers have six connections each
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    before = os.getloadavg()[0]
    facts = {"scenario": given.run.__name__, **given.run(given)}
    facts["load_average"] = [round(before, 2), round(os.getloadavg()[0], 2)]
    if given.json:
        print(json.dumps(facts))
    else:
        print(*(f"{name}: {value}" for name, value in facts.items()), sep="\n")
    return 0 if not (facts["lost"] or facts["doubled"] or facts["broken"] or facts.get("misplaced")) else 1


if __name__ == "__main__":
    sys.exit(main())
