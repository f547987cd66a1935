"""Loaders: where they look, what they fetch, what they refuse."""

from __future__ import annotations

import hashlib
import io
import os
import threading
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from oddkernel import datasets
from oddkernel.datasets import SOURCES, load_cars60, load_scene, load_things, load_usps, load_vehicle, sample_per_class

LOADERS: dict[str, Callable[..., Any]] = {
    "vehicle": load_vehicle,
    "usps": load_usps,
    "scene": load_scene,
    "things": load_things,
    "cars60": load_cars60,
}
VEHICLE = b"4 1:-0.5 18:1\n1 1:0.25 2:-1\n2 3:1\n3 4:1\n"


@pytest.fixture
def stated(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, bytes], None]:
    """Make a loader expect this content."""

    def state(name: str, content: bytes) -> None:
        source = replace(SOURCES[name], sha256=hashlib.sha256(content).hexdigest())
        monkeypatch.setitem(datasets.SOURCES, name, source)

    return state


@pytest.fixture
def published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that is on the web, from which Vehicle and the cars come."""

    class Silent(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    folder = tmp_path / "published"
    folder.mkdir()
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Silent, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)  # seconds until it may end
        thread.start()
        url = f"http://127.0.0.1:{server.server_address[1]}/vehicle.scale"
        monkeypatch.setitem(datasets.SOURCES, "vehicle", replace(SOURCES["vehicle"], url=url))
        monkeypatch.setattr(datasets, "CARS60_ARCHIVE", url.replace("vehicle.scale", "60_cars_data.zip"))
        yield folder
        server.shutdown()
        thread.join()


def test_downloads_once_and_keeps_the_file(published: Path, tmp_path: Path, stated: Callable[..., None]) -> None:
    stated("vehicle", VEHICLE)
    (published / "vehicle.scale").write_bytes(VEHICLE)
    home = tmp_path / "new" / "home"
    vehicle = load_vehicle(home)
    assert vehicle.data.shape == (4, 18)
    assert vehicle.data[0, [0, 17]].tolist() == [-0.5, 1.0]
    assert vehicle.target.tolist() == [3, 0, 1, 2]
    assert vehicle.binary.tolist() == [1, 0, 0, 0]
    assert [file.name for file in home.iterdir()] == ["vehicle.scale"]
    (published / "vehicle.scale").unlink()
    assert np.array_equal(load_vehicle(home).data, vehicle.data)


def test_a_damaged_download_leaves_nothing(published: Path, tmp_path: Path, stated: Callable[..., None]) -> None:
    stated("vehicle", VEHICLE)
    (published / "vehicle.scale").write_bytes(VEHICLE[:-9])
    with pytest.raises(ValueError, match="damaged or another version"):
        load_vehicle(tmp_path / "home")
    assert not (tmp_path / "home").exists()


@pytest.mark.usefixtures("published")
def test_a_source_that_is_gone_is_named(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"vehicle.scale could not be downloaded \(File not found\); try again"):
        load_vehicle(tmp_path)


def test_a_source_that_does_not_answer_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    closed = replace(SOURCES["vehicle"], url="http://127.0.0.1:9/vehicle.scale")
    monkeypatch.setitem(datasets.SOURCES, "vehicle", closed)
    with pytest.raises(OSError, match="could not be downloaded"):
        load_vehicle(tmp_path)


@pytest.mark.parametrize("name", ["vehicle", "usps"])
def test_without_a_download_the_error_says_where_the_file_belongs(name: str, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as error:
        LOADERS[name](tmp_path, download_if_missing=False)
    assert str(tmp_path / SOURCES[name].file) in str(error.value)
    assert SOURCES[name].url in str(error.value)


@pytest.mark.parametrize("name", ["scene", "things", "cars60"])
def test_what_has_no_address_is_described(name: str, tmp_path: Path) -> None:
    given = {"download_if_missing": False} if name == "cars60" else {}
    with pytest.raises(FileNotFoundError) as error:
        LOADERS[name](tmp_path, **given)
    assert str(tmp_path / SOURCES[name].file) in str(error.value)
    assert SOURCES[name].advice in str(error.value)


@pytest.mark.parametrize("name", sorted(LOADERS))
def test_a_damaged_file_is_one_sentence(name: str, tmp_path: Path) -> None:
    (tmp_path / SOURCES[name].file).write_bytes(b"not what it was")
    (tmp_path / "cars60_images").mkdir()
    for number in range(1, 61):
        (tmp_path / "cars60_images" / f"{number}.jpg").write_bytes(b"")
    with pytest.raises(ValueError, match="is damaged or another version") as error:
        LOADERS[name](tmp_path)
    assert "\n" not in str(error.value)


def test_where_loaders_look(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ODDKERNEL_DATA", raising=False)
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "sklearn"))

    def place(**given: Path) -> str:
        with pytest.raises(FileNotFoundError) as error:
            load_things(**given)
        return str(error.value)

    assert str(tmp_path / "sklearn" / "oddkernel" / "things.npz") in place()
    monkeypatch.setenv("ODDKERNEL_DATA", str(tmp_path / "mine"))
    assert str(tmp_path / "mine" / "things.npz") in place()
    assert str(tmp_path / "here" / "things.npz") in place(data_home=tmp_path / "here")
    assert list(tmp_path.iterdir()) == []  # looking creates nothing


def archived(**arrays: Any) -> bytes:
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def test_a_scene_file_of_ones_own(tmp_path: Path) -> None:
    file = tmp_path / "scene_gist.npz"
    file.write_bytes(archived(X=np.eye(3), y=["street", "coast", "street"], name=["a", "b", "c"]))
    scene = load_scene(tmp_path, verify=False)
    assert scene.target_names == ["coast", "street"]
    assert scene.target.tolist() == [1, 0, 1]
    assert [scene.binary_names[group] for group in scene.binary] == ["man-made", "natural", "man-made"]
    file.write_bytes(archived(X=np.eye(3), y=["street"] * 3, name=["a"]))
    with pytest.raises(ValueError, match="expected a row for each"):
        load_scene(tmp_path, verify=False)
    file.write_bytes(archived(X=np.eye(3)))
    with pytest.raises(ValueError, match="expected a NumPy archive with X"):
        load_scene(tmp_path, verify=False)


def test_a_things_file_of_ones_own(tmp_path: Path) -> None:
    content = archived(features=np.eye(3), judgements=[[2, 0, 1]], name=["ant", "bee", "oak"])
    (tmp_path / "things.npz").write_bytes(content)
    said = load_things(tmp_path, verify=False).comparisons
    assert said.to_dict()["answer"] == ["c"]
    assert said.to_dict()["c"] == ["bee"]


SURVEY = b"survey_round,chosen_center,triplet_object_1,triplet_object_2,triplet_object_3\n1,2,1,2,60\n"


def test_cars_need_every_image(tmp_path: Path, stated: Callable[..., None]) -> None:
    load = partial(load_cars60, tmp_path, download_if_missing=False)
    (tmp_path / "cars60_survey.csv").write_bytes(SURVEY)
    stated("cars60", SURVEY)
    images = tmp_path / "cars60_images"
    images.mkdir()
    for number in range(1, 60):
        (images / f"{number}.jpg").write_bytes(bytes([number]))
    with pytest.raises(FileNotFoundError, match=r"60\.jpg isn't there"):
        load()
    (images / "60.jpg").write_bytes(b"other")
    with pytest.raises(ValueError, match="cars60_images is damaged"):
        load()
    (images / "60.jpg").write_bytes(bytes([60]))
    stated("cars60_images", bytes(range(1, 61)))
    cars = load()
    assert cars.comparisons.to_dict()["a"] == ["2.jpg"]
    assert cars.images[0] == images / "1.jpg"


def archive_of_cars(file: Path, survey: bytes = SURVEY, n: int = 60) -> None:
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("60_cars_data/survey_data.csv", survey)
        archive.writestr("../../outside.txt", b"not asked for")
        for number in range(1, n + 1):
            archive.writestr(f"60_cars_data/images/{number}.jpg", bytes([number]))


def test_cars_are_downloaded_once(published: Path, tmp_path: Path, stated: Callable[..., None]) -> None:
    stated("cars60", SURVEY)
    stated("cars60_images", bytes(range(1, 61)))
    archive_of_cars(published / "60_cars_data.zip")
    home = tmp_path / "new" / "home"
    assert load_cars60(home).comparisons.to_dict()["a"] == ["2.jpg"]
    (published / "60_cars_data.zip").unlink()
    assert len(load_cars60(home).images) == 60
    assert sorted(file.name for file in home.iterdir()) == ["cars60_images", "cars60_survey.csv"]
    assert not list(tmp_path.rglob("outside.txt"))


@pytest.mark.parametrize("wrong", ["no archive", "a picture too few", "other answers", "too large"])
def test_another_archive_of_cars_leaves_nothing(
    wrong: str, published: Path, tmp_path: Path, stated: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    stated("cars60", SURVEY)
    stated("cars60_images", bytes(range(1, 61)))
    file = published / "60_cars_data.zip"
    archive_of_cars(
        file, SURVEY + b"1,2,1,2,3\n" if wrong == "other answers" else SURVEY, 60 - (wrong == "a picture too few")
    )
    if wrong == "no archive":
        file.write_bytes(b"<html>moved</html>")
    elif wrong == "too large":
        monkeypatch.setattr(datasets, "LARGEST_MEMBER", 10)
    with pytest.raises(ValueError, match=r"not the expected archive|damaged or another version"):
        load_cars60(tmp_path / "home")
    assert not (tmp_path / "home").exists()


def test_sample_per_class() -> None:
    y = np.array(list("aabbbbccc"))
    drawn = sample_per_class(y, 2, random_state=0)
    assert sorted(y[drawn].tolist()) == list("aabbcc")
    assert (np.diff(drawn) > 0).all()
    assert np.array_equal(drawn, sample_per_class(y, 2, random_state=0))
    assert {tuple(sample_per_class(y, 2, random_state=seed)) for seed in range(20)} > {tuple(drawn)}
    with pytest.raises(ValueError, match="class a has 2 items; expected at least 3"):
        sample_per_class(y, 3)
    assert len(sample_per_class([], 3)) == 0


def real(name: str) -> Any:
    folder = os.environ.get("ODDKERNEL_DATA")
    if not folder or not Path(folder, SOURCES[name].file).exists():
        pytest.skip(f"needs {SOURCES[name].file} in the folder that ODDKERNEL_DATA names")
    return LOADERS[name]()


@pytest.mark.parametrize(
    ("name", "counts", "binary"),
    [
        ("vehicle", [212, 217, 218, 199], [647, 199]),
        ("usps", [1100] * 10, [5500, 5500]),
        ("scene", [360, 328, 260, 308, 374, 410, 292, 356], [1472, 1216]),
    ],
)
def test_real_classes(name: str, counts: list[int], binary: list[int]) -> None:
    loaded = real(name)
    assert np.bincount(loaded.target).tolist() == counts
    assert np.bincount(loaded.binary).tolist() == binary
    assert len(loaded.data) == sum(counts)
    assert len(loaded.target_names) == len(counts)
    assert loaded.data.dtype == np.float64


def test_real_things() -> None:
    things = real("things")
    assert things.data.shape == (1854, 512)
    assert repr(things.comparisons) == "Comparisons: 145177 odd-one-out answers over 1854 of 1854 named items"


def test_real_cars() -> None:
    cars = real("cars60")
    assert len(cars.images) == 60
    assert (len(cars.comparisons), cars.comparisons.items[0]) == (7097, "1.jpg")
