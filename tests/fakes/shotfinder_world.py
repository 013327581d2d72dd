"""A small mock web, its measurements, and a reasoner of simple rules, for tests of ShotFinder."""

from pathlib import Path

import numpy as np

from corpora.records import Evidence, Shot, SoundTrack, Video
from rag.agents.runtime.frame_source import FrameSource
from rag.reasoners.roles.searching import Hypothesis, ImaginedQueries, ImagineRequest
from rag.reasoners.roles.watching import FrameMatch, Located, LocateRequest, MatchRequest
from tests.fakes.browser_world import RuleReasoner


def shots_of(video_id: str, length: float = 10.0, count: int = 10) -> tuple[Shot, ...]:
    """Ten shots of ten seconds."""
    return tuple(
        Shot(
            f"{video_id}:s{at:05d}",
            video_id,
            at * length,
            (at + 1) * length,
            (at + 0.5) * length,
            "neutral",
            0.0,
            "live",
        )
        for at in range(count)
    )


class MeasuredLibrary:
    """In place of a library that holds every video: dense vectors that say when a frame is."""

    tower = None

    def __init__(self, video_ids: list[str], heights: dict[str, int] | None = None) -> None:
        self._ids = video_ids
        self._heights = heights or {}
        self.engine = self.reader = self

    def video(self, video_id: str) -> Video:
        if video_id not in self._ids:
            raise KeyError(video_id)
        height = self._heights.get(video_id, 720)
        return Video(video_id, "", "", "", (), 100.0, 10.0, height * 16 // 9, height, True, "")

    def video_id(self, path: str) -> str:
        return Path(path).stem

    def path_of(self, video_id: str) -> str:
        raise KeyError(video_id)

    def evidence(self, video_id: str, start: float, end: float) -> list[Evidence]:
        assert video_id in self._ids
        assert start < end
        return []

    def shots(self, video_id: str) -> tuple[Shot, ...]:
        return shots_of(video_id)

    def sound_track(self, video_id: str) -> SoundTrack:
        """Music plays in videos of 480 lines, and somebody speaks in the others."""
        heard = "music" if self._heights.get(video_id) == 480 else "speech"
        return SoundTrack(video_id, (heard,) * 100, np.full(100, -20, np.float32))


def frame_source_with(stored: MeasuredLibrary | None, pixels: FrameSource) -> FrameSource:
    """Looks at pixels; measurements are those of `stored`."""
    return FrameSource(stored if stored is not None else None, pixels.read_frames)


class ShotReasoner(RuleReasoner):
    """Names the frame nearest to 42 s; of "near N" it says whether the stretch holds second N."""

    moment = 42.0

    def imagine_queries(self, request: ImagineRequest) -> ImaginedQueries:
        queries = tuple(f"kettle video {number}" for number in range(7, 7 - request.count, -1))
        guess = Hypothesis(kind="literal", guess="a video of kettles")
        return ImaginedQueries(thought="kettles", hypotheses=(guess,), chosen=0, queries=queries)

    def locate(self, request: LocateRequest) -> Located:
        times = np.asarray(request.view.times)
        if request.query.startswith("near "):
            second = float(request.query.split()[1])
            inside = request.view.start <= second < request.view.end
            return Located(relevant=inside, frame=0 if inside else None, confidence=0.9)
        if "nothing" in request.query or not len(times):
            return Located(relevant=False, confidence=0.9, reason="not in it")
        at = int(np.abs(times - self.moment).argmin())
        near = 1.0 / (1.0 + abs(float(times[at]) - self.moment) / 10)
        return Located(relevant=True, frame=at, confidence=round(near, 6), reason=f"at {times[at]:.0f} s")

    def match_frame(self, request: MatchRequest) -> FrameMatch:
        time = request.candidate.times[0] if request.candidate.times else request.candidate.start
        true = request.reference is not None and abs(request.reference.start - time) < 5
        return FrameMatch(text_match=abs(time - self.moment) < 15, image_match=true, confidence=0.8)
