"""Each measurement on images and sound whose right value is known by construction."""

import numpy as np
import pytest
from numpy.typing import NDArray

from corpora.records import Frames
from eval.workbench.sound import melody, murmured
from eval.workbench.video import Line
from indexers.shots import (
    STATISTICS,
    cut_times,
    describe_shots,
    image_statistics,
    joined,
    lightness,
    measure_frames,
    style_of,
    tone_of,
    warmth_of,
)
from indexers.soundtrack import SAMPLE_RATE, SoundMeter


def statistics_of(image: NDArray[np.uint8]) -> NDArray[np.float32]:
    return image_statistics(lightness(image))


def scene(seed: int, *, cast: tuple[float, float, float] = (1, 1, 1), grain: float = 0) -> NDArray[np.uint8]:
    """Gray boxes under a light of that cast, uint8 (90, 160, 3)."""
    rng = np.random.default_rng(seed)
    gray = np.kron(rng.uniform(40, 220, (9, 16)), np.ones((10, 10)))
    gray += rng.normal(0, grain, gray.shape) if grain else 0
    return np.clip(gray[..., None] * np.array(cast), 0, 255).astype(np.uint8)


@pytest.mark.parametrize(
    ("cast", "tone"), [((1.0, 0.9, 0.66), "warm"), ((0.7, 0.86, 1.0), "cold"), ((0.9, 0.9, 0.9), "neutral")]
)
def test_the_tone_is_that_of_the_light(cast: tuple[float, float, float], tone: str) -> None:
    assert tone_of(warmth_of(scene(1, cast=cast))) == tone


def frames(*parts: tuple[int, int]) -> Frames:
    """Two frames a second: (seed of the image, how many)."""
    casts = {1: (1.0, 0.6, 0.3), 2: (0.3, 0.6, 1.0), 3: (0.4, 1.0, 0.3)}
    images = [scene(seed, cast=casts[seed]) for seed, count in parts for _ in range(count)]
    return Frames(np.arange(len(images)) / 2, np.stack(images))


def test_shots_cover_the_video_and_begin_where_the_image_changes() -> None:
    figures = measure_frames(frames((1, 8), (2, 6), (3, 6)))
    assert cut_times(figures) == [4.0, 7.0]
    shots = describe_shots("v", figures, 10.0)
    assert [(shot.start, shot.end) for shot in shots] == [(0, 4), (4, 7), (7, 10)]
    assert [shot.shot_id for shot in shots] == ["v:s00000", "v:s00001", "v:s00002"]
    assert all(shot.start <= shot.key_time < shot.end for shot in shots)


def test_frames_measured_in_parts_are_the_frames_measured_at_once() -> None:
    whole = frames((1, 8), (2, 6))
    parts = [Frames(whole.times[a:b], whole.images[a:b]) for a, b in ((0, 5), (5, 14))]
    found = joined([measure_frames(part) for part in parts])
    assert describe_shots("v", found, 7.0) == describe_shots("v", measure_frames(whole), 7.0)


def test_without_a_frame_there_is_no_shot() -> None:
    nothing = measure_frames(Frames(np.empty(0), np.empty((0, 1, 1, 3), np.uint8)))
    assert describe_shots("v", nothing, 5.0) == []


def test_grain_is_of_a_camera_and_plain_surfaces_are_not() -> None:
    grainy, plain = statistics_of(scene(3, grain=6)), statistics_of(scene(3))
    assert len(grainy) == len(STATISTICS)
    assert style_of(grainy) == "live"
    assert style_of(plain) != "live"


def measured(samples: NDArray[np.float32], block: int = 50_000) -> tuple[str, NDArray[np.float32]]:
    meter = SoundMeter()
    for start in range(0, len(samples), block):
        meter.feed(samples[start : start + block])
    track = meter.track("v", len(samples) / SAMPLE_RATE)
    return max(set(track.classes), key=track.classes.count), track.loudness


def test_silence_noise_a_tune_and_a_voice_are_distinguished() -> None:
    rng = np.random.default_rng(0)
    noise = (rng.standard_normal(12 * SAMPLE_RATE) * 0.02).astype(np.float32)
    line = Line(0.0, 12.0, "now the camera wearer places the kettle beside the big window " * 3)
    voice = murmured(line, 3) * np.float32(0.6)
    assert measured(noise * 0)[0] == "silence"
    assert measured(noise)[0] == "ambient"
    assert measured(noise / 8 + melody(1, len(noise)))[0] == "music"
    assert measured(noise[: len(voice)] / 8 + voice)[0] == "speech"


def test_loudness_is_that_of_the_standard() -> None:
    """BS.1770: a sine of 997 Hz at full scale in one channel reads -3.01 LUFS."""
    sine = np.sin(2 * np.pi * 997 * np.arange(5 * SAMPLE_RATE) / SAMPLE_RATE).astype(np.float32)
    assert measured(sine)[1][1:] == pytest.approx([-3.01] * 4, abs=0.15)
    assert measured(sine * 0)[1].tolist() == [-70] * 5


def test_blocks_do_not_change_what_is_measured() -> None:
    tune = melody(2, 40 * SAMPLE_RATE + 5000)
    one, other = measured(tune, 131_072), measured(tune, 7_001)
    assert one[0] == other[0]
    assert one[1].tolist() == other[1].tolist()
    assert len(one[1]) == 41


def test_what_is_missing_or_no_number_is_not_measured() -> None:
    tune = melody(2, 20 * SAMPLE_RATE)
    whole = SoundMeter()
    whole.feed(tune)
    torn = tune.copy()
    torn[5 * SAMPLE_RATE : 9 * SAMPLE_RATE] = np.nan
    torn[12 * SAMPLE_RATE : 12 * SAMPLE_RATE + 10] = np.inf
    torn[15 * SAMPLE_RATE : 15 * SAMPLE_RATE + 10] = 1e30
    meter = SoundMeter()
    handed = np.concatenate([*meter.feed_through([torn])])
    assert np.isfinite(handed).all()
    assert np.abs(handed).max() <= 1
    measured, known = meter.track("v", 20.0), whole.track("v", 20.0)
    assert known is not None
    assert (
        [k for k, name in enumerate(measured.classes) if name is None]
        == [5, 6, 7, 8]
        == [*np.flatnonzero(np.isnan(measured.loudness))]
    )
    there = [k for k in range(20) if k not in (5, 6, 7, 8)]
    assert {measured.classes[k] for k in there} == {"music"}
    assert np.abs(measured.loudness - known.loudness)[there].max() < 0.5
    gone = SoundMeter()
    gone.feed(np.full(3 * SAMPLE_RATE, np.nan, np.float32))
    assert gone.track("v", 3.0) is None
