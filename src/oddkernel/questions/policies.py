"""The policies by name."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..support.types import Indices
from .adaptive import diverse, informative, typical, uncertain
from .auto import auto
from .history import History
from .prototypes import prototypes
from .unlearned import least_answered, random

Policy = Callable[[History, int, np.random.Generator], Indices]
"""``policy(history, n, rng)`` returns the items of ``n`` questions, shape (n, 3), as numbers from 0."""

POLICIES: dict[str, Policy] = {
    "random": random,
    "least_answered": least_answered,
    "typical": typical,
    "uncertain": uncertain,
    "informative": informative,
    "diverse": diverse,
    "prototypes": prototypes,
    "auto": auto,
}
"""The policies by name. To add one, write a function and add a line here."""

NEED_FEATURES = ("typical", "uncertain", "informative", "diverse", "prototypes")
"""The policies that a study can't use without features of the items."""

LEARNING = (*NEED_FEATURES, "auto")
"""The policies that use the items' features, and the answers or what was learned from them."""

PREPARED = ("informative", "diverse")
"""The policies whose first choice with a new belief takes longer, unless `adaptive.prepare` was called."""

DEFAULT = "auto"


def resolve(policy: str | Policy) -> Policy:
    """Return the policy with this name; a function is returned unchanged."""
    if callable(policy):
        return policy
    if policy not in POLICIES:
        names = ", ".join(f'"{name}"' for name in POLICIES)
        raise ValueError(f"policy={policy!r}; expected one of {names}, or a function")
    return POLICIES[policy]
