"""SKLR: the estimator that joins features and answers into a learned kernel."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from ..comparisons import Comparisons
from ..kernels import AdaptiveGaussian, Identity, Kernel, KernelSum, Standardised, resolve
from ..problem import choices
from ..problem.constraints import Constraints
from ..problem.losses import LOSSES
from ..problem.point import Point
from ..solvers import Solver
from ..support.progress import Heartbeat
from ..support.types import Array, Indices
from .answers import as_comparisons, places_among, renumbered, with_bounds
from .calibration import Calibration
from .contradictions import refuse_contradictions, refuse_copies
from .fits import SKLRFit
from .folds import FEWEST, MANY, expensive
from .metric import UncertainMetric
from .parameters import check_parameters
from .paths import tune
from .recipe import SOFTNESS, Recipe, unit_of
from .resolutions import several_resolutions
from .rounds import learn
from .scaling import STANDARD, scalings
from .starts import Start
from .trials import leading, spread_of
from .tuning import Tuning

# What "auto" stands for where held-out answers choose nothing: the paper's loss, and a penalty that clustered as well
# as 1e5 in trials on Vehicle, Scene and USPS.
LOSS, PENALTY = "squared", 10.0
# Ratios that held-out answers choose from: those of the losses, and the paper's, which lies between them.
RATIOS = (1.0, 2.0, 4.0)
# The largest of them where answers come at several resolutions. Held-out answers can't tell: a ratio of 4 predicts them
# as well, by the coarser resolution, and loses the finer one (on digits, six classes in two groups).
FINER = 2.0
# Answers for each item from which a kernel with an identity part is tried, and a large softness. Chosen by hand.
PLENTY = 3
# The weight of the identity beside the adaptive kernel, by the number of answers for each item from which it is tried.
# Chosen by hand.
ROOM = {PLENTY: 0.5, 15: 3.0}


class SKLR(UncertainMetric):
    """Kernel learned from odd-one-out answers: the closest one to the features' own that agrees with people.

    Minimises the log-determinant divergence D(K, K₀) to the initial kernel plus what violated answers cost; see
    *The mathematics* in the documentation. The optimum is exact and unique.

    Parameters
    ----------
    kernel : str or Kernel, default="auto"
        Where the metric starts: ``"adaptive"``, ``"gaussian"``, ``"linear"``, ``"identity"`` (no features),
        ``"diffusion"``, ``"precomputed"``, or an object of `oddkernel.kernels`. ``"auto"``: adaptive.
        From three answers for each item on, held-out answers decide whether to add a part of the identity kernel,
        through which answers can say about an item what its features can't; from 15 on, also whether that part is the
        larger one.
    rank : float, int or None, default=0.9
        How much of the initial kernel takes part: a share of its trace, a number of dimensions, or all.
    ratio : float or "auto", default="auto"
        How many times as far, in *squared* distance, the odd one must be as the other two are apart (the paper's γ²).
        ``"auto"``: 4 with the squared and hinge losses, 1 with the others, which have a scale of their own; with
        ``penalty="auto"`` held-out answers may choose 1, 2 or 4, if there are up to 1,000 answers or 200 items; at most
        2 where some answers are by coarse groups and others by the classes within them.
    margin : float, default=0.0
        How much farther in addition, in the kernel's own units.
    loss : {"auto", "squared", "hinge", "logistic", "softmax"}, default="auto"
        What a violated answer costs. ``"squared"`` is the paper's; ``"softmax"`` is the likelihood of a choice among
        three and takes noisy answers best. ``"auto"``: squared, or with ``penalty="auto"`` the better of the two; from
        5,000 answers on softmax.
    penalty : float, sequence of float or "auto", default="auto"
        λ: how much a violated answer weighs against leaving the initial kernel. With logistic and softmax it counts
        log-likelihoods. ``inf``: every answer must hold; 0: nothing is learned. Several: learning in rounds, each with
        its penalty and from halfway to what the last one learned. ``"auto"``: held-out answers choose it, and one round
        or two. It is 0 unless tests at a level of about 5% show that there is something to learn; from answers given at
        random, something is still learned now and then. Below 50 answers: 10.
    softness : float or "auto", default="auto"
        With logistic and softmax: the scale of the loss, in mean initial squared distances. Where two squared distances
        differ by much less, either answer is about as likely. A large softness makes the initial distances count for
        little, and the learned kernel has few dimensions. ``"auto"``: 0.3; with ``penalty="auto"``, from three answers
        for each item on, held-out answers may choose 3.
    scaling : {"auto", "standard", None}, default="auto"
        ``"standard"``: the kernel sees every column of X with mean 0 and standard deviation 1, as among the items of
        `fit`. ``"auto"``: so if the spreads of columns differ more than tenfold; with ``penalty="auto"`` and 50 decided
        answers, held-out answers then choose. It leaves kernels given as objects alone. None: the columns as they are,
        with a warning if their spreads differ more than a thousandfold. No scaling concerns ``"precomputed"`` and
        ``"identity"``.
    solver : {"auto", "newton", "ascent", "projection"} or Solver, default="auto"
        The first three find the optimum; ``"projection"`` is the paper's algorithm, which stops at a kernel that agrees
        with the answers but is not the closest one.
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
    verbose : int, default=1
        1: report progress on stderr, every two seconds; a fit that takes less says nothing. 0: never.

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
    scaling_ : {"standard", None}
        Whether the features were standardised; `kernel_` is then a `kernels.Standardised`.
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
        The answers learned from, about rows of X (drawn ones, where ``y`` held class labels).
    items_ : tuple of str or None
        The names of the items in `fit`, in the order of X, where X or the answers gave names.
    fit_ : SKLRFit
        The record of the fit; all of the above are parts of it.

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
        scaling: str | None = "auto",
        solver: str | Solver = "auto",
        tol: float = 1e-6,
        max_iter: int | None = None,
        n_comparisons: int | None = None,
        warm_start: bool = False,
        device: str | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 1,
    ) -> None:
        self.kernel = kernel
        self.rank = rank
        self.ratio = ratio
        self.margin = margin
        self.loss = loss
        self.penalty = penalty
        self.softness = softness
        self.scaling = scaling
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
            The items' features. With ``kernel="precomputed"``: k₀ between the items, (n, n). Where X is a frame
            with names (in the index of a pandas frame, in a column of a polars or Arrow one) and the answers name their
            items, they are joined by name: rows may be in any order, and there may be more of them.
        y : Comparisons, array-like of shape (n,) or None
            What people said about rows of X; or class labels with ``-1`` for unlabelled items, from which comparisons
            are drawn; or nothing, which leaves the initial kernel as it is.

        Returns
        -------
        self
        """
        telling = Heartbeat("computing the initial kernel") if self.verbose else nullcontext()
        with self._unchanged_on_error(), telling as progress:
            self.fit_ = self._fitted(X, y, progress)
        return self

    def _fitted(self, X: ArrayLike, y: Comparisons | ArrayLike | None, progress: Heartbeat | None) -> SKLRFit:
        solver = check_parameters(self)
        random = check_random_state(self.random_state)
        checked = self._check_items(X, reset=True)
        joined = as_comparisons(y, X, len(checked), self.n_comparisons, random)
        checked, comparisons, given = self._in_learning_order(y, X, checked, joined)
        items, said = renumbered(comparisons)

        tuned = self.penalty == "auto" and int(np.count_nonzero(choices.decided(said))) >= FEWEST
        starts = self._starts(checked, said, items, tuned, random)
        first = next(iter(starts))
        said = self._with_default_bounds(said, starts[first], checked, random)
        covariances: dict[str, Array] = {}
        tuning, near = None, list[Array | None]()
        recipe, penalties = self._recipes(first, solver)[0], self._penalties()
        if tuned:
            covariances = {name: start.covariance(checked) for name, start in starts.items()}
            phis = {name: start.phi for name, start in starts.items()}
            tuning, near = self._tuned(phis, covariances, said, solver, random, progress)
            recipe, penalties = tuning.recipe, tuning.penalties
        features, phi = starts[recipe.kernel].features, starts[recipe.kernel].phi
        rows = recipe.rows(said)

        def report(n_iter: int, point: Point) -> None:
            if progress:
                progress(
                    f"learning from all answers: pass {n_iter}, residual {point.residual:.1e}, gap {point.gap:.1e}"
                )

        if progress:
            progress("learning from all answers")
        learned = learn(
            phi,
            rows,
            recipe,
            penalties,
            solver=solver,
            tol=self.tol,
            max_iter=self.max_iter,
            starts=self._warm_starts(rows, items) or near,
            check=lambda problem: refuse_copies(problem, hard=self.penalty == np.inf, stacklevel=5),
            progress=report,
            device=self.device,
        )
        if self.penalty == np.inf and not learned.solution.status.success:
            refuse_contradictions(learned.point.problem, learned.solution, features, checked, items)
        solution, metric, root = learned.solution, learned.metric, learned.root
        if tuning is None:
            calibration = Calibration.to_answers(phi @ root, said, unit_of(phi))
        else:
            unit = spread_of(root, covariances[recipe.kernel])
            calibration = Calibration(unit * tuning.temperature, tuning.tie, tuning.guess)
            solution = replace(solution, gain=tuning.gain, gain_interval=tuning.gain_interval)
            if tuning.rank < root.shape[1]:
                root = leading(root, covariances[recipe.kernel])[:, : tuning.rank]
                metric = root @ root.T
            if tuning.penalty == 0 and tuning.start < 1:
                warnings.warn(f"{tuning.sentence} More answers would help.", UserWarning, stacklevel=3)
        if not solution.status.success:
            warnings.warn(f"{solution} Raise max_iter or tol.", ConvergenceWarning, stacklevel=3)
        return SKLRFit(
            comparisons=comparisons,
            features=features,
            asked=phi,
            solution=solution,
            metric=metric,
            root=root,
            calibration=calibration,
            tuning=tuning,
            recipe=recipe,
            penalties=penalties,
            rows=learned.point.problem.rows,
            prior=learned.prior,
            multipliers=learned.multipliers,
            given=given,
        )

    def _tuned(
        self,
        phis: Mapping[str, Array],
        covariances: Mapping[str, Array],
        said: Comparisons,
        solver: Solver,
        random: np.random.RandomState,
        progress: Heartbeat | None,
    ) -> tuple[Tuning, list[Array | None]]:
        """What held-out answers choose, and multipliers to start from with it."""
        most = FINER if several_resolutions(said) else np.inf
        return tune(
            phis,
            covariances,
            said,
            [recipe for name in phis for recipe in self._recipes(name, solver, said, most)],
            # The same answers lead to the same choice, whether or not anyone gave a seed.
            random=check_random_state(0) if self.random_state is None else random,
            ratios=[each for each in RATIOS if each <= most] if self.ratio == "auto" else (),
            softer=self.softness == "auto" and len(said) >= PLENTY * len(said.constrained),
            progress=progress,
            device=self.device,
        )

    def _starts(
        self, X: Array, said: Comparisons, items: Indices, tuned: bool, random: np.random.RandomState
    ) -> dict[str, Start]:
        """Initial kernels to choose from, by name; ``tuned``: held-out answers can choose."""
        names = getattr(self, "feature_names_in_", None)
        scaled, *others = scalings(self.scaling, self.kernel, X, choosing=tuned, columns=names)
        plain = resolve("adaptive" if self.kernel == "auto" else self.kernel)
        wanted: dict[str, tuple[Kernel, float | int | None]] = {kernel_name(self.kernel): (plain, self.rank)}
        if self.kernel == "auto":
            for plenty, own in ROOM.items() if self.penalty == "auto" else ():
                if len(said) >= max(plenty * len(items), FEWEST) and not (own > 1.0 and expensive(said)):
                    mixed = KernelSum([AdaptiveGaussian(), Identity()], [1.0, own])
                    wanted[f"adaptive + {own:g} identity"] = mixed, None
        if scaled:
            as_it_is = wanted
            wanted = {f"standardised {name}": (Standardised(kernel), rank) for name, (kernel, rank) in wanted.items()}
            if others:
                wanted |= {kernel_name(self.kernel): as_it_is[kernel_name(self.kernel)]}
        return {name: Start.of(kernel, X, items, rank=rank, random=random) for name, (kernel, rank) in wanted.items()}

    def _penalties(self) -> tuple[float, ...]:
        """The penalty of each round, where held-out answers don't choose it."""
        if self.penalty == "auto":
            return (PENALTY,)
        rounds = self.penalty if isinstance(self.penalty, tuple | list) else [self.penalty]
        return tuple(map(float, rounds))

    def _recipes(
        self, kernel: str, solver: Solver, said: Comparisons | None = None, most: float = np.inf
    ) -> list[Recipe]:
        """The settings with this kernel and a ratio of at most so much; several losses where answers may choose."""
        if self.loss != "auto":
            losses = [self.loss]
        elif said is None or not solver.exact:
            losses = [LOSS]
        else:
            losses = ["softmax"] if len(said) >= MANY else [LOSS, "softmax"]
        softness = SOFTNESS if self.softness == "auto" else float(self.softness)
        ratios = {each: min(LOSSES[each].ratio, most) if self.ratio == "auto" else float(self.ratio) for each in losses}
        return [Recipe(kernel, loss, ratio, self.margin, softness) for loss, ratio in ratios.items()]

    def _with_default_bounds(
        self, said: Comparisons, start: Start, X: Array, random: np.random.RandomState
    ) -> Comparisons:
        """Links that name no bound get the 5th or the 95th percentile of initial squared distances."""
        if not np.isnan(said.bound[said.links]).any():
            return said
        at_most, at_least = np.percentile(start.squared_distances(X, random), [5, 95])
        return with_bounds(said, at_most, at_least)

    def _warm_starts(self, rows: Constraints, items: Indices) -> list[Array]:
        """The last fit's multipliers for these rows, whose items are rows ``items`` of X; none without a last fit."""
        if not self.warm_start or not hasattr(self, "fit_"):
            return []
        last = self.fit_.rows.renumbered(places_among(items, self.fit_.comparisons.constrained))
        return [rows.matched(last, multipliers) for multipliers in self.fit_.multipliers]

    @property
    def loss_(self) -> str:
        """The loss that was used."""
        return self.fit_.recipe.loss

    @property
    def ratio_(self) -> float:
        """The ratio that was used."""
        return self.fit_.recipe.ratio

    @property
    def penalty_(self) -> float:
        """The penalty that was used, in the last round."""
        return self.fit_.penalties[-1]

    @property
    def softness_(self) -> float:
        """The softness that was used."""
        return self.fit_.recipe.softness

    @property
    def scaling_(self) -> str | None:
        """The scaling of the features that was used."""
        return STANDARD if isinstance(self.fit_.features.kernel, Standardised) else None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed" or (
            isinstance(self.kernel, Kernel) and self.kernel.__sklearn_tags__().input_tags.pairwise
        )
        return tags


def kernel_name(kernel: str | Kernel) -> str:
    """What a recipe calls an initial kernel that was not chosen by held-out answers."""
    if isinstance(kernel, str):
        return "adaptive" if kernel == "auto" else kernel
    return type(kernel).__name__
