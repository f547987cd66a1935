"""What ``oddkernel judge`` does with stored answers in place of serving: export, outlook, backup, withdrawal."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from .items import filter_of
from .outputs import check_output
from .summary import Summary, working

if TYPE_CHECKING:
    from ..judge.export import Filter
    from ..judge.study import Study


def check_beside(arguments: argparse.Namespace) -> None:
    """Raise if a file that ``--export`` writes beside the answers is one that is read."""
    from .. import formats

    held_out, people, table = _beside(arguments.export)
    listings = [formats.listing_of(each) for each in (arguments.export, held_out)]
    for each in (held_out, people, *([table] if arguments.join else []), *listings):
        check_output(arguments, each)


def _beside(file: Path) -> tuple[Path, Path, Path]:
    """The files of answers held out, of people, and of both joined."""
    from ..items import tables

    ending = file.suffix if file.suffix.lower() in tables.WRITERS else ".csv"
    held_out = file.with_name(f"{file.stem}.holdout{file.suffix}")
    return held_out, file.with_name(f"{file.stem}.people{ending}"), file.with_name(f"{file.stem}.joined{ending}")


def write(arguments: argparse.Namespace, study: Study) -> Summary:
    """``--export``: the answers, those held out, and a table of people, each in a file."""
    from .. import formats
    from ..items import tables
    from ..judge.export import Filter, export
    from ..judge.people_table import joined, table_of_people

    file: Path = arguments.export
    if file.suffix.lower().removeprefix(".") not in formats.OWN:
        raise ValueError(f"{file}: expected a name that ends with {', '.join(f'.{name}' for name in formats.OWN)}")
    beside, about_people, table = _beside(file)
    with working("exporting"):
        database = study.connect(arguments.database, reads=True)
        sittings, answers, replies = database.read(
            lambda records: (records.sittings(), records.answers(), records.replies())
        )
        database.close()
        said, details = export(answers, study.names, study.name, _filter(arguments, study, Filter(holdout="drop")))
        kept, kept_details = export(answers, study.names, study.name, _filter(arguments, study, Filter(holdout="only")))
        formats.write(said, file, details=details)
        sentences = [f"{file}: {said}."]
        if len(kept):
            formats.write(kept, beside, details=kept_details)
            sentences.append(
                f"{beside}: {kept.n_answers} random answers held out; learn without them, score with them."
            )
        left_out = len(answers) - said.n_answers - kept.n_answers
        if left_out:
            sentences.append(f"{left_out} answers were left out, as asked.")
        n_simulated = sum(bool(answer.simulated) for answer in answers)
        if n_simulated:
            sentences.append(f"{n_simulated} of the {len(answers)} answers are of simulated people.")
        people = table_of_people(sittings, answers, replies, study.settings, participants=not arguments.anonymous)
        tables.write(about_people, people)
        sentences.append(f"{about_people}: a row for each person.")
        if arguments.join:
            every = export(answers, study.names, study.name, _filter(arguments, study, Filter(holdout="keep")))
            tables.write(table, joined(every, people))
            sentences.append(f"{table}: all answers, those held out included, with what is known about the person.")
    facts = {
        "answers": str(file),
        "n_answers": said.n_answers,
        "holdout": str(beside) if len(kept) else None,
        "n_holdout": kept.n_answers,
        "n_left_out": left_out,
        "n_simulated": n_simulated,
        "people": str(about_people),
        "n_people": len(set(said.rater.tolist())) if said.rater is not None else 0,
    }
    return Summary(sentences, facts)


def _filter(arguments: argparse.Namespace, study: Study, basis: Filter) -> Filter:
    from dataclasses import replace

    return replace(filter_of(arguments, study), holdout=basis.holdout, participants=not arguments.anonymous)


def withdraw(arguments: argparse.Namespace, study: Study) -> Summary:
    """``--withdraw``: delete a participant and all of their answers."""
    from ..judge.study_data import forget

    database = study.connect(arguments.database)
    try:
        deleted = database.write(lambda records: records.withdraw(arguments.withdraw)).result()
        is_gone = database.forget_deleted()
    finally:
        database.close()
    forget(study.home)
    sentences = [f"{arguments.withdraw} and {deleted} answers are deleted."]
    if not is_gone:
        sentences.append(
            "Another program is reading the file of answers: traces of the name leave it when that has ended, with the "
            "server's next change or when the server stops."
        )
    return Summary(sentences, {"withdrawn": arguments.withdraw, "n_deleted": deleted, "lingers": not is_gone})


def copy(arguments: argparse.Namespace, study: Study) -> Summary:
    """``--backup``: copy the answers, also while the server runs."""
    from ..judge.store import back_up

    with working("copying"):
        n_answers = back_up(arguments.database or study.database, arguments.backup)
    sentences = [
        f"{arguments.backup}: {n_answers} answers.",
        f"Keep {study.home / 'study.toml'} and {study.home / 'study.key'} with it.",
    ]
    return Summary(sentences, {"backup": str(arguments.backup), "n_answers": n_answers})


def look_ahead(arguments: argparse.Namespace, study: Study) -> Summary:
    """``--outlook``: how well the next answers would be foretold, and what more would bring."""
    with working("learning from more and more of the answers"):
        import numpy as np

        from ..judge.export import Filter, export
        from ..learning.sklr import SKLR
        from ..questions import outlook

        database = study.connect(arguments.database, reads=True)
        answers = database.read(lambda records: records.answers())
        database.close()
        said, held_out = (
            export(answers, study.names, study.name, _filter(arguments, study, Filter(holdout=which))).said
            for which in ("drop", "only")
        )
        X = np.arange(float(len(study.items)))[:, None] if study.features is None else study.features
        learner = SKLR("identity", rank=None) if study.features is None else SKLR()
        ahead = outlook(X, said, held_out, learner=learner)
    sentences = [str(ahead)]
    if arguments.outlook:
        from matplotlib.figure import Figure

        figure = Figure(layout="constrained")
        ahead.plot(figure.subplots())
        figure.savefig(arguments.outlook)
        sentences.append(f"Picture: {arguments.outlook}")
    gain, interval = ahead.gain(ahead.n_answers)
    facts = {
        "n_answers": ahead.n_answers,
        "n_held_out": ahead.n_held_out,
        "agreement": ahead.agreement,
        "agreement_interval": ahead.interval,
        "learned": ahead.learned,
        "gain_of_twice_as_many": gain if ahead.learned else None,
        "gain_interval": interval if ahead.learned else None,
        "enough": ahead.enough,
    }
    return Summary(sentences, facts)
