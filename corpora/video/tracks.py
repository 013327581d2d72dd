"""What a program for editing must know exactly of a media file: rate, source timecode, sound format."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import islice, pairwise
from statistics import median

from corpora.errors import UnsupportedFile
from corpora.video.containers import open_media, packets, pick_audio, pick_video
from corpora.video.decoders import Heartbeat
from corpora.video.records import TrackFacts

COUNTED_PACKETS = 300
REORDERED = 32
"""Packets at the end of the counted ones that frames counted later may precede (H.264 and HEVC allow 16)."""
UNSTEADY = 0.1
"""Share of a frame's length by which a constant rate may be off, besides two ticks of the stream's clock."""
OTHER_MEAN = 0.01
"""A mean over the file that differs by more from the mean of its beginning is that of a variable rate."""


def read_tracks(path: str, beat: Heartbeat) -> TrackFacts:
    """Facts of the streams that `probe_file` chooses; reads the header and the first packets.

    The timecode is that of a `tmcd` track or of the tag `timecode`, of the stream before that of the file.
    Raises `FileProblem` (reason without path), `UnsupportedFile` where there are no images.
    """
    import av

    with open_media(path) as container:
        video, audio = pick_video(container), pick_audio(container)
        if video is None:
            raise UnsupportedFile("it holds no images")
        claimed = video.average_rate or video.guessed_rate or Fraction(0)
        times: list[int] = []
        try:
            for packet in islice(packets(container, [video]), COUNTED_PACKETS):
                beat()
                if packet.pts is not None:
                    times.append(packet.pts)
        except av.FFmpegError:
            # Damaged from here on; what was counted is enough.
            pass
        whole = len(times) < COUNTED_PACKETS
        steps = _steps(times if whole else sorted(times)[:-REORDERED])
        counted = Fraction(len(steps), sum(steps)) / video.time_base if steps else claimed
        context = audio.codec_context if audio is not None else None
        frames = max(0, video.frames or 0)
        if claimed and video.duration and video.time_base:
            # Those that an edit list leaves out are counted in the header, and are not in the duration.
            frames = min(frames, round(video.duration * video.time_base * claimed))
        return TrackFacts(
            rate=Fraction(claimed or counted or 25),
            variable=_varies(steps) or bool(claimed and abs(counted / claimed - 1) > OTHER_MEAN),
            frames=frames,
            timecode=_timecode(one.metadata for one in (video, *container.streams.data, container)),
            channels=(context.channels or 0) if context is not None else 0,
            sample_rate=(context.sample_rate or 0) if context is not None else 0,
        )


def _steps(times: list[int]) -> list[int]:
    """Ticks from each frame to the next; frames of one time count once."""
    return [later - sooner for sooner, later in pairwise(sorted(set(times)))]


def _varies(steps: list[int]) -> bool:
    if not steps:
        return False
    usual = median(steps)
    return any(abs(step - usual) > max(2, UNSTEADY * usual) for step in steps)


def _timecode(tags: Iterable[dict[str, str]]) -> str:
    named = ({key.lower(): value for key, value in one.items()} for one in tags)
    return next((str(one["timecode"]).strip() for one in named if one.get("timecode")), "")
