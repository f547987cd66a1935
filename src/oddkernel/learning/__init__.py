"""Learning a metric: the estimator `SKLR`, the choice of its settings by held-out answers, saved models."""

from __future__ import annotations

from . import models
from .rounds import learn
from .scores import Scores
from .selection import SearchCV
from .sklr import SKLR, ContradictionError
from .tuning import Recipe, Trial, Tuning
from .uncertainty import Uncertainty

__all__ = [
    "SKLR",
    "ContradictionError",
    "Recipe",
    "Scores",
    "SearchCV",
    "Trial",
    "Tuning",
    "Uncertainty",
    "learn",
    "models",
]
