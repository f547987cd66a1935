"""Networks in ONNX format that are small enough for tests to make."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import onnx
from onnx import TensorProto, helper


def image_network(file: Path, shape: list[Any], output: str = "image_embeds") -> Path:
    """The mean of each colour: (n, 3, height, width) to (n, 3)."""
    axes = helper.make_tensor("axes", TensorProto.INT64, [2], [2, 3] if shape[1] == 3 else [1, 2])
    return save(
        file,
        [helper.make_node("ReduceMean", ["pixel_values", "axes"], [output], keepdims=0)],
        [helper.make_tensor_value_info("pixel_values", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info(output, TensorProto.FLOAT, [shape[0], 3])],
        [axes],
    )


def save(file: Path, nodes: list[Any], inputs: list[Any], outputs: list[Any], constants: list[Any]) -> Path:
    graph = helper.make_graph(nodes, "tiny", inputs, outputs, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)
    onnx.checker.check_model(model)
    file.parent.mkdir(parents=True, exist_ok=True)
    onnx.save(model, str(file))
    return file
