"""CPU time to choose a question, and to learn in the background.

python benchmarks/next_question.py [ITEMS]
"""

from __future__ import annotations

import sys
import time

import numpy as np

from oddkernel import Comparisons
from oddkernel.questions import POLICIES, Belief, ByLabels, History, simulate
from oddkernel.questions.adaptive import prepare

# Numbers of answers, choices timed for each, and open questions: a study with many participants. Chosen by hand.
ANSWERS = (50, 200, 800)
CHOICES = 50
OPEN = 100
# Number of answers in a long study: choices use all of them, with what was learned from 800.
MANY = 50_000


def main() -> None:
    """Measure in CPU time, which other programs hardly affect, and print a table."""
    n_items = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    rng = np.random.default_rng(0)
    y = np.arange(n_items) % 10
    X = 2.0 * rng.standard_normal((10, 20))[y] + rng.standard_normal((n_items, 20))
    said = simulate(X, ByLabels(y, noise=0.1, random_state=0), policy="random", n=ANSWERS[-1], random_state=0)
    others = simulate(X, ByLabels(y), policy="random", n=OPEN, random_state=1).shown
    belief = None
    print(f"{n_items} items, {OPEN} questions open; milliseconds of CPU time")
    for n in ANSWERS:
        begun = time.process_time()
        belief = Belief.learn(X, said[:n], last=belief)
        prepare(belief, rng)
        print(f"{n} answers: {1000 * (time.process_time() - begun):.0f} to learn, in the background")
        _time_choices(X, said[:n], belief, others, rng)
    many = simulate(X, ByLabels(y, noise=0.1, random_state=0), policy="random", n=MANY, batch=MANY, random_state=0)
    print(f"{MANY} answers, learned from {ANSWERS[-1]} of them")
    _time_choices(X, many, belief, others, rng)


def _time_choices(
    X: np.ndarray, said: Comparisons, belief: Belief | None, others: np.ndarray, rng: np.random.Generator
) -> None:
    assert belief is not None
    for name, policy in POLICIES.items():
        history = _history(X, said, belief)
        history.open = {tuple(sorted(row)) for row in others.tolist()}
        spent = []
        for _ in range(CHOICES):
            begun = time.process_time()
            question = policy(history, 1, rng)[0]
            spent.append(1000 * (time.process_time() - begun))
            history.open.add(tuple(sorted(question.tolist())))
        print(f"  {name:15} {np.mean(spent):6.1f} on average, {max(spent):6.1f} at most", flush=True)


def _history(X: np.ndarray, said: Comparisons, belief: Belief) -> History:
    times_shown = np.zeros(len(X), dtype=np.intp)
    history = History(len(X), times_shown, lambda: said, X, belief=lambda: belief, space=lambda: belief.space)
    for row in said.shown.tolist():
        history.shown((row[0], row[1], row[2]))
    return history


if __name__ == "__main__":
    main()
