"""Odd-one-out trials from jsPsych, exported as JSON or CSV.

jsPsych has no plugin for this question and so no fixed form; this is what its button plugins give when the three items
are the buttons and ``save_trial_parameters: {choices: true}`` keeps them.

- **choices**: the three items as shown, a list; in CSV the list as JSON text. Items are called what it says;
- **response**: the button pressed, the odd one: 0, 1 or 2; null or empty if none was;
- **task**: ``odd-one-out`` marks the trials to take (``data: {task: "odd-one-out"}``); where no trial has a task, all
  must be odd-one-out trials;
- **subject**: who answered; also as subject_id, participant_id or worker_id.

Trials without a response are left out: silence is not *can't tell*. All other columns, among them rt, are left out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from reprlib import repr as brief
from typing import Any

import numpy as np

from ...comparisons import Comparisons
from ...comparisons.answers import ANSWERS
from ...comparisons.rows import Rows
from ...support.text import decode, parse_json
from ..odd_ones import odd_ones
from ..omissions import warn_of_losses
from ..peer_csv import Sheet, check_columns, only_one

TASK = "odd-one-out"
REQUIRED = ("choices", "response")
RATERS = ("subject", "subject_id", "participant_id", "worker_id")
_LETTERS = {odd: letter for letter, odd in ANSWERS.items() if odd >= 0}


def read(data: bytes) -> Rows:
    """Read trials from JSON or CSV."""
    trials = _from_json(data) if decode(data).lstrip().startswith(("[", "{")) else _from_csv(data)
    names = list(dict.fromkeys(name for _, trial in trials for name in trial))
    check_columns(names, REQUIRED)
    who = only_one(names, RATERS)
    asked = [(place, trial) for place, trial in trials if trial.get("task") == TASK] if "task" in names else trials
    if trials and not asked:
        raise ValueError(f"no trial has the task {TASK!r}; expected it to mark the odd-one-out trials")
    answered = [(place, trial) for place, trial in asked if trial.get("response") not in (None, "", "null")]
    unused = [name for name in names if name not in {*REQUIRED, "task", who}]
    notes = [
        *([f"Trials of other tasks left out: {len(trials) - len(asked)}."] if len(asked) < len(trials) else []),
        *([f"Trials without a response left out: {len(asked) - len(answered)}."] if len(answered) < len(asked) else []),
        *([f"Columns left out: {', '.join(unused)}."] if unused else []),
    ]
    return Rows.of_triples(
        "odd_one_out",
        [_choices(trial.get("choices"), place) for place, trial in answered],
        [place for place, _ in answered],
        answer=[_answer(trial["response"], place) for place, trial in answered],
        rater=[trial.get(who) or None if who else None for _, trial in answered],
        notes=notes,
    )


def _from_json(data: bytes) -> list[tuple[str, Mapping[str, Any]]]:
    expected = "a list of trials such as [{...}, {...}]"
    trials = parse_json(decode(data), "file", expected)
    if not isinstance(trials, list) or not all(isinstance(trial, dict) for trial in trials):
        raise ValueError(f"{brief(trials)}; expected {expected}")
    return [(f"trial {number}", trial) for number, trial in enumerate(trials)]


def _from_csv(data: bytes) -> list[tuple[str, Mapping[str, Any]]]:
    sheet = Sheet.read(data, REQUIRED)
    return list(zip(sheet.places, sheet.rows, strict=True))


def _choices(choices: object, place: str) -> list[str]:
    expected = "a list of three names"
    if isinstance(choices, str):
        choices = parse_json(choices, f"{place}: choices", expected)
    if not isinstance(choices, list) or len(choices) != 3 or not all(isinstance(c, str) and c for c in choices):
        raise ValueError(f"{place}: choices are {brief(choices)}; expected {expected}")
    return choices


def _answer(response: object, place: str) -> str:
    for odd, letter in _LETTERS.items():
        if type(response) in (int, str) and str(response) == str(odd):
            return letter
    raise ValueError(f"{place}: response is {brief(response)}; expected 0, 1 or 2, the button of the odd one")


def write(said: Comparisons) -> bytes:
    """Write decided odd-one-out answers as JSON."""
    answers = list(odd_ones(said))
    warn_of_losses(said, np.flatnonzero(said.odd >= 0), ["rater", "items"])
    trials = [
        {"task": TASK, "choices": answer.shown, "response": answer.odd}
        | ({"subject": answer.rater} if answer.rater else {})
        for answer in answers
    ]
    return json.dumps(trials, ensure_ascii=False, indent=1).encode()
