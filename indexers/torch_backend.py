"""What all torch encoders share: quiet imports, and the step from pixels to vectors."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indexers.devices import device_memory, placement
from indexers.digests import fingerprint
from indexers.errors import WeightsInvalid
from indexers.preprocess import Preprocessing
from indexers.protocol import ImageEncoder


@contextmanager
def quiet_transformers() -> Iterator[None]:
    """Imports and loading inside say nothing on stderr; the settings are put back afterwards."""
    guard_torchvision()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from transformers.utils import logging

        level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
        logging.set_verbosity_error()
        logging.disable_progress_bar()
        try:
            yield
        finally:
            logging.set_verbosity(level)
            if bars:
                logging.enable_progress_bar()


def load_pretrained(
    folder: Path, what: str, auto: str, open_inputs: Callable[..., Any], **settings: Any
) -> tuple[Any, Any]:
    """What makes the inputs of a transformers folder's model, and the model, from safetensors alone.

    `what`: the kind of model; `auto`: the class of transformers that loads it. Nothing is looked up at a hub,
    and no code that comes with the weights is run. Raises `WeightsInvalid` with the reason.
    """
    from safetensors import SafetensorError

    local = {"local_files_only": True, "trust_remote_code": False}
    try:
        with quiet_transformers():
            import transformers

            inputs = open_inputs(folder, **local)
            model, info = getattr(transformers, auto).from_pretrained(
                folder, use_safetensors=True, output_loading_info=True, **settings, **local
            )
    except (*(OSError, ValueError, KeyError, ImportError, RuntimeError, TypeError), SafetensorError) as error:
        # What loaders raise on a folder that is not what it should be has no common base.
        reason = str(error).strip().splitlines() or [type(error).__name__]
        raise WeightsInvalid(
            f"{folder}: not a usable {what} with safetensors weights: {reason[0]}"
        ) from error
    if lacking := sorted({*info["missing_keys"], *(key for key, *_ in info["mismatched_keys"])}):
        # The loader fills such weights with random numbers, and only warns.
        raise WeightsInvalid(
            f"{folder}: {len(lacking)} weights are missing, {lacking[0]} among them; it takes a whole {what}"
        )
    return inputs, model


def in_dtype(tower: Any, features: Callable[[Any], Any], backend: str) -> Callable[[Any], Any]:
    """A function from float32 pixels to features, with the tower on the backend's device and in its dtype."""
    device, dtype = placement(backend)
    with device_memory("the image encoder"):
        placed = tower.to(device=device, dtype=dtype)
    # In two steps: one would round on the processor, whose threads then cost more than a GPU's whole pass.
    return lambda pixels: features(placed(pixels.to(device).to(dtype)))


class TorchImageEncoder(ImageEncoder):
    """An image encoder around one torch function from pixels to features."""

    def __init__(
        self,
        *,
        name: str,
        dim: int,
        weights: str,
        preprocessing: Preprocessing,
        forward: Callable[[Any], Any],
        backend: str,
        batch: int,
    ) -> None:
        """`forward` takes float32 (batch, 3, h, w) and gives (batch, dim), in the backend's dtype."""
        self.name = name
        self.dim = dim
        self.weights = weights
        self.backend = backend
        self.batch = batch
        self.preprocessing = preprocessing
        self.short_side = preprocessing.short_side
        self.fingerprint = fingerprint(
            {"weights": weights, "preprocessing": preprocessing.facts(), "backend": backend, "batch": batch}
        )
        self._forward = forward

    def _encode_batch(self, images: NDArray[np.uint8]) -> NDArray[np.float32]:
        import torch

        pixels = torch.from_numpy(self.preprocessing(images))
        with device_memory("a batch of images"), torch.inference_mode():
            rows: NDArray[np.float32] = self._forward(pixels).float().cpu().numpy()
        return rows


SCHEMAS = (
    "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
)
SYMPTOM = "operator torchvision::nms does not exist"

_declared: list[Any] = []
"""The Library object: its operators vanish with it."""


def guard_torchvision() -> bool:
    """Make torchvision importable; call before the first import of transformers, open_clip or imagebind.

    Some torchvision wheels need CUDA libraries; without them `import torchvision` ends in "operator
    torchvision::nms does not exist" and takes every import that touches it down. Declaring the two
    operators lets the rest import; detection operators themselves stay unavailable, and say so when called.

    True where the guard had to step in; False where torchvision is absent or sound.
    """
    if importlib.util.find_spec("torchvision") is None or _declared:
        return bool(_declared)
    try:
        importlib.import_module("torchvision")
    except RuntimeError as error:
        if SYMPTOM not in str(error):
            raise
    else:
        return False
    for module in [name for name in sys.modules if name.partition(".")[0] == "torchvision"]:
        del sys.modules[module]
    import torch

    library = torch.library.Library("torchvision", "FRAGMENT")
    for schema in SCHEMAS:
        library.define(schema)
    _declared.append(library)
    importlib.import_module("torchvision")
    return True
