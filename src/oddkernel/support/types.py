"""Types that many files use."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
"""A NumPy array; docstrings say its shape."""

Indices = NDArray[np.intp]
"""Numbers of items, rows or positions."""
