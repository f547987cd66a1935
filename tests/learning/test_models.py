from __future__ import annotations

import gzip
import io
import json
import pickle
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from oddkernel import SKLR, Comparisons, models
from oddkernel.kernels import AdaptiveGaussian, Columns, Gaussian, Identity, Kernel, Linear, Standardised

X = np.random.default_rng(0).normal(size=(24, 3))
NEW = np.random.default_rng(1).normal(size=(5, 3))
NAMES = [f"item {i}" for i in range(len(X))]
SAID = (
    Comparisons.odd_one_out(
        [[0, 1, 2], [3, 4, 5], [6, 7, 8]], [2, 0, -1], weight=[1, 2, 0.3], rater=["ann", "bo", None]
    )
    + Comparisons.must_link([[9, 10]])
    + Comparisons.cannot_link([[11, 12]], at_least=0.5)
)
KERNELS: list[str | Kernel] = [
    "adaptive",
    "gaussian",
    "linear",
    "identity",
    "diffusion",
    AdaptiveGaussian(neighbors=3),
    Gaussian(bandwidth=2),
    0.5 * Linear() + 0.25 * AdaptiveGaussian(neighbors=5) + 0.6 * Identity(),
    Columns([0, 2], Linear()) + Columns([1], Gaussian()),
    Standardised(AdaptiveGaussian()),
]

Parts = dict[str, bytes]


def round_trip(model: SKLR, folder: Path) -> SKLR:
    models.save(model, folder / "model.oddkernel")
    return models.load(folder / "model.oddkernel")


def assert_same(model: SKLR, loaded: SKLR, known: Any, new: Any) -> None:
    for items in (known, new):
        assert np.array_equal(model.transform(items), loaded.transform(items))
        assert np.array_equal(model.kernel_matrix(items, known), loaded.kernel_matrix(items, known))
        assert np.array_equal(model.distance(items, known), loaded.distance(items, known))
    assert np.array_equal(model.odd_one(known, SAID.shown[:3]), loaded.odd_one(known, SAID.shown[:3]))
    assert model.score(known, SAID) == loaded.score(known, SAID)
    assert str(model.solution_) == str(loaded.solution_)
    assert np.array_equal(model.odd_one_proba(known, SAID.shown[:3]), loaded.odd_one_proba(known, SAID.shown[:3]))
    assert model.comparisons_ == loaded.comparisons_


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.filterwarnings("ignore:rows? .* far from everything seen")
def test_a_loaded_model_computes_the_same_to_the_last_bit(kernel: str | Kernel, tmp_path: Path) -> None:
    model = SKLR(kernel).fit(X, SAID)
    loaded = round_trip(model, tmp_path)
    assert_same(model, loaded, X, NEW)
    assert str(loaded.get_params(deep=False)) == str(model.get_params(deep=False))
    for name, values in model.solution_.history.items():
        assert np.array_equal(values, loaded.solution_.history[name])


def test_a_precomputed_kernel_survives(tmp_path: Path) -> None:
    model = SKLR("precomputed").fit(X @ X.T, SAID)
    assert_same(model, round_trip(model, tmp_path), X @ X.T, NEW @ X.T)


@pytest.mark.parametrize(
    "parameters", [{"penalty": np.inf}, {"rank": 1}, {"rank": 1.0}, {"rank": None}, {"solver": "projection"}], ids=str
)
def test_parameters_keep_value_and_type(parameters: dict[str, Any], tmp_path: Path) -> None:
    said = Comparisons.odd_one_out([[0, 1, 2]], [2])
    loaded = round_trip(SKLR(**parameters).fit(X, said), tmp_path)
    for name, value in parameters.items():
        assert getattr(loaded, name) == value
        assert type(getattr(loaded, name)) is type(value)


def test_what_was_chosen_by_held_out_answers_survives(tmp_path: Path) -> None:
    said = Comparisons.from_labels((X[:, 0] > 0).astype(int), 80, random_state=0)
    model = SKLR("linear", penalty="auto", random_state=0).fit(X, said)
    loaded = round_trip(model, tmp_path)
    assert model.tuning_ is not None
    assert loaded.tuning_ == model.tuning_
    assert (loaded.loss_, loaded.ratio_, loaded.penalty_) == (model.loss_, model.ratio_, model.penalty_)


def test_a_file_of_an_earlier_version_opens(tmp_path: Path) -> None:
    # Written at 0.1.0 before trials said whether they were solved: 61 answers and a link, two rounds chosen by folds.
    path = tmp_path / "model.oddkernel"
    path.write_bytes(gzip.decompress(Path(__file__).with_name("files").joinpath("before.oddkernel.gz").read_bytes()))
    model = models.load(path)
    items = np.random.default_rng(0).normal(size=(14, 2))
    assert model.kernel_matrix(items[:2]) == pytest.approx(
        np.array([[0.6884378799994395, 1.604229394591397], [1.604229394591397, 3.7385704238469755]])
    )
    assert model.odd_one_proba(items, [[0, 1, 2]])[0] == pytest.approx(
        [0.17765275460156857, 0.38116806256250346, 0.40990142735476265, 0.03127775548116536]
    )
    assert model.odd_one_std(items, [[0, 1, 2]])[0] == pytest.approx(
        [0.03255408604775979, 0.01372754956967583, 0.03419436019432029, 0.0010517882485710241], rel=1e-6
    )
    assert model.distance_std(items[:1], items[1:3])[0] == pytest.approx([0.12540831142875114, 0.24697703409176144])
    assert model.tuning_ is not None
    assert model.tuning_.penalties == model.fit_.penalties == (1770.875489694293, 1770.875489694293)
    assert all(trial.solved for trial in model.tuning_.trials)
    models.save(model, tmp_path / "again")
    again = models.load(tmp_path / "again")
    assert np.array_equal(again.transform(items), model.transform(items))
    assert np.array_equal(again.fit_.rows.near, model.fit_.rows.near)


def test_names_survive(tmp_path: Path) -> None:
    said = Comparisons.odd_one_out([["item 3", "item 4", "item 5"]], [1], items=NAMES)
    model = SKLR().fit(X, said)
    model.feature_names_in_ = np.array(["width", "height", "depth"], dtype=object)
    loaded = round_trip(model, tmp_path)
    assert loaded.comparisons_.items == tuple(NAMES)
    assert loaded.feature_names_in_.tolist() == ["width", "height", "depth"]


def test_a_model_without_answers_survives(tmp_path: Path) -> None:
    model = SKLR().fit(X)
    assert np.array_equal(round_trip(model, tmp_path).transform(X), model.transform(X))


def test_learning_goes_on_from_a_loaded_model(tmp_path: Path) -> None:
    model = round_trip(SKLR(warm_start=True).fit(X, SAID), tmp_path)
    cold = SKLR().fit(X, SAID)
    assert model.fit(X, SAID).n_iter_ < cold.n_iter_
    np.testing.assert_allclose(model.metric_, cold.metric_, atol=1e-5)


def test_the_same_model_gives_the_same_file(tmp_path: Path) -> None:
    model = SKLR().fit(X, SAID)
    for name in ("one", "two"):
        models.save(model, tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_the_parts_of_a_sum_share_the_training_items(tmp_path: Path) -> None:
    models.save(SKLR(Linear() + Gaussian()).fit(X, SAID), tmp_path / "model")
    with zipfile.ZipFile(tmp_path / "model") as archive:
        assert sum("X_fit_" in name for name in archive.namelist()) == 1


class MyLinear(Linear):
    pass


class MySKLR(SKLR):
    pass


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (SKLR(MyLinear()), "MyLinear can't be saved"),
        (SKLR(Linear() + MyLinear()), "MyLinear can't be saved"),
        (SKLR(random_state=np.random.RandomState(0)), "random_state .* can't be saved"),
        (MySKLR(), "MySKLR can't be saved"),
    ],
    ids=["kernel", "part of a sum", "random state", "class"],
)
def test_what_cant_be_saved_is_refused(model: SKLR, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=sentence):
        models.save(model.fit(X, SAID), tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def saved_parts() -> Parts:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model")
        models.save(SKLR(Linear() + 2 * AdaptiveGaussian()).fit(X, SAID), path)
        with zipfile.ZipFile(path) as archive:
            return {name: archive.read(name) for name in archive.namelist()}


PARTS = saved_parts()


def described(change: Callable[[dict[str, Any]], object]) -> Parts:
    """The parts of a good model after a change to its description."""
    description = json.loads(PARTS["model.json"])
    change(description)
    return PARTS | {"model.json": json.dumps(description).encode()}


def with_array(name: str, array: Any) -> Parts:
    file = io.BytesIO()
    np.save(file, array, allow_pickle=True)
    return PARTS | {f"arrays/{name}.npy": file.getvalue()}


def npy(header: str, content: bytes = b"") -> bytes:
    text = header.encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + content


def write(path: Path, parts: Parts, **options: Any) -> Path:
    with zipfile.ZipFile(path, "w", **options) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return path


HOSTILE: dict[str, Parts] = {
    "no description": {name: data for name, data in PARTS.items() if name != "model.json"},
    "no answers": {name: data for name, data in PARTS.items() if name != "answers.jsonl"},
    "no array": {name: data for name, data in PARTS.items() if name != "arrays/root.npy"},
    "not JSON": PARTS | {"model.json": b"{"},
    "deep JSON": PARTS | {"model.json": b"[" * 100_000},
    "a list": PARTS | {"model.json": b"[]"},
    "another kind": described(lambda d: d.update(oddkernel="answers")),
    "newer": described(lambda d: d.update(version=2)),
    "another class": described(lambda d: d.update({"class": "os.system"})),
    "unknown parameter": described(lambda d: d["parameters"].update(callback="os.system")),
    "bad parameter": described(lambda d: d["parameters"].update(ratio=-1)),
    "unknown kernel": described(lambda d: d["kernel"].update(kernel="Evil")),
    "unfitted kernel": described(lambda d: d["kernel"].pop("fitted")),
    "no kernel": described(lambda d: d.update(kernel=3)),
    "kernel attribute": described(lambda d: d["kernel"]["fitted"].update(__class__="Evil")),
    "kernel method": described(lambda d: d["kernel"]["fitted"].update(fit=1)),
    "part of a sum": described(lambda d: d["kernel"]["fitted"].update(kernels_=[])),
    "zero scale": described(lambda d: d["kernel"]["fitted"]["kernels_"][0]["fitted"].update(scale_=0.0)),
    "feature names": described(lambda d: d.update(feature_names=["a"])),
    "feature count": described(lambda d: d.update(n_features_in=10**9)),
    "status": described(lambda d: d["solution"].update(status="__class__")),
    "solution number": described(lambda d: d["solution"].update(gap="much")),
    "loss": described(lambda d: d["chosen"].update(loss="os.system")),
    "temperature": described(lambda d: d["chosen"].update(temperature=True)),
    "tuning": described(lambda d: d.update(tuning={})),
    "share": described(lambda d: d["features"].update(share="all")),
    "metric shape": with_array("metric", np.eye(2)),
    "root not finite": with_array("root", np.full_like(np.load(io.BytesIO(PARTS["arrays/root.npy"])), np.nan)),
    "landmarks out of range": with_array("features.landmarks", np.arange(24) + 1),
    "landmarks negative": with_array("features.landmarks", np.arange(24) - 1),
    "landmarks not whole": with_array("features.landmarks", np.arange(24.0)),
    "pickled objects": with_array("metric", np.array([{}], dtype=object)),
    "training items": with_array("kernel.X_fit_", X[:, :2]),
    "rows": with_array("rows.near", np.zeros((1, 2), dtype=int)),
    "huge shape": PARTS
    | {"arrays/metric.npy": npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,)}")},
    "negative shape": PARTS
    | {"arrays/metric.npy": npy("{'descr': '<f8', 'fortran_order': False, 'shape': (-1, -1)}", b"8bytes..")},
    "bad header": PARTS | {"arrays/metric.npy": npy("__import__('os')")},
    "empty array": PARTS | {"arrays/metric.npy": b""},
    "bad answers": PARTS | {"answers.jsonl": b"{}\n{}\n"},
}


@pytest.mark.parametrize("parts", HOSTILE.values(), ids=HOSTILE)
def test_hostile_files_are_refused(parts: Parts, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"model: not a usable model: \S"):
        models.load(write(tmp_path / "model", parts))


def test_archives_that_grow_are_refused(tmp_path: Path) -> None:
    bomb = PARTS | {"arrays/zeros.npy": bytes(10**6)}
    with pytest.raises(ValueError, match="compressed"):
        models.load(write(tmp_path / "model", bomb, compression=zipfile.ZIP_DEFLATED))


def test_what_is_no_archive_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model"
    for data in (b"", b"PK", pickle.dumps(SKLR()), write(path, PARTS).read_bytes()[:-500]):
        path.write_bytes(data)
        with pytest.raises(ValueError, match="not a usable model: not a readable zip archive"):
            models.load(path)


@pytest.mark.parametrize("seed", range(30))
def test_damaged_files_are_refused_or_harmless(seed: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(seed)
    data = np.frombuffer(write(tmp_path / "model", PARTS).read_bytes(), dtype=np.uint8).copy()
    data[rng.integers(len(data), size=3)] = rng.integers(256, size=3)
    (tmp_path / "model").write_bytes(data.tobytes())
    try:
        loaded = models.load(tmp_path / "model")
    except ValueError:
        return
    assert np.isfinite(loaded.transform(X)).all()
