from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits

from oddkernel import SKLR, Comparisons, scale

# Dask reads Parquet in a way that the newest pandas advises against.
pytestmark = [pytest.mark.filterwarnings("ignore:The inplace keyword in DataFrame"), pytest.mark.slow]

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")

X, DIGITS = (part[:900] for part in load_digits(return_X_y=True))
COLUMNS = [f"pixel{j}" for j in range(64)]


@pytest.fixture(scope="module")
def model() -> SKLR:
    return SKLR(rank=60).fit(X[:500], Comparisons.from_labels(DIGITS[:500], 150, random_state=0))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with (
        distributed.LocalCluster(2, threads_per_worker=1, processes=True, dashboard_address=None) as local,
        distributed.Client(local) as client,
    ):
        yield client


def write_parts() -> pd.DataFrame:
    frame = pd.DataFrame(X, columns=COLUMNS)
    frame.insert(0, "item", [f"digit {i}" for i in range(len(X))])
    Path("parts").mkdir()
    for part, start in enumerate(range(0, len(frame), 300)):
        frame[start : start + 300].to_parquet(f"parts/{part}.parquet", index=False)
    return frame


def test_arrays_in_arrays_out(model: SKLR) -> None:
    array = da.from_array(X, chunks=(250, 20))
    Z = scale.transform(model, array)
    assert Z.shape == (len(X), model.rank_)
    assert np.allclose(Z.compute(), model.transform(X), rtol=0, atol=1e-12)
    assert scale.transform(model, array, dtype=np.float32).compute().dtype == np.float32
    groups, local = (scale.cluster(model, items, 10, random_state=0) for items in (array, X))
    assert np.array_equal(groups.labels.compute(), local.labels)
    assert np.array_equal(groups.centers[0], local.centers[0])
    assert scale.cluster(model, array, [4, 5], random_state=0).labels.shape == (len(X), 2)


def test_parquet_in_parquet_out(model: SKLR) -> None:
    frame = write_parts()
    items = dd.read_parquet("parts")
    assert scale.transform(model, items, "Z") == Path("Z")
    Z = dd.read_parquet("Z").compute()
    assert Z["item"].tolist() == frame["item"].tolist()
    assert np.allclose(Z.drop(columns="item"), model.transform(X), rtol=0, atol=1e-12)
    groups = scale.cluster(model, items, 10, random_state=0)
    assert np.array_equal(groups.labels.compute()["group_of_10"], scale.cluster(model, X, 10, random_state=0).labels)
    scale.cluster(model, da.from_array(X, chunks=(300, 64)), 10, "groups", random_state=0)
    assert dd.read_parquet("groups").columns.tolist() == ["group_of_10"]
    with pytest.raises(ValueError, match="Z: already there"):
        scale.transform(model, items, "Z")


AT_ONCE = 4


def _four_at_once(piece: Any, folder: str) -> Any:
    """Whichever are the first four go through; the others wait for a file called go."""
    for place in range(AT_ONCE):
        with suppress(FileExistsError):
            Path(folder, str(place)).touch(exist_ok=False)
            return piece
    while not Path(folder, "go").exists():
        time.sleep(0.02)
    return piece


def test_a_lost_worker_changes_nothing(model: SKLR, cluster: Any, folder: Path) -> None:
    array = da.from_array(X, chunks=(60, 64)).map_blocks(_four_at_once, str(folder), dtype=X.dtype, meta=X[:0])
    future = cluster.compute(scale.transform(model, array))
    first, _ = cluster.cluster.workers.values()
    while sum(map(len, cluster.has_what().values())) < AT_ONCE:  # some pieces are done
        time.sleep(0.05)
    assert not future.done()
    victim = first.pid
    os.kill(victim, signal.SIGKILL if sys.platform != "win32" else signal.SIGTERM)
    Path("go").touch()
    Z = future.result(timeout=120)
    assert victim not in {worker.pid for worker in cluster.cluster.workers.values()}
    assert np.array_equal(Z, scale.transform(model, array).compute(scheduler="synchronous"))
    assert np.allclose(Z, scale.transform(model, X), rtol=0, atol=1e-12)


def test_a_cluster_writes_and_groups(model: SKLR, cluster: Any) -> None:
    write_parts()
    scale.transform(model, dd.read_parquet("parts"), Path("Z").resolve())
    assert len(dd.read_parquet("Z")) == len(X)
    groups = scale.cluster(model, da.from_array(X, chunks=(300, 64)), 10, random_state=0)
    assert np.array_equal(groups.labels.compute(), scale.cluster(model, X, 10, random_state=0).labels)


def test_unusable_collections_are_refused(model: SKLR) -> None:
    with pytest.raises(ValueError, match=r"shape \(900, 63\); expected a row for each item and 64 columns"):
        scale.transform(model, da.from_array(X[:, :63]))
    frame = dd.from_pandas(pd.DataFrame(X[:, :63], columns=COLUMNS[:63]), npartitions=2)
    with pytest.raises(ValueError, match="63 features; expected 64"):
        scale.transform(model, frame)
    with pytest.raises(ValueError, match="no column called label"):
        scale.transform(model, frame, names="label")
    broken = X.copy()
    broken[834, 5] = np.nan
    with pytest.raises(ValueError, match="the Dask array: row 834, column 5 holds nan"):
        scale.transform(model, da.from_array(broken, chunks=(100, 64))).compute(scheduler="synchronous")
    pieces = dd.from_pandas(pd.DataFrame(broken, columns=COLUMNS), npartitions=4)
    with pytest.raises(ValueError, match=r"partition 3 of the data frame: row \d+, column 5 holds nan"):
        scale.transform(model, pieces).compute(scheduler="synchronous")
