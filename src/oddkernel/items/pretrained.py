"""Pretrained encoders by name: where their weights are, on this machine or on Hugging Face."""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass
from importlib.util import find_spec
from logging import ERROR, getLogger
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import getproxies

from .onnx import OnnxEncoder, require_onnxruntime

if TYPE_CHECKING:
    from .encoders import Kind


@dataclass(frozen=True)
class Pretrained:
    """A pretrained encoder: a repository on Hugging Face, and the files of it that are needed.

    Attributes
    ----------
    name : str
        What ``--with`` takes.
    kind : {"image", "text"}
    repository : str
    revision : str
        The commit, so that the same name always means the same weights.
    files : tuple of str
        The network first.
    megabytes : int
        The size of the network.
    """

    name: str
    kind: Kind
    repository: str
    revision: str
    files: tuple[str, ...]
    megabytes: int

    def is_installed(self) -> bool:
        """Whether the packages that run it are there."""
        return all(find_spec(module) is not None for module in ("onnxruntime", "tokenizers", "huggingface_hub", "PIL"))

    def is_cached(self) -> bool:
        """Whether the encoder can be used without a network."""
        # Importing the library takes longer than most commands; a look at the folder tells most of the time.
        if not self.is_installed() or not (_cache() / f"models--{self.repository.replace('/', '--')}").is_dir():
            return False
        from huggingface_hub import try_to_load_from_cache

        return all(
            isinstance(try_to_load_from_cache(self.repository, file, revision=self.revision), str)
            for file in self.files
        )

    def fetch(self) -> Path:
        """The network's file, in Hugging Face's cache; it is downloaded if it isn't there."""
        from huggingface_hub import constants, hf_hub_download

        getLogger("huggingface_hub").setLevel(ERROR)  # the error below says what is wrong, once
        try:
            if not self.is_cached():
                _check_network(constants.ENDPOINT)
            found = [Path(hf_hub_download(self.repository, file, revision=self.revision)) for file in self.files]
        except Exception as error:  # network, disk, proxy and offline mode: the library has many kinds
            other = "gist" if self.kind == "image" else "tfidf"
            raise ValueError(
                f"--with {self.name}: its weights are not on this machine and can't be downloaded "
                f"({type(error).__name__}). On a machine with a network: hf download {self.repository} "
                f"{' '.join(self.files)} --revision {self.revision} --local-dir {self.name}; copy the folder here and "
                f"give --with {self.name}/{self.files[0]}. Without weights: --with {other}"
            ) from None
        return found[0]


PRETRAINED = (
    Pretrained(
        "clip",
        "image",
        "Qdrant/clip-ViT-B-32-vision",
        "c0e5444235f6862180c7001a9aa8332426bc1781",
        ("model.onnx", "preprocessor_config.json"),
        352,
    ),
    Pretrained(
        "sentences",
        "text",
        "sentence-transformers/all-MiniLM-L6-v2",
        "fa97f6e7cb1a59073dff9e6b13e2715cf7475ac9",
        ("onnx/model.onnx", "tokenizer.json", "1_Pooling/config.json"),
        90,
    ),
)


def _check_network(address: str) -> None:
    """Raise an OSError unless the host has a name here: the library would try again and again for half a minute."""
    if not getproxies():  # which would find it for us
        socket.getaddrinfo(urlsplit(address).hostname, 443)


def _cache() -> Path:
    """Hugging Face's cache, where its own environment variables put it."""
    base = os.environ.get("XDG_CACHE_HOME", "~/.cache")
    home = os.environ.get("HF_HOME", f"{base}/huggingface")
    return Path(os.environ.get("HF_HUB_CACHE", f"{home}/hub")).expanduser()


def pretrained(name: str) -> OnnxEncoder:
    """The pretrained encoder of this name, with its weights."""
    require_onnxruntime(name)
    found = next(each for each in PRETRAINED if each.name == name)
    version = found.revision[:12]
    return OnnxEncoder(found.fetch(), found.kind, name=f"{name} ({found.repository} {version})", option=name)
