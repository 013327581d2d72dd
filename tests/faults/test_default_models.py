"""The default models with a damaged cache, and what they leave on the machine beside it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from indexers.imagenet import ClassSpace, open_space
from indexers.protocol import TextEncoder, unit_rows
from indexers.settings import EncoderSettings

USE = """
from indexers.asr import find_voice
from indexers.ocr import open_ocr
from indexers.registry import open_query_encoder
from indexers.settings import EncoderSettings, OcrSettings
import numpy as np
settings = EncoderSettings()
open_query_encoder(settings.text, settings).encode_text(['a dog'])
list(open_ocr(OcrSettings()).read_clip([np.zeros((100, 200, 3), np.uint8)]))
find_voice(np.zeros(16000, np.float32))
"""


def test_no_model_keeps_telemetry(tmp_path: Path) -> None:
    environment = {name: text for name, text in os.environ.items() if name != "ORT_DISABLE_TELEMETRY"}
    environment |= {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    command = [sys.executable, "-c", USE]
    subprocess.run(command, env=environment, check=True, timeout=300)
    found = {path.relative_to(tmp_path).parts[:2] for path in tmp_path.rglob("*") if path.is_file()}
    assert found <= {("cache", "rag")}


class Numbers(TextEncoder):
    """A `TextEncoder` whose vectors follow from the lengths of texts; counts what it encodes."""

    name, dim, fingerprint = "numbers", 8, "0" * 32

    def __init__(self) -> None:
        self.encoded = 0

    def _encode(self, texts: list[str]) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
        self.encoded += len(texts)
        lengths = np.array([[len(text)] for text in texts], np.float32)
        return unit_rows(np.cos(lengths * np.arange(1, 9, dtype=np.float32)))


def _space(encoder: TextEncoder) -> ClassSpace:
    return open_space(encoder, EncoderSettings())


@pytest.mark.parametrize("damage", ["cut", "changed", "folder"])
def test_damaged_class_vectors_are_made_again(
    damage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = Numbers()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("indexers.imagenet.open_text_encoder", lambda *_: encoder)
    whole = _space(encoder)
    once = encoder.encoded
    (kept,) = (tmp_path / "rag" / "classes").iterdir()
    data = kept.read_bytes()
    kept.unlink()
    if damage == "folder":
        kept.mkdir()
    else:
        at = len(data) // 2
        kept.write_bytes(data[:at] if damage == "cut" else data[:at] + bytes(64) + data[at + 64 :])
    again = _space(encoder)
    np.testing.assert_array_equal(again.classes, whole.classes)
    assert encoder.encoded == 2 * once
    if damage != "folder":
        np.testing.assert_array_equal(_space(encoder).classes, whole.classes)
        assert encoder.encoded == 2 * once
