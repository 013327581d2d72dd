"""OpenTimelineIO: the timeline as `.otio`, which DaVinci Resolve and converters for other programs read."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from corpora.outputs import PROGRAM
from rag.errors import ExtraMissing
from rag.export.records import Cut, Source, Timeline
from rag.export.text import file_name, file_url, name_of, note_of, one_line


def render_otio(timeline: Timeline) -> str:
    """JSON of a timeline with one video track, and one audio track where a file has sound.

    Clips keep the rate and the timecode of their source; `metadata["rag"]` has query, score, citation and
    evidence. Raises `ExtraMissing` without opentimelineio.
    """
    otio = _opentimelineio()
    made = otio.schema.Timeline(timeline.title, metadata={"rag": {"generator": PROGRAM}})
    made.global_start_time = _time(otio, timeline.start, timeline.rate)
    kinds = otio.schema.TrackKind
    made.tracks.append(_track(otio, timeline, "V1", kinds.Video))
    if any(cut.source.channels for cut in timeline.cuts):
        made.tracks.append(_track(otio, timeline, "A1", kinds.Audio))
    return str(otio.adapters.write_to_string(made, "otio_json"))


def _opentimelineio() -> Any:
    try:
        import opentimelineio
    except ImportError as error:
        raise ExtraMissing(
            "opentimelineio, which writes .otio, is not installed; "
            "install it with: pip install -e '.[export]' (in the checkout)"
        ) from error
    return opentimelineio


def _track(otio: Any, timeline: Timeline, name: str, kind: str) -> Any:
    track = otio.schema.Track(name, kind=kind)
    sound = kind == otio.schema.TrackKind.Audio
    for cut in timeline.cuts:
        # A file without sound leaves a hole, or the clips after it would move.
        silent = sound and not cut.source.channels
        track.append(_gap(otio, cut) if silent else _clip(otio, cut, marked=not sound))
    return track


def _gap(otio: Any, cut: Cut) -> Any:
    length = _time(otio, cut.last - cut.first, cut.source.rate)
    return otio.schema.Gap(duration=length)


def _clip(otio: Any, cut: Cut, marked: bool) -> Any:
    source, select = cut.source, cut.select
    clip = otio.schema.Clip(
        name_of(select),
        media_reference=otio.schema.ExternalReference(
            target_url=file_url(source.path), available_range=_range(otio, source, 0, source.frames)
        ),
        source_range=_range(otio, source, cut.first, cut.last),
        metadata={
            "rag": {
                "query": one_line(select.query),
                "score": select.score,
                "citation": one_line(select.citation),
                "evidence": [one_line(line) for line in select.evidence],
            }
        },
    )
    clip.media_reference.name = file_name(source.path)
    if marked:
        clip.markers.append(
            otio.schema.Marker(
                name_of(select),
                marked_range=_range(otio, source, cut.mark, cut.mark_end),
                color=otio.schema.MarkerColor.BLUE,
                comment=note_of(select),
            )
        )
    return clip


def _range(otio: Any, source: Source, first: int, last: int) -> Any:
    """[first, last) frames of a source, by its timecode."""
    return otio.opentime.TimeRange(
        _time(otio, source.first + first, source.rate), _time(otio, last - first, source.rate)
    )


def _time(otio: Any, frames: int, rate: Fraction) -> Any:
    return otio.opentime.RationalTime(frames, float(rate))
