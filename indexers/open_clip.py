"""open_clip models from local files: the `openclip` extra, which needs torchvision.

A name is `openclip:local-dir:FOLDER` (a folder with `open_clip_config.json`)
or `openclip:MODEL/PRETRAINED` in open_clip's own words, as in
`openclip:ViT-B-32-quickgelu/metaclip_400m`; the `-quickgelu` matters: without
it such weights run with another activation and quietly give worse vectors.
"""

from __future__ import annotations

import importlib
import importlib.util
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indexers.digests import folder_digest
from indexers.errors import ExtraMissing, WeightsInvalid
from indexers.families import EncoderSource, ImageEncoderFamily
from indexers.preprocess import CLIP_MEAN, CLIP_STD, Preprocessing
from indexers.protocol import TextTower
from indexers.tensors import read_json
from indexers.torch_backend import TorchImageEncoder, guard_torchvision, in_dtype

CONFIG = "open_clip_config.json"
WEIGHTS = ("open_clip_model.safetensors", "model.safetensors")
RESAMPLE = {"bicubic": 3, "bilinear": 2}


def _weights(folder: Path) -> Path:
    for name in WEIGHTS:
        if (folder / name).is_file() and (folder / CONFIG).is_file():
            return folder / name
    raise WeightsInvalid(f"{folder}: needs {CONFIG} and {WEIGHTS[0]}; pickled checkpoints are never opened")


def open_openclip(source: EncoderSource, *, backend: str, batch: int) -> TorchImageEncoder:
    """Raises `ExtraMissing` without open_clip, `WeightsInvalid` for a folder it cannot read."""
    folder = source.path
    model = _load(folder)
    return TorchImageEncoder(
        name=source.name,
        dim=_dim(folder),
        weights=folder_digest([_weights(folder), folder / CONFIG]),
        preprocessing=_preprocessing(folder, model),
        forward=in_dtype(model.visual, _pooled, backend),
        backend=backend,
        batch=batch,
    )


def _pooled(output: Any) -> Any:
    """CoCa's tower gives (pooled, tokens)."""
    return output[0] if isinstance(output, tuple) else output


class OpenClipText(TextTower):
    """A `TextTower` through open_clip's own model and tokenizer; it imports torch."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self.dim = _dim(folder)
        self._files = (_weights(folder), folder / CONFIG)
        self._model = _load(folder)
        self._tokenizer = _import().get_tokenizer(f"local-dir:{folder}")

    def _facts(self) -> Mapping[str, Any]:
        return {"backend": "open_clip-fp32"}

    def _encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        import torch

        with torch.inference_mode():
            rows = [self._model.encode_text(self._tokenizer([text])) for text in texts]
        return np.asarray(torch.cat(rows).float().numpy(), np.float32)


def _load(folder: Path) -> Any:
    if "hf_model_name" in _config(folder)["model_cfg"].get("text_cfg", {}):
        raise WeightsInvalid(
            f"{folder}: its text tower is fetched from the hub by open_clip, so it is not read"
        )
    open_clip = _import()
    from safetensors.torch import load_file

    try:
        # The weights are loaded here and not by open_clip, which would also open pickles.
        model = open_clip.create_model(f"local-dir:{folder}", load_weights=False, pretrained_text=False)
        model.load_state_dict(load_file(_weights(folder)), strict=True)
    except (OSError, ValueError, RuntimeError, TypeError, KeyError) as error:
        raise WeightsInvalid(f"{folder}: open_clip cannot read it: {str(error).splitlines()[0]}") from error
    return model.eval()


def _import() -> Any:
    if importlib.util.find_spec("open_clip") is None:
        raise ExtraMissing(
            "open_clip is not installed: in an environment of its own, "
            "pip install -e '.[openclip]' (in the checkout)"
        )
    guard_torchvision()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return importlib.import_module("open_clip")


def _config(folder: Path) -> dict[str, Any]:
    config = read_json(folder / CONFIG)
    if not isinstance(config.get("model_cfg"), dict) or "embed_dim" not in config["model_cfg"]:
        raise WeightsInvalid(f"{folder / CONFIG}: has no model_cfg with an embed_dim")
    return config


def _dim(folder: Path) -> int:
    return int(_config(folder)["model_cfg"]["embed_dim"])


def _preprocessing(folder: Path, model: Any) -> Preprocessing:
    """As open_clip's own `image_transform`: torchvision's rounding, `shortest` or `squash`."""
    config = _config(folder).get("preprocess_cfg") or {}
    size = config.get("size", model.visual.image_size)
    height, width = (int(size), int(size)) if isinstance(size, int) else (int(size[0]), int(size[1]))
    mode = config.get("resize_mode") or "shortest"
    if mode not in {"shortest", "squash"} or (mode == "shortest" and height != width):
        raise WeightsInvalid(
            f"{folder / CONFIG}: resize_mode {mode} for {height} x {width} is not known here"
        )
    return Preprocessing(
        mean=tuple(config.get("mean") or CLIP_MEAN),
        std=tuple(config.get("std") or CLIP_STD),
        shortest=height if mode == "shortest" else None,
        exact=(height, width) if mode == "squash" else None,
        crop=(height, width) if mode == "shortest" else None,
        round_crop=True,
        resample=RESAMPLE.get(config.get("interpolation", "bicubic"), 3),
    )


FAMILY = ImageEncoderFamily(
    open_image=open_openclip,
    open_text=lambda source: OpenClipText(source.name, source.path),
    layout=(CONFIG, "|".join(WEIGHTS)),
)
