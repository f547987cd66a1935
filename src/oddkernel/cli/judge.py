"""``oddkernel judge``: a page where people answer, from a folder of items."""

from __future__ import annotations

import argparse
import secrets
import sys
import threading
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from ..support.interruptible import leaving_ctrl_c_to_asyncio
from . import stored_answers
from .items import add_drop
from .outputs import add_output, output_file
from .summary import Summary, working

if TYPE_CHECKING:
    from ..judge.study import Study


def add(commands: Any) -> argparse.ArgumentParser:
    """Describe the command."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "judge",
        help="open a page where people answer, or export what they answered",
        description="Opens a page where people say which of three items is least like the other two.\n\n"
        "STUDY is a folder of images, sounds or videos, or a CSV or Parquet table with a column called text or path.\n"
        "Its settings are in study.toml, which is written at the first start; answers are kept beside it.\n"
        "Several studies are served together, each at an address of its own.",
        epilog="examples:\n"
        "  oddkernel judge photos/\n"
        "  oddkernel report photos/                                (look at what people said)\n"
        "  oddkernel judge photos/ --simulate 20 --questions 30    (try it out without people)\n"
        "  oddkernel judge photos/ --export answers.csv\n"
        "  oddkernel judge photos/ cars/ sayings.csv               (three studies on one server)",
    )
    parser.add_argument(
        "studies", metavar="STUDY", type=Path, nargs="+", help="a folder of items, or a table of texts or paths"
    )
    features = parser.add_mutually_exclusive_group()
    features.add_argument("--features", metavar="FILE", type=Path, help="features of the items, with their names")
    features.add_argument(
        "--with",
        dest="encoder",
        metavar="ENCODER",
        help="what makes features of images (clip, gist) or texts (sentences, tfidf), as in oddkernel features",
    )
    parser.add_argument(
        "--database",
        metavar="URL",
        help="postgresql://user@host/name or sqlite:///file for all studies, in place of a file in each; the password "
        "is best kept in ~/.pgpass",
    )
    serving = parser.add_argument_group("serving")
    serving.add_argument("--host", default="127.0.0.1", help="address to listen on (127.0.0.1: this machine only)")
    serving.add_argument("--port", type=int, default=8000, help="port to listen on (8000); 0 takes any that is free")
    serving.add_argument("--no-browser", action="store_true", help="don't open the browser")
    others = parser.add_argument_group("in place of serving").add_mutually_exclusive_group()
    add_output(others, "--export", metavar="FILE", help="write the answers: .csv, .jsonl or .parquet")
    others.add_argument("--invite", metavar="N", type=int, help="make so many invitations, and print their links")
    others.add_argument("--withdraw", metavar="PARTICIPANT", help="delete a participant and all of their answers")
    add_output(others, "--backup", metavar="FILE", help="copy the answers, also while the server runs")
    add_output(
        others,
        "--outlook",
        type=lambda text: output_file(text) if text else text,
        metavar="PICTURE",
        nargs="?",
        const="",
        help="say how well the next answers would be foretold, and what more would bring; draw it, if a file is named",
    )
    others.add_argument("--simulate", metavar="N", type=int, help="let this many simulated people answer")
    exporting = parser.add_argument_group("exporting")
    add_drop(exporting)
    exporting.add_argument("--anonymous", action="store_true", help="number the participants in place of their names")
    exporting.add_argument(
        "--join", action="store_true", help="write one more table: every answer with what is known about the person"
    )
    simulating = parser.add_argument_group("simulating")
    simulating.add_argument("--questions", metavar="M", type=int, help="questions for each (all that the study has)")
    simulating.add_argument("--labels", metavar="FILE", type=Path, help="CSV with the columns item and label")
    simulating.add_argument("--noise", type=float, default=0.1, help="share of answers that are guesses (0.1)")
    simulating.add_argument("--random-state", type=int, default=0, metavar="SEED", help="seed of the guesses (0)")
    parser.set_defaults(run=run)
    return parser


def run(arguments: argparse.Namespace) -> Summary:
    """Serve until Ctrl-C, or do the one thing that was asked for."""
    with working("opening the study"):
        from ..judge import check_installed

        check_installed()
        if arguments.export is not None:
            stored_answers.check_beside(arguments)
        from ..judge.study import Study
        from ..questions.policies import NEED_FEATURES

        if arguments.features is not None and len(arguments.studies) > 1:
            raise ValueError(
                "--features with several studies; expected one, or the setting features in each study.toml"
            )
        studies = [Study.open(source, arguments.features) for source in arguments.studies]
        if arguments.database is None and (_asks(arguments) or arguments.invite or arguments.withdraw):
            for study in studies:
                study.check_writable()

    def needs_features(study: Study) -> bool:
        by_features = arguments.simulate is not None and arguments.labels is None
        asked_for = arguments.encoder is not None or arguments.outlook is not None or by_features
        return asked_for or study.settings.policy in NEED_FEATURES

    if _asks(arguments):
        studies = [_shown(study) for study in studies]
    studies = [_described(arguments, study) if needs_features(study) else study for study in studies]
    if arguments.invite is not None:
        return _invite(arguments, studies)
    for option, wanted, action in (
        ("export", arguments.export, stored_answers.write),
        ("withdraw", arguments.withdraw, stored_answers.withdraw),
        ("backup", arguments.backup, stored_answers.copy),
        ("outlook", arguments.outlook, stored_answers.look_ahead),
        ("simulate", arguments.simulate, _simulate),
    ):
        if wanted is not None:
            if len(studies) > 1:
                raise ValueError(f"--{option} with {len(studies)} studies; expected one")
            return action(arguments, studies[0])
    return _serve(arguments, studies)


def _asks(arguments: argparse.Namespace) -> bool:
    """Whether somebody is asked, real or simulated, and not something else done in place of it."""
    others = (arguments.export, arguments.invite, arguments.withdraw, arguments.backup, arguments.outlook)
    return all(each is None for each in others)


def _shown(study: Study) -> Study:
    """The study without items that can't be shown; a warning names them."""
    import warnings

    from ..items.encoders import told_left_out
    from ..judge.unreadable import unreadable
    from ..support.progress import Progress

    problems = unreadable(study.items, study.home, Progress())
    if not problems:
        return study
    path_of = {item.name: item.path for item in study.items}
    where = {str(path_of[name] or name): problem for name, problem in problems.items()}
    warnings.warn(
        f"left out, nobody is asked about them: {told_left_out(where, len(study.items), 'item')}",
        UserWarning,
        stacklevel=2,
    )
    return study.without(problems)


def _described(arguments: argparse.Namespace, study: Study) -> Study:
    """The study with features of its items: made now unless they are there."""
    from dataclasses import replace

    from ..judge.item_features import describe, of_all
    from ..questions.policies import NEED_FEATURES
    from ..support.progress import Progress

    if study.features is not None and arguments.encoder is None:
        return study
    try:
        kept = describe(study.items, study.home, wanted=arguments.encoder, progress=Progress())
    except ImportError:
        if arguments.encoder is not None or study.settings.policy in NEED_FEATURES:
            raise
        return study  # images need Pillow
    described = replace(study, features=of_all(kept, study.items))
    # A warning has named them; their answers could not be learned from.
    return described.without(kept.left_out) if kept.left_out and _asks(arguments) else described


def _serve(arguments: argparse.Namespace, studies: Sequence[Study]) -> Summary:
    from ..judge.server import LOOPBACK, Server

    if arguments.host not in LOOPBACK:
        print(
            f"oddkernel: warning: {arguments.host} can be reached by others, and what goes to and fro isn't encrypted. "
            "Keep the experimenter's link, with its token, to yourself; for more than a trial put HTTPS before it.",
            file=sys.stderr,
        )
    server = Server(*studies, database=arguments.database, host=arguments.host, port=arguments.port)

    def tell() -> None:
        for study, url, experimenter_url in server.addresses:
            print(f"{len(study.items)} items; settings in {study.home / 'study.toml'}", file=sys.stderr)
            print(f"For participants:      {url}", file=sys.stderr)
            print(f"For the experimenter:  {experimenter_url}", file=sys.stderr)
        print("Ctrl-C stops the server; what was answered is stored.", file=sys.stderr, flush=True)
        if not arguments.no_browser and len(studies) == 1:
            import webbrowser

            threading.Thread(target=webbrowser.open, args=(server.url,), daemon=True).start()

    before = server.n_answers()
    started = time.monotonic()
    with leaving_ctrl_c_to_asyncio():
        total = server.run(tell)
    folder = quote(str(arguments.studies[0]))
    sentences = [
        f"Stopped. {total - before} answers came in, {total} in all.",
        f"oddkernel report {folder} shows what they tell; "
        f"oddkernel judge {folder} --export answers.csv writes them to a file.",
    ]
    facts = {"n_items": sum(len(study.items) for study in studies), "n_answers": total, "n_new": total - before}
    return Summary(sentences, {**facts, "seconds": round(time.monotonic() - started, 1)})


def _invite(arguments: argparse.Namespace, studies: Sequence[Study]) -> Summary:
    from ..judge.running_study import root_of
    from ..judge.signing import fingerprint
    from ..judge.store import Records

    if not 1 <= arguments.invite <= 10_000:
        raise ValueError(f"--invite {arguments.invite}; expected a number from 1 to 10000")
    shown = f"[{arguments.host}]" if ":" in arguments.host else arguments.host
    sentences: list[str] = []
    facts: dict[str, list[str]] = {"invitations": [], "links": []}
    for study in studies:
        codes = [secrets.token_urlsafe(12) for _ in range(arguments.invite)]
        database = study.connect(arguments.database)
        database.write(partial(Records.invite, codes=[fingerprint(code) for code in codes])).result()
        database.close()
        root = root_of(study) if len(studies) > 1 else ""
        links = [f"http://{shown}:{arguments.port}{root}/?invitation={code}" for code in codes]
        sentences += [f"{study.home}:"] * (len(studies) > 1) + links
        if study.settings.entry != "invitation":
            sentences.append('Anyone may answer so far; entry = "invitation" in study.toml leaves it to those invited.')
        facts["invitations"] += codes
        facts["links"] += links
    return Summary(sentences, facts)


def _simulate(arguments: argparse.Namespace, study: Study) -> Summary:
    import numpy as np

    from ..judge.export import SIMULATED
    from ..judge.server import Server
    from ..judge.simulate import Crowd, by_chance, by_features, by_labels

    n_questions = study.n_questions if arguments.questions is None else arguments.questions
    _check_nobody_real(arguments, study)
    if arguments.simulate < 1 or n_questions < 1 or not 0 <= arguments.noise <= 1:
        raise ValueError("--simulate and --questions take a number from 1 up, --noise one from 0 to 1")
    if arguments.labels is not None:
        respond, how = by_labels(labels_of(arguments.labels, study.names), arguments.noise), "by label"
    elif study.features is not None:
        respond, how = by_features(study.features, arguments.noise), "by the features"
    else:
        respond, how = by_chance, "by chance, as the items have no features and there are no --labels"
    server = Server(study, database=arguments.database, host="127.0.0.1", port=0)
    try:
        running = threading.Thread(target=server.run, daemon=True)
        running.start()
        with working(f"{arguments.simulate} simulated people are answering"):
            crowd = Crowd(server.url, study, server.keys, respond)
            # Another name each time: whoever has begun already can't begin again.
            told = crowd.answer(
                arguments.simulate, n_questions, arguments.random_state, prefix=f"{SIMULATED}{secrets.token_hex(2)}"
            )
    except KeyboardInterrupt:
        for judge in server.judges:
            judge.close()  # the processes that learn would outlive this one for a while, and complain
        raise
    finally:
        server.stop()
    running.join()
    if told.problems:
        raise ValueError(f"{len(told.problems)} of the simulated people could not go on; first, {told.problems[0]}")
    middle, most = np.quantile(told.seconds, [0.5, 0.99])
    sentences = [
        f"{arguments.simulate} simulated people gave {len(told.stored)} answers, {how}.",
        f"An answer took {1000 * middle:.0f} ms to be stored, and in 99 of 100 cases less than {1000 * most:.0f} ms.",
    ]
    facts = {
        "n_people": arguments.simulate,
        "n_answers": len(told.stored),
        "median_ms": round(1000 * float(middle), 2),
        "p99_ms": round(1000 * float(most), 2),
        "retries": told.retries,
    }
    return Summary(sentences, facts)


def _check_nobody_real(arguments: argparse.Namespace, study: Study) -> None:
    database = study.connect(arguments.database)
    sittings = database.read(lambda records: records.sittings())
    database.close()
    real = sum(sitting.answered for sitting in sittings if not sitting.simulated)
    if real:
        raise ValueError(
            f"the study holds {real} answers of people, which simulated ones would spoil; expected a study without "
            "any: copy the items to another folder"
        )


def labels_of(file: Path, names: Sequence[str]) -> list[str]:
    """The label of each item, from a table with the columns item and label."""
    from ..items.tables import text_columns

    columns = text_columns(file, "the labels of the items")
    if not {"item", "label"} <= columns.keys():
        raise ValueError(f"{file}: expected a table with the columns item and label")
    label_of = dict(zip(columns["item"], columns["label"], strict=True))
    missing = [name for name in names if name not in label_of]
    if missing:
        raise ValueError(f"{file}: {len(missing)} items have no label, first {missing[0]!r}")
    return [label_of[name] for name in names]
