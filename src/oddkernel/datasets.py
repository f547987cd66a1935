"""Loaders of the data sets that the paper and this package's own experiments use.

The package contains no data. A loader looks in ``data_home``, else in the folder that the environment variable
``ODDKERNEL_DATA`` names, else in the folder ``oddkernel`` of scikit-learn's data home. It downloads missing files that
have a public address; for others, the error says which file to put where. The SHA-256 of every file is verified.
"""

from __future__ import annotations

import hashlib
import io
import os
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.datasets import load_svmlight_file
from sklearn.utils import Bunch, check_random_state

from . import formats
from .comparisons import Comparisons
from .support.files import replace

__all__ = ["load_cars60", "load_scene", "load_things", "load_usps", "load_vehicle", "sample_per_class"]

Folder = str | os.PathLike[str] | None

N_CARS = 60
TIMEOUT = 60.0  # seconds without data after which a download fails; chosen by hand
LARGEST_MEMBER = 50_000_000  # bytes of one file in a downloaded archive; chosen by hand, far above what is expected
CARS60_ARCHIVE = "http://www.tml.cs.uni-tuebingen.de/team/luxburg/code_and_data/60_cars_data.zip"


@dataclass(frozen=True)
class Source:
    """One file: its checksum, and where it comes from."""

    file: str
    sha256: str
    url: str | None = None
    #: instructions for a file without a public address
    advice: str = ""


SOURCES = {
    "vehicle": Source(
        "vehicle.scale",
        "f5bcfc5545c0f674b372e8dc3e41752efa287d4e04cb920150c51cd9c3df7b86",
        "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/multiclass/vehicle.scale",
    ),
    "usps": Source(
        "usps_all.mat",
        "da2c8d6e8bd743da00c67020f444e0f28250dfbd16c55d8135c50ffa7719a5f9",
        "https://cs.nyu.edu/~roweis/data/usps_all.mat",
    ),
    "scene": Source(
        "scene_gist.npz",
        "ab0308b1842188aa19339ccd117d16faa93d55457e56356ead792812a184094d",
        advice="a NumPy archive with X, the 2688 x 512 GIST descriptors of Oliva and Torralba's eight outdoor scene "
        "categories, y, their class names, and name, the images' names. With a file made from the images "
        "(oddkernel features), pass verify=False",
    ),
    "things": Source(
        "things.npz",
        "3653342a921b0ff49f9caaf8df0d332ff8fa692c191a0c22509ad127d50d384c",
        advice="a NumPy archive with judgements, the odd-one-out answers of THINGS (m x 3 object numbers from 0, the "
        "odd one last), features, a row for each of the 1854 objects, and name, the objects' names. The answers are "
        "at https://osf.io/f5rn6. With a file of your own making, pass verify=False",
    ),
    "cars60": Source(
        "cars60_survey.csv",
        "479eeb0252b6d4dcd9d80b6bbb20bc1d127c627857e2a8af7e0567d82afa0494",
        advice="the answers to Kleindessner and von Luxburg's survey on 60 photographs of cars, as its authors publish "
        "them, and beside it a folder cars60_images with 1.jpg to 60.jpg",
    ),
    "cars60_images": Source("cars60_images", "8df3afdcbd651c34f1350f118842252bc1ff97191fcad25958296a111355210a"),
}


def load_vehicle(data_home: Folder = None, *, download_if_missing: bool = True) -> Bunch:
    """Silhouettes of four vehicles: the paper's *Vehicle* (Statlog), scaled to [-1, 1].

    Parameters
    ----------
    data_home : path-like, optional
        The folder to look in; by default the one that ``ODDKERNEL_DATA`` names, or scikit-learn's data home.
    download_if_missing : bool, default=True
        Download the file from the LIBSVM page if it isn't there.

    Returns
    -------
    Bunch
        ``data`` (846, 18), ``target`` 0 to 3, ``target_names``; ``binary`` and ``binary_names``, the paper's task of
        two groups: vans against the rest; ``DESCR``.

    Examples
    --------
    >>> from oddkernel.datasets import load_vehicle
    >>> vehicle = load_vehicle()  # doctest: +SKIP
    >>> vehicle.data.shape  # doctest: +SKIP
    (846, 18)
    """
    content = _read("vehicle", data_home, download_if_missing)
    data, classes = load_svmlight_file(io.BytesIO(content), n_features=18)
    return _classes(
        data.toarray(),
        classes.astype(np.intp) - 1,
        ["opel", "saab", "bus", "van"],
        lambda name: name == "van",
        ["another vehicle", "van"],
        "Statlog Vehicle Silhouettes as on the LIBSVM page, scaled to [-1, 1]: 846 silhouettes of four vehicles, 18 "
        "measures of shape. Siebert 1987.",
    )


def load_usps(data_home: Folder = None, *, download_if_missing: bool = True) -> Bunch:
    """Handwritten digits of the US postal service: the paper's *USPS*, 1100 of each digit.

    Parameters
    ----------
    data_home : path-like, optional
        The folder to look in; by default the one that ``ODDKERNEL_DATA`` names, or scikit-learn's data home.
    download_if_missing : bool, default=True
        Download the file from Sam Roweis' page if it isn't there.

    Returns
    -------
    Bunch
        ``data`` (11000, 256), grey values 0 to 255; ``target``, the digit; ``target_names``; ``binary`` and
        ``binary_names``, the paper's task of two groups: even against odd; ``DESCR``.

    Examples
    --------
    >>> from oddkernel.datasets import load_usps
    >>> usps = load_usps()  # doctest: +SKIP
    >>> usps.data.shape  # doctest: +SKIP
    (11000, 256)
    """
    from scipy.io import loadmat

    file: Any = io.BytesIO(_read("usps", data_home, download_if_missing))  # the type stubs of loadmat expect a path
    pixels = loadmat(file)["data"]
    digits = np.array([1, 2, 3, 4, 5, 6, 7, 8, 9, 0])  # the order of classes in the file
    return _classes(
        pixels.transpose(2, 1, 0).reshape(-1, 256).astype(np.float64),
        np.repeat(digits, pixels.shape[1]),
        [str(digit) for digit in range(10)],
        lambda name: int(name) % 2 == 1,
        ["even", "odd"],
        "USPS handwritten digits, Roweis' file: 1100 images of each digit, 16 x 16 grey values (0 to 255). Hull 1994.",
    )


def load_scene(data_home: Folder = None, *, verify: bool = True) -> Bunch:
    """Outdoor scenes by their GIST descriptors: the paper's *MIT Scene*.

    There is no public address; the error says which file to put where.

    Parameters
    ----------
    data_home : path-like, optional
        The folder to look in; by default the one that ``ODDKERNEL_DATA`` names, or scikit-learn's data home.
    verify : bool, default=True
        Verify the checksum. False accepts one that you have made from the images.

    Returns
    -------
    Bunch
        ``data`` (2688, 512), ``target`` 0 to 7, ``target_names``, ``names`` of the images; ``binary`` and
        ``binary_names``, the paper's task of two groups: natural against man-made; ``DESCR``.

    Examples
    --------
    >>> from oddkernel.datasets import load_scene
    >>> load_scene().target_names  # doctest: +SKIP
    ['coast', 'forest', 'highway', 'insidecity', 'mountain', 'opencountry', 'street', 'tallbuilding']
    """
    archive = _archive("scene", ("X", "y", "name"), data_home, verify)
    names, target = np.unique(archive["y"], return_inverse=True)
    return _classes(
        archive["X"].astype(np.float64),
        target,
        names.tolist(),
        lambda name: name not in {"coast", "forest", "mountain", "opencountry"},
        ["natural", "man-made"],
        "Eight outdoor scene categories of Oliva and Torralba 2001: 2688 images of 256 x 256 pixels, by their GIST "
        "descriptors (4 scales x 8 orientations x 4 x 4 blocks). One image is there twice, in two classes: "
        "insidecity/image_0305 and tallbuilding/image_0300.",
        names=archive["name"].tolist(),
    )


def load_things(data_home: Folder = None, *, verify: bool = True) -> Bunch:
    """Odd-one-out answers of many people on 1854 everyday objects: THINGS.

    There is no public address of this file, which joins people's answers with computed features; the error says which
    file to put where. The address of the answers, https://osf.io/f5rn6, could not be reached when this was written.

    Parameters
    ----------
    data_home : path-like, optional
        The folder to look in; by default the one that ``ODDKERNEL_DATA`` names, or scikit-learn's data home.
    verify : bool, default=True
        Verify the checksum. False accepts one of your own making.

    Returns
    -------
    Bunch
        ``data`` (1854, 512), the objects' features (CLIP ViT-B/32); ``names`` of the objects; ``comparisons``, the
        145,177 answers by object name; ``DESCR``.

    Examples
    --------
    >>> from oddkernel.datasets import load_things
    >>> load_things().comparisons  # doctest: +SKIP
    Comparisons: 145177 odd-one-out answers over 1854 of 1854 named items
    """
    archive = _archive("things", ("features", "judgements", "name"), data_home, verify)
    shown, names = archive["judgements"].astype(np.intp), archive["name"].tolist()
    return Bunch(
        data=archive["features"].astype(np.float64),
        names=names,
        comparisons=Comparisons.odd_one_out(shown, np.full(len(shown), 2), items=names),
        DESCR="THINGS odd-one-out answers (Hebart et al. 2020, 2023; CC BY 4.0) on 1854 objects, with CLIP ViT-B/32 "
        "features of the objects. People disagree: about a third of the answers can't be predicted.",
    )


def load_cars60(data_home: Folder = None, *, download_if_missing: bool = True) -> Bunch:
    """People's answers to *which of these three cars is the most central?*, on 60 photographs.

    The address is the one that cblearn downloads from. It could not be reached when this was written, so that the
    download was tested with an archive of our own making only. What it brings is verified: the survey and the pictures
    must be the very ones that our results were computed from.

    Parameters
    ----------
    data_home : path-like, optional
        The folder to look in; by default the one that ``ODDKERNEL_DATA`` names, or scikit-learn's data home.
    download_if_missing : bool, default=True
        Download the authors' archive if the survey or a picture isn't there.

    Returns
    -------
    Bunch
        ``images``, 60 paths; ``names``, their file names; ``comparisons``, 7,097 most-central answers by file name;
        ``DESCR``. There are no features; ``oddkernel features`` makes some.

    Examples
    --------
    >>> from oddkernel.datasets import load_cars60
    >>> load_cars60().comparisons  # doctest: +SKIP
    Comparisons: 7097 most-central answers over 60 of 60 named items by 3 raters
    """
    survey = _folder(data_home) / SOURCES["cars60"].file
    images = [survey.with_name("cars60_images") / f"{number}.jpg" for number in range(1, N_CARS + 1)]
    absent = next((file for file in [survey, *images] if not file.exists()), None)
    if absent is not None:
        if not download_if_missing:
            raise FileNotFoundError(f"{absent} isn't there; expected {SOURCES['cars60'].advice}")
        _download_cars60(survey, images)
    _check("cars60", survey.read_bytes(), survey)
    _check("cars60_images", b"".join(image.read_bytes() for image in images), images[0].parent)
    said, names = formats.read(survey, format="central"), [image.name for image in images]
    return Bunch(
        images=images,
        names=names,
        comparisons=Comparisons(said.kind, said.shown, said.odd, said.bound, said.weight, said.rater, names),
        DESCR="Kleindessner and von Luxburg's survey on 60 photographs of cars (public domain): 7097 answers to 'which "
        "of the three is the most central?'. The most central one leaves the other two the farthest apart.",
    )


def _download_cars60(survey: Path, images: list[Path]) -> None:
    """Write the survey and the pictures from the authors' archive, all verified before the first is written."""
    content = _download(CARS60_ARCHIVE, survey)
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            # Only names are looked up: no path in the archive decides where anything is written.
            members = {Path(member.filename).name: member for member in archive.infolist()}
            wanted = [members[name] for name in ("survey_data.csv", *(image.name for image in images))]
            if max(member.file_size for member in wanted) > LARGEST_MEMBER:
                raise ValueError(f"a file has more than {LARGEST_MEMBER} bytes")
            answers, *pictures = (archive.read(member) for member in wanted)
    except (zipfile.BadZipFile, KeyError, ValueError) as error:
        raise ValueError(
            f"{CARS60_ARCHIVE} is not the expected archive ({error}); expected {SOURCES['cars60'].advice}"
        ) from error
    _check("cars60", answers, CARS60_ARCHIVE)
    _check("cars60_images", b"".join(pictures), CARS60_ARCHIVE)
    images[0].parent.mkdir(parents=True, exist_ok=True)
    for file, data in zip([*images, survey], [*pictures, answers], strict=True):
        replace(file, data)


def sample_per_class(y: ArrayLike, n: int, random_state: Any = None) -> NDArray[np.intp]:
    """Draw n items of each class without replacement; the paper's subsample has 100.

    Parameters
    ----------
    y : array-like of shape (n_items,)
        Classes.
    n : int
        Number of items of each class.
    random_state : int, RandomState instance or None, default=None
        As in scikit-learn.

    Returns
    -------
    ndarray
        Indices into `y`, ascending.

    Examples
    --------
    >>> sample_per_class(["a", "b", "a", "b"], 2)
    array([0, 1, 2, 3])
    """
    labels = np.asarray(y)
    classes, count = np.unique(labels, return_counts=True)
    if count.min(initial=n) < n:
        scarce = int(count.argmin())
        raise ValueError(f"class {classes[scarce]} has {count[scarce]} items; expected at least {n} of each class")
    random = check_random_state(random_state)
    drawn = [random.permutation(np.flatnonzero(labels == name))[:n] for name in classes]
    return np.sort(np.concatenate(drawn, dtype=np.intp)) if drawn else np.empty(0, dtype=np.intp)


def _classes(
    data: NDArray[Any],
    target: NDArray[Any],
    target_names: list[str],
    in_second_group: Callable[[str], bool],
    binary_names: list[str],
    description: str,
    **more: Any,
) -> Bunch:
    group = np.array([in_second_group(name) for name in target_names], dtype=np.intp)
    return Bunch(
        data=data,
        target=target,
        target_names=target_names,
        binary=group[target],
        binary_names=binary_names,
        DESCR=description,
        **more,
    )


def _folder(data_home: Folder) -> Path:
    if data_home is not None:
        return Path(data_home).expanduser()
    named = os.environ.get("ODDKERNEL_DATA")
    if named:
        return Path(named).expanduser()
    # Like scikit-learn's get_data_home, but without creating the folder.
    return Path(os.environ.get("SCIKIT_LEARN_DATA", "~/scikit_learn_data")).expanduser() / "oddkernel"


def _read(name: str, data_home: Folder, download_if_missing: bool = False, verify: bool = True) -> bytes:
    """The file's content, downloaded if necessary, and verified."""
    source, folder = SOURCES[name], _folder(data_home)
    path = folder / source.file
    if path.exists():
        content = path.read_bytes()
        if verify:
            _check(name, content, path)
        return content
    if source.url is None:
        raise FileNotFoundError(f"{path} isn't there; expected {source.advice}")
    if not download_if_missing:
        raise FileNotFoundError(f"{path} isn't there; put the file {source.url} there")
    content = _download(source.url, path)
    _check(name, content, source.url)
    folder.mkdir(parents=True, exist_ok=True)
    replace(path, content)
    return content


def _download(url: str, path: Path) -> bytes:
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT) as answer:
            return bytes(answer.read())
    except (urllib.error.URLError, TimeoutError, ConnectionError) as error:
        reason = getattr(error, "reason", error)
        raise OSError(f"{url} could not be downloaded ({reason}); try again later, or put it at {path}") from error


def _check(name: str, content: bytes, place: object) -> None:
    found, expected = hashlib.sha256(content).hexdigest(), SOURCES[name].sha256
    if found != expected:
        raise ValueError(
            f"{place} is damaged or another version: its SHA-256 begins with {found[:12]}, expected {expected[:12]}; "
            "remove it and download it again"
        )


def _archive(name: str, arrays: tuple[str, ...], data_home: Folder, verify: bool) -> dict[str, NDArray[Any]]:
    """Arrays of a NumPy archive. The first must have a row for each item, the last a name for each."""
    content = _read(name, data_home, verify=verify)
    path = _folder(data_home) / SOURCES[name].file
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            found = {array: archive[array] for array in arrays}
    except (ValueError, OSError, EOFError, KeyError) as error:
        raise ValueError(f"{path}: expected {SOURCES[name].advice} ({error})") from error
    features, names = found[arrays[0]], found[arrays[-1]]
    if features.ndim != 2 or len(names) != len(features):
        raise ValueError(
            f"{path}: {arrays[0]} of shape {features.shape} for {len(names)} names; expected a row for each"
        )
    return found
