"""Interpretable, non-negative dimensions of the learned similarity."""

from __future__ import annotations

from .dimensions import Dimensions
from .explanation import Explanation
from .files import load, save
from .fits import DimensionsFit
from .rdm import choice_similarity, rdm

__all__ = ["Dimensions", "DimensionsFit", "Explanation", "choice_similarity", "load", "rdm", "save"]
