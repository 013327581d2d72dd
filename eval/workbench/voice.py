"""A voice without a mind: syllables with formants and a falling pitch, where no speech program is installed.

It sounds like somebody speaking in the next room, and no word of it can be understood: fit for what
asks whether somebody speaks, not for what asks what is said. Vowels have the formants of Peterson and
Barney (1952); the rest is noise, bursts and murmur.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from eval.workbench.film import AUDIO_RATE, Line
from eval.workbench.seeds import stable_number, stream
from eval.workbench.speech import VoicedLine

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Samples = NDArray[np.float32]

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
