"""What was read of the videos that were asked for last."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import TypeVar

from corpora.records import Clip, Evidence

CACHED_VIDEOS = 256
MANY_VIDEOS = 1000

T = TypeVar("T")
OfVideo = TypeVar("OfVideo", Clip, Evidence)


def cached_lists(
    held: dict[str, list[OfVideo]],
    video_ids: Iterable[str],
    ready: Collection[str],
    read: Callable[[list[str]], list[OfVideo]],
) -> dict[str, list[OfVideo]]:
    """The items of each video, read together where they are not cached; the oldest leave the cache."""
    found = {video_id: held.get(video_id, []) for video_id in video_ids}
    missing = sorted(v for v in found if v in ready and v not in held)
    if missing:
        for item in read(missing):
            found[item.video_id].append(item)
        held.update((v, found[v]) for v in missing)
        for v in list(held)[:-MANY_VIDEOS]:
            held.pop(v, None)  # of several threads, another may have
    return found


def cached(held: dict[str, T], video_id: str, read: Callable[[], T]) -> T:
    """The value of a video; the oldest are dropped from the cache."""
    if video_id not in held:
        while len(held) >= CACHED_VIDEOS:
            del held[next(iter(held))]
        held[video_id] = read()
    return held[video_id]
