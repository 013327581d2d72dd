"""What the simulated model perceives of a stretch of video: the truth of its frames, through the dials.

An object or an action that is missed is missed in every request, as by a model that cannot name it; a larger
share perceives all that a smaller one does.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from corpora.records import SPOKEN
from eval.simulated_model.dials import Dials, draw
from eval.simulated_model.fingerprints import FrameIndex, Recognized
from eval.simulated_model.language import Clause, clauses, sentence, setting
from eval.simulated_model.request import Block, Text
from eval.simulated_model.world import Card, Event, Moment, Video
from eval.workbench.catalogue import ACTIONS, KINDS, allows, kind, place_name, scene, with_article
from eval.workbench.seeds import stream


@dataclass(frozen=True, slots=True)
class Frame:
    """What is perceived of one frame."""

    time: float
    key: str
    """Of the event that goes on: frames of one event share it; empty between events."""
    clause: Clause | None
    setting: frozenset[str]
    style: str
    person: str
    read: tuple[str, ...]
    """Text on the screen."""


@dataclass(frozen=True, slots=True)
class Fact:
    """Something done during [start, end] seconds, as seen or as a text says it."""

    source: str
    """Name of the block."""
    start: float
    end: float
    clause: Clause
    setting: frozenset[str]
    seen: bool
    """False: a text says it."""


@dataclass(frozen=True)
class View:
    """A block as it is perceived."""

    block: Block
    frames: tuple[Frame, ...]
    facts: tuple[Fact, ...]
    texts: tuple[Text, ...]
    """Words that came with it, and those read in its frames (kind `screen`)."""

    @property
    def setting(self) -> frozenset[str]:
        """Of all of it."""
        return frozenset().union(
            *(frame.setting for frame in self.frames), *(fact.setting for fact in self.facts)
        )

    def setting_at(self, start: float, end: float) -> frozenset[str]:
        """Around a time: of the frames in it, else of the nearest one."""
        if not self.frames:
            return self.setting
        inside = [frame.setting for frame in self.frames if start <= frame.time <= end]
        middle = (start + end) / 2
        nearest = min(self.frames, key=lambda frame: abs(frame.time - middle)).setting
        return frozenset().union(*inside) if inside else nearest


class Perception:
    """The frames of requests, recognized and perceived."""

    def __init__(self, index: FrameIndex, dials: Dials, seed: int) -> None:
        self.index, self.dials, self.seed = index, dials, seed

    def view(self, block: Block) -> View:
        """A block with its images; the images of one block are of one video, in time order."""
        stated = block.times
        found = self.index.recognize(block.images, stated or None)
        times = stated or [one.time if one else 0.0 for one in found]
        frames = _across([self._frame(time, one) for time, one in zip(times, found, strict=True)])
        read = [Text("screen", frame.time, frame.time, text) for frame in frames for text in frame.read]
        texts = (*block.texts, *_each_once(read))
        facts = [*_seen_facts(block.name, frames), *_text_facts(block, frames)]
        facts += self._false_facts(block.name, frames)
        return View(block, tuple(frames), tuple(facts), texts)

    def _frame(self, time: float, found: Recognized | None) -> Frame:
        if found is None:
            return Frame(time, "", None, frozenset(), "", "", ())
        moment = found.video.at(found.time)
        part, event = moment.part, moment.event
        return Frame(
            time,
            f"{found.video.name} {event.number}" if event else "",
            self._clause(found.video, event, moment.object_in_view) if event else None,
            self._setting(found.video, moment),
            part.style,
            part.person,
            tuple(self._read(found.video, card) for card in moment.cards),
        )

    def _holds(self, share: float, *parts: object) -> bool:
        return draw("simulated model", self.seed, *parts) < share

    def _clause(self, video: Video, event: Event, in_view: bool) -> Clause:
        key = (video.name, event.number)
        acts = self._holds(self.dials.actions, "action", *key)
        thing = None
        if in_view:
            thing = (
                event.kind_id if self._holds(self.dials.objects, "object", *key) else self._wrong(key, event)
            )
        agent = event.agent if acts else None
        return Clause(agent, event.action_id if acts else None, event.place if acts else None, thing)

    def _wrong(self, key: tuple[object, ...], event: Event) -> str | None:
        """Another kind of the family; None where the object is missed altogether."""
        if not self._holds(self.dials.false_objects, "false object", *key):
            return None
        family = kind(event.kind_id).family
        others = [one.kind_id for one in KINDS if one.family == family and one.kind_id != event.kind_id]
        return stream("simulated model", self.seed, "which", *key).choice(others) if others else None

    def _setting(self, video: Video, moment: Moment) -> frozenset[str]:
        part, key = moment.part, (video.name, moment.part.number)
        found = {f"scene:{part.scene}"} if self._holds(self.dials.actions, "scene", *key) else set()
        if self._holds(self.dials.objects, "light", *key):
            found.add(f"light:{part.light}")
        for prop, color in part.props:
            if self._holds(self.dials.objects, "prop", *key, prop):
                found |= {f"prop:{prop}", f"prop:{color} {prop}"}
        return frozenset(found)

    def _read(self, video: Video, card: Card) -> str:
        if self._holds(self.dials.reading, "card", video.name, card.start):
            return card.text
        rng = stream("simulated model", self.seed, "misread", video.name, card.start)
        return (
            re.sub(r"\d", lambda _: str(rng.randrange(10)), card.text) if re.search(r"\d", card.text) else ""
        )

    def _false_facts(self, source: str, frames: Sequence[Frame]) -> list[Fact]:
        if not frames:
            return []
        about = (source, *(f"{frame.key} {frame.time}" for frame in frames))
        if not self._holds(self.dials.false_actions, "false event", *about):
            return []
        rng = stream("simulated model", self.seed, "false event", *about)
        done_ = rng.choice([each for each in ACTIONS if "person" not in each.places])
        thing = rng.choice([one.kind_id for one in KINDS if allows(done_, one)])
        place = rng.choice(done_.places) if done_.places else None
        frame = rng.choice(list(frames))
        clause = Clause("camera wearer", done_.action_id, place, thing)
        return [Fact(source, frame.time, frame.time, clause, frame.setting, True)]


def _across(frames: Sequence[Frame]) -> list[Frame]:
    """An object that one frame of an event shows is known in its other frames too."""
    things = {frame.key: frame.clause.kind_id for frame in frames if frame.clause and frame.clause.kind_id}
    return [
        frame
        if frame.clause is None or frame.clause.kind_id or frame.key not in things
        else replace(frame, clause=replace(frame.clause, kind_id=things[frame.key]))
        for frame in frames
    ]


def _seen_facts(source: str, frames: Sequence[Frame]) -> list[Fact]:
    found: dict[str, Fact] = {}
    for frame in frames:
        if frame.clause is None or frame.clause.empty:
            continue
        before = found.get(frame.key)
        start = before.start if before else frame.time
        context = before.setting | frame.setting if before else frame.setting
        found[frame.key] = Fact(source, start, frame.time, frame.clause, context, True)
    return list(found.values())


def _text_facts(block: Block, frames: Sequence[Frame]) -> list[Fact]:
    """What the words say is done, with the setting that they name, or else that of the frames around them."""
    found = []
    for text in block.texts:
        named = setting(text.text)
        near = min(frames, key=lambda frame: abs(frame.time - text.start), default=None)
        around = named or (near.setting if near else frozenset())
        found += [
            Fact(block.name, text.start, text.end, clause, around, False) for clause in clauses(text.text)
        ]
    return found


def _each_once(texts: Sequence[Text]) -> list[Text]:
    first: dict[str, Text] = {}
    for text in texts:
        if text.text:
            first.setdefault(text.text, text)
    return list(first.values())


def caption(view: View) -> str:
    """What is perceived of a view, in words that say it to a reader as to `language`."""
    lines = [_scenery(view)]
    lines += [f"{sentence(fact.clause, f'At {fact.start:.1f} s ')}." for fact in view.facts if fact.seen]
    lines += [f"On the screen: “{text.text}”." for text in view.texts if text.kind == "screen"]
    lines += [f"Said: “{text.text}”." for text in view.texts if text.kind in SPOKEN]
    return " ".join(line for line in lines if line) or "Nothing can be made out."


def _scenery(view: View) -> str:
    seen = sorted(view.setting)
    scenes = [
        scene(each.removeprefix("scene:")).phrases["test"][0] for each in seen if each.startswith("scene:")
    ]
    decor = [each.removeprefix("prop:") for each in seen if each.startswith("prop:") and " " in each]
    light = [each.removeprefix("light:") for each in seen if each.startswith("light:")]
    if not (scenes or decor or light):
        return ""
    around = f" with {' and '.join(with_article(place_name(one)) for one in decor)}" if decor else ""
    lit = f" in {' and '.join(light)} light" if light else ""
    return f"The frames show {' and '.join(scenes) or 'a place'}{around}{lit}."
