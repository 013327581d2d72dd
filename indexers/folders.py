"""What the files of a transformers folder say, read without that library."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from indexers.errors import WeightsInvalid

# Defaults of CLIPTextConfig and SiglipTextConfig: a saved config may leave them out.
CLIP_TEXT = {
    "hidden_size": 512,
    "num_hidden_layers": 12,
    "num_attention_heads": 8,
    "max_position_embeddings": 77,
    "hidden_act": "quick_gelu",
    "layer_norm_eps": 1e-5,
    "eos_token_id": 49407,
}
SIGLIP_TEXT = {
    "hidden_size": 768,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "max_position_embeddings": 64,
    "hidden_act": "gelu_pytorch_tanh",
    "layer_norm_eps": 1e-6,
}


def read_json(path: Path) -> dict[str, Any]:
    """Raises `WeightsInvalid` where the file is missing or no JSON object."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise WeightsInvalid(f"{path.parent}: no {path.name}; is this the model's folder?") from error
    except ValueError as error:
        raise WeightsInvalid(f"{path}: not valid JSON: {error}") from error
    if not isinstance(content, dict):
        raise WeightsInvalid(f"{path}: holds no JSON object")
    return content


def model_type(folder: Path) -> str:
    """transformers' name for the architecture: clip, siglip, siglip2, metaclip_2, bert, ..."""
    return str(read_json(folder / "config.json").get("model_type", ""))


def text_settings(folder: Path) -> Mapping[str, Any]:
    """The text tower's settings of a CLIP or SigLIP folder, defaults filled in."""
    config = read_json(folder / "config.json")
    defaults = CLIP_TEXT if config.get("model_type") == "clip" else SIGLIP_TEXT
    # Some early CLIP folders hold the true values in `text_config_dict`, which wins, as in transformers.
    return {**defaults, **(config.get("text_config") or {}), **(config.get("text_config_dict") or {})}


Role = Literal["query", "document"]
