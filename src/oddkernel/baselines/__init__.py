"""The paper's rivals, on the same parts as the learner: ITML and SKMS learn from links, LSML from comparisons."""

from __future__ import annotations

from .itml import ITML
from .links import links_from_labels
from .lsml import LSML
from .skms import SKMS

__all__ = ["ITML", "LSML", "SKMS", "links_from_labels"]
