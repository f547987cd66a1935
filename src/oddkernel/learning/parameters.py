"""The parameters of `SKLR` that are refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..problem.losses import LOSSES
from ..solvers import SOLVERS, Solver, check_device
from ..support.checks import EXTREME, is_count, is_penalty, is_real, require
from .scaling import STANDARD

if TYPE_CHECKING:
    from .sklr import SKLR


def check_parameters(model: SKLR) -> Solver:
    """Refuse parameters that mean nothing; return the solver."""
    up_to = f"and at most {EXTREME:g}"
    require(
        model.ratio == "auto" or (is_real(model.ratio) and 1 <= float(model.ratio) <= EXTREME),
        "ratio",
        model.ratio,
        f"a number of at least 1 {up_to}, or 'auto'",
    )
    require(
        is_real(model.margin) and 0 <= model.margin <= EXTREME,
        "margin",
        model.margin,
        f"a number of at least 0 {up_to}",
    )

    rounds = model.penalty if isinstance(model.penalty, tuple | list) and model.penalty else [model.penalty]
    require(
        all(map(is_penalty, rounds)) or model.penalty in ("auto", 0, np.inf),
        "penalty",
        model.penalty,
        f"a positive number of at least {1 / EXTREME:g} {up_to}, several of them for as many rounds, 0, inf or 'auto'",
    )
    require(
        model.softness == "auto" or is_penalty(model.softness),
        "softness",
        model.softness,
        f"a positive number of at least {1 / EXTREME:g} {up_to}, or 'auto'",
    )
    require(
        model.scaling is None or (isinstance(model.scaling, str) and model.scaling in ("auto", STANDARD)),
        "scaling",
        model.scaling,
        "'auto', 'standard' or None",
    )
    require(is_real(model.tol) and 0 < model.tol < np.inf, "tol", model.tol, "a positive number")
    require(is_count(model.max_iter), "max_iter", model.max_iter, "a whole number of at least 1, or None")
    require(
        is_count(model.n_comparisons), "n_comparisons", model.n_comparisons, "a whole number of at least 1, or None"
    )
    require(
        isinstance(model.loss, str) and model.loss in ("auto", *LOSSES),
        "loss",
        model.loss,
        f"'auto' or one of {', '.join(map(repr, LOSSES))}",
    )
    if not isinstance(model.solver, str):
        require(hasattr(model.solver, "step"), "solver", model.solver, "a name or a Solver")
        check_device(model.solver, model.device)
        return model.solver
    require(model.solver in SOLVERS, "solver", model.solver, f"one of {', '.join(map(repr, SOLVERS))}, or a Solver")
    solver = SOLVERS[model.solver]()
    check_device(solver, model.device)
    require(
        solver.exact or model.loss in ("auto", "squared"),
        "solver",
        model.solver,
        "an exact solver with this loss: the paper's knows the squared loss only",
    )
    return solver
