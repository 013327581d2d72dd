"""Sound of a story: the scene's ambience, one sound an event, music, and spoken lines.

Everything is synthesised from seeds. Samples are mono float32 at 16 kHz in [-1, 1], rounded to 16 bits
before they are encoded. A voice of vowels and noise is unintelligible: it tests whether speech is detected,
not what is said. Its vowels have the formants of Peterson and Barney (1952).
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from pydantic import TypeAdapter

from eval.workbench.catalogue import read_data
from eval.workbench.seeds import stable_number, stream
from eval.workbench.story import ClipStory, Event
from eval.workbench.video import AUDIO_RATE, Line

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Samples = NDArray[np.float32]


LOOP = 2**17
"""Samples of noise that repeat seamlessly: 8.2 s."""
AMBIENCE = TypeAdapter(dict[str, tuple[float, float, float]]).validate_python(
    {scene_id: row["ambience"] for scene_id, row in read_data("scenes").items()}
)
"""Band of the noise and frequency of the hum of each scene, Hz; 0 is no hum."""
HUSHED_SHARE = 0.3
"""Share of clips that are almost silent."""
SCALE = (0, 2, 4, 7, 9, 12, 14, 16)
"""Semitones of a pentatonic scale: any order of them sounds like a tune."""
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


def story_sound(story: ClipStory) -> Samples:
    """The whole clip, float32 (duration x 16000,)."""
    rng = stream("sound", story.split, story.seed)
    loud = 0.15 if rng.random() < HUSHED_SHARE else 1.0
    samples = ambience(story) * np.float32(loud)
    for event in story.events:
        add_at(samples, event_sound(event, story.seed) * np.float32(0.5 * loud), event.start)
    return samples


def ambience(story: ClipStory) -> Samples:
    """Quiet noise of the scene, with its hum."""
    low, high, hum = AMBIENCE[story.scene]
    count = round(story.duration * AUDIO_RATE)
    noise = _band(_generator("ambience", story.seed), LOOP, low, high) * np.float32(0.012)
    samples = np.tile(noise, count // LOOP + 1)[:count]
    if hum:
        samples += _sine(count, hum) * np.float32(0.004)
    return samples


def event_sound(event: Event, seed: int) -> Samples:
    """One event from its start to its end, float32 (length x 16000,)."""
    maker, low, high, rate = SOUNDS[event.action_id]
    return MAKERS[maker](
        _generator("event", seed, event.start, event.kind_id),
        round((event.end - event.start) * AUDIO_RATE),
        low,
        high,
        rate,
    )


def melody(seed: int, count: int, *, offset: int = 0) -> Samples:
    """`count` samples of a video's tune from sample `offset` on: a motif of eight tones that comes back."""
    rng = stream("melody", seed)
    root, beat = rng.choice((220.0, 246.94, 261.63, 293.66)), round(rng.uniform(0.35, 0.6) * AUDIO_RATE)
    motif = [rng.choice(SCALE) for _ in range(8)]
    samples = np.zeros(count, np.float32)
    for step in range(offset // beat, (offset + count) // beat + 1):
        lift = stream("phrase", seed, step // 16).choice((0, 0, 5, 7))
        tone = _tone(beat, root * 2 ** ((motif[step % 8] + lift) / 12))
        add_at(samples, tone * np.float32(0.05), (step * beat - offset) / AUDIO_RATE)
    return samples


def add_at(samples: Samples, part: Samples, seconds: float) -> None:
    """Mixes `part` in from `seconds` on, in place; what is outside is cut off."""
    start = round(seconds * AUDIO_RATE)
    first, last = max(0, start), min(len(samples), start + len(part))
    if first < last:
        samples[first:last] += part[first - start : last - start]


def to_sixteen_bits(samples: Samples) -> Samples:
    """Clipped and rounded to steps of 1/32767: the last bits of a sine differ between processors."""
    rounded: Samples = (np.round(np.clip(samples, -1, 1) * 32767) / 32767).astype(np.float32)
    return rounded


def _generator(*parts: object) -> np.random.Generator:
    return np.random.default_rng(stable_number("samples", *parts))


def _band(rng: np.random.Generator, count: int, low: float, high: float) -> Samples:
    """Noise between two frequencies, of unit power."""
    spectrum = np.fft.rfft(rng.standard_normal(count))
    hertz = np.fft.rfftfreq(count, 1 / AUDIO_RATE)
    spectrum[(hertz < low) | (hertz > high)] = 0
    noise = np.fft.irfft(spectrum, count)
    return (noise / max(1e-9, float(noise.std()))).astype(np.float32)


def _sine(count: int, hertz: float) -> Samples:
    wave: Samples = np.sin(np.arange(count) * (math.tau * hertz / AUDIO_RATE)).astype(np.float32)
    return wave


def _fall(count: int, seconds: float) -> Samples:
    """1 at the beginning, dying away."""
    return np.exp(np.arange(count) / (-seconds * AUDIO_RATE)).astype(np.float32)


def _tone(count: int, hertz: float) -> Samples:
    voice = _sine(count, hertz) + np.float32(0.4) * _sine(count, 2 * hertz)
    rise = np.minimum(np.arange(count) / (0.01 * AUDIO_RATE), 1).astype(np.float32)
    return voice * rise * _fall(count, 0.18)


def _strokes(rng: np.random.Generator, count: int, low: float, high: float, rate: float) -> Samples:
    """To and fro: noise that swells `rate` times a second."""
    swell = np.abs(_sine(count, rate / 2)) ** np.float32(1.5)
    return _band(rng, count, low, high) * swell * np.float32(0.10)


def _knocks(rng: np.random.Generator, count: int, low: float, high: float, rate: float) -> Samples:
    """Short blows, `rate` times a second, at least one, in the middle of the event."""
    samples = np.zeros(count, np.float32)
    for at in np.arange(0.5 / rate, count / AUDIO_RATE, 1 / rate):
        length = round(0.12 * AUDIO_RATE)
        blow = _band(rng, length, low, high) * _fall(length, 0.02) * np.float32(0.25)
        add_at(samples, blow, float(at + rng.uniform(-0.03, 0.03)))
    return samples


def _flow(rng: np.random.Generator, count: int, low: float, high: float, rate: float) -> Samples:
    """Water or mist: noise that flutters `rate` times a second, in and out slowly."""
    flutter = np.float32(0.7) + np.float32(0.3) * _sine(count, rate)
    slope = np.minimum(np.arange(count), np.arange(count)[::-1]) / (0.2 * AUDIO_RATE)
    return _band(rng, count, low, high) * flutter * np.minimum(slope, 1).astype(np.float32) * np.float32(0.08)


def _chime(rng: np.random.Generator, count: int, low: float, high: float, rate: float) -> Samples:
    """Tones between two frequencies, `rate` times a second."""
    samples = np.zeros(count, np.float32)
    for at in np.arange(0.4 / rate, count / AUDIO_RATE, 1 / rate):
        add_at(samples, _tone(AUDIO_RATE // 3, float(rng.uniform(low, high))) * np.float32(0.12), float(at))
    return samples


MAKERS = {"strokes": _strokes, "knocks": _knocks, "flow": _flow, "chime": _chime}
SOUNDS = TypeAdapter(dict[str, tuple[str, float, float, float]]).validate_python(
    {action_id: row["sound"] for action_id, row in read_data("actions").items()}
)
"""How each action sounds: a key of `MAKERS`, its band in Hz, and how often a second."""


def spoken_seconds(text: str) -> float:
    """How long a line takes to say, with room to spare."""
    return round(0.6 + 0.42 * len(text.split()), 1)


def murmured(line: Line, seed: int) -> Samples:
    """A line in the voice of the seed, mono float32 (n,) at 16 kHz, no longer than the line."""
    voice = stream("voice", seed)
    pitch = voice.choice((voice.uniform(95, 135), voice.uniform(175, 230)))
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
