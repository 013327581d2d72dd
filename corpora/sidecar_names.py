"""Which sidecars belong to which media files of a folder, by their names.

A sidecar has the name of its file, and perhaps its language and other marks: `talk.en.srt`, `talk_en.srt`,
`talk.English [SDH].srt`. Names compare without regard to case, and composed or decomposed (NFC, NFD).
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache

from corpora.kinds import is_photograph, is_subtitles, kind_of, sidecar_base
from corpora.languages import LANGUAGES, language_code
from corpora.records import SubtitleTrack

_FORCED = frozenset({"forced", "foreign"})
_IMPAIRED = frozenset({"sdh", "cc", "hi", "hearing", "impaired", "closedcaptions", "closed"})
_OTHERS = (
    "default full auto orig dub sub subs subtitle subtitles caption captions brazilian european latin "
    "american simplified traditional"
)
_KNOWN = _FORCED.union(_IMPAIRED, _OTHERS.split(), LANGUAGES)
"""What a name says of subtitles: their language and which form of it, and for whom they are."""
_TWO, _TWO_OR_THREE = re.compile("[a-z]{2}"), re.compile("[a-z]{2,3}")
_LAST_PARTS = (
    re.compile(r"(.+?)([\s._-]*[\[(]?)([^\W_]+)[\])]?"),
    re.compile(r"(.+?)([\s._-]+)([^\W_]{2,3})[_-][^\W_]{1,8}"),
    re.compile(r"(.+?)(\.|[\s._-]*\()(\d{1,2})\)?"),
)
"""A name, what is before its last part, and that part: a mark or a language, perhaps with its region, or the
number of a copy."""
_REGION = re.compile(r"(?<=\.[a-z]{2})-[a-z]{2}(?![^\W_])|(?<=[._ -][a-z]{2})[_-][A-Z]{2}(?![^\W_])")


def spelled(name: str) -> str:
    """A name as it is compared: composed, and without regard to case."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def sidecar_owners(base: str, media: Mapping[str, Sequence[str]]) -> Sequence[str]:
    """The media files beside it that a sidecar belongs to; the longest fitting name wins.

    `media` maps a name (`video.mp4`) and a stem (`video`), both `spelled`, to file names. Of names that
    differ in case alone those that are written as the sidecar go first. Languages and marks
    (`video.pt-BR.forced.srt`) are taken off one by one.
    """
    rest: str | None = spelled(base)
    while rest is not None:
        if rest in media:
            same = [name for name in media[rest] if name.startswith(base[: len(rest)])]
            return same or media[rest]
        cut = _cut_mark(rest)
        rest = cut[0] if cut else None
    return []


def subtitle_track(name: str, media: Collection[str] = (), source: str = "") -> SubtitleTrack:
    """What the name of a sidecar says of its subtitles behind the name of its video.

    `media`: names and stems of files it may belong to. `source`: default what is behind theirs, or the name.
    """
    name, owners = unicodedata.normalize("NFC", name), set(map(spelled, media))
    own = next((end for end in range(len(name), 0, -1) if spelled(name[:end]) in owners), 0)
    rest, words = spelled(_REGION.sub("", f"x{(sidecar_base(name) or name)[own:]}")), list[str]()
    while cut := _cut_mark(rest):
        rest, word = cut
        words.append(word)
    languages = [word for word in words if word in LANGUAGES or (_TWO.fullmatch(word) and word not in _KNOWN)]
    # Beside another language `hi` says for whom they are.
    language = min(languages, key=lambda word: (word == "hi", word not in LANGUAGES), default="")
    return SubtitleTrack(
        source or name[own:],
        language_code(language),
        not _FORCED.isdisjoint(words),
        any(word in _IMPAIRED and word != language for word in words),
    )


def _cut_mark(name: str) -> tuple[str, str] | None:
    """A spelled name without the language or mark at its end, and that; None where there is none."""
    for pattern in _LAST_PARTS:
        found = pattern.fullmatch(name)
        # After a dot nothing else is written in three letters.
        any_language = _TWO_OR_THREE if found and found[2] == "." else _TWO
        if not found or not found[2]:
            continue
        if found[3] in _KNOWN or any_language.fullmatch(found[3]) or pattern is _LAST_PARTS[2]:
            return found[1], found[3]
    return None


def sidecars_by_owner(names: Iterable[str], beside: dict[str, str]) -> dict[str, list[str]]:
    """Paths of the sidecars of each media file among `names`; a video goes before its sound track.

    `beside`: the path of each sidecar, by its name. A photograph has no subtitles.
    """
    owners: dict[str, list[str]] = {}
    media = [name for name in sorted(names) if kind_of(name) in ("video", "audio")]
    for name in media:
        owners.setdefault(spelled(name), []).append(name)
    for name in media:
        owners.setdefault(spelled(os.path.splitext(name)[0]), []).append(name)
    found: dict[str, list[str]] = {}
    for name in sorted(beside):
        base = sidecar_base(name)
        if base is None:
            continue
        belonging = sidecar_owners(base, owners)
        if is_subtitles(name):
            belonging = [owner for owner in belonging if not is_photograph(owner)]
        videos = [owner for owner in belonging if kind_of(owner) == "video"]
        for owner in videos or belonging:
            found.setdefault(owner, []).append(beside[name])
    return found


@lru_cache(maxsize=8)
def sidecars_among(names: tuple[str, ...]) -> Mapping[str, list[str]]:
    """The sidecars of each media file of a folder, by name; kept, for each answer that cites a file asks."""
    return sidecars_by_owner(names, {name: name for name in names})
