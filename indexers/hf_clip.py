"""CLIP, MetaCLIP, SigLIP and SigLIP 2 from a local transformers folder: safetensors only, no foreign code."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from indexers.digests import folder_digest
from indexers.errors import WeightsInvalid
from indexers.families import IMAGE_TEXT, EncoderSource, ImageEncoderFamily
from indexers.folders import model_type
from indexers.onnx_text import open_image_text
from indexers.preprocess import read_preprocessing
from indexers.tensors import Tensors, weight_files
from indexers.torch_backend import TorchImageEncoder, in_dtype, load_pretrained, quiet_transformers


def open_transformers(source: EncoderSource, *, backend: str, batch: int) -> TorchImageEncoder:
    """The image half of the folder's model.

    SigLIP 2 of a fixed resolution is a `siglip` to transformers. Raises
    `WeightsInvalid` where the folder is of another architecture, or incomplete.
    """
    folder = source.path
    files = weight_files(folder)
    kind = model_type(folder)
    if kind == "siglip2":
        raise WeightsInvalid(
            f"{folder}: SigLIP 2 NaFlex (any aspect) is not read; take a fixed one: siglip2-base-patch16-224"
        )
    if kind not in {"clip", "siglip"}:
        raise WeightsInvalid(f"{folder}: a {kind or 'nameless'} model, and neither CLIP nor SigLIP")
    preprocessing = read_preprocessing(folder)
    tensors = Tensors(files)
    with quiet_transformers():
        tower, features = _clip_vision(folder, tensors) if kind == "clip" else _siglip_vision(folder)
    return TorchImageEncoder(
        name=source.name,
        dim=_dim(tensors, kind),
        weights=folder_digest(files),
        preprocessing=preprocessing,
        forward=in_dtype(tower, features, backend),
        backend=backend,
        batch=batch,
    )


def _dim(tensors: Tensors, kind: str) -> int:
    name = "visual_projection.weight" if kind == "clip" else "vision_model.post_layernorm.weight"
    return tensors.shape(name)[0]


def _clip_vision(folder: Path, tensors: Tensors) -> tuple[Any, Callable[[Any], Any]]:
    from transformers.models.clip.configuration_clip import CLIPVisionConfig

    config = CLIPVisionConfig.from_pretrained(str(folder), local_files_only=True)
    # A whole CLIP says its projection's width beside vision_config, where the tower alone does not look.
    config.projection_dim = _dim(tensors, "clip")
    return _tower(folder, "CLIPVisionModelWithProjection", config=config), lambda output: output.image_embeds


def _siglip_vision(folder: Path) -> tuple[Any, Callable[[Any], Any]]:
    return _tower(folder, "SiglipVisionModel"), lambda output: output.pooler_output


def _tower(folder: Path, name: str, **given: Any) -> Any:
    _, tower = load_pretrained(folder, "image encoder", name, lambda *_, **__: None, dtype="float32", **given)
    return tower.eval()


CLIP = ImageEncoderFamily(
    open_image=open_transformers,
    open_text=lambda source: open_image_text(source.name, source.path),
    layout=IMAGE_TEXT,
)
SIGLIP = CLIP
"""`config.json` distinguishes the two."""
