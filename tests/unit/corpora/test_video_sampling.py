"""Sizes of scaled images, odd pixel formats, and which images count as new."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageDraw, ImageFont

from corpora.video.keyframes import KeyframePicker
from corpora.video.reader import MediaReader
from corpora.video.sampling import scaled_size
from tests.fakes.synthetic import read_time_code, write_video


@given(st.integers(2, 8000), st.integers(2, 8000), st.integers(32, 1080))
def test_sides_are_even_and_never_grow(width: int, height: int, short: int) -> None:
    wide, high = scaled_size(width, height, short)
    assert wide % 2 == high % 2 == 0
    assert 2 <= wide <= width
    assert 2 <= high <= height
    assert min(wide, high) <= max(short + 1, 2)
    if min(width, height) > short * 2:
        assert wide / high == pytest.approx(width / height, rel=0.1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "codec", "pix_fmt", "size"),
    [
        ("ten.mp4", "libx264", "yuv420p10le", (160, 120)),
        ("odd.mkv", "ffv1", "yuv444p", (161, 121)),
        ("alpha.mkv", "ffv1", "yuva420p", (160, 120)),
        ("a.mkv", "libsvtav1", "", (160, 120)),
        ("a.mov", "prores_ks", "yuv422p10le", (160, 120)),
        ("a.mpg", "mpeg2video", "", (160, 120)),
    ],
)
def test_whatever_ffmpeg_decodes(
    tmp_path, name: str, codec: str, pix_fmt: str, size: tuple[int, int]
) -> None:
    fps = 25 if name == "a.mpg" else 10
    write_video(tmp_path / name, 2, codec=codec, pix_fmt=pix_fmt, size=size, fps=fps)
    with MediaReader() as reader:
        batches = list(reader.frames(str(tmp_path / name)))
        images = [image for batch in batches for image in batch.frames.images]
    assert images[0].shape == (120, 160, 3)
    codes = [read_time_code(image) for image in images]
    assert codes[:4] == ([0, 13, 25, 38] if name == "a.mpg" else [0, 5, 10, 15])


def slide_image(words: int) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    image = np.full((120, 160, 3), 255, np.uint8)
    for word in range(words):
        image[10 + 10 * word : 16 + 10 * word, 20:90] = 0
    return image


def pick(picker: KeyframePicker, time: float, image: np.ndarray[tuple[int, ...], np.dtype[np.uint8]]) -> bool:
    return picker.pick(time, image, image[:, :, 1])


def test_a_resting_change_is_taken_once_and_every_period_begins_with_one() -> None:
    picker = KeyframePicker(10.0)
    slides = [1] * 8 + [2] * 8 + [2] * 8
    taken = [k / 2 for k, words in enumerate(slides) if pick(picker, k / 2, slide_image(words))]
    assert taken == [0.0, 4.5, 10.0]


def test_noise_is_no_change() -> None:
    picker = KeyframePicker(100.0)
    chance = np.random.default_rng(0)
    noisy = [
        slide_image(3) - chance.integers(0, 8, (120, 160, 3), np.uint8) * (slide_image(3) > 0)
        for _ in range(10)
    ]
    assert [pick(picker, k / 2, image) for k, image in enumerate(noisy)] == [True] + [False] * 9


def test_endless_motion_is_taken_now_and_then() -> None:
    picker = KeyframePicker(1000.0)
    chance = np.random.default_rng(0)
    tiles = (chance.integers(0, 255, (9, 16, 3), np.uint8) for _ in range(41))
    frames = (np.repeat(np.repeat(each, 40, 0), 40, 1) for each in tiles)
    assert [k / 2 for k, image in enumerate(frames) if pick(picker, k / 2, image)] == [0, 10, 20]


def drifting(time: float, caption: bool) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    """Hills of brightness that drift, 720 x 1280, and a caption of 16 pixels in front of them, outlined."""
    y, x = np.mgrid[0:720, 0:1280].astype(np.float32)
    hills = 120 + 60 * np.sin(x / 84 + 3 * time) * np.cos(y / 64 - 2 * time)
    image = Image.fromarray(hills.astype(np.uint8))
    if caption:
        font = ImageFont.load_default(16)
        ImageDraw.Draw(image).text((190, 580), "Water the roots", 255, font, stroke_width=1, stroke_fill=0)
    return np.asarray(image)


@pytest.mark.slow
@pytest.mark.parametrize("start", [0.5, 2.0, 3.5])
def test_a_caption_that_two_samples_show_in_front_of_motion_is_taken(start: float) -> None:
    picker = KeyframePicker(30.0)
    taken = []
    for time in np.arange(0, 9, 0.5):
        large = drifting(time, start <= time < start + 1)
        small = np.asarray(Image.fromarray(large).resize((398, 224)).convert("RGB"))
        if picker.pick(time, small, large):
            taken.append(time)
    assert any(start <= t < start + 1 for t in taken)
    # Motion alone gives only a look now and then.
    assert len(taken) <= 2


@pytest.mark.slow
def test_a_caption_that_comes_back_is_taken_again() -> None:
    picker = KeyframePicker(30.0)
    taken = []
    for time in np.arange(0, 9, 0.5):
        large = drifting(0.0, time % 4 >= 2)
        small = np.asarray(Image.fromarray(large).resize((398, 224)).convert("RGB"))
        if picker.pick(time, small, large):
            taken.append(time)
    assert [any(start <= t < start + 2 for t in taken) for start in (2, 6)] == [True, True]


@pytest.mark.parametrize("size", [(1, 1), (2, 4000), (4000, 2), (240, 3)])
def test_an_image_too_narrow_for_letters_has_none(size: tuple[int, int]) -> None:
    picker = KeyframePicker(1000.0)
    noise = np.random.default_rng(0).integers(0, 255, (20, *size, 3), dtype=np.uint8)
    assert [pick(picker, 0.5 * number, image) for number, image in enumerate(noise)].count(True) < 3
