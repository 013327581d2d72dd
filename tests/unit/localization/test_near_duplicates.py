"""A copy is known by its images and its sound along one line of time, and other videos are not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from localization.near_duplicates import Alignment, Track, align
from rag.retrieval.near_duplicates import is_near_duplicate


def video(seed: int, seconds: int = 30) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Something that moves over a still background, (seconds, 72, 128), and how loud it is."""
    rng = np.random.default_rng(seed)
    still = np.kron(rng.uniform(40, 200, (6, 8)), np.ones((12, 16)))
    images = np.repeat(still[None], seconds, axis=0)
    at = np.arange(seconds)
    turns = np.arange(0, seconds + 5, 5)
    downs = np.interp(at, turns, rng.uniform(0, 48, len(turns))).astype(int)
    acrosses = np.interp(at, turns, rng.uniform(0, 98, len(turns))).astype(int)
    for second, down, across in zip(at, downs, acrosses, strict=True):
        images[second, down : down + 24, across : across + 30] = 250
    return images, np.interp(at, turns, rng.uniform(-40, -15, len(turns)))


def track(images: NDArray[np.float64], loudness: NDArray[np.float64], speed: float = 1.0) -> Track:
    seconds = len(images) / speed
    times = np.arange(0, seconds, 2.0)
    shown = images[np.minimum((times * speed).astype(int), len(images) - 1)]
    small = shown.reshape(len(times), 18, shown.shape[1] // 18, 32, -1).mean(axis=(2, 4))
    measured = np.interp(np.arange(int(seconds)) * speed, np.arange(len(loudness)), loudness)
    return Track(times, small.clip(0, 255).astype(np.uint8), measured, seconds)


def cropped(images: NDArray[np.float64]) -> NDArray[np.float64]:
    """The frame without its outer tenth, as large as before."""
    rows = np.linspace(4, 67, 72).round().astype(int)
    columns = np.linspace(8, 119, 128).round().astype(int)
    return images[:, rows][:, :, columns] * 0.85 + 10


def test_a_cropped_graded_and_faster_copy_is_known() -> None:
    images, loudness = video(1)
    line = align(track(images, loudness), track(cropped(images), loudness, speed=1.1))
    assert line is not None
    assert is_near_duplicate(line)
    assert abs(line.speed - 1.1) < 0.05
    assert abs(line.offset) < 2.5


def test_the_speed_of_a_whole_copy_is_that_of_its_length() -> None:
    for seed, speed in ((1, 1.053), (3, 0.947), (4, 1.08)):
        images, loudness = video(seed)
        line = align(track(images, loudness), track(cropped(images), loudness, speed))
        assert line is not None
        assert abs(line.speed - speed) < 0.005


def test_other_videos_are_other_videos() -> None:
    made = [track(*video(seed)) for seed in range(6)]
    lines = [align(a, b) for k, a in enumerate(made) for b in made[k + 1 :]]
    assert not any(line is not None and is_near_duplicate(line) for line in lines)


def test_a_few_seconds_of_a_video_are_no_copy_of_it() -> None:
    images, loudness = video(4)
    assert align(track(images, loudness), track(images[:10], loudness[:10])) is None
    assert align(track(images, loudness), track(*video(4, 1))) is None


def noisy(frame: NDArray[np.float64], seconds: int, seed: int) -> NDArray[np.float64]:
    """The same frame all along, with an encoder's noise: a level more or less, here and there."""
    rng = np.random.default_rng(seed)
    noise = np.kron(rng.integers(-1, 2, (seconds, 18, 32)), np.ones((1, 4, 4)))
    return (frame[None] + noise).clip(0, 255)


def card(seed: int) -> NDArray[np.float64]:
    rng = np.random.default_rng(seed)
    return np.kron(rng.choice([20.0, 230.0], (6, 8)), np.ones((12, 16)))


def test_black_images_are_like_nothing() -> None:
    loudness = video(6)[1]
    exact = track(np.zeros((30, 72, 128)), loudness)
    assert align(exact, exact) is None
    one, other = (track(noisy(np.full((72, 128), 16.0), 30, seed), loudness) for seed in (1, 1))
    line = align(one, other)
    assert line is None or not is_near_duplicate(line)


def test_one_title_card_under_other_sounds_is_no_copy() -> None:
    frame, sounds = card(7), [video(seed)[1] for seed in range(8)]
    # The same noise in all: one encoder pulses alike over one still frame.
    made = [track(noisy(frame, 30, 1), loudness) for loudness in sounds]
    lines = [align(made[0], other) for other in made[1:]]
    assert all(line is not None and line.still > 0.95 and line.moving < 0.5 for line in lines)
    assert not any(line is not None and is_near_duplicate(line) for line in lines)
    silent = track(noisy(frame, 30, 1), np.zeros(30))
    line = align(silent, silent)
    assert line is None or not is_near_duplicate(line)


def test_a_shared_opening_makes_no_copy() -> None:
    for seed in range(4):
        one, other = video(20 + seed), video(40 + seed)
        for images, _ in (one, other):
            images[:9] = card(8)
        line = align(track(*one), track(*other))
        assert line is None or not is_near_duplicate(line)


def test_of_few_images_more_is_asked() -> None:
    alike = Alignment(1.0, 0.0, still=0.8, moving=0.45, sound=0.85, images=8)
    assert is_near_duplicate(alike)
    assert not is_near_duplicate(replace(alike, images=3))
    assert is_near_duplicate(replace(alike, images=3, still=0.9, moving=0.7))
    images, loudness = video(9, 6)
    line = align(track(images, loudness), track(cropped(images), loudness))
    assert line is not None
    assert line.images == 3
    assert is_near_duplicate(line)
