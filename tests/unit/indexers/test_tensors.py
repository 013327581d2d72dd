"""Weights: exact values without torch, shards, files of another kind, and hashes that are remembered."""

import hashlib
import json
import os
from pathlib import Path

import numpy as np
import pytest

from indexers import digests
from indexers.digests import file_digest
from indexers.tensors import Tensors, weight_files
from rag.errors import WeightsInvalid


@pytest.fixture
def file(tmp_path: Path) -> Path:
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


def test_a_file_that_cannot_be_read_is_named_with_its_reason(tmp_path: Path) -> None:
    """A folder in its place, as a file without permission, to which root has it."""
    with pytest.raises(WeightsInvalid, match=r"cannot be read \(is a directory\)"):
        Tensors([tmp_path])


@pytest.fixture
def weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = tmp_path / "weights.bin"
    path.write_bytes(b"one")
    return path


def _cache() -> Path:
    return Path(os.environ["XDG_CACHE_HOME"]) / "rag" / "digests.json"


def test_it_is_remembered_between_processes(weights: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = file_digest(weights)
    digests._file_digest.cache_clear()
    monkeypatch.setattr(hashlib, "file_digest", None)
    assert file_digest(weights) == before


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
