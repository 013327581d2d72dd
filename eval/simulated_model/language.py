"""What a text says of the synthetic world: its things, places, people and decor, and who does what.

The simulated model knows the world's language as any model knows English: every name and wording of the
world's catalogue, those of queries by memory, and nothing of what is right for a question.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

from corpora.records import CAMERA_WEARER
from eval.tasks.query_templates import FAMILIES
from eval.workbench.catalogue import (
    ACTIONS,
    COLORS,
    KINDS,
    PROPS,
    SCENES,
    action,
    kind,
    place_name,
    predicate,
    with_article,
)

ROOMS = {
    "garage": ("garage",),
    "shed": ("shed",),
    "kitchen": ("kitchen",),
    "living": ("living room", "lounge"),
    "bedroom": ("bedroom", "beside a bed"),
    "desk": ("office", "desk", "study", "paperwork"),
    "bathroom": ("bathroom",),
    "garden": ("garden", "on the grass", "outdoors", "lawn"),
}
LIGHTS = {
    "warm": ("warm light", "tone is warm", "warm tone", "warm tones", "warm, orange"),
    "cold": ("cold light", "cold, bluish", "tone is cold", "cold tones", "cool, bluish", "bluish"),
    "neutral": ("neutral light", "plain daylight", "tone is neutral", "colours are neutral", "neutral tones"),
}
STYLES = {
    "live": ("live action", "live-action", "really filmed"),
    "flat": ("2d animation", "2d cartoon", "drawn flat"),
    "shaded": ("3d animation", "3d rendering"),
    "graphics": ("pure graphics", "graphics alone"),
}


@dataclass(frozen=True, slots=True)
class Clause:
    """Somebody does something with something at or with something; None where it is not said."""

    agent: str | None = None
    action_id: str | None = None
    place: str | None = None
    kind_id: str | None = None
    family: str | None = None
    """Of a thing that is named by its family alone."""

    @property
    def empty(self) -> bool:
        """Whether it says nothing that could be seen."""
        return self.action_id is None and self.kind_id is None and self.place is None


@dataclass(frozen=True, slots=True)
class _Name:
    start: int
    sorts: tuple[tuple[str, str], ...]
    """("kind", id), ("place", id), ...: a name may be of two sorts."""


@cache
def _names() -> tuple[re.Pattern[str], dict[str, tuple[tuple[str, str], ...]]]:
    found: dict[str, list[tuple[str, str]]] = {}

    def add(text: str, sort: str, value: str) -> None:
        found.setdefault(text.lower(), []).append((sort, value))

    for thing in KINDS:
        for text in {thing.name, *thing.aliases.values()}:
            add(text, "kind", thing.kind_id)
    for place in {place for each in ACTIONS for place in each.places} - {"person"}:
        add(place_name(place), "place", place)
    for prop in PROPS:
        add(place_name(prop), "prop", prop)
        for color in COLORS:
            add(f"{color} {place_name(prop)}", "prop", f"{color} {prop}")
    for agent in ("woman", "man", CAMERA_WEARER, "somebody"):
        add(agent, "agent", agent)
    for scene in SCENES:
        for text in {phrase for phrases in scene.phrases.values() for phrase in phrases}:
            add(text, "scene", scene.scene_id)
    for sort, table in (("scene", ROOMS), ("light", LIGHTS), ("style", STYLES)):
        for value, texts in table.items():
            for text in texts:
                add(text, sort, value)
    for family, text in FAMILIES.items():
        add(text, "family", family)
    longest = sorted(found, key=lambda text: (-len(text), text))
    pattern = re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, longest))})(?=s?(?![\w-]))", re.IGNORECASE)
    return pattern, {text: tuple(dict.fromkeys(sorts)) for text, sorts in found.items()}


def _found_names(text: str) -> Iterator[_Name]:
    pattern, sorts = _names()
    for match in pattern.finditer(text):
        yield _Name(match.start(), sorts[match[0].lower()])


def concepts(text: str) -> frozenset[str]:
    """What surrounds an event: `scene:kitchen`, `prop:red globe`, `prop:globe`, `light:warm`, `style:live`.

    Kinds are in it too, as `kind:hammer`, and people as `person:woman`.
    """
    found: set[str] = set()
    for name in _found_names(text):
        for sort, value in name.sorts:
            if sort == "agent":
                if value in ("woman", "man"):
                    found.add(f"person:{value}")
            elif sort != "place":
                found.add(f"{sort}:{value}")
    return frozenset(found)


def setting(text: str) -> frozenset[str]:
    """The concepts of a description of where: scene, decor and light."""
    return frozenset(found for found in concepts(text) if found.split(":")[0] in ("scene", "prop", "light"))


@dataclass(frozen=True, slots=True)
class _Wording:
    action_id: str
    verb: re.Pattern[str]
    particles: tuple[str, ...]


_NOUN_BEFORE = re.compile(r"\b(?:the|a|an|both|this|that|same) $", re.IGNORECASE)
"""After these a word is no verb: "a clip", "both hands"."""
_IDLE = frozenset({"the", "a", "an", "with", "using", "both", "hands", "of", "to"})


@cache
def _wordings() -> tuple[_Wording, ...]:
    found: list[_Wording] = []
    for each in ACTIONS:
        for phrase in dict.fromkeys(phrase for phrases in each.phrases.values() for phrase in phrases):
            first, *rest = phrase.split()
            verb = re.compile(
                rf"(?<![\w-]){re.escape(first.removesuffix('s'))}(?:s|es)?(?![\w-])", re.IGNORECASE
            )
            particles = tuple(word for word in rest if "{" not in word and word not in _IDLE)
            found.append(_Wording(each.action_id, verb, particles))
    return tuple(found)


_PIECES = re.compile(r"(?<=[.?!;:])\s+|,\s+|\n|\bwhile\b|\bthen\b|\band\b")


def clauses(text: str) -> list[Clause]:
    """What is done in a text, in its order; a piece of it that names no action and no thing is left out."""
    found = (_clause(piece) for piece in _PIECES.split(text) if piece.strip())
    return [clause for clause in found if not clause.empty]


def clause_of(text: str) -> Clause:
    """The one clause of a text; an empty one where it says nothing."""
    return _clause(" ".join(text.split()))


def _clause(text: str) -> Clause:
    names = list(_found_names(text))
    done, at = _action(text, names)
    agent = kind_id = place = family = None
    for name in names:
        for sort, value in name.sorts:
            before = at is None or name.start < at
            if sort == "agent" and before and agent is None:
                agent = value if value != "somebody" else None
            elif (sort == "agent" and not before and done == "hand_over") or (
                sort == "place" and done and value in action(done).places and not before
            ):
                place = place or value
            elif sort == "kind" and kind_id is None:
                kind_id = value
            elif sort == "family" and family is None:
                family = value
    if done is None:
        place = next((value for name in names for sort, value in name.sorts if sort == "place"), None)
    return Clause(agent, done, place, kind_id, family)


def _action(text: str, names: list[_Name]) -> tuple[str | None, int | None]:
    """The action of the wording that fits best, and where its verb begins."""
    places = {value for name in names for sort, value in name.sorts if sort == "place"}
    best: tuple[float, int, str, int] | None = None
    for number, wording in enumerate(_wordings()):
        match = wording.verb.search(text)
        if match is None or _NOUN_BEFORE.search(text[: match.start()]):
            continue
        after = set(re.findall(r"[a-z]+", text[match.end() :].lower()))
        held = sum(word in after for word in wording.particles)
        share = held / len(wording.particles) if wording.particles else 0.6
        own = places & {*action(wording.action_id).places}
        score = share + (1.0 if own else 0.0) + 0.01 * held
        if best is None or (score, -number) > (best[0], best[1]):
            best = (score, -number, wording.action_id, match.start())
    if best is None or best[0] < 0.3:
        return None, None
    return best[2], best[3]


def sentence(clause: Clause, moment: str = "") -> str:
    """The clause in words, as a model captions what it sees; `moment` comes before it."""
    thing = with_article(kind(clause.kind_id).name) if clause.kind_id else "something"
    agent = f"the {clause.agent}" if clause.agent else "somebody"
    return f"{moment}{agent} {done(replace(clause, kind_id=None), thing)}"


def done(clause: Clause, thing: str = "it") -> str:
    """ "hangs it on the clothes line"; what is done is unknown: "handles it"."""
    if clause.action_id is None:
        return f"handles {thing}"
    place = place_name(clause.place) if clause.place else None
    phrase = action(clause.action_id).phrases["test"][0]
    if place is None:
        phrase = re.sub(r" \w+ the \{p\}$", "", phrase)
    return predicate(phrase, thing, place)


def agreement(seen: Clause, asked: Clause) -> float:
    """How well what was seen fits what is asked for, in [0, 1]; 0 where they exclude each other.

    What is not said on one of both sides is left open at a cost.
    """
    score = weight = 0.0
    for one, other, share in (
        (seen.action_id, asked.action_id, 3.0),
        (seen.place, asked.place, 2.0),
        (seen.kind_id, asked.kind_id, 3.0),
        (seen.agent, asked.agent, 0.5),
    ):
        if other is None:
            continue
        weight += share
        if one is None:
            score += 0.25 * share
        elif one == other:
            score += share
        elif share > 1:
            return 0.0
    if asked.family is not None and asked.kind_id is None:
        weight += 1.0
        if seen.kind_id is None:
            score += 0.25
        elif kind(seen.kind_id).family == asked.family:
            score += 1.0
        else:
            return 0.0
    return score / weight if weight else 0.0
