"""On-screen text: word for word on clear slides, nothing on noise, and from its first frame to its last."""

import importlib.util
import logging
import sys
from collections.abc import Callable, Iterable, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

import indexers.ocr
from corpora.records import Clip, Evidence, Frames
from indexers.ocr import Ocr, lines_in_reading_order, ocr_line, open_ocr
from indexers.protocol import Disabled
from indexers.screen import TextBox
from indexers.settings import OcrSettings
from indexers.text_tracking import text_spans
from rag.errors import ExtraMissing

LINES = ["The mirror is made of beryllium", "Launch date: 25 December 2021", "Primary mirror 6.5 m wide"]


@pytest.fixture(scope="module")
def ocr() -> Ocr:
    opened = open_ocr(OcrSettings())
    assert isinstance(opened, Ocr)
    return opened


def slide(
    size: tuple[int, int] = (960, 540), letters: int = 30, dark: bool = False, right: str = ""
) -> NDArray[np.uint8]:
    paper, ink = ((20, 24, 40), (250, 250, 240)) if dark else ((246, 246, 240), (20, 20, 60))
    image = Image.new("RGB", size, paper)
    draw = ImageDraw.Draw(image)
    font = ImageFont.load_default(letters)
    for row, line in enumerate(LINES):
        draw.text((40, 40 + row * letters * 2), line, fill=ink, font=font)
    if right:
        draw.text((size[0] - 200, 40), right, fill=ink, font=font)
    return np.asarray(image)


def texts_of(read: Iterable[Sequence[TextBox]]) -> list[str]:
    return ["\n".join(lines_in_reading_order(boxes)) for boxes in read]


def read(ocr: Ocr, image: NDArray[np.uint8]) -> str:
    return texts_of(ocr.read_clip([image]))[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("size", "letters", "dark"), [((1280, 720), 24, True), ((640, 360), 16, False), ((540, 960), 26, False)]
)
def test_clear_text_is_read_word_for_word(ocr: Ocr, size: tuple[int, int], letters: int, dark: bool) -> None:
    assert read(ocr, slide(size, letters, dark)) == "\n".join(LINES)


@pytest.mark.slow
def test_images_without_text_give_nothing(ocr: Ocr) -> None:
    rng = np.random.default_rng(0)
    assert read(ocr, np.zeros((360, 640, 3), np.uint8)) == ""
    assert read(ocr, rng.integers(0, 256, (360, 640, 3), dtype=np.uint8)) == ""
    assert read(ocr, np.full((1, 1, 3), 9, np.uint8)) == ""
    assert read(ocr, np.full((3, 900, 3), 9, np.uint8)) == ""


@pytest.mark.parametrize(
    ("texts", "shown", "of_page"),
    [
        (["sure", "unsure?"], "sure", ["sure"]),
        (["X"], "", ["X"]),
        (["7", "H"], "", ["7", "H"]),
        (["B", "Gate"], "B Gate", ["B", "Gate"]),
        (["A1"], "A1", ["A1"]),
    ],
)
def test_what_is_unsure_is_dropped_and_one_character_on_a_screen_without_longer_text(
    texts: list[str], shown: str, of_page: list[str]
) -> None:
    """Of a page one character may be a cell of a table."""

    class Engine:
        boxes = np.array([[[x, 25], [x + 3, 25], [x + 3, 29], [x, 29]] for x in range(50, 50 + len(texts))])
        txts = tuple(texts)
        scores = tuple(0.3 if "?" in text else 0.99 for text in texts)

        def __call__(self, _: NDArray[np.uint8], **__: object) -> "Engine":
            return self

        def crop_text_regions(self, *_: object) -> list[NDArray[np.uint8]]:
            return []

        recognize_txt = __call__

    reader = Ocr(Engine(), "", 0.6, "")
    line = np.asarray(slide())[:90]
    assert texts_of(reader.read_clip([line])) == [shown]
    assert [found.text for found in reader.read_page(line[:, :, 0])] == of_page


@pytest.mark.slow
def test_settings_are_in_the_fingerprint(ocr: Ocr) -> None:
    other = open_ocr(OcrSettings(min_confidence=0.9))
    assert isinstance(other, Ocr)
    assert other.fingerprint != ocr.fingerprint
    assert other.reason == ocr.reason
    assert ocr.reason.startswith("on-screen text: on, rapidocr ")
    assert ocr.reason == ocr_line(OcrSettings())


@pytest.mark.slow
def test_nothing_is_said_and_nothing_is_fetched(capfd, monkeypatch) -> None:
    from rapidocr.utils.download_file import DownloadFile

    def fetch(*_: object) -> None:
        raise AssertionError("a download was tried")

    monkeypatch.setattr(DownloadFile, "run", fetch)
    opened = open_ocr(OcrSettings(mode="on"))
    assert isinstance(opened, Ocr)
    read(opened, np.zeros((64, 64, 3), np.uint8))
    assert capfd.readouterr() == ("", "")
    assert logging.getLogger("RapidOCR").level >= logging.CRITICAL


def test_off_says_why(monkeypatch) -> None:
    assert open_ocr(OcrSettings(mode="off")) == Disabled("on-screen text: off by the settings")
    monkeypatch.setattr(indexers.ocr, "packaged_models", lambda: None)
    assert open_ocr(OcrSettings()) == Disabled(
        "on-screen text: off, rapidocr came without its models; "
        "install them with: pip install -e '.[ocr]' (in the checkout)"
    )
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    off = open_ocr(OcrSettings())
    assert isinstance(off, Disabled)
    assert "rapidocr and onnxruntime and cv2 not installed" in off.reason
    assert ocr_line(OcrSettings()) == off.reason
    with pytest.raises(ExtraMissing, match=r"pip install -e '\.\[ocr\]'"):
        open_ocr(OcrSettings(mode="on"))
    with pytest.raises(ExtraMissing):
        ocr_line(OcrSettings(mode="on"))


def test_a_package_that_cannot_be_loaded(monkeypatch, tmp_path) -> None:
    (tmp_path / "rapidocr" / "models").mkdir(parents=True)
    (tmp_path / "rapidocr" / "__init__.py").write_text("raise ImportError('libGL.so.1: no such file')")
    for task in ("det", "rec"):
        (tmp_path / "rapidocr" / "models" / f"a_{task}_b.onnx").write_bytes(b"")
    monkeypatch.delitem(sys.modules, "rapidocr", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    off = open_ocr(OcrSettings())
    assert isinstance(off, Disabled)
    assert "on-screen text: off, rapidocr cannot be loaded (libGL.so.1: no such file)" in off.reason
    with pytest.raises(ExtraMissing):
        open_ocr(OcrSettings(mode="on"))


def moving(time: float, caption: str = "", letters: int = 34) -> NDArray[np.uint8]:
    """Soft hills of colour that drift, 1280 x 720, and an outlined caption in front of them."""
    y, x = np.mgrid[0:720, 0:1280].astype(np.float32)
    hills = [
        120 + 60 * np.sin(x / (90 + 20 * k) + 3 * time + k) * np.cos(y / (70 + 9 * k) - 2 * time)
        for k in range(3)
    ]
    image = Image.fromarray(np.stack(hills, axis=2).astype(np.uint8))
    if caption:
        font = ImageFont.load_default(letters)
        ImageDraw.Draw(image).text((200, 600), caption, "white", font, stroke_width=3, stroke_fill="black")
    return np.asarray(image)


@pytest.fixture
def recognized(monkeypatch) -> list[int]:
    """How many pieces of text every call of the recogniser got."""
    from rapidocr import RapidOCR

    whole, calls = RapidOCR.recognize_txt, []

    def counted(engine: RapidOCR, images: list[NDArray[np.uint8]]) -> object:
        calls.append(len(images))
        return whole(engine, images)

    monkeypatch.setattr(RapidOCR, "recognize_txt", counted)
    return calls


@pytest.mark.slow
def test_text_that_stays_is_recognised_once_a_clip(ocr: Ocr, recognized: list[int]) -> None:
    text = "Torque 25 Nm, step 1"
    for _ in range(2):
        recognized.clear()
        assert texts_of(ocr.read_clip(moving(k / 2, text) for k in range(3))) == [text] * 3
        assert len(recognized) == 1


@pytest.mark.slow
def test_one_other_digit_is_other_text(ocr: Ocr) -> None:
    texts = [f"Torque 25 Nm, step {k}" for k in (1, 7, 7)]
    texts += ["", "Torque 26 Nm, step 7"]
    read = texts_of(ocr.read_clip(moving(k / 2, text) for k, text in enumerate(texts)))
    assert [text.replace(" ", "") for text in read] == [text.replace(" ", "") for text in texts]


@pytest.mark.slow
def test_text_that_fades_in_slowly_is_read_whole(ocr: Ocr) -> None:
    def faded(levels: int) -> NDArray[np.uint8]:
        image = Image.new("RGB", (1280, 720), (30, 30, 34))
        ink = (30 + levels, 30 + levels, 34 + levels)
        ImageDraw.Draw(image).text((60, 300), LINES[0], ink, ImageFont.load_default(36))
        return np.asarray(image)

    assert texts_of(ocr.read_clip(faded(levels) for levels in range(0, 200, 12)))[-1] == LINES[0]


@pytest.mark.slow
def test_of_a_screen_only_what_is_new_is_recognised(ocr: Ocr, recognized: list[int]) -> None:
    def screen(first: int, last: int) -> NDArray[np.uint8]:
        image = Image.new("RGB", (1280, 720), (30, 30, 34))
        for row, number in enumerate(range(first, last)):
            line = (60, 56 + 32 * row), f"Value of row {number * 37} in the table"
            ImageDraw.Draw(image).text(*line, (214, 214, 206), ImageFont.load_default(18))
        return np.asarray(image)

    # Typed, scrolled by two lines, and as it was.
    shown = [(0, 4), (0, 5), (2, 7), (2, 7)]
    texts = texts_of(ocr.read_clip(screen(*rows) for rows in shown))
    assert texts == ["\n".join(f"Value of row {k * 37} in the table" for k in range(*rows)) for rows in shown]
    assert recognized == [4, 1, 2]


@pytest.mark.slow
def test_a_clip_reads_the_same_whatever_was_read_before(ocr: Ocr) -> None:
    clip = [moving(k / 2, "Water the roots" if k else "") for k in range(2)]
    first = texts_of(ocr.read_clip(clip))
    assert first == ["", "Water the roots"]
    assert texts_of(ocr.read_clip([slide(), *clip]))[1:] == first
    assert texts_of(ocr.read_clip(clip)) == first


SIZE = (398, 224)
TIMES = np.arange(20) / 2
SCALE = 960 / SIZE[0]
"""From pixels of a sampled frame to those in which text is found."""

Shown = Callable[[float], list[tuple[str, int, int]]]
"""By time, texts with their left and upper edges in pixels of a sampled frame."""


def frame(time: float, texts: list[tuple[str, int, int]], moving: bool) -> NDArray[np.uint8]:
    y, x = np.mgrid[0 : SIZE[1], 0 : SIZE[0]].astype(np.float32)
    shift = 12 * time if moving else 0.0
    image = Image.fromarray((120 + 50 * np.sin((x + shift) / 9) * np.cos((y - shift) / 11)).astype(np.uint8))
    for text, left, top in texts:
        ImageDraw.Draw(image).text(
            (left, top), text, 255, ImageFont.load_default(12), stroke_width=1, stroke_fill=0
        )
    return np.asarray(image.convert("RGB"))


def spans(shown: Shown, keyframes: list[float], moving: bool = True) -> list[Evidence]:
    images = np.stack([frame(time, shown(time), moving) for time in TIMES])
    readings = [
        [
            TextBox(left * SCALE, top * SCALE, (left + 6 * len(text)) * SCALE, (top + 15) * SCALE, text, 0.99)
            for text, left, top in shown(time)
        ]
        for time in keyframes
    ]
    return text_spans(Clip("v:0", "v", 0.0, 10.0), Frames(TIMES, images), keyframes, readings)


def times(found: list[Evidence], text: str) -> list[tuple[float, float]]:
    return [(span.start, span.end) for span in found if span.text == text]


@pytest.mark.parametrize(
    ("moving", "seen_at", "keyframes"), [(False, 3.0, [0.0]), (True, 3.0, [0.0, 7.0]), (True, 4.5, [0.0])]
)
def test_a_caption_lasts_from_its_first_frame_to_its_last(
    moving: bool, seen_at: float, keyframes: list[float]
) -> None:
    def shown(time: float) -> list[tuple[str, int, int]]:
        return [("Water the roots", 120, 190)] if 3.0 <= time < 5.0 else []

    found = spans(shown, sorted([*keyframes, seen_at]), moving)
    assert times(found, "Water the roots") == [(3.0, 5.0)]
    assert len(found) == 1


@pytest.mark.parametrize("moving", [False, True])
def test_of_captions_in_one_place_each_has_its_own_time(moving: bool) -> None:
    def shown(time: float) -> list[tuple[str, int, int]]:
        return [("Water the roots" if time < 4.0 else "Prune the old wood", 120, 190)]

    found = spans(shown, [0.0, 6.0], moving)
    assert [(s.start, s.end, s.text) for s in found] == [
        (0.0, 4.0, "Water the roots"),
        (4.0, 10.0, "Prune the old wood"),
    ]


def test_what_stays_is_beside_what_comes_and_goes() -> None:
    def shown(time: float) -> list[tuple[str, int, int]]:
        caption = [("Water the roots", 120, 190)] if 3.0 <= time < 5.0 else []
        return [("Garden hour", 20, 10), *caption]

    both = "Garden hour\nWater the roots"
    found = spans(shown, [0.0, 3.5, 8.0])
    assert [(s.start, s.end, s.text) for s in found] == [
        (0.0, 3.0, "Garden hour"),
        (3.0, 5.0, both),
        (5.0, 10.0, "Garden hour"),
    ]


def test_text_that_moves_with_the_image_is_followed() -> None:
    def shown(time: float) -> list[tuple[str, int, int]]:
        return [("Bakery street", round(20 + 24 * time), 80)] if time < 6.0 else []

    assert times(spans(shown, [0.0, 8.0]), "Bakery street") == [(0.0, 6.0)]


def test_a_clip_without_text_has_no_spans() -> None:
    assert spans(lambda _: [], [0.0, 5.0]) == []
    assert (
        text_spans(Clip("v:0", "v", 0.0, 10.0), Frames(TIMES[:0], np.empty((0, 1, 1, 3), np.uint8)), [], [])
        == []
    )
