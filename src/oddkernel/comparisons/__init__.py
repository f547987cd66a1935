"""The data type of the answers: `Comparisons`."""

from __future__ import annotations

from ..support.checks import RowError
from .comparisons import Comparisons
from .kinds import Kind

__all__ = ["Comparisons", "Kind", "RowError"]
