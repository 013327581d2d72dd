"""RACLO and its variants as solvers, and controls: metadata alone, the target video given, chance.

An output's evidence has all that the scorer needs: the candidates with their moments, the verdicts that
the agent asked for, and the addresses of the search results.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from eval.runs.records import Output, Query, TaskInput, ranked_clips
from eval.tasks.rvms.dataset import RvmsInput
from eval.tasks.web_task import Variant, Variants, WebEnvironment, WebSolver, likeliest, require_reachable
from rag.agents.raclo.agent import recall, run_raclo
from rag.agents.raclo.records import (
    PAPER,
    SWEEPS,
    CandidateVideo,
    Moment,
    RacloRun,
    RacloSettings,
    cues_of,
    sweep,
)
from rag.agents.raclo.verification import locate_moment, second_judge
from rag.agents.runtime.context import NOTHING_FOUND
from rag.agents.runtime.frame_source import fetch_video, fixed_budget
from rag.agents.runtime.trace import Step
from rag.errors import FileProblem, PageGone, ReplyInvalid, Unanswered, WebError
from rag.reasoners.roles.material import Memory
from rag.records import Usage
from rag.web import SearchResult, Web

STORED = replace(PAPER, frames="stored", screen=True)
VARIANTS = Variants(
    {
        "raclo": Variant("2 searches x 2 videos, 64 frames to verify, 32 to 192 to localize", PAPER),
        "raclo-64": Variant(
            "open-source setting: 64 frames of every video, without speech and sound",
            replace(PAPER, budget=fixed_budget(64), sound=False),
        ),
        "raclo-stored": Variant("ours: every stored frame embedding to localize", STORED),
        "raclo-contents": Variant(
            "ours: videos are searched by their indexed contents as well; every stored frame embedding",
            STORED,
            "contents",
        ),
        "wo-abduction": Variant("searches for the cues unchanged", replace(PAPER, abduction=False)),
        "wo-react": Variant(
            "all queries at once, the first results of each; so with the embedded reasoner in any case",
            replace(PAPER, react=False),
        ),
        "wo-verification": Variant("answers with the first candidate", replace(PAPER, verify=False)),
        "wo-consensus": Variant("one judge decides", replace(PAPER, consensus=False)),
        "wo-context": Variant("localizes by the key moment alone", replace(PAPER, context=False)),
        "wo-sound": Variant("without speech and sounds", replace(PAPER, sound=False)),
        "metadata-only": Variant(
            "control: opens no video; the most likely result by its metadata, and its middle",
            PAPER,
            "metadata",
        ),
        "oracle-video": Variant("control: the target video is given", PAPER, "oracle"),
        "oracle-stored": Variant(
            "control: the target video is given, every stored frame embedding", STORED, "oracle"
        ),
        "chance-moment": Variant("control: the target video is given, a moment by chance", PAPER, "chance"),
    },
    SWEEPS,
    sweep,
    "figure 4",
)


def give_target(query: Query, asked: TaskInput) -> TaskInput:
    """Tell an oracle the address of the target video."""
    return replace(asked, video=query.answer)


@dataclass(frozen=True)
class RacloSolver(WebSolver[RacloSettings]):
    """`seed`: of `chance-moment`; all other variants are deterministic.

    `solve` raises `ReasonerUnreachable` where the reasoner is gone.
    """

    environment: WebEnvironment

    @property
    def settings(self) -> Mapping[str, Any]:
        """JSON: all that outputs depend on."""
        second = second_judge(self.environment.reasoner)
        own = {"mode": self.variant.mode, "second": "" if second is None else second.fingerprint}
        return {**super().settings, **own}

    def solve(self, asked: RvmsInput) -> Output:
        """Run the agent, or a control, on one memory."""
        run = self._run(asked)
        require_reachable(run.failure, asked.query_id)
        first = [] if run.answer is None else [run.answer]
        ranked = first + [one for at, one in enumerate(run.candidates) if at != run.chosen]
        moment = None if run.answer is None else run.answer.moment
        return Output(
            confidence=0.0 if run.answer is None else run.answer.fit,
            clips=ranked_clips(one.video_id or one.url for one in ranked),
            evidence={
                "matched": run.matched,
                "chosen": run.chosen,
                "answer": "" if run.answer is None else run.answer.url,
                "answer_time": None if moment is None else moment.time,
                "found": [_as_json(candidate) for candidate in run.candidates],
                "queries": list(run.queries),
                "results": [
                    [result["url"] for result in step.data["results"]]
                    for step in run.steps
                    if step.kind == "search"
                ],
                "searches": run.searches,
                "failure": run.failure,
                "failures": list(run.failures),
            },
            tokens={"all": run.tokens},
            parse_failure=ReplyInvalid.__name__ in run.failures,
        )

    def _run(self, asked: RvmsInput) -> RacloRun:
        environment, mode, memory = self.environment, self.variant.mode, asked.memory
        reasoner, settings = self.counted.reasoner, self.variant.settings
        web = environment.content_web if mode == "contents" else environment.web
        try:
            if mode == "metadata":
                return self._metadata_run(memory, web)
            if mode == "oracle":
                return self._oracle_run(memory, web, asked.video)
            if mode == "chance":
                digest = hashlib.sha256(f"{self.seed} {asked.query_id}".encode()).digest()
                return _chance_run(memory, web, asked.video, int.from_bytes(digest[:8], "big") / 2**64)
        except (Unanswered, WebError, FileProblem) as error:
            # As in the agent: an unusable reply or page costs one query, not the run.
            name = type(error).__name__
            return replace(_as_run(memory, (), (), reasoner.usage()), failure=name, failures=(name,))
        second = second_judge(environment.reasoner)
        return run_raclo(memory, web, reasoner, environment.frame_source, settings, second=second)

    def _metadata_run(self, memory: Memory, web: Web) -> RacloRun:
        """The agent's searches; of their results the most likely by title and description, and its middle."""
        reasoner, settings = self.counted.reasoner, self.variant.settings
        reasoner.usage()
        queries = recall(reasoner, memory, (), settings).queries
        found: dict[str, tuple[SearchResult, str]] = {}
        steps: list[Step] = []
        for query in queries:
            page = web.search_videos(query, page_size=settings.results)
            shown = [{"url": result.url, "title": result.title} for result in page.results]
            steps.append(Step(len(steps) + 1, "search", query, {"query": query, "results": shown}, "turn", 1))
            fresh = [result for result in page.results if result.url not in found][: settings.urls]
            found.update((result.url, (result, query)) for result in fresh)
        candidates = tuple(_candidate(memory, "", result, 0.5, query) for result, query in found.values())
        chosen = 0
        if candidates:
            wanted = " ".join(part for part in (memory.global_impression, memory.key_moment) if part)
            chosen = likeliest(reasoner, [result for result, _ in found.values()], wanted)
        return _as_run(memory, candidates, queries, reasoner.usage(), chosen, tuple(steps))

    def _oracle_run(self, memory: Memory, web: Web, url: str) -> RacloRun:
        """The target video is the only candidate."""
        reasoner, settings = self.counted.reasoner, self.variant.settings
        reasoner.usage()
        source = self.environment.frame_source
        video = fetch_video(web, _result(web, url), source, transcript=settings.sound)
        video = video.seen_by(reasoner)
        moment = locate_moment(reasoner, memory, video, settings) if memory.key_moment else None
        found = CandidateVideo(url, video.result.title, video.video_id, video.duration, "", 1, moment=moment)
        return _as_run(memory, (found,), (), reasoner.usage())


def _chance_run(memory: Memory, web: Web, url: str, share: float) -> RacloRun:
    """The target video, at `share` in [0, 1) of it. Raises `PageGone`."""
    found = _candidate(memory, web.video_id(url) or "", _result(web, url), share)
    return _as_run(memory, (found,), (), Usage())


def _candidate(
    memory: Memory, video_id: str, result: SearchResult, share: float, query: str = ""
) -> CandidateVideo:
    """A video that was not opened, its moment at `share` of its duration."""
    moment = None
    if memory.key_moment:
        moment = Moment(round(share * result.duration, 6), 0, 1, 0.0, result.duration, 0.0)
    return CandidateVideo(
        result.url, result.title, video_id, result.duration, query, result.rank, moment=moment
    )


def _result(web: Web, url: str) -> SearchResult:
    entry = web.catalogue.video(url)
    if entry is None:
        raise PageGone(f"{url}: the web has no such video")
    return SearchResult(entry.url, entry.title, duration=entry.duration)


def _as_run(
    memory: Memory,
    candidates: tuple[CandidateVideo, ...],
    queries: tuple[str, ...],
    usage: Usage,
    chosen: int = 0,
    steps: tuple[Step, ...] = (),
) -> RacloRun:
    return RacloRun(
        memory=memory,
        cues=cues_of(memory),
        candidates=candidates,
        chosen=chosen if candidates else None,
        matched=bool(candidates),
        queries=queries,
        turns=1,
        failure="" if candidates else NOTHING_FOUND,
        failures=(),
        searches=len(queries),
        usage=usage,
        timings={},
        steps=steps,
    )


def _as_json(candidate: CandidateVideo) -> dict[str, Any]:
    """What the scorer needs. `accepted`: the verdict of the agent's judges; None without one."""
    moment = candidate.moment
    return {
        "url": candidate.url,
        "video_id": candidate.video_id,
        "accepted": None if candidate.consensus is None else candidate.accepted,
        "moment": None if moment is None else [moment.start, moment.time, moment.end],
    }
