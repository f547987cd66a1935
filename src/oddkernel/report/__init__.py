"""Pictures and pages to look at."""

from __future__ import annotations

from .maps import flat_map
from .page import demo_page
from .picture import before_after

__all__ = ["before_after", "demo_page", "flat_map"]
