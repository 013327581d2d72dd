"""Which names are media, passages or sidecars: the one list that scanning goes by."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Literal

from corpora.formats import format_of_head, has_reader

FileKind = Literal["video", "audio", "passages"]

VIDEO = (
    *(".mp4", ".m4v", ".mov", ".qt", ".mkv", ".webm", ".avi", ".divx", ".mpg", ".mpeg", ".mpe", ".m1v"),
    *(".m2v", ".ts", ".mts", ".m2ts", ".m2t", ".vob", ".wmv", ".asf", ".flv", ".f4v", ".3gp", ".3g2"),
    *(".ogv", ".ogm", ".mxf", ".gif", ".dv", ".rm", ".rmvb", ".h264", ".264", ".hevc", ".h265", ".265"),
    *(".y4m", ".ivf", ".mjpeg", ".mjpg", ".nut", ".wtv"),
)
PHOTOGRAPHS = (".jpg", ".jpeg", ".png", ".webp", ".tif", ".tiff", ".bmp", ".heic", ".heif", ".avif")
"""Videos of one frame. One that is named as a video or sound beside it is its cover."""
AUDIO = (
    *(".mp3", ".m4a", ".m4b", ".aac", ".flac", ".wav", ".ogg", ".oga", ".opus", ".wma", ".aif", ".aiff"),
    *(".aifc", ".ac3", ".eac3", ".mka", ".amr", ".au", ".caf"),
)

SAVE_AS = {
    suffix: kind
    for kind, suffixes in {
        "PDF or HTML": ".doc .rtf .pages .ppt .key .mobi .azw3 .djvu .tex",
        "XLSX or CSV": ".xls .xlsb .numbers",
        "EML (.eml)": ".msg .mbox",
        "SubRip (.srt)": ".lrc .sub .sbv .smi .stl",
        "JPEG": ".dng .nef .cr2 .cr3 .arw",
        "MP4": ".swf .mod .tod .insv .braw .r3d",
    }.items()
    for suffix in suffixes.split()
}
"""By suffix of a file that is not read, the format to save it in so that it is."""

INFO = ".info.json"
"""The end of the name of a file in which yt-dlp writes facts of a video, beside it."""
SUBTITLES = (".srt", ".vtt", ".ass", ".ssa", ".ttml", ".dfxp")
SIDECARS = (INFO, *SUBTITLES)
OWNED = "to give them to a video, name them like it: talk.mp4 with talk.srt or talk.en.srt"

BYTES = "application/octet-stream"
MEDIA_TYPES = {
    suffix: name
    for name, suffixes in {
        "video/mp4": ".mp4 .m4v",
        "video/quicktime": ".mov .qt",
        "video/matroska": ".mkv",
        "video/webm": ".webm",
        "video/x-msvideo": ".avi .divx",
        "video/mpeg": ".mpg .mpeg .mpe .m1v .m2v .vob",
        "video/mp2t": ".ts .mts .m2ts .m2t",
        "video/x-ms-wmv": ".wmv",
        "video/x-ms-asf": ".asf",
        "video/x-flv": ".flv .f4v",
        "video/3gpp": ".3gp",
        "video/3gpp2": ".3g2",
        "video/ogg": ".ogv .ogm",
        "application/mxf": ".mxf",
        "image/gif": ".gif",
        "image/jpeg": ".jpg .jpeg",
        "image/png": ".png",
        "image/webp": ".webp",
        "image/tiff": ".tif .tiff",
        "image/bmp": ".bmp",
        "image/heic": ".heic",
        "image/heif": ".heif",
        "image/avif": ".avif",
        "audio/mpeg": ".mp3",
        "audio/mp4": ".m4a .m4b",
        "audio/aac": ".aac",
        "audio/flac": ".flac",
        "audio/wav": ".wav",
        "audio/ogg": ".ogg .oga .opus",
        "audio/matroska": ".mka",
    }.items()
    for suffix in suffixes.split()
}
"""A table of our own: what `mimetypes` knows depends on the machine."""


def _suffix(name: str) -> str:
    """As `os.path.splitext`, lower case; a name that is nothing but dots and a word has none."""
    stem, dot, suffix = name.rpartition(".")
    return f".{suffix.lower()}" if dot and stem.strip(".") else ""


def kind_of(name: str) -> FileKind | None:
    """The kind of a file by its name."""
    suffix = _suffix(name)
    if suffix in VIDEO or suffix in PHOTOGRAPHS:
        return "video"
    if suffix in AUDIO:
        return "audio"
    return "passages" if has_reader(suffix) else None


UNNAMED = ("", ".ps", ".bin", ".dat")
"""Suffixes that do not say what a file is: its first bytes do."""
HEAD_BYTES = 512
_HEADS: tuple[tuple[bytes, int, FileKind], ...] = (
    *((mark, 4, "video") for mark in (b"ftyp", b"moov")),
    *((mark, 8, "video") for mark in (b"AVI ",)),
    *((mark, 8, "audio") for mark in (b"WAVE", b"AIFF", b"AIFC")),
    *((mark, 0, "video") for mark in (b"\x1aE\xdf\xa3", b"FLV\x01", b"\x30\x26\xb2\x75", b"YUV4MPEG2")),
    *((mark, 0, "video") for mark in (b"\x00\x00\x01\xba", b"\x00\x00\x01\xb3", b"GIF87a", b"GIF89a")),
    *((mark, 0, "audio") for mark in (b"ID3", b"fLaC", b"OggS")),
)


def is_photograph(name: str) -> bool:
    """Whether a name is one of a photograph."""
    return _suffix(name) in PHOTOGRAPHS


def is_kind_unnamed(name: str) -> bool:
    """Whether a name leaves open what the file is."""
    return _suffix(name) in UNNAMED


def kind_of_head(head: bytes) -> FileKind | None:
    """The kind of a file by its first `HEAD_BYTES` bytes; None where no kind begins so."""
    if head[:1] == head[188:189] == head[376:377] == b"G":
        return "video"
    media = next((kind for mark, at, kind in _HEADS if head.startswith(mark, at)), None)
    return media or ("passages" if format_of_head(head) else None)


def media_type(path: str) -> str:
    """The Internet media type of a file by its ending; bytes of no known kind for any other."""
    return MEDIA_TYPES.get(_suffix(os.path.basename(path)), BYTES)


def sidecar_base(name: str, suffixes: Sequence[str] = SIDECARS) -> str | None:
    """`video.en.srt` -> `video.en`; None where the name has none of the suffixes."""
    lower = name.lower()
    for suffix in suffixes:
        if lower.endswith(suffix) and len(name) > len(suffix):
            return name[: -len(suffix)]
    return None


def is_subtitles(name: str) -> bool:
    """Whether a name is one of a file of subtitles."""
    return sidecar_base(name, SUBTITLES) is not None


def why_ignored(path: str) -> str:
    """Why a file that was met on a walk is not indexed."""
    name = os.path.basename(path)
    if sidecar_base(name) is not None:
        return "belongs to no video beside it"
    if is_photograph(name):
        return "named as the video or sound beside it, whose cover it is"
    return why_unread(path)


def why_unread(path: str) -> str:
    """Why no reader takes a file of this name, and what to save it as, where that is known."""
    suffix = _suffix(os.path.basename(path))
    if suffix in SAVE_AS:
        return f"{suffix} files are not read; save it as {SAVE_AS[suffix]}"
    if suffix == ".json":
        return "no reader knows this kind of file; a list of objects is read as JSON Lines (.jsonl)"
    return "no reader knows this kind of file"


def lines_on_ignored(ignored: Iterable[str]) -> tuple[str, ...]:
    """What to do about ignored files: a line for each kind of document, subtitles or video that is to be
    saved as another."""
    by_suffix: dict[str, list[str]] = {}
    for path in sorted(ignored):
        if sidecar_base(path) is None and _suffix(os.path.basename(path)) in SAVE_AS:
            by_suffix.setdefault(_suffix(os.path.basename(path)), []).append(path)
    return tuple(
        f"{paths[0]}: {why_ignored(paths[0])}"
        if len(paths) == 1
        else f"{len(paths)} {suffix} files are not read, such as {paths[0]}; save them as {SAVE_AS[suffix]}"
        for suffix, paths in sorted(by_suffix.items())
    )


def line_on_subtitles(paths: Iterable[str]) -> tuple[str, ...]:
    """One line that names subtitles read as documents, for their video may have another name; else none."""
    alone = sorted(filter(is_subtitles, paths))
    if len(alone) > 1:
        return (f"{len(alone)} files of subtitles are read as documents, such as {alone[0]}; {OWNED}",)
    return tuple(f"{path}: subtitles without a video, read as a document; {OWNED}" for path in alone)
