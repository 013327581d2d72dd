"""The five constraints of ShotFinder, alone or together: as options, as free words, and held against a shot.

A shot meets a constraint by what was measured of it when its video was indexed:
its tone, its style, the sound of most of its seconds, and the lines of its
picture. What comes before and after it, nothing measures; the reasoner is asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from pydantic import PositiveInt
from pydantic.dataclasses import dataclass as validated

from corpora.records import AudioClass, Shot, Style, Tone, vertical_resolution
from indexers.frame_measures import tone_of
from rag.errors import UsageError
from rag.reasoners.attributes import ATTRIBUTES
from rag.reasoners.roles.material import ConstraintKind, Memory

if TYPE_CHECKING:
    from corpora.records import SoundTrack, Video
    from rag.library import Library

MOSTLY = 0.5
"""Share of a shot's seconds that must sound as asked."""
NEARLY = 3.0
"""b* units between tones within which a measurement denies nothing."""
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
        """Those that are asked for, in a fixed order."""
        asked: tuple[tuple[ConstraintKind, bool], ...] = (
            ("color", self.color is not None),
            ("style", self.style is not None),
            ("audio", self.audio is not None),
            ("resolution", self.min_height is not None or self.resolution is not None),
            ("temporal", bool(self.after or self.before)),
        )
        return tuple(kind for kind, wanted in asked if wanted)

    def worded(self) -> str:
        """As text for the reasoner; the temporal one has its own place in a `Memory`."""
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

    def without(self, kind: ConstraintKind) -> Constraints:
        """The others alone; free words go with their kind."""
        several = {"resolution": ("min_height", "resolution"), "temporal": ("after", "before")}
        wording = "" if kind in self.kinds and kind != "temporal" else self.wording
        unset: dict[str, Any] = dict.fromkeys(several.get(kind, (kind,)), "" if kind == "temporal" else None)
        return replace(self, wording=wording, **unset)

    def options(self) -> dict[str, str | int]:
        """What is set, by name."""
        return {each.name: value for each in fields(self) if (value := getattr(self, each.name))}


@dataclass(frozen=True, slots=True)
class Check:
    """One constraint held against one shot."""

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
    auditory = ""
    if constraints.audio is not None:
        auditory = constraints.wording or ATTRIBUTES["audio"].phrases[constraints.audio]
    return Memory(
        key_moment=description,
        before=constraints.after,
        after=constraints.before,
        auditory_memory=auditory,
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


def _check_tone(wanted: Tone, shot: Shot | None) -> Check:
    """A light that is nearly of the tone asked for is not denied."""
    check = _check_equal("color", wanted, shot.tone if shot is not None else None)
    near = shot is not None and any(tone_of(shot.warmth + step) == wanted for step in (-NEARLY, NEARLY))
    return replace(check, holds=None) if check.holds is False and near else check


def _check_equal(kind: ConstraintKind, wanted: str, found: str | None) -> Check:
    return Check(kind, wanted, found or "", None if found is None else found == wanted)


def _audio_classes(sound: SoundTrack | None, shot: Shot | None) -> list[str]:
    """The classes of the seconds that are in the shot by half or more; at least the one of its middle."""
    if sound is None or shot is None or not sound.classes:
        return []
    first, last = round(shot.start), round(shot.end)
    middle = min(len(sound.classes) - 1, int((shot.start + shot.end) / 2))
    inside = sound.classes[first:last] or sound.classes[middle : middle + 1]
    return [one for one in inside if one is not None]


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


Span = tuple[float, float]
STEP = 0.5
"""Seconds between the frames that a library keeps."""


@dataclass(frozen=True, slots=True)
class Measures:
    """Of one video; nothing where the index does not hold it."""

    video: Video | None = None
    shots: tuple[Shot, ...] = ()
    sound: SoundTrack | None = None
    trusted: bool = True
    """Whether tone, style and sound, which classifiers say, decide; the lines of a picture always do."""

    def checks(self, constraints: Constraints, shot: Shot | None) -> tuple[Check, ...]:
        """Each measurable constraint against what the index says of the shot; temporal ones are left out."""
        exact = ("resolution",)
        return tuple(
            check if self.trusted or check.kind in exact else replace(check, holds=None)
            for check in self._checks(constraints, shot)
        )

    def _checks(self, constraints: Constraints, shot: Shot | None) -> Iterator[Check]:
        video = self.video
        if constraints.color:
            yield _check_tone(constraints.color, shot)
        if constraints.style:
            yield _check_equal("style", constraints.style, shot.style if shot is not None else None)
        if constraints.audio:
            silent = video is not None and not video.audio
            classes = ["silence"] if silent else _audio_classes(self.sound, shot)
            share = classes.count(constraints.audio) / len(classes) if classes else None
            most = max(sorted(set(classes)), key=classes.count) if classes else ""
            yield Check("audio", constraints.audio, most, None if share is None else share >= MOSTLY)
        lines = vertical_resolution(video.width, video.height) if video is not None and video.height else None
        found = "" if lines is None else f"{lines}p"
        if constraints.min_height:
            enough = None if lines is None else lines >= constraints.min_height
            yield Check("resolution", f"at least {constraints.min_height}p", found, enough)
        if constraints.resolution:
            same = None if lines is None else _tier(lines) == _tier(constraints.resolution)
            yield Check("resolution", f"{constraints.resolution}p", found, same)

    def denied(self, constraints: Constraints, shot: Shot | None) -> Check | None:
        """The first constraint that a measurement denies."""
        return next((check for check in self.checks(constraints, shot) if check.holds is False), None)

    def fits(self, constraints: Constraints) -> tuple[Shot, ...]:
        """The shots that none of the measurable constraints is denied of."""
        return tuple(shot for shot in self.shots if self.denied(constraints, shot) is None)

    def undecided(self, constraints: Constraints) -> Constraints:
        """Those that nothing measured decides about for every shot."""
        checks = [check for shot in self.shots or (None,) for check in self.checks(constraints, shot)]
        left = constraints
        for kind in {check.kind for check in checks} - {one.kind for one in checks if one.holds is None}:
            left = left.without(kind)
        return left

    def shot_at(self, time: float) -> Shot | None:
        """The shot on screen at `time` seconds; None without one."""
        return next((shot for shot in self.shots if shot.start <= time < shot.end), None)

    def allowed_spans(self, allowed: Sequence[Shot], duration: float) -> list[Span]:
        """Where to look: the allowed shots in time order, as one span where all are; without any, all of it.

        A time is shown by the stored frame nearest to it, so where some shots are not allowed, the others are
        entered half a step inside their cuts.
        """
        if not allowed:
            return [(0.0, duration)]
        if len(allowed) == len(self.shots):
            return [(allowed[0].start, allowed[-1].end)]
        rooms = [STEP / 2 if shot.end - shot.start > 2 * STEP else 0.0 for shot in allowed]
        return [(shot.start + room, shot.end - room) for shot, room in zip(allowed, rooms, strict=True)]

    def denial(self, constraints: Constraints) -> str:
        """What denies most of the shots, or the video as a whole; empty where nothing does."""
        found = (self.denied(constraints, shot) for shot in self.shots or (None,))
        reasons = [f"{one.kind}: wanted {one.wanted}, measured {one.found}" for one in found if one]
        return max(sorted(set(reasons)), key=reasons.count, default="")


def measures_of(library: Library | None, video_id: str, *, trusted: bool = True) -> Measures:
    """The stored measurements of a video; `trusted`: of `Measures`."""
    if library is None:
        return Measures()
    try:
        video = library.engine.reader.video(video_id)
    except KeyError:
        return Measures()
    shots, sound = library.shots(video_id), library.sound_track(video_id)
    return Measures(video, shots, sound, trusted)
