"""What a sentence-transformers folder says of itself: its modules, its pooling, its longest text."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from indexers.errors import WeightsInvalid
from indexers.folders import model_type, read_json

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
    if named:
        return int(named)
    positions = read_json(transformer / "config.json").get("max_position_embeddings")
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
