"""Pretrained encoders, on networks so small that the tests make them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from networks import image_network, save
from onnx import TensorProto, helper
from PIL import Image
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from oddkernel.items import pretrained, read_source
from oddkernel.items.encoders import default_encoder, encode, find_encoder
from oddkernel.items.feature_cache import keep_features
from oddkernel.items.sources import Source

WORDS = ["[PAD]", "[UNK]", "red", "green", "apple", "car"]
TABLE = np.random.default_rng(0).normal(size=(len(WORDS), 3)).astype(np.float32)


def text_network(file: Path) -> Path:
    """A vector for each token: (n, tokens) to (n, tokens, 3)."""
    table = helper.make_tensor("table", TensorProto.FLOAT, TABLE.shape, TABLE.ravel())
    network = save(
        file,
        [helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"])],
        [
            helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"])
            for name in ("input_ids", "attention_mask")
        ],
        [helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["batch", "tokens", 3])],
        [table],
    )
    tokenizer = Tokenizer(WordLevel({word: number for number, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.save(str(file.parent / "tokenizer.json"))
    return network


def unit(rows: Any) -> Any:
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    folder = tmp_path / "photos"
    folder.mkdir()
    for name, colour in {"a.png": (255, 0, 0), "b.png": (0, 255, 0), "c.jpg": (10, 20, 250)}.items():
        Image.new("RGB", (40, 30), colour).save(folder / name, quality=95)
    return folder


def test_images_are_normalised_as_for_imagenet(photos: Path, tmp_path: Path) -> None:
    network = image_network(tmp_path / "mean.onnx", ["batch", 3, 8, 8])
    found = encode(find_encoder(str(network), "image"), read_source(photos)).items
    expected = (np.eye(3)[:2] - [0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225]
    np.testing.assert_allclose(found.X[:2], unit(expected), atol=1e-6)
    assert found.names == ("a.png", "b.png", "c.jpg")
    assert found.columns == ("mean 0", "mean 1", "mean 2")


def test_the_file_beside_it_says_how_images_are_prepared(photos: Path, tmp_path: Path) -> None:
    network = image_network(tmp_path / "mean.onnx", ["batch", 3, "height", "width"])
    told = {"size": {"shortest_edge": 16}, "crop_size": {"height": 12, "width": 12}, "resample": 3}
    told |= {"image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5], "rescale_factor": 1 / 255}
    (tmp_path / "preprocessor_config.json").write_text(json.dumps(told))
    encoder = find_encoder(str(network), "image")
    found = encode(encoder, read_source(photos)).items
    np.testing.assert_allclose(found.X[:2], unit(2.0 * np.eye(3)[:2] - 1.0), atol=1e-6)
    assert encoder._pixels(Image.new("RGB", (99, 33))).shape == (3, 12, 12)  # type: ignore[attr-defined]
    (tmp_path / "preprocessor_config.json").write_text("no JSON")
    with pytest.raises(ValueError, match=r"preprocessor_config\.json: not JSON"):
        encode(find_encoder(str(network), "image"), read_source(photos))


@pytest.mark.parametrize("shape", [[2, 3, 8, 8], ["batch", 8, 8, 3]], ids=["two at a time", "channels last"])
def test_other_shapes_of_networks(photos: Path, tmp_path: Path, shape: list[Any]) -> None:
    usual = encode(find_encoder(str(image_network(tmp_path / "a.onnx", ["n", 3, 8, 8])), "image"), read_source(photos))
    other = encode(find_encoder(str(image_network(tmp_path / "b.onnx", shape)), "image"), read_source(photos))
    np.testing.assert_allclose(other.items.X, usual.items.X, atol=1e-6)


def test_many_pictures_go_in_batches_and_bad_ones_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("oddkernel.items.onnx.BATCH", 4)
    folder = tmp_path / "photos"
    folder.mkdir()
    for number in range(11):
        Image.new("RGB", (9, 9), (20 * number, 0, 99)).save(folder / f"{number:02}.png")
    for number in (0, 5):
        (folder / f"{number:02}.png").write_bytes(b"not a picture")
    network = image_network(tmp_path / "mean.onnx", ["batch", 3, 8, 8])
    told: list[str] = []
    with pytest.warns(UserWarning, match=r"2 of 11 images can't be read: .*00\.png .*05\.png"):
        found = encode(find_encoder(str(network), "image"), read_source(folder), told.append)
    assert told[-1] == "image 11 of 11"
    assert found.items.names == tuple(f"{number:02}.png" for number in range(11) if number not in (0, 5))
    one = encode(find_encoder(str(network), "image"), Source("image", ("x",), (folder / "07.png",))).items
    np.testing.assert_allclose(found.items.X[5], one.X[0], atol=1e-6)


def test_pictures_are_turned_as_the_camera_says(tmp_path: Path) -> None:
    left = Image.new("RGB", (40, 40), "black")
    left.paste((255, 255, 255), (0, 0, 20, 40))
    exif = Image.Exif()
    exif[0x0112] = 6
    left.transpose(Image.Transpose.ROTATE_90).save(tmp_path / "turned.png", exif=exif)
    left.save(tmp_path / "plain.png")
    seen = []
    network = image_network(tmp_path / "mean.onnx", ["batch", 3, 8, 8])
    encoder = find_encoder(str(network), "image")
    pixels = encoder._pixels  # type: ignore[attr-defined]
    encoder._pixels = lambda image: seen.append(pixels(image)) or seen[-1]  # type: ignore[attr-defined]
    encode(encoder, read_source(tmp_path))
    np.testing.assert_allclose(seen[0], seen[1], atol=1e-6)


def test_texts_are_the_mean_of_their_tokens(tmp_path: Path) -> None:
    network = text_network(tmp_path / "onnx" / "model.onnx")
    (tmp_path / "onnx" / "tokenizer.json").rename(tmp_path / "tokenizer.json")  # as sentence-transformers has it
    source = Source("text", ("a", "b"), texts=("red apple car", "green zebra"))
    found = encode(find_encoder(str(network), "text"), source).items.X
    np.testing.assert_allclose(found, unit(np.stack([TABLE[[2, 4, 5]].mean(0), TABLE[[3, 1]].mean(0)])), atol=1e-6)
    (tmp_path / "1_Pooling").mkdir()
    (tmp_path / "1_Pooling" / "config.json").write_text('{"pooling_mode_cls_token": true}')
    found = encode(find_encoder(str(network), "text"), source).items.X
    np.testing.assert_allclose(found, unit(TABLE[[2, 3]]), atol=1e-6)


def test_encoders_of_something_else_are_refused(photos: Path, tmp_path: Path) -> None:
    text = text_network(tmp_path / "text.onnx")
    with pytest.raises(ValueError, match=r"takes input_ids .* isn't an encoder of images"):
        encode(find_encoder(str(text), "image"), read_source(photos))
    (tmp_path / "tokenizer.json").unlink()
    with pytest.raises(ValueError, match=r"no tokenizer\.json beside it"):
        encode(find_encoder(str(text), "text"), Source("text", ("a", "b"), texts=("red", "green")))
    (tmp_path / "bad.onnx").write_bytes(b"not a network")
    with pytest.raises(ValueError, match="not a usable ONNX file"):
        encode(find_encoder(str(tmp_path / "bad.onnx"), "image"), read_source(photos))
    with pytest.raises(ValueError, match="no such file; expected an encoder in ONNX format"):
        find_encoder(str(tmp_path / "absent.onnx"), "image")


def test_kept_features_know_their_network(photos: Path, tmp_path: Path) -> None:
    network = image_network(tmp_path / "mean.onnx", ["batch", 3, 8, 8])
    first = keep_features(read_source(photos), photos, str(network))
    assert keep_features(read_source(photos), photos, str(network)).n_made == 0
    Image.new("RGB", (9, 9), "black").save(photos / "d.png")
    assert keep_features(read_source(photos), photos).n_made == 1  # by the same network
    image_network(tmp_path / "mean.onnx", ["batch", 3, 16, 16])
    then = keep_features(read_source(photos), photos, str(network))  # another network of that name
    assert then.n_made == 4
    assert then.encoder != first.encoder
    network.unlink()
    Image.new("RGB", (9, 9), "white").save(photos / "d.png")
    with pytest.raises(ValueError, match=r"items have changed, and their features were made with .*mean\.onnx"):
        keep_features(read_source(photos), photos)


def test_weights_in_the_cache_are_used_at_once(photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (clip, _) = pretrained.PRETRAINED
    snapshot = tmp_path / f"hub/models--{clip.repository.replace('/', '--')}/snapshots/{clip.revision}"
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    assert default_encoder("image") == "gist"
    image_network(snapshot / "model.onnx", ["batch", 3, "height", "width"])
    (snapshot / "preprocessor_config.json").write_text('{"size": 8, "crop_size": 8, "do_center_crop": true}')
    assert default_encoder("image") == "clip"
    found = keep_features(read_source(photos), photos)
    assert (found.option, found.items.X.shape) == ("clip", (3, 3))
    assert found.encoder.startswith("clip (Qdrant/clip-ViT-B-32-vision c0e544423")


def test_without_weights_or_packages_one_line_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr("oddkernel.items.pretrained.getproxies", dict)
    asked: list[object] = []

    def no_such_name(host: object, *_: object) -> None:
        asked.append(host)
        raise OSError(-2, "Name or service not known")

    monkeypatch.setattr("socket.getaddrinfo", no_such_name)
    with pytest.raises(
        ValueError, match=r"hf download Qdrant/.* --with clip/model\.onnx\. Without weights: --with gist"
    ):
        find_encoder("clip", "image")
    with pytest.raises(ValueError, match=r"hf download sentence-transformers/.* Without weights: --with tfidf"):
        find_encoder("sentences", "text")
    assert asked == ["huggingface.co"] * 2  # and nobody was asked anything else
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(
        ImportError, match=r'--with clip needs ONNX Runtime: pip install "oddkernel\[encoders\]"; .*gist'
    ):
        find_encoder("clip", "image")
