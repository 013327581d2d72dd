"""Subtitles inside a media file, as plain text with times."""

from __future__ import annotations

import html
import re
from itertools import zip_longest
from typing import Any

from corpora.video.containers import clock_start, language_of, open_media, packets, time_of
from corpora.video.decoders import Heartbeat
from corpora.video.timed_text import TimedText

TEXT_CODECS = ("mov_text", "subrip", "srt", "ass", "ssa", "webvtt", "text")
"""Bitmap subtitles (DVD, Blu-ray, DVB) hold images of text and are skipped."""
UNKNOWN_END = 5.0
"""Seconds that a cue without an end stays, at most."""

_OVERRIDES = re.compile(r"\{\\[^}]*\}")
_DRAWING = re.compile(r"\{[^}]*\\p[1-9][^}]*\}")
_TAGS = re.compile(r"</?[a-zA-Z][^<>]*>|<\d[\d:.]*>")


def plain_text(text: str) -> str:
    """One cue without ASS overrides, HTML tags and entities; white space runs become one space."""
    if _DRAWING.search(text):
        return ""
    bare = re.sub(r"\\[Nnh]", " ", _OVERRIDES.sub("", text))
    return " ".join(html.unescape(_TAGS.sub("", bare)).split())


def read_texts(path: str, beat: Heartbeat) -> tuple[TimedText, ...]:
    """All cues, sorted by time. Of several streams, one for each language is read: the one marked default,
    else the first that is not for signs only (forced), else the first."""
    import av

    with open_media(path) as container:
        streams = _chosen(container)
        if not streams:
            return ()
        start = clock_start(container)
        cues: dict[int, list[TimedText]] = {stream.index: [] for stream in streams}
        try:
            for packet in packets(container, streams):
                beat()
                cue = _cue(packet, start) if packet.size else None
                if cue is not None:
                    cues[packet.stream_index].append(cue)
        except av.FFmpegError:
            # The words up to the damage are still worth having; the damage shows when frames are read.
            pass
    spoken = [cue for stream in cues.values() for cue in _ended(stream)]
    return tuple(sorted(dict.fromkeys(spoken), key=lambda cue: (cue.start, cue.end, cue.text)))


def _chosen(container: Any) -> list[Any]:
    from av.stream import Disposition

    best: dict[str, tuple[int, Any]] = {}
    for stream in container.streams.subtitles:
        context = stream.codec_context
        if context is None or context.name not in TEXT_CODECS:
            continue
        forced = bool(stream.disposition & Disposition.forced)
        rank = 2 if stream.disposition & Disposition.default else int(not forced)
        language = language_of(stream)
        if language not in best or rank > best[language][0]:
            best[language] = rank, stream
    return [stream for _, stream in best.values()]


def _cue(packet: Any, start: float) -> TimedText | None:
    import av

    begin = time_of(packet.pts, packet.time_base, start)
    if begin is None:
        return None
    try:
        pieces = [getattr(rect, "dialogue", b"") for rect in packet.decode()]
    except av.FFmpegError:
        return None
    text = " ".join(filter(None, (plain_text(piece.decode("utf-8", "replace")) for piece in pieces)))
    length = float(packet.duration * packet.time_base) if packet.duration else 0.0
    begin, end = max(0.0, begin), begin + max(0.0, length)
    return TimedText(begin, max(begin, end), "subtitle", text) if text else None


def _ended(cues: list[TimedText]) -> list[TimedText]:
    """A cue that does not say when it ends stays until the next one."""
    ended = []
    for cue, following in zip_longest(cues, cues[1:]):
        if cue.end > cue.start:
            ended.append(cue)
            continue
        limit = cue.start + UNKNOWN_END
        end = min(limit, following.start) if following is not None and following.start > cue.start else limit
        ended.append(TimedText(cue.start, end, cue.kind, cue.text))
    return ended
