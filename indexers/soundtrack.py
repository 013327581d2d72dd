"""What the sound of a video is, second by second: speech, music, ambient or silence, and how loud.

Loudness is K-weighted by ITU-R BS.1770 (pyloudnorm), a second at a time and without gating. The class
is decided by a few figures of the short-time spectrum (scipy.signal), each over the five seconds around:
how much of the sound is on steady tones, on a gliding pitch, and how it swells with syllables.
Samples that are no number, or far beyond full scale, count as missing; so does a second of mostly such.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from corpora.records import AudioClass, SoundTrack

if TYPE_CHECKING:
    from collections.abc import Iterable

    Samples = NDArray[np.float32]

SAMPLE_RATE = 16000
BLOCK_SECONDS = 32
"""Measured together; one second before it runs in the filters."""
QUIETEST = -70.0
WINDOW, HOP = 1024, 400
"""Samples of a spectrum and between two: 64 ms and 25 ms."""
FLOOR_BINS, PEAK_ABOVE = 31, 1.6
"""A peak exceeds the mean of so many bins around it by so many nepers, 14 dB."""
STEADY_FRAMES, STEADY_SHARE = 7, 0.7
LOWEST, HIGHEST = 80.0, 5000.0
"""Hz that the class looks at."""
CONTEXT = 2
"""Seconds on each side that a second's class looks at."""
SILENT_BELOW = -46.0
"""LUFS: what is quieter is silence, whatever it is."""
LOUDEST = 100.0
"""Amplitude, 40 dB over full scale: a sample beyond it comes of damage."""
LEAST_PRESENT = 0.5
"""Share of a second's samples that must be there for it to be measured."""
AUDIBLE: tuple[AudioClass, ...] = ("ambient", "music", "speech")
WEIGHTS = np.array(
    [
        [[-0.69, -1.02, -2.25, -4.9, -0.3, -0.38], [-3.21, -1.95, -2.91, -4.82, -0.28, -0.07]],
        [[4.46, -1.29, -0.2, 0.43, -0.13, -0.11], [5.65, 0.39, 1.29, -0.72, 0.08, -0.45]],
        [[-3.77, 2.31, 2.45, 4.47, 0.43, 0.49], [-2.44, 1.56, 1.62, 5.55, 0.2, 0.52]],
    ]
)
"""(class, second or surroundings, figure): logistic regression on 80 half-minutes of the Workbench's
development split: steady tones are music, a gliding pitch that swells is speech."""
BIAS = np.array([6.64, 0.44, -7.09])


class SoundMeter:
    """Feed it blocks from time 0 on, in order; it holds at most `BLOCK_SECONDS` of samples."""

    def __init__(self) -> None:
        self._held: list[Samples] = []
        self._count = 0
        self._before: Samples = np.zeros(SAMPLE_RATE, np.float32)
        self._loudness: list[NDArray[np.float32]] = []
        self._figures: list[NDArray[np.float32]] = []

    def feed_through(self, blocks: Iterable[Samples]) -> Iterator[Samples]:
        """Hand the blocks on, mono float32 (n,) at 16 kHz, and measure them on their way.

        What is missing is handed on as silence.
        """
        for block in blocks:
            self.feed(block)
            there = _present(block)
            yield block if there.all() else np.where(there, block, np.float32(0))

    def feed(self, block: Samples) -> None:
        """Measure the next samples: mono float32 (n,) at 16 kHz in [-1, 1], NaN where they are missing."""
        self._held.append(block)
        self._count += len(block)
        whole = BLOCK_SECONDS * SAMPLE_RATE
        while self._count >= whole:
            joined = np.concatenate(self._held)
            self._measure(joined[:whole])
            self._held, self._count = [joined[whole:]], self._count - whole

    def track(self, video_id: str, seconds: float) -> SoundTrack | None:
        """The measured track of a video of so many seconds; None where there was nothing. Ends the meter."""
        if self._count >= SAMPLE_RATE // 10 or not self._loudness:
            rest = np.concatenate(self._held) if self._held else np.zeros(0, np.float32)
            if len(rest):
                self._measure(rest)
        self._held, self._count = [], 0
        if all(np.isnan(loudness).all() for loudness in self._loudness):
            return None
        places = max(1, int(np.ceil(round(seconds, 3))))
        loudness = np.concatenate(self._loudness)[:places]
        classes = classify(loudness, np.concatenate(self._figures)[:places])
        return SoundTrack(video_id, tuple(classes), loudness)

    def _measure(self, samples: Samples) -> None:
        seconds = -(-len(samples) // SAMPLE_RATE)
        short = seconds * SAMPLE_RATE - len(samples)
        there = _present(samples)
        known = samples if there.all() else np.where(there, samples, np.float32(0))
        padded = np.concatenate([self._before, known, np.zeros(short, np.float32)])
        loudness = _loudness(padded, short)
        if not there.all():
            of_second = (
                np.concatenate([there, np.zeros(short, bool)]).reshape(seconds, SAMPLE_RATE).sum(axis=1)
            )
            whole = np.full(seconds, SAMPLE_RATE)
            whole[-1] -= short
            loudness = _without_gaps(loudness, of_second / whole)
        self._loudness.append(loudness)
        self._figures.append(sound_figures(padded)[1:])
        self._before = padded[-SAMPLE_RATE:]


def _loudness(samples: Samples, short: int) -> NDArray[np.float32]:
    """LUFS of all seconds but the first, float32; `short` samples at the end are padding."""
    import pyloudnorm

    meter = pyloudnorm.Meter(SAMPLE_RATE, block_size=1.0, overlap=0.0)
    # The gated loudness of the whole is not asked for, only the blocks that it is made of.
    with np.errstate(divide="ignore"):
        meter.integrated_loudness(samples.astype(np.float64) + 1e-9)
    found = np.maximum(np.asarray(meter.blockwise_loudness[1:], np.float64), QUIETEST)
    if short:
        found[-1] += 10 * np.log10(SAMPLE_RATE / (SAMPLE_RATE - short))
    return np.maximum(found, QUIETEST).round(2).astype(np.float32)


def _present(samples: Samples) -> NDArray[np.bool_]:
    """Which samples are present; no comparison is true of NaN."""
    return np.asarray(np.abs(samples) <= LOUDEST, np.bool_)


def _without_gaps(loudness: NDArray[np.float32], shares: NDArray[np.float64]) -> NDArray[np.float32]:
    """LUFS of what is there of each second, NaN where that is less than `LEAST_PRESENT` of it."""
    level = loudness - 10 * np.log10(np.maximum(shares, LEAST_PRESENT))
    kept = np.where(loudness > QUIETEST, level, loudness)
    return np.where(shares >= LEAST_PRESENT, kept, np.nan).round(2).astype(np.float32)


def sound_figures(samples: Samples) -> NDArray[np.float32]:
    """Figures of each whole second, float32 (seconds, 6), in this order. `samples`: float32 (n,).

    steady: share of the power on spectral peaks that keep their frequency for 0.2 s. peaked: on any peak.
    voiced: frames with a pitch between 75 and 400 Hz. gliding: with a pitch that moves by 1 to 12 % from
    one frame to the next. swell: standard deviation of the level, dB. change: its mean step, dB.
    """
    from scipy.ndimage import uniform_filter1d
    from scipy.signal import ShortTimeFFT
    from scipy.signal.windows import hann

    seconds = len(samples) // SAMPLE_RATE
    frames = SAMPLE_RATE // HOP
    hertz = np.arange(WINDOW // 2 + 1) * (SAMPLE_RATE / WINDOW)
    stft = ShortTimeFFT(hann(WINDOW, sym=False), HOP, SAMPLE_RATE, scale_to="magnitude")
    spectrum = np.abs(stft.stft(samples, p0=0, p1=seconds * frames)).astype(np.float32)
    power = spectrum**2
    band = (hertz >= LOWEST) & (hertz <= HIGHEST)
    inside, strength = power[band], np.log(spectrum[band] + 1e-7)
    whole = inside.sum(axis=0) + 1e-12
    peaks = (strength == _greatest_near(_greatest_near(strength))) & (
        strength > uniform_filter1d(strength, FLOOR_BINS, axis=0) + PEAK_ABOVE
    )
    lasting = peaks & (uniform_filter1d(peaks.astype(np.float32), STEADY_FRAMES, axis=1) >= STEADY_SHARE)
    pitch, clear = _pitch(np.where(((hertz < 70) | (hertz > 2500))[:, None], 0, power))
    moved = np.abs(np.diff(pitch, prepend=pitch[:1]))
    both = clear & np.roll(clear, 1)
    level = 10 * np.log10(whole)
    level = np.maximum(level, level.max(initial=-120.0) - 60)
    columns = [
        _on(inside, lasting) / whole,
        _on(inside, peaks) / whole,
        clear,
        both & (moved > 0.014) & (moved < 0.17),
    ]
    by_second = [np.asarray(c, np.float64).reshape(seconds, frames).mean(axis=1) for c in columns]
    levels = level.reshape(seconds, frames)
    by_second += [levels.std(axis=1), np.abs(np.diff(levels, axis=1)).mean(axis=1)]
    return np.stack(by_second, axis=1).astype(np.float32)


def _greatest_near(values: NDArray[Any]) -> NDArray[Any]:
    """The greatest value of each bin and its two neighbours; (bins, frames)."""
    found = values.copy()
    np.maximum(found[1:], values[:-1], out=found[1:])
    np.maximum(found[:-1], values[1:], out=found[:-1])
    return found


def _on(power: NDArray[np.float32], marks: NDArray[np.bool_]) -> NDArray[np.float32]:
    """Power on the marked bins and their neighbours, by frame."""
    return np.asarray((power * _greatest_near(marks)).sum(axis=0), np.float32)


def _pitch(power: NDArray[np.float32]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """log2 of the pitch in Hz by frame, and whether there clearly is one: by autocorrelation."""
    repeats = np.fft.irfft(np.ascontiguousarray(power.T))
    low, high = SAMPLE_RATE // 400, SAMPLE_RATE // 75
    lags = repeats[:, low:high]
    best = lags.argmax(axis=1)
    clear = lags.max(axis=1) > 0.5 * (repeats[:, 0] + 1e-12)
    return np.log2(SAMPLE_RATE / (best + low)), clear


def classify(loudness: NDArray[np.float32], figures: NDArray[np.float32]) -> list[AudioClass | None]:
    """The class of each second: silence below `SILENT_BELOW`, else the likeliest by a linear rule.

    loudness: LUFS, float32 (seconds,), NaN where the audio is missing; such a second has no class. figures:
    float32 (seconds, 6) of `sound_figures`. The rule reads the figures of the second itself and
    their mean over the `CONTEXT` seconds on both sides.
    """
    if not len(loudness):
        return []
    there = ~np.isnan(loudness)
    own = figures.astype(np.float64) * there[:, None]
    sums = np.cumsum(np.vstack([np.zeros((1, own.shape[1])), own]), axis=0)
    counts = np.concatenate([np.zeros(1, int), np.cumsum(there)])
    place = np.arange(len(own))
    first, last = np.maximum(place - CONTEXT, 0), np.minimum(place + CONTEXT + 1, len(own))
    around = (sums[last] - sums[first]) / np.maximum(counts[last] - counts[first], 1)[:, None]
    scores = own @ WEIGHTS[:, 0].T + around @ WEIGHTS[:, 1].T + BIAS
    best = scores.round(6).argmax(axis=1)
    return [
        None if np.isnan(level) else "silence" if level < SILENT_BELOW else AUDIBLE[int(which)]
        for level, which in zip(loudness.tolist(), best, strict=True)
    ]
