"""What things are called on each benchmark: what is right, what a cluster is, what a query's window is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Words:
    right: str
    """What a right answer is, as the end of a sentence that begins with "Right:"."""
    clusters: str = "videos"
    """What `Query.cluster` stands for, in the plural."""
    window: str = "event"
    """What lies at `Query.window`."""
    seen: str = "object shows"
    """What lies at `Query.seen`."""


CHOSEN = "the option that was chosen is the right one."
WORDS: Mapping[str, Words] = {
    "egofact": Words(CHOSEN),
    "browsecomp": Words(
        "the judge calls the answer right; of given options, the right one alone is.",
        window="last evidence",
    ),
    "longvideo": Words(CHOSEN, clusters="films", window="deciding moment"),
    "rvms": Words(
        "the answer, recognized or guessed, is the video in any of its uploads, and its moment, where one is "
        "asked for, lies within 2 s of the event (where its time is not known: its frame matches).",
        clusters="films",
        window="shot",
        seen="event",
    ),
    "shotfinder": Words(
        "the frame that was given lies in the right shot of the right film (where its time is not known: the "
        "verifier says that text and image match).",
        clusters="families of films",
        window="shot",
    ),
}
"""By the first part of a benchmark's name, before a dash."""


def words_of(benchmark: str) -> Words:
    """Of a benchmark that nobody wrote words for, those that hold for all."""
    return WORDS.get(benchmark.partition("-")[0], Words("as the benchmark's own `Sample.correct` says."))
