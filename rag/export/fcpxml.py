"""Final Cut Pro XML 1.10, which DaVinci Resolve reads too (it refuses newer versions)."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from corpora.outputs import PROGRAM
from rag.export.records import Cut, Source, Timeline
from rag.export.text import file_name, file_url, name_of, note_of, one_line
from rag.export.timecode import rate_text

VERSION = "1.10"
CONFORMED = frozenset({"23.98", "24", "25", "29.97", "30", "47.95", "48", "50", "59.94", "60"})
"""Rates that the DTD knows as `srcFrameRate`."""
LAYOUTS = {1: "mono", 2: "stereo"}
"""Channels of sound to `audioLayout`; more are `surround`."""
METADATA = "org.offline-video-rag."

Format = tuple[Fraction, int, int]
"""Frames a second, width, height."""


def render_fcpxml(timeline: Timeline) -> str:
    """One event with one project: resources first, then a spine of `asset-clip`.

    An asset starts at its file's timecode, all times are whole frames as rational seconds, and a clip of
    another rate than the timeline's keeps its speed.
    """
    root = Element("fcpxml", version=VERSION)
    resources = SubElement(root, "resources")
    sources = list({cut.source.path: cut.source for cut in timeline.cuts}.values())
    sequence: Format = (timeline.rate, sources[0].width, sources[0].height)
    formats = {
        form: f"r{number}" for number, form in enumerate(dict.fromkeys([sequence, *map(_format, sources)]), 1)
    }
    for form, identity in formats.items():
        _add_format(resources, identity, form)
    assets: dict[str, str] = {}
    for number, source in enumerate(sources, len(formats) + 1):
        assets[source.path] = f"r{number}"
        _add_asset(resources, f"r{number}", formats[_format(source)], source)
    event = SubElement(root, "event", name=timeline.title)
    project = SubElement(event, "project", name=timeline.title)
    spine = SubElement(_add_sequence(project, timeline, formats[sequence], sources), "spine")
    for cut in timeline.cuts:
        _add_clip(spine, timeline, cut, assets[cut.source.path], formats[_format(cut.source)])
    ElementTree.indent(root, " ")
    text = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE fcpxml>\n<!-- {PROGRAM} -->\n{text}\n'


def time_text(seconds: Fraction) -> str:
    """`1001/30000s`, `5s`."""
    return f"{seconds.numerator}s" if seconds.denominator == 1 else f"{seconds}s"


def _format(source: Source) -> Format:
    return source.rate, source.width, source.height


def _frames(count: int, rate: Fraction) -> str:
    return time_text(count / rate)


def _counting(drop: bool) -> str:
    return "DF" if drop else "NDF"


def _add_format(resources: Element, identity: str, form: Format) -> None:
    rate, width, height = form
    attributes = {"id": identity, "frameDuration": time_text(1 / rate)}
    SubElement(resources, "format", attributes, width=str(width), height=str(height))


def _add_asset(resources: Element, identity: str, form: str, source: Source) -> None:
    asset = SubElement(
        resources,
        "asset",
        id=identity,
        name=file_name(source.path),
        start=_frames(source.first, source.rate),
        duration=_frames(source.frames, source.rate),
        hasVideo="1",
        format=form,
        videoSources="1",
        hasAudio=str(int(source.channels > 0)),
    )
    if source.channels:
        sound = {"audioSources": 1, "audioChannels": source.channels, "audioRate": source.sample_rate}
        asset.attrib.update({key: str(value) for key, value in sound.items()})
    SubElement(asset, "media-rep", kind="original-media", src=file_url(source.path))


def _add_sequence(project: Element, timeline: Timeline, form: str, sources: Iterable[Source]) -> Element:
    channels = max(source.channels for source in sources)
    sequence = SubElement(
        project,
        "sequence",
        format=form,
        duration=_frames(sum(cut.length for cut in timeline.cuts), timeline.rate),
        tcStart=_frames(timeline.start, timeline.rate),
        tcFormat=_counting(timeline.drop),
    )
    if channels:
        sequence.attrib.update(audioLayout=LAYOUTS.get(channels, "surround"), audioRate="48k")
    return sequence


def _add_clip(spine: Element, timeline: Timeline, cut: Cut, asset: str, form: str) -> None:
    source, select = cut.source, cut.select
    clip = SubElement(
        spine,
        "asset-clip",
        ref=asset,
        name=name_of(select),
        offset=_frames(timeline.start + cut.record, timeline.rate),
        start=_frames(source.first + cut.first, source.rate),
        duration=_frames(cut.length, timeline.rate),
        format=form,
        tcFormat=_counting(source.drop),
    )
    note = note_of(select)
    if note:
        SubElement(clip, "note").text = note
    if source.rate != timeline.rate:
        conform = SubElement(clip, "conform-rate", scaleEnabled="0")
        if (shown := rate_text(source.rate)) in CONFORMED:
            conform.set("srcFrameRate", shown)
    SubElement(
        clip,
        "marker",
        start=_frames(source.first + cut.mark, source.rate),
        duration=_frames(cut.mark_end - cut.mark, source.rate),
        value=name_of(select),
        note=note,
    )
    metadata = SubElement(clip, "metadata")
    facts = {
        "query": select.query,
        "score": "" if select.score is None else f"{select.score:g}",
        "citation": select.citation,
    }
    for key, value in facts.items():
        if shown := one_line(value):
            SubElement(metadata, "md", key=f"{METADATA}{key}", value=shown)
