"""A pull against a hub served on loopback: what comes, what is refused, and what a broken line leaves."""

from __future__ import annotations

import io
import json
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from huggingface_hub import constants
from safetensors.numpy import load_file, save

from indexers.models.catalogue import PINS, Pin, known_model
from indexers.models.lookup import find_weights, home_folder
from indexers.models.pull import pull
from indexers.models.verify import verify
from indexers.settings import EncoderSettings
from rag.errors import ModelError, WeightsInvalid, WeightsMissing
from tests.fakes.loopback_hub import Hub, serve, sha256

NAME = "hf:tiny/clip"
WEIGHTS = save({"weight": np.arange(3000, dtype=np.float32)})
FILES = {
    "config.json": b'{"model_type": "clip"}',
    "preprocessor_config.json": b"{}",
    "tokenizer.json": b'{"version": "1.0"}',
    "model.safetensors": WEIGHTS,
    "pytorch_model.bin": b"a pickle, never to be asked for",
    "README.md": b"not wanted",
    "modeling.py": b"raise SystemExit('remote code')",
}
WANTED = {"config.json", "preprocessor_config.json", "tokenizer.json", "model.safetensors"}


@pytest.fixture
def settings(tmp_path: Path) -> EncoderSettings:
    return EncoderSettings(models_dir=tmp_path / "models")


@pytest.fixture(autouse=True)
def _online(monkeypatch: pytest.MonkeyPatch) -> None:
    """The hub library may use the network, which in tests ends at loopback; its waits are not waited for,
    and its chunks are smaller than the files."""
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "DOWNLOAD_CHUNK_SIZE", 1000)
    monkeypatch.setattr(time, "sleep", lambda _: None)


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    with serve(Hub("tiny/clip", dict(FILES))) as served:
        monkeypatch.setenv("HF_ENDPOINT", served.endpoint)
        yield served


def test_a_pull_stores_the_wanted_files_and_a_lock(hub: Hub, settings: EncoderSettings) -> None:
    seen: dict[str, int] = {}

    def watch(path: str, done: int, total: int) -> None:
        assert done <= total
        seen[path] = done

    folder = pull(NAME, settings, watch)
    assert folder == home_folder(known_model(NAME), settings) == find_weights(NAME, settings)
    assert {path.name for path in folder.iterdir()} == WANTED | {"MODEL.json"}
    assert (folder / "model.safetensors").read_bytes() == WEIGHTS
    lock = json.loads((folder / "MODEL.json").read_text())
    assert lock["revision"] == hub.commit
    assert lock["sha256"] == {name: sha256(FILES[name]) for name in WANTED}
    assert seen == {name: len(FILES[name]) for name in WANTED}
    assert {path.name for path in folder.parent.iterdir()} == {folder.name}
    asked = " ".join(path for _, path, _ in hub.requests)
    assert "pytorch_model.bin" not in asked
    assert "modeling.py" not in asked
    assert f"/storage/{'model.safetensors'}" in asked


def test_a_second_pull_asks_for_nothing(hub: Hub, settings: EncoderSettings) -> None:
    pull(NAME, settings)
    hub.requests.clear()
    pull(NAME, settings)
    assert hub.requests == []


@pytest.mark.usefixtures("hub")
def test_verify_holds_the_files_to_the_first_pull(settings: EncoderSettings) -> None:
    folder = pull(NAME, settings)
    assert verify(NAME, settings).ok
    assert verify(NAME, settings).pinned
    (folder / "tokenizer.json").write_bytes(b'{"version": "2.0"}')
    (folder / "tokenizer_config.json").write_bytes(b"{}")
    checks = {check.path: check.state for check in verify(NAME, settings).files}
    assert checks == dict.fromkeys(WANTED, "ok") | {
        "tokenizer.json": "changed",
        "tokenizer_config.json": "unpinned",
    }
    assert not verify(NAME, settings).ok
    again = pull(NAME, settings)
    assert again == folder
    assert verify(NAME, settings).ok


def test_a_cut_connection_is_resumed_where_it_broke(hub: Hub, settings: EncoderSettings) -> None:
    hub.cuts["model.safetensors"] = 2
    folder = pull(NAME, settings)
    assert (folder / "model.safetensors").read_bytes() == WEIGHTS
    assert hub.ranges("model.safetensors") == ["", "bytes=6000-", "bytes=9000-"]


def test_a_pull_given_up_goes_on_the_next_time(hub: Hub, settings: EncoderSettings) -> None:
    hub.cuts["model.safetensors"] = 10**6
    # Halves of halves of the file: the retries of one pull come to an end long before the bytes do.
    hub.files["model.safetensors"] = save({"weight": np.arange(40_000, dtype=np.float32)})
    with pytest.raises(WeightsMissing, match=r"is this machine online\? what came so far is kept in"):
        pull(NAME, settings)
    with pytest.raises(WeightsMissing, match="is not on this machine"):
        find_weights(NAME, settings)
    hub.cuts.clear()
    hub.requests.clear()
    folder = pull(NAME, settings)
    assert (folder / "model.safetensors").read_bytes() == hub.files["model.safetensors"]
    assert [range_ for range_ in hub.ranges("model.safetensors") if range_ in ("", "bytes=0-")] == []


def test_a_full_disk_is_seen_before_the_first_byte(
    hub: Hub, monkeypatch: pytest.MonkeyPatch, settings: EncoderSettings
) -> None:
    usage = shutil.disk_usage(Path.cwd())
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=100))
    with pytest.raises(ModelError, match="no space left"):
        pull(NAME, settings)
    assert hub.ranges("model.safetensors") == []


def test_a_file_name_that_climbs_out_is_passed_over(hub: Hub, settings: EncoderSettings) -> None:
    hub.files["model-1-of-/../../../evil.safetensors"] = WEIGHTS
    folder = pull(NAME, settings)
    assert sorted(path.name for path in folder.parent.parent.rglob("*.safetensors")) == ["model.safetensors"]


def test_the_token_stays_with_the_hub(
    hub: Hub, monkeypatch: pytest.MonkeyPatch, settings: EncoderSettings
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    pull(NAME, settings)
    assert "Bearer hf_secret" in hub.tokens
    assert hub.storage_tokens == {""}


@pytest.mark.parametrize("name", ["model.safetensors", "config.json"])
def test_bytes_that_are_not_what_the_hub_promised(hub: Hub, settings: EncoderSettings, name: str) -> None:
    hub.corrupted[name] = FILES[name][:-2] + b" }"
    with pytest.raises(WeightsInvalid, match=f"{name} from .* is wrong: .*; it was deleted"):
        pull(NAME, settings)
    assert not home_folder(known_model(NAME), settings).exists()
    hub.corrupted.clear()
    pull(NAME, settings)
    assert verify(NAME, settings).ok


def test_a_pinned_model_with_other_bytes_is_refused(
    monkeypatch: pytest.MonkeyPatch, settings: EncoderSettings
) -> None:
    name = "siglip2-base-patch16-224"
    pin = PINS[name]
    assert pin.revision is not None
    with serve(Hub(f"google/{name}", dict(FILES), commit=pin.revision)) as served:
        monkeypatch.setenv("HF_ENDPOINT", served.endpoint)
        with pytest.raises(WeightsInvalid, match=f"published {'|'.join(pin.sha256.values())}"):
            pull(name, settings)


def test_the_pinned_commit_is_asked_for(monkeypatch: pytest.MonkeyPatch, settings: EncoderSettings) -> None:
    with serve(Hub("google/siglip2-base-patch16-224", dict(FILES))) as served:
        monkeypatch.setenv("HF_ENDPOINT", served.endpoint)
        with pytest.raises(WeightsMissing, match="has no commit 75de2d55"):
            pull("siglip2-base-patch16-224", settings)


def test_unknown_and_gated_repositories(hub: Hub, settings: EncoderSettings) -> None:
    with pytest.raises(WeightsMissing, match="no such repository, or not for you: tiny/other at http"):
        pull("hf:tiny/other", settings)
    hub.gated = True
    with pytest.raises(WeightsMissing, match="is gated: accept its licence there, set HF_TOKEN"):
        pull(NAME, settings)


def test_no_hub_at_all(monkeypatch: pytest.MonkeyPatch, settings: EncoderSettings) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(WeightsMissing, match=r"cannot be reached .* is this machine online") as caught:
        pull(NAME, settings)
    assert "\n" not in str(caught.value)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(WeightsMissing, match="HF_HUB_OFFLINE forbids the network"):
        pull(NAME, settings)


@pytest.mark.usefixtures("hub")
def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "models").write_text("a file")
    with pytest.raises(ModelError, match="models"):
        pull(NAME, EncoderSettings(models_dir=tmp_path / "models"))


def test_a_repository_with_nothing_but_a_pickle(hub: Hub, settings: EncoderSettings) -> None:
    del hub.files["model.safetensors"]
    with pytest.raises(WeightsMissing, match=r"holds no safetensors at commit .*; pickles are never loaded"):
        pull(NAME, settings)


def test_the_one_known_pickle_becomes_safetensors(
    monkeypatch: pytest.MonkeyPatch, settings: EncoderSettings
) -> None:
    import torch

    name, values = "metaclip-b32-400m", torch.arange(6.0).reshape(2, 3)
    buffer = io.BytesIO()
    torch.save({"a": values, "b": values.T}, buffer)
    files = {key: data for key, data in FILES.items() if key != "model.safetensors"}
    files["pytorch_model.bin"] = buffer.getvalue()
    with serve(Hub(f"facebook/{name}", files)) as served:
        monkeypatch.setenv("HF_ENDPOINT", served.endpoint)
        with pytest.raises(WeightsInvalid, match="published 3b5c64e1"):
            pull(name, settings)
        monkeypatch.setitem(PINS, name, Pin(None, {"pytorch_model.bin": sha256(buffer.getvalue())}))
        folder = pull(name, settings)
    tensors = load_file(folder / "model.safetensors")
    np.testing.assert_array_equal(tensors["b"], values.numpy().T)
    assert not (folder / "pytorch_model.bin").exists()
    assert json.loads((folder / "MODEL.json").read_text())["converted_from"].startswith("pytorch_model.bin")
    assert verify(name, settings).ok


def test_a_pickle_with_code_in_it_is_not_run(
    monkeypatch: pytest.MonkeyPatch, settings: EncoderSettings, tmp_path: Path
) -> None:
    """Even one of the published hash goes through torch's restricted unpickler."""
    import torch

    class Bomb:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return Path.touch, (str(tmp_path / "ran"),)

    buffer = io.BytesIO()
    torch.save({"a": Bomb()}, buffer)
    name = "metaclip-b32-400m"
    files = {key: data for key, data in FILES.items() if key != "model.safetensors"}
    files["pytorch_model.bin"] = buffer.getvalue()
    monkeypatch.setitem(PINS, name, Pin(None, {"pytorch_model.bin": sha256(buffer.getvalue())}))
    with serve(Hub(f"facebook/{name}", files)) as served:
        monkeypatch.setenv("HF_ENDPOINT", served.endpoint)
        with pytest.raises(WeightsInvalid, match="cannot be turned into safetensors"):
            pull(name, settings)
    assert not (tmp_path / "ran").exists()


def test_a_model_that_is_not_on_the_hub(settings: EncoderSettings) -> None:
    with pytest.raises(WeightsMissing, match=r"put imagebind_huge\.pth into .*imagebind-huge"):
        pull("imagebind-huge", settings)
