"""Choosing questions, in a thread of its own: storing answers never waits for it."""

from __future__ import annotations

import logging
import queue
import threading
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

import numpy as np

from ..questions.history import History, Triple, as_triple, key
from ..questions.plain import random
from ..questions.policies import Policy

log = logging.getLogger(__name__)

TRIES = 20
"""A policy is asked at most so many times for questions that nobody is being asked already."""

FEW, MANY = 30, 1000
"""Among so few items, all questions are looked through for one that nobody is being asked; else so many by chance."""


class Choice(NamedTuple):
    """A question that was chosen: its kind, as the database calls it, and the items in the order to be shown."""

    kind: str
    items: Triple


class Wish(NamedTuple):
    """Questions for one person: so many by the policy, so many to be held out, none of these in `own`."""

    by_policy: int
    held_out: int
    own: frozenset[Triple]


class Choosing:
    """Chooses questions, all that people wait for at once; keeps what policies look at.

    Everything here happens in one thread, in the order in which it was asked for, so that `history` needs no lock.

    Parameters
    ----------
    policy : callable
        How questions are chosen.
    name : str
        What it is called, for the log.
    history : History
        What it looks at; belongs to this thread from now on.
    """

    def __init__(self, policy: Policy, name: str, history: History) -> None:
        self._policy, self._name, self._history = policy, name, history
        self._kind = "random" if policy is random else "adaptive"
        self._held_out: Counter[Triple] = Counter()
        self._rng = np.random.default_rng()
        self._jobs: queue.SimpleQueue[Callable[[], None] | tuple[Wish, Future[list[Choice]]] | None]
        self._jobs = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="oddkernel-choosing", daemon=True)
        self._thread.start()

    def choose(self, wish: Wish) -> Future[list[Choice]]:
        """Questions that nobody else is being asked, if that can be had; noted as being asked from now on."""
        future: Future[list[Choice]] = Future()
        self._jobs.put((wish, future))
        return future

    def replace(self, shown: Iterable[tuple[str, Triple]], being_asked: Iterable[Triple]) -> None:
        """Note all that was shown, with its kind, and all that is being asked, in place of what was known."""
        shown, being_asked = list(shown), {key(items) for items in being_asked}

        def change() -> None:
            self._history.forget()
            self._held_out.clear()
            for kind, items in shown:
                self._note(kind, items)
            self._history.open = being_asked

        self._jobs.put(change)

    def answered(self, items: Triple) -> None:
        """Note that nobody is being asked this any more."""
        self._jobs.put(lambda: self._history.open.discard(key(items)))

    def asked_again(self, items: Triple) -> None:
        """Note that someone is being asked this."""
        self._jobs.put(lambda: self._history.open.add(key(items)))

    def settle(self) -> None:
        """Return when all that was noted before this is known to the policy."""
        self.choose(Wish(0, 0, frozenset())).result()

    def close(self) -> None:
        """Choose nothing more."""
        self._jobs.put(None)
        self._thread.join()

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            wishes: list[tuple[Wish, Future[list[Choice]]]] = []
            while True:
                if callable(job):
                    job()
                else:
                    wishes.append(job)
                if self._jobs.empty():
                    break
                job = self._jobs.get()
                if job is None:
                    self._jobs.put(None)
                    break
            self._grant([(wish, future) for wish, future in wishes if future.set_running_or_notify_cancel()])

    def _grant(self, wishes: list[tuple[Wish, Future[list[Choice]]]]) -> None:
        try:
            chosen = iter(self._by_policy(sum(wish.by_policy for wish, _ in wishes)))
            granted = []
            for wish, _ in wishes:
                choices = [next(chosen) for _ in range(wish.by_policy)]
                own = set(wish.own)
                for _ in range(wish.held_out):
                    items = self._to_share(own) or self._to_hold_out()
                    own.add(key(items))
                    choices.append(self._noted(Choice("holdout", items)))
                granted.append(choices)
        except Exception as error:  # the thread must outlive whatever happens to one choice
            for _, future in wishes:
                future.set_exception(error)
            return
        for (_, future), choices in zip(wishes, granted, strict=True):
            future.set_result(choices)

    def _by_policy(self, n: int) -> list[Choice]:
        if not n:
            return []
        kind = self._kind
        try:
            found = choose(self._policy, self._history, n, self._rng)
        except Exception:
            if self._policy is random:
                raise
            log.exception("the policy %s failed; these questions are random ones", self._name)
            kind, found = "random", choose(random, self._history, n, self._rng)
        return [self._noted(Choice(kind, items)) for items in found]

    def _noted(self, choice: Choice) -> Choice:
        self._note(choice.kind, choice.items)
        self._history.open.add(key(choice.items))
        return choice

    def _note(self, kind: str, items: Triple) -> None:
        self._history.shown(items)
        if kind == "holdout":
            self._held_out[key(items)] += 1

    def _to_share(self, own: set[Triple]) -> Triple | None:
        """Every other time, a question held out that one other person was asked: so one sees how far people agree."""
        if self._rng.random() < 0.5:
            return None
        once = [
            triple
            for triple, times in self._held_out.items()
            if times == 1 and triple not in self._history.open and triple not in own
        ]
        if not once:
            return None
        return as_triple(self._rng.permutation(once[int(self._rng.integers(len(once)))]), self._history.n_items)

    def _to_hold_out(self) -> Triple:
        """Any three items, and not those of a question that is held out already, if others are soon found."""
        for _ in range(TRIES):
            (items,) = choose(random, self._history, 1, self._rng)
            if not self._held_out[key(items)]:
                break
        return items


def choose(policy: Policy, history: History, n: int, rng: np.random.Generator) -> list[Triple]:
    """Different questions by a policy, in random order, that nobody is being asked now if that can be had."""
    history = replace(history, open=set(history.open))
    found: list[Triple] = []
    refused: list[Triple] = []
    for _ in range(TRIES):
        for row in policy(history, n - len(found), rng):
            items = as_triple(row, history.n_items)
            if key(items) in history.open:
                refused.append(items)
            else:
                history.open.add(key(items))
                found.append(items)
        if len(found) == n:
            break
    while len(found) < n:
        by_chance = (as_triple(row, history.n_items) for row in history.draw(MANY, rng))
        every = combinations(range(history.n_items), 3) if history.n_items <= FEW else by_chance
        free = [triple for triple in every if key(triple) not in history.open]
        items = free[int(rng.integers(len(free)))] if free else refused[len(found) % len(refused)]
        history.open.add(key(items))
        found.append(items)
    return [as_triple(rng.permutation(items), history.n_items) for items in found]
