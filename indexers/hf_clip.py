"""CLIP, MetaCLIP, SigLIP and SigLIP 2 from a local transformers folder: safetensors only, no foreign code."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

from indexers.digests import folder_digest
from indexers.errors import WeightsInvalid
from indexers.families import IMAGE_TEXT, EncoderSource, ImageEncoderFamily
from indexers.onnx_text import open_image_text
from indexers.preprocess import read_preprocessing
from indexers.tensors import Tensors, model_type, weight_files
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
    preprocessing, tensors, given = read_preprocessing(folder), Tensors(files), dict[str, Any]()
    model, features = "SiglipVisionModel", "pooler_output"
    dim = tensors.shape(
        "visual_projection.weight" if kind == "clip" else "vision_model.post_layernorm.weight"
    )[0]
    if kind == "clip":
        model, features = "CLIPVisionModelWithProjection", "image_embeds"
        with quiet_transformers():
            from transformers.models.clip.configuration_clip import CLIPVisionConfig

            config = CLIPVisionConfig.from_pretrained(str(folder), local_files_only=True)
        # A whole CLIP says its projection's width beside vision_config, where the tower alone does not look.
        config.projection_dim = dim
        given["config"] = config
    _, tower = load_pretrained(
        folder, "image encoder", model, lambda *_, **__: None, dtype="float32", **given
    )
    return TorchImageEncoder(
        name=source.name,
        dim=dim,
        weights=folder_digest(files),
        preprocessing=preprocessing,
        forward=in_dtype(tower.eval(), attrgetter(features), backend),
        backend=backend,
        batch=batch,
    )


CLIP = ImageEncoderFamily(
    open_image=open_transformers,
    open_text=lambda source: open_image_text(source.name, source.path),
    layout=IMAGE_TEXT,
)
"""The files of CLIP and SigLIP, which `config.json` distinguishes."""
