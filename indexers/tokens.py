"""Words into token ids exactly as each model was trained, with the tokenizers library alone."""

from __future__ import annotations

import re
import string
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indexers.errors import WeightsInvalid
from indexers.folders import model_type, read_json, text_settings

PUNCTUATION = str.maketrans("", "", string.punctuation)


@dataclass(frozen=True, slots=True)
class Tokens:
    """One text into int64 (n,) ids: between 1 and `limit` of them, or exactly `limit` where padded."""

    tokenizer: Any
    limit: int
    clean: Callable[[str], str] = str
    end: int | None = None
    """The one special id of a text, at its end; None leaves special ids to tokenizer.json."""
    pad: int | None = None
    """Id that fills up to `limit`, on the right; None leaves texts at their length."""

    def __call__(self, text: str) -> NDArray[np.int64]:
        ids = self.tokenizer.encode(self.clean(text), add_special_tokens=self.end is None).ids
        if self.end is not None:
            ids = [*ids[: self.limit - 1], self.end]
        if self.pad is not None:
            ids = ids + [self.pad] * (self.limit - len(ids))
        return np.asarray(ids, dtype=np.int64)


def image_text_tokens(folder: Path) -> Tokens:
    """The tokens of a CLIP, MetaCLIP, SigLIP or SigLIP 2 folder. Raises `WeightsInvalid` without
    tokenizer.json."""
    settings = text_settings(folder)
    limit = int(settings["max_position_embeddings"])
    if model_type(folder) == "clip":
        return sentence_tokens(folder, limit)
    tokenizer = _load(folder)
    tokenizer.no_padding()
    tokenizer.no_truncation()
    written = read_json(folder / "tokenizer_config.json")
    return Tokens(
        tokenizer,
        limit,
        # SigLIP 2 has Gemma's tokenizer, which keeps capitals; the model saw none in training.
        clean=_canonical if written.get("tokenizer_class") == "SiglipTokenizer" else str.lower,
        end=_special(tokenizer, written, "eos_token"),
        pad=_special(tokenizer, written, "pad_token"),
    )


def sentence_tokens(folder: Path, limit: int) -> Tokens:
    """The tokens of a folder, cut at `limit` with the model's own end kept. Raises as `image_text_tokens`."""
    tokenizer = _load(folder)
    tokenizer.no_padding()
    tokenizer.enable_truncation(limit)
    return Tokens(tokenizer, limit)


def word_counter(folder: Path) -> Callable[[str], int]:
    """Text of any length to its number of tokens, special ones not counted."""
    tokenizer = _load(folder)
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids)


def _load(folder: Path) -> Any:
    from tokenizers import Tokenizer

    path = folder / "tokenizer.json"
    if not path.is_file():
        raise WeightsInvalid(
            f"{folder}: no tokenizer.json; pull the model again, or copy it from its repository"
        )
    try:
        return Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises plain Exception
        raise WeightsInvalid(f"{path}: not a tokenizer: {error}") from error


def _canonical(text: str) -> str:
    """SigLIP's own cleaning, as big_vision's `prompt_engineering.py`: lower case, no punctuation."""
    return re.sub(r"\s+", " ", text.lower().translate(PUNCTUATION)).strip()


def _special(tokenizer: Any, written: dict[str, Any], role: str) -> int:
    value = written.get(role)
    token = value.get("content") if isinstance(value, dict) else value
    number = tokenizer.token_to_id(token) if isinstance(token, str) else None
    if number is None:
        raise WeightsInvalid(f"tokenizer_config.json names no {role} that tokenizer.json knows")
    return int(number)
