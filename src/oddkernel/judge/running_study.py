"""A study that is being run: what the handlers of requests share."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from ..formats import dump
from .background_tasks import BackgroundTask, Task
from .export import Export, Filter, export
from .file_versions import Versions
from .item_features import kept_features, source_of
from .live_map import LiveMap
from .middleware import Rate
from .next_questions import Asking
from .pages import Pages
from .pictures import Pictures
from .statistics_cache import StatisticsCache
from .store import Database, Records
from .study import Study
from .study_data import HOLDOUTS, shared
from .study_report import REPORT_FILE
from .words import Words

T = TypeVar("T")

PLAN_SECONDS = 60.0
"""About how long a plan is simulated. Chosen by hand."""


def root_of(study: Study) -> str:
    """What a study's addresses begin with on a server with several: its id, which is random and can't be guessed."""
    id = study.settings.id
    return f"/s/{id if re.fullmatch('[A-Za-z0-9_-]+', id) else study.keys.tag('study')}"


class RunningStudy:
    """A study that is being run: what the handlers of requests share.

    Parameters
    ----------
    study : Study
        What to ask, about what.
    database : Database
        Where the answers go; to be closed by whoever opened it.
    root : str, default=""
        What all the study's addresses begin with.
    """

    def __init__(self, study: Study, database: Database, root: str = "") -> None:
        self.study = study
        self.database = database
        self.root = root
        self.keys = study.keys
        self.tag = self.keys.tag("study")
        self.cookie = f"oddkernel_sitting_{self.tag}"  # browsers share cookies among the ports of a host
        self.media = self.keys.media(study.names)
        self.media_id = {name: id for id, name in self.media.items()}
        self.has_files = any(item.path is not None for item in study.items)
        self.versions = Versions()
        self.pages = Pages()
        self.words = Words(study.settings.language, study.settings.words)
        self.pictures = Pictures(study.home)
        self.asking = Asking(study, database)
        self.statistics = StatisticsCache(study, database)
        self.live_map = LiveMap(self._exported, study.names, study.features)
        self.describing = BackgroundTask(
            self._task, lambda _: self.live_map.use(kept_features(study.items, study.home))
        )
        self.reporting = BackgroundTask(self._report_task)
        self.planning = BackgroundTask(lambda: {**self._task(), "seconds": PLAN_SECONDS})
        self.per_sitting = Rate(per_second=20, burst=100)
        self.newcomers = Rate(per_second=20, burst=2000)  # a whole lecture hall may come from one address at once
        self.token_tries = Rate(per_second=1, burst=20)

    def close(self) -> None:
        """End all that is under way, except for what is being stored."""
        for part in (self.live_map, self.describing, self.reporting, self.planning, self.asking, self.pictures):
            part.close()

    def describe(self) -> None:
        """Have features of the items made for the map, once, if there are none."""
        if self.study.features is None and not self.describing.begun and source_of(self.study.items) is not None:
            self.describing.begin()

    @property
    def report_file(self) -> Path:
        """Where the report is."""
        return self.study.home / REPORT_FILE

    def _task(self) -> Task:
        file = self.study.features_file
        source = self.study.source or self.study.home
        return {"source": str(source.resolve()), "features": None if file is None else str(file.resolve())}

    def _report_task(self) -> Task:
        answers = self.database.read(lambda records: records.answers())
        said, held_out = (dump(part, "jsonl").decode() for part in shared(answers, self.study, Filter()))
        return {**self._task(), "said": said, "held_out": held_out, "out": str(self.report_file.resolve())}

    def _exported(self) -> tuple[Export, Export]:
        """The answers to learn from, and those held out."""
        answers = self.database.read(lambda records: records.answers())
        learned, held_out = (
            export(answers, self.study.names, self.study.name, Filter(holdout=which)) for which in HOLDOUTS
        )
        return learned, held_out

    def shown(self, name: str) -> dict[str, Any]:
        """An item as a page shows it; reads the item's file if it is new or has changed.

        The address holds a hash of the content, so that browsers can cache a picture and still notice a replacement.
        """
        item = self.study.items[self.study.index_of[name]]
        if item.path is None:
            return {"kind": item.medium, "text": item.text}
        return {"kind": item.medium, "url": f"{self.root}/media/{self.media_id[name]}?v={self.versions.of(item.path)}"}

    async def write(self, work: Callable[[Records], T]) -> T:
        """Change the records; returns when the change is durable."""
        return await asyncio.wrap_future(self.database.write(work))

    async def read(self, work: Callable[[Records], T]) -> T:
        """Look at the records, while other requests go on."""
        return await asyncio.to_thread(self.database.read, work)
