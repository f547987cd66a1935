"""What a point proves: that it is the optimum, or that the rows can't all hold."""

from __future__ import annotations

from ..problem.arrays import namespace
from ..problem.point import Point

# Multipliers this large (S has grown from the identity to this size) run off along a contradiction.
RUNAWAY = 1e12
# Hard rows whose kernel would have to be this many times farther away than each row needs on its own can't all hold.
HOPELESS = 1e6


def optimal(point: Point, tol: float) -> bool:
    """Whether residual and gap are within the tolerance."""
    return point.residual <= tol and point.gap <= tol


def runs_away(point: Point, least: float = RUNAWAY) -> bool:
    """Whether α has become a certificate that its hard rows can't all hold (soft losses hold their multipliers back).

    S = I + P(α) ≻ 0 makes P(α) positive semidefinite up to the share 1/size, where size is what α would weigh if its
    rows didn't cancel. The rows exclude one another if then P stays or bᵀα is positive, and bᵀα isn't negative.
    So they do where the dual, which no kernel's divergence is below, is out of proportion to what offsets ask for.
    """
    problem, xp = point.problem, namespace(point.alpha)
    hard = (problem.loss.curvature == 0) & xp.isinf(problem.loss.upper)
    if not xp.any(hard):
        return False
    if xp.any(hard & problem.void & point.free & (point.gradient != 0)):
        return True
    if xp.all(hard) and point.objective > HOPELESS * (1.0 + problem.rank) * (1.0 + problem.growth):
        return True
    share = xp.where(hard, abs(point.alpha) * problem.initial_scale, 0.0)
    size = float(xp.sum(share))
    if size < least:
        return False
    # Rows that pull little are no part of the certificate; their offsets would hide that it holds.
    pull = xp.where(share > 1e-8 * size, problem.offset * point.alpha, 0.0)
    stretched = float(xp.max(xp.sum(xp.square(point.factor), axis=1))) if problem.rank else 0.0
    total = float(xp.sum(pull))
    return bool(total >= -1e-6 * float(xp.sum(abs(pull))) and stretched + total > 1e-6 * size)
