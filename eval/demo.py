"""The corpus of `rag demo`: three clips of photographs, and a question about each.

    clips/*.mp4    what is indexed; the names are a camera's, and say nothing
    SOURCES.md     source and licence of each photograph

Each clip shows a few photographs one after the other. Over one of them a synthetic voice speaks, over another
there is a caption.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from corpora.outputs import OverwritePolicy, output_folder
from eval.resumable import map_os_errors
from rag.records import Answer, VideoCitation

SOURCES, CLIPS_FOLDER = "SOURCES.md", "clips"
CLIPS = ("IMG_0412.mp4", "IMG_0413.mp4", "IMG_0414.mp4")


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
    proof: Proof

    def is_right(self, answer: Answer) -> bool:
        """Whether an answer is the expected one, and cites its proof."""
        if not self.proof.is_cited(answer):
            return False
        if self.options:
            return answer.choice == self.expected
        return answer.matched and self.expected.lower() in answer.text.lower()


QUESTIONS = (
    DemoQuestion(
        "seen",
        "Which drink is in the red cup?",
        ("beer", "coffee", "milk", "water"),
        "B",
        Proof(CLIPS[0], 0.0, 9.0),
    ),
    DemoQuestion(
        "said", "Why did the rocket stay on the ground on Sunday?", (), "radar", Proof(CLIPS[1], 5.0, 17.0)
    ),
    DemoQuestion("read", "Who was the pilot of STS-63?", (), "Eileen Collins", Proof(CLIPS[2], 8.0, 18.0)),
)
"""What is seen, what is said, what is read: each of another clip."""


def copy_corpus(folder: Path, policy: OverwritePolicy) -> Path:
    """Copy the clips and their sources into `folder`, and return the folder to index.

    Where all clips and sources are there already, they stay. Raises `UsageError` where the folder holds
    something else, and `RagError` where it cannot be written.
    """
    wanted = [folder / SOURCES, *(folder / CLIPS_FOLDER / name for name in CLIPS)]
    if policy.force or not all(path.is_file() for path in wanted):
        held = resources.files("eval").joinpath("demo_clips")
        with map_os_errors(folder), output_folder(folder, policy) as draft:
            (draft / CLIPS_FOLDER).mkdir()
            for name in CLIPS:
                (draft / CLIPS_FOLDER / name).write_bytes(held.joinpath(name).read_bytes())
            (draft / SOURCES).write_bytes(held.joinpath(SOURCES).read_bytes())
    return folder / CLIPS_FOLDER
