"""Where a failed search went wrong, by rule (ShotFinder, section 5.3 and appendix G.2).

In the order of the pipeline, the first that holds:

    generator   no search shares a telling word with what the right video says of itself
    retriever   some do, and the right video is not among those that were looked at
    localizer   it was looked at, and called N/A or another of its shots was named
    verifier    its right shot was named, and another video was preferred
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from eval.reports.failures import Failure, Shown
from eval.runs.records import Sample
from eval.tasks.shotfinder.records import ShotQuery
from eval.tasks.shotfinder.scorer import true_shot
from rag.agents.shotfinder.records import ShotRun
from rag.relevance import content_words

Stage = Literal["", "generator", "retriever", "localizer", "verifier"]
STAGES: tuple[Stage, ...] = ("generator", "retriever", "localizer", "verifier")


def wrong_stage(query: ShotQuery, run: ShotRun, correct: bool, told: Sequence[str]) -> Stage:
    """`told`: title, description and tags of each upload of the right video; empty name for a right find."""
    if correct:
        return ""
    gold = set(query.gold.urls)
    looked = [look for look in run.looks if look.url in gold or look.video_id == query.gold.video_id]
    if looked:
        named = any(look.found is not None and true_shot(query, look.found) for look in looked)
        known = query.gold.timed
        return "verifier" if named or (not known and _found_any(looked)) else "localizer"
    words = {word for text in told for word in content_words(text)}
    shared = any(words & set(content_words(search)) for search in run.queries)
    return "retriever" if shared else "generator"


def failure_of(asked: ShotQuery, sample: Sample, file_of: Callable[[str], str | None]) -> Failure | None:
    """What was asked, searched for and found, with the frame that was given and the true one.

    `file_of`: content id to a file; None where there is none. None for a sample that did not fail.
    """
    stage = str(sample.evidence.get("stage", ""))
    if sample.correct or not stage:
        return None
    shot = sample.evidence.get("shot")
    told = {
        "description": asked.description,
        asked.task: " / ".join(part for part in asked.constraint.split("\n") if part),
        "searches": "; ".join(sample.evidence.get("queries", ())),
        "found": "N/A" if shot is None else f"{shot['url']} {shot['start']:.1f}-{shot['end']:.1f} s",
        "measured": "" if shot is None else "; ".join(_checked(check) for check in shot["checks"]),
        "right": f"{', '.join(asked.gold.urls)} {asked.gold.start:.1f}-{asked.gold.end:.1f} s",
    }
    shown = []
    if shot is not None and (path := file_of(shot["video_id"])) is not None:
        shown.append(Shown("found", path, float(shot["frame"])))
    if asked.gold.timed and (path := file_of(asked.gold.video_id)) is not None:
        shown.append(Shown("right", path, asked.frame))
    return Failure(stage, {label: text for label, text in told.items() if text}, tuple(shown))


def _checked(check: Mapping[str, Any]) -> str:
    found = check["found"] or "not measured"
    return f"{check['kind']}: wanted {check['wanted']}, {found}"


def _found_any(looked: Sequence[object]) -> bool:
    """Where nobody knows when the shot is, any find in the right video may be it."""
    return any(getattr(look, "found", None) is not None for look in looked)
