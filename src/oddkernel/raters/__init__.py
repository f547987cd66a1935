"""People differ: how well they agree, who answers with care, and how much each one's answers should count."""

from __future__ import annotations

from .ceiling import NoiseCeiling, noise_ceiling
from .profiles import RaterReport, RaterRow, report
from .weights import reliability, weigh

__all__ = ["NoiseCeiling", "RaterReport", "RaterRow", "noise_ceiling", "reliability", "report", "weigh"]
