"""Speech: windows of bounded size, honest switches, and the installed Whisper on a synthetic voice."""

import itertools
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from corpora.video.audio import read_audio
from indexers.asr import RATE, WINDOW, Asr, asr_line, open_asr, quiet_cut, voiced_part, windows
from indexers.models.catalogue import known_model
from indexers.models.lookup import file_parts, find_weights
from indexers.protocol import Disabled
from indexers.settings import AsrSettings, EncoderSettings
from rag.errors import DeviceFull, SettingsError, WeightsInvalid, WeightsMissing

MODEL = AsrSettings().model


@dataclass
class Said:
    start: float
    end: float
    text: str
    compression_ratio: float = 1.0
    avg_logprob: float = -0.3


class Parrot:
    """In place of a WhisperModel; says what it was given."""

    def __init__(self, *said: Said, language_probability: float = 1.0) -> None:
        self.said: Iterable[Said] = said
        self.info = SimpleNamespace(language_probability=language_probability)
        self.transcribed: list[int] = []
        self.options: dict[str, Any] = {}

    def transcribe(self, audio: NDArray[np.float32], **options: Any) -> tuple[Iterator[Said], Any]:
        self.transcribed.append(len(audio))
        self.options = options
        return iter(self.said), self.info


def listener(model: Any, language: str = "") -> Asr:
    """Takes all sound for a voice."""
    return Asr(model, language, "", "", lambda audio: [(0.0, len(audio) / RATE)])


def pull(models: Path) -> Path:
    """The installed weights as `rag models pull` lays them in the folder `models`."""
    folder, packaged = models / MODEL, find_weights(MODEL, EncoderSettings())
    folder.mkdir(parents=True)
    for name in known_model(MODEL).sha256:
        (folder / name).write_bytes(
            b"".join(part.read_bytes() for part in file_parts(MODEL, packaged / name))
        )
    return folder


@pytest.fixture(scope="module")
def models(tmp_path_factory) -> Path:
    return pull(tmp_path_factory.mktemp("whisper")).parent


@pytest.fixture(scope="module")
def installed() -> Asr:
    """Whisper as the settings have it."""
    asr = open_asr(AsrSettings(mode="on"))
    assert isinstance(asr, Asr)
    return asr


def noise(seconds: float, seed: int = 0) -> NDArray[np.float32]:
    return np.random.default_rng(seed).normal(0, 0.1, int(seconds * RATE)).astype(np.float32)


@pytest.mark.parametrize("sizes", [[WINDOW * 2 + 5], [0, 1, WINDOW - 1, 7], []])
def test_windows_hold_everything_once_and_never_more_than_a_window(sizes: list[int]) -> None:
    total = sum(sizes)
    whole = np.arange(total, dtype=np.float32)
    ends = list(itertools.accumulate(sizes))
    pieces = list(windows(whole[end - size : end] for size, end in zip(sizes, ends, strict=True)))
    assert [offset for offset, _ in pieces] == [0, *itertools.accumulate(len(audio) for _, audio in pieces)][
        : len(pieces)
    ]
    assert all(0 < len(audio) <= WINDOW for _, audio in pieces)
    joined = np.concatenate([audio for _, audio in pieces]) if pieces else np.empty(0, np.float32)
    np.testing.assert_array_equal(joined, whole)


def test_the_cut_is_in_the_silence() -> None:
    audio = noise(60)
    audio[50 * RATE : 51 * RATE] = 0
    assert 50 * RATE < quiet_cut(audio) < 51 * RATE
    assert quiet_cut(np.zeros(100, np.float32)) == 100
    assert 59.5 * RATE < quiet_cut(np.zeros(60 * RATE, np.float32)) < 60 * RATE


def test_times_count_from_the_first_sample_of_all() -> None:
    parrot = Parrot(Said(1.0, 2.5, " two  words "))
    transcribed = list(listener(parrot, "en").transcribe([np.zeros(WINDOW + RATE * 60, np.float32)]))
    first = parrot.transcribed[0] / RATE
    assert len(parrot.transcribed) == 2
    assert transcribed == [(1.0, 2.5, "two words"), (first + 1.0, first + 2.5, "two words")]
    assert parrot.options["temperature"] == 0.0
    assert parrot.options["language"] == "en"


def test_what_is_empty_repeating_invented_or_past_the_end_is_dropped_or_cut() -> None:
    parrot = Parrot(
        Said(0.0, 1.0, "  "),
        Said(0.0, 9.0, "the end"),
        Said(1.0, 2.0, "la la la la", 3.0),
        Said(1.0, 2.0, "Thank you.", avg_logprob=-0.6),
        Said(1.0, 3.0, "Lāds agrās.", avg_logprob=-1.3),
        Said(5.0, 6.0, "no"),
    )
    transcribed = list(listener(parrot).transcribe([np.zeros(RATE * 4, np.float32)]))
    assert transcribed == [(0.0, 4.0, "the end")]
    assert parrot.options["language"] is None


def test_words_of_an_uncertain_language_must_be_likely() -> None:
    said = [Said(0.0, 2.0, "said", avg_logprob=-0.4), Said(2.0, 4.0, "invented", avg_logprob=-0.7)]
    doubtful = listener(Parrot(*said, language_probability=0.5))
    audio = [np.zeros(RATE * 4, np.float32)]
    assert [text for *_, text in doubtful.transcribe(audio)] == ["said"]
    assert [text for *_, text in listener(Parrot(*said)).transcribe(audio)] == ["said", "invented"]


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ((0.5, 4.0), (1.0, 3.0)),
        ((1.2, 2.8), (1.0, 3.0)),
        ((2.9, 6.5), (4.0, 6.0)),
        ((4.8, 5.2), (4.8, 5.2)),
        ((3.2, 3.9), None),
    ],
)
def test_a_line_lasts_as_long_as_its_voice(
    line: tuple[float, float], part: tuple[float, float] | None
) -> None:
    assert voiced_part([(1.0, 3.0), (4.0, 6.0)], *line) == part


@pytest.mark.slow
def test_the_installed_weights_hear_what_is_said_and_when(installed: Asr) -> None:
    """In a clip of the demo, a voice speaks from 6 s and from 12 s on."""
    clip = resources.files("eval").joinpath("demo_clips", "IMG_0413.mp4")
    sound = list(read_audio(str(clip), RATE))
    lines = list(installed.transcribe(sound))
    said = " ".join(text for *_, text in lines)
    assert "rocket stayed on the ground" in said
    assert "the wind was too strong" in said
    starts = [start for start, *_ in lines]
    assert starts[0] == pytest.approx(6.0, abs=0.5)
    assert any(start == pytest.approx(12.0, abs=0.5) for start in starts)
    assert max(end for _, end, _ in lines) < 18.0
    assert list(installed.transcribe([noise(20), np.zeros(RATE * 20, np.float32)])) == [], "no one speaks"


@pytest.mark.slow
def test_the_fingerprint_is_that_of_settings_and_weights(installed: Asr, tmp_path) -> None:
    """Those of the packages and pulled ones are the same."""
    pulled, where = pull(tmp_path), EncoderSettings(models_dir=tmp_path)
    assert find_weights(MODEL, where) == pulled
    found = [
        open_asr(AsrSettings(mode="on"), where),
        open_asr(AsrSettings(mode="on", model=f"hf:{pulled}")),
        open_asr(AsrSettings(language="de")),
    ]
    same = [isinstance(asr, Asr) and asr.fingerprint == installed.fingerprint for asr in found]
    assert same == [True, True, False]
    assert installed.reason.startswith("speech: on, faster-whisper-base (int8) by faster-whisper ")
    assert installed.reason.startswith(asr_line(AsrSettings(), EncoderSettings()))
    (pulled / "model.bin").replace(pulled / "model.bin.part1")
    with pytest.raises(WeightsInvalid, match=r"model\.bin is not as published"):
        open_asr(AsrSettings(mode="on"), where)


def test_off_says_why() -> None:
    assert open_asr(AsrSettings(mode="off")) == Disabled("speech: off by the settings")
    small = AsrSettings(model="faster-whisper-small")
    off = open_asr(small)
    assert isinstance(off, Disabled)
    assert off.reason.startswith(
        "speech: off, faster-whisper-small is not on this machine: run `rag models pull faster-whisper-small`"
    )
    assert asr_line(small) == off.reason
    assert asr_line(AsrSettings(mode="off")) == "speech: off by the settings"
    with pytest.raises(WeightsMissing, match="rag models pull faster-whisper-small"):
        open_asr(small.model_copy(update={"mode": "on"}))
    with pytest.raises(SettingsError, match="is for text encoder, not for speech"):
        open_asr(AsrSettings(model="all-MiniLM-L6-v2"))
    with pytest.raises(SettingsError, match="no model is called 'whisper-9'"):
        open_asr(AsrSettings(model="whisper-9"))


@pytest.mark.slow
def test_a_damaged_model_is_one_line(models: Path, tmp_path) -> None:
    folder = shutil.copytree(models / MODEL, tmp_path / MODEL)
    (folder / "model.bin").write_bytes((models / MODEL / "model.bin").read_bytes()[:5000])
    own = AsrSettings(model=f"hf:{folder}")
    needed = own.model_copy(update={"mode": "on"})
    with pytest.raises(WeightsInvalid) as caught:
        open_asr(needed)
    assert open_asr(own) == Disabled(f"speech: off, {caught.value}")
    assert "\n" not in str(caught.value)
    assert str(folder) in str(caught.value)
    (folder / "model.bin").write_bytes((models / MODEL / "model.bin").read_bytes())
    (folder / "tokenizer.json").write_bytes(b"{}")
    with pytest.raises(WeightsInvalid, match=str(folder)):
        open_asr(needed)


@pytest.mark.slow
def test_a_card_without_its_libraries_leaves_speech_to_the_processor(installed: Asr, monkeypatch) -> None:
    """CTranslate2 sees the card, opens the model there, and fails at its first product."""
    import ctranslate2
    import faster_whisper

    class OnCard:
        """As a `WhisperModel`."""

        model = type("Whisper", (), {"n_mels": 80})

        def encode(self, features: NDArray[np.float32]) -> None:
            assert features.shape == (80, 3000)
            raise RuntimeError("Library libcublas.so.12 is not found or cannot be loaded")

    real = faster_whisper.WhisperModel

    def opened(*names: Any, device: str, **options: Any) -> Any:
        return OnCard() if device == "cuda" else real(*names, device=device, **options)

    types = ctranslate2.get_supported_compute_types("cpu")
    monkeypatch.setattr(faster_whisper, "WhisperModel", opened)
    monkeypatch.setattr(ctranslate2, "get_cuda_device_count", lambda: 1)
    monkeypatch.setattr(ctranslate2, "get_supported_compute_types", lambda _: types)
    beside = open_asr(AsrSettings(), EncoderSettings(device="cuda"))
    assert isinstance(beside, Asr)
    assert beside.fingerprint == installed.fingerprint
    assert beside.reason == (
        f"{installed.reason}; not on CUDA: Library libcublas.so.12 is not found or cannot be loaded"
    )


@pytest.mark.slow
def test_a_model_without_memory_for_it_is_one_line(monkeypatch) -> None:
    """It is not called off, which would leave a library without its speech."""
    import ctranslate2
    import faster_whisper

    def full(*_: Any, **__: Any) -> Any:
        raise RuntimeError("CUDA failed with error out of memory")

    on_card = SimpleNamespace(model=SimpleNamespace(n_mels=80), encode=full)
    types = ctranslate2.get_supported_compute_types("cpu")
    monkeypatch.setattr(faster_whisper, "WhisperModel", lambda *_, **__: on_card)
    monkeypatch.setattr(ctranslate2, "get_cuda_device_count", lambda: 1)
    monkeypatch.setattr(ctranslate2, "get_supported_compute_types", lambda _: types)
    with pytest.raises(DeviceFull, match=f"^the GPU has too little memory for {MODEL}.*; free some"):
        open_asr(AsrSettings())
