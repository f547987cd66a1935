"""``oddkernel plan``: how many answers reach which agreement, before anybody is asked."""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .items import Given, add_items, check_there, is_study, open_study, read_items
from .judge import labels_of
from .summary import Summary, working

if TYPE_CHECKING:
    from ..questions import Plan


def add(commands: Any) -> argparse.ArgumentParser:
    """Describe the command."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "plan",
        help="say by simulation how many answers reach which agreement",
        description="Simulates people who answer about these items, and says how many answers by how many people\n"
        "reach which agreement with them, and what was assumed. Nobody is asked, and nothing is stored.",
        epilog="examples:\n"
        "  oddkernel plan photos/\n"
        "  oddkernel plan photos/ --agreement 0.7 --questions 40\n"
        "  oddkernel plan features.csv --labels labels.csv --seconds 30",
    )
    add_items(parser)
    parser.add_argument("--agreement", type=float, metavar="SHARE", help="the share of people's answers to reach")
    parser.add_argument("--questions", type=int, metavar="N", help="questions for each person (a study's own, or 60)")
    parser.add_argument("--policy", help="how questions are chosen (a study's own, or prototypes)")
    parser.add_argument(
        "--labels", type=Path, metavar="FILE", help="CSV with the columns item and label, if people go by these"
    )
    parser.add_argument(
        "--dimensions", type=int, metavar="N", help="how many mixtures of the features people go by (5)"
    )
    parser.add_argument("--noise", type=float, metavar="SHARE", help="share of answers that are guesses (0.25)")
    parser.add_argument("--seconds", type=float, default=120.0, metavar="S", help="about how long it may take (120)")
    parser.add_argument("--random-state", type=int, default=0, metavar="SEED", help="seed of the simulation (0)")
    parser.set_defaults(run=run)
    return parser


def run(arguments: argparse.Namespace) -> Summary:
    """Simulate, and say what was found."""
    check_there(arguments.items)
    if arguments.agreement is not None and not 0 < arguments.agreement < 1:
        raise ValueError(f"--agreement {arguments.agreement}; expected a share between 0 and 1")
    given = read_items(arguments)
    started = time.monotonic()
    print(f"oddkernel: simulating for about {arguments.seconds:.0f} s, few answers first", file=sys.stderr)
    with working("simulating") as heartbeat:
        found, per_person = _plan(arguments, given, heartbeat)
    sentences = [*given.sentences, str(found)]
    reached = None
    if arguments.agreement is not None:
        reached = found.reaches(arguments.agreement)
        sentences.append(_told(arguments.agreement, reached, per_person, found, _has_features(given)))
    facts = {
        **given.facts,
        **found.facts,
        "per_person": per_person,
        "n_answers_needed": reached,
        "seconds": round(time.monotonic() - started, 1),
    }
    return Summary(sentences, facts)


def _plan(arguments: argparse.Namespace, given: Given, progress: Any) -> tuple[Plan, int]:
    from ..questions import DEFAULT, planning

    if arguments.questions is not None and arguments.questions < 1:
        raise ValueError(f"--questions {arguments.questions}; expected a number from 1 up")
    per_person, policy = arguments.questions or 60, DEFAULT
    if is_study(arguments.items):
        settings = open_study(arguments.items).settings
        settings = replace(settings, questions=arguments.questions or settings.questions)
        per_person, policy = settings.learned_from, settings.policy
    labels = None
    if arguments.labels is not None:
        if given.items.names is None:
            raise ValueError(f"--labels: {arguments.items} does not name its items; expected names, or --names COLUMN")
        labels = labels_of(arguments.labels, given.items.names)
    found = planning.plan(
        given.items.X if _has_features(given) else None,
        n_items=len(given.items.X),
        per_person=per_person,
        labels=labels,
        dimensions=planning.DIMENSIONS if arguments.dimensions is None else arguments.dimensions,
        noise=planning.NOISE if arguments.noise is None else arguments.noise,
        policy=arguments.policy or policy,
        seconds=arguments.seconds,
        random_state=arguments.random_state,
        progress=progress,
    )
    return found, per_person


def _has_features(given: Given) -> bool:
    from ..items.encoders import NONE

    return given.kept is None or given.kept.option != NONE


def _told(agreement: float, reached: int | None, per_person: int, found: Plan, has_features: bool) -> str:
    if reached == 0:
        return f"{agreement:.0%} needs no answers: {'the features' if has_features else 'guesses'} alone reach it."
    if reached is not None:
        n_people = -(-reached // per_person)
        return f"{agreement:.0%} needs about {reached} answers: {n_people} people with {per_person} each."
    if agreement > found.ceiling:
        return f"{agreement:.0%} is out of reach: the guesses leave at most {found.ceiling:.0%}."
    most = found.rows[-1].n_answers
    return f"{agreement:.0%} was not reached with {most} answers; --seconds gives time to simulate more."
