"""Active selection of questions, simulated people, and when to stop."""

from __future__ import annotations

from .belief import Belief
from .choice import next_questions
from .curve import LearningCurve, learning_curve
from .history import History
from .outlook import Outlook, outlook
from .planning import Plan, plan
from .policies import DEFAULT, POLICIES, Policy
from .simulated_people import ByLabels, ByMetric, Recorded
from .simulation import simulate

__all__ = [
    "DEFAULT",
    "POLICIES",
    "Belief",
    "ByLabels",
    "ByMetric",
    "History",
    "LearningCurve",
    "Outlook",
    "Plan",
    "Policy",
    "Recorded",
    "learning_curve",
    "next_questions",
    "outlook",
    "plan",
    "simulate",
]
