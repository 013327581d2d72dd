"""A voice without words: syllables of a gliding pitch under three formants, hisses, pauses.

It has what tells speech from music and from noise (voiced and unvoiced parts in turn, four syllables a
second, silences), and says nothing. Where a program can speak, `corpora.workbench.speech` does.
"""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING

import numpy as np

from corpora.workbench.film import AUDIO_RATE
from corpora.workbench.seeds import stable_number, stream

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Samples = NDArray[np.float32]

__all__ = ["voice"]

VOWELS = (
    (730.0, 1090.0, 2440.0),
    (270.0, 2290.0, 3010.0),
    (300.0, 870.0, 2240.0),
    (530.0, 1840.0, 2480.0),
    (570.0, 840.0, 2410.0),
    (660.0, 1720.0, 2410.0),
)
"""Formants of American English vowels, Hz (Peterson and Barney, JASA 24, 1952)."""
WIDTHS = (90.0, 120.0, 180.0)
STRENGTHS = (1.0, 0.5, 0.22)
HIGHEST = 4200.0
"""Hz of the highest harmonic."""
LOUD = 0.22


def voice(seed: int, count: int, *, offset: int = 0) -> Samples:
    """`count` samples, mono float32 at 16 kHz, of a speaker; `offset` says which stretch of it."""
    speaker = stream("speaker", seed)
    pitch = speaker.choice((105.0, 120.0, 135.0, 190.0, 215.0))
    rng = stream("voice", seed, offset)
    samples = np.zeros(count, np.float32)
    at = rng.uniform(0.0, 0.15)
    while at * AUDIO_RATE < count:
        for syllable in range(rng.randint(3, 8)):
            fall = pitch * (1.12 - 0.04 * syllable) * rng.uniform(0.92, 1.1)
            at += _consonant(samples, at, rng)
            at += _vowel(samples, at, rng, fall)
        at += rng.uniform(0.2, 0.45)
    return samples


def _vowel(samples: Samples, at: float, rng: random.Random, pitch: float) -> float:
    """Mixes one in from `at` seconds on; gives its length in seconds."""
    seconds = rng.uniform(0.11, 0.24)
    count = round(seconds * AUDIO_RATE)
    glide = np.linspace(pitch * rng.uniform(1.0, 1.12), pitch * rng.uniform(0.86, 1.0), count)
    phase = np.cumsum(glide) * (math.tau / AUDIO_RATE)
    first, second = rng.choice(VOWELS), rng.choice(VOWELS)
    sound = np.zeros(count)
    for harmonic in range(1, int(HIGHEST / pitch) + 1):
        start, end = (_resonance(harmonic * pitch, vowel) / harmonic**0.5 for vowel in (first, second))
        sound += np.linspace(start, end, count) * np.sin(harmonic * phase)
    rise = np.minimum(np.arange(count), np.arange(count)[::-1]) / (0.025 * AUDIO_RATE)
    peak = max(1e-9, float(np.abs(sound).max()))
    _mix(samples, sound / peak * np.minimum(rise, 1.0) * LOUD * rng.uniform(0.7, 1.0), at)
    return seconds


def _consonant(samples: Samples, at: float, rng: random.Random) -> float:
    seconds = rng.uniform(0.03, 0.09)
    count = round(seconds * AUDIO_RATE)
    noise = np.random.default_rng(stable_number("consonant", rng.random())).standard_normal(count)
    hiss = np.diff(noise, prepend=0.0) * np.hanning(count) * LOUD * rng.uniform(0.05, 0.25)
    _mix(samples, hiss, at)
    return seconds


def _resonance(hertz: float, formants: tuple[float, float, float]) -> float:
    return sum(
        strength / (1.0 + ((hertz - formant) / width) ** 2)
        for formant, width, strength in zip(formants, WIDTHS, STRENGTHS, strict=True)
    )


def _mix(samples: Samples, part: NDArray[np.float64], seconds: float) -> None:
    first = round(seconds * AUDIO_RATE)
    last = min(len(samples), first + len(part))
    if first < last:
        samples[first:last] += part[: last - first].astype(np.float32)
