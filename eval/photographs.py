"""The corpus of `rag demo`: photographs out of scikit-image's wheel, as clips with a camera that moves.

    clips/*.mp4    what is indexed; the names are a camera's, and say nothing
    SOURCES.md     source and licence of each photograph

Each clip shows a few photographs one after the other. Over one of them a synthetic voice speaks, over another
there is a caption.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from corpora.outputs import OverwritePolicy, output_folder
from eval.resumable import map_os_errors
from eval.voice import speak
from eval.workbench.sound import add_at, to_sixteen_bits
from eval.workbench.video import AUDIO_RATE, Render, write_video
from indexers.errors import ExtraMissing
from rag.records import Answer, VideoCitation

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from PIL.Image import Image


@dataclass(frozen=True, slots=True)
class Proof:
    """The part of a video that an answer should cite: [start, end) in seconds."""

    video: str
    """The file's name."""
    start: float
    end: float

    def is_cited(self, answer: Answer) -> bool:
        """Whether the first citation is a window of that part of the video."""
        first = answer.citations[0] if answer.citations else None
        return (
            isinstance(first, VideoCitation)
            and Path(first.path).name == self.video
            and first.start < self.end
            and first.end > self.start
        )


@dataclass(frozen=True, slots=True)
class DemoQuestion:
    """A question with its ground truth; without `options` it is an open one."""

    question_id: str
    text: str
    options: tuple[str, ...]
    expected: str
    """The label of the right option; of an open question, words that a right answer has."""
    proof: Proof | None = None
    """None: any evidence will do."""

    def is_right(self, answer: Answer) -> bool:
        """Whether an answer is the expected one, and cites its proof."""
        if self.proof is not None and not self.proof.is_cited(answer):
            return False
        if self.options:
            return answer.choice == self.expected
        return answer.matched and self.expected.lower() in answer.text.lower()


RENDER = Render(height=360, fps=12)
SOURCES, CLIPS_FOLDER = "SOURCES.md", "clips"
CAPTION_POINTS = 26


@dataclass(frozen=True, slots=True)
class Photograph:
    """One file of the folder `skimage/data`, with the licence that scikit-image's documentation states."""

    file: str
    what: str
    by: str
    licence: str


@dataclass(frozen=True, slots=True)
class View:
    """What the camera sees of a photograph: a 16:9 rectangle, as shares of the photograph.

    `x`, `y`: its centre. `size`: its width, as a share of the largest such rectangle. A rectangle that would
    leave the photograph is moved into it.
    """

    x: float
    y: float
    size: float


@dataclass(frozen=True, slots=True)
class Shot:
    """A photograph during `seconds`, while the camera moves from one view to another."""

    photograph: Photograph
    seconds: float
    begin: View
    end: View
    caption: str = ""


@dataclass(frozen=True, slots=True)
class Speech:
    """Words that begin at `start`, seconds of the clip."""

    start: float
    text: str


@dataclass(frozen=True, slots=True)
class Clip:
    """One file."""

    name: str
    shots: tuple[Shot, ...]
    speech: tuple[Speech, ...] = ()

    @property
    def seconds(self) -> float:
        """Its length."""
        return sum(shot.seconds for shot in self.shots)

    def proof(self, photograph: Photograph) -> Proof:
        """The seconds during which a photograph is shown."""
        start = 0.0
        for shot in self.shots:
            if shot.photograph == photograph:
                return Proof(self.name, start, start + shot.seconds)
            start += shot.seconds
        raise ValueError(f"{self.name} does not show {photograph.file}")


_HELD = tomllib.loads(resources.files("eval").joinpath("photographs.toml").read_text(encoding="utf-8"))
PHOTOGRAPHS = {name: Photograph(**held) for name, held in _HELD["photographs"].items()}


def _shot(photograph: str, begin: list[float], end: list[float], **held: Any) -> Shot:
    return Shot(PHOTOGRAPHS[photograph], begin=View(*begin), end=View(*end), **held)


CLIPS = tuple(
    Clip(
        held["name"],
        tuple(_shot(**shot) for shot in held["shots"]),
        tuple(Speech(**speech) for speech in held.get("speech", ())),
    )
    for held in _HELD["clips"]
)


def demo_questions() -> tuple[DemoQuestion, ...]:
    """What is seen, what is said, what is read: each of another clip."""
    drinks = ("beer", "coffee", "milk", "water")
    cup, rocket, pilot = (
        clip.proof(PHOTOGRAPHS[name])
        for clip, name in zip(CLIPS, ("coffee", "rocket", "astronaut"), strict=True)
    )
    return (
        DemoQuestion("seen", "Which drink is in the red cup?", drinks, "B", cup),
        DemoQuestion("said", "Why did the rocket stay on the ground on Sunday?", (), "radar", rocket),
        DemoQuestion("read", "Who was the pilot of STS-63?", (), "Eileen Collins", pilot),
    )


def make_corpus(folder: Path, policy: OverwritePolicy) -> Path:
    """Write the clips and their sources into `folder`, and return the folder to index.

    Where all clips and sources are there already, they stay.

    Raises `UsageError` where the folder holds something else, `ExtraMissing` without scikit-image or the
    voice, and `RagError` where the folder cannot be written.
    """
    wanted = [folder / SOURCES, *(folder / CLIPS_FOLDER / clip.name for clip in CLIPS)]
    if not policy.force and all(path.is_file() for path in wanted):
        return folder / CLIPS_FOLDER
    with map_os_errors(folder), output_folder(folder, policy) as draft:
        clips = draft / CLIPS_FOLDER
        clips.mkdir()
        for clip in CLIPS:
            write_video(clips / clip.name, _frames(clip), [_sound(clip)], RENDER)
        (draft / SOURCES).write_text(_sources(), encoding="utf-8", newline="\n")
    return folder / CLIPS_FOLDER


def _sources() -> str:
    photographs = (shot.photograph for clip in CLIPS for shot in clip.shots)
    rows = (f"- `{one.file}`: {one.what}, by {one.by}; {one.licence}.\n" for one in photographs)
    return (
        "# Sources of the photographs\n\nAll are from the data of scikit-image, cut and scaled.\n\n"
        + "".join(rows)
        + "\nThe voice is eSpeak NG's.\n"
    )


def _sound(clip: Clip) -> NDArray[np.float32]:
    """The whole clip, float32 (seconds x `AUDIO_RATE`,)."""
    samples = np.zeros(round(clip.seconds * AUDIO_RATE), np.float32)
    for speech in clip.speech:
        add_at(samples, speak(speech.text, AUDIO_RATE), speech.start)
    return to_sixteen_bits(samples)


def _frames(clip: Clip) -> Iterator[NDArray[np.uint8]]:
    for shot in clip.shots:
        photograph = _open(shot.photograph)
        count = round(shot.seconds * RENDER.fps)
        for index in range(count):
            yield np.asarray(_frame(photograph, shot, index / (count - 1)))


def _open(photograph: Photograph) -> Image:
    from PIL import Image

    try:
        from skimage.data import data_dir
    except ImportError as error:
        raise ExtraMissing(
            "the demo needs the extra `demo`: pip install 'offline-video-rag[demo]'"
        ) from error
    return Image.open(Path(data_dir, photograph.file)).convert("RGB")


def _frame(photograph: Image, shot: Shot, done: float) -> Image:
    """`done`: the share of the shot that has passed, in [0, 1]."""
    from PIL import Image

    x, y, size = (
        getattr(shot.begin, name) * (1 - done) + getattr(shot.end, name) * done for name in ("x", "y", "size")
    )
    width = size * min(photograph.width, photograph.height * RENDER.width / RENDER.height)
    height = width * RENDER.height / RENDER.width
    left = min(max(0.0, x * photograph.width - width / 2), photograph.width - width)
    top = min(max(0.0, y * photograph.height - height / 2), photograph.height - height)
    box = (left, top, left + width, top + height)
    frame = photograph.resize((RENDER.width, RENDER.height), Image.Resampling.BICUBIC, box)
    if shot.caption:
        _write(frame, shot.caption)
    return frame


def _write(frame: Image, caption: str) -> None:
    """White on a dark bar in the lower part of the frame, above the times of a contact sheet."""
    from PIL import ImageDraw, ImageFont

    draw = ImageDraw.Draw(frame)
    bar = 2 * CAPTION_POINTS
    top = frame.height - round(2.2 * bar)
    draw.rectangle((0, top, frame.width, top + bar), fill=(16, 16, 24))
    font = ImageFont.load_default(CAPTION_POINTS)
    draw.text((frame.width / 2, top + bar / 2), caption, fill="white", font=font, anchor="mm")
