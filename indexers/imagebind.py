"""ImageBind from a local weights file: images, short clips and text in one space.

Only the package's `models` are imported, past its own `__init__`, which drags
in pytorchvideo and torchaudio; so the preprocessing is ours. Outputs of
text are scaled, and a video's is a mean, so every vector is normalized
to length 1 here. Weights and code are CC-BY-NC-SA-4.0.
"""

from __future__ import annotations

import importlib
import importlib.util
import math
import pickle
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpora.records import Frames
from indexers.devices import device_memory, placement
from indexers.digests import folder_digest
from indexers.errors import ExtraMissing, WeightsInvalid
from indexers.families import EncoderSource, ImageEncoderFamily
from indexers.preprocess import Preprocessing
from indexers.protocol import TextTower, unit_rows
from indexers.torch_backend import TorchImageEncoder, guard_torchvision

HUGE: Mapping[str, int] = {
    "vision_embed_dim": 1280,
    "vision_num_blocks": 32,
    "vision_num_heads": 16,
    "text_embed_dim": 1024,
    "text_num_blocks": 24,
    "text_num_heads": 16,
    "out_embed_dim": 1024,
}
"""The sizes of `imagebind_huge`, the one published model."""

SIDE = 224
IMAGES = Preprocessing(shortest=SIDE, crop=(SIDE, SIDE), round_crop=True)
WHOLE = Preprocessing(shortest=SIDE, resample=2)
VIDEO_MOMENTS = 5
CLIP_SECONDS = 2
CONTEXT = 77


class ImageBindEncoder(TorchImageEncoder):
    """Images one by one, and beside them whole clips."""

    def __init__(
        self, name: str, path: Path, *, backend: str, batch: int, sizes: Mapping[str, int] = HUGE
    ) -> None:
        """Raises `ExtraMissing` without imagebind, `WeightsInvalid` for another file."""
        model = _load(path, sizes, ("vision",))
        super().__init__(
            name=name,
            dim=sizes["out_embed_dim"],
            weights=folder_digest([path]),
            preprocessing=IMAGES,
            forward=_vision(model, backend),
            backend=backend,
            batch=batch,
        )

    def encode_clip(
        self,
        frames: Frames,
        rows: NDArray[np.float32] | None = None,  # noqa: ARG002 (other encoders take the mean of the rows)
    ) -> NDArray[np.float32]:
        """Unit float32 (dim,) of one clip: five moments of 2 s, two frames each, three crops each, averaged.

        As ImageBind's `load_and_transform_video_data`. Raises `ValueError` for no frames.
        """
        import torch

        pixels = torch.from_numpy(_clip_inputs(frames))
        parts = []
        for start in range(0, len(pixels), self.batch):
            part = pixels[start : start + self.batch]
            padding = part[-1:].expand(self.batch - len(part), *part.shape[1:])
            with device_memory("a batch of images"), torch.inference_mode():
                # The axis of moments keeps the model from taking channels for it.
                features = self._forward(torch.cat([part, padding])[:, None])
                parts.append(features[: len(part)].float().cpu().numpy())
        return _mean(np.concatenate(parts))


class ImageBindText(TextTower):
    """A `TextTower` through ImageBind's own tokenizer and text trunk; it imports torch."""

    def __init__(self, name: str, path: Path, *, sizes: Mapping[str, int] = HUGE) -> None:
        self.name = name
        self.dim = sizes["out_embed_dim"]
        self._files = (path,)
        self._model = _load(path, sizes, ("text",))
        preprocessors = import_models("multimodal_preprocessors")
        vocabulary = Path(preprocessors.__file__).parents[1] / "bpe" / "bpe_simple_vocab_16e6.txt.gz"
        self._tokenizer = preprocessors.SimpleTokenizer(str(vocabulary))

    def _facts(self) -> Mapping[str, Any]:
        return {"backend": "imagebind-fp32"}

    def _encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        import torch

        with torch.inference_mode():
            rows = [
                self._model({"text": torch.from_numpy(self._tokens(text))[None]})["text"] for text in texts
            ]
        return np.asarray(torch.cat(rows).numpy(), np.float32)

    def _tokens(self, text: str) -> NDArray[np.int64]:
        # Cut here: before its commit 1125e1e the package cut the end token off long texts.
        words = self._tokenizer.encode(text)[: CONTEXT - 2]
        vocabulary = self._tokenizer.encoder
        ids = [vocabulary["<|startoftext|>"], *words, vocabulary["<|endoftext|>"]]
        return np.asarray(ids + [0] * (CONTEXT - len(ids)), dtype=np.int64)


def moments(duration: float, count: int) -> tuple[float, ...]:
    """Start times of `count` moments of 2 s, evenly from the start to the end; fewer where they coincide."""
    room = max(duration - CLIP_SECONDS, 0.0)
    return tuple(dict.fromkeys(room * place / (count - 1) for place in range(count)))


def clip_pairs(times: NDArray[np.float64]) -> tuple[tuple[int, int], ...]:
    """Find the first and last frame of each of five moments of 2 s, or twice the nearest.

    `times`: float64 (n,), seconds, ascending, at least one. Indices of frames.
    """
    first, last = float(times[0]), float(times[-1])
    pairs = []
    for start in moments(last - first, VIDEO_MOMENTS):
        inside = np.flatnonzero((times >= first + start - 1e-6) & (times < first + start + CLIP_SECONDS))
        nearest = int(np.abs(times - first - start).argmin())
        pairs.append((int(inside[0]), int(inside[-1])) if len(inside) else (nearest, nearest))
    return tuple(dict.fromkeys(pairs))


def _clip_inputs(frames: Frames) -> NDArray[np.float32]:
    """float32 (moments x 3 crops, 3, 2, 224, 224)."""
    if len(frames.times) == 0:
        raise ValueError("a clip without frames")
    pairs = clip_pairs(frames.times)
    scaled = WHOLE(frames.images[[place for pair in pairs for place in pair]])
    height, width = scaled.shape[2:]
    down, across = (height - SIDE, 0) if height > width else (0, width - SIDE)
    crops = []
    for part in (0.0, 0.5, 1.0):
        top, left = math.ceil(down * part), math.ceil(across * part)
        crops.append(scaled[:, :, top : top + SIDE, left : left + SIDE])
    stacked = np.stack(crops).reshape(3, len(pairs), 2, 3, SIDE, SIDE)
    return np.ascontiguousarray(stacked.transpose(1, 0, 3, 2, 4, 5).reshape(-1, 3, 2, SIDE, SIDE))


def _mean(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    return unit_rows(unit_rows(rows).mean(axis=0))


def _vision(model: Any, backend: str) -> Callable[[Any], Any]:
    device, dtype = placement(backend)
    with device_memory("the image encoder"):
        for parts in (model.modality_preprocessors, model.modality_trunks, model.modality_heads):
            parts["vision"].to(device=device, dtype=dtype)
    # In two steps, as `in_dtype`.
    return lambda pixels: model({"vision": pixels.to(device).to(dtype)})["vision"]


def _load(path: Path, sizes: Mapping[str, int], modalities: Sequence[str]) -> Any:
    """The model with the trunks of `modalities` alone, its tensors mapped from the file."""
    models = import_models("imagebind_model")
    import torch

    # Without memory until the file's is assigned: the published model is 4.8 GB.
    with torch.device("meta"), _numbers_on_cpu():
        model = models.ImageBindModel(**sizes)
    for parts in _parts(model):
        for modality in [name for name in parts if name not in modalities]:
            del parts[modality]
    try:
        weights = torch.load(path, map_location="cpu", weights_only=True, mmap=True)
        wanted = {key: value for key, value in weights.items() if key.split(".")[1] in modalities}
        model.load_state_dict(wanted, strict=True, assign=True)
    except (OSError, RuntimeError, AttributeError, IndexError, TypeError, pickle.UnpicklingError) as error:
        line = str(error).splitlines()[0]
        raise WeightsInvalid(f"{path}: not the weights of imagebind_huge: {line}") from error
    return model.eval()


def _numbers_on_cpu() -> Any:
    """The model's constructor reads values off a `linspace`, which a tensor without memory has not."""
    import torch
    from torch.overrides import TorchFunctionMode

    class NumbersOnCpu(TorchFunctionMode):  # type: ignore[misc]  # torch is untyped here
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            kwargs = dict(kwargs or {})
            if func is torch.linspace:
                kwargs["device"] = "cpu"
            return func(*args, **kwargs)

    return NumbersOnCpu()


def _parts(model: Any) -> tuple[Any, ...]:
    return (
        model.modality_preprocessors,
        model.modality_trunks,
        model.modality_heads,
        model.modality_postprocessors,
    )


def import_models(module: str) -> Any:
    """`imagebind.models.<module>`, without running `imagebind/__init__.py`. Raises `ExtraMissing`."""
    if importlib.util.find_spec("imagebind") is None:
        raise ExtraMissing(
            "imagebind is not installed: in an environment of its own, "
            "pip install --group imagebind (in a checkout; docs/start/install.md)"
        )
    guard_torchvision()
    spec = importlib.util.find_spec("imagebind")
    if "imagebind" not in sys.modules and spec is not None:
        # A package object that knows the path of its modules, and has run nothing.
        sys.modules["imagebind"] = importlib.util.module_from_spec(spec)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return importlib.import_module(f"imagebind.models.{module}")


def _open_image(source: EncoderSource, *, backend: str, batch: int) -> ImageBindEncoder:
    return ImageBindEncoder(source.name, source.path, backend=backend, batch=batch)


FAMILY = ImageEncoderFamily(
    open_image=_open_image,
    open_text=lambda source: ImageBindText(source.name, source.path),
    layout=("imagebind_huge.pth",),
    file="imagebind_huge.pth",
)
