"""Choosing questions in a separate thread, so that storing answers never waits for a choice."""

from __future__ import annotations

import logging
import queue
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from functools import partial
from typing import NamedTuple

import numpy as np

from ..questions.choice import TRIES, choose
from ..questions.history import History, Triple, as_triple, key
from ..questions.policies import Policy
from ..questions.unlearned import random
from .question_queue import Choice, QuestionQueue

log = logging.getLogger(__name__)


class Wish(NamedTuple):
    """A request for questions for one person.

    Attributes
    ----------
    by_policy : int
        Number of questions for the policy to choose.
    held_out : int
        Number of questions whose answers are held out.
    own : frozenset of tuple
        Questions, as sorted items, that are not to be held out, because this person was asked them.
    """

    by_policy: int
    held_out: int
    own: frozenset[Triple]


NOTHING = Wish(0, 0, frozenset())

Granted = tuple[Wish, Future[list[Choice]]]


class Choosing:
    """A thread that chooses questions, with one call of the policy for all people who wait.

    The thread owns `history`, so that it needs no lock. Changes to it wait in a queue and are made, in order, before
    the next choice. While many people ask, it also keeps a `QuestionQueue`, which any thread may take from without
    waiting.

    Parameters
    ----------
    policy : callable
        Chooses the questions.
    name : str
        The policy's name, for the log.
    history : History
        What the policy uses; belongs to this thread from now on.
    """

    def __init__(self, policy: Policy, name: str, history: History) -> None:
        self._policy, self._name, self._history = policy, name, history
        self._kind = "random" if policy is random else "adaptive"
        self._held_out: Counter[Triple] = Counter()
        self._rng = np.random.default_rng()
        self._changes: deque[Callable[[], None]] = deque()
        self._stock = QuestionQueue(history.n_items)
        self._wishes: queue.SimpleQueue[Granted | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="oddkernel-choosing", daemon=True)
        self._thread.start()

    def choose(self, wish: Wish) -> Future[list[Choice]]:
        """Choose questions, and record them as asked; none that another person is being asked, if there are others."""
        future: Future[list[Choice]] = Future()
        if wish.by_policy:
            self._stock.requested(wish.by_policy)
        self._wishes.put((wish, future))
        return future

    def take(self, n: int) -> list[Choice]:
        """Take n questions by the policy that were chosen ahead, or none; never waits for a choice."""
        choices = self._stock.take(n)
        if choices:
            self._stock.requested(n)
            self._changes.extend(partial(self._note, *choice) for choice in choices)
            self._wishes.put((NOTHING, Future()))  # so that the stock is filled again
        return choices

    def has_stock(self) -> bool:
        """Whether a question was chosen ahead."""
        return bool(self._stock)

    def replace(self, shown: Iterable[tuple[str, Triple]], being_asked: Iterable[Triple]) -> None:
        """Replace the record of the questions shown, by kind, and of those that wait for an answer."""
        shown, being_asked = list(shown), {key(items) for items in being_asked}

        def change() -> None:
            self._history.forget()
            self._held_out.clear()
            for kind, items in shown:
                self._note(kind, items)
            self._history.open = being_asked
            self._stock.reopen()

        self._stock.close()  # the new record doesn't know what would be taken from it
        self._changes.append(change)

    def answered(self, items: Triple) -> None:
        """Record that nobody is being asked this any more."""
        self._changes.append(lambda: self._history.open.discard(key(items)))

    def asked_again(self, items: Triple) -> None:
        """Record that someone is being asked this."""
        self._changes.append(lambda: self._history.open.add(key(items)))

    def settle(self) -> None:
        """Return when the policy knows all that was recorded before."""
        self.choose(NOTHING).result()

    def close(self) -> None:
        """End the thread."""
        self._wishes.put(None)
        self._thread.join()

    def _work(self) -> None:
        while (wish := self._wishes.get()) is not None:
            wishes = [wish]
            while not self._wishes.empty():
                wish = self._wishes.get()
                if wish is None:
                    self._wishes.put(None)
                    break
                wishes.append(wish)
            self._make_changes()
            self._grant([(wish, future) for wish, future in wishes if future.set_running_or_notify_cancel()])

    def _make_changes(self) -> None:
        while self._changes:
            self._changes.popleft()()

    def _grant(self, wishes: list[Granted]) -> None:
        for choice in self._stock.discard_old():
            self._history.open.discard(key(choice.items))
        try:
            n = sum(wish.by_policy for wish, _ in wishes)
            found = self._by_policy(n + self._stock.missing())
            chosen = iter([self._noted(choice) for choice in found[:n]])
            self._put_in_stock(found[n:])
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

    def _put_in_stock(self, choices: list[Choice]) -> None:
        new = [choice for choice in choices if key(choice.items) not in self._history.open]
        self._history.open.update(key(choice.items) for choice in new)
        self._stock.put(new)

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
        return [Choice(kind, items) for items in found]

    def _noted(self, choice: Choice) -> Choice:
        self._note(choice.kind, choice.items)
        self._history.open.add(key(choice.items))
        return choice

    def _note(self, kind: str, items: Triple) -> None:
        self._history.shown(items)
        if kind == "holdout":
            self._held_out[key(items)] += 1

    def _to_share(self, own: set[Triple]) -> Triple | None:
        """In half of the cases, a question held out that one other person was asked; it shows how far people agree."""
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
        """A random question, new among those held out if `TRIES` draws find one."""
        for _ in range(TRIES):
            (items,) = choose(random, self._history, 1, self._rng)
            if not self._held_out[key(items)]:
                break
        return items
