"""Encoders in ONNX format: pretrained networks for images or texts, run by ONNX Runtime."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..support.types import Array
from .sources import Source

if TYPE_CHECKING:
    import PIL.Image

    from .encoders import Kind, Row

BATCH = 32
MOST_TOKENS = 256
"""A text is cut after so many tokens, unless the network takes a fixed number."""

# The mean and standard deviation of ImageNet's colours: what image networks are usually trained with.
_MEAN, _STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
_SIDE = 224
# Outputs that are an item's embedding, the best first; otherwise the first output is taken.
_EMBEDDINGS = ("image_embeds", "text_embeds", "sentence_embedding", "embeddings", "pooler_output")
_TYPES = {"tensor(float16)": np.float16, "tensor(double)": np.float64, "tensor(int32)": np.int32}


class OnnxEncoder:
    """An encoder in an ``.onnx`` file; features are scaled to unit length.

    Images: the network takes an array of shape (n, 3, height, width) or (n, height, width, 3). How they are resized and
    normalised is read from ``preprocessor_config.json`` beside the file, as Hugging Face writes it; without one, the
    shorter side becomes 224 pixels, or what the network takes, and colours are normalised as for ImageNet.

    Texts: the network takes ``input_ids``. ``tokenizer.json`` lies beside the file or in the folder above.

    Parameters
    ----------
    file : Path
        The file.
    kind : {"image", "text"}
        What it encodes.
    name, option : str, optional
        As in `Encoder`; by default the file's name with a checksum, and its path.
    """

    together = False

    def __init__(self, file: Path, kind: Kind, *, name: str | None = None, option: str | None = None) -> None:
        require_onnxruntime(option or str(file))
        if not file.is_file():
            raise ValueError(f"{file}: no such file; expected an encoder in ONNX format")
        self._file, self._kind = file, kind
        self.option = option or str(file.resolve())
        self.name = name or f"{file.name} {_digest(file)}"
        self.prefix = f"{option or file.stem} "

    def rows(self, source: Source) -> Iterator[Row]:
        """The features of each item, a batch at a time; an image that can't be read has a problem instead."""
        from .encoders import Row
        from .images import prepared

        if source.kind != self._kind or self._kind != ("text" if self._takes_text else "image"):
            takes = ", ".join(f"{each.name} {each.shape}" for each in self._session.get_inputs())
            raise ValueError(f"{self._file}: takes {takes}, which isn't an encoder of {source.kind}s")
        waiting: Iterator[tuple[Any, str]]
        if source.kind == "image":
            waiting = prepared(source.paths, self._pixels)
        else:
            waiting = ((text, "") for text in source.texts)
        each = enumerate(waiting)
        while batch := list(islice(each, self._batch)):
            whole = [value for _, (value, problem) in batch if not problem]
            features = iter(self._texts(whole) if self._takes_text else self._images(whole)) if whole else iter(())
            for index, (_, problem) in batch:
                yield Row(index, None, problem) if problem else Row(index, next(features))

    @cached_property
    def _session(self) -> Any:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3  # errors; warnings are about optimisations
        try:
            return onnxruntime.InferenceSession(str(self._file), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # the runtime's errors have no common class besides this
            raise ValueError(f"{self._file}: not a usable ONNX file ({_first_line(error)})") from None

    @cached_property
    def _input(self) -> Any:
        inputs = {each.name: each for each in self._session.get_inputs()}
        return inputs.get("pixel_values") or inputs.get("input_ids") or next(iter(inputs.values()))

    @property
    def _takes_text(self) -> bool:
        return bool(self._input.name == "input_ids")

    @property
    def _batch(self) -> int:
        fixed = self._input.shape[0] if self._input.shape else None
        return fixed if isinstance(fixed, int) and fixed > 0 else BATCH

    # Images

    @cached_property
    def _channels_last(self) -> bool:
        shape = self._input.shape
        if len(shape) != 4:
            raise ValueError(f"{self._file}: takes {self._input.name} {shape}; expected four dimensions for images")
        return bool(shape[-1] == 3 and shape[1] != 3)

    @cached_property
    def _settings(self) -> dict[str, Any]:
        shape = self._input.shape[1:3] if self._channels_last else self._input.shape[2:4]
        fixed = [side if isinstance(side, int) and side > 0 else None for side in shape]
        told = self._beside("preprocessor_config.json")
        found: dict[str, Any] = {} if told is None else _read_json(told)
        crop = _size(found.get("crop_size")) if found.get("do_center_crop", True) else None
        size = _size(found.get("size")) or crop or (fixed[0] or _SIDE, fixed[1] or _SIDE)
        shortest = found.get("size", 0)
        keeps_shape = not isinstance(shortest, dict) or "shortest_edge" in shortest
        return {
            "size": size,
            "crop": crop or ((fixed[0] or size[0], fixed[1] or size[1]) if keeps_shape else size),
            "keeps_shape": keeps_shape,
            "resample": int(found.get("resample", 3)),
            "scale": float(found.get("rescale_factor", 1 / 255)),
            "mean": np.array(found.get("image_mean", _MEAN)) if found.get("do_normalize", True) else np.zeros(3),
            "std": np.array(found.get("image_std", _STD)) if found.get("do_normalize", True) else np.ones(3),
        }

    def _pixels(self, image: PIL.Image.Image) -> Array:
        """An upright RGB image as the network takes it."""
        from PIL import Image

        settings = self._settings
        (height, width), (tall, wide) = settings["size"], settings["crop"]
        if settings["keeps_shape"]:
            larger = max(height / image.height, width / image.width)
            height, width = max(tall, round(larger * image.height)), max(wide, round(larger * image.width))
        image = image.resize((width, height), Image.Resampling(settings["resample"]))
        left, top = (width - wide) // 2, (height - tall) // 2
        image = image.crop((left, top, left + wide, top + tall))
        pixels = (np.asarray(image, dtype=np.float32) * settings["scale"] - settings["mean"]) / settings["std"]
        return np.asarray(pixels if self._channels_last else pixels.transpose(2, 0, 1), dtype=np.float32)

    def _images(self, pixels: list[Array]) -> Array:
        return self._run({self._input.name: np.stack(pixels)}, len(pixels), None)

    # Texts

    @cached_property
    def _tokenizer(self) -> Any:
        from tokenizers import Tokenizer

        file = self._beside("tokenizer.json")
        if file is None:
            raise ValueError(f"{self._file}: no tokenizer.json beside it or in the folder above; put it there")
        tokenizer = Tokenizer.from_file(str(file))
        padding = tokenizer.padding or {}
        fixed = self._input.shape[1] if isinstance(self._input.shape[1], int) else None
        tokenizer.enable_truncation(fixed or MOST_TOKENS)
        tokenizer.enable_padding(
            pad_id=padding.get("pad_id", 0), pad_token=padding.get("pad_token", "[PAD]"), length=fixed
        )
        return tokenizer

    @cached_property
    def _takes_first_token(self) -> bool:
        told = self._beside("1_Pooling/config.json")
        return told is not None and bool(_read_json(told).get("pooling_mode_cls_token"))

    def _texts(self, texts: list[str]) -> Array:
        encoded = self._tokenizer.encode_batch(texts)
        mask = np.array([each.attention_mask for each in encoded], dtype=np.int64)
        fed = {
            "input_ids": np.array([each.ids for each in encoded], dtype=np.int64),
            "attention_mask": mask,
            "token_type_ids": np.array([each.type_ids for each in encoded], dtype=np.int64),
        }
        return self._run(fed, len(texts), mask)

    # Both

    def _run(self, fed: dict[str, Array], n: int, mask: Array | None) -> Array:
        """(n, d): the embedding, or the mean over the tokens of a text or the places of an image."""
        known = {each.name: each for each in self._session.get_inputs()}
        missing = [name for name in known if name not in fed]
        if missing:
            raise ValueError(f"{self._file}: takes {', '.join(missing)} as well, which isn't known")
        batch = self._batch if self._batch != BATCH else n
        fed = {
            name: np.concatenate([values, np.repeat(values[-1:], batch - n, axis=0)]).astype(
                _TYPES.get(known[name].type, values.dtype)
            )
            for name, values in fed.items()
            if name in known
        }
        outputs = [each.name for each in self._session.get_outputs()]
        output = next((name for name in _EMBEDDINGS if name in outputs), outputs[0])
        try:
            found = np.asarray(self._session.run([output], fed)[0][:n], dtype=np.float64)
        except Exception as error:  # as above
            raise ValueError(f"{self._file}: could not be run ({_first_line(error)})") from None
        if found.ndim == 4:
            found = found.mean(axis=(1, 2) if found.shape[-1] > found.shape[1] else (2, 3))
        elif found.ndim == 3 and mask is not None and not self._takes_first_token:
            weight = mask[:, : found.shape[1], None]
            found = (found * weight).sum(axis=1) / np.maximum(weight.sum(axis=1), 1)
        elif found.ndim == 3:
            found = found[:, 0]
        if found.ndim != 2 or not np.isfinite(found).all():
            raise ValueError(f"{self._file}: returns {output} of shape {found.shape}; expected finite numbers, (n, d)")
        length = np.linalg.norm(found, axis=1, keepdims=True)
        return np.asarray(found / np.where(length > 0, length, 1.0))

    def _beside(self, name: str) -> Path | None:
        return next(
            (file for place in (self._file.parent, self._file.parent.parent) if (file := place / name).is_file()), None
        )


def require_onnxruntime(option: str) -> None:
    """Raise an ImportError that says what to install, unless ONNX files can be run."""
    try:
        import onnxruntime  # noqa: F401
        import tokenizers  # noqa: F401
    except ImportError:
        raise ImportError(
            f'--with {option} needs ONNX Runtime: pip install "oddkernel[encoders]"; without it, --with gist (images) '
            "and --with tfidf (texts) work"
        ) from None


def _size(told: Any) -> tuple[int, int] | None:
    """Height and width, as ``preprocessor_config.json`` gives them: a number, or a dictionary."""
    if isinstance(told, dict):
        told = told.get("shortest_edge") or (told.get("height"), told.get("width"))
    if isinstance(told, int) and told > 0:
        return told, told
    if isinstance(told, (tuple, list)) and len(told) == 2 and all(isinstance(side, int) and side > 0 for side in told):
        return int(told[0]), int(told[1])
    return None


def _read_json(file: Path) -> dict[str, Any]:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{file}: not JSON ({error})") from None
    if not isinstance(found, dict):
        raise ValueError(f"{file}: expected a JSON object")
    return found


def _digest(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()[:12]


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
