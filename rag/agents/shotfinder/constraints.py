"""The five constraints of ShotFinder, alone or together: as options, as free words, and held against a video.

The lines of a picture are known of an indexed video, and decide. Tone, style and sound are put to the
reasoner as text. What was measured of them is said of the shots found, and only orders these.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from pydantic import PositiveInt
from pydantic.dataclasses import dataclass as validated

from corpora.records import AudioClass, Style, Tone, vertical_resolution
from rag.errors import UsageError
from rag.reasoners.attributes import ATTRIBUTES
from rag.reasoners.roles.material import ConstraintKind, Memory

if TYPE_CHECKING:
    from corpora.records import Shot, SoundTrack, Video
    from rag.library import Library

TIERS = (240, 360, 480, 720, 1080, 1440, 2160, 4320)
THOUSANDS = {"2": 1440, "4": 2160, "8": 4320}
"""Lines of what is called 2K, 4K and 8K."""


@validated(frozen=True, slots=True)
class Constraints:
    """What must hold besides the description; nothing at all by default. Raises `UsageError`."""

    color: Tone | None = None
    style: Style | None = None
    audio: AudioClass | None = None
    min_height: PositiveInt | None = None
    """Vertical resolution at least."""
    resolution: PositiveInt | None = None
    """Vertical resolution, to the next usual one."""
    after: str = ""
    """What comes just before the shot: the shot comes after it."""
    before: str = ""
    """What comes just after the shot."""
    wording: str = ""
    """The constraint in the words of whoever asks; empty: as `worded` puts it."""

    def __post_init__(self) -> None:
        least, exact = self.min_height, self.resolution
        if least is not None and exact is not None and _tier(least) > _tier(exact):
            raise UsageError(f"no frame of {exact}p has at least {least} lines; ask for one of the two")
        for name in ("after", "before"):
            value = getattr(self, name)
            if value and not any(character.isalnum() for character in value):
                raise UsageError(f"{name} {value!r}: it holds no word")

    @property
    def kinds(self) -> tuple[ConstraintKind, ...]:
        """Kinds of constraint that are asked for, in a fixed order."""
        asked: tuple[tuple[ConstraintKind, bool], ...] = (
            ("color", self.color is not None),
            ("style", self.style is not None),
            ("audio", self.audio is not None),
            ("resolution", self.min_height is not None or self.resolution is not None),
            ("temporal", bool(self.after or self.before)),
        )
        return tuple(kind for kind, wanted in asked if wanted)

    def worded(self) -> str:
        """Word the constraints for the reasoner, without the temporal one, which is in `Memory`."""
        if self.wording:
            return self.wording
        parts = [
            ATTRIBUTES["color"].phrases[self.color] if self.color else "",
            ATTRIBUTES["style"].phrases[self.style] if self.style else "",
            f"with {ATTRIBUTES['audio'].phrases[self.audio]}" if self.audio else "",
            f"at least {self.min_height}p" if self.min_height else "",
            f"{self.resolution}p" if self.resolution else "",
        ]
        return ", ".join(part for part in parts if part)

    def without_resolution(self) -> Constraints:
        """The others alone; free words about it go with it."""
        wording = "" if "resolution" in self.kinds else self.wording
        return replace(self, min_height=None, resolution=None, wording=wording)

    def options(self) -> dict[str, str | int]:
        """What is set, by name."""
        return {each.name: value for each in fields(self) if (value := getattr(self, each.name))}


@dataclass(frozen=True, slots=True)
class Check:
    """One constraint held against one shot or its video."""

    kind: ConstraintKind
    wanted: str
    found: str
    """Empty where nothing was measured."""
    holds: bool | None
    """None: not measured, or not decided by what was."""


def memory_of(description: str, constraints: Constraints) -> Memory:
    """The request as the roles take it."""
    kinds = constraints.kinds
    plain = [kind for kind in kinds if kind != "temporal"]
    return Memory(
        key_moment=description,
        before=constraints.after,
        after=constraints.before,
        # A class of sound is in no line of speech: only free words may be.
        auditory_memory=constraints.wording if constraints.audio else "",
        constraint_kind=plain[0] if plain else "temporal" if kinds else "",
        constraint=constraints.worded(),
    )


def read_constraint(kind: ConstraintKind, text: str) -> Constraints:
    """A free description of one constraint, by the words in it; its own words stay with it.

    What is denied ("no speech, only music") does not count. Without a known word only the wording is kept.
    Temporal texts come in two parts, joined by a line break: before, after. Raises nothing.
    """
    plain = " ".join(text.split())
    if kind in ATTRIBUTES:
        named: dict[str, Any] = {kind: next(iter(ATTRIBUTES[kind].named(plain)), None)}
        return Constraints(wording=plain, **named)
    if kind == "resolution":
        return Constraints(resolution=_lines_in(plain), wording=plain)
    if kind == "temporal":
        first, _, second = text.partition("\n")
        return Constraints(after=" ".join(first.split()), before=" ".join(second.split()))
    return Constraints()


def _tier(lines: int) -> int:
    return min(TIERS, key=lambda tier: (abs(tier - lines), tier))


def _lines_in(text: str) -> int | None:
    """ "1080p", "1920x1080", "4K", or the first number of three or four digits."""
    if lines := re.search(r"(\d{3,4})\s*p\b", text, re.IGNORECASE):
        return int(lines[1]) or None
    if size := re.search(r"\b(\d{3,4})\s*[x×*]\s*(\d{3,4})\b", text, re.IGNORECASE):
        return vertical_resolution(int(size[1]), int(size[2]))
    if thousands := re.search(r"\b([248])\s*k\b", text, re.IGNORECASE):
        return THOUSANDS[thousands[1]]
    number = re.search(r"\b(\d{3,4})\b", text)
    return int(number[1]) or None if number else None


@dataclass(frozen=True, slots=True)
class Measures:
    """Measurements of one video; nothing where the index does not hold it."""

    video: Video | None = None
    shots: tuple[Shot, ...] = ()
    sound: SoundTrack | None = None

    def checks(self, constraints: Constraints, start: float, end: float) -> tuple[Check, ...]:
        """Each constraint but the temporal one against what was measured of [start, end) seconds."""
        shot = self.shot_at(start)
        tone, style = ("", "") if shot is None else (shot.tone, shot.style)
        measured: dict[ConstraintKind, str] = {
            "color": tone,
            "style": style,
            "audio": self._sound(start, end),
        }
        named = [
            Check(kind, value, found, found == value if found else None)
            for kind, found in measured.items()
            if (value := getattr(constraints, kind))
        ]
        return (*named, *self.lines(constraints))

    def _sound(self, start: float, end: float) -> str:
        """What most of the seconds of [start, end) sound like; empty where that was not measured."""
        if self.video is not None and not self.video.audio:
            return "silence"
        if self.sound is None:
            return ""
        heard = [one for one in self.sound.classes[int(start) : math.ceil(end)] if one is not None]
        return max(sorted(set(heard)), key=heard.count, default="")

    def lines(self, constraints: Constraints) -> Iterator[Check]:
        """The lines of the picture, which decide."""
        video, least, exact = self.video, constraints.min_height, constraints.resolution
        lines = vertical_resolution(video.width, video.height) if video is not None and video.height else None
        found = "" if lines is None else f"{lines}p"
        if least:
            yield Check("resolution", f"at least {least}p", found, None if lines is None else lines >= least)
        if exact:
            same = None if lines is None else _tier(lines) == _tier(exact)
            yield Check("resolution", f"{exact}p", found, same)

    def shot_at(self, time: float) -> Shot | None:
        """The shot on screen at `time` seconds; None without one."""
        return next((shot for shot in self.shots if shot.start <= time < shot.end), None)


def measures_of(library: Library | None, video_id: str) -> Measures:
    """The stored measurements of a video."""
    if library is None:
        return Measures()
    try:
        video = library.engine.reader.video(video_id)
        return Measures(video, library.shots(video_id), library.sound_track(video_id))
    except KeyError:
        return Measures()
