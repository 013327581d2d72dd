"""What the simulated model perceives of a stretch of video: a share of the truth of its frames.

An event or a piece of decor that is missed is missed in every request, as by a model that cannot name it; a
larger share perceives all that a smaller one does. What is perceived is words: a sentence that a model would
caption it with, and the stems of every wording that the world's catalogue has for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from eval.simulated_model.frames import FrameIndex, Row, Video
from eval.simulated_model.request import Block
from eval.workbench.catalogue import action, kind, place_name, predicate, prop_name, scene, with_article
from eval.workbench.seeds import stable_number
from rag.words import word_set

LOOKS = {
    "warm": "warm orange golden light tone",
    "cold": "cold cool bluish light tone",
    "neutral": "neutral plain natural daylight light tone",
    "live": "live action filmed",
    "flat": "2D animation cartoon drawn flat",
    "shaded": "3D animation rendering",
    "graphics": "pure graphics",
}
"""Words for light and style."""


def draw(*parts: object) -> float:
    """A number in [0, 1) that belongs to the parts: the same parts, the same number."""
    return (stable_number(*parts) % 2**53) / 2**53


@dataclass(frozen=True, slots=True)
class Fact:
    """Something done, said or shown during [start, end] seconds."""

    source: str
    """Name of the block."""
    start: float
    end: float
    sentence: str
    words: frozenset[str]
    """Stems of every wording of it."""
    setting: frozenset[str]
    """Stems of where it is."""
    thing: str = ""
    """Name of the object in use; empty where none is known."""
    kind: str = "seen"
    """`seen`, or the kind of the text that it is."""


@dataclass(frozen=True, slots=True)
class Frame:
    """What is perceived of one frame."""

    time: float
    key: str = ""
    """The key of the current event: frames of one event share it; empty between events."""
    fact: Fact | None = None
    scenery: str = ""
    setting: frozenset[str] = frozenset()
    read: tuple[str, ...] = ()
    """Text on the screen."""

    @property
    def words(self) -> frozenset[str]:
        """Stems of all that it shows but text."""
        return self.setting | (self.fact.words if self.fact else frozenset())


@dataclass(frozen=True)
class View:
    """A block as it is perceived: its frames, and what is done, said and shown in it."""

    block: Block
    frames: tuple[Frame, ...]
    facts: tuple[Fact, ...]

    @property
    def caption(self) -> str:
        """Everything perceived, in words."""
        lines = [*dict.fromkeys(frame.scenery for frame in self.frames)]
        for fact in self.facts:
            if fact.kind == "seen":
                lines.append(f"At {fact.start:.1f} s {fact.sentence}.")
            else:
                lines.append(f"{'On the screen' if fact.kind == 'screen' else 'Said'}: “{fact.sentence}”.")
        return " ".join(line for line in lines if line) or "Nothing can be made out."


class Perception:
    """The frames of requests, recognized and perceived.

    `share`: in [0, 1], of the events and pieces of decor in view, those that are perceived.
    """

    def __init__(self, index: FrameIndex, share: float, seed: int) -> None:
        self.index, self.share, self.seed = index, share, seed

    def view(self, block: Block) -> View:
        """A block with its images; the images of one block are of one video, in time order."""
        stated = block.times
        found = self.index.recognize(block.images, stated or None)
        times = stated or [one[1] if one else 0.0 for one in found]
        frames = [
            self._frame(block.name, time, *one) if one else Frame(time)
            for time, one in zip(times, found, strict=True)
        ]
        return View(block, tuple(frames), (*_events(frames), *_texts(block, frames)))

    def _frame(self, source: str, time: float, video: Video, at: float) -> Frame:
        """`time`: as it is stated; `at`: the indexed one."""
        number, part = video.part(at)
        scenery, setting = self._setting(part, video.name, number)
        key, fact = "", None
        if (found := video.event(at)) is not None:
            key = f"{video.name} {found[0]}"
            if self._perceives("event", key):
                fact = _fact(source, time, found[1], at, setting)
        return Frame(time, key, fact, scenery, setting, tuple(video.cards(at)))

    def _perceives(self, *parts: object) -> bool:
        return draw("simulated model", self.seed, *parts) < self.share

    def _setting(self, part: Row, *key: object) -> tuple[str, frozenset[str]]:
        """Scenery as a sentence, and the stems of its wordings."""
        phrases = scene(part["scene"]).phrases
        props = [
            prop_name(one["prop"], one["color"])
            for one in part["props"]
            if self._perceives("prop", *key, one["prop"])
        ]
        around = f" with {' and '.join(props)}" if props else ""
        words = [part["person"], LOOKS.get(part["style"], part["style"]), part["scene"], *props]
        words += [LOOKS[part["light"]], *(phrase for each in phrases.values() for phrase in each)]
        shown = f"{phrases['test'][0]}{around} in {part['light']} light"
        return f"The frames show {shown}.", word_set(" ".join(words))


def _fact(source: str, time: float, event: Row, at: float, setting: frozenset[str]) -> Fact:
    """An event as it is seen at a moment, in which its object may be out of view."""
    thing = kind(event["kind_id"]) if event["seen_from"] <= at < event["seen_until"] else None
    phrases = action(event["action_id"]).phrases
    where = place_name(event["place"]) if event["place"] else None
    noun = with_article(thing.name) if thing else "something"
    names = (thing.name, *thing.aliases.values()) if thing else ()
    done = (predicate(phrase, "", where) for each in phrases.values() for phrase in each)
    return Fact(
        source,
        time,
        time,
        f"the {event['agent']} {predicate(phrases['test'][0], noun, where)}",
        word_set(" ".join([event["agent"], *names, *done])),
        setting,
        thing.name if thing else "",
    )


def _events(frames: Sequence[Frame]) -> list[Fact]:
    """One for each event; its object is known where one of its frames shows it."""
    found: dict[str, Fact] = {}
    for frame in frames:
        if frame.fact is None:
            continue
        before = found.get(frame.key, frame.fact)
        told = before if before.thing or not frame.fact.thing else frame.fact
        setting = before.setting | frame.setting
        found[frame.key] = replace(told, start=before.start, end=frame.time, setting=setting)
    return list(found.values())


def _texts(block: Block, frames: Sequence[Frame]) -> list[Fact]:
    """The words that came with a block and those read in its frames, each in the setting of its time."""
    found: dict[str, Fact] = {}

    def add(kind: str, start: float, end: float, text: str, setting: frozenset[str]) -> None:
        found.setdefault(text, Fact(block.name, start, end, text, word_set(text), setting, kind=kind))

    for frame in frames:
        for text in frame.read:
            add("screen", frame.time, frame.time, text, frame.setting)
    for line in block.texts:
        near = min(frames, key=lambda frame: abs(frame.time - line.start), default=None)
        add(line.kind, line.start, line.end, line.text, near.setting if near else frozenset())
    return list(found.values())
