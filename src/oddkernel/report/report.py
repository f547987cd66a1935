"""A report on a learned kernel, to look at rather than to read."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from ..comparisons import Comparisons
from ..comparisons.names import as_items
from ..learning.sklr import SKLR
from ..support.files import replace
from ..support.types import Array
from . import held_out as held
from .diagnosis import Note, diagnose
from .maps import METHODS, Maps, draw_maps
from .neighbours import Neighbours, find_neighbours
from .page import notebook_frame, page
from .resolutions import Resolutions, counts_of, find_resolutions
from .thumbnails import Thumbnails, make_thumbnails, require_pillow
from .verdicts import Verdicts, judge


class Report:
    """Maps, clusters, neighbours, answers and fit of a learned kernel, on one page.

    The page is a single HTML file that needs no network and shows the items themselves where pictures or texts are
    given. Parts are computed when they are first asked for; in a notebook, a report displays itself.

    Parameters
    ----------
    model : SKLR
        A fitted model.
    X : array-like of shape (n, d)
        The items' features: those it learned from, or others.
    names : sequence of n str, optional
        The items' names; by default those that the answers carry, or else row numbers.
    texts : sequence of n str, optional
        What the items say, if they are texts.
    images : sequence of n files, PIL images or arrays, optional
        What the items look like.
    classes : array-like of shape (n,), optional
        What the items are, where that is known; only to colour the maps.
    answers : Comparisons, optional
        Answers to show; by default those that the model learned from.
    held_out : Comparisons, optional
        Answers set aside before learning. Without them, up to 20,000 answers are held out in turn.
    clusters : sequence of int, optional
        Numbers of clusters to show; by default 2 to 20.
    map : {"tsne", "umap", "mds", "pca"}, default="tsne"
        What places the items on the maps.
    title : str, optional
        The page's title.
    random_state : int, default=0
        Seed of whatever is drawn at random.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import load_iris
    >>> from oddkernel import SKLR, Comparisons
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SKLR("linear", rank=None).fit(X, Comparisons.from_labels(y, 60, random_state=0))
    >>> report = Report(model, X, classes=y, clusters=[2, 3], map="pca")
    >>> report.resolutions[2].labels.shape
    (150,)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     report.save(Path(folder, "iris.html")).name
    'iris.html'
    """

    def __init__(
        self,
        model: SKLR,
        X: ArrayLike,
        *,
        names: Sequence[str] | None = None,
        texts: Sequence[str] | None = None,
        images: Sequence[Any] | NDArray[Any] | None = None,
        classes: ArrayLike | None = None,
        answers: Comparisons | None = None,
        held_out: Comparisons | None = None,
        clusters: Sequence[int] | None = None,
        map: str = "tsne",
        title: str | None = None,
        random_state: int = 0,
    ) -> None:
        if not isinstance(model, SKLR):
            raise TypeError(f"model is a {type(model).__name__}; expected a fitted SKLR, such as the last step of one")
        check_is_fitted(model)
        if map not in METHODS:
            raise ValueError(f"map={map!r}; expected one of {', '.join(f'{name!r}' for name in METHODS)}")
        if images is not None:
            require_pillow()
        self.model = model
        self.X = np.asarray(X, dtype=np.float64)
        n = len(self.X)
        if n < 2:
            raise ValueError(f"X holds {n} items; expected at least 2")
        self.classes = None if classes is None else np.asarray(classes)
        self.texts = None if texts is None else tuple(str(text) for text in texts)
        columns: dict[str, Any] = {"names": names, "texts": self.texts, "images": images, "classes": self.classes}
        for name, column in columns.items():
            if column is not None and len(column) != n:
                raise ValueError(f"{name} has {len(column)} entries for {n} items; expected one for each")
        given = as_items(names)
        self.answers, self._learned_from = self._joined(answers, given)
        self.held_out_answers = None if held_out is None else _about(held_out, given, n)
        self.names = given if given is not None else self.answers.items
        self.images = images
        self.clusters = counts_of(clusters, n)
        self.map = map
        self.title = title
        self.random_state = random_state

    def _joined(self, answers: Comparisons | None, names: tuple[str, ...] | None) -> tuple[Comparisons, bool]:
        """Answers about rows of X, and whether they are those learned from."""
        n = len(self.X)
        if answers is not None:
            joined = _about(answers, names, n)
            return joined, joined == self.model.comparisons_
        learned = self.model.comparisons_
        if names is not None and learned.items is not None and learned.items != names:
            return learned.reindex(names), True
        asked = learned.constrained
        if asked.max(initial=-1) >= n or not np.array_equal(self._learned_items[asked], self.X[asked]):
            raise ValueError(
                "the rows of X are not the items that the model learned from, so its answers can't be matched to them; "
                "expected the same items in the same order, names on both sides, or answers= about these rows"
            )
        return learned, True

    @cached_property
    def _coordinates(self) -> tuple[Array, Array]:
        return self.model.features_.transform(self.X), np.asarray(self.model.transform(self.X))

    @cached_property
    def maps(self) -> Maps:
        """The items in the plane, before and after."""
        return draw_maps(*self._coordinates, self.map, random_state=self.random_state)

    @cached_property
    def resolutions(self) -> Resolutions:
        """The items in few and in many clusters."""
        return find_resolutions(self._coordinates[1], self.clusters, random_state=self.random_state)

    @cached_property
    def neighbours(self) -> Neighbours:
        """The nearest items of each, before and after."""
        return find_neighbours(*self._coordinates)

    @cached_property
    def verdicts(self) -> Verdicts:
        """What the kernel makes of each answer."""
        model = self.model
        influence = None
        if self._learned_from:
            # A kernel that was left alone has no multipliers, and then no answer pulled at it.
            influence = np.zeros(len(self.answers))
            influence[: len(model.solution_.influence)] = model.solution_.influence
        return judge(self.answers, *self._coordinates, model.temperature_, model.tie_, influence, model.guess_)

    @cached_property
    def held_out(self) -> held.HeldOut | None:
        """Agreement with answers that took no part in the learning; None if there are too few or too many."""
        if self.held_out_answers is not None:
            return held.from_answers(self.held_out_answers, *self._coordinates)
        found = held.from_tuning(self.model)
        return held.from_folds(self.model) if found is None else found

    @property
    def _learned_items(self) -> Array:
        # A precomputed kernel keeps no items; its answers are then known to be about the rows of X.
        return np.asarray(getattr(self.model.kernel_, "X_fit_", self.X))

    @cached_property
    def notes(self) -> list[Note]:
        """What the fit means, in words."""
        return diagnose(self.model, self.verdicts, self.held_out, len(self.X))

    @cached_property
    def thumbnails(self) -> Thumbnails | None:
        """Small pictures of the items."""
        return None if self.images is None else make_thumbnails(self.images)

    def name(self, row: int) -> str:
        """What to call an item."""
        return f"row {row}" if self.names is None else self.names[row]

    def html(self) -> str:
        """The page."""
        return page(self)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page to a file, which appears complete or not at all."""
        replace(path, self.html().encode())
        return Path(path)

    def figures(self, folder: str | os.PathLike[str], *, formats: Sequence[str] = ("png", "svg")) -> list[Path]:
        """Write every picture to a folder, as PNG and SVG, for papers and slides; needs matplotlib."""
        from .figures import draw_figures

        target = Path(folder)
        target.mkdir(parents=True, exist_ok=True)
        written = []
        for name, data in draw_figures(self, formats):
            replace(target / name, data)
            written.append(target / name)
        return written

    def _repr_html_(self) -> str:
        return notebook_frame(self.html())


def _about(said: Comparisons, names: tuple[str, ...] | None, n: int) -> Comparisons:
    if names is not None and said.items is not None:
        return said.reindex(names)
    said.check_items(n)
    return said
