"""Words that are spoken: faster-whisper from a local folder, in bounded memory, the same text every time."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpora.errors import SettingsError
from indexers.devices import device_memory, is_out_of_memory
from indexers.digests import fingerprint, folder_digest, joint_digest
from indexers.errors import DeviceFull, ExtraMissing, WeightsInvalid
from indexers.families import WHISPER
from indexers.models.catalogue import WHISPER_FILES, known_model
from indexers.models.lookup import file_parts, find_weights
from indexers.onnx_graph import forbid_telemetry
from indexers.protocol import Disabled, open_sense
from indexers.registry import own_model, whole_folder
from indexers.settings import AsrSettings, Device, EncoderSettings

RATE = 16_000
"""Samples a second that Whisper takes."""
WINDOW = 300 * RATE
"""Samples transcribed at a time: five minutes, about 30 MB with their spectrogram, however long the video."""
SEARCH = 20 * RATE
"""The last samples of a window, in which the quietest moment is where it ends."""
FRAMES = 3000
"""Columns of the spectrogram that Whisper encodes at once, of 10 ms each."""
QUIET = RATE // 4
"""Samples over which loudness is measured for that."""
REPEATING = 2.4
"""Compression ratio above which Whisper's output counts as failed (Radford et al. 2022, section 4.5). The
paper then samples at a higher temperature; here nothing is sampled, and such a segment is dropped."""

LEAST_LIKELIHOOD = -1.2
"""Mean log probability of the words and that of the language, added, below which a segment is invented. On
clips and made speech for development it was -0.2 to -1.13 of what was said, -1.3 or less of what was not."""
SHORT_VOICE_SECONDS, LEAST_SHORT_LIKELIHOOD = 1.5, -0.5
"""Where the voice under a line is shorter than this, the sum has to be higher: clatter and sizzling are
taken for such voices. On clips for development it was -0.6 where lines were invented for them, and -0.35 or
more in short clips of speech."""
LANGUAGE_PIECES = 10
"""While the language is uncertain, so many pieces of 30 seconds are listened to for it: a whole window."""
VOICE = {
    "threshold": 0.85,
    "neg_threshold": 0.35,
    "min_speech_duration_ms": 250,
    "min_silence_duration_ms": 200,
    "speech_pad_ms": 0,
}
"""Settings of Silero VAD. The highest probability of a voice was 0.87 or more in speech, and 0.83 or less in
music."""
EDGE_SECONDS = 0.5
"""Seconds by which the times of Whisper may miss the edges of the voice (`voiced_part`)."""

COMPUTE = {"cpu": ("int8",), "cuda": ("float16", "int8_float16")}
"""Arithmetic of each device, best first; else float32."""
SENSE = "speech"
PACKAGE = "faster_whisper"
INSTALL = "pip install -e '.[asr]' (in the checkout)"


Spans = Sequence[tuple[float, float]]
"""Spans [start, end) in seconds, in order, which do not touch."""


class Asr:
    """Transcribes speech.

    `model` is a `faster_whisper.WhisperModel`, or anything called in the same way. `voice` finds where
    there is speech in float32 (n,) at 16 kHz (`find_voice`).
    """

    def __init__(
        self,
        model: Any,
        language: str,
        fingerprint: str,
        reason: str,
        voice: Callable[[NDArray[np.float32]], Spans],
    ) -> None:
        self._model = model
        self._voice = voice
        self._language = language
        self.fingerprint = fingerprint
        """Hash over the version, weights and settings that the text depends on."""
        self.reason = reason

    def transcribe(self, chunks: Iterable[NDArray[np.float32]]) -> Iterator[tuple[float, float, str]]:
        """What is said: (start, end, text), seconds from the first sample, half-open, in order of start.

        `chunks`: float32 (n,), 16 kHz, mono, in [-1, 1], of any lengths, one after the other. At most a
        window of five minutes is held at a time. Raises `DeviceFull`.
        """
        for offset, audio in windows(chunks):
            spoken = self._voice(audio)
            if not spoken:
                continue
            with device_memory("speech recognition"):
                segments, info = self._model.transcribe(
                    audio,
                    language=self._language or None,
                    beam_size=5,
                    temperature=0.0,
                    condition_on_previous_text=False,
                    vad_filter=True,
                    language_detection_segments=LANGUAGE_PIECES,
                )
                # It decodes while its segments are taken.
                segments = list(segments)
            sure = math.log(max(info.language_probability, 1e-9))
            for segment in segments:
                text = " ".join(segment.text.split())
                times = voiced_part(spoken, segment.start, segment.end)
                if not text or times is None or segment.compression_ratio > REPEATING:
                    continue
                short = times[1] - times[0] < SHORT_VOICE_SECONDS
                least = LEAST_SHORT_LIKELIHOOD if short else LEAST_LIKELIHOOD
                if segment.avg_logprob + sure >= least:
                    yield offset / RATE + times[0], offset / RATE + times[1], text


def find_voice(audio: NDArray[np.float32]) -> Spans:
    """Where there is speech in float32 (n,) at 16 kHz, by Silero VAD, which comes with faster-whisper."""
    forbid_telemetry()
    from faster_whisper.vad import VadOptions, get_speech_timestamps

    found = get_speech_timestamps(audio, VadOptions(**VOICE))
    return [(each["start"] / RATE, each["end"] / RATE) for each in found]


def voiced_part(spoken: Spans, start: float, end: float) -> tuple[float, float] | None:
    """The part of a line, [start, end) seconds, that is voiced; None where none is.

    Whisper's own times end up to a second late, where the next line begins. The edge of a voice within
    `EDGE_SECONDS` seconds of a line's is the line's.
    """
    half = (end - start) / 2
    voices = [(a, b) for a, b in spoken if min(b, end) - max(a, start) > min(EDGE_SECONDS, (b - a) / 2, half)]
    if not voices:
        return None
    first, last = voices[0][0], voices[-1][1]
    return (first if first > start - EDGE_SECONDS else start), (last if last < end + EDGE_SECONDS else end)


def windows(chunks: Iterable[NDArray[np.float32]]) -> Iterator[tuple[int, NDArray[np.float32]]]:
    """(offset in samples, float32 (n,)) of at most `WINDOW` samples, cut where it is quiet; together all."""
    held: list[NDArray[np.float32]] = []
    count = offset = 0
    for chunk in chunks:
        held.append(chunk)
        count += len(chunk)
        while count >= WINDOW:
            audio = np.concatenate(held)
            cut = quiet_cut(audio[:WINDOW])
            yield offset, audio[:cut]
            held = [audio[cut:].copy()]
            count, offset = len(held[0]), offset + cut
    if count:
        yield offset, np.concatenate(held)


def quiet_cut(audio: NDArray[np.float32]) -> int:
    """Index of the middle of the quietest quarter second among the last 20 seconds of `audio`, float32 (n,).

    Of several equally quiet ones the last is taken, so that a silent end is cut late.
    """
    first = max(0, len(audio) - SEARCH)
    steps = (len(audio) - first) // QUIET
    if steps == 0:
        return len(audio)
    blocks = audio[len(audio) - steps * QUIET :].reshape(steps, QUIET).astype(np.float64)
    loudness = np.square(blocks).mean(axis=1)
    quietest = steps - 1 - int(np.argmin(loudness[::-1]))
    return len(audio) - (steps - quietest) * QUIET + QUIET // 2


def open_asr(settings: AsrSettings, encoder: EncoderSettings | None = None) -> Asr | Disabled:
    """The listener, or why there is none.

    `auto` means: if the weights and the package are here and whole. `on` raises
    `WeightsMissing`, `WeightsInvalid` or `ExtraMissing` instead; an unknown model
    or language is a `SettingsError` either way. `encoder`: where weights are
    (`models_dir`), and the device: CUDA where CTranslate2 sees one, else the
    processor (it knows no MPS). Nothing is downloaded. Raises `DeviceFull` either
    way, where the model does not fit: there is speech with more memory.
    """
    encoder = encoder or EncoderSettings()
    return open_sense(SENSE, settings.mode, lambda: _load(_find(settings, encoder), settings, encoder.device))


def asr_line(settings: AsrSettings, encoder: EncoderSettings | None = None) -> str:
    """What `open_asr(...).reason` will say, by a look at files alone; raises as it does."""
    found = open_sense(SENSE, settings.mode, lambda: _find(settings, encoder or EncoderSettings()))
    return found.reason if isinstance(found, Disabled) else f"{SENSE}: on, {settings.model}"


def _find(settings: AsrSettings, encoder: EncoderSettings) -> Path:
    kind, path = own_model(settings.model) or ("", Path())
    folder = whole_folder(path, WHISPER) if kind == "hf" else find_weights(settings.model, encoder, "speech")
    if importlib.util.find_spec(PACKAGE) is None:
        raise ExtraMissing(f"faster-whisper is not installed; install it with: {INSTALL}")
    return folder


def _load(folder: Path, settings: AsrSettings, wanted: Device) -> Asr:
    forbid_telemetry()
    try:
        import ctranslate2
        from faster_whisper import WhisperModel
    except ImportError as error:
        raise ExtraMissing(
            f"faster-whisper cannot be loaded ({error}); install it again with: {INSTALL}"
        ) from error

    def opened(device: str) -> tuple[Any, str]:
        supported = ctranslate2.get_supported_compute_types(device)
        compute = next((name for name in COMPUTE[device] if name in supported), "float32")
        model = WhisperModel(
            str(folder),
            device=device,
            compute_type=compute,
            cpu_threads=2,
            num_workers=1,
            local_files_only=True,
            files=dict(files) or None,  # it takes files out
        )
        return model, compute

    device = "cuda" if wanted in ("auto", "cuda") and ctranslate2.get_cuda_device_count() else "cpu"
    try:
        files = _packaged_files(settings.model, folder)
        with device_memory(settings.model):
            model, compute = opened(device)
            refused = _why_not_on_cuda(model) if device == "cuda" else ""
        if refused:
            device = "cpu"
            model, compute = opened(device)
    except DeviceFull:
        raise
    # The tokenizer's library raises a bare Exception for a damaged file.
    except Exception as error:
        raise WeightsInvalid(f"{settings.model}: {folder}: {str(error).splitlines()[0]}") from error
    if settings.language and settings.language not in model.supported_languages:
        raise SettingsError(
            f"asr.language: {settings.model} does not know {settings.language!r}; use en, de, ..."
        )
    named = compute if device == "cpu" else f"{device}-{compute}"
    parts = {
        "versions": [f"{name} {version(name)}" for name in ("faster-whisper", "ctranslate2")],
        "weights": joint_digest(known_model(settings.model).sha256.items())
        if files
        else folder_digest(path for path in folder.iterdir() if path.name in WHISPER_FILES),
        "settings": [
            *(settings.language, named, WINDOW, SEARCH, QUIET, REPEATING, LEAST_LIKELIHOOD, LANGUAGE_PIECES),
            *(VOICE, EDGE_SECONDS),
        ],
    }
    reason = f"{SENSE}: on, {settings.model} ({named}) by faster-whisper {version('faster-whisper')}"
    if refused:
        reason += f"; not on CUDA: {refused}"
    return Asr(model, settings.language, fingerprint(parts), reason, find_voice)


def _packaged_files(name: str, folder: Path) -> dict[str, bytes]:
    """Weights that packages hold in parts, as published; empty for a whole folder, which CTranslate2 reads.

    Raises `ValueError` for a file with another hash.
    """
    if (folder / "model.bin").is_file():
        return {}
    published = known_model(name).sha256
    parts = {each: file_parts(name, folder / each) for each in published}
    files = {each: b"".join(part.read_bytes() for part in found) for each, found in parts.items()}
    for each, data in files.items():
        if sha256(data).hexdigest() != published[each]:
            raise ValueError(f"{each} is not as published; install it again with: {INSTALL}")
    return files


def _why_not_on_cuda(model: Any) -> str:
    """What a model that is open on CUDA says when it is run; empty where it runs.

    CTranslate2 sees a card without the libraries that it computes with, and looks for them (cuBLAS 12, where
    a PyTorch may have brought 13) at the first product. Want of memory is raised as it is.
    """
    try:
        model.encode(np.zeros((model.model.n_mels, FRAMES), np.float32))
    except RuntimeError as error:
        if is_out_of_memory(error):
            raise
        return str(error).splitlines()[0]
    return ""
