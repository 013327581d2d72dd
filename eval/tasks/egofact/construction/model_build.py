"""From annotated videos and raw WikiHow to a benchmark folder, by a language model (EgoFact, appendix C)."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from corpora.records import Frames
from corpora.video.reader import MediaReader
from eval.runs.records import LETTERS
from eval.task import ProgressCallback
from eval.tasks.egofact.construction.annotated import AnnotatedVideo, raw_segments
from eval.tasks.egofact.construction.build import default_encoder, write_plan
from eval.tasks.egofact.construction.options import Drafter, ObjectPrior, opening, shuffled_order
from eval.tasks.egofact.construction.plan import Plan, choose_representatives, plan_over
from eval.tasks.egofact.construction.questions import Candidate, names_object, question_text
from eval.tasks.egofact.construction.records import (
    SCREENSHOT_SECONDS,
    BuildSettings,
    EventStructure,
    FactPassage,
    Segment,
    Shape,
    Statement,
)
from eval.tasks.egofact.construction.roles import (
    BUILD_ROLES,
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
from eval.tasks.egofact.construction.segments import CachedEncoder
from eval.tasks.egofact.replies import CallBudget, StoredReplies
from eval.workbench.seeds import stable_number
from localization.sampling import midpoints
from rag.answering import ReadFrames
from rag.errors import FileProblem, ReplyInvalid, UsageError
from rag.library import Library
from rag.reasoners import open_reasoner
from rag.reasoners.prompts import prompt_versions
from rag.records import Question

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rag.settings import Settings

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
        """Each passage that a query may rest on, by its id."""
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


WORK = "work"
"""Below the folder of a benchmark: what a build keeps to go on from."""
REPLIES = "replies.jsonl"
"""Below `WORK`: what the model said; its presence marks a folder as a build."""
NEAREST = 50
"""Passages that are compared with an object by title and opening too."""
TRIED = 3
"""Passages of an object that statements are written for."""

Near = Callable[[str], Sequence[FactPassage]]


@dataclass(frozen=True)
class Builder:
    """What a build by a language model works with."""

    out: Path
    replies: StoredReplies
    model: str
    """Its name, for the manifest."""
    read_frames: ReadFrames
    length_of: Callable[[Path], float | None]
    """Seconds of a video file; None where it cannot be read."""
    near: Near
    """Passages near the name of an object, best first; none without WikiHow."""
    encoder: CachedEncoder
    settings: BuildSettings
    say: ProgressCallback = lambda _: None

    def build(self, name: str, videos: Sequence[AnnotatedVideo], shape: Shape, seed: int) -> Plan:
        """Write the benchmark `name`. What the model said before is taken from `replies`.

        Raises `CallsSpent` where its budget is, another `ReasonerError` where the model fails, and
        `UsageError` where nothing can be asked of the videos.
        """
        there = [video for video in videos if video.file.is_file()]
        if not there:
            raise UsageError(f"none of {len(videos)} annotated videos is there; {videos[0].file} is missing")
        raw = [segment for video in there for segment in self._cut(video)]
        narrated = self._narrated(raw)
        if not narrated:
            raise UsageError(f"none of {len(raw)} clips could be narrated by {self.model}")
        chosen = choose_representatives(narrated, self.encoder, shape.clips, self.settings, seed)
        kept = [structured(clip, self.replies) for clip in chosen]
        kept = [clip for clip in kept if len(clip.events) >= self.settings.min_events]
        reader = LlmCheckReader(self.replies, self.model)
        passages = WrittenPassages(self.near, self.replies, reader)
        prior = ObjectPrior("language model", {}, {})
        drafter = ModelDrafter(prior, passages, self.encoder, self.settings, seed, {}, self.replies)
        before = {
            "annotated videos": {"clips": len(videos)},
            "videos that are there": {"clips": len(there)},
            "segments": {"clips": len(raw)},
            "narrated": {"clips": len(narrated)},
            "representatives with two annotated events": {"clips": len(chosen)},
        }
        plan = plan_over(kept, drafter, passages.found, reader, shape, before)
        write_plan(
            plan,
            [passages.found[each] for each in sorted(passages.found)],
            self.out,
            self.encoder,
            self.settings,
            shape,
            {
                "name": name,
                "split": "test",
                "seed": seed,
                "reader": self.model,
                "objects": prior.name,
                "model": self.model,
                "prompts": prompt_versions(BUILD_ROLES),
                "passages": passages.counts,
            },
        )
        return plan

    def _cut(self, video: AnnotatedVideo) -> list[Segment]:
        length = video.duration if video.duration is not None else self.length_of(video.file)
        if length is None:
            return []
        return raw_segments(video, self.out, self.settings.segment_seconds, length)

    def _narrated(self, clips: Sequence[Segment]) -> list[Segment]:
        """Those of which a narration could be made."""
        narrator = Narrator(self.replies, self.read_frames, lambda clip: os.fspath(self.out / clip.path))
        found = []
        for at, clip in enumerate(clips, 1):
            self.say(f"narrating clip {at} of {len(clips)}")
            try:
                found.append(narrator.narrate(clip))
            except (ReplyInvalid, FileProblem):
                continue
        return found


@dataclass(frozen=True)
class WikiHow:
    """Raw WikiHow rows, indexed as passages: those near the name of an object (C.2.5, step 1)."""

    library: Library
    encoder: CachedEncoder
    least: float
    """Cosine from which a passage, its title or its first sentence is near a name."""

    @staticmethod
    def open(
        table: Path,
        folder: Path,
        settings: Settings,
        encoder: CachedEncoder,
        least: float,
        say: ProgressCallback | None = None,
    ) -> WikiHow:
        """Index `table` into a library in `folder`, where that is not done yet."""
        from eval.tasks.libraries import indexing

        images = settings.encoder.model_copy(update={"image": "none"})
        chosen = settings.model_copy(update={"library": folder, "encoder": images})
        Library.index([table], settings=chosen, progress=indexing(say))
        return WikiHow(Library.open(folder, settings=chosen), encoder, least)

    def near(self, name: str) -> list[FactPassage]:
        """The nearest ones above the threshold, best first, without activity or statements."""
        reader = self.library.engine.reader
        hits = reader.search_passages(self.encoder.encode_text([name])[0], NEAREST)
        passages = reader.passages([hit.key for hit in hits])
        texts = [part for one in passages for part in (one.title or one.text, opening(one.text))]
        cosines = self.encoder.similarity([name], texts).reshape(-1, 2).max(axis=1) if texts else ()
        best = [
            (max(hit.score, float(cosine)), one)
            for hit, cosine, one in zip(hits, cosines, passages, strict=True)
        ]
        best = sorted((pair for pair in best if pair[0] > self.least), key=lambda p: (-p[0], p[1].passage_id))
        return [FactPassage(one.passage_id, one.title, one.text, name, "") for _, one in best[:TRIED]]


@contextlib.contextmanager
def open_builder(
    out: Path,
    settings: Settings,
    wikihow: Path | None,
    budget: CallBudget,
    say: ProgressCallback = lambda _: None,
) -> Iterator[Builder]:
    """A builder over the folder `out`; replies and the index of `wikihow` are kept in `work/` below it.

    Raises `UsageError` where the replies there are another model's, and what opening a model raises.
    """
    numbers = BuildSettings()
    encoder = CachedEncoder(default_encoder(settings))
    reasoner = open_reasoner(settings, None)
    with (
        MediaReader(settings.video.decoder, settings.video.stall_seconds) as media,
        StoredReplies(out / WORK / REPLIES, reasoner, BUILD_ROLES, budget) as replies,
    ):

        def read_frames(path: str, times: NDArray[np.float64]) -> Frames:
            return media.frames_at(path, times.tolist(), short_side=settings.reasoner.image_short_side)

        def length_of(path: Path) -> float | None:
            with contextlib.suppress(FileProblem):
                return media.probe(os.fspath(path)).duration
            return None

        near: Near = lambda _: ()  # noqa: E731 (one of two)
        if wikihow is not None:
            folder = out / WORK / "wikihow"
            near = WikiHow.open(wikihow, folder, settings, encoder, numbers.passage_similarity, say).near
        model = settings.reasoner.model or settings.reasoner.kind
        yield Builder(out, replies, model, read_frames, length_of, near, encoder, numbers, say)
