"""Weights on this machine: where they are looked for, what is whole, what `auto` takes, and what is said."""

import os
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save

from indexers.models import lookup
from indexers.models.catalogue import MODELS, known_model
from indexers.models.lookup import find_weights, home_folder, list_models
from indexers.registry import AUTO_ORDER, resolve_image_encoder, resolve_text_encoder
from indexers.settings import EncoderSettings
from rag.errors import SettingsError, WeightsInvalid, WeightsMissing

NAME = "metaclip-l14-fullcc2.5b"
INDEX = "model.safetensors.index.json"
NONE = {"model.safetensors": None}
TENSORS = save({"a": np.ones((2, 3), np.float32)})


@pytest.fixture
def settings(tmp_path) -> EncoderSettings:
    return EncoderSettings(models_dir=tmp_path / "models")


def fill(folder: Path, **changes: bytes | None) -> Path:
    """A whole CLIP-like model in `folder`; `changes` replace files, or with None leave them out."""
    files: dict[str, bytes | None] = {
        "config.json": b'{"model_type": "clip"}',
        "preprocessor_config.json": b"{}",
        "tokenizer.json": b"{}",
        "model.safetensors": TENSORS,
    }
    folder.mkdir(parents=True)
    for name, data in (files | changes).items():
        if data is not None:
            (folder / name).write_bytes(data)
    return folder


def test_unknown_names_are_refused() -> None:
    assert known_model("hf:some/model").repo == "some/model"
    assert known_model("openclip:ViT-B-16/openai").family == "openclip"
    for name in ("clip", "hf:model", "hf:../x", "hf:a/b/c", "zip:a/b", ""):
        with pytest.raises(SettingsError, match="rag models list"):
            known_model(name)


def test_places_in_their_order(settings: EncoderSettings, tmp_path) -> None:
    name = "clip-vit-base-patch32"
    cache = Path(os.environ["HF_HOME"]) / "hub" / "models--openai--clip-vit-base-patch32"
    for revision in ("aaaa", "bbbb"):
        fill(cache / "snapshots" / revision)
    assert find_weights(name, settings) == cache / "snapshots" / "aaaa"
    (cache / "refs").mkdir()
    (cache / "refs" / "main").write_text("bbbb\n")
    assert find_weights(name, settings) == cache / "snapshots" / "bbbb"
    pinned = fill(cache / "snapshots" / str(known_model(name).revision))
    assert find_weights(name, settings) == pinned
    data = fill(Path(os.environ["XDG_DATA_HOME"], "rag", "models", name))
    assert find_weights(name, settings) == find_weights(name, EncoderSettings()) == data
    own = fill(tmp_path / "models" / name)
    assert find_weights(name, settings) == own
    assert find_weights(name, EncoderSettings()) == data


def test_missing_says_where_and_how(settings: EncoderSettings) -> None:
    with pytest.raises(WeightsMissing) as caught:
        find_weights(NAME, settings)
    home = home_folder(known_model(NAME), settings)
    assert str(caught.value) == (
        f"{NAME} is not on this machine: run `rag models pull {NAME}`, or put its files into {home}"
    )
    with pytest.raises(WeightsMissing, match=r"put imagebind_huge\.pth into .*dl\.fbaipublicfiles"):
        find_weights("imagebind-huge", settings)


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"config.json": None}, "no config.json"),
        ({"preprocessor_config.json": None}, "no preprocessor_config.json or processor_config.json"),
        (
            NONE | {"pytorch_model.bin": b"\x80"},
            "no model.safetensors, only pytorch_model.bin, a pickle, which",
        ),
        (NONE | {INDEX: b"{}"}, f"{INDEX} cannot be read"),
        (NONE | {INDEX: b'{"weight_map": {"a": "1-of-2.safetensors"}}'}, "no 1-of-2.safetensors"),
    ],
)
def test_a_wrong_folder_is_one_line(
    settings: EncoderSettings, tmp_path, changes: dict[str, bytes | None], fault: str
) -> None:
    folder = fill(tmp_path / "models" / NAME, **changes)
    with pytest.raises(WeightsInvalid) as caught:
        find_weights(NAME, settings)
    message = str(caught.value)
    assert fault in message
    assert "\n" not in message
    assert str(folder) in message
    assert f"download it again with: rag models pull {NAME}" in message


def test_auto_takes_the_best_that_is_here(settings: EncoderSettings, tmp_path, monkeypatch) -> None:
    assert resolve_image_encoder(settings).name == AUTO_ORDER[-1]
    monkeypatch.setattr(lookup, "BUNDLED", {})
    nothing = resolve_image_encoder(settings)
    assert nothing.name is None
    assert nothing.reason == (
        "no image encoder on this machine: clips are searched by text alone; "
        "install one with: rag models pull siglip2-base-patch16-224 (1.5 GB, Apache-2.0)"
    )
    fill(tmp_path / "models" / NAME)
    taken = resolve_image_encoder(settings)
    assert taken.name == NAME
    licence = "CC-BY-NC-4.0, non-commercial use only"
    assert taken.reason == f"{NAME} ({licence}), from {tmp_path / 'models' / NAME}"
    fill(tmp_path / "models" / "siglip2-base-patch16-224", **{"model.safetensors": None})
    passed = resolve_image_encoder(settings)
    assert passed.name == NAME
    assert "passed over siglip2-base-patch16-224" in passed.reason
    (tmp_path / "models" / "siglip2-base-patch16-224" / "model.safetensors").write_bytes(TENSORS)
    assert resolve_image_encoder(settings).name == "siglip2-base-patch16-224"


def test_a_named_encoder_has_to_be_here(settings: EncoderSettings) -> None:
    def named(image: str) -> EncoderSettings:
        return settings.model_copy(update={"image": image})

    nothing = resolve_image_encoder(named("none"))
    assert (nothing.name, nothing.reason.partition(";")[0]) == (None, "encoder.image is none")
    with pytest.raises(WeightsMissing):
        resolve_image_encoder(named(NAME))
    with pytest.raises(SettingsError, match="all-MiniLM-L6-v2 is for text encoder, not for image encoder"):
        resolve_image_encoder(named("all-MiniLM-L6-v2"))
    with pytest.raises(SettingsError, match="no model is called"):
        resolve_image_encoder(named("metaclip"))


def test_a_folder_of_open_clip_has_either_name_of_its_weights(tmp_path) -> None:
    names = {"config.json": None, "open_clip_config.json": b"{}"}
    for place, weights in enumerate(("model.safetensors", "open_clip_model.safetensors")):
        folder = fill(tmp_path / str(place), **{**names, "model.safetensors": None, weights: TENSORS})
        assert resolve_image_encoder(EncoderSettings(image=f"openclip:{folder}")).name
    (folder / weights).rename(folder / "open_clip_pytorch_model.bin")
    with pytest.raises(WeightsInvalid, match=r"only open_clip_pytorch_model\.bin, a pickle"):
        resolve_image_encoder(EncoderSettings(image=f"openclip:{folder}"))


def test_the_text_encoder_is_checked(tmp_path) -> None:
    for name in (EncoderSettings().text, "all-MiniLM-L6-v2"):
        assert f"{name}, from" in resolve_text_encoder(EncoderSettings(text=name))
    with pytest.raises(WeightsInvalid, match=r"no modules\.json"):
        resolve_text_encoder(EncoderSettings(text=f"hf:{fill(tmp_path / 'bert')}"))


def test_names_that_mean_a_folder(tmp_path, monkeypatch) -> None:
    folder = fill(tmp_path / "models" / "clip")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SettingsError, match=f"; the folder is hf:{folder}$"):
        resolve_image_encoder(EncoderSettings(image="models/clip"))
    for name in ("./models/clip", str(folder), f"hf:{folder}"):
        assert resolve_image_encoder(EncoderSettings(image=name)).name == name
    with pytest.raises(WeightsMissing, match=r"; the folder models/clip is hf:\./models/clip$"):
        resolve_image_encoder(EncoderSettings(image="hf:models/clip"))
    cached = tmp_path / "models--me--clip"
    for part in ("blobs", "snapshots/abc"):
        (cached / part).mkdir(parents=True)
    with pytest.raises(WeightsInvalid, match=r"in the hub.s cache; name a snapshot: .*/snapshots/abc$"):
        resolve_image_encoder(EncoderSettings(image=f"hf:{cached}"))


def test_the_list_says_what_is_here_and_what_is_broken(settings: EncoderSettings, tmp_path) -> None:
    fill(tmp_path / "models" / NAME)
    fill(tmp_path / "models" / "metaclip-b16-fullcc2.5b", **{"config.json": None})
    rows = {row.name: row for row in list_models(settings)}
    assert list(rows) == [model.name for model in MODELS]
    assert rows[NAME].here
    assert rows[NAME].path == str(tmp_path / "models" / NAME)
    broken = rows["metaclip-b16-fullcc2.5b"]
    assert not broken.here
    assert "no config.json" in broken.problem
    assert rows["all-MiniLM-L6-v2"].here
    assert rows["siglip2-base-patch16-224"].recommended


def test_a_package_that_is_missing_is_named(settings: EncoderSettings, monkeypatch) -> None:
    monkeypatch.setattr(lookup, "BUNDLED", {})
    with pytest.raises(WeightsMissing, match=r"'\.\[asr\]' \(in the checkout\), or run `rag models pull"):
        find_weights("faster-whisper-base", settings)
    with pytest.raises(
        WeightsMissing, match=r"'\.' \(in the checkout\), or put model.onnx and tokenizer.json"
    ):
        find_weights("ms-marco-minilm-l12", settings)


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("multilingual-e5-small-q4", "`rag models pull multilingual-e5-small` and set encoder.text to "),
        ("efficientnet-lite2", "`rag models pull siglip2-base-patch16-224` and set encoder.image to "),
    ],
)
def test_what_to_do_without_the_package_of_a_default_encoder(
    name: str, advice: str, settings: EncoderSettings, monkeypatch
) -> None:
    monkeypatch.setattr(lookup, "BUNDLED", {})
    model = known_model(name)
    with pytest.raises(WeightsMissing, match=advice) as refused:
        find_weights(name, settings)
    assert str(refused.value).endswith(f"put {model.files[0]} into {home_folder(model, settings)}")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("name", ["efficientnet-lite2", "ms-marco-minilm-l12", "multilingual-e5-small-q4"])
def test_another_file_than_the_packages_is_refused_where_files_are_looked_for(
    name: str, settings: EncoderSettings, monkeypatch
) -> None:
    monkeypatch.setattr(lookup, "BUNDLED", {})
    model = known_model(name)
    folder = home_folder(model, settings)
    folder.mkdir(parents=True)
    for file in model.files:
        (folder / file).write_bytes(b"other")
    with pytest.raises(WeightsInvalid, match=f"{model.files[0]} is not the file that was published"):
        find_weights(name, settings)
    assert next(row for row in list_models(settings) if row.name == name).problem
