"""Active selection of questions, simulated people, and when to stop."""

from __future__ import annotations

from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    from .belief import Belief
    from .choice import next_questions
    from .curve import LearningCurve, learning_curve
    from .history import History
    from .planning import Plan, plan
    from .policies import DEFAULT, POLICIES, Policy
    from .simulated_people import ByLabels, ByMetric, Recorded
    from .simulation import simulate
    from .stopping import Outlook, outlook
else:
    from ..support.lazy_names import load_lazily

    # Whoever only asks, as the judging page does with random questions, needs no learner, which takes a second to load.
    __getattr__, __dir__ = load_lazily(
        __name__,
        {
            "DEFAULT": "policies",
            "POLICIES": "policies",
            "Belief": "belief",
            "ByLabels": "simulated_people",
            "ByMetric": "simulated_people",
            "History": "history",
            "LearningCurve": "curve",
            "Outlook": "stopping",
            "Plan": "planning",
            "Policy": "policies",
            "Recorded": "simulated_people",
            "learning_curve": "curve",
            "next_questions": "choice",
            "outlook": "stopping",
            "plan": "planning",
            "simulate": "simulation",
        },
    )
