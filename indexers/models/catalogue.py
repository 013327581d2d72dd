"""The models this project knows by name: what each is for, where it comes from, its size and licence."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from corpora.errors import SettingsError

Purpose = Literal["image encoder", "text encoder", "speech", "ranker", "reader", "reasoner"]

TRANSFORMERS_FILES = (
    *("config.json", "generation_config.json", "preprocessor_config.json", "processor_config.json"),
    *("video_preprocessor_config.json", "tokenizer.json", "tokenizer_config.json", "vocab.json", "vocab.txt"),
    *("special_tokens_map.json", "added_tokens.json", "merges.txt", "spiece.model", "chat_template.json"),
    *("chat_template.jinja", "modules.json", "sentence_bert_config.json", "1_Pooling/config.json"),
    *("config_sentence_transformers.json", "model.safetensors", "model-*-of-*.safetensors"),
    "model.safetensors.index.json",
)
# A CTranslate2 `model.bin` is no pickle: a plain list of named tensors in a format of its own.
WHISPER_FILES = (
    *("config.json", "model.bin", "tokenizer.json", "vocabulary.txt", "vocabulary.json"),
    "preprocessor_config.json",
)
OPENCLIP_FILES = ("open_clip_config.json", "open_clip_model.safetensors")

FILE_SETS = {"transformers": TRANSFORMERS_FILES, "whisper": WHISPER_FILES, "openclip": OPENCLIP_FILES}
"""Lists of patterns that `catalogue.toml` names."""


@dataclass(frozen=True, slots=True)
class Model:
    """One model by name."""

    name: str
    purpose: Purpose
    family: str
    """`whisper`, `ranker`, `reader`, `vlm`, or a registered family of encoders (`indexers.families`)."""
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
    note: str = ""
    packaged: str = ""
    """What pip installs it with, from the checkout, for those who pull nothing; empty for most."""
    revision: str | None = None
    """Commit that a pull is held to; None: the one that `main` names at the first pull."""
    sha256: Mapping[str, str] = field(default_factory=dict)
    """Published digests by file name. Other files are held to what the hub declares at the first pull."""

    @property
    def commercial(self) -> bool:
        """False where the licence forbids commercial use."""
        return not self.licence_note.startswith("non-commercial")


def _read_catalogue() -> tuple[Model, ...]:
    """The rows of `catalogue.toml`, in its order."""
    rows = tomllib.loads(Path(__file__).with_name("catalogue.toml").read_text(encoding="utf-8"))["model"]
    for row in rows:
        files = row.pop("files", "transformers")
        row["files"] = FILE_SETS[files] if isinstance(files, str) else tuple(files)
        row.update(row.pop("pin", {}))
    return tuple(Model(**row) for row in rows)


MODELS = _read_catalogue()
"""All models, in the order of `rag models list`."""


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
    folder = Path(name).expanduser()
    own = f"; the folder is hf:{folder.resolve()}" if name and folder.is_dir() else ""
    raise SettingsError(f"no model is called {name!r}: `rag models list` names them all{own}")


def is_packaged(name: str) -> bool:
    """Whether that model comes with the installation; false for unknown names."""
    return any(model.name == name and bool(model.packaged) for model in MODELS)


def is_specialised(name: str) -> bool:
    """Whether that encoder understands the Workbench's videos alone, so that `auto` never takes it."""
    return name == "bundled"
