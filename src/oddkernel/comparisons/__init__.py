"""The data type of the answers: `Comparisons`."""

from __future__ import annotations

from ..support.checks import RowError
from .columns import Kind
from .comparisons import Comparisons

__all__ = ["Comparisons", "Kind", "RowError"]
