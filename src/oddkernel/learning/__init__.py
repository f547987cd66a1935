"""Learning a metric: the estimator `SKLR`, the choice of its settings by held-out answers, saved models."""

from __future__ import annotations

from . import models
from .contradictions import ContradictionError
from .fits import Fit
from .metric import LearnedMetric
from .recipe import Recipe
from .rounds import learn
from .scores import Scores
from .selection import SearchCV
from .sklr import SKLR
from .tuning import Trial, Tuning
from .uncertainty import Uncertainty

__all__ = [
    "SKLR",
    "ContradictionError",
    "Fit",
    "LearnedMetric",
    "Recipe",
    "Scores",
    "SearchCV",
    "Trial",
    "Tuning",
    "Uncertainty",
    "learn",
    "models",
]
