"""Spoken lines: by the program `flite` where it is installed, and a synthetic voice of vowels and noise.

The synthetic voice is unintelligible: it tests whether speech is detected, not what is said. Its vowels have
the formants of Peterson and Barney (1952).
"""

from __future__ import annotations

import math
import random
import shutil
import subprocess
import tempfile
import wave
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from eval.workbench.seeds import stable_number, stream
from eval.workbench.video import AUDIO_RATE, Line
from rag.errors import RagError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Samples = NDArray[np.float32]

PROGRAM = "flite"
SECONDS_A_LINE = 60
VOWELS: dict[str, tuple[float, float, float]] = {
    "a": (730.0, 1090.0, 2440.0),
    "e": (530.0, 1840.0, 2480.0),
    "i": (270.0, 2290.0, 3010.0),
    "o": (570.0, 840.0, 2410.0),
    "u": (300.0, 870.0, 2240.0),
    "y": (390.0, 1990.0, 2550.0),
}
MURMUR = (250.0, 1200.0, 2300.0)
WIDTHS = (80.0, 110.0, 160.0)
"""Bandwidths of the formants, Hz."""
HISSES, BURSTS = "sfzxhcv", "ptkbdgq"
TOP = 4200.0
LOUDNESS = 0.11
"""Root mean square of a line's voiced parts."""


@dataclass(frozen=True, slots=True)
class VoicedLine:
    """A line and its sound, mono float32 (n,) at 16 kHz, no longer than the line."""

    line: Line
    samples: NDArray[np.float32]


def find_voice() -> str | None:
    """Where `flite` is; None where it is not installed."""
    return shutil.which(PROGRAM)


def spoken_seconds(text: str) -> float:
    """How long a line takes to say, with room to spare."""
    return round(0.6 + 0.42 * len(text.split()), 1)


def voiced(lines: Sequence[Line], program: str) -> list[VoicedLine]:
    """Every line spoken; raises `RagError` where the program fails."""
    with tempfile.TemporaryDirectory(prefix="workbench-") as folder:
        return [VoicedLine(line, _spoken(line, program, Path(folder) / "line.wav")) for line in lines]


def _spoken(line: Line, program: str, path: Path) -> NDArray[np.float32]:
    try:
        subprocess.run(
            [program, "-t", line.text, "-o", str(path)],
            check=True,
            capture_output=True,
            timeout=SECONDS_A_LINE,
        )
        samples = _read(path)
    except (OSError, subprocess.SubprocessError, wave.Error, EOFError) as error:
        raise RagError(f"{program} could not say a line ({error}); mend it or take it away") from error
    return samples[: round((line.end - line.start) * AUDIO_RATE)]


def _read(path: Path) -> NDArray[np.float32]:
    """A 16-bit mono WAV file at 16 kHz, whatever its own rate."""
    with wave.open(str(path)) as file:
        rate, channels = file.getframerate(), file.getnchannels()
        raw = np.frombuffer(file.readframes(file.getnframes()), "<i2").astype(np.float32) / 32768
    mono: NDArray[np.float32] = raw.reshape(-1, channels).mean(axis=1, dtype=np.float32)
    if rate != AUDIO_RATE:
        times = np.arange(int(len(mono) * AUDIO_RATE / rate)) * (rate / AUDIO_RATE)
        mono = np.interp(times, np.arange(len(mono)), mono).astype(np.float32)
    return mono


def murmured(lines: Sequence[Line], seed: int = 0) -> list[VoicedLine]:
    """Every line in one voice of the seed, from its start; no longer than the line."""
    rng = stream("voice", seed)
    pitch = rng.choice((rng.uniform(95, 135), rng.uniform(175, 230)))
    return [VoicedLine(line, _said(line, pitch, seed)) for line in lines]


def _said(line: Line, pitch: float, seed: int) -> Samples:
    room = round((line.end - line.start) * AUDIO_RATE)
    rng = stream("said", seed, line.start, line.text)
    noise = np.random.default_rng(stable_number("breath", seed, line.start, line.text))
    words = line.text.lower().split()
    parts: list[Samples] = []
    for number, word in enumerate(words):
        fall = pitch * (1.15 - 0.3 * number / max(1, len(words) - 1))
        parts += _word(word, fall, rng, noise)
        parts.append(np.zeros(round(rng.uniform(0.02, 0.07) * AUDIO_RATE), np.float32))
    samples = np.concatenate(parts)[:room] if parts else np.zeros(0, np.float32)
    level = math.sqrt(float(np.mean(samples[np.abs(samples) > 1e-4] ** 2))) if samples.any() else 1.0
    return (samples * (LOUDNESS / level)).astype(np.float32)


def _word(word: str, pitch: float, rng: random.Random, noise: np.random.Generator) -> Iterator[Samples]:
    tune = pitch * rng.uniform(0.9, 1.15)
    for letter in word:
        if letter in VOWELS:
            glide = tune * rng.uniform(0.88, 1.06)
            yield _voiced(rng.uniform(0.08, 0.15), tune, glide, VOWELS[letter], 1.0)
            tune = glide
        elif letter in HISSES:
            yield _hiss(rng.uniform(0.05, 0.1), noise)
        elif letter in BURSTS:
            yield np.zeros(round(0.04 * AUDIO_RATE), np.float32)
            yield _hiss(0.012, noise) * np.float32(2)
        elif letter.isalpha():
            yield _voiced(rng.uniform(0.04, 0.07), tune, tune, MURMUR, 0.4)


def _voiced(
    seconds: float, first: float, last: float, formants: tuple[float, float, float], gain: float
) -> Samples:
    """Harmonics of a pitch that glides from `first` to `last` Hz, shaped by resonances."""
    count = round(seconds * AUDIO_RATE)
    phase = np.cumsum(np.linspace(first, last, count)) * (math.tau / AUDIO_RATE)
    samples = np.zeros(count)
    for number in range(1, int(TOP / first) + 1):
        hertz = number * first
        shape = sum(
            (width / 2) ** 2 / ((hertz - at) ** 2 + (width / 2) ** 2) / (1 + place)
            for place, (at, width) in enumerate(zip(formants, WIDTHS, strict=True))
        )
        samples += (shape + 0.02) / math.sqrt(number) * np.sin(number * phase)
    edge = np.minimum(np.minimum(np.arange(count), np.arange(count)[::-1]) / (0.012 * AUDIO_RATE), 1)
    return (samples * edge * gain).astype(np.float32)


def _hiss(seconds: float, noise: np.random.Generator) -> Samples:
    count = round(seconds * AUDIO_RATE)
    white = noise.standard_normal(count + 1)
    edge = np.minimum(np.minimum(np.arange(count), np.arange(count)[::-1]) / (0.005 * AUDIO_RATE), 1)
    return (np.diff(white) * edge * 0.08).astype(np.float32)
