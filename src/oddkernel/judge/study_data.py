"""A study's features and answers, and the model learned from them, which is kept in the study's folder."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import numpy as np

from ..comparisons import Comparisons
from ..formats import dump
from ..items.encoders import NONE
from ..items.feature_cache import FOLDER, Kept
from ..support import files
from .export import SIMULATED, Filter, HoldOut, export
from .item_features import describe
from .store import Answer
from .study import Study

if TYPE_CHECKING:  # the server reads a study's data, and leaves learning to other processes
    from ..learning.sklr import SKLR

MODEL_FILE = "model.oddkernel"
ABOUT_FILE = "model.json"
HOLDOUTS: tuple[HoldOut, HoldOut] = ("drop", "only")


@dataclass(frozen=True)
class StudyData:
    """Features and answers of a study.

    Attributes
    ----------
    study : Study
    features : Kept
        The items that have features.
    said, held_out : Comparisons
        Answers to learn from, and those held out, about the rows of the features.
    n_people : int
        How many people gave them.
    n_gone : int
        Answers left out because they are about an item that is no longer there, or has no features.
    n_dropped : int
        Answers left out because the filter says so.
    n_simulated : int
        How many of the answers, to learn from and held out, are of simulated people.
    """

    study: Study
    features: Kept
    said: Comparisons
    held_out: Comparisons
    n_people: int
    n_gone: int
    n_dropped: int = 0
    n_simulated: int = 0

    @property
    def has_features(self) -> bool:
        """Whether items are described by more than the answers about them."""
        return self.features.option != NONE

    def learner(self, settings: Mapping[str, Any] | None = None) -> SKLR:
        """A learner with these settings; without features the identity kernel learns from answers alone."""
        from ..learning.sklr import SKLR

        usual: dict[str, Any] = {} if self.has_features else {"kernel": "identity", "rank": None}
        return SKLR(**{"random_state": 0, **usual, **(settings or {})})

    def model(self, settings: Mapping[str, Any] | None = None) -> tuple[SKLR, bool]:
        """The model, and whether it was learned just now.

        The kept one is taken if it was learned from the same answers and features; otherwise another is learned and
        kept.

        Parameters
        ----------
        settings : mapping, optional
            Parameters of `SKLR`; by default those of the kept model.
        """
        digest = self._digest()
        kept, learned_from = _read(self.study.home)
        if settings is None and kept is not None:
            settings = kept.get_params(deep=False)
            if kept.kernel == "identity" and self.has_features:  # there were no features then
                settings = {name: value for name, value in settings.items() if name not in ("kernel", "rank")}
        learner = self.learner(settings)
        if kept is not None and learned_from == digest and repr(kept.get_params()) == repr(learner.get_params()):
            return kept, False
        learner.fit(self.features.items.X, self.said)
        if self.features.items.columns is not None:
            learner.feature_names_in_ = np.array(self.features.items.columns, dtype=object)
        _write(self.study.home, learner, digest)
        return learner, True

    def _digest(self) -> str:
        from .. import __version__

        found = hashlib.sha256(__version__.encode())
        found.update(self.features.encoder.encode())
        found.update(np.ascontiguousarray(self.features.items.X).tobytes())
        found.update(dump(self.said, "jsonl"))
        return found.hexdigest()


def gather(
    study: Study,
    *,
    wanted: str | None = None,
    database: str | None = None,
    chosen: Filter | None = None,
    progress: Callable[[str], None] | None = None,
) -> StudyData:
    """The features of a study's items, made if they aren't there, and the answers so far.

    Parameters
    ----------
    study : Study
    wanted : str, optional
        An encoder; by default the one that the kept features were made with.
    database : str, optional
        Address of the database; by default a file inside the study's folder.
    chosen : Filter, optional
        Which answers to take; what it says about the hold-out plays no part.
    progress : callable, optional
        Called with a sentence after each item.
    """
    opened = study.connect(database, reads=True)
    try:
        answers = opened.read(lambda records: records.answers())
    finally:
        opened.close()
    said, held_out = shared(answers, study, chosen or Filter())
    if not len(said):
        source = quote(str(study.source or study.home))
        raise ValueError(
            f"{study.home}: {'no answers' if not answers else 'no answers to learn from'} yet; oddkernel judge "
            f"{source} asks people, and oddkernel judge {source} --simulate 12 tries it without"
        )
    found = study_data_from(study, said, held_out, wanted=wanted, progress=progress)
    return replace(found, n_dropped=len(answers) - said.n_answers - held_out.n_answers)


def shared(answers: Sequence[Answer], study: Study, chosen: Filter) -> tuple[Comparisons, Comparisons]:
    """Answers to learn from and those held out, with numbers in place of people's names: what is kept may be shown."""
    said, held_out = (
        export(answers, study.names, study.name, replace(chosen, holdout=which, participants=False)).said
        for which in HOLDOUTS
    )
    return said, held_out


def study_data_from(
    study: Study,
    said: Comparisons,
    held_out: Comparisons,
    *,
    wanted: str | None = None,
    progress: Callable[[str], None] | None = None,
) -> StudyData:
    """The data from answers that were read already; parameters are those of `gather`."""
    people = {str(rater) for part in (said, held_out) if part.rater is not None for rater in part.rater}
    features = describe(study.items, study.home, file=study.features_file, wanted=wanted, progress=progress)
    names = features.items.names or ()
    known, kept = (about_known(part, names) for part in (said, held_out))
    if not len(known):
        raise ValueError(f"{study.home}: none of the {said.n_answers} answers is about items that are there")
    gone = sum(part.n_answers for part in (said, held_out)) - sum(part.n_answers for part in (known, kept))
    simulated = sum(
        part[np.char.startswith(part.rater, SIMULATED)].n_answers for part in (known, kept) if part.rater is not None
    )
    return StudyData(study, features, known, kept, len(people), gone, n_simulated=simulated)


def forget(home: Path) -> None:
    """Delete what was learned from a study's answers: someone has withdrawn."""
    for file in (home / FOLDER / MODEL_FILE, home / FOLDER / ABOUT_FILE, home / "report.html"):
        file.unlink(missing_ok=True)


def about_known(said: Comparisons, names: tuple[str, ...]) -> Comparisons:
    """The answers about items of these names only, over all of them."""
    assert said.items is not None
    known = np.isin(np.array(said.items), np.array(names))
    return said[known[said.shown].all(axis=1)].reindex(names)


def _read(home: Path) -> tuple[SKLR | None, str]:
    """The kept model, and the digest of what it was learned from; None if there is none that can be used."""
    from ..learning import models

    folder = home / FOLDER
    with suppress(OSError, ValueError, LookupError, TypeError):
        about = json.loads((folder / ABOUT_FILE).read_text(encoding="utf-8"))
        checksum = hashlib.sha256((folder / MODEL_FILE).read_bytes()).hexdigest()
        return models.load(folder / MODEL_FILE), str(about["learned_from"]) if about["model"] == checksum else ""
    return None, ""


def _write(home: Path, model: SKLR, digest: str) -> None:
    from ..learning import models

    folder = home / FOLDER
    with suppress(OSError):  # a folder that can't be written to: it is learned anew next time
        folder.mkdir(mode=0o700, exist_ok=True)
        models.save(model, folder / MODEL_FILE)
        checksum = hashlib.sha256((folder / MODEL_FILE).read_bytes()).hexdigest()
        files.replace(folder / ABOUT_FILE, json.dumps({"learned_from": digest, "model": checksum}).encode())
