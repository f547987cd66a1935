"""One problem: items, answers and settings, and the check whether `SKLR` finds its optimum."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from oddkernel import SKLR, Comparisons, ContradictionError
from oddkernel.kernels import LowRank, resolve
from oddkernel.problem.solution import Status

from ..measure import Clock
from .certificate import SINGULAR, Array, Certificate, Cost, Rows, certify, room

TOL = 1e-6
# Features this small say nothing about the items asked about: `SKLR` refuses kernels below the square of it.
VANISHING = 1e-15
# The recomputed residual and gap may exceed the tolerance by this factor, as the returned kernel is rounded. Chosen by
# hand.
ROUNDING = 3.0
# SKLR's constants: the sample of items for the default bounds of links, and the softness for "auto".
SAMPLE, SOFTNESS = 1000, 0.3
# Problems with at most this many rows and constrained items are small enough for every solver. Chosen by hand.
FEW_ROWS, FEW_ITEMS = 300, 60


@dataclass(frozen=True)
class Outcome:
    """The result of a problem.

    Attributes
    ----------
    code : str
        Python that solves it again.
    status : str
        The name of a `Status`.
    seconds, kernel_seconds : float
        CPU time of `fit`, and of the initial kernel alone.
    loss : str
        ``"hard"`` where every answer must hold.
    rows, items, rank : int
        Numbers of rows, constrained items and dimensions.
    residual, gap : float
        Recomputed independently; NaN if there is no kernel.
    failures : tuple of str
        Failures, one sentence each.
    notes : tuple of str
        Observations that are not failures.
    """

    code: str
    status: str
    seconds: float
    kernel_seconds: float
    loss: str
    rows: int
    items: int
    rank: int
    residual: float = np.nan
    gap: float = np.nan
    failures: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        told = (
            f"{self.status}, residual {self.residual:.1e}, gap {self.gap:.1e}, {self.seconds:.2f} s "
            f"({self.kernel_seconds:.2f} s the kernel), {self.loss}, {self.rows} rows, {self.items} items, "
            f"rank {self.rank}"
        )
        return "; ".join([told, *self.failures, *self.notes])


@dataclass(frozen=True, eq=False)
class Problem:
    """Items, answers about them, and settings of the learner.

    Attributes
    ----------
    name : str
        A Python expression that recreates this problem, with names from `oddkernel_benchmarks.problems`.
    X : (n, d) array
        The items, or k₀ between them if the kernel is precomputed.
    said : Comparisons
    settings : dict
        Parameters of `SKLR`: at least kernel, loss, penalty, ratio.
    feasible : bool
        Whether the answers are known to be consistent.
    compared : bool
        Whether to compare all exact solvers, if the problem is small.
    """

    name: str
    X: Array = field(repr=False)
    said: Comparisons
    settings: dict[str, Any]
    feasible: bool = False
    compared: bool = False

    def model(self, **changed: Any) -> SKLR:
        """An unfitted learner with the problem's settings."""
        # The check computes the features from X as it is.
        return SKLR(**{"tol": TOL, "scaling": None, "random_state": 0} | self.settings | changed)

    def code(self) -> str:
        """Python code that creates the problem, solves it and checks the optimum."""
        function = self.name.partition("(")[0].partition("[")[0]
        settings = ", ".join(f"{name}={value!r}" for name, value in self.settings.items())
        return (
            f"from oddkernel_benchmarks.problems import {function}; {self.name}.check()  "
            f"# {len(self.X)} items, {len(self.said)} answers, SKLR({settings})"
        )

    def saying(self, said: Comparisons, **changed: Any) -> Problem:
        """The same problem with other answers; the initial kernel is reused."""
        other = replace(self, said=said, **changed)
        other.__dict__["_initial"] = self._initial
        return other

    @cached_property
    def _initial(self) -> tuple[LowRank, Array, float]:
        """The feature map of the initial kernel, the items' features, and the time they took."""
        clock = Clock()

        def compute() -> tuple[LowRank, Array]:
            kernel = resolve(self.settings["kernel"]).fit(self.X)
            features = LowRank.fit(kernel, self.X, rank=self.settings.get("rank", 0.9), random_state=0)
            return features, features.transform(self.X)

        return *clock.time(compute), clock.cpu_seconds

    @property
    def phi(self) -> Array:
        """Φ, (n, r): the items' features in the initial kernel."""
        return self._initial[1]

    @cached_property
    def rows(self) -> Rows:
        """The rows of the answers, with SKLR's default bounds of links."""
        bounds = (np.nan, np.nan)
        if np.isnan(self.said.bound[self.said.links]).any():
            some = self.phi[np.random.RandomState(0).permutation(len(self.X))[:SAMPLE]]
            squared = np.concatenate([np.square(some[i + 1 :] - some[i]).sum(axis=1) for i in range(len(some))])
            bounds = tuple(np.percentile(squared, [5, 95]).tolist())
        return Rows.of(self.said, self.settings["ratio"], self.settings.get("margin", 0.0), bounds)

    @property
    def cost(self) -> Cost:
        """ψ of the rows. The unit of softness is the mean squared distance between constrained items."""
        asked = self.phi[self.said.constrained]
        unit = 2.0 * np.square(asked - asked.mean(axis=0)).sum(axis=1).mean() or 1.0
        softness = self.settings.get("softness", "auto")
        scale = (SOFTNESS if softness == "auto" else softness) * float(unit)
        return Cost(self.settings["loss"], self.settings["penalty"], scale)

    @property
    def hard(self) -> bool:
        """Whether the constraints are hard."""
        return bool(np.isinf(self.settings["penalty"]))

    @property
    def small(self) -> bool:
        """Whether the problem is small enough for every solver."""
        return len(self.rows) <= FEW_ROWS and len(self.said.constrained) <= FEW_ITEMS

    def check(self) -> Outcome:
        """Solve the problem; raise an AssertionError unless it finds the optimum, or a confirmed contradiction."""
        outcome = self.run()
        assert not outcome.failures, f"{outcome.code}\n{outcome}"
        return outcome

    def run(self) -> Outcome:
        """Solve the problem and check the result.

        Items that are all copies at the rank drawn (the identity kernel at rank 3, say) are refused in words, which is
        what should become of them.
        """
        if np.abs(self.phi[self.said.constrained]).max(initial=0.0) < VANISHING:
            return Outcome(self.code(), "REFUSED", 0.0, self._initial[2], self.settings["loss"], 0, 0, 0)
        clock, model = Clock(), self.model()
        failures: list[str] = []
        notes: list[str] = []
        found: Certificate | None = None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            refused = clock.time(lambda: self._fit(model))
            if refused is not None:
                status = Status.CONTRADICTORY
                self._confirm(refused.rows, failures, notes)
            else:
                status = model.solution_.status
                if status is not Status.OPTIMAL:
                    failures.append(f"{status.name}: {model.solution_}")
                found = self._certify(model, failures)
            if found is not None and status is Status.OPTIMAL and self.compared and self.small:
                self._compare(found, failures, notes)
        return Outcome(
            code=self.code(),
            status=status.name,
            seconds=clock.cpu_seconds,
            kernel_seconds=self._initial[2],
            loss="hard" if self.hard else self.settings["loss"],
            rows=len(self.rows),
            items=len(self.said.constrained),
            rank=self.phi.shape[1],
            residual=np.nan if found is None else found.residual,
            gap=np.nan if found is None else found.gap,
            failures=tuple(failures),
            notes=tuple(notes),
        )

    def _fit(self, model: SKLR) -> ContradictionError | None:
        try:
            model.fit(self.X, self.said)
        except ContradictionError as error:
            return error
        return None

    def _certify(self, model: SKLR, failures: list[str]) -> Certificate | None:
        """The certificate of a fitted model; appends to the failures."""
        features, coordinates = model.features_.transform(self.X), model.transform(self.X)
        # In the same products as fit's: those of other sizes are rounded differently, and where features come from a
        # kernel of rank 30 and condition 1e12, on draw(21003380), by 1e-11 of the items' extent.
        asked = self.said.constrained
        if len(asked):
            features[asked], coordinates[asked] = (
                model.features_.transform(self.X[asked]),
                model.transform(self.X[asked]),
            )
        try:
            found = certify(
                features,
                coordinates,
                model.metric_,
                model.solution_.multipliers,
                self.rows,
                self.cost,
            )
        except AssertionError as error:
            failures.append(str(error))
            return None
        # Written such that NaN fails.
        failures += [f"the residual is {found.residual:.1e}"] if not found.residual <= ROUNDING * TOL else []
        failures += [f"the gap is {found.gap:.1e}"] if not found.gap <= ROUNDING * TOL else []
        return found

    def _confirm(self, answers: list[int], failures: list[str], notes: list[str]) -> None:
        """Check whether answers reported as contradictory are."""
        if not self.hard:
            failures.append("answers that need not hold were called a contradiction")
        if self.feasible:
            failures.append(f"answers {answers} were called a contradiction, and a hidden metric satisfies them all")
            return
        # Among all items: copies are closer than a share of the extent of all that are asked about.
        if set(answers) <= set(self.rows.answer[self.rows.beyond(self.phi)].tolist()):
            return
        left = room(self.phi, self.rows.about(answers))
        if left is None:
            notes.append(f"the contradiction of {len(answers)} answers was neither confirmed nor refuted")
        elif left > SINGULAR:
            failures.append(f"answers {answers} were called a contradiction, and a metric satisfies them ({left:.1e})")

    def _compare(self, found: Certificate, failures: list[str], notes: list[str]) -> None:
        """Check whether the other exact solvers find the same divergence.

        The objective is at least as convex as −logdet W. So a gap of ε bounds the relative error of W by √(2ε), and the
        error of the divergence by √(2ε) times the norm of W − I.
        """
        for solver in ("newton", "ascent"):
            other = self.model(solver=solver).fit(self.X, self.said)
            if other.solution_.status is not Status.OPTIMAL:
                notes.append(f"{solver}: {other.solution_.status.name}, residual {other.solution_.residual:.1e}")
                continue
            theirs = self._certify(other, failures)
            if theirs is None:
                continue
            loose = sum(np.sqrt(2.0 * (each.gap + 1e-12) * (1.0 + abs(each.dual))) for each in (found, theirs))
            if abs(found.divergence - theirs.divergence) > loose * (1.0 + max(found.moved, theirs.moved)):
                failures.append(f"auto finds a divergence of {found.divergence:.9g}, {solver} {theirs.divergence:.9g}")
