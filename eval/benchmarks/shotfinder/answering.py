"""A system on a benchmark of shots: one search a query, judged, and told as a sample."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eval.benchmarks.shotfinder.errors import wrong_stage
from eval.benchmarks.shotfinder.records import ShotQuery
from eval.benchmarks.shotfinder.verifying import FrameShelf, Judged, judge_shot
from eval.runs.records import ClipScore, Query, Sample
from rag.agents.shotfinder import find_shot
from rag.agents.shotfinder_records import FoundShot, ShotRequest
from rag.agents.video_browser_sight import Eyes
from rag.reasoners.counting import counted
from rag.reasoners.roles import Reasoner, VideoView

if TYPE_CHECKING:
    from rag.agents.shotfinder_settings import ShotSettings
    from rag.web import MockWeb

__all__ = ["Finding", "query_of"]


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
class Finding:
    """A `System`. Every query meets the web as its first visitor."""

    name: str
    chosen: ShotSettings
    queries: Mapping[str, ShotQuery]
    web: MockWeb
    mind: Reasoner
    eyes: Eyes
    shelf: FrameShelf
    folder: Path

    def __post_init__(self) -> None:
        self._mind, self._counted_as = counted(self.mind)

    @property
    def settings(self) -> Mapping[str, Any]:
        return {
            **asdict(self.chosen),
            "web": self.web.fingerprint,
            "reasoner": self.mind.fingerprint,
            "tokens": self._counted_as,
        }

    def answer(self, query: Query) -> Sample:
        asked = self.queries[query.query_id]
        request = ShotRequest(asked.description, asked.constraints, asked.query_id)
        run = find_shot(request, self.web.session(), self._mind, self.eyes, self.chosen)
        begun = time.perf_counter()
        reference = self._reference(asked)
        judged = {
            look.url: judge_shot(self.mind, self.shelf, asked, reference, look.found)
            for look in run.looks
            if look.found is not None
        }
        best = judged[run.shot.url] if run.shot is not None else None
        correct = best is not None and (best.truth if best.truth is not None else best.strict)
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
                "rules": _rules(best, list(judged.values())),
                "judged": [_as_json(each) for each in judged.values()],
                "off_by": _off_by(asked, run.shot),
                "stage": wrong_stage(asked, run, correct, told),
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

    def _reference(self, query: ShotQuery) -> VideoView | None:
        if query.image:
            return self.shelf.picture(self.folder / query.image)
        return self.shelf.at(query.gold.video_id, query.frame) if query.gold.timed else None


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


def _rules(best: Judged | None, judged: list[Judged]) -> dict[str, bool | None]:
    """What each way of counting calls the sample."""
    return {
        "truth": best.truth if best is not None else False,
        "moment": best.moment if best is not None else False,
        "strict": best is not None and best.strict,
        "strict, any candidate": any(each.strict for each in judged),
        "lenient, any candidate": any(each.lenient for each in judged),
        "clip": best.by_clip if best is not None else False,
    }


def _as_json(each: Judged) -> dict[str, Any]:
    return {**asdict(each), "strict": each.strict, "by_clip": each.by_clip}


def _off_by(query: ShotQuery, found: FoundShot | None) -> float | None:
    """Seconds from the found frame to the true one, where it is of the right video; 0 inside the shot."""
    gold = query.gold
    if found is None or not gold.timed or found.video_id != gold.video_id:
        return None
    return round(max(gold.start - found.frame, found.frame - gold.end, 0.0), 3)
