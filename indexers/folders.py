"""What the files of a transformers or sentence-transformers folder say, read without either library."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class SentenceFolder:
    """What a sentence-transformers folder says of its model."""

    transformer: Path
    """Folder of the transformer's own files: the folder itself, or `0_Transformer` in old ones."""
    model_type: str
    limit: int
    """Longest text in tokens, special ones included."""
    pooling: str
    """`mean`, `cls`, or another mode's name; modes are joined with `+`."""
    other_modules: tuple[str, ...]
    """Modules beside transformer, pooling and normalisation, by class name."""
    query_prompt: str
    """Written before every question; empty for most models."""
    document_prompt: str
    """Written before every passage; empty for most models."""


def read_sentence_folder(folder: Path) -> SentenceFolder:
    """Raises `WeightsInvalid` where the folder is no sentence-transformers model."""
    modules = _modules(folder)
    kinds = [kind for kind, _ in modules]
    if not kinds or kinds[0] != "Transformer" or "Pooling" not in kinds:
        raise WeightsInvalid(f"{folder}: modules.json lists no Transformer followed by a Pooling")
    transformer = folder / modules[0][1]
    prompts = _optional(folder / "config_sentence_transformers.json").get("prompts") or {}
    documents = (prompts[name] for name in ("document", "passage", "corpus") if prompts.get(name))
    return SentenceFolder(
        transformer,
        model_type(transformer),
        _limit(transformer),
        _pooling(folder / modules[kinds.index("Pooling")][1] / "config.json"),
        tuple(kind for kind in kinds[1:] if kind not in {"Pooling", "Normalize"}),
        query_prompt=str(prompts.get("query") or ""),
        document_prompt=str(next(documents, "")),
    )


def prompt(settings: SentenceFolder, role: Role) -> str:
    """The text that is put before a query or a document."""
    return settings.query_prompt if role == "query" else settings.document_prompt


def _limit(transformer: Path) -> int:
    """Where the folder names none, the shorter of what tokenizer and positions allow, as in the library."""
    named = _optional(transformer / "sentence_bert_config.json").get("max_seq_length")
    positions = read_json(transformer / "config.json").get("max_position_embeddings")
    if named:
        return int(min(named, positions or named))
    words = _optional(transformer / "tokenizer_config.json").get("model_max_length")
    return int(min(positions or 512, words or 512, 8192))


def _optional(path: Path) -> dict[str, Any]:
    return read_json(path) if path.is_file() else {}


def _modules(folder: Path) -> list[tuple[str, str]]:
    path = folder / "modules.json"
    if not path.is_file():
        raise WeightsInvalid(f"{folder}: no modules.json; is this a sentence-transformers folder?")
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
        return [(str(row["type"]).rpartition(".")[2], str(row["path"])) for row in rows]
    except (ValueError, KeyError, TypeError) as error:
        raise WeightsInvalid(f"{path}: not a list of modules: {error}") from error


def _pooling(path: Path) -> str:
    config = read_json(path)
    named = config.get("pooling_mode")
    if isinstance(named, str):
        return named
    flags = {"pooling_mode_mean_tokens": "mean", "pooling_mode_cls_token": "cls"}
    on = [flags.get(key, key) for key, value in config.items() if key.startswith("pooling_mode_") and value]
    return "+".join(sorted(on))
