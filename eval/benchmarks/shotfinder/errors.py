"""Where a failed search went wrong, by rule (ShotFinder, section 5.3 and appendix G.2).

In the order of the pipeline, the first that holds:

    generator   no search shares a telling word with what the right video says of itself
    retriever   some do, and the right video is not among those that were looked at
    localizer   it was looked at, and called N/A or another of its shots was named
    verifier    its right shot was named, and another video was preferred
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from eval.benchmarks.shotfinder.records import ShotQuery
from eval.benchmarks.shotfinder.verifying import true_shot
from rag.agents.shotfinder_records import ShotRun
from rag.relevance import content_words

__all__ = ["STAGES", "Stage", "wrong_stage"]

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


def _found_any(looked: Sequence[object]) -> bool:
    """Where nobody knows when the shot is, any find in the right video may be it."""
    return any(getattr(look, "found", None) is not None for look in looked)
