"""Log mel filter banks as Kaldi computes them, on numpy, for ImageBind's audio.

The definition is Kaldi's `compute-fbank-feats` (feature-window.cc,
mel-computations.cc, feature-fbank.cc) with the settings that ImageBind asks
torchaudio's `compliance.kaldi.fbank` for: frames of 25 ms every 10 ms that lie
wholly inside the signal, mean of each frame removed, pre-emphasis 0.97, Hann
window, power spectrum at the next power of two, triangular filters on the mel
scale 1127 ln(1 + f / 700) from 20 Hz to half the rate, natural logarithm
floored at the float32 epsilon; no dither, no energy.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

FRAME_SECONDS = 0.025
STEP_SECONDS = 0.010
PREEMPHASIS = 0.97
LOWEST_HZ = 20.0
FLOOR = float(np.finfo(np.float32).eps)


def mel_log_fbank(
    waveform: NDArray[np.float32], *, rate: int = 16000, bins: int = 128
) -> NDArray[np.float32]:
    """float32 (frames, bins) of mono samples (n,); 0 frames where n is shorter than 25 ms."""
    length, step = int(rate * FRAME_SECONDS), int(rate * STEP_SECONDS)
    if len(waveform) < length:
        return np.empty((0, bins), np.float32)
    frames = np.lib.stride_tricks.sliding_window_view(waveform, length)[::step].astype(np.float64)
    frames = frames - frames.mean(axis=1, keepdims=True)
    before = np.concatenate([frames[:, :1], frames[:, :-1]], axis=1)
    frames = (frames - PREEMPHASIS * before) * np.hanning(length)
    size = 1 << (length - 1).bit_length()
    power = np.abs(np.fft.rfft(frames, size, axis=1)) ** 2
    # Kaldi leaves the bin at half the rate out.
    energies = power[:, : size // 2] @ mel_filters(bins, size, rate).T
    return np.log(np.maximum(energies, FLOOR)).astype(np.float32)


@cache
def mel_filters(bins: int, size: int, rate: int) -> NDArray[np.float64]:
    """float64 (bins, size / 2): triangles of height 1, equally wide in mel, each half over the next."""
    lowest, highest = _mel(np.array([LOWEST_HZ, rate / 2]))
    corners = lowest + (highest - lowest) / (bins + 1) * np.arange(bins + 2)
    left, centre, right = corners[:-2, None], corners[1:-1, None], corners[2:, None]
    mels = _mel(np.arange(size // 2, dtype=np.float64) * (rate / size))
    rising = (mels - left) / (centre - left)
    falling = (right - mels) / (right - centre)
    filters: NDArray[np.float64] = np.maximum(0, np.minimum(rising, falling))
    return filters


def _mel(hertz: NDArray[np.float64]) -> NDArray[np.float64]:
    return 1127 * np.log(1 + hertz / 700)
