"""A question of `rag demo`, with the answer that is right and the seconds that prove it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rag.records import Answer, VideoCitation


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
