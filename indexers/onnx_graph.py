"""Builds small ONNX graphs out of weights in memory, and runs them in ONNX Runtime.

Every default model runs here: the graph is written down operation by operation from the published
architecture, so no exported file has to be shipped, kept in a cache or trusted.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

OPSET = 18
IR_VERSION = 10
EXTENSIONS = "com.microsoft"
"""Domain of ONNX Runtime's own operations: attention, gelu and 8-bit products."""
INSIDE = 1024
"""Bytes up to which a constant is part of the graph, where shapes can be inferred from it."""
TYPES = {"float32": 1, "int64": 7, "uint8": 2}
"""Numbers of ONNX for the types of inputs."""


def forbid_telemetry() -> None:
    """Called before anything imports ONNX Runtime, which else keeps events of its use in the user's cache
    folder and sends them to its publisher. Its own switch in Python comes too late."""
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"


class Graph:
    """An ONNX graph that grows by one operation a call. Values are known by their names."""

    def __init__(self, **inputs: tuple[str, tuple[int | str, ...]]) -> None:
        """`inputs`: name to numpy dtype and shape, where a string names a length known at run time.

        Example: `Graph(x=("float32", (1, "tokens", 384)))`.
        """
        self._inputs = inputs
        self._nodes: list[Any] = []
        self._weights: dict[str, NDArray[Any]] = {}

    def weight(self, values: NDArray[Any]) -> str:
        """The name of a constant of any shape and dtype."""
        name = f"w{len(self._weights)}"
        self._weights[name] = np.ascontiguousarray(values)
        return name

    def add(self, operation: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """Append an operation and return the name of its result."""
        from onnx import helper

        name = f"v{len(self._nodes)}"
        self._nodes.append(helper.make_node(operation, list(inputs), [name], domain=domain, **attributes))
        return name

    def linear(self, x: str, weight: NDArray[np.float32], bias: NDArray[np.float32] | None = None) -> str:
        """`x @ weight.T + bias`; `weight` float32 (out, in), as torch stores it."""
        product = self.add("MatMul", x, self.weight(weight.T))
        return product if bias is None else self.add("Add", product, self.weight(bias))

    def conv(
        self, x: str, weight: NDArray[np.float32], bias: NDArray[np.float32], *, stride: int = 1, **more: Any
    ) -> str:
        """Two-dimensional convolution; `weight` float32 (out, in / group, height, width), as torch stores it.
        `more`: other attributes of ONNX's `Conv`, as its padding."""
        more |= {"kernel_shape": weight.shape[2:], "strides": (stride, stride)}
        return self.add("Conv", x, self.weight(weight), self.weight(bias), **more)

    def linear_8bit(self, x: str, weight: NDArray[np.float32], bias: NDArray[np.float32]) -> str:
        """`linear` with `weight`, float32 (out, in), rounded to 8 bits with one scale for each output, and
        `x` rounded as it comes."""
        scale = np.maximum(np.abs(weight).max(axis=1), np.finfo(np.float32).tiny) / np.float32(127)
        whole = np.round(weight / scale[:, None]).astype(np.int8)
        zeros = np.zeros(len(weight), np.int8)
        inputs = (self.weight(each) for each in (whole.T, scale.astype(np.float32), zeros, bias))
        return self.add("DynamicQuantizeMatMul", x, *inputs, domain=EXTENSIONS)

    def layer_norm(
        self, x: str, weight: NDArray[np.float32], bias: NDArray[np.float32], epsilon: float
    ) -> str:
        """Layer normalization of the last axis; `weight` and `bias` float32 (width,)."""
        return self.add(
            "LayerNormalization", x, self.weight(weight), self.weight(bias), axis=-1, epsilon=epsilon
        )

    def session(self, *outputs: str) -> Any:
        """The session of `open_session`.

        Large weights are handed over beside the graph: a protobuf message holds 2 GB at most.
        """
        forbid_telemetry()
        import onnxruntime
        from onnx import TensorProto, helper, numpy_helper

        initializers, beside = [], {}
        for name, values in self._weights.items():
            if values.nbytes <= INSIDE:
                initializers.append(numpy_helper.from_array(values, name))
                continue
            tensor = TensorProto(name=name, dims=values.shape, data_location=TensorProto.EXTERNAL)
            tensor.data_type = helper.np_dtype_to_tensor_dtype(values.dtype)
            tensor.external_data.add(key="location", value="memory")
            initializers.append(tensor)
            beside[name] = onnxruntime.OrtValue.ortvalue_from_numpy(values)
        inputs = [
            helper.make_tensor_value_info(name, TYPES[dtype], shape)
            for name, (dtype, shape) in self._inputs.items()
        ]
        results = [helper.make_tensor_value_info(name, TYPES["float32"], None) for name in outputs]
        model = helper.make_model(
            helper.make_graph(self._nodes, "model", inputs, results, initializers),
            opset_imports=[helper.make_opsetid("", OPSET), helper.make_opsetid(EXTENSIONS, 1)],
            ir_version=IR_VERSION,
        )
        return open_session(model.SerializeToString(), beside)


def open_session(model: bytes, weights: Mapping[str, Any] = MappingProxyType({})) -> Any:
    """An `onnxruntime.InferenceSession` of an ONNX file on one thread of the processor, safe to run from many
    threads. `weights`: OrtValues that the file names and does not hold."""
    forbid_telemetry()
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.add_external_initializers(list(weights), list(weights.values()))
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
