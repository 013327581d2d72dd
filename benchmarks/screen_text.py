"""Processor seconds of on-screen text a minute of video, and how right it is where the text is known.

    python -m benchmarks.screen_text [--videos 2] [--seconds 60] [--backgrounds FOLDER] [--folder FOLDER]

Kinds: slides (bullets that appear, three designs), screencasts (an editor in which lines are typed and
scrolled), talks (captions of 20 to 36 pixels of 720 over a Workbench scene), streets (signs that move with
the image), small (captions of 15 to 19 pixels), fine (of 12 to 20, in five fonts and five colourings),
plain (a scene without text). With `--backgrounds`, videos
of that folder are behind captions and signs. Twice a second the text of the spans is compared with the text
on screen; the F1 is over characters in matching order (`difflib`), summed over the video. `captions_found`
is the share of captions of which a span that overlaps them has 80 % of the characters. Cost: reading, and
what choosing and scaling keyframes adds to decoding.
"""

from __future__ import annotations

import difflib
import json
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from benchmarks.indexing_cost import cpu
from benchmarks.options import kept_folder, option_parser

WIDTH, HEIGHT, FPS = 1280, 720, 10
TEXT = """
the mirror of a telescope is made from light metal and coated with gold while engineers measure every
segment before launch date budget review slide chapter results table figure shows average energy of
particles near surface water flows through valley under bridge station market street exit platform open
close ticket price museum garden bakery hotel pharmacy parking coffee fresh bread daily return value
index import class function search query vector window frame video score number list string
"""
WORDS = TEXT.split()

Images = Iterator[NDArray[np.uint8]]


@dataclass(frozen=True, slots=True)
class ShownText:
    """Text on screen in [start, end) seconds."""

    start: float
    end: float
    text: str


@dataclass(frozen=True, slots=True)
class Look:
    """How a caption is rendered: colours are RGB, None for no box or no outline."""

    ink: tuple[int, int, int] = (250, 250, 250)
    box: tuple[int, int, int] | None = None
    outline: tuple[int, int, int] | None = None


BOXED, OUTLINED = Look(box=(12, 12, 12)), Look(outline=(0, 0, 0))
LOOKS = (
    BOXED,
    OUTLINED,
    Look((250, 220, 60), outline=(20, 20, 20)),
    Look((40, 40, 60), box=(225, 225, 215)),
    Look((190, 200, 210), box=(60, 90, 130)),
)
FONTS = ("", "DejaVuSans", "DejaVuSans-Bold", "DejaVuSerif", "DejaVuSansMono")
"""The empty name is Pillow's own font; the others are files of matplotlib."""


@lru_cache(maxsize=64)
def font(size: int, name: str = "") -> Any:
    """One of `FONTS`; size in pixels."""
    if not name:
        return ImageFont.load_default(size)
    import matplotlib

    return ImageFont.truetype(Path(matplotlib.get_data_path()) / "fonts" / "ttf" / f"{name}.ttf", size)


def phrase(source: random.Random, least: int, most: int) -> str:
    """Words in random order, some with a number."""
    words = source.choices(WORDS, k=source.randint(least, most))
    if source.random() < 0.3:
        words.append(str(source.randint(2, 9999)))
    return " ".join(words).capitalize()


def slides(source: random.Random, seconds: float, _: Images) -> tuple[Images, list[ShownText]]:
    """A title and bullets that appear every 3 s; another slide every 12 s."""
    shown: list[ShownText] = []
    plan = []
    for start in np.arange(0, seconds, 12.0):
        size = source.choice((22, 26, 32))
        colours = source.choice((((246, 246, 240), (20, 20, 60)), ((20, 24, 40), (250, 250, 240))))
        end = min(start + 12.0, seconds)
        lines = [(phrase(source, 3, 5), size + 14, 40, float(start))]
        for row in range(source.randint(3, 7)):
            at = float(start + 3.0 * min(3, row // 2))
            lines.append((f"{row + 1}. {phrase(source, 4, 9)}", size, 130 + row * (size + 34), at))
        plan.append((float(start), end, colours, lines))
        shown += [ShownText(at, end, text) for text, _, _, at in lines if at < end]

    def images() -> Images:
        for index in range(int(seconds * FPS)):
            time = index / FPS
            _, _, (paper, ink), lines = next(each for each in plan if each[0] <= time < each[1])
            image = Image.new("RGB", (WIDTH, HEIGHT), paper)
            draw = ImageDraw.Draw(image)
            for text, size, top, at in lines:
                if at <= time:
                    draw.text((70, top), text, fill=ink, font=font(size))
            yield np.asarray(image)

    return images(), shown


def screencast(source: random.Random, seconds: float, _: Images) -> tuple[Images, list[ShownText]]:
    """An editor: a line is typed every 2 s; a full window scrolls by eight lines."""
    rows, size = 20, source.choice((16, 18, 20))
    typed = [phrase(source, 3, 8) for _ in range(rows // 2 + int(seconds / 2) + 1)]

    def window(time: float) -> list[str]:
        count = rows // 2 + int(time / 2)
        first = max(0, -(-(count - rows) // 8) * 8)
        return typed[first:count]

    def images() -> Images:
        for index in range(int(seconds * FPS)):
            time = index / FPS
            image = Image.new("RGB", (WIDTH, HEIGHT), (30, 30, 34))
            draw = ImageDraw.Draw(image)
            draw.rectangle((0, 0, WIDTH, 36), fill=(60, 60, 66))
            lines = window(time)
            for row, text in enumerate(lines):
                draw.text((60, 56 + row * 32), text, fill=(214, 214, 206), font=font(size))
            if index % 10 < 5:
                bottom = 56 + len(lines) * 32
                draw.rectangle((60, bottom, 62, bottom + size), fill=(230, 230, 230))
            yield np.asarray(image)

    steps = np.arange(0, seconds, 2.0)
    return images(), [ShownText(float(at), float(at + 2), text) for at in steps for text in window(float(at))]


@dataclass(frozen=True, slots=True)
class Caption:
    """Lines on screen in [start, end) seconds, the last one's bottom `bottom` pixels from the top."""

    start: float
    end: float
    lines: Sequence[str]
    look: Look
    size: int
    font: str = ""
    bottom: int = 662

    def draw(self, draw: ImageDraw.ImageDraw) -> None:
        """Draw the lines, each in the middle."""
        used, look = font(self.size, self.font), self.look
        width = 0 if look.outline is None else max(1, self.size // 12)
        for row, text in enumerate(reversed(self.lines)):
            left = (WIDTH - draw.textlength(text, used)) / 2
            top = self.bottom - self.size - row * (self.size + 8)
            if look.box is not None:
                draw.rectangle((left - 6, top - 2, WIDTH - left + 6, top + self.size + 6), fill=look.box)
            draw.text(
                (left, top), text, fill=look.ink, font=used, stroke_width=width, stroke_fill=look.outline
            )


def captioned(plan: Sequence[Caption], seconds: float, behind: Images) -> tuple[Images, list[ShownText]]:
    """The images behind, with captions."""

    def images() -> Images:
        for index, behind_it in zip(range(int(seconds * FPS)), behind, strict=False):
            image = Image.fromarray(behind_it)
            for caption in plan:
                if caption.start <= index / FPS < caption.end:
                    caption.draw(ImageDraw.Draw(image))
            yield np.asarray(image)

    return images(), [ShownText(each.start, min(each.end, seconds), " ".join(each.lines)) for each in plan]


def captions(sizes: Sequence[int], lasting: float) -> Callable[..., tuple[Images, list[ShownText]]]:
    """One or two lines at the bottom, outlined or on a box, with a pause after each."""

    def make(source: random.Random, seconds: float, behind: Images) -> tuple[Images, list[ShownText]]:
        plan = []
        for start in np.arange(0.7, seconds, lasting + 0.8):
            lines = [phrase(source, 3, 7) for _ in range(source.choice((1, 2)))]
            size, look = source.choice(sizes), BOXED if source.random() < 0.5 else OUTLINED
            plan.append(Caption(float(start), float(start + lasting), lines, look, size))
        return captioned(plan, seconds, behind)

    return make


def fine(source: random.Random, seconds: float, behind: Images) -> tuple[Images, list[ShownText]]:
    """A line of 12 to 20 pixels for 2 to 4 s, at the bottom or higher, in every font and look."""
    plan, start = [], 0.7
    while start < seconds - 1:
        size, name, look = source.randint(12, 20), source.choice(FONTS), source.choice(LOOKS)
        bottom, end = source.choice((662, 662, 120, 400)), start + source.uniform(2.0, 4.0)
        plan.append(Caption(start, end, [phrase(source, 3, 7)], look, size, name, bottom))
        start = end + source.choice((0.0, 0.8))
    return captioned(plan, seconds, behind)


def street(source: random.Random, seconds: float, behind: Images) -> tuple[Images, list[ShownText]]:
    """Signs of 26 to 64 pixels that move with the camera, two seconds to cross 300 pixels."""
    plan, shown = [], []
    for start in np.arange(0.0, seconds, 5.0):
        size = source.choice((26, 34, 46, 64))
        text = phrase(source, 1, 2).upper()
        speed, left, top = (
            source.choice((-1, 1)) * source.uniform(20, 120),
            source.uniform(420, 560),
            source.uniform(60, 520),
        )
        colours = source.choice(
            (
                ((240, 235, 220), (20, 40, 90)),
                ((20, 90, 50), (250, 250, 250)),
                ((200, 30, 30), (255, 250, 240)),
            )
        )
        plan.append((float(start), size, text, speed, left, top, colours, source.uniform(-6, 6)))
        shown.append(ShownText(float(start), float(min(start + 4.0, seconds)), text))

    def sign(size: int, text: str, colours: Any, angle: float) -> Image.Image:
        width = int(font(size).getlength(text))
        board = Image.new("RGBA", (width + size, size * 2), (*colours[0], 255))
        ImageDraw.Draw(board).text((size / 2, size * 0.35), text, fill=colours[1], font=font(size))
        return board.rotate(angle, expand=True, resample=Image.Resampling.BICUBIC)

    def images() -> Images:
        boards = [sign(size, text, colours, angle) for _, size, text, _, _, _, colours, angle in plan]
        for index, behind_it in zip(range(int(seconds * FPS)), behind, strict=False):
            image = Image.fromarray(behind_it)
            for (start, _, _, speed, left, top, _, _), board in zip(plan, boards, strict=True):
                passed = index / FPS - start
                if 0 <= passed < 4.0:
                    image.paste(board, (int(left + speed * (passed - 2)), int(top)), board)
            yield np.asarray(image)

    return images(), shown


def plain(_: random.Random, seconds: float, behind: Images) -> tuple[Images, list[ShownText]]:
    """The scene alone."""
    return (image for _, image in zip(range(int(seconds * FPS)), behind, strict=False)), []


KINDS: dict[str, Callable[..., tuple[Images, list[ShownText]]]] = {
    "slides": slides,
    "screencasts": screencast,
    "talks": captions((20, 24, 28, 36), 3.0),
    "streets": street,
    "small": captions((15, 16, 17, 18, 19), 3.0),
    "fine": fine,
    "plain": plain,
}


def background(number: int, folder: Path | None) -> Images:
    """Images (720, 1280, 3) uint8 RGB without end: a Workbench scene, or the videos of a folder in turn."""
    if folder is None:
        from eval.workbench.story import plan_clip
        from eval.workbench.video import Render, clip_frames

        seed = 0
        while True:
            story = plan_clip(
                1000 * number + seed, "test", duration=20.0, style=("live", "flat", "shaded")[number % 3]
            )
            yield from clip_frames(story, Render(HEIGHT, FPS))
            seed += 1
    import av

    paths = sorted(path for path in folder.iterdir() if path.suffix in (".mp4", ".mkv"))
    while True:
        path = paths[number % len(paths)]
        number += 1
        with av.open(str(path)) as container:
            step = max(1, round(float(container.streams.video[0].average_rate or FPS) / FPS))
            for index, frame in enumerate(container.decode(video=0)):
                if index % step == 0:
                    yield frame.to_ndarray(format="rgb24", width=WIDTH, height=HEIGHT)


def write_video(path: Path, images: Images) -> None:
    """H.264 as screens and cameras are kept: CRF 23."""
    import av

    with av.open(str(path), "w") as out:
        stream = out.add_stream("libx264", rate=FPS)
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        stream.options = {"preset": "veryfast", "crf": "23"}
        for image in images:
            for packet in stream.encode(av.VideoFrame.from_ndarray(image, format="rgb24")):
                out.mux(packet)
        for packet in stream.encode():
            out.mux(packet)


def decoded(path: Path, *, keyframes: bool) -> tuple[list[Any], float]:
    """The clips of a video with their keyframes, and the CPU-seconds of decoding."""
    from corpora.video.decoders import open_decoder
    from corpora.video.probe import probe_file
    from corpora.video.records import FrameRequest
    from rag.indexing.clips import cut_clips
    from rag.indexing.stages import OCR_SHORT_SIDE

    facts = probe_file(str(path), lambda: None)
    request = FrameRequest(keyframe_side=OCR_SHORT_SIDE if keyframes else None)
    before = cpu()
    batches = list(open_decoder("pyav").frames(str(path), facts, request, lambda: None))
    spent = cpu() - before
    return list(cut_clips(iter(batches), "v", 30.0, 5.0, lambda: facts.duration)), spent


def similar(first: str, second: str) -> tuple[int, int]:
    """Characters that match in order, and those of both; letters and digits, in one case."""
    one, other = ("".join(each for each in text.lower() if each.isalnum()) for text in (first, second))
    return _matching(one, other), len(one) + len(other)


@lru_cache(maxsize=4096)
def _matching(one: str, other: str) -> int:
    blocks = difflib.SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks()
    return sum(block.size for block in blocks)


def compare(spans: Sequence[Any], shown: Sequence[ShownText], seconds: float) -> dict[str, float]:
    """Sums over the grid of half seconds, and captions found."""
    matching = both = 0
    for at in np.arange(0.25, seconds, 0.5):
        read = " ".join(span.text for span in spans if span.start <= at < span.end)
        true = " ".join(text.text for text in shown if text.start <= at < text.end)
        same, sizes = similar(read, true)
        matching, both = matching + same, both + sizes
    found = 0
    for text in shown:
        near = [span.text for span in spans if span.start < text.end and span.end > text.start]
        same = max((similar(read, text.text)[0] for read in near), default=0)
        found += same >= 0.8 * sum(each.isalnum() for each in text.text)
    return {"matching": matching, "both": both, "found": found, "texts": len(shown)}


def measure(videos: Sequence[tuple[Path, list[ShownText]]], seconds: float, stages: Any) -> dict[str, Any]:
    """The figures of one kind of video."""
    sums = {"matching": 0.0, "both": 0.0, "found": 0.0, "texts": 0.0}
    reading = choosing = 0.0
    keyframes = 0
    for path, shown in videos:
        _, without = decoded(path, keyframes=False)
        clips, spent = decoded(path, keyframes=True)
        choosing += spent - without
        keyframes += sum(len(clip.keyframes) for clip in clips)
        before = time.process_time()
        spans = [span for clip in clips for span in stages.read_keyframes(clip)]
        reading += time.process_time() - before
        found = compare(spans, shown, seconds)
        sums = {name: value + found[name] for name, value in sums.items()}
    minutes = len(videos) * seconds / 60
    return {
        "videos": len(videos),
        "reading_cpu_s_per_minute": round(reading / minutes, 2),
        "keyframes_cpu_s_per_minute": round(choosing / minutes, 2),
        "keyframes_per_minute": round(keyframes / minutes, 1),
        "character_f1": round(2 * sums["matching"] / sums["both"], 4) if sums["texts"] else None,
        "characters_read_where_none_are": sums["both"] if not sums["texts"] else None,
        "captions_found": f"{sums['found']:.0f} of {sums['texts']:.0f}",
    }


def main() -> None:
    """Render, read and print one JSON object."""
    from indexers.ocr import Ocr, open_ocr
    from indexers.settings import OcrSettings
    from rag.indexing.stages import Stages

    parser = option_parser(__doc__)
    parser.add_argument("--videos", type=int, default=2, help="of each kind")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kinds", nargs="*", default=list(KINDS))
    parser.add_argument("--backgrounds", type=Path)
    parser.add_argument("--folder", type=Path, default=kept_folder())
    chosen = parser.parse_args()
    ocr = open_ocr(OcrSettings(mode="on"))
    assert isinstance(ocr, Ocr)
    none: Any = None
    stages = Stages(text=none, image=None, ocr=ocr, asr=None, reuse_still_frames=True, measuring=none)
    ocr.read(np.zeros((HEIGHT, WIDTH, 3), np.uint8))
    folder = chosen.folder / ("screen-text-real" if chosen.backgrounds else "screen-text")
    folder.mkdir(parents=True, exist_ok=True)
    figures = {}
    for kind in chosen.kinds:
        videos = []
        for number in range(chosen.seed, chosen.seed + chosen.videos):
            source = random.Random(f"{kind}-{number}")
            images, shown = KINDS[kind](source, chosen.seconds, background(number, chosen.backgrounds))
            path = folder / f"{kind}-{number}-{chosen.seconds:.0f}.mp4"
            if not path.is_file():
                write_video(path, images)
            videos.append((path, shown))
        figures[kind] = measure(videos, chosen.seconds, stages)
    costs = [
        each["reading_cpu_s_per_minute"] + each["keyframes_cpu_s_per_minute"] for each in figures.values()
    ]
    print(json.dumps({**figures, "mean_cpu_s_per_minute": round(float(np.mean(costs)), 2)}, indent=1))


if __name__ == "__main__":
    main()
