"""A copy is known by its pictures and its sound along one line of time, and other videos are not."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from localization.copies import Track, align
from rag.retrieval.copies import is_copy, likeness


def film(seed: int, seconds: int = 30) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Something that moves over something that stands still, (seconds, 72, 128), and how loud it is."""
    rng = np.random.default_rng(seed)
    still = np.kron(rng.uniform(40, 200, (6, 8)), np.ones((12, 16)))
    pictures = np.repeat(still[None], seconds, axis=0)
    at = np.arange(seconds)
    turns = np.arange(0, seconds + 5, 5)
    downs = np.interp(at, turns, rng.uniform(0, 48, len(turns))).astype(int)
    acrosses = np.interp(at, turns, rng.uniform(0, 98, len(turns))).astype(int)
    for second, down, across in zip(at, downs, acrosses, strict=True):
        pictures[second, down : down + 24, across : across + 30] = 250
    return pictures, np.interp(at, turns, rng.uniform(-40, -15, len(turns)))


def track(pictures: NDArray[np.float64], loudness: NDArray[np.float64], speed: float = 1.0) -> Track:
    seconds = len(pictures) / speed
    times = np.arange(0, seconds, 2.0)
    shown = pictures[np.minimum((times * speed).astype(int), len(pictures) - 1)]
    small = shown.reshape(len(times), 18, shown.shape[1] // 18, 32, -1).mean(axis=(2, 4))
    heard = np.interp(np.arange(int(seconds)) * speed, np.arange(len(loudness)), loudness)
    return Track(times, small.clip(0, 255).astype(np.uint8), heard, seconds)


def cropped(pictures: NDArray[np.float64]) -> NDArray[np.float64]:
    """The frame without its outer tenth, as large as before."""
    rows = np.linspace(4, 67, 72).round().astype(int)
    columns = np.linspace(8, 119, 128).round().astype(int)
    return pictures[:, rows][:, :, columns] * 0.85 + 10


def test_a_cropped_graded_and_faster_copy_is_known() -> None:
    pictures, loudness = film(1)
    line = align(track(pictures, loudness), track(cropped(pictures), loudness, speed=1.1))
    assert line is not None
    assert is_copy(line)
    assert abs(line.speed - 1.1) < 0.05
    assert abs(line.offset) < 2.5


def test_it_does_not_matter_which_one_is_asked_for() -> None:
    pictures, loudness = film(2)
    one, other = track(pictures, loudness), track(cropped(pictures), loudness, speed=0.92)
    forth, back = align(one, other), align(other, one)
    assert forth is not None
    assert back is not None
    assert is_copy(forth)
    assert is_copy(back)
    assert abs(forth.speed * back.speed - 1) < 0.05


def test_other_films_are_other_films() -> None:
    made = [track(*film(seed)) for seed in range(6)]
    lines = [align(a, b) for k, a in enumerate(made) for b in made[k + 1 :]]
    assert not any(line is not None and is_copy(line) for line in lines)


def test_the_same_place_at_another_time_is_no_copy() -> None:
    pictures, loudness = film(3)
    later = pictures[::-1].copy()
    line = align(track(pictures, loudness), track(later, loudness[::-1].copy()))
    assert line is None or not is_copy(line)


def test_a_few_seconds_of_a_film_are_no_copy_of_it() -> None:
    pictures, loudness = film(4)
    assert align(track(pictures, loudness), track(pictures[:10], loudness[:10])) is None
    assert align(track(pictures, loudness), track(*film(4, 1))) is None


def test_likeness_without_sound_rests_on_pictures() -> None:
    pictures, _ = film(5)
    silent = np.empty(0)
    line = align(track(pictures, np.zeros(30)), Track(*_pictures(pictures), silent, 30.0))
    assert line is not None
    assert line.sound is None
    assert likeness(line) > 0.95


def _pictures(pictures: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.uint8]]:
    made = track(pictures, np.zeros(len(pictures)))
    return made.times, made.pictures
