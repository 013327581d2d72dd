"""A system on a benchmark of shots: one search a query, judged, and told as a sample."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eval.runs.records import ClipScore, Query, Sample
from eval.tasks.shotfinder.errors import wrong_stage
from eval.tasks.shotfinder.records import ShotQuery
from eval.tasks.shotfinder.scorer import FrameShelf, Judged, judge_shot
from rag.agents.runtime.frame_source import FrameSource
from rag.agents.shotfinder.agent import find_shot
from rag.agents.shotfinder.records import FoundShot, ShotRequest, ShotRun
from rag.errors import BudgetSpent, ReasonerUnreachable, UnreadableFile
from rag.reasoners.roles import Reasoner, VideoView
from rag.reasoners.token_counting import with_token_counts

if TYPE_CHECKING:
    from rag.agents.shotfinder.settings import ShotSettings
    from rag.web import MockWeb

NO_REFERENCE = "without a reference frame"
NO_FRAME = "without a frame to be judged by"
NO_VERDICT = "without a verdict"
SPENT = "whose budget was spent before anything was found"
"""Why a sample was not judged, as behind "n queries"."""

_log = logging.getLogger(__name__)


def query_of(query: ShotQuery) -> Query:
    """As the evaluation asks it: open; the window is the shot."""
    gold = query.gold
    name = gold.video_id or (gold.urls[0] if gold.urls else "")
    asked = " ".join(query.constraint.split())
    return Query(
        query_id=query.query_id,
        text=f"{query.description} {asked}".strip(),
        options=(),
        answer=f"{name}@{gold.start:g}-{gold.end:g}",
        family=query.task,
        video=name,
        cluster=query.cluster or name,
        window=(gold.start, gold.end),
        order=(),
    )


@dataclass
class ShotFinderSolver:
    """A `System`. Every query meets the web as its first visitor.

    `answer` raises `ReasonerUnreachable` where the reasoner, or the verifier, is gone: an outage is no wrong
    answer, and a run of the evaluation goes on where it stopped. What a reference frame, a verdict or a
    budget was missing for is a sample that nobody judged: its evidence says why, as `unjudged`.
    """

    name: str
    chosen: ShotSettings
    queries: Mapping[str, ShotQuery]
    web: MockWeb
    reasoner: Reasoner
    frame_source: FrameSource
    shelf: FrameShelf
    folder: Path

    def __post_init__(self) -> None:
        self._mind, self._counted_as = with_token_counts(self.reasoner)

    @property
    def settings(self) -> Mapping[str, Any]:
        return {
            **asdict(self.chosen),
            "web": self.web.fingerprint,
            "reasoner": self.reasoner.fingerprint,
            "tokens": self._counted_as,
        }

    def answer(self, query: Query) -> Sample:
        asked = self.queries[query.query_id]
        request = ShotRequest(asked.description, asked.constraints, asked.query_id)
        run = find_shot(request, self.web.session(), self._mind, self.frame_source, self.chosen)
        if run.failure == ReasonerUnreachable.__name__:
            raise ReasonerUnreachable(
                f"{query.query_id}: the reasoner went silent, so this query is not answered wrongly but "
                "not at all; the same command goes on here"
            )
        begun = time.perf_counter()
        reference, missing = self._reference(asked)
        judged = {
            look.url: judge_shot(self.reasoner, self.shelf, asked, reference, look.found)
            for look in run.looks
            if look.found is not None
        }
        best = judged[run.shot.url] if run.shot is not None else None
        rules = _rules(best, list(judged.values()), timed=asked.gold.timed, compared=not missing)
        right = rules["truth"] if asked.gold.timed else rules["strict"]
        unjudged = missing or _unjudged(run, right)
        correct = bool(right) and not unjudged
        videos = list(dict.fromkeys(look.video_id for look in run.looks))
        inside = next((look.found for look in run.looks if look.video_id == query.video), None)
        told = [entry.text for url in asked.gold.urls if (entry := self.web.catalogue.video(url)) is not None]
        return Sample(
            query_id=query.query_id,
            family=query.family,
            video=query.video,
            cluster=query.cluster,
            choice=None,
            correct=correct,
            unshuffled_choice=None,
            confidence=run.shot.score if run.shot is not None else 0.0,
            clips=tuple(ClipScore(video, 1.0 / rank) for rank, video in enumerate(videos, start=1)),
            gold_window_found=(inside.start, inside.end) if inside is not None else None,
            evidence={
                "value": asked.value,
                "shot": None if run.shot is None else _told(run.shot),
                "rules": rules,
                **({"unjudged": unjudged} if unjudged else {}),
                "judged": [_as_json(each) for each in judged.values()],
                "off_by": _off_by(asked, run.shot),
                "stage": "" if unjudged else wrong_stage(asked, run, correct, told),
                "missed": {look.url: look.missed for look in run.looks if look.missed},
                "queries": list(run.queries),
                "failure": run.failure,
                "failures": list(run.failures),
                "searches": run.searches,
            },
            tokens={"all": run.tokens},
            parse_failure="ReplyInvalid" in run.failures,
            timings={**run.timings, "judge": time.perf_counter() - begun},
        )

    def _reference(self, query: ShotQuery) -> tuple[VideoView | None, str]:
        """The true frame, and why there is none where the verdict rests on it."""
        if query.image:
            try:
                return self.shelf.picture(self.folder / query.image), ""
            except UnreadableFile as error:
                _log.warning("%s: %s; this query is not judged", query.query_id, error)
                return None, "" if query.gold.timed else NO_REFERENCE
        if query.gold.timed:
            return self.shelf.at(query.gold.video_id, query.frame), ""
        return None, NO_REFERENCE


def _told(found: FoundShot) -> dict[str, Any]:
    return {
        "url": found.url,
        "video_id": found.video_id,
        "start": found.start,
        "end": found.end,
        "frame": found.frame,
        "score": found.score,
        "checks": [asdict(check) for check in found.checks],
    }


def _unjudged(run: ShotRun, right: bool | None) -> str:
    """Why a sample is neither right nor wrong; empty for one that is."""
    if run.shot is None:
        return SPENT if run.failure == BudgetSpent.__name__ else ""
    return NO_VERDICT if right is None else ""


def _rules(
    best: Judged | None, judged: list[Judged], *, timed: bool, compared: bool
) -> dict[str, bool | None]:
    """What each way of counting calls the sample; None where it cannot tell. N/A is wrong by every one.

    `timed`: it is known when the shot is. `compared`: there is a true frame to hold the others against.
    Without, even N/A is left out, so that a rule counts the same queries for every system.
    """
    nothing = False if compared else None
    untrue = False if timed else None
    return {
        "truth": best.truth if best is not None else untrue,
        "moment": best.moment if best is not None else untrue,
        "strict": best.strict if best is not None else nothing,
        "strict, any candidate": _any([each.strict for each in judged]) if judged else nothing,
        "lenient, any candidate": _any([each.lenient for each in judged]),
        "clip": best.by_clip if best is not None else nothing,
    }


def _any(verdicts: list[bool | None]) -> bool | None:
    if any(verdicts):
        return True
    return None if None in verdicts else False


def _as_json(each: Judged) -> dict[str, Any]:
    return {**asdict(each), "strict": each.strict, "by_clip": each.by_clip}


def _off_by(query: ShotQuery, found: FoundShot | None) -> float | None:
    """Seconds from the found frame to the true one, where it is of the right video; 0 inside the shot."""
    gold = query.gold
    if found is None or not gold.timed or found.video_id != gold.video_id:
        return None
    return round(max(gold.start - found.frame, found.frame - gold.end, 0.0), 3)
