"""Files beside a video that describe it: subtitle files and yt-dlp's `.info.json`."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from corpora.errors import DamagedFile
from corpora.kinds import INFO
from corpora.passages.document import Document, PageStart, make_document, read_within
from corpora.records import Problem, SubtitleTrack
from corpora.sidecar_names import subtitle_track
from corpora.text_decoding import clean, decode, guess_encoding, one_line
from corpora.video.records import TimedText
from corpora.video.subtitles import LAST_STOP, LONGEST, PAUSE, parse_subtitles, side_by_side

MAX_SUBTITLE_BYTES = 64 * 2**20
MAX_INFO_BYTES = 256 * 2**20
MAX_TAGS = 200


@dataclass(frozen=True, slots=True)
class Sidecars:
    """Texts and metadata of the files beside a video."""

    texts: tuple[TimedText, ...] = ()
    """Subtitles and chapters, by start, end, kind and text; the same line in two files counts once."""
    title: str = ""
    description: str = ""
    tags: tuple[str, ...] = ()
    """Without repetitions, in their own order; yt-dlp's categories come last."""
    language: str = ""
    tracks: tuple[SubtitleTrack, ...] = ()
    """Tracks of the files with subtitles."""
    notes: tuple[str, ...] = ()
    """One line for each file that gave nothing, or not all it held; each begins with the file's name."""


def merge_sidecars(parts: Sequence[Sidecars]) -> Sidecars:
    """All texts and notes of files beside one video; the facts of the last that states any."""
    texts = set(side_by_side([part.texts for part in parts]))
    stating = [part for part in parts if part.title or part.description or part.tags or part.language]
    ordered = sorted(texts, key=lambda text: (text.start, text.end, text.kind, text.text))
    tracks = tuple(dict.fromkeys(track for part in parts for track in part.tracks))
    notes = tuple(note for part in parts for note in part.notes)
    found = stating[-1] if stating else Sidecars()
    return replace(found, texts=tuple(ordered), tracks=tracks, notes=notes)


def read_sidecar(path: str, media: Sequence[str] = ()) -> Sidecars:
    """Texts and facts of one file; of a bad one `notes` say so. `media`: as of `subtitle_track`. Raises
    `UnsupportedFile` for one too large, `OSError` for one that cannot be read."""
    name = Path(path).name
    found = _read_info(path) if name.lower().endswith(INFO) else _read_subtitles(path, media)
    return replace(found, notes=tuple(f"{name}: {note}" for note in found.notes))


def read_document(path: str) -> Iterator[Document | Problem]:
    """Subtitles without a video as one document without a title: what is said, in paragraphs between the
    pauses. Its pages are the seconds at which its cues begin."""
    found = read_sidecar(path)
    text, starts = "", list[PageStart]()
    last, unended = 0.0, 0
    for cue in found.texts:
        said = one_line(clean(cue.text))
        if not said:
            continue
        if text and (cue.start - last > PAUSE or unended > LONGEST):
            text, unended = f"{text}\n\n", 0
        elif text:
            text += " "
        if not starts or starts[-1].number < int(cue.start):
            starts.append(PageStart(len(text), int(cue.start)))
        text += said
        ended = LAST_STOP.match(said)
        last, unended = max(last, cue.end), len(said) - ended.end() if ended else unended + len(said)
    document = make_document("", text, pages=starts)
    if document is None:
        raise DamagedFile(f"{path}: no subtitles in it")
    yield document
    for note in found.notes:
        yield Problem(path, note.partition(": ")[2], "indexed the rest")


def _read_subtitles(path: str, media: Sequence[str]) -> Sidecars:
    data = read_within(path, MAX_SUBTITLE_BYTES)
    if not data.strip():
        return Sidecars(notes=("empty subtitle file",))
    track = subtitle_track(Path(path).name, media)
    encoding = guess_encoding(data, track.language)
    parsed = parse_subtitles(path, clean(encoding.decode(data)))
    texts = [TimedText(cue.start, cue.end, "subtitle", " ".join(cue.lines), track) for cue in parsed.cues]
    if not texts:
        return Sidecars(notes=("no usable subtitles in it",))
    notes = []
    if parsed.skipped:
        notes.append(f"{parsed.skipped} malformed cue{'s' if parsed.skipped > 1 else ''} skipped")
    if parsed.frame_rate:
        notes.append(f"its times are in frames; {parsed.frame_rate} a second are assumed")
    if encoding.doubt:
        notes.append(encoding.doubt)
    return Sidecars(tuple(texts), tracks=(track,), notes=tuple(notes))


def _read_info(path: str) -> Sidecars:
    try:
        info = json.loads(decode(read_within(path, MAX_INFO_BYTES)))
    except (ValueError, RecursionError):
        return Sidecars(notes=("not valid JSON",))
    if not isinstance(info, dict):
        return Sidecars(notes=("not a JSON object",))
    tags = [*_strings(info.get("tags")), *_strings(info.get("categories"))]
    return Sidecars(
        tuple(_chapters(info)),
        _line(info.get("title")) or _line(info.get("fulltitle")),
        clean(info["description"]).strip() if isinstance(info.get("description"), str) else "",
        tuple(dict.fromkeys(tags))[:MAX_TAGS],
        _line(info.get("language")),
    )


def _chapters(info: dict[str, Any]) -> list[TimedText]:
    """Chapters with a title; an end that is missing is the next chapter's start, or the video's."""
    given = info.get("chapters")
    chapters = [chapter for chapter in given if isinstance(chapter, dict)] if isinstance(given, list) else []
    following = [chapter.get("start_time") for chapter in chapters[1:]] + [info.get("duration")]
    found = []
    # Without chapters `following` holds the duration alone.
    for chapter, next_start in zip(chapters, following, strict=False):
        start, end = _number(chapter.get("start_time")), _number(chapter.get("end_time"))
        end = end if end is not None else _number(next_start)
        title = _line(chapter.get("title"))
        if title and start is not None and end is not None and 0 <= start < end:
            found.append(TimedText(start, end, "chapter", title))
    return found


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) < 1e9 and math.isfinite(value) else None


def _line(value: object) -> str:
    return one_line(value) if isinstance(value, str) else ""


def _strings(value: object) -> list[str]:
    return [line for line in map(_line, value) if line] if isinstance(value, list) else []
