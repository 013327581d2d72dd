"""The construction with a language model in the paper's roles (EgoFact, appendix C)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial

from eval.runs.records import LETTERS
from eval.tasks.egofact.construction.options import Drafter, shuffled_order
from eval.tasks.egofact.construction.questions import Candidate, names_object, question_text
from eval.tasks.egofact.construction.records import (
    SCREENSHOT_SECONDS,
    EventStructure,
    FactPassage,
    Segment,
    Statement,
)
from eval.tasks.egofact.construction.roles import (
    CHECK_CHOICE,
    DESCRIBE_SCREENSHOT,
    EVENT_STRUCTURE,
    NARRATE_TIMELINE,
    TIMELINE_KEYWORDS,
    WRITE_DISTRACTORS,
    WRITE_STATEMENTS,
    AnsweredQuestion,
    CheckRequest,
    Screenshot,
    Timeline,
)
from eval.tasks.egofact.replies import StoredReplies
from eval.workbench.seeds import stable_number
from localization.sampling import midpoints
from rag.answering import ReadFrames
from rag.errors import ReplyInvalid
from rag.records import Question

COUNTERFACTS = 3
"""C.2.5: beside each fact."""
PREFIXES = ("the video that shows ", "the video that ", "a video that shows ")


class LlmCheckReader:
    """A `CheckReader` that asks the model, with the texts or with none."""

    def __init__(self, replies: StoredReplies, name: str) -> None:
        self.name = name
        self._replies = replies

    def answer(self, question: Question, context_texts: Sequence[str]) -> int:
        """The label of the option it chooses. Raises `ReplyInvalid`."""
        texts = tuple(context_texts)
        reply = self._replies.run(
            CHECK_CHOICE,
            lambda: CheckRequest(question, texts),
            question.text,
            *question.options,
            *(f"text: {text}" for text in texts),
        )
        return LETTERS.index(reply.choice)


@dataclass(frozen=True)
class Narrator:
    """Screenshots to a timeline, and the timeline to a narration and keywords (C.1)."""

    replies: StoredReplies
    read_frames: ReadFrames
    locate: Callable[[Segment], str]
    """The video file of a clip."""

    def narrate(self, clip: Segment) -> Segment:
        """The clip with its description, narration and keywords. Raises `ReplyInvalid` or `FileProblem`."""
        timeline = self._timeline(clip)
        key = (clip.clip_id, timeline.text)
        narration = self.replies.run(NARRATE_TIMELINE, lambda: timeline, *key)
        words = self.replies.run(TIMELINE_KEYWORDS, lambda: timeline, *key).keywords
        return replace(
            clip, description=described(narration.concise), narration=narration.detailed, keywords=words
        )

    def _timeline(self, clip: Segment) -> Timeline:
        times = midpoints(clip.start, clip.end, max(1, round((clip.end - clip.start) / SCREENSHOT_SECONDS)))
        decoded = cache(lambda: self.read_frames(self.locate(clip), times))

        def screenshot(at: int) -> Screenshot:
            frames = decoded()
            one = replace(frames, times=frames.times[at : at + 1], images=frames.images[at : at + 1])
            return Screenshot(one, clip.scenarios)

        entries = [(event.start, "Sound", event.rewritten) for event in clip.events]
        for at, time in enumerate(times.tolist()):
            text = self.replies.run(
                DESCRIBE_SCREENSHOT, partial(screenshot, at), clip.clip_id, round(time, 3)
            ).description
            entries.append((time, "Scene", text))
        lines = [
            f"[{_clock(time)}] ({kind}) {' '.join(text.split())}" for time, kind, text in sorted(entries)
        ]
        return Timeline("\n".join(lines), clip.scenarios)


def _clock(seconds: float) -> str:
    minutes, rest = divmod(seconds, 60)
    return f"{int(minutes // 60):02d}:{int(minutes % 60):02d}:{rest:05.2f}"


def described(concise: str) -> str:
    """The concise narration as it follows "a video that shows"."""
    text = " ".join(concise.split()).rstrip(". ")
    for prefix in PREFIXES:
        if text.lower().startswith(prefix):
            return text[len(prefix) :]
    return text


def structured(clip: Segment, replies: StoredReplies) -> Segment:
    """The clip with its annotated lines as event structures (C.2.1); lines without an event are left out."""
    parsed = [
        event if event.action else parse_event(replies, event.rewritten, event.start, event.end)
        for event in clip.events
    ]
    return replace(clip, events=tuple(event for event in parsed if event is not None))


def parse_event(replies: StoredReplies, text: str, start: float, end: float) -> EventStructure | None:
    """A narration into its structure; None where it names no action, or the reply cannot be read."""
    try:
        reply = replies.run(EVENT_STRUCTURE, lambda: text, text)
    except ReplyInvalid:
        return None
    if not reply.rewritten.strip() or not reply.action.strip():
        return None
    return EventStructure(**reply.model_dump(), start=start, end=end)


class WrittenPassages:
    """WikiHow passages of an object with statements that a model wrote and passed (C.2.5, steps 1 to 3)."""

    def __init__(
        self, near: Callable[[str], Sequence[FactPassage]], replies: StoredReplies, reader: LlmCheckReader
    ) -> None:
        self._near, self._replies, self._reader = near, replies, reader
        self._of: dict[str, tuple[FactPassage, ...]] = {}
        self.found: dict[str, FactPassage] = {}
        """By id, each that a query may rest on."""
        self.counts = {"passages near an option": 0, "statement sets": 0, "valid and non-trivial": 0}

    def of(self, name: str) -> tuple[FactPassage, ...]:
        """Those whose statements only a reader of the passage gets right, best first."""
        if name not in self._of:
            found = self._near(name)
            self.counts["passages near an option"] += len(found)
            written = [passage for each in found if (passage := self._written(each)) is not None]
            for passage in written:
                self.found.setdefault(passage.passage_id, passage)
            self._of[name] = tuple(written)
        return self._of[name]

    def facts(self, name: str) -> frozenset[str]:
        """All true statements about an object, in lower case."""
        return frozenset(one.fact.lower() for passage in self.of(name) for one in passage.statements)

    def _written(self, passage: FactPassage) -> FactPassage | None:
        try:
            reply = self._replies.run(
                WRITE_STATEMENTS, lambda: passage, passage.object, passage.title, passage.text
            )
            self.counts["statement sets"] += 1
            wrong = reply.counterfacts[:COUNTERFACTS]
            if not self._passes(passage, reply.fact, wrong):
                return None
        except ReplyInvalid:
            return None
        self.counts["valid and non-trivial"] += 1
        return replace(passage, activity=reply.activity, statements=(Statement(reply.fact, wrong),))

    def _passes(self, passage: FactPassage, fact: str, wrong: Sequence[str]) -> bool:
        """C.2.5, step 3: the fact is found with the passage, and not without it."""
        options = (fact, *wrong)
        order = shuffled_order(len(options), stable_number("statements", fact) % 2**31)
        question = Question(
            "", f"Which statement is true about the {passage.object}?", tuple(options[at] for at in order)
        )
        right = order.index(0)
        return (
            self._reader.answer(question, [passage.text]) == right
            and self._reader.answer(question, []) != right
        )


@dataclass(frozen=True)
class ModelDrafter(Drafter):
    """Distractors and quality score by the model (C.2.4)."""

    replies: StoredReplies

    def objects(self, candidate: Candidate) -> tuple[str, ...] | str:
        """Five names, or why there are none; both hops of a question have the same."""
        target, clip = candidate.target, candidate.segment
        text = question_text(clip.description, target, candidate.anchor, candidate.position, 1)
        assert text is not None, "a candidate has a question"
        answer = target.patient_canonical
        reply = self.replies.run(
            WRITE_DISTRACTORS, lambda: AnsweredQuestion(text, answer, clip.narration), text, answer
        )
        if reply.score < self.settings.quality:
            return "quality"
        distinct = {name.casefold(): name for name in map(_plain, reversed(reply.distractors)) if name}
        distinct.pop(answer.casefold(), None)
        names = tuple(reversed(distinct.values()))[: self.settings.distractors]
        if len(names) < self.settings.distractors or any(names_object(candidate.text, one) for one in names):
            return "objects"
        return names


def _plain(name: str) -> str:
    return " ".join(name.split())
