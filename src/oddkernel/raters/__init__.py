"""Raters: how well they agree, who answers carelessly, and how much weight each one's answers should have."""

from __future__ import annotations

from .ceiling import NoiseCeiling, noise_ceiling
from .profiles import RaterReport, RaterRow, report
from .weights import reliability, weigh

__all__ = ["NoiseCeiling", "RaterReport", "RaterRow", "noise_ceiling", "reliability", "report", "weigh"]
