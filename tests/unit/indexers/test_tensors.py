"""Weights, images and tokens on their way into a model: exact values, what is seen, what is computed once."""

import hashlib
import json
import os
import subprocess
import sys
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from indexers.digests import file_digest
from indexers.e5 import FILE, Q4, E5File, PieceTokens
from indexers.imagebind import clip_pairs, moments
from indexers.models.lookup import find_weights
from indexers.onnx_text import sentence_tokens
from indexers.preprocess import Preprocessing
from indexers.settings import EncoderSettings
from indexers.tensors import Tensors, weight_files
from rag.errors import WeightsInvalid
from tests.fakes.answer_world import BagOfWords


@pytest.fixture
def file(tmp_path) -> Path:
    import torch  # for seconds: the tests that use it are slow ones
    from safetensors.torch import save_file

    values = torch.linspace(-70000, 70000, 24).reshape(6, 4)
    tensors = {
        "single": values,
        "half": (values / 2).to(torch.float16),
        "brain": values.to(torch.bfloat16),
        "whole": torch.arange(3),
    }
    save_file(tensors, tmp_path / "model.safetensors")
    return tmp_path / "model.safetensors"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["single", "half", "brain"])
def test_values_are_exact(file: Path, name: str) -> None:
    from safetensors.torch import load_file

    expected = load_file(file)[name].float().numpy()
    tensors = Tensors([file])
    assert tensors.read(name).dtype == np.float32
    assert np.array_equal(tensors.read(name), expected)
    assert np.array_equal(tensors.rows(name, np.array([5, 0, 5])), expected[[5, 0, 5]])
    assert tensors.shape(name) == (6, 4)


def test_shards_are_found_by_their_index(file: Path) -> None:
    folder = file.parent
    file.rename(folder / "model-00001-of-00001.safetensors")
    index = folder / "model.safetensors.index.json"

    def say(shard: str) -> None:
        index.write_text(json.dumps({"weight_map": {"single": shard}}), encoding="utf-8")

    say("model-00001-of-00001.safetensors")
    assert "single" in Tensors(weight_files(folder))
    say("model-00002-of-00002.safetensors")
    with pytest.raises(WeightsInvalid, match="00002"):
        weight_files(folder)
    index.write_text("[]", encoding="utf-8")
    with pytest.raises(WeightsInvalid, match="index"):
        weight_files(folder)


def test_a_file_that_cannot_be_read_is_named_with_its_reason(tmp_path) -> None:
    """A folder in its place, as a file without permission, to which root has it."""
    with pytest.raises(WeightsInvalid, match=r"cannot be read \(is a directory\)"):
        Tensors([tmp_path])


@pytest.fixture
def weights(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = tmp_path / "weights.bin"
    path.write_bytes(b"one")
    return path


def _cache() -> Path:
    return Path(os.environ["XDG_CACHE_HOME"]) / "rag" / "digests.json"


def test_it_is_remembered_between_processes(weights: Path) -> None:
    before = file_digest(weights)
    code = (
        "import hashlib, pathlib, sys; from indexers.digests import file_digest; hashlib.file_digest = None; "
        "print(file_digest(pathlib.Path(sys.argv[1])))"
    )
    command = [sys.executable, "-c", code, str(weights)]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() == before


def test_a_change_that_keeps_size_and_time_is_seen(weights: Path) -> None:
    facts = weights.stat()
    file_digest(weights)
    weights.write_bytes(b"two")
    os.utime(weights, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    assert file_digest(weights) == hashlib.sha256(b"two").hexdigest()


@pytest.mark.parametrize("content", ["{", '{"PATH": [1, 2]}'])
def test_a_damaged_cache_is_passed_over(weights: Path, content: str) -> None:
    _cache().parent.mkdir(parents=True)
    _cache().write_text(content.replace("PATH", str(weights.resolve())), encoding="utf-8")
    assert file_digest(weights) == hashlib.sha256(b"one").hexdigest()
    assert str(weights.resolve()) in json.loads(_cache().read_text(encoding="utf-8"))


WHOLE = Preprocessing(shortest=292, crop=(260, 260))


@pytest.mark.parametrize("size", [(2, 4000), (4000, 2), (1, 1), (1, 3000)])
def test_a_strip_takes_no_more_memory_than_a_frame(size: tuple[int, int]) -> None:
    images = np.full((4, *size, 3), 200, np.uint8)
    tracemalloc.start()
    seen = WHOLE(images)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert seen.shape == (4, 3, 260, 260)
    assert np.ptp(seen, axis=(0, 2, 3)).max() == 0
    assert most < 50_000_000


@pytest.mark.parametrize("size", [(40, 100), (100, 40), (37, 37), (20, 159)])
def test_the_middle_is_what_is_cut_from_the_whole_resized_image(size: tuple[int, int]) -> None:
    images = np.random.default_rng(0).integers(0, 255, (1, *size, 3), dtype=np.uint8)
    short = min(size)
    height, width = (int(64 * side / short) for side in size)
    resized = Preprocessing(exact=(height, width))(images)
    top, left = (height - 50) // 2, (width - 50) // 2
    seen = Preprocessing(shortest=64, crop=(50, 50))(images)
    np.testing.assert_array_equal(seen, resized[:, :, top : top + 50, left : left + 50])


def test_moments_span_the_clip_and_coincide_in_a_short_one() -> None:
    assert moments(30.0, 5) == (0.0, 7.0, 14.0, 21.0, 28.0)
    assert moments(1.5, 3) == (0.0,)


def test_pairs_are_the_first_and_last_frame_of_each_moment() -> None:
    assert clip_pairs(np.arange(61) / 2) == ((0, 3), (14, 17), (28, 31), (42, 45), (56, 59))
    assert clip_pairs(np.array([4.0])) == ((0, 0),)
    # A gap: the moments that fall into it take the nearest frame.
    assert clip_pairs(np.array([0.0, 0.5, 20.0])) == ((0, 1), (1, 1), (2, 2))


LONG = "lamp " * 300


def test_a_tokenizer_that_is_none_is_named(tmp_path) -> None:
    with pytest.raises(WeightsInvalid, match=r"tokenizer\.json"):
        sentence_tokens(tmp_path, 16)
    (tmp_path / "tokenizer.json").write_text("{}", encoding="utf-8")
    with pytest.raises(WeightsInvalid, match="not a tokenizer"):
        sentence_tokens(tmp_path, 16)


@pytest.mark.slow
def test_pieces_of_some_letters_give_the_tokens_of_all_pieces(monkeypatch) -> None:
    path = find_weights(Q4, EncoderSettings()) / FILE
    texts = (
        "Who wears a hat?",
        "",
        " a\tb ",
        "\ufb01ne \u2460",
        "今日は良い天気",
        "Привет",
        "\U0001f600\U0001f600 x",
        LONG,
    )
    with ThreadPoolExecutor(4) as pool:  # as encoders use it
        grown = list(pool.map(E5File(path).tokens, texts))
    found = [
        [E5File(path).tokens(text).tolist(), ids.tolist()] for text, ids in zip(texts, grown, strict=True)
    ]
    monkeypatch.setattr(PieceTokens, "GROWN", 0)
    whole = E5File(path).tokens
    assert found == [[whole(text).tolist()] * 2 for text in texts]
    assert len(found[0][0]) > 5


def test_a_text_is_encoded_once_and_rows_come_in_the_order_asked() -> None:
    held = BagOfWords().keep_rows()
    first = held.encode_text(["lamp", "drill", "lamp"])
    assert np.array_equal(first, BagOfWords().encode_text(["lamp", "drill", "lamp"]))
    assert np.array_equal(held.encode_text(["drill", "lamp"]), first[[1, 0]])
    assert held.encoded == ["lamp", "drill"]
    assert held.encode_text([]).shape == (0, held.dim)


def test_beyond_a_bound_it_begins_anew(monkeypatch) -> None:
    monkeypatch.setattr("indexers.protocol.KEPT", 2)
    held, asked = BagOfWords().keep_rows(), ["lamp", "drill", "iron", "spoon", "lamp"]
    for text in asked:
        assert np.array_equal(held.encode_text([text]), BagOfWords().encode_text([text]))
    assert held.encoded == asked
