"""The default models with a damaged cache, and what they leave on the machine beside it."""

import os
import subprocess
import sys

import numpy as np
import pytest

from indexers.imagenet import ClassSpace, open_space
from indexers.protocol import TextEncoder
from indexers.settings import EncoderSettings
from tests.fakes.answer_world import BagOfWords

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


def test_no_model_keeps_telemetry(tmp_path) -> None:
    environment = {name: text for name, text in os.environ.items() if name != "ORT_DISABLE_TELEMETRY"}
    environment |= {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    command = [sys.executable, "-c", USE]
    subprocess.run(command, env=environment, check=True, timeout=300)
    found = {path.relative_to(tmp_path).parts[:2] for path in tmp_path.rglob("*") if path.is_file()}
    assert found <= {("cache", "rag")}


def _space(encoder: TextEncoder) -> ClassSpace:
    return open_space(encoder, EncoderSettings())


@pytest.mark.parametrize("damage", ["cut", "changed", "folder"])
def test_damaged_class_vectors_are_made_again(damage: str, tmp_path, monkeypatch) -> None:
    encoder = BagOfWords()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("indexers.imagenet.open_text_encoder", lambda *_: encoder)
    whole = _space(encoder)
    once = len(encoder.encoded)
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
    assert len(encoder.encoded) == 2 * once
    if damage != "folder":
        np.testing.assert_array_equal(_space(encoder).classes, whole.classes)
        assert len(encoder.encoded) == 2 * once
