"""Subtitles as plain text with times: streams inside a media file, and files (.srt, .vtt, .ass, .ttml)."""

from __future__ import annotations

import html
import itertools
import re
import unicodedata
from collections.abc import Collection, Generator, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from corpora.languages import language_code
from corpora.records import SubtitleTrack
from corpora.sidecar_names import subtitle_track
from corpora.text_decoding import one_line
from corpora.video.containers import clock_start, language_of, open_media, packets, time_of
from corpora.video.records import TimedText

TEXT_CODECS = ("mov_text", "subrip", "srt", "ass", "ssa", "webvtt", "text")
"""Bitmap subtitles (DVD, Blu-ray, DVB) hold images of text and are skipped."""
UNKNOWN_END = 5.0
"""Seconds that a cue without an end stays, at most."""

_VOICE = re.compile(r"<v(?:\.[^\s>]*)?\s+([^>]{1,200})>", re.IGNORECASE)
_LINE_END = re.compile(r"\\[Nh]|</?(?:br|p|div)\b[^<>]{0,400}>", re.IGNORECASE)
_TAG = re.compile(r"<rt>[^<>]*|</?[a-zA-Z][^<>]{0,400}>|<\d{1,4}:[\d:.]{1,20}>")
_OVERRIDE = re.compile(r"\{[^{}]{0,2000}\}")
_DRAWING = re.compile(
    r"\{[^{}]{0,2000}\\p[1-9][^{}]{0,2000}(?:\}.*?(?=\{[^{}]{0,2000}\\p0)|\}?.*\Z)", re.DOTALL
)
"""Lines of a drawing, up to where text begins again."""


def plain_line(line: str) -> str:
    """One line without tags, entities and override blocks; a voice tag becomes `Name: `."""
    line = _VOICE.sub(lambda voice: voice.group(1).strip() + ": ", line)
    line = _OVERRIDE.sub(lambda block: "" if block.group()[1:2] in ("\\", "") else block.group(), line)
    return one_line(html.unescape(_TAG.sub("", _LINE_END.sub(" ", line))))


def plain_cue(text: str) -> str:
    """One cue of a stream as one line, without drawings."""
    return plain_line(_DRAWING.sub("", text).replace("\\n", " "))


def subtitle_tracks(container: Any) -> dict[int, SubtitleTrack]:
    """The subtitle streams of an open file, by index. Of several in one language one is read: one that is
    not forced before one that is, then one marked default, then the first."""
    from av.stream import Disposition

    tracks, ranks, best = dict[int, SubtitleTrack](), dict[int, tuple[bool, bool, int]](), dict[str, int]()
    for stream in container.streams.subtitles:
        at, codec, marks = stream.index, stream.codec_context, stream.disposition
        named = subtitle_track(f"t.{stream.metadata.get('title', '')}", ["t"], f"stream {at}")
        pictures = codec is not None and codec.codec.bitmap_sub
        tracks[at] = track = replace(
            named,
            language=language_of(stream) or named.language,
            forced=named.forced or bool(marks & Disposition.forced),
            hearing_impaired=named.hearing_impaired or bool(marks & Disposition.hearing_impaired),
            unread="it is stored as pictures" if pictures else "it is in a form that is not read",
        )
        if codec is not None and codec.name in TEXT_CODECS:
            ranks[at] = track.forced, not marks & Disposition.default, at
    for at in sorted(ranks, key=ranks.__getitem__):
        best.setdefault(tracks[at].language, at)
    for at in ranks:
        read = best[tracks[at].language]
        why = "" if read == at else f"stream {read} is, which has the same language"
        tracks[at] = replace(tracks[at], unread=why)
    return {at: replace(track, language=language_code(track.language)) for at, track in tracks.items()}


def read_texts(path: str) -> tuple[TimedText, ...]:
    """All cues of the streams that are read, as of `subtitle_tracks`, sorted by time."""
    import av

    with open_media(path) as container:
        tracks = {at: track for at, track in subtitle_tracks(container).items() if not track.unread}
        if not tracks:
            return ()
        start = clock_start(container)
        cues: dict[int, list[TimedText]] = {at: [] for at in tracks}
        try:
            for packet in packets(container, [container.streams[at] for at in tracks]):
                cue = _packet_cue(packet, start)
                if cue is not None:
                    at = packet.stream_index
                    cues[at].append(replace(cue, track=tracks[at]))
        except av.FFmpegError:
            # The words up to the damage are still worth having; the damage shows when frames are read.
            pass
    spoken = side_by_side([ended(stream) for stream in cues.values()])
    return tuple(sorted(dict.fromkeys(spoken), key=lambda cue: (cue.start, cue.end, cue.text)))


PAUSE = 2.0
"""Seconds without speech after which a paragraph begins."""
LONGEST = 250
"""Characters of speech without a stop after which a paragraph begins at the next cue."""
_ENDS = r"[.!?…。！？।॥۔؟｡♪][\"'”’»)\]」』）]*"
STOP = re.compile(rf"{_ENDS}\Z")
"""At the end of a cue."""
LAST_STOP = re.compile(rf".*{_ENDS}(?=\s|\Z)")
"""A cue up to its last stop."""


def side_by_side(sources: Sequence[Sequence[TimedText]]) -> list[TimedText]:
    """The texts of several files or tracks. Where more than one has cues, these are put together to whole
    sentences, so that those of two languages do not stand within each other."""
    several = sum(any(cue.kind == "subtitle" for cue in source) for source in sources) > 1
    found = list[TimedText]()
    for source in sources:
        before: TimedText | None = None
        for cue in source:
            if several and before is not None and _goes_on(before, cue):
                text = f"{before.text} {cue.text}"
                found[-1] = replace(before, end=max(before.end, cue.end), text=text)
            else:
                found.append(cue)
            before = found[-1]
    return found


def _goes_on(before: TimedText, cue: TimedText) -> bool:
    unended = len(before.text) <= LONGEST and not STOP.search(before.text)
    near = -ROLL_GAP <= cue.start - before.end <= PAUSE
    return unended and near and before.kind == cue.kind == "subtitle" and before.track == cue.track


def _packet_cue(packet: Any, start: float) -> TimedText | None:
    import av

    begin = time_of(packet.pts, packet.time_base, start)
    if begin is None:
        return None
    try:
        pieces = [getattr(rect, "dialogue", b"") for rect in packet.decode()]
    except av.FFmpegError:
        return None
    text = " ".join(filter(None, (plain_cue(piece.decode("utf-8", "replace")) for piece in pieces)))
    length = float(packet.duration * packet.time_base) if packet.duration else 0.0
    end = begin + max(0.0, length)
    if not text or end < 0 or end == 0 < length:
        return None  # over before the clock starts
    begin = max(0.0, begin)
    return TimedText(begin, max(begin, end), "subtitle", text)


def ended(cues: Sequence[TimedText]) -> list[TimedText]:
    """A cue that does not say when it ends, and has its start there, stays until the next one."""
    found = []
    for cue, following in zip_longest(cues, cues[1:]):
        if cue.end > cue.start:
            found.append(cue)
            continue
        limit = cue.start + UNKNOWN_END
        end = min(limit, following.start) if following is not None and following.start > cue.start else limit
        found.append(replace(cue, end=end))
    return found


ZERO_LENGTH_SECONDS = 1.0
"""A cue that ends when it starts is given this length: an empty interval would never be found."""
ROLL_GAP = 0.1
ROLL_FLASH = 0.05
MAX_CUE_CHARACTERS = 5000


@dataclass(frozen=True, slots=True)
class Cue:
    """Half-open [start, end) in seconds; `lines` are plain and not empty."""

    start: float
    end: float
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Cues:
    """The cues of a subtitle file."""

    cues: tuple[Cue, ...]
    """Sorted by start, then end; they may overlap."""
    skipped: int
    """Cues that could not be understood."""
    frame_rate: int = 0
    """At which times in frames were read; 0 where they are in seconds."""


_TIME = r"(?:(\d{1,4}):)?(\d{1,2}):(\d{1,2})(?:(?:[.,]|:(?=\d{3}))(\d{1,6}))?"
_TIMING = re.compile(rf"\s*{_TIME}\s*-{{1,2}}>\s*{_TIME}(?:\s.*)?")
_FRAMES = r"(\d{1,4}:\d{1,2}:\d{1,2}):(\d{2})"
_FRAME_TIMING = re.compile(rf"^\s*{_FRAMES}\s*-{{1,2}}>\s*{_FRAMES}(?!\S)", re.MULTILINE)
FRAME_RATES = (25, 30, 50, 60, 100)
"""Times in frames are read at the first of these that is high enough; 24 and 25 differ by 40 ms at most."""
_TIMING_LINE = re.compile(
    r"\s*\d[\d:.,\s]*-{1,2}>|\s*[^\s:]{1,4}:[^\s:]{1,2}:\S+\s*-{1,2}>|.*-{1,2}>\s*\d{1,2}:\d"
)
"""Also one that cannot be understood, as with letters O for zeros; an arrow between words is text."""
_TIMES = r"[ \t]*\d[\d \t.,\uff0c\uff0e]*[:\uff1a][\d \t:.,\uff1a\uff0c\uff0e]*"
_ARROW_LINE = re.compile(rf"^{_TIMES}(?:[-\u2010-\u2015\u2212]{{1,2}}[ \t]*>|\u2192){_TIMES}$", re.MULTILINE)
"""A timing as word processors and translators write it, with an arrow of one sign, blanks and wide signs."""
_TIMING_ALONE = re.compile(rf"\s*{_TIME}\s*-{{1,2}}>\s*{_TIME}(?:\s+[^\s:]+:\S+)*\s*")
"""A timing with nothing but settings behind it."""
_NO_CUE = re.compile(r"NOTE(?:\s.*)?|(?:STYLE|REGION)\s*")
"""The first line of a block of WebVTT that is not shown."""
_TTML = re.compile(r"(?:<\?xml[^>]*>\s*|<!doctype[^>\[]*>\s*|<!--.*?-->\s*)*<(?:\w+:)?tt[\s>]", re.DOTALL)
_ASS_TIME = re.compile(r"\s*(\d{1,4}):(\d{1,2}):(\d{1,2})(?:[.,:](\d{1,6}))?\s*")


def parse_subtitles(name: str, text: str) -> Cues:
    """Parse by content first (a `.srt` may open with `WEBVTT`), then by the suffix of `name`."""
    text = _ARROW_LINE.sub(_timing, text)
    head, suffix = text.lstrip("\ufeff \n")[:2000].lower(), name.lower()[-4:]
    if _TTML.match(head):
        return _sorted(_ttml_cues(text))
    if head.startswith("[script info]") or (suffix in (".ass", ".ssa") and not head.startswith("webvtt")):
        return _sorted(_ass_cues(text))
    if head.startswith("webvtt") or suffix == ".vtt":
        return _sorted(_vtt_cues(text))
    frames = [int(frame) for found in _FRAME_TIMING.findall(text) for frame in (found[1], found[3])]
    rate = next((rate for rate in FRAME_RATES if rate > max(frames, default=rate)), 0)
    text = _FRAME_TIMING.sub(lambda found: _in_seconds(found, rate), text)
    # A cue of SubRip runs to the next timing line, so that blank lines inside it do no harm.
    return replace(_sorted(_timed_cues(text.split("\n"), with_ids=False)), frame_rate=rate)


def _in_seconds(line: re.Match[str], rate: int) -> str:
    start, first, end, last = line.groups()
    return f"{start}.{1000 * int(first) // rate:03d} --> {end}.{1000 * int(last) // rate:03d}"


def _timing(line: re.Match[str]) -> str:
    plain = unicodedata.normalize("NFKC", line[0])
    return " --> ".join("".join(part.split()) for part in re.split("[^\\d\\s:.,]+", plain))


def _vtt_cues(text: str) -> Iterator[Cue | None]:
    """WebVTT. A block with a timing is a cue, whatever its id; NOTE, STYLE and REGION blocks without one in
    their second line are skipped, and any other goes on with the cue before it."""
    spoken: list[list[str]] = []
    going_on = False
    for block in _blocks(text.split("\n")):
        timings = _timings(block, with_ids=True)
        if _NO_CUE.fullmatch(block[0]) and timings[:1] != [1]:
            going_on = False
        elif timings:
            spoken.append(block)
            going_on = True
        elif going_on:
            spoken[-1] += ["", *block]
    return (cue for block in spoken for cue in _timed_cues(block, with_ids=True))


def _timed_cues(lines: Sequence[str], *, with_ids: bool) -> Iterator[Cue | None]:
    """A cue for each timing line, or None where that line cannot be understood.

    `with_ids`: whether a last line after a blank is the id of the next cue; else only a number is.
    """
    starts = _timings(lines, with_ids=with_ids)
    for at, until in itertools.pairwise([*starts, len(lines)]):
        body = lines[at + 1 : until]
        near = bool(body and body[-1].strip())
        while body and not body[-1].strip():
            body = body[:-1]
        is_own = len(body) > 1 and not body[-2].strip()
        is_number = body and body[-1].strip().isdecimal() and (near or is_own)
        if until < len(lines) and (is_number or (with_ids and near and is_own)):
            body = body[:-1]
        yield _file_cue(lines[at], body)


def _timings(lines: Sequence[str], *, with_ids: bool) -> list[int]:
    """The lines that begin cues. Within the text of one only a whole timing does: "5 --> 6" is text."""
    found = []
    for at, line in enumerate(lines):
        if "->" not in line:
            continue
        before = lines[at - 1].strip() if at else ""
        begins = not before or before.isdecimal() or (with_ids and at == 1)
        if _TIMING_LINE.match(line) if begins else _TIMING_ALONE.fullmatch(line):
            found.append(at)
    return found


def _ass_cues(text: str) -> Iterator[Cue | None]:
    """Advanced SubStation Alpha: Dialogue lines of [Events], in the order that its Format line gives."""
    fields = ["layer", "start", "end", "style", "name", "marginl", "marginr", "marginv", "effect", "text"]
    section = ""
    for line in text.split("\n"):
        line = line.strip()
        if line.startswith("[") and line.endswith("]"):
            section = line.lower()
        elif section not in ("[events]", ""):
            continue
        elif line.lower().startswith("format:"):
            fields = [part.strip().lower() for part in line.partition(":")[2].split(",")]
        elif line.lower().startswith("dialogue:"):
            parts = line.partition(":")[2].split(",", len(fields) - 1)
            yield _dialogue(dict(zip(fields, parts, strict=False)))


def _plain_ass(text: str) -> tuple[str, ...]:
    """Lines of an ASS text field without override blocks and drawings."""
    text = _OVERRIDE.sub("", _DRAWING.sub("", text)).replace("\\h", " ").replace("\\n", "\\N")
    lines = (" ".join(part.split()) for part in text.split("\\N"))
    return tuple(line for line in lines if line)


def _blocks(lines: Sequence[str]) -> Iterator[list[str]]:
    """Runs of lines that are not empty; a line of blanks is one of a cue, as rolling captions have."""
    block: list[str] = []
    for line in lines:
        if line:
            block.append(line)
        elif block:
            yield block
            block = []
    if block:
        yield block


def _file_cue(timing: str, body: Sequence[str]) -> Cue | None:
    match = _TIMING.fullmatch(timing)
    if match is None:
        return None
    start, end = _seconds(*match.groups()[:4]), _seconds(*match.groups()[4:])
    lines = (plain_line(line) for line in "\n".join(body)[:MAX_CUE_CHARACTERS].split("\n"))
    return _checked(start, end, tuple(line for line in lines if line))


def _dialogue(fields: dict[str, str]) -> Cue | None:
    start, end = _ASS_TIME.fullmatch(fields.get("start", "")), _ASS_TIME.fullmatch(fields.get("end", ""))
    if start is None or end is None or "text" not in fields:
        return None
    lines = _plain_ass(fields["text"][:MAX_CUE_CHARACTERS])
    speaker = fields.get("name", fields.get("actor", "")).strip()
    if lines and speaker:
        lines = (f"{speaker}: {lines[0]}", *lines[1:])
    return _checked(_seconds(*start.groups()), _seconds(*end.groups()), lines)


def _seconds(hours: str | None, minutes: str, seconds: str, fraction: str | None) -> float:
    whole = int(hours or 0) * 3600 + int(minutes) * 60 + int(seconds)
    # One division, so that 1:00:00.001 is the float nearest to 3600.001.
    parts = int("1" + "0" * len(fraction or ""))
    return (whole * parts + int(fraction or 0)) / parts


def _checked(start: float, end: float, lines: tuple[str, ...]) -> Cue | None:
    """None for a cue that runs backwards; a zero-length one is given a second."""
    if end < start:
        return None
    return Cue(start, end if end > start else start + ZERO_LENGTH_SECONDS, lines)


def _sorted(found: Iterable[Cue | None]) -> Cues:
    """A cue without text was understood and says nothing: dropped, and not counted as skipped."""
    cues = list(found)
    kept = sorted(
        (cue for cue in dict.fromkeys(cues) if cue and cue.lines), key=lambda cue: (cue.start, cue.end)
    )
    return Cues(tuple(_unrolled(kept)), sum(cue is None for cue in cues))


def _unrolled(cues: Sequence[Cue]) -> Iterator[Cue]:
    """Rolling captions, as automatic ones are, show each line twice or more: the first time is kept.

    A line is a repetition if the cue right before ended with it and this cue either goes on
    after it or only flashes up. Two people who both say "No!" are left alone.
    """
    before: Cue | None = None
    for cue in cues:
        lines = cue.lines
        if before is not None and cue.start - before.end <= ROLL_GAP:
            for count in range(min(len(lines), len(before.lines)), 0, -1):
                goes_on = count < len(lines) or cue.end - cue.start <= ROLL_FLASH
                if goes_on and lines[:count] == before.lines[-count:]:
                    lines = lines[count:]
                    break
        before = cue
        if lines:
            yield Cue(cue.start, cue.end, lines)


# TTML and DFXP, the XML subtitles of streaming services and broadcasters

_CLOCK = re.compile(r"(\d{1,4}):(\d{1,2}):(\d{1,2})(?:\.(\d{1,9})|:(\d{1,3})(?:\.\d+)?)?")
_OFFSET = re.compile(r"(\d{1,12}(?:\.\d{1,9})?)(h|ms|m|s|f|t)")
_HTML_ENTITY = re.compile(r"&(?!(?:amp|lt|gt|quot|apos);)[a-zA-Z]\w{1,30};")
_SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
MAX_DEPTH = 50


def _ttml_cues(text: str) -> Iterator[Cue | None]:
    """The paragraphs of the body of a TTML or DFXP file in its order; None for each whose times cannot be
    understood, and for what is behind a place that is no XML."""
    parser: ElementTree.XMLPullParser[Any] = ElementTree.XMLPullParser(["start"])
    broken = False
    try:
        # It says in which encoding it was, which is not how `str` is. Entities of HTML are none of XML.
        plain = _HTML_ENTITY.sub(lambda found: html.unescape(found[0]), text)
        parser.feed(re.sub(r"\A\s*<\?xml[^>]{0,200}\?>", "", plain))
        parser.close()
    except ElementTree.ParseError:
        broken = True
    events: Iterator[Any] = parser.read_events()
    with suppress(ElementTree.ParseError, StopIteration):
        _, root = next(events)
        yield from _timed_texts(root)
    if broken:
        yield None


def _timed_texts(root: Element) -> Generator[Cue | None, None, float]:
    timed = set[Element]()
    """The elements that hold one with a time of its own."""
    for element in reversed([*root.iter()]):
        names = ("begin", "dur") if _is_sequence(element) else ("begin",)
        if any(each in timed or any(_value(each, name) for name in names) for each in element):
            timed.add(element)
    rate = _number(_value(root, "frameRate"), 30.0)
    multiplier = _value(root, "frameRateMultiplier").replace(":", " ").split()
    if len(multiplier) == 2:
        rate *= _number(multiplier[0], 1.0) / _number(multiplier[1], 1.0)
    units = {**_SECONDS, "f": 1 / rate, "t": 1 / _number(_value(root, "tickRate"), rate)}
    return _cues(root, 0.0, units, timed, 0)


def _is_sequence(element: Element) -> bool:
    """Whether what is in it comes one after the other, each timed from the end of the one before."""
    return _value(element, "timeContainer") == "seq"


def _cues(
    element: Element, start: float, units: dict[str, float], timed: Collection[Element], depth: int
) -> Generator[Cue | None, None, float]:
    """Those below an element; times count from those of what they are in. Returns when the last has ended."""
    last = start
    for each in element if depth < MAX_DEPTH else ():
        origin = last if _is_sequence(element) else start
        begun = _time(_value(each, "begin") or "0s", units)
        lasts, until = _time(_value(each, "dur"), units), _time(_value(each, "end"), units)
        end = until if until is not None or lasts is None or begun is None else begun + lasts
        if each in timed or _name(each) not in ("p", "span"):
            within = yield from _cues(each, origin + (begun or 0.0), units, timed, depth + 1)
            last = max(last, within if end is None else origin + end)
            continue
        lines = (" ".join(line.split()) for line in "".join(_text(each)).split("\n"))
        said = tuple(filter(None, lines))
        if begun is not None and end is not None:
            yield _checked(origin + begun, origin + end, said)
            last = max(last, origin + end)
        elif said:
            yield None
    return last


def _text(element: Element, depth: int = 0) -> Iterator[str]:
    """The text of an element, with a line end for each `br`; what is nested more deeply is left out."""
    yield " ".join(re.split(r"\s+", element.text or ""))
    for each in element if depth < MAX_DEPTH else ():
        if _name(each) == "br":
            yield "\n"
        elif _name(each) not in ("metadata", "set"):
            yield from _text(each, depth + 1)
        yield " ".join(re.split(r"\s+", each.tail or ""))


def _time(text: str, units: dict[str, float]) -> float | None:
    """Seconds; None for what is no time."""
    if found := _CLOCK.fullmatch(text.strip()):
        hours, minutes, seconds, fraction, frames = found.groups()
        whole = int(hours) * 3600 + int(minutes) * 60 + int(seconds)
        return whole + float(f"0.{fraction or 0}") + int(frames or 0) * units["f"]
    if found := _OFFSET.fullmatch(text.strip()):
        return float(found[1]) * units[found[2]]
    return None


def _name(element: Element) -> str:
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _value(element: Element, name: str) -> str:
    return next((held for key, held in element.attrib.items() if key.rpartition("}")[2] == name), "")


def _number(text: str, default: float) -> float:
    return float(text) if re.fullmatch(r"0*[1-9]\d{0,11}(?:\.\d{1,9})?", text) else default
