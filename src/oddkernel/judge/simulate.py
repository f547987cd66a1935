"""Simulated people, who answer through the real HTTP interface."""

from __future__ import annotations

import http.client
import itertools
import json
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import ArrayLike

from ..questions.simulated_people import ByLabels, ByMetric
from .question_forms import ANSWERS, GRID, ODD, Given
from .signing import Keys
from .study import Study

Respond = Callable[[tuple[int, ...], np.random.Generator], int]
"""A simulated person's answer about three items, given by number: the position of the odd one, or -1 for can't tell.

Attributes ``anchor``, ``central`` and ``grid``, if there are any, answer questions of these forms."""


def by_features(X: ArrayLike, noise: float = 0.0) -> Respond:
    """A person who names the item outside the closest pair. A share `noise` of the answers are guesses."""
    return ByMetric(X, noise=noise)


def by_labels(labels: ArrayLike, noise: float = 0.0) -> Respond:
    """A person who answers by class: the odd one is the item whose class differs from that of the other two.

    The answer is can't tell if all three are of one class, or of three classes. A share `noise` of the answers are
    guesses.

    Examples
    --------
    >>> respond = by_labels(["bird", "bird", "fish"])
    >>> respond((0, 2, 1), np.random.default_rng(0))
    1
    """
    return ByLabels(labels, noise=noise)


def by_chance(items: tuple[int, ...], rng: np.random.Generator) -> int:
    """A person who guesses."""
    return int(rng.integers(-1, 3))


@dataclass
class Told:
    """What simulated people were told, to be compared with what is stored.

    Attributes
    ----------
    stored : dict
        For each client_id that the server said is stored: participant, the items by number, and the answer.
    seconds : list of float
        Seconds until each answer was confirmed.
    seconds_at_once : list of float
        The same for answers that were confirmed at the first attempt.
    retries : int
        Number of requests that were sent again, because the server was busy or did not answer.
    problems : list of str
        What went wrong for good.
    """

    stored: dict[str, tuple[str, tuple[int, ...], Given]] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)
    seconds_at_once: list[float] = field(default_factory=list)
    retries: int = 0
    problems: list[str] = field(default_factory=list)


class Crowd:
    """Simulated people, each in a thread of their own.

    Parameters
    ----------
    url : str
        Where the server is.
    study : Study
        The study that it runs.
    secret_keys : Keys
        The study's keys: they tell which item an address belongs to, and prove that these people are simulated.
    respond : callable
        How they answer.
    patience : float, default=60
        Seconds for which a request is sent again while the server doesn't answer or is busy.
    """

    def __init__(self, url: str, study: Study, secret_keys: Keys, respond: Respond, patience: float = 60.0) -> None:
        self._address, self._keys = urlsplit(url), secret_keys
        self._respond = respond
        self._patience = patience
        self._root = self._address.path.rstrip("/")
        self._index = {
            f"{self._root}/media/{id}": study.index_of[name] for id, name in secret_keys.media(study.names).items()
        }
        self._index |= {item.text: index for index, item in enumerate(study.items) if item.text is not None}
        self._lock = threading.Lock()
        self.told = Told()

    def answer(self, n_people: int, n_questions: int, random_state: int = 0, prefix: str = "simulated") -> Told:
        """Let `n_people` answer `n_questions` each, all at the same time; returns when they are done."""
        threads = [
            threading.Thread(
                target=self._sit, args=(f"{prefix} {number}", n_questions, [random_state, number]), daemon=True
            )
            for number in range(n_people)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return self.told

    def _sit(self, participant: str, n_questions: int, seed: list[int]) -> None:
        try:
            with self._browser() as send:
                self._answer_as(participant, n_questions, np.random.default_rng(seed), send)
        except Exception as error:
            with self._lock:
                self.told.problems.append(f"{participant}: {error}")

    def _answer_as(self, participant: str, n_questions: int, rng: np.random.Generator, send: Any) -> None:
        key = str(uuid.UUID(bytes=rng.bytes(16), version=4))
        entrance = {"participant": participant, "key": key, "simulated": self._keys.simulation(participant)}
        begun = send("POST", "/api/sitting", entrance)
        if begun["study"]["consent"] is not None:
            send("POST", "/api/consent", {"agreed": True})
        for _ in range(n_questions):
            waiting = send("GET", "/api/questions?count=2")["questions"]
            if not waiting:
                return
            items = tuple(
                self._index[item["url"].partition("?")[0] if "url" in item else item["text"]]
                for item in waiting[0]["items"]
            )
            odd = self._say(waiting[0]["form"], items, waiting[0]["picks"], rng)
            client_id = str(uuid.UUID(bytes=rng.bytes(16), version=4))
            said = {
                "client_id": client_id,
                "question": waiting[0]["id"],
                "answer": odd,
                "response_ms": int(rng.lognormal(7.3, 0.5)),
                "answered_at": datetime.now(UTC).isoformat(),
            }
            started = time.perf_counter()
            attempts = send("POST", "/api/answers", said)["attempts"]
            with self._lock:
                took = time.perf_counter() - started
                self.told.seconds.append(took)
                self.told.seconds_at_once += [took] if attempts == 1 else []
                self.told.stored[client_id] = (participant, items, odd)

    def _say(self, form: str, items: tuple[int, ...], picks: int, rng: np.random.Generator) -> Given:
        """The answer to a question of this form; people who only know the odd one guess at other forms."""
        if form == ODD:
            return self._respond(items, rng)
        respond: Any = getattr(self._respond, form, None)
        if form == GRID:
            around = items[1:]
            picked = rng.permutation(len(around))[:picks] if respond is None else respond(items[0], around, picks, rng)
            return tuple(sorted(1 + int(place) for place in picked))
        return int(rng.choice(ANSWERS[form])) if respond is None else int(respond(items, rng))

    @contextmanager
    def _browser(self) -> Iterator[Callable[..., dict[str, Any]]]:
        """A function that sends requests over one connection, with the cookie, and repeats those that are lost."""
        connection = http.client.HTTPConnection(self._address.hostname or "", self._address.port, timeout=30)
        cookie: dict[str, str] = {}

        def send(method: str, path: str, body: object = None) -> dict[str, Any]:
            until = time.monotonic() + self._patience
            for attempts in itertools.count(1):
                status, told = attempt(method, path, body)
                if status == 200:
                    return {**told, "attempts": attempts}
                if status not in (None, 429, 503) or time.monotonic() > until:
                    raise RuntimeError(f"{method} {path}: {status}, {told.get('error')}")
                with self._lock:
                    self.told.retries += 1
                time.sleep(0.2)
            raise AssertionError("the count has no end")

        def attempt(method: str, path: str, body: object) -> tuple[int | None, dict[str, Any]]:
            headers = {"content-type": "application/json", **cookie}
            try:
                connection.request(method, self._root + path, None if body is None else json.dumps(body), headers)
                response = connection.getresponse()
                content = response.read()
            except (OSError, http.client.HTTPException) as error:
                connection.close()
                return None, {"error": str(error)}
            given = response.getheader("set-cookie")
            if given:
                cookie["cookie"] = given.partition(";")[0]
            return response.status, json.loads(content)

        try:
            yield send
        finally:
            connection.close()
