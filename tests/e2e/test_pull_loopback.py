"""A pull against a hub served on loopback: what comes, what is refused, and what a broken line leaves."""

import dataclasses
import json
import math
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from threading import Event

import numpy as np
import pytest
from huggingface_hub import close_session, constants
from safetensors.numpy import save

from indexers.models import catalogue
from indexers.models.catalogue import known_model
from indexers.models.lookup import find_weights, home_folder
from indexers.models.pull import pull
from indexers.settings import EncoderSettings
from rag.errors import ModelError, WeightsInvalid, WeightsMissing
from tests.fakes.loopback_hub import Hub, serve, sha256

NAME = "hf:tiny/clip"
SIGLIP = "siglip2-base-patch16-224"
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
def settings(tmp_path) -> EncoderSettings:
    return EncoderSettings(models_dir=tmp_path / "models")


@pytest.fixture(autouse=True)
def _online(monkeypatch) -> None:
    """The network, which in tests ends at loopback, may be used; attempts follow at once."""
    monkeypatch.delenv("HF_HUB_OFFLINE")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "DOWNLOAD_CHUNK_SIZE", 100)
    close_session()
    monkeypatch.setattr(time, "sleep", lambda _: None)


def publish(monkeypatch: pytest.MonkeyPatch, name: str, sha256: dict[str, str]) -> None:
    """Make the catalogue one of that model alone, held to these digests."""
    model = dataclasses.replace(known_model(name), name=name, revision=None, sha256=sha256)
    monkeypatch.setattr(catalogue, "MODELS", (model,))


@pytest.fixture
def hub(monkeypatch) -> Iterator[Hub]:
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
    assert {path.name for path in folder.parent.iterdir()} == {folder.name, f".{folder.name}.lock"}
    asked = " ".join(path for path, _ in hub.requests)
    assert "pytorch_model.bin" not in asked
    assert "modeling.py" not in asked
    assert "/storage/model.safetensors" in asked
    hub.requests.clear()
    pull(NAME, settings)
    assert hub.requests == []


@pytest.mark.usefixtures("hub")
def test_a_changed_file_is_pulled_again(settings: EncoderSettings) -> None:
    folder = pull(NAME, settings)
    for content in (b'{"version": "2.0"}', b""):
        (folder / "tokenizer.json").write_bytes(content)
        assert pull(NAME, settings) == folder
        assert (folder / "tokenizer.json").read_bytes() == FILES["tokenizer.json"]
    (folder / "MODEL.json").write_text('{"name": 1}')
    assert json.loads((pull(NAME, settings) / "MODEL.json").read_text())["name"] == NAME


def test_a_line_that_breaks_gives_the_whole_file(hub: Hub, settings: EncoderSettings) -> None:
    data = hub.files["model.safetensors"] = save({"weight": np.zeros(20_000, np.uint8)})
    hub.breaks = 999
    folder = pull(NAME, settings)
    assert (folder / "model.safetensors").read_bytes() == data
    asked = hub.ranges("storage/model.safetensors")
    assert asked == ["", *(f"bytes={start}-" for start in range(900, len(data), 900))]


def test_a_pull_given_up_goes_on_the_next_time(hub: Hub, settings: EncoderSettings) -> None:
    hub.left = 5000
    with pytest.raises(WeightsMissing, match=r"is this machine online\? what came so far is kept in"):
        pull(NAME, settings)
    with pytest.raises(WeightsMissing, match="is not on this machine"):
        find_weights(NAME, settings)
    assert set(hub.ranges("storage/model.safetensors")) == {"", "bytes=5000-"}
    hub.left = math.inf
    folder = pull(NAME, settings)
    assert (folder / "model.safetensors").read_bytes() == WEIGHTS
    assert hub.ranges("storage/model.safetensors")[-1] == "bytes=5000-"


def test_a_second_pull_waits_for_the_first_and_goes_on_where_it_was_killed(
    hub: Hub, monkeypatch, settings: EncoderSettings
) -> None:
    hub.files["model.safetensors"] = save({"weight": np.zeros(25_000_000, np.uint8)})
    hub.gate.clear()
    monkeypatch.setenv("RAG_ENCODER__MODELS_DIR", str(settings.models_dir))
    command = [sys.executable, "-c", "from rag._cli.main import run; run()", "models", "pull", NAME]
    start = partial(subprocess.Popen, command, text=True, stderr=subprocess.PIPE)
    with start() as first:
        while not hub.ranges("storage/model.safetensors"):
            assert first.poll() is None
            Event().wait(0.02)
        with start() as second:
            assert second.stderr.readline().startswith(f"{NAME}: not pinned")
            assert second.stderr.readline() == f"{NAME}: another process pulls it; waiting for it\n"
            first.kill()
            first.wait()
            hub.gate.set()
    assert (first.returncode, second.returncode) == (-9, 0)
    assert find_weights(NAME, settings) == home_folder(known_model(NAME), settings)
    assert set(hub.ranges("storage/model.safetensors")) == {"", f"bytes={10 * 2**20}-"}


def test_a_full_disk_is_seen_before_the_first_byte(hub: Hub, monkeypatch, settings: EncoderSettings) -> None:
    usage = shutil.disk_usage(Path.cwd())
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=2_000_000))
    hub.files["model.safetensors"] = save({"weight": np.zeros(3_000_000, np.uint8)})
    with pytest.raises(ModelError, match="no space left: 3 MB are needed, 2 MB are free"):
        pull(NAME, settings)
    assert hub.ranges("model.safetensors") == []


def test_a_file_name_that_climbs_out_is_passed_over(hub: Hub, settings: EncoderSettings) -> None:
    hub.files["model-1-of-/../../../evil.safetensors"] = WEIGHTS
    folder = pull(NAME, settings)
    assert sorted(path.name for path in folder.parent.parent.rglob("*.safetensors")) == ["model.safetensors"]


def test_the_token_stays_with_the_hub(hub: Hub, monkeypatch, settings: EncoderSettings) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    pull(NAME, settings)
    assert "Bearer hf_secret" in hub.tokens
    assert hub.storage_tokens == {""}


@pytest.mark.parametrize("name", ["model.safetensors", "config.json"])
def test_bytes_that_are_not_what_the_hub_promised(hub: Hub, settings: EncoderSettings, name: str) -> None:
    hub.corrupted[name] = FILES[name][:-2] + b" }"
    with pytest.raises(WeightsInvalid, match=f"{name} is wrong: .*; it was deleted"):
        pull(NAME, settings)
    assert not home_folder(known_model(NAME), settings).exists()
    assert len(hub.ranges("storage/model.safetensors")) == (name == "model.safetensors")
    hub.corrupted.clear()
    pull(NAME, settings)
    assert (home_folder(known_model(NAME), settings) / name).read_bytes() == FILES[name]


def test_other_bytes_than_published_are_refused_before_the_weights_come(
    hub: Hub, monkeypatch, settings: EncoderSettings
) -> None:
    publish(monkeypatch, NAME, {"config.json": "0" * 64})
    with pytest.raises(WeightsInvalid, match=f"config.json is wrong: .*, published {'0' * 64}"):
        pull(NAME, settings)
    assert hub.ranges("model.safetensors") == []


@pytest.mark.parametrize(
    ("name", "variables", "facts", "said"),
    [
        (NAME, {}, {"page": "/api/"}, " a page came that is not the hub's: check HF_ENDPOINT"),
        (NAME, {}, {"gated": True}, ": gated: accept its licence there, set HF_TOKEN"),
        (NAME, {}, {"files": {"config.json": b"{}"}}, "has no safetensors; pickles are never loaded"),
        (
            NAME,
            {"ALL_PROXY": "socks5://127.0.0.1:9"},
            {},
            "the proxy of the environment cannot be used: .*socksio",
        ),
        (NAME, {"HF_ENDPOINT": "http://127.0.0.1:9"}, {}, "refused: is this machine online"),
        ("hf:tiny/other", {}, {}, r"tiny/other@main at .*: no such repository, or not for you"),
        (SIGLIP, {}, {"repo": f"google/{SIGLIP}"}, r"@75de2d55.*: no such commit"),
        ("imagebind-huge", {}, {}, r"put imagebind_huge\.pth into .*imagebind-huge"),
    ],
)
def test_what_cannot_be_pulled_is_one_line(
    hub: Hub,
    monkeypatch,
    settings: EncoderSettings,
    name: str,
    variables: dict[str, str],
    facts: dict[str, object],
    said: str,
) -> None:
    vars(hub).update(facts)
    for variable, value in variables.items():
        monkeypatch.setenv(variable, value)
    with pytest.raises(WeightsMissing, match=said) as caught:
        pull(name, settings)
    assert "\n" not in str(caught.value)
    assert not variables or hub.requests == []
