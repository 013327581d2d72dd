"""What ImageBind hears, and its cutting of clips."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from indexers.imagebind import audio_inputs, clip_pairs, mel_log_fbank, moments


def sound(seconds: float) -> NDArray[np.float32]:
    times = np.arange(int(seconds * 16000)) / 16000
    chirp = np.sin(2 * np.pi * (200 + 900 * times) * times)
    grain = np.random.default_rng(0).normal(0, 0.05, len(times))
    return (0.4 * chirp + grain).astype(np.float32)


def test_a_tone_is_in_its_own_bank() -> None:
    times = np.arange(16000) / 16000
    banks = mel_log_fbank(np.sin(2 * np.pi * 1000 * times).astype(np.float32))
    corners = np.linspace(1127 * np.log(1 + 20 / 700), 1127 * np.log(1 + 8000 / 700), 130)
    nearest = np.abs(corners[1:-1] - 1127 * np.log(1 + 1000 / 700)).argmin()
    assert abs(int(banks.mean(axis=0).argmax()) - int(nearest)) <= 1


def test_silence_is_at_the_floor() -> None:
    banks = mel_log_fbank(np.zeros(16000, np.float32))
    np.testing.assert_allclose(banks, np.log(np.finfo(np.float32).eps), atol=1e-6)


def test_audio_is_three_moments_of_two_seconds() -> None:
    inputs = audio_inputs(sound(9.0))
    assert inputs.shape == (3, 1, 128, 204)
    assert inputs.dtype == np.float32
    alone = audio_inputs(sound(9.0)[: 2 * 16000])
    np.testing.assert_array_equal(inputs[0], alone[0])
    # 198 frames of 2 s; the rest is zero before normalisation.
    np.testing.assert_allclose(inputs[..., 198:], 4.268 / 9.138, atol=1e-6)


def test_too_little_sound_is_an_error() -> None:
    with pytest.raises(ValueError, match="25 ms"):
        audio_inputs(np.zeros(10, np.float32))


def test_moments_span_the_clip_and_coincide_in_a_short_one() -> None:
    assert moments(30.0, 5) == (0.0, 7.0, 14.0, 21.0, 28.0)
    assert moments(1.5, 3) == (0.0,)


def test_pairs_are_the_first_and_last_frame_of_each_moment() -> None:
    assert clip_pairs(np.arange(61) / 2) == ((0, 3), (14, 17), (28, 31), (42, 45), (56, 59))
    assert clip_pairs(np.array([4.0])) == ((0, 0),)
    # A gap: the moments that fall into it take the nearest frame.
    assert clip_pairs(np.array([0.0, 0.5, 20.0])) == ((0, 1), (1, 1), (2, 2))
