"""VideoDetective: a question about a long video, answered from a few looks and 32 frames.

Yang et al., "VideoDetective: Clue Hunting via both Extrinsic Query and Intrinsic
Relevance for Long Video Understanding", algorithms 1 and 2. The video must be in
a library: segments and priors come from its stored vectors, speech and text on
the screen from its stored evidence, and only a mind that reads pixels has
frames decoded. Every number is a setting (`DetectiveSettings`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import numpy as np

from localization.belief import BeliefField
from rag.agents.video_detective_answering import answer_of, read_packs, together
from rag.agents.video_detective_case import Case, Target
from rag.agents.video_detective_material import SOURCES, Material, evenly, read_material
from rag.agents.video_detective_packing import best_words, select, weak_evidence
from rag.agents.video_detective_records import Investigation, Look, Planned, Selected
from rag.agents.video_detective_scoring import Scorer, described, facets_of, whole_question
from rag.agents.video_detective_settings import PAPER, DetectiveSettings
from rag.errors import BudgetSpent, FileProblem, ReasonerError, ReasonerUnreachable
from rag.reasoners.roles import (
    ChosenOption,
    Facet,
    Observation,
    ObserveRequest,
    OpenAnswer,
    Reading,
    TimelineEvent,
    TimelineRequest,
    VideoView,
)
from rag.records import Evidence, Frames, Question, Usage

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rag.library import Library
    from rag.reasoners.roles import Reasoner

__all__ = ["Investigation", "VideoDetective", "Watch"]

Watch = Callable[[Planned | Look | Selected], None]
"""Told of the plan, of every look, and of what is shown in the end, as soon as each is known."""


class VideoDetective:
    """Made once for a library; `investigate` may be called for many questions and videos.

    `reasoner`: default, the library's own; wrap it in `rag.reasoners.counting.CountedReasoner` where no
    language model counts its tokens. A language model's budget runs anew with each question;
    where it is spent in the middle, the answer rests on what was seen until then.
    """

    def __init__(
        self,
        library: Library,
        settings: DetectiveSettings = PAPER,
        *,
        reasoner: Reasoner | None = None,
        must_choose: bool = False,
    ) -> None:
        self.library = library
        self.settings = settings
        self.reasoner = reasoner if reasoner is not None else library.reasoner
        self.must_choose = must_choose
        self._materials: dict[str, Material] = {}
        self._timelines: dict[str, tuple[tuple[TimelineEvent, ...], Usage]] = {}

    def investigate(self, video: str, question: Question, watch: Watch | None = None) -> Investigation:
        """Answer one question about one video, named as `Library.video_id` takes it.

        Raises `UsageError` for a video that is not there, and `ReasonerError` where the answer itself
        fails; what fails on the way is noted in the plan or the look.
        """
        return _Inquiry(self, self.material(video), question, watch or (lambda _: None)).run()

    def material(self, video: str) -> Material:
        """Segments, graph and words of a video; the one read last is kept."""
        video_id = self.library.video_id(video)
        if video_id not in self._materials:
            self._materials = {video_id: read_material(self.library, video_id, self.settings)}
        return self._materials[video_id]

    def pixels(self, material: Material, times: NDArray[np.float64]) -> Frames | None:
        """Decoded frames, for a reasoner that reads them; None where it does not or the file does not let."""
        if not self.reasoner.reads_pixels or not material.video.width or not len(times):
            return None
        try:
            return self.library.read_frames(material.path, times)
        except FileProblem:
            return None

    def timeline(self, material: Material) -> tuple[tuple[TimelineEvent, ...], Usage]:
        """The coarse scan of a video, made once, and what it cost: each question is charged with it."""
        video_id = material.video.video_id
        if video_id not in self._timelines:
            end = float(material.segments.ends[-1])
            view = self.view(material, evenly(material.times, 0.0, end, self.settings.frames), 0.0, end, ())
            self.reasoner.usage()
            events = self.reasoner.timeline(TimelineRequest(view)).events
            self._timelines[video_id] = (events, self.reasoner.usage())
        return self._timelines[video_id]

    def view(
        self, material: Material, chosen: Sequence[int], start: float, end: float, texts: tuple[Evidence, ...]
    ) -> VideoView:
        """Frames by index, with their vectors, and pixels where they are read."""
        times = material.times[list(chosen)]
        pictured = bool(material.vectors.shape[1]) and len(times) > 0
        return VideoView(
            title=material.video.title,
            start=start,
            end=end,
            texts=texts,
            frame_times=times if pictured else None,
            frame_vectors=material.vectors[list(chosen)] if pictured else None,
            frames=self.pixels(material, times),
        )


class _Inquiry:
    """One question on its way."""

    def __init__(
        self, detective: VideoDetective, material: Material, question: Question, watch: Watch
    ) -> None:
        self.detective = detective
        self.settings = detective.settings
        self.material = material
        self.question = question
        self.watch = watch
        self.mind = detective.reasoner
        self.scan = Usage()
        self.problems: list[str] = []
        self.event = question.text
        self.vlm_query = ""
        # Nothing is to be looked at any more; the mind cannot be reached.
        self.spent = self.gone = False

    def run(self) -> Investigation:
        clock = time.perf_counter()
        timings: dict[str, float] = {}
        # First, because it begins a count and a budget of its own.
        events = self._timeline()
        self.mind.usage()
        facets = self._facets()
        library = self.detective.library
        self.scorer = Scorer(self.material, facets, library.text_encoder, library.tower, self.settings)
        priors = self.scorer.priors(described(self.material, events))
        iterations = self.settings.iterations if self.settings.propagation else 0
        field = BeliefField.begin(
            self.material.graph,
            np.max(priors, axis=0),
            iterations=iterations,
            beta=self.settings.beta,
            carried=self.settings.carried,
        )
        self.case = Case(facets, priors, field, self.settings)
        plan = self._planned(facets, events)
        self.watch(plan)
        timings["plan"] = round(time.perf_counter() - clock, 6)
        looks = self._looks(plan.steps)
        timings["look"] = round(time.perf_counter() - clock - timings["plan"], 6)
        weak = weak_evidence(list(self.case.scores.values()), self.settings)
        chosen = select(self.material, field, priors, self.case.words, self.scorer, self.settings, weak)
        self.watch(chosen)
        return self._answered(plan, looks, chosen, timings, clock)

    def _facets(self) -> tuple[Facet, ...]:
        if not self.settings.facets or self.gone:
            return whole_question(self.question)
        try:
            reply = self.mind.decompose_facets(self.question)
        except ReasonerError as error:
            self._note("facets", error)
            return whole_question(self.question)
        self.event, self.vlm_query = reply.general_semantic_query, reply.vlm_query
        return facets_of(reply, self.question)

    def _timeline(self) -> tuple[TimelineEvent, ...]:
        try:
            events, self.scan = self.detective.timeline(self.material)
            return events
        except ReasonerError as error:
            self._note("timeline", error)
            # What the failed scan cost is the question's; its budget was the scan's alone.
            self.scan, self.spent = self.mind.usage(), self.gone
            return ()

    def _planned(self, facets: tuple[Facet, ...], events: tuple[TimelineEvent, ...]) -> Planned:
        segments = self.material.segments
        return Planned(
            facets=facets,
            timeline=events,
            anchors=self.case.anchors,
            starts=tuple(float(start) for start in segments.starts),
            duration=float(segments.ends[-1]),
            belief=_plain(self.case.belief.belief),
            steps=self.settings.steps(len(self.question.options)),
            problems=tuple(self.problems),
        )

    def _looks(self, most: int) -> tuple[Look, ...]:
        looks: list[Look] = []
        while len(looks) < most and not self.spent:
            target = self.case.next()
            if target is None:
                break
            look = self._look(len(looks) + 1, target)
            looks.append(look)
            self.watch(look)
        return tuple(looks)

    def _look(self, step: int, target: Target) -> Look:
        """Verification and refinement of one segment (algorithm 1, lines 20 to 24)."""
        node, segments = target.node, self.material.segments
        facets = tuple(self.case.facets[r] for r in target.facets) or self.case.facets
        start, end = float(segments.starts[node]), float(segments.ends[node])
        chosen = self._window(node, facets)
        said = self.material.said(node)
        seen, problem = self._observed(chosen, start, end, said, facets)
        texts = [text for text in said if SOURCES[text.kind] == "caption" or self.settings.texts]
        if seen is not None and seen.caption.strip():
            texts.append(Evidence(self.material.video.video_id, start, end, "caption", seen.caption))
        words = self.scorer.score(texts)
        by_facet = np.zeros(len(self.case.facets))
        for text in texts:
            by_facet = np.maximum(by_facet, self.scorer.by_facet(text.text, SOURCES[text.kind]))
        score = float(by_facet.max(initial=0.0))
        self.case.observe(target, words, by_facet.tolist(), score)
        confirmed = tuple(r for r in target.facets if seen is not None and self._confirms(seen, r))
        self.case.resolve(confirmed)
        return Look(
            step=step,
            node=node,
            start=start,
            end=end,
            policy=target.policy,
            facets=tuple(self.case.facets[r].name for r in target.facets),
            times=tuple(float(self.material.times[index]) for index in chosen),
            caption=seen.caption if seen is not None else "",
            missing=seen.missing if seen is not None else (),
            words=best_words(words),
            score=round(score, 6),
            confirmed=tuple(self.case.facets[r].name for r in confirmed),
            belief=_plain(self.case.belief.belief),
            problem=problem,
        )

    def _observed(
        self,
        chosen: Sequence[int],
        start: float,
        end: float,
        said: tuple[Evidence, ...],
        facets: tuple[Facet, ...],
    ) -> tuple[Observation | None, str]:
        texts = said if self.settings.texts else ()
        view = self.detective.view(self.material, chosen, start, end, texts)
        request = ObserveRequest(self.question, view, facets, self.vlm_query)
        try:
            return self.mind.observe(request), ""
        except ReasonerError as error:
            self._heed(error)
            return None, str(error)

    def _confirms(self, seen: Observation, r: int) -> bool:
        """No keyword of the facet is missing; without keywords, the watcher needs no more."""
        keywords = {keyword.casefold() for keyword in self.case.facets[r].keywords}
        if not keywords:
            return not seen.needs_more_info
        return keywords.isdisjoint(word.casefold() for word in seen.missing)

    def _window(self, node: int, facets: Sequence[Facet]) -> list[int]:
        """Up to `window_frames` neighbouring frames around the moment that fits the facets best."""
        first, last = self.material.inside(node)
        count = min(self.settings.window_frames, last - first)
        if count <= 0:
            return []
        fit = self.scorer.fit(facets, self.material.vectors[first:last])
        around = np.convolve(fit, np.ones(count) / count, "valid")
        at = first + int(np.argmax(np.round(around, 6)))
        return list(range(at, at + count))

    def _answered(
        self,
        plan: Planned,
        looks: tuple[Look, ...],
        chosen: Selected,
        timings: dict[str, float],
        clock: float,
    ) -> Investigation:
        def decoded(_: str, times: NDArray[np.float64]) -> Frames | None:
            return self.detective.pixels(self.material, times)

        reading = read_packs(
            self.question,
            self.material,
            chosen.packs,
            self.event,
            decoded,
            must_choose=self.detective.must_choose,
        )
        reply = self._reply(reading)
        timings["answer"] = round(time.perf_counter() - clock - sum(timings.values()), 6)
        details = {
            "agent": "video-detective",
            "settings": asdict(self.settings),
            "looks": len(looks),
            "fallback": chosen.fallback,
            "problems": self.problems,
        }
        usage = together(self.scan, self.mind.usage())
        return Investigation(
            video_id=self.material.video.video_id,
            path=self.material.path,
            plan=plan,
            looks=looks,
            selected=chosen,
            answer=answer_of(self.question, reply, reading, usage, timings, details),
            frame_times=np.array(sorted(t for pack in chosen.packs for t in pack.times), np.float64),
        )

    def _reply(self, reading: Reading) -> ChosenOption | OpenAnswer:
        try:
            if self.question.options:
                return self.mind.answer_choice(reading)
            return self.mind.answer_open(reading)
        except BudgetSpent as error:
            self._note("answer", error)
            if self.question.options:
                return ChosenOption(choice=None, confidence=0.0, explanation=str(error))
            return OpenAnswer(text="", confidence=0.0, explanation=str(error))

    def _note(self, what: str, error: ReasonerError) -> None:
        self.problems.append(f"{what}: {error}")
        self._heed(error)

    def _heed(self, error: ReasonerError) -> None:
        self.gone = self.gone or isinstance(error, ReasonerUnreachable)
        self.spent = self.spent or self.gone or isinstance(error, BudgetSpent)


def _plain(belief: NDArray[np.float64]) -> tuple[float, ...]:
    return tuple(float(value) for value in np.round(belief, 6))
