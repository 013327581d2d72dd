"""ShotFinder: find a shot in a web of videos by its description and constraints (ShotFinder, section 4).

    generator   imagine the whole video that such a shot is part of; search queries out of that
    retriever   the first videos of each query that can be downloaded and have the resolution
    localizer   in each of them the shot that fits, or N/A

The answer is the best shot found, one that no measurement denies before the others, or N/A. An error of the
web loses a video or a query, an error of the reasoner a step. Every loop is bounded.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from corpora.escaping import visible
from corpora.records import clock
from rag.agents.runtime.context import NOTHING_FOUND, AgentContext
from rag.agents.runtime.frame_source import FrameSource
from rag.agents.runtime.trace import Watch, imagined_details, place_line, run_json, shown_line
from rag.agents.shotfinder.constraints import Constraints, measures_of, memory_of
from rag.agents.shotfinder.localizer import NO_FRAME, Localizer
from rag.agents.shotfinder.records import (
    MAIN,
    NOTHING_LOOKED_AT,
    FoundShot,
    Look,
    ShotRequest,
    ShotRun,
    ShotSettings,
)
from rag.errors import FileProblem, QuestionError, ReasonerError
from rag.reasoners.protocol import Reasoner
from rag.reasoners.roles.searching import IMAGINE_QUERIES, ImagineRequest
from rag.rendering.terminal import excerpt
from rag.web import SearchResult, Web

LONGEST_SEARCH = 200
"""Characters of a description that is used as a query."""
MARKS: Mapping[bool | None, str] = {True: "confirmed", False: "missing", None: "unmeasured"}


def find_shot(
    request: ShotRequest,
    web: Web,
    reasoner: Reasoner,
    frame_source: FrameSource,
    settings: ShotSettings = MAIN,
    *,
    watch: Watch | None = None,
) -> ShotRun:
    """Find a shot in a web. Errors of web and reasoner are in the result. Raises `QuestionError` for a
    description without a word.

    `frame_source.library`: knows shots and resolutions; without it constraints are passed to the reasoner as
    text. `watch`: called with each step.
    """
    if not any(character.isalnum() for character in request.description):
        raise QuestionError("the description of the shot holds no word")
    context = AgentContext(web, reasoner, frame_source, watch=watch)
    return _ShotFinderRun(context, settings, request).run()


class _ShotFinderRun:
    """One request."""

    def __init__(self, context: AgentContext, settings: ShotSettings, request: ShotRequest) -> None:
        self._context, self._trace, self._settings = context, context.trace, settings
        self._request = request
        self._constraints = request.constraints if settings.constraint_mode != "off" else Constraints()
        self._results: list[str] = []
        self._downloaded = 0

    def run(self) -> ShotRun:
        clock = [time.perf_counter()]
        queries = self._imagine()
        clock.append(time.perf_counter())
        looks: list[Look] = []
        for query in queries:
            if self._context.stopped():
                break
            looks += self._look_into(query)
        clock.append(time.perf_counter())
        found = [each.found for each in looks if each.found is not None]
        # Of equal scores the first found, as `max` has it.
        best = max(found, key=lambda shot: (self._met(shot), shot.score), default=None)
        failure = self._failure(best, looks)
        self._record_result(best, failure)
        return ShotRun(
            request=self._request,
            queries=tuple(queries),
            looks=tuple(looks),
            shot=best,
            failure=failure,
            results=tuple(self._results),
            timings={"imagine": clock[1] - clock[0], "look": clock[2] - clock[1]},
            **self._context.outcome(),
        )

    def _met(self, shot: FoundShot) -> bool:
        """Whether nothing measured denies what was asked for, where measurements count."""
        denied = (check.holds is False for check in shot.checks if check.kind != "temporal")
        return self._settings.constraint_mode != "exact" or not any(denied)

    def _failure(self, best: FoundShot | None, looks: Sequence[Look]) -> str:
        """Why N/A is no result of a search; empty for one that looked at videos."""
        if self._context.fatal or best is not None:
            return self._context.fatal
        if not self._downloaded:
            return NOTHING_FOUND
        if any(look.missed in ("", "localizer") for look in looks):
            return ""
        ruled_out = sum(look.missed == "constraint" for look in looks)
        return "" if ruled_out == self._downloaded else NOTHING_LOOKED_AT

    # Generator

    def _imagine(self) -> list[str]:
        description = self._request.description
        plain = " ".join(description.split())[:LONGEST_SEARCH]
        if not self._settings.imagine:
            self._trace.add("imagine", f"searching for the description itself: {plain}", queries=[plain])
            return [plain]
        # A vertical resolution without words for it is in no video's metadata.
        searched = self._constraints if self._constraints.wording else self._constraints.without_resolution()
        memory = memory_of(description, searched)
        try:
            imagined = self._context.reasoner.run(
                IMAGINE_QUERIES, ImagineRequest(memory, self._settings.queries)
            )
        except ReasonerError as error:
            self._context.fail(error, "the searches")
            # Without a hypothesis the description itself is the query, once.
            return [] if self._context.stopped() else [plain]
        queries = list(dict.fromkeys(imagined.queries))[: self._settings.queries]
        self._trace.add(
            "imagine", "; ".join(queries), imagined, details=imagined_details(imagined), queries=queries
        )
        return queries

    # Retriever

    def _look_into(self, query: str) -> list[Look]:
        looks: list[Look] = []
        left = self._settings.urls
        page = self._context.search_videos(query, self._settings.results)
        if page is None:
            return looks
        self._results += [result.url for result in page.results]
        self._context.add_search(query, page)
        for result in page.results:
            if left < 1 or self._context.stopped():
                break
            look = self._look(query, result)
            if look is not None:
                looks.append(look)
                # A video of another resolution, and a file without frames and speech, do not count.
                left -= look.missed != "constraint" and not (look.missed == "unseen" and look.lines == 0)
        return looks

    # Localizer

    def _look(self, query: str, result: SearchResult) -> Look | None:
        """None for a video that cannot be downloaded, and for content that was looked at before."""
        spoken = self._settings.look == "frames and texts"
        video = self._context.fetch_new(result, "absent", transcript=spoken)
        if video is None:
            return None
        self._downloaded += 1
        localizer = Localizer(
            reasoner=self._context.reasoner,
            video=video,
            description=self._request.description,
            constraints=self._constraints,
            measures=measures_of(self._context.frame_source.library, video.video_id),
            settings=self._settings,
        )
        try:
            look = localizer.look(query)
        except (FileProblem, ReasonerError) as error:
            self._context.fail(error, result.title or result.url)
            return None
        self._record_look(look)
        return look

    # Steps

    def _record_look(self, look: Look) -> None:
        found = look.found
        if found is None:
            data = {"url": look.url, "missed": look.missed, "reason": look.reason, "frames": look.frames}
            # That no frame can be shown is said once, before the first step, and in the result.
            details: list[str] | None = None if look.reason == NO_FRAME else []
            self._trace.add("absent", f"{look.title}: {look.reason}", details=details, **data)
            return
        text = f"{look.title}: {found.start:.1f}-{found.end:.1f} s, score {found.score:.2f}"
        details = [*([f"reason: {found.reason}"] if found.reason else []), *_check_lines(found)]
        self._trace.add("look", text, found, details=details, frames=look.frames)

    def _record_result(self, best: FoundShot | None, failure: str) -> None:
        if best is None:
            self._trace.add("shot", "N/A", found=False, failure=failure)
            return
        text = f"{best.title} {best.start:.1f}-{best.end:.1f} s"
        self._trace.add("shot", text, best, found=True)


def result_lines(run: ShotRun, width: int) -> Iterator[str]:
    """The shot, or N/A."""
    found = run.shot
    if found is None:
        yield f"N/A: {visible(run.absence)}"
        return
    yield visible(excerpt(found.title or found.url, width))
    yield f"  {place_line(found.url, found.start, found.end)}"
    yield f"  {clock(found.start)}-{clock(found.end)}, the frame at {clock(found.frame)}"
    for line in (f"score {found.score:.2f}; {found.reason}", *_check_lines(found)):
        yield f"  {shown_line(line, width - 2)}"


def result_json(run: ShotRun) -> dict[str, Any]:
    """`rag.agent.shotfinder/1`, without steps; clock times are in `timings` and `usage.seconds` alone."""
    fields = "shot absence queries looks failure failures searches tokens usage timings"
    constraints = run.request.constraints.options()
    asked = {"description": run.request.description, "constraints": constraints}
    return run_json("rag.agent.shotfinder/1", run, fields, **asked)


def _check_lines(found: FoundShot) -> list[str]:
    return [
        f"{MARKS[check.holds]}: {check.kind}: {check.wanted}"
        + (f" ({'measured: ' if check.kind != 'temporal' else ''}{check.found})" if check.found else "")
        for check in found.checks
    ]
