"""What choosing costs, how well it chooses, and whether what it claims is true.

    python -m oddkernel_benchmarks.choosing times
    python -m oddkernel_benchmarks.choosing quality --out before.json
    python -m oddkernel_benchmarks.choosing quality --out after.json --against before.json
    python -m oddkernel_benchmarks.choosing claims --draws 50
    python -m oddkernel_benchmarks.choosing mixed --draws 8

``times``: wall-clock seconds of `SKLR()` with everything that it chooses, and, with ``--one-fit``, of a single fit with
a penalty of 10; everything is compiled before. ``--device`` is that of `SKLR`. Vehicle, Scene, USPS and THINGS are read
from the folder that ``ODDKERNEL_DATA`` names, as the paper's experiments draw them. ``--sets millions --most 5000000``:
4.7 million answers about the items of THINGS by a hidden metric.

``quality``: for answers drawn from classes, a share of them wrong, the agreement and the log-likelihood of 2,000 fresh
answers by `SKLR()`, and the processor seconds of one fit and of choosing. With ``--against``, also the mean paired
differences to an earlier run on the same draws with their standard errors.

``claims``: for answers given at random and for answers by a hidden metric, how often something is said to be learned,
and how often the 95% interval of the gain covers the gain on 4,000 fresh answers.

``mixed``: answers by the classes of the paper's sets and as many by their two groups; the Adjusted Rand index of
clusters at the finer resolution by `SKLR()`, which chooses the ratio, and with each ratio given.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy.spatial.distance import pdist, squareform
from sklearn import datasets
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler
from sklearn.utils import Bunch

from oddkernel import SKLR, Comparisons, KernelKMeans
from oddkernel.datasets import load_scene, load_usps, load_vehicle, sample_per_class

from .data import judgements
from .measure import Clock

# Answers about each data set of ``times``. Those about the paper's sets are as many as in its Table 1.
TIMED = {
    "digits": (300, 1_000, 3_000),
    "vehicle": (80,),
    "scene": (160,),
    "usps": (200,),
    "random": (400, 800, 1_600, 2_600, 3_000),
    "things": (3_000, 145_177),
    "millions": (4_700_000,),
}
# Items of the paper's sets in each class; None: all.
PER_CLASS = {"vehicle": None, "scene": 100, "usps": 100}
# Items of ``random``, and how sharply a hidden metric answers.
RANDOM_ITEMS, SHARPNESS = 20, 1.0
# Answers to learn from, and how many draws for each share of wrong ones.
SETS = {"wine": (150, 6), "iris": (150, 6), "blobs": (200, 6), "breast_cancer": (200, 4), "digits": (300, 2)}
NOISE = (0.0, 0.2, 0.4)
FRESH = 2000
MEASURES = ("agreement", "log_likelihood", "seconds")
# Items, answers and sharpness of each setting of ``claims``. At a sharpness of 0 the answers are random.
SETTINGS = (
    (20, 60, 0.0),
    (20, 100, 0.0),
    (20, 300, 0.0),
    (60, 200, 0.0),
    (20, 100, 0.3),
    (60, 100, 1.0),
    (60, 300, 1.0),
    (60, 300, 3.0),
)
TRUTH = 4000
# Dimensions of the hidden metric of ``millions``: common ones, and ones that the features don't know; its mean squared
# distance.
COMMON, SPECIFIC, MEAN = 40, 20, 4.0
# Answers of ``mixed`` at each resolution, and the ratios.
MIXED, RATIOS = 300, (1.0, 2.0, 4.0)


def timed(name: str, n: int) -> tuple[np.ndarray, Comparisons]:
    """Features, and answers about them."""
    if name == "random":
        X, said, _ = people(RANDOM_ITEMS, n, SHARPNESS, [0, n])
        return X, said
    if name == "things":
        X, shown, _ = judgements(n)
        return X, Comparisons.odd_one_out(shown, np.full(len(shown), 2))
    if name == "millions":
        return millions(n)
    if name == "digits":
        X, y = datasets.load_digits(return_X_y=True)
        return X, Comparisons.from_labels(y, n, random_state=5)
    X, y, _ = sampled(name, 0)
    return X, Comparisons.from_labels(y, n, random_state=np.random.RandomState([0, 1, 0]))


def millions(n: int) -> tuple[np.ndarray, Comparisons]:
    """THINGS' features, and answers argmin(δ + Gumbel noise) by a hidden metric δ."""
    X, _, _ = judgements(1)
    rng = np.random.default_rng(0)
    items = len(X)
    common = StandardScaler().fit_transform(X) @ rng.normal(size=(X.shape[1], COMMON)) / X.shape[1] ** 0.5
    hidden = np.c_[common, 0.5 * common.std() * rng.normal(size=(items, SPECIFIC))]
    apart = squareform(pdist(hidden, "sqeuclidean"))
    apart *= MEAN * items * (items - 1) / apart.sum()
    shown = rng.integers(items, size=(n + n // 100, 3))
    shown = shown[np.diff(np.sort(shown, axis=1), axis=1).all(axis=1)][:n]
    sides = np.stack([apart[shown[:, p - 2], shown[:, p - 1]] for p in range(3)], axis=1)
    return X, Comparisons.odd_one_out(shown, (sides + rng.gumbel(size=sides.shape)).argmin(axis=1))


def sampled(name: str, draw: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features, classes and groups of classes of one of the paper's sets."""
    load: dict[str, Callable[[], Bunch]] = {"vehicle": load_vehicle, "scene": load_scene, "usps": load_usps}
    found = load[name]()
    X, y = np.asarray(found.data, dtype=float), np.asarray(found.target)
    X = StandardScaler().fit_transform(X) if name == "vehicle" else X / np.abs(X).max()
    size = PER_CLASS[name]
    rows = np.arange(len(y)) if size is None else sample_per_class(y, size, np.random.RandomState([draw, 0]))
    return X[rows], y[rows], np.asarray(found.binary)[rows]


def times(names: list[str], most: int, repeats: int, device: str | None, *, one_fit: bool) -> None:
    """Time choosing, and one fit, on every data set with at most this many answers."""

    def clocked(model: SKLR, X: np.ndarray, said: Comparisons) -> Clock:
        clock = Clock()
        clock.time(lambda: model.fit(X, said), repeats)
        return clock

    chooser = SKLR(random_state=0, device=device, verbose=0)
    alone = SKLR("adaptive", penalty=10.0, device=device, verbose=0)
    for model in (chooser, alone):
        for name, n in (("random", 100), ("random", 6_000), ("digits", 100)):
            model.fit(*timed(name, n))
    for name, n in [(each, n) for each in names for n in TIMED[each] if n <= most]:
        X, said = timed(name, n)
        clock = clocked(chooser, X, said)
        told = f"{name}, {n} answers: {clock.seconds:.2f} s, of processors {clock.cpu_seconds:.2f} s"
        told += f"; one fit {clocked(alone, X, said).seconds:.2f} s" if one_fit else ""
        found = chooser.tuning_
        assert found is not None
        chosen = next(trial for trial in found.trials if trial.penalties == found.penalties)
        print(f"{told}; {len(found.trials)} trials, chosen {', '.join(chosen.cells)}", flush=True)


def data(name: str, draw: int) -> tuple[np.ndarray, np.ndarray]:
    """Features in comparable units, and classes."""
    if name == "blobs":
        rng = np.random.default_rng(draw)
        y = np.arange(120) % 4
        return np.c_[rng.normal(size=(4, 3))[y] + 0.6 * rng.normal(size=(120, 3)), rng.normal(size=(120, 5))], y
    loaded = getattr(datasets, f"load_{name}")()
    return loaded.data if name == "digits" else StandardScaler().fit_transform(loaded.data), loaded.target


def measure(name: str, noise: float, draw: int, seed: int) -> dict[str, float]:
    """One draw of answers."""
    draw += 1000 * seed
    X, y = data(name, draw)
    said = Comparisons.from_labels(y, SETS[name][0], noise=noise, random_state=100 + draw)
    fresh = Comparisons.from_labels(y, FRESH, noise=noise, random_state=900 + draw)
    start = time.process_time()
    SKLR("adaptive", penalty=10.0, random_state=0).fit(X, said)
    fitted = time.process_time()
    model = SKLR(random_state=0).fit(X, said)
    chosen = time.process_time()
    scores = model.evaluate(X, fresh)
    return {
        "agreement": scores.agreement,
        "log_likelihood": scores.log_likelihood,
        "seconds": chosen - fitted,
        "one_fit": fitted - start,
    }


def quality(names: list[str], seed: int, out: Path | None, against: Path | None) -> None:
    """Measure every data set at every share of wrong answers."""
    earlier = json.loads(against.read_text()) if against else {}
    found: dict[str, dict[str, float]] = {}
    for name in names:
        for noise in NOISE:
            keys = [f"{name} {noise} {seed}.{draw}" for draw in range(SETS[name][1])]
            for draw, key in enumerate(keys):
                found[key] = measure(name, noise, draw, seed)
            print(f"{name}, noise {noise}: {_means(found, keys)}", flush=True)
            if out:
                out.write_text(json.dumps(found))
    both = [key for key in found if key in earlier]
    for noise in NOISE if both else ():
        for measured in MEASURES:
            apart = np.array([found[k][measured] - earlier[k][measured] for k in both if f" {noise} " in k])
            error = apart.std(ddof=1) / len(apart) ** 0.5
            print(f"noise {noise}, {measured}: {apart.mean():+.4f} ± {error:.4f} over {len(apart)} draws")


def people(n_items: int, n: int, sharpness: float, seed: list[int]) -> tuple[np.ndarray, Comparisons, Comparisons]:
    """Features, of which two out of five matter; answers to learn from; fresh ones."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_items, 5))
    shown = rng.permuted(np.tile(np.arange(n_items), (n + TRUTH, 1)), axis=1)[:, :3]
    sides = [np.square(X[shown[:, p - 1], :2] - X[shown[:, p - 2], :2]).sum(axis=1) for p in range(3)]
    odd = (sharpness * np.stack(sides, axis=1) + rng.gumbel(size=(n + TRUTH, 3))).argmin(axis=1)
    said = Comparisons.odd_one_out(shown, odd)
    return X, said[:n], said[n:]


def claims(draws: int, seed: int) -> None:
    """Count what is claimed in every setting, and what of it is true."""
    for n_items, n, sharpness in SETTINGS:
        learned, covered, covered_learned, gains = 0, 0, 0, []
        for draw in range(draws):
            X, said, fresh = people(n_items, n, sharpness, [seed, n_items, n, int(10 * sharpness), draw])
            model = SKLR(random_state=0).fit(X, said)
            assert model.tuning_ is not None
            before = SKLR("adaptive", penalty=0.0).fit(X, said)
            gain = model.score(X, fresh) - before.score(X, fresh)
            low, high = model.tuning_.gain_interval
            covers = low <= (gain if sharpness else 0.0) <= high
            learned, covered = learned + (model.penalty_ > 0), covered + covers
            covered_learned += covers and model.penalty_ > 0
            gains.append((model.tuning_.gain, gain))
        claimed, true = np.mean(gains, axis=0)
        print(
            f"{n_items} items, {n} answers, sharpness {sharpness:g}: learned in {learned} of {draws} draws; "
            f"the interval covers the gain in {covered} of {draws}, and in {covered_learned} of {learned} where "
            f"something was learned; mean gain claimed {claimed:+.3f}, on fresh answers {true:+.3f}",
            flush=True,
        )


def mixed(names: list[str], draws: int) -> None:
    """Cluster at the finer resolution, from as many answers by groups as by classes."""
    for name in names:
        found: dict[float | str, list[float]] = {ratio: [] for ratio in ("auto", *RATIOS)}
        for draw in range(draws):
            X, *resolutions = sampled(name, draw)
            drawn = [
                Comparisons.from_labels(classes, MIXED, random_state=np.random.RandomState([draw, 1, coarse]))
                for coarse, classes in enumerate(resolutions)
            ]
            classes = resolutions[0]
            for ratio, indices in found.items():
                model = SKLR(ratio=ratio, random_state=0, verbose=0).fit(X, drawn[0] + drawn[1])
                clusters = KernelKMeans(n_clusters=len(np.unique(classes)), random_state=draw)
                indices.append(adjusted_rand_score(classes, clusters.fit_predict(model.kernel_matrix(X))))
        chosen = np.array(found.pop("auto"))
        best = max(found, key=lambda ratio: float(np.mean(found[ratio])))
        apart = chosen - found[best]
        told = ", ".join(f"{ratio:g}: {np.mean(indices):.3f}" for ratio, indices in found.items())
        print(
            f"{name}: chosen {chosen.mean():.3f}; by ratio {told}; chosen minus {best:g}: {apart.mean():+.3f} ± "
            f"{apart.std(ddof=1) / draws**0.5:.3f} over {draws} draws",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    commands = parser.add_subparsers(dest="command", required=True)
    timing = commands.add_parser("times")
    timing.add_argument("--sets", nargs="+", choices=TIMED, default=list(TIMED))
    timing.add_argument("--most", type=int, default=200_000, help="answers")
    timing.add_argument("--device", help="where to solve, such as cuda:0")
    timing.add_argument("--repeats", type=int, default=1)
    timing.add_argument("--one-fit", action="store_true")
    measuring = commands.add_parser("quality")
    measuring.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    measuring.add_argument("--seed", type=int, default=0)
    measuring.add_argument("--out", type=Path)
    measuring.add_argument("--against", type=Path)
    claiming = commands.add_parser("claims")
    claiming.add_argument("--draws", type=int, default=50)
    claiming.add_argument("--seed", type=int, default=0)
    mixing = commands.add_parser("mixed")
    mixing.add_argument("--sets", nargs="+", choices=PER_CLASS, default=["vehicle", "scene", "usps"])
    mixing.add_argument("--draws", type=int, default=8)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    if arguments.command == "times":
        times(arguments.sets, arguments.most, arguments.repeats, arguments.device, one_fit=arguments.one_fit)
    elif arguments.command == "quality":
        quality(arguments.sets, arguments.seed, arguments.out, arguments.against)
    elif arguments.command == "mixed":
        mixed(arguments.sets, arguments.draws)
    else:
        claims(arguments.draws, arguments.seed)


def _means(found: dict[str, dict[str, float]], keys: list[str]) -> str:
    return ", ".join(f"{m} {np.mean([found[key][m] for key in keys]):.3f}" for m in (*MEASURES, "one_fit"))


if __name__ == "__main__":
    main()
