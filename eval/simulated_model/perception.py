"""What the simulated model perceives of a stretch of video: the truth of its frames, through the dials.

An object or an action that is missed is missed in every request, as by a model that cannot name it; a larger
share perceives all that a smaller one does. What is perceived is words: a sentence that a model would caption
it with, and the stems of every wording that the world's catalogue has for it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from eval.simulated_model.dials import Dials, draw
from eval.simulated_model.fingerprints import Card, Event, FrameIndex, Moment, Recognized, Video
from eval.simulated_model.request import Block
from eval.workbench.catalogue import action, kind, place_name, predicate, prop_name, scene, with_article
from eval.workbench.seeds import stream
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
    key: str
    """Of the event that goes on: frames of one event share it; empty between events."""
    fact: Fact | None
    scenery: str
    setting: frozenset[str]
    read: tuple[str, ...]
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
    """The frames of requests, recognized and perceived."""

    def __init__(self, index: FrameIndex, dials: Dials, seed: int) -> None:
        self.index, self.dials, self.seed = index, dials, seed

    def view(self, block: Block) -> View:
        """A block with its images; the images of one block are of one video, in time order."""
        stated = block.times
        found = self.index.recognize(block.images, stated or None)
        times = stated or [one.time if one else 0.0 for one in found]
        frames = [self._frame(block.name, time, one) for time, one in zip(times, found, strict=True)]
        return View(block, tuple(frames), (*_events(frames), *_texts(block, frames)))

    def _frame(self, source: str, time: float, found: Recognized | None) -> Frame:
        if found is None:
            return Frame(time, "", None, "", frozenset(), ())
        moment = found.video.at(found.time)
        scenery, setting = self._setting(found.video, moment)
        fact = None
        if moment.event is not None:
            fact = self._event(source, time, found.video, moment.event, moment.object_in_view)
            fact = replace(fact, setting=setting) if fact else None
        key = f"{found.video.name} {moment.event.number}" if moment.event else ""
        read = tuple(self._read(found.video, card) for card in moment.cards)
        return Frame(time, key, fact, scenery, setting, tuple(filter(None, read)))

    def _holds(self, share: float, *parts: object) -> bool:
        return draw("simulated model", self.seed, *parts) < share

    def _event(self, source: str, time: float, video: Video, event: Event, in_view: bool) -> Fact | None:
        key = (video.name, event.number)
        held = in_view and self._holds(self.dials.objects, "object", *key)
        thing = event.kind_id if held else None
        acts = self._holds(self.dials.actions, "action", *key)
        if not acts and thing is None:
            return None
        done = event.action_id if acts else None
        return _fact(source, time, event.agent if acts else "somebody", done, event.place, thing)

    def _setting(self, video: Video, moment: Moment) -> tuple[str, frozenset[str]]:
        """Scenery as a sentence, and the stems of its wordings."""
        part, key = moment.part, (video.name, moment.part.number)
        place, light, words = "a place", "", [part.person, LOOKS.get(part.style, part.style)]
        if self._holds(self.dials.actions, "scene", *key):
            phrases = scene(part.scene).phrases
            place = phrases["test"][0]
            words += [part.scene, *(phrase for each in phrases.values() for phrase in each)]
        if self._holds(self.dials.objects, "light", *key):
            light = f" in {part.light} light"
            words.append(LOOKS.get(part.light, part.light))
        held = [one for one in part.props if self._holds(self.dials.objects, "prop", *key, one[0])]
        props = [prop_name(prop, color) for prop, color in held]
        around = f" with {' and '.join(props)}" if props else ""
        return f"The frames show {place}{around}{light}.", word_set(" ".join([*words, *props]))

    def _read(self, video: Video, card: Card) -> str:
        if self._holds(self.dials.reading, "card", video.name, card.start):
            return card.text
        rng = stream("simulated model", self.seed, "misread", video.name, card.start)
        return (
            re.sub(r"\d", lambda _: str(rng.randrange(10)), card.text) if re.search(r"\d", card.text) else ""
        )


def _fact(
    source: str, time: float, agent: str, action_id: str | None, place: str | None, kind_id: str | None
) -> Fact:
    """An event as it is perceived; None for what of it is not."""
    name = kind(kind_id).name if kind_id else ""
    noun = with_article(name) if name else "something"
    where = place_name(place) if place else None
    wordings = [agent, name, *(kind(kind_id).aliases.values() if kind_id else ())]
    sentence = f"handles {noun}"
    if action_id:
        phrases = action(action_id).phrases
        sentence = predicate(phrases["test"][0], noun, where)
        wordings += [predicate(phrase, "", where) for each in phrases.values() for phrase in each]
    who = agent if agent == "somebody" else f"the {agent}"
    words = word_set(" ".join(wordings))
    return Fact(source, time, time, f"{who} {sentence}", words, frozenset(), name)


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
