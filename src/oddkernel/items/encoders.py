"""Encoders compute features of images or texts; each has a name that ``--with`` takes."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

import numpy as np

from ..support.spelling import did_you_mean
from ..support.types import Array
from .sources import Source
from .tables import READERS, Items

Kind = Literal["image", "text"]
NONE = "none"
"""The encoder of items without features: only answers tell them apart."""


class Row(NamedTuple):
    """What an encoder makes of one item: its features, or why there are none.

    Attributes
    ----------
    position : int
        The item's, in the source.
    features : ndarray of shape (d,), or None
    problem : str
        Why the item has no features; empty if it has.
    """

    position: int
    features: Array | None
    problem: str = ""


class Encoder(Protocol):
    """Computes features of images or texts.

    Attributes
    ----------
    name : str
        Identifies the encoder: features of two encoders are comparable only if the names are equal.
    option : str
        What ``--with`` takes for it.
    together : bool
        Whether the features of an item depend on the other items.
    prefix : str
        Features are called by it and their number.
    """

    name: str
    option: str
    together: bool
    prefix: str

    def rows(self, source: Source) -> Iterator[Row]:
        """The features of each item, in order; items are read as they are needed."""
        ...


@dataclass(frozen=True)
class Encoded:
    """Features of items, and the items that have none.

    Attributes
    ----------
    items : Items
    left_out : mapping of str to str
        Why an item has no features, by its name.
    """

    items: Items
    left_out: Mapping[str, str] = field(default_factory=dict)


class Numbers:
    """Stands for features where there are none: the position of each item, for the identity kernel."""

    name = option = NONE
    together = True
    prefix = "number"

    def rows(self, source: Source) -> Iterator[Row]:
        """The positions."""
        for position in range(len(source.names)):
            yield Row(position, np.array([float(position)]))


def encode(encoder: Encoder, source: Source, progress: Callable[[str], None] | None = None) -> Encoded:
    """Features of all items of a source; a warning names the items that have none.

    Parameters
    ----------
    encoder : Encoder
    source : Source
    progress : callable, optional
        Called with a sentence after each item.
    """
    rows: list[Array] = []
    names: list[str] = []
    left_out: dict[str, str] = {}
    for row in encoder.rows(source):
        if progress is not None:
            progress(f"{source.kind} {row.position + 1} of {len(source.names)}")
        if row.features is None:
            left_out[source.names[row.position]] = row.problem
        else:
            rows.append(row.features)
            names.append(source.names[row.position])
    warn_left_out(left_out, source)
    X = np.array(rows)
    return Encoded(Items(X, tuple(names), columns_of(encoder, X.shape[1])), left_out)


def columns_of(encoder: Encoder, n_features: int) -> tuple[str, ...]:
    """The names of an encoder's features."""
    fixed: tuple[str, ...] | None = getattr(encoder, "columns", None)
    return fixed or tuple(f"{encoder.prefix}{k}" for k in range(n_features))


def warn_left_out(left_out: Mapping[str, str], source: Source) -> None:
    """Warn of items without features, by name; raise a ValueError if no item has any."""
    if not left_out:
        return
    where: dict[str, object] = dict(zip(source.names, source.paths or source.names, strict=True))
    told = told_left_out(
        {str(where.get(name, name)): problem for name, problem in left_out.items()}, len(where), source.kind
    )
    if len(left_out) == len(source.names):
        raise ValueError(f"{told}; expected at least one")
    warnings.warn(f"left out, {told}", UserWarning, stacklevel=3)


def told_left_out(problems: Mapping[str, str], n: int, what: str) -> str:
    """A sentence about those of n items that can't be read."""
    listed = "; ".join(f"{name} ({problem})" for name, problem in problems.items())
    return f"{len(problems)} of {n} {what}s can't be read: {listed}"


def find_encoder(option: str, kind: Kind) -> Encoder:
    """The encoder that an option names.

    Parameters
    ----------
    option : str
        ``gist`` or ``clip`` for images, ``tfidf`` or ``sentences`` for texts, ``none``, the file of an encoder in ONNX
        format, or a file of features that another program wrote.
    kind : {"image", "text"}
        What the items are.

    Examples
    --------
    >>> find_encoder("gist", "image").name
    'gist'
    """
    from .arrays import ENDINGS, FromFile
    from .images import Gist
    from .onnx import OnnxEncoder
    from .pretrained import PRETRAINED, pretrained
    from .texts import Tfidf

    path = Path(option)
    suffix = path.suffix.lower()
    if suffix == ".onnx":
        return OnnxEncoder(path, kind)
    if suffix in (*READERS, *ENDINGS) or path.is_dir():
        return FromFile(path)
    usual: dict[str, Kind] = {"gist": "image", "tfidf": "text", **{each.name: each.kind for each in PRETRAINED}}
    offered = ", ".join(name for name, of in usual.items() if of == kind)
    expected = f"for {kind}s: {offered}, {NONE}, an encoder's .onnx file, or a file of features"
    if option == NONE:
        return Numbers()
    if option not in usual:
        raise ValueError(f"--with {option}: no such encoder{did_you_mean(option, usual)}; expected {expected}")
    if usual[option] != kind:
        raise ValueError(f"--with {option} is for {usual[option]}s; expected {expected}")
    if option == "gist":
        return Gist()
    return Tfidf() if option == "tfidf" else pretrained(option)


def default_encoder(kind: Kind) -> str:
    """The option of the best encoder that can be used at once: nothing is downloaded for it."""
    from .pretrained import PRETRAINED

    at_hand = [each.name for each in PRETRAINED if each.kind == kind and each.is_cached()]
    return at_hand[0] if at_hand else fallback(kind)


def fallback(kind: Kind) -> str:
    """The encoder that needs no weights."""
    return "gist" if kind == "image" else "tfidf"
