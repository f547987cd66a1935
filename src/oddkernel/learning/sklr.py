"""SKLR: the estimator that joins features and answers into a learned kernel."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from ..comparisons import Comparisons, Kind
from ..kernels import AdaptiveGaussian, Identity, Kernel, KernelSum, LowRank, resolve
from ..kernels.distances import squared_distances
from ..problem import choices
from ..problem.constraints import Constraints
from ..problem.dual import Dual, Point
from ..problem.losses import LOSSES
from ..problem.solution import Solution
from ..solvers import SOLVERS, Solver, check_device, contradiction
from ..support.checks import (
    EXTREME,
    as_labels,
    is_count,
    is_penalty,
    is_real,
    named,
    refuse_extreme_kernel,
    refuse_extremes,
    require,
)
from ..support.interruptible import interruptible, is_ctrl_c
from ..support.numbered import places
from ..support.progress import Progress
from .rounds import SOFTNESS, learn, problem_of, unit_of
from .scores import Scores
from .tuning import FEWEST, MANY, Recipe, Tuning, dear, leading, principal_axes, tune
from .uncertainty import Uncertainty

Array = NDArray[Any]

# Comparisons drawn for each class where class labels stand in for answers.
PER_CLASS = 30
# Items among whose pairs the default bounds of links are taken, and whose φ is computed at a time.
SAMPLE = 1000
# Items whose covariance stands for that of all.
ENOUGH = 5000
# Answers that say as much about a temperature as more of them would.
CALIBRATING = 10_000
# Below this share of k₀(x, x), φ says next to nothing about an item.
OUT_OF_REACH = 0.01
# What "auto" stands for where nothing is chosen by held-out answers: the paper's loss, and a ratio that suits it.
LOSS, PENALTY = "squared", 10.0
# From so many answers for each item on, they can say about an item what its features can't...
PLENTY = 3
# ...and the share of the identity in a kernel that leaves room for that.
ROOM = {PLENTY: 0.5, 15: 3.0}


class ContradictionError(ValueError):
    """Answers that can't all hold, though every one must (``penalty=inf``).

    Attributes
    ----------
    rows : list of int
        A smallest set of comparisons that contradict one another.
    """

    def __init__(self, message: str, rows: list[int]) -> None:
        super().__init__(message)
        self.rows = rows

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.args[0], self.rows)


class SKLR(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Kernel learned from odd-one-out answers: the closest one to the features' own that agrees with people.

    Minimises the log-determinant divergence D(K, K₀) to the initial kernel plus what violated answers cost; see
    *The mathematics* in the documentation. The optimum is exact and unique.

    Parameters
    ----------
    kernel : str or Kernel, default="auto"
        Where the metric starts: ``"adaptive"``, ``"gaussian"``, ``"linear"``, ``"identity"`` (no features),
        ``"diffusion"``, ``"precomputed"``, or an object of `oddkernel.kernels`. ``"auto"``: adaptive; where there are
        three answers and more for each item, held-out ones say whether to add a part of the identity, which lets
        answers say about an item what its features can't; where there are 15, also whether that is to be the larger
        part.
    rank : float, int or None, default=0.9
        How much of the initial kernel takes part: a share of its trace, a number of dimensions, or all.
    ratio : float or "auto", default="auto"
        How many times as far, in *squared* distance, the odd one must be as the other two are apart (the paper's γ²).
        ``"auto"``: 4 with the squared and hinge losses, 1 with the others, which have a scale of their own.
    margin : float, default=0.0
        How much farther in addition, in the kernel's own units.
    loss : {"auto", "squared", "hinge", "logistic", "softmax"}, default="auto"
        What a violated answer costs. ``"squared"`` is the paper's; ``"softmax"`` is the likelihood of a choice among
        three and takes noisy answers best. ``"auto"``: squared, or with ``penalty="auto"`` the better of the two; from
        5,000 answers on softmax.
    penalty : float, sequence of float or "auto", default="auto"
        λ: how much a violated answer weighs against leaving the initial kernel. With logistic and softmax it counts
        log-likelihoods. ``inf``: every answer must hold; 0: nothing is learned. Several: learning in rounds, each with
        its penalty and from halfway to what the last one learned. ``"auto"``: held-out answers choose it, one round or
        two, 0 among the candidates, so that the kernel never becomes worse than it was; below 50 answers, 10.
    softness : float or "auto", default="auto"
        With logistic and softmax: how unlike two squared distances must be for an answer to be no matter of taste, in
        mean initial squared distances. A large one makes the initial distances count for little and the learned kernel
        one of few dimensions. ``"auto"``: 0.3; with ``penalty="auto"`` and three answers for each item, held-out ones
        may choose 3.
    solver : {"auto", "newton", "ascent", "projection"} or Solver, default="auto"
        The first three find the optimum; ``"projection"`` is the paper's algorithm, which stops at some kernel that
        agrees.
    tol : float, default=1e-6
        Bound on the residual and on the duality gap at which an exact solver stops.
    max_iter : int or None, default=None
        Most passes or steps; None leaves it to the solver.
    n_comparisons : int or None, default=None
        How many comparisons to draw where ``y`` holds class labels; None draws 30 for each class.
    warm_start : bool, default=False
        Start from the last fit's multipliers, matched row by row: the same optimum, sooner.
    device : str or None, default=None
        Where to solve: None is NumPy on the CPU; ``"cuda"`` (or ``"cuda:1"``) is PyTorch on a GPU, ``"cupy"`` CuPy. The
        optimum is the same, and the fitted model in NumPy; with many answers it is found sooner.
    random_state : int, RandomState or None, default=None
        For comparisons drawn from labels, for landmarks among very many items and for the order of projections.
    verbose : int, default=0
        1: a word on stderr now and then if fitting takes longer than two seconds.

    Attributes
    ----------
    solution_ : Solution
        Status, residual, gap, divergence, multipliers, slack, history.
    kernel_ : Kernel
        The fitted initial kernel.
    features_ : LowRank
        The feature map φ of the initial kernel.
    metric_ : (r, r) array
        W: the learned kernel is φ(x)ᵀWφ(y).
    rank_ : int
        The number of learned coordinates. With ``penalty="auto"``, where the leading dimensions of the learned kernel
        predict held-out answers better than all of them, W keeps only these.
    loss_, ratio_, penalty_, softness_
        What was used, where ``"auto"`` stood; the penalty is the last round's.
    tuning_ : Tuning or None
        With ``penalty="auto"``: what held-out answers said: the trials, the gain over the initial kernel with its
        interval.
    temperature_, tie_, guess_ : float
        Turn distances into the probabilities of `odd_one_proba`; fitted to held-out answers with ``penalty="auto"``,
        otherwise to the answers themselves, which makes them too sure. ``guess_`` is the share of answers that seem to
        be given at random, 0 where no answers were held out.
    n_iter_ : int
        Passes or steps used.
    comparisons_ : Comparisons
        The answers learned from (drawn ones, where ``y`` held class labels).

    Examples
    --------
    >>> import numpy as np
    >>> from oddkernel import SKLR, Comparisons
    >>> X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0], [1.0, 2.0]])
    >>> said = Comparisons.odd_one_out([[0, 2, 1], [1, 3, 2]], [2, 2])  # 0 goes with 2 and 1 with 3
    >>> model = SKLR("linear", penalty=np.inf).fit(X, said)
    >>> model.solution_.status.name
    'OPTIMAL'
    >>> model.score(X, said)
    1.0
    """

    def __init__(
        self,
        kernel: str | Kernel = "auto",
        *,
        rank: float | int | None = 0.9,
        ratio: float | str = "auto",
        margin: float = 0.0,
        loss: str = "auto",
        penalty: float | Sequence[float] | str = "auto",
        softness: float | str = "auto",
        solver: str | Solver = "auto",
        tol: float = 1e-6,
        max_iter: int | None = None,
        n_comparisons: int | None = None,
        warm_start: bool = False,
        device: str | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.rank = rank
        self.ratio = ratio
        self.margin = margin
        self.loss = loss
        self.penalty = penalty
        self.softness = softness
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.n_comparisons = n_comparisons
        self.warm_start = warm_start
        self.device = device
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: ArrayLike, y: Comparisons | ArrayLike | None = None) -> Self:
        """Learn the kernel.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The items' features. With ``kernel="precomputed"``: k₀ between the items, (n, n).
        y : Comparisons, array-like of shape (n,) or None
            What people said about rows of X; or class labels with ``-1`` for unlabelled items, from which comparisons
            are drawn; or nothing, which leaves the initial kernel as it is.

        Returns
        -------
        self
        """
        before = dict(self.__dict__)
        try:
            return self._fit(X, y)
        except BaseException as error:
            # Nothing half-done, whatever went wrong, Ctrl-C included.
            self.__dict__.clear()
            self.__dict__.update(before)
            if isinstance(error, SystemError) and is_ctrl_c(error):
                raise KeyboardInterrupt from error
            raise

    def _fit(self, X: ArrayLike, y: Comparisons | ArrayLike | None) -> Self:
        solver = self._check_parameters()
        random = check_random_state(self.random_state)
        progress = Progress() if self.verbose else None
        items = self._check_items(X, reset=True)
        said = self._comparisons(y, len(items), random)

        if progress:
            progress("computing the initial kernel")
        constrained = said.constrained
        starts = self._starts(items, said, constrained, random)
        recipe, penalties, tuning = Recipe(next(iter(starts)), *self._costs(solver)[0]), self._penalties(), None
        kernel, features, phi = starts[recipe.kernel]
        bounds = self._default_bounds(said, features, items, random)

        def rows_of(answers: Comparisons, recipe: Recipe) -> Constraints:
            return Constraints.from_comparisons(
                answers, ratio=recipe.ratio, margin=recipe.margin, at_most=bounds[0], at_least=bounds[1]
            )

        if self.penalty == "auto" and np.count_nonzero(choices.decided(said)) >= FEWEST:
            spreads = {name: self._spread(start[1], items) for name, start in starts.items()}
            tuning = tune(
                {name: start[2] for name, start in starts.items()},
                spreads,
                said,
                [Recipe(name, *costs) for name in starts for costs in self._costs(solver, len(said))],
                lambda answers, tried: rows_of(answers, tried).relabelled(constrained),
                # The same answers lead to the same choice, whether or not anyone gave a seed.
                random=check_random_state(0) if self.random_state is None else random,
                softer=self.softness == "auto" and len(said) >= PLENTY * len(constrained),
                progress=progress,
                device=self.device,
            )
            recipe, penalties = tuning.recipe, tuning.penalties
            kernel, features, phi = starts[recipe.kernel]
        rows = rows_of(said if penalties[-1] else said[:0], recipe)
        local = rows.relabelled(constrained)
        problem = problem_of(phi, local, recipe.loss, penalties[0] or 1.0, recipe.softness)
        self._name_copies(problem, said)

        def report(n_iter: int, point: Point) -> None:
            if progress:
                progress(f"pass {n_iter}, residual {point.residual:.1e}, gap {point.gap:.1e}")

        learned = learn(
            phi,
            local,
            recipe.loss,
            [penalty or 1.0 for penalty in penalties],
            solver=solver,
            starts=self._warm_starts(rows),
            tol=self.tol,
            max_iter=self.max_iter,
            progress=report,
            device=self.device,
            first=problem,
            softness=recipe.softness,
        )
        solution = learned.solution
        self._name_contradictions(solution, learned.point.problem, said, features, items)
        if tuning is not None:
            solution = replace(solution, gain=tuning.gain, gain_interval=tuning.gain_interval)
            if tuning.penalty == 0 and tuning.start < 1:
                warnings.warn(f"{tuning} More answers would help.", UserWarning, stacklevel=3)
        if not solution.status.success:
            warnings.warn(f"{solution} Raise max_iter or tol.", ConvergenceWarning, stacklevel=3)

        self.comparisons_ = said
        self.kernel_ = kernel
        self.features_ = features
        self.solution_ = solution
        self.n_iter_ = solution.n_iter
        self.metric_, self._root = learned.metric, learned.root
        if tuning is not None and tuning.rank < learned.root.shape[1]:
            self._root = leading(learned.root, spreads[recipe.kernel])[:, : tuning.rank]
            self.metric_ = self._root @ self._root.T
        self._rows, self._asked, self._prior, self._multipliers = rows, phi, learned.prior, learned.multipliers
        self.loss_, self.ratio_, self.penalty_ = recipe.loss, recipe.ratio, float(penalties[-1])
        self.softness_ = recipe.softness
        self.tuning_ = tuning
        unit = unit_of(phi if tuning is None else phi @ learned.root)
        self.temperature_, self.tie_, self.guess_ = self._calibrated(tuning, phi @ self._root, said, unit)
        return self

    def _starts(
        self, items: Array, said: Comparisons, constrained: Array, random: np.random.RandomState
    ) -> dict[str, tuple[Kernel, LowRank, Array]]:
        """Initial kernels to choose from, each with its feature map and the features of the constrained items.

        Rows are written over the constrained items alone; the rest of Φ takes no part.
        """
        wanted: dict[str, tuple[Kernel, float | int | None]] = {}
        if self.kernel != "auto":
            given = resolve(self.kernel)
            wanted[self.kernel if isinstance(self.kernel, str) else type(given).__name__] = given, self.rank
        else:
            wanted["adaptive"] = AdaptiveGaussian(), self.rank
            for plenty, own in ROOM.items() if self.penalty == "auto" else ():
                if len(said) >= max(plenty * len(constrained), FEWEST) and not (own > 1.0 and dear(said)):
                    mixed = KernelSum([AdaptiveGaussian(), Identity()], [1.0, own])
                    wanted[f"adaptive + {own:g} identity"] = mixed, None
        starts = {}
        for name, (kernel, rank) in wanted.items():
            kernel = kernel.fit(items)
            features = LowRank.fit(kernel, items, rank=rank, constrained=constrained, random_state=random)
            phi = features.transform(items[constrained]) if len(constrained) else np.empty((0, features.rank))
            refuse_extreme_kernel(phi)
            starts[name] = kernel, features, phi
        return starts

    def _spread(self, features: LowRank, items: Array) -> Array:
        """The covariance of φ over the items, of very many over some that lie evenly among them."""
        some = items[:: -(-len(items) // ENOUGH)]
        starts = range(0, len(some), SAMPLE)
        phi = np.concatenate([features.transform(some[start : start + SAMPLE]) for start in starts])
        phi -= phi.mean(axis=0)
        return np.asarray(phi.T @ phi / len(phi))

    def _penalties(self) -> tuple[float, ...]:
        """One for each round."""
        if self.penalty == "auto":
            return (PENALTY,)
        rounds = self.penalty if isinstance(self.penalty, tuple | list) else [self.penalty]
        return tuple(map(float, rounds))

    def _costs(self, solver: Solver, n_answers: int = 0) -> list[tuple[str, float, float, float]]:
        """Loss, ratio, margin and softness; several where so many held-out answers may choose."""

        def with_ratio(loss: str) -> tuple[str, float, float, float]:
            fitting = 1.0 if LOSSES[loss].entropic else 4.0
            softness = SOFTNESS if self.softness == "auto" else float(self.softness)
            return loss, fitting if self.ratio == "auto" else float(self.ratio), self.margin, softness

        if self.loss != "auto":
            return [with_ratio(self.loss)]
        if not (n_answers and solver.exact):
            return [with_ratio(LOSS)]
        return [with_ratio("softmax")] if n_answers >= MANY else [with_ratio(LOSS), with_ratio("softmax")]

    def _calibrated(
        self, tuning: Tuning | None, coordinates: Array, said: Comparisons, unit: float
    ) -> tuple[float, float, float]:
        """Temperature, strength of ties and share of guesses: from held-out answers, or from all, or a first guess."""
        if tuning is not None:
            return unit * tuning.temperature, tuning.tie, tuning.guess
        answers = said[~said.links]
        answers = answers[:: 1 + len(answers) // CALIBRATING]
        known = choices.decided(answers)
        if not known.any():
            return unit, 0.0, 0.0
        opposite = choices.sides(coordinates, places(said.constrained, answers.shown))
        temperature = choices.fit_temperature(opposite[known], answers[known])
        return temperature, choices.fit_tie(opposite, answers, temperature), 0.0

    def _check_parameters(self) -> Solver:
        """Refuse parameters that mean nothing; return the solver."""
        up_to = f"and at most {EXTREME:g}"
        require(
            self.ratio == "auto" or (is_real(self.ratio) and 1 <= float(self.ratio) <= EXTREME),
            "ratio",
            self.ratio,
            f"a number of at least 1 {up_to}, or 'auto'",
        )
        require(
            is_real(self.margin) and 0 <= self.margin <= EXTREME,
            "margin",
            self.margin,
            f"a number of at least 0 {up_to}",
        )

        rounds = self.penalty if isinstance(self.penalty, tuple | list) and self.penalty else [self.penalty]
        require(
            all(map(is_penalty, rounds)) or self.penalty in ("auto", 0, np.inf),
            "penalty",
            self.penalty,
            f"a positive number of at least {1 / EXTREME:g} {up_to}, several of them for as many rounds, 0, inf or "
            "'auto'",
        )
        require(
            self.softness == "auto" or is_penalty(self.softness),
            "softness",
            self.softness,
            f"a positive number of at least {1 / EXTREME:g} {up_to}, or 'auto'",
        )
        require(is_real(self.tol) and 0 < self.tol < np.inf, "tol", self.tol, "a positive number")
        require(is_count(self.max_iter), "max_iter", self.max_iter, "a whole number of at least 1, or None")
        require(
            is_count(self.n_comparisons), "n_comparisons", self.n_comparisons, "a whole number of at least 1, or None"
        )
        require(
            isinstance(self.loss, str) and self.loss in ("auto", *LOSSES),
            "loss",
            self.loss,
            f"'auto' or one of {', '.join(map(repr, LOSSES))}",
        )
        if not isinstance(self.solver, str):
            require(hasattr(self.solver, "step"), "solver", self.solver, "a name or a Solver")
            check_device(self.solver, self.device)
            return self.solver
        require(self.solver in SOLVERS, "solver", self.solver, f"one of {', '.join(map(repr, SOLVERS))}, or a Solver")
        solver = SOLVERS[self.solver]()
        check_device(solver, self.device)
        require(
            solver.exact or self.loss in ("auto", "squared"),
            "solver",
            self.solver,
            "an exact solver with this loss: the paper's knows the squared loss only",
        )
        return solver

    def _comparisons(
        self, y: Comparisons | ArrayLike | None, n_items: int, random: np.random.RandomState
    ) -> Comparisons:
        if y is None:
            return Comparisons.empty()
        if isinstance(y, Comparisons):
            y.check_items(n_items)
            refuse_extremes("weight", y.weight, 1 / EXTREME)
            refuse_extremes("bound", y.bound, 0.0)
            return y
        labels = as_labels(y)
        if len(labels) != n_items:
            raise ValueError(f"y holds {len(labels)} class labels for {n_items} items; expected one label an item")
        n_classes = len(set(labels.tolist()) - {-1})
        if n_classes == 1:
            raise ValueError("y holds one class; expected at least two, from which an odd one out can be drawn")
        wanted = PER_CLASS * n_classes if self.n_comparisons is None else self.n_comparisons
        return Comparisons.from_labels(labels, wanted, random_state=random)

    def _default_bounds(
        self, said: Comparisons, features: LowRank, items: Array, random: np.random.RandomState
    ) -> tuple[float, float]:
        """Bounds for links that name none: the 5th and 95th percentile of initial squared distances."""
        if not np.isnan(said.bound[said.links]).any():
            return np.nan, np.nan
        phi = features.transform(items[random.permutation(len(items))[:SAMPLE]])
        initial = squared_distances(phi, phi)[np.triu_indices(len(phi), 1)]
        low, high = np.percentile(initial, [5, 95])
        return float(low), float(high)

    def _warm_starts(self, rows: Constraints) -> list[Array]:
        if not self.warm_start or not hasattr(self, "_rows"):
            return []
        return [rows.matched(self._rows, multipliers) for multipliers in self._multipliers]

    def _name_copies(self, problem: Dual, said: Comparisons) -> None:
        """An odd one that can't be told from one of the other two: no metric puts it farther away."""
        rows = problem.rows
        asks = (rows.near_factor > 0) | (rows.offset > 0)  # a link may ask for a distance of at least 0
        lost = ~rows.equality & (rows.far_factor > 0) & (problem.far_factor == 0) & asks
        if not lost.any():
            return
        answers = np.unique(rows.answer[lost]).tolist()
        sentence = (
            f"{named(answers)}: the item that should be far is a copy of the one it should be far from (their "
            "features are the same, or the same at this rank), so that no metric can tell them apart. Drop these rows, "
            "or give the items features that differ; where they do, set rank=None."
        )
        if self.penalty == np.inf:
            raise ContradictionError(sentence, answers)
        warnings.warn(sentence, UserWarning, stacklevel=4)

    def _name_contradictions(
        self, solution: Solution, problem: Dual, said: Comparisons, features: LowRank, items: Array
    ) -> None:
        if self.penalty != np.inf or solution.status.success:
            return
        answers = contradiction(problem)
        if answers is None:
            return
        alone = len(answers) == 1
        message = f"{named(answers)} can't {'' if alone else 'all '}hold. "
        if features.rank < features.full_rank and _holds_at_full_rank(problem, answers, features.kernel, items, said):
            message += f"{'It does' if alone else 'They do'} at the initial kernel's full rank: set rank=None "
            message += f"(now {features.rank} dimensions)."
        else:
            message += "No metric on these features gives what it asks" if alone else "They contradict one another"
            message += f": set a finite penalty=, or drop {'it' if alone else 'one of them'}."
        raise ContradictionError(message, answers.tolist())

    def transform(self, X: ArrayLike) -> Array:
        """Coordinates of items, known or new, in which plain Euclidean distance is the learned one.

        Parameters
        ----------
        X : array-like of shape (a, d)

        Returns
        -------
        array of shape (a, r)
        """
        return self._coordinates(X)

    def kernel_matrix(self, A: ArrayLike, B: ArrayLike | None = None, *, residual: bool = False) -> Array:
        """The learned kernel k(x, y) = φ(x)ᵀWφ(y) between the rows of A and of B (of A, if B is None).

        Parameters
        ----------
        A, B : array-like of shape (a, d) and (b, d)
        residual : bool, default=False
            Add k₀(x, y) − φ(x)ᵀφ(y), the part of the initial kernel that learning can't touch (the paper's
            out-of-sample formula). Under truncation this breaks answers that hold without it.

        Returns
        -------
        array of shape (a, b)
        """
        A = self._check_items(A)
        B = A if B is None else self._check_items(B)
        left = self._initial(A)
        right = left if A is B else self._initial(B)
        learned = (left @ self._root) @ (right @ self._root).T
        if residual:
            learned += self.kernel_(A, None if A is B else B) - left @ right.T
        return np.asarray(learned)

    def distance(self, A: ArrayLike, B: ArrayLike | None = None) -> Array:
        """The learned distance (not squared) between the rows of A and of B (of A, if B is None): (a, b)."""
        left = self._coordinates(A)
        right = left if B is None else self._coordinates(B)
        return np.sqrt(squared_distances(left, right))

    def distance_std(self, A: ArrayLike, B: ArrayLike | None = None) -> Array:
        """Standard deviations of `distance`, by Laplace's approximation: (a, b).

        What the initial kernel leaves open and the answers don't settle; see `learning.Uncertainty`. With more than
        3,000 rows at work this takes a linear solve for each pair.
        """
        left = self._initial(self._check_items(A))
        right = left if B is None else self._initial(self._check_items(B))
        apart = np.sqrt(squared_distances(left @ self._root, right @ self._root))
        pairs = (left[:, None, :] - right[None, :, :]).reshape(-1, 1, left.shape[1])
        squared_std = np.sqrt(self._covariance(pairs)[:, 0, 0]).reshape(apart.shape)
        return np.divide(squared_std, 2.0 * apart, out=np.zeros_like(apart), where=apart > 0)

    def odd_one(self, X: ArrayLike, shown: ArrayLike) -> Array:
        """Which of three items the model finds odd: the one left out of the closest pair.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Items, known or new.
        shown : array-like of shape (m, 3)
            Rows of X, three a question.

        Returns
        -------
        array of shape (m,)
            Positions 0, 1 or 2. Of equally close pairs the first one counts.
        """
        asked = Comparisons.odd_one_out(shown, np.full(len(np.asarray(shown)), -1))
        if not len(asked):
            return np.empty(0, dtype=np.intp)
        return np.asarray(np.argmin(self._opposite(X, asked), axis=1))

    def score(self, X: ArrayLike, y: Comparisons) -> float:
        """The share of answers that the learned distances agree with.

        Ratio and margin play no part; ties count by their share; *can't tell* and links are left out; weights count.
        """
        if not isinstance(y, Comparisons):
            raise TypeError(f"score needs Comparisons, not {type(y).__name__}: Comparisons.odd_one_out(shown, odd)")
        known = y[choices.decided(y)]
        if not len(known):
            raise ValueError("nothing to score: there are no answers about three items besides can't tell")
        return float(np.average(choices.agreement(self._opposite(X, known), known), weights=known.weight))

    def odd_one_proba(self, X: ArrayLike, shown: ArrayLike) -> Array:
        """How likely people are to call each of three items odd, and to say *can't tell*.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Items, known or new.
        shown : array-like of shape (m, 3)
            Rows of X, three a question.

        Returns
        -------
        array of shape (m, 4)
            Three positions and *can't tell*, which has probability 0 if nobody ever said so; rows sum to 1.
        """
        asked = Comparisons.odd_one_out(shown, np.full(len(np.asarray(shown)), -1))
        opposite = self._opposite(X, asked) if len(asked) else np.empty((0, 3))
        return choices.probabilities(opposite, self.temperature_, self.tie_, self.guess_)

    def odd_one_std(self, X: ArrayLike, shown: ArrayLike) -> Array:
        """Standard deviations of `odd_one_proba`, from those of the distances: (m, 4)."""
        asked = Comparisons.odd_one_out(shown, np.full(len(np.asarray(shown)), -1))
        slope = choices.probability_slopes(self.odd_one_proba(X, shown), self.temperature_, self.guess_)
        used = asked.constrained
        phi = self.features_.transform(self._check_items(X)[used])[places(used, asked.shown)]
        pairs = np.stack([phi[:, (p + 1) % 3] - phi[:, (p + 2) % 3] for p in range(3)], axis=1)
        spread = slope @ self._covariance(pairs) @ slope.transpose(0, 2, 1)
        return np.asarray(np.sqrt(np.maximum(np.diagonal(spread, axis1=1, axis2=2), 0.0)))

    def evaluate(self, X: ArrayLike, y: Comparisons) -> Scores:
        """Agreement, log-likelihood, Brier score and calibration on odd-one-out answers, *can't tell* included.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Items, known or new.
        y : Comparisons
            Answers that the model has not seen, or the scores flatter.
        """
        if not isinstance(y, Comparisons):
            raise TypeError(f"evaluate needs Comparisons, not {type(y).__name__}: Comparisons.odd_one_out(shown, odd)")
        asked = y[y.kind == Kind.ODD_ONE_OUT]
        if not choices.decided(asked).any():
            raise ValueError(
                "nothing to evaluate: no odd-one-out answers besides can't tell; score takes other answers, too"
            )
        agreement = self.score(X, asked)
        proba = choices.probabilities(self._opposite(X, asked), self.temperature_, self.tie_, self.guess_)
        return Scores.of(agreement, proba, np.where(asked.undecided, 3, asked.odd), asked.weight)

    def embed(self, X: ArrayLike, n_components: int | str = "auto") -> Array:
        """Coordinates of items in few dimensions, the leading ones of the learned kernel.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Items, known or new.
        n_components : int or "auto", default="auto"
            How many dimensions; ``"auto"``: as few as predict held-out answers within a standard error of the best
            (``tuning_.dimension``), which needs ``penalty="auto"``.

        Returns
        -------
        array of shape (n, n_components)
            Centred on the items that people were asked about, most important dimension first.
        """
        coordinates = self._coordinates(X)
        if n_components == "auto":
            if self.tuning_ is None:
                raise ValueError(
                    f'n_components="auto" needs answers held out in fit: SKLR(penalty="auto") and at least {FEWEST} '
                    "answers; or give a number of dimensions"
                )
            n_components = self.tuning_.dimension
        require(n_components is not None and is_count(n_components), "n_components", n_components, "a whole number")
        centre, axes = principal_axes(self._asked @ self._root if len(self._asked) else coordinates)
        return np.asarray((coordinates - centre) @ axes[:, : int(n_components)])

    def _covariance(self, differences: Array) -> Array:
        """Covariances between the learned squared distances of pairs, k groups of g: (k, g, r) to (k, g, g)."""
        if not hasattr(self, "_prior"):
            raise AttributeError(f"{type(self).__name__} knows no standard deviations; SKLR does")
        rows = self._rows.relabelled(self.comparisons_.constrained)
        point = problem_of(self._asked @ self._prior, rows, self.loss_, self.penalty_ or 1.0, self.softness_).at(
            self.solution_.multipliers
        )
        assert point is not None  # it was the optimum
        seen = self._prior
        if self.rank_ < len(self._root):  # of a difference, the part in the dimensions kept
            seen = np.linalg.solve(self._prior @ point.root, self.metric_).T @ np.linalg.inv(point.root)
        return Uncertainty(point, self.penalty_ if LOSSES[self.loss_].entropic else 1.0).covariance(differences @ seen)

    def _opposite(self, X: ArrayLike, asked: Comparisons) -> Array:
        """(m, 3): the squared learned distance of the pair opposite each position."""
        items = self._check_items(X)
        asked.check_items(len(items))
        used = asked.constrained
        z = self._initial(items[used], used) @ self._root
        return choices.sides(z, places(used, asked.shown))

    def _coordinates(self, X: ArrayLike) -> Array:
        """`transform`, whatever container ``set_output`` asks that to return."""
        return np.asarray(self._initial(self._check_items(X)) @ self._root)

    def _initial(self, items: Array, number: Array | None = None) -> Array:
        """φ of checked items; warns of those that φ hardly reaches, by ``number`` if they are only some rows of X."""
        phi = self.features_.transform(items)
        reach = self.features_.reach(items, phi)
        far = np.flatnonzero(np.zeros(0) if reach is None else reach < OUT_OF_REACH)
        if len(far):
            warnings.warn(
                f"{named(far if number is None else number[far])}: so far from everything seen in fit that the "
                "learned kernel says next to nothing about these items.",
                UserWarning,
                stacklevel=3,
            )
        return phi

    def _check_items(self, X: ArrayLike, *, reset: bool = False) -> Array:
        if not reset:
            check_is_fitted(self)
        checked: Array = validate_data(self, X, dtype=np.float64, ensure_all_finite=False, reset=reset)
        missing = np.argwhere(~np.isfinite(checked))
        if len(missing):
            row, column = missing[0]
            raise ValueError(
                f"X contains NaN or inf: row {row}, column {column} holds {checked[row, column]}; expected finite "
                "numbers: fill it in, or drop the item"
            )
        return checked

    @property
    def _n_features_out(self) -> int:
        return self.rank_

    @property
    def rank_(self) -> int:
        """The number of dimensions of `transform`: the initial kernel's, or fewer where held-out answers ask for it."""
        return int(self._root.shape[1])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed" or (
            isinstance(self.kernel, Kernel) and self.kernel.__sklearn_tags__().input_tags.pairwise
        )
        return tags


def _holds_at_full_rank(problem: Dual, answers: Array, kernel: Kernel, items: Array, said: Comparisons) -> bool:
    constrained = said.constrained
    matrix = kernel.columns(items[constrained], constrained)
    values, vectors = interruptible(lambda: np.linalg.eigh(matrix))
    positive = values > np.finfo(float).eps * len(values) * values[-1]
    whole = Dual(vectors[:, positive] * np.sqrt(values[positive]), problem.rows, problem.loss)
    return contradiction(whole.hardened(np.isin(problem.rows.answer, answers))) is None
