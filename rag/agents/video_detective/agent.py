"""VideoDetective: a question about a long video, answered from a few looks and 32 frames.

Yang et al., "VideoDetective: Clue Hunting via both Extrinsic Query and Intrinsic
Relevance for Long Video Understanding", algorithms 1 and 2. The video must be in
a library: segments and priors come from its stored vectors, speech and text on
the screen from its stored evidence, and only a reasoner that reads pixels has
frames decoded.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from corpora.records import Evidence, Frames, clock
from localization.belief import ITERATIONS, BeliefField
from localization.graph import sampled
from rag.agents.runtime.trace import RunTrace, Watch
from rag.agents.video_detective.evidence import (
    NO_ANSWER,
    SPAN,
    best_words,
    pack_citations,
    read_packs,
    select,
    weak_evidence,
)
from rag.agents.video_detective.features import (
    SOURCES,
    Frequencies,
    Scorer,
    VideoFeatures,
    described,
    evenly,
    evidence_items,
    facets_of,
    load_video_features,
    whole_question,
)
from rag.agents.video_detective.records import (
    RATE,
    TUNED,
    WINDOW_FRAMES,
    DetectiveResult,
    DetectiveSettings,
    Look,
    Planned,
    Selected,
)
from rag.agents.video_detective.search import SearchState, Target
from rag.answering import answer_of, answer_reading
from rag.errors import BudgetSpent, FileProblem, ReasonerError, ReasonerUnreachable
from rag.reasoners.embedded.scoring import lines as joined_lines
from rag.reasoners.llm.usage import usage_together
from rag.reasoners.roles.answers import ChosenOption, OpenAnswer
from rag.reasoners.roles.material import VideoView
from rag.reasoners.roles.questions import DECOMPOSE_FACETS, Facet
from rag.reasoners.roles.watching import OBSERVE, TIMELINE, Observation, ObserveRequest, TimelineEvent
from rag.records import Question, Usage, VideoCitation
from rag.rendering.shapes import answer_shape, plain
from rag.rendering.terminal import counted, duration
from rag.store.lookup import whole_file

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rag.library import Library
    from rag.reasoners.protocol import Reasoner


POLICIES = {
    "anchor": "anchor of",
    "retry": "next best for",
    "neighbour": "neighbour, for",
    "gap": "widest gap",
}


class VideoDetective:
    """Made once for a library; `investigate` may be called for many questions and videos.

    `reasoner`: default, the library's own. A language model's budget is renewed for each question; where it
    is spent in the middle, the answer rests on what was seen until then.
    """

    def __init__(
        self,
        library: Library,
        settings: DetectiveSettings = TUNED,
        *,
        reasoner: Reasoner | None = None,
        must_choose: bool = False,
    ) -> None:
        self.library = library
        self.settings = settings
        self.reasoner = reasoner if reasoner is not None else library.engine.reasoner
        self.must_choose = must_choose
        self._features: dict[str, VideoFeatures] = {}
        self._idf: Frequencies | None = None
        self._timelines: dict[str, tuple[tuple[TimelineEvent, ...], Usage]] = {}

    def investigate(self, video: str, question: Question, watch: Watch | None = None) -> DetectiveResult:
        """Answer one question about one video, named as `Library.video_id` takes it.

        Raises `UsageError` for a video that is not there, and `ReasonerError` where the answer itself
        fails; what fails on the way is noted in the plan or the look.
        """
        return _DetectiveRun(self, self.features(video), question, watch).run()

    def features(self, video: str) -> VideoFeatures:
        """Segments, graph and words of a video; the one read last is kept."""
        video_id = self.library.video_id(video)
        if video_id not in self._features:
            features = load_video_features(self.library, video_id, self.settings, self._idf)
            self._features = {video_id: features}
            self._idf = features.idf if self.settings.idf == "library" else None
        return self._features[video_id]

    def pixels(self, features: VideoFeatures, times: NDArray[np.float64]) -> Frames | None:
        """The frames at `times`, float64 (n,) seconds, decoded for a reasoner that reads pixels.

        None for another reasoner, without times, or where the file has no images, cannot be decoded or was
        changed since it was indexed.
        """
        if not self.reasoner.reads_pixels or not features.video.width or not len(times):
            return None
        try:
            path = whole_file(self.library.engine.reader, features.video.video_id, features.path)
            return self.library.engine.read_frames(path, times)
        except FileProblem:
            return None

    def timeline(self, features: VideoFeatures) -> tuple[tuple[TimelineEvent, ...], Usage]:
        """The coarse scan of a video, made once, and what it cost: each question is charged with it."""
        video_id = features.video.video_id
        if video_id not in self._timelines:
            end = float(features.segments.ends[-1])
            view = self.view(features, evenly(features.times, 0.0, end, self.settings.frames), 0.0, end, ())
            self.reasoner.usage()
            events = self.reasoner.run(TIMELINE, view).events
            self._timelines[video_id] = (events, self.reasoner.usage())
        return self._timelines[video_id]

    def view(
        self,
        features: VideoFeatures,
        chosen: Sequence[int],
        start: float,
        end: float,
        texts: tuple[Evidence, ...],
    ) -> VideoView:
        """Frames by index, with their vectors, and pixels where they are read."""
        times = features.times[list(chosen)]
        embedded = bool(features.vectors.shape[1]) and len(times) > 0
        return VideoView(
            title=features.video.title,
            start=start,
            end=end,
            texts=texts,
            frame_times=times if embedded else None,
            frame_vectors=features.vectors[list(chosen)] if embedded else None,
            frames=self.pixels(features, times),
        )


class _DetectiveRun:
    """One question on its way."""

    def __init__(
        self, detective: VideoDetective, features: VideoFeatures, question: Question, watch: Watch | None
    ) -> None:
        self.detective = detective
        self.settings = detective.settings
        self.features = features
        self.question = question
        self.trace = RunTrace(watch=watch)
        self.reasoner = detective.reasoner
        self.scan = Usage()
        self.problems: list[str] = []
        """A line for each step outside of looks that failed."""
        self.spent = self.gone = False
        """Nothing is to be looked at any more; the reasoner cannot be reached."""
        self.event = question.text
        self.vlm_query = ""

    def run(self) -> DetectiveResult:
        began = time.perf_counter()
        timings: dict[str, float] = {}

        def lap(name: str) -> None:
            timings[name] = round(time.perf_counter() - began - sum(timings.values()), 6)

        # First, because it begins a count and a budget of its own.
        events = self._timeline()
        self.reasoner.usage()
        facets, settings = self._facets(), self.settings
        self.scorer = Scorer(self.features, facets, self.detective.library.engine.tower, settings)
        priors = self.scorer.priors(described(self.features, events))
        field = BeliefField(
            self.features.graph,
            np.max(priors, axis=0),
            iterations=ITERATIONS if settings.propagation else 0,
            carried=settings.carried,
        )
        self.state = SearchState(facets, priors, field, settings)
        plan = self._planned(events)
        lap("plan")
        looks = self._looks(plan)
        lap("look")
        weak = weak_evidence(list(self.state.scores.values()), settings)
        chosen = select(self.features, field, priors, self.state.words, self.scorer, settings, weak)
        frames = sorted(time for pack in chosen.packs for time in pack.times)
        text = f"{counted(len(frames), 'frame')} in {counted(len(chosen.packs), 'segment')}"
        self.trace.add("show", text, chosen, details=[*_selected_details(chosen)])
        reply, citations = self._answered(chosen)
        lap("answer")
        answer = answer_of(
            self.question,
            reply,
            citations,
            no_answer=NO_ANSWER,
            usage=usage_together((self.scan, self.reasoner.usage())),
            timings=timings,
        )
        self.trace.add_answer(answer)
        return DetectiveResult(
            video_id=self.features.video.video_id,
            path=self.features.path,
            plan=plan,
            looks=looks,
            selected=chosen,
            answer=answer,
            frame_times=np.array(frames, np.float64),
        )

    def _note(self, what: str, error: ReasonerError) -> None:
        """Record a failed step."""
        self.problems.append(f"{what}: {error}")
        self._failed(error)

    def _failed(self, error: ReasonerError) -> None:
        """Record whether the budget is spent or the server cannot be reached."""
        self.gone = self.gone or isinstance(error, ReasonerUnreachable)
        self.spent = self.spent or self.gone or isinstance(error, BudgetSpent)

    def _facets(self) -> tuple[Facet, ...]:
        if not self.settings.facets or self.gone:
            return whole_question(self.question)
        try:
            reply = self.reasoner.run(DECOMPOSE_FACETS, self.question)
        except ReasonerError as error:
            self._note("facets", error)
            return whole_question(self.question)
        self.event, self.vlm_query = reply.general_semantic_query, reply.vlm_query
        return facets_of(reply, self.question)

    def _timeline(self) -> tuple[TimelineEvent, ...]:
        try:
            events, self.scan = self.detective.timeline(self.features)
            return events
        except ReasonerError as error:
            self._note("timeline", error)
            # What the failed scan cost is the question's; its budget was the scan's alone.
            self.scan, self.spent = self.reasoner.usage(), self.gone
            return ()

    def _planned(self, events: tuple[TimelineEvent, ...]) -> Planned:
        segments, state = self.features.segments, self.state
        plan = Planned(
            facets=state.facets,
            timeline=events,
            anchors=state.anchors,
            starts=tuple(float(start) for start in segments.starts),
            duration=float(segments.ends[-1]),
            belief=tuple(state.belief.belief.round(6).tolist()),
            steps=self.settings.steps(len(self.question.options)),
            problems=tuple(self.problems),
        )
        parts = f"{counted(len(plan.starts), 'segment')} of {duration(plan.duration)}"
        text = f"{counted(len(plan.facets), 'facet')}, {parts}, at most {counted(plan.steps, 'look')}"
        self.trace.add("plan", text, plan, details=[*_plan_details(plan)])
        return plan

    # Looks: algorithm 1, lines 12 to 24

    def _looks(self, plan: Planned) -> tuple[Look, ...]:
        """At most `plan.steps` looks, one segment after another, until nothing is left to look at."""
        looks: list[Look] = []
        while len(looks) < plan.steps and not self.spent:
            target = self.state.next()
            if target is None:
                break
            look = self._look(len(looks) + 1, target)
            why = " ".join([POLICIES[look.policy], ", ".join(look.facets)]).strip()
            where = f"{clock(look.start)}-{clock(look.end)}"
            text = f"{look.step}/{plan.steps} {where}, {why}, score {look.score:.2f}"
            self.trace.add("look", text, look, details=[*_look_details(look)])
            looks.append(look)
        return tuple(looks)

    def _look(self, step: int, target: Target) -> Look:
        """Verification and refinement of one segment (algorithm 1, lines 20 to 24)."""
        node, segments, state = target.node, self.features.segments, self.state
        facets = tuple(state.facets[r] for r in target.facets) or state.facets
        start, end = float(segments.starts[node]), float(segments.ends[node])
        chosen = self._frames(node, facets)
        said = self.features.said(node)
        shown = said if self.settings.texts and self.settings.look == "frames and texts" else ()
        view = self.detective.view(self.features, chosen, start, end, shown)
        seen, problem = self._observed(ObserveRequest(self.question, view, facets, self.vlm_query))
        texts = [text for text in said if SOURCES[text.kind] == "caption" or self.settings.texts]
        lines = {line.text for line in joined_lines(view)}
        if seen is not None and seen.caption.strip() and seen.caption not in lines:
            # It says what these frames show, and not what the rest of the segment does.
            span = self._span(chosen) if chosen else (start, end)
            texts.append(Evidence(self.features.video.video_id, *span, "caption", seen.caption))
        texts = evidence_items(texts, self.settings)
        words = self.scorer.score(texts)
        by_facet = np.zeros(len(state.facets))
        for text in texts:
            by_facet = np.maximum(by_facet, self.scorer.by_facet(text.text, SOURCES[text.kind]))
        score = float(by_facet.max(initial=0.0))
        state.observe(target, words, by_facet.tolist(), score)
        confirmed = tuple(r for r in target.facets if seen is not None and _confirms(seen, state.facets[r]))
        state.resolve(confirmed)
        return Look(
            step=step,
            node=node,
            start=start,
            end=end,
            policy=target.policy,
            facets=tuple(state.facets[r].name for r in target.facets),
            times=tuple(float(self.features.times[index]) for index in chosen),
            caption=seen.caption if seen is not None else "",
            missing=seen.missing if seen is not None else (),
            words=best_words(words),
            score=round(score, 6),
            confirmed=tuple(state.facets[r].name for r in confirmed),
            belief=tuple(state.belief.belief.round(6).tolist()),
            problem=problem,
        )

    def _observed(self, request: ObserveRequest) -> tuple[Observation | None, str]:
        """What is seen, or what went wrong."""
        try:
            return self.reasoner.run(OBSERVE, request), ""
        except ReasonerError as error:
            self._failed(error)
            return None, str(error)

    def _frames(self, node: int, facets: Sequence[Facet]) -> list[int]:
        """Up to `window_frames` neighbouring frames of the segment: see `DetectiveSettings.window`."""
        first, last = self.features.inside(node)
        if self.settings.window == "middle":
            frames: list[int] = (first + sampled(self.features.times[first:last], RATE)).tolist()
            at = max(0, len(frames) - WINDOW_FRAMES) // 2
            return frames[at : at + WINDOW_FRAMES]
        return self._best_frames(first, last, facets)

    def _best_frames(self, first: int, last: int, facets: Sequence[Facet]) -> list[int]:
        """Of the stored frames [first, last), the neighbouring `window_frames` that fit the facets best."""
        count = min(WINDOW_FRAMES, last - first)
        if count <= 0:
            return []
        fit = self.scorer.fit(facets, self.features.vectors[first:last])
        around = np.convolve(fit, np.ones(count) / count, "valid")
        at = first + int(np.argmax(np.round(around, 6)))
        return list(range(at, at + count))

    def _span(self, frames: Sequence[int]) -> tuple[float, float]:
        """[start, end) seconds of neighbouring stored frames, to where the next one begins."""
        times = self.features.times
        step = float(times[1] - times[0]) if len(times) > 1 else SPAN
        return float(times[frames[0]]), float(times[frames[-1]]) + step

    # The answer

    def _answered(self, chosen: Selected) -> tuple[ChosenOption | OpenAnswer, tuple[VideoCitation, ...]]:
        """The reply to the packs, and what it rests on."""
        features, facets = self.features, self.state.facets

        def decoded(_: str, times: NDArray[np.float64]) -> Frames | None:
            return self.detective.pixels(features, times)

        must_choose = self.detective.must_choose
        reading = read_packs(
            self.question, features, chosen.packs, self.event, decoded, must_choose=must_choose
        )
        try:
            reply = answer_reading(self.reasoner, reading)
        except BudgetSpent as error:
            self._note("answer", error)
            none: dict[str, Any] = {"confidence": 0.0, "explanation": str(error)}
            options = self.question.options
            return (ChosenOption(choice=None, **none) if options else OpenAnswer(text="", **none)), ()
        named = [facet for facet in facets if facet.name == getattr(reply, "choice", None)]

        def moment(start: float, end: float) -> tuple[float, float]:
            first, last = np.searchsorted(features.times, (start, end)).tolist()
            frames = self._best_frames(first, last, named or facets)
            return self._span(frames) if frames else (start, end)

        return reply, pack_citations(reading, reply, moment)


def _confirms(seen: Observation, facet: Facet) -> bool:
    """No keyword of the facet is missing; without keywords, the reply asks for no more."""
    if not facet.keywords:
        return not seen.needs_more_info
    keywords = {keyword.casefold() for keyword in facet.keywords}
    return keywords.isdisjoint(word.casefold() for word in seen.missing)


def _plan_details(plan: Planned) -> Iterator[str]:
    """What is looked for, and where it is looked for first."""
    for facet, anchor in zip(plan.facets, plan.anchors, strict=True):
        parts = (", ".join(facet.keywords), " / ".join(facet.queries))
        yield f"{facet.name} {clock(plan.starts[anchor])} {'; '.join(filter(None, parts))}"
    yield from (f"problem: {problem}" for problem in plan.problems)


def _look_details(look: Look) -> Iterator[str]:
    """What a look found."""
    if look.words is not None:
        yield f"{look.words.kind}: {look.words.text}"
    for label, facets in (("missing", look.missing), ("confirmed", look.confirmed)):
        if facets:
            yield f"{label}: {', '.join(facets)}"
    if look.problem:
        yield f"problem: {look.problem}"


def _selected_details(selected: Selected) -> Iterator[str]:
    """What the answer is based on."""
    if selected.fallback:
        yield f"sampled uniformly, {selected.fallback}"
    for pack in selected.packs:
        fills = "" if pack.chosen else "fills a free place"
        words = fills if pack.words is None else pack.words.text
        yield f"{clock(pack.start)}-{clock(pack.end)} {words}"


def result_json(run: DetectiveResult) -> dict[str, Any]:
    """`rag.agent.video-detective/1`: the answer as of `rag ask`, with plan, looks and what was shown."""
    return {
        **answer_shape(run.answer),
        "schema": "rag.agent.video-detective/1",
        "video": {"path": run.path, "video_id": run.video_id},
        "plan": plain(run.plan),
        "looks": plain(run.looks),
        "shown": plain(run.selected),
    }
