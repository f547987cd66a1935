"""A visual report on a learned kernel."""

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
from ..dimensions import Dimensions
from ..items.frames import row_names, without_names
from ..learning.sklr import SKLR
from ..problem import choices
from ..support.files import replace
from ..support.types import Array
from . import held_out as held
from .diagnosis import Note, diagnose
from .maps import METHODS, Maps, draw_maps
from .neighbours import Neighbours, find_neighbours
from .opening import Opening, open_report
from .page import notebook_frame, page
from .resolutions import Resolutions, counts_of, find_resolutions
from .thumbnails import Thumbnails, make_thumbnails, require_pillow
from .verdicts import Verdicts, judge


class Report:
    """What a learned kernel is worth and what it looks like, on one page: summary, maps, clusters, items, answers, fit.

    The page is a single HTML file that works offline. It shows the items themselves if pictures or texts are given.
    Parts are computed on first use. In a notebook, a report displays itself.

    Parameters
    ----------
    model : SKLR
        A fitted model.
    X : array-like of shape (n, d)
        Features of the items: those that the model learned from, or others.
    names : sequence of n str, optional
        The items' names; by default those in the answers, or row numbers.
    texts : sequence of n str, optional
        The items' texts.
    images : sequence of n files, PIL images or arrays, optional
        The items' pictures.
    classes : array-like of shape (n,), optional
        The items' classes; used only to colour the maps.
    answers : Comparisons, optional
        Answers to show; by default those that the model learned from.
    held_out : Comparisons, optional
        Answers not used for learning. Without them the report cross-validates, with up to 20,000 answers.
    dimensions : Dimensions, optional
        Fitted dimensions of the similarity, to show with the items that have most of each.
    clusters : sequence of int, optional
        Numbers of clusters to show; by default 2 to 20.
    map : {"tsne", "umap", "mds", "pca"}, default="tsne"
        Method of the maps.
    title : str, optional
        A name for the study, shown above the headline.
    question : str, optional
        The question as people saw it; by default the usual words for the kinds of answers.
    random_state : int, default=0
        Random seed.

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
        dimensions: Dimensions | None = None,
        clusters: Sequence[int] | None = None,
        map: str = "tsne",
        title: str | None = None,
        question: str | None = None,
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
        self.X = np.asarray(without_names(X), dtype=np.float64)
        self._given = X if row_names(X) is not None else self.X
        n = len(self.X)
        if n < 2:
            raise ValueError(f"X holds {n} items; expected at least 2")
        self.classes = None if classes is None else np.asarray(classes)
        self.texts = None if texts is None else tuple(str(text) for text in texts)
        columns: dict[str, Any] = {"names": names, "texts": self.texts, "images": images, "classes": self.classes}
        for name, column in columns.items():
            if column is not None and len(column) != n:
                raise ValueError(f"{name} has {len(column)} entries for {n} items; expected one for each")
        given = row_names(X) if names is None else as_items(names)
        self.answers, self._learned_from = self._joined(answers, given)
        self.held_out_answers = None if held_out is None else _about(held_out, given, n)
        self.names = given if given is not None else self.answers.items
        self.images = images
        self.dimensions = dimensions
        self.clusters = counts_of(clusters, n)
        self.map = map
        self.title = title
        self.question = question
        self.random_state = random_state

    def _joined(self, answers: Comparisons | None, names: tuple[str, ...] | None) -> tuple[Comparisons, bool]:
        """The answers, with items as rows of X, and whether the model learned from them."""
        n = len(self.X)
        if answers is not None:
            joined = _about(answers, names, n)
            learned = self.model.comparisons_
            known = names is not None and learned.items is not None and set(learned.items) <= set(names)
            return joined, joined == (learned.reindex(names) if known else learned)
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
        return self.model.features_.transform(self.X), np.asarray(self.model.transform(self._given))

    @cached_property
    def maps(self) -> Maps:
        """The items in the plane, before and after."""
        return draw_maps(*self._coordinates, self.map, random_state=self.random_state)

    @cached_property
    def resolutions(self) -> Resolutions:
        """Clusterings from coarse to fine."""
        return find_resolutions(self._coordinates[1], self.clusters, random_state=self.random_state)

    @cached_property
    def neighbours(self) -> Neighbours:
        """The nearest neighbours of each item, before and after."""
        return find_neighbours(*self._coordinates)

    @cached_property
    def loadings(self) -> Array | None:
        """The items' loadings on the dimensions, if there are any."""
        return None if self.dimensions is None else np.asarray(self.dimensions.transform(self._given))

    @cached_property
    def verdicts(self) -> Verdicts:
        """Each answer compared with the kernel."""
        model = self.model
        influence = None
        if self._learned_from:
            # A kernel that was left unchanged has no multipliers: no answer had an influence.
            influence = np.zeros(len(self.answers))
            influence[: len(model.solution_.influence)] = model.solution_.influence
        return judge(self.answers, *self._coordinates, model.temperature_, model.tie_, influence, model.guess_)

    @cached_property
    def held_out(self) -> held.HeldOut | None:
        """Agreement with held-out answers; None if there are too few or too many answers."""
        if self.held_out_answers is not None:
            return held.from_answers(self.held_out_answers, *self._coordinates)
        found = held.from_tuning(self.model)
        if found is None and self.model.penalty_ == 0 and choices.decided(self.answers).any():
            # Nothing was learned from any answer, so all of them are unseen.
            return held.from_answers(self.answers, *self._coordinates, "none of which anything was learned from")
        return held.from_folds(self.model) if found is None else found

    @cached_property
    def opening(self) -> Opening:
        """What was asked, who answered, and what came of it."""
        return open_report(
            self.model,
            self.answers,
            learned_from=self._learned_from,
            set_aside=self.held_out_answers,
            held_out=self.held_out,
            n_items=len(self.X),
            question=self.question or "",
        )

    @property
    def _learned_items(self) -> Array:
        # A precomputed kernel keeps no items; `_joined` has checked that the answers are about the rows of X.
        learned = self.model.fit_.items
        return self.X if learned is None else learned

    @cached_property
    def notes(self) -> list[Note]:
        """Notes on what the fit means."""
        return diagnose(self.model, self.verdicts, self.held_out, len(self.X))

    @cached_property
    def thumbnails(self) -> Thumbnails | None:
        """Small pictures of the items."""
        return None if self.images is None else make_thumbnails(self.images)

    def name(self, row: int) -> str:
        """The name of an item, or its row number."""
        return f"row {row}" if self.names is None else self.names[row]

    def html(self) -> str:
        """The page."""
        return page(self)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page to a file, atomically."""
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
