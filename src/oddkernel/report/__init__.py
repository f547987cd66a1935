"""The HTML report, and pictures of learned kernels."""

from __future__ import annotations

from .maps import draw_maps, flat_map
from .picture import before_after
from .report import Report

__all__ = ["Report", "before_after", "draw_maps", "flat_map"]
