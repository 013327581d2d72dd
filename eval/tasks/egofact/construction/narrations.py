"""Ego4D's one-line narrations into event structures by rules (EgoFact, C.2.1, where the paper asks a model).

A narration is "#C C picks the cellphone from the table" (C wears the camera)
or "#O A man X walks in the door" (another person). Read are the agent, the verb
with its particle, the object up to the first preposition, and what follows
each preposition, which fills one slot of the structure.
"""

from __future__ import annotations

import re

from corpora.records import CAMERA_WEARER
from eval.tasks.egofact.construction.records import EventStructure

_TAG = re.compile(r"^\s*(?:#\s*(?P<tag>[A-Za-z]+)\b)?\s*(?P<rest>.*)$", re.DOTALL)
_WEARER = re.compile(r"^(?:the )?(?:camera wearer|c wearer|person wearing the camera|c)\b\s*", re.IGNORECASE)
_OTHER = re.compile(
    r"^(?:(?:the|a|an|another|one)\s+)?(?P<who>(?:[a-z]+\s+)??"
    r"(?:man|woman|lady|girl|boy|person|baby|child|kid|guy|someone|friend|instructor|dog|cat))\b"
    r"\s*(?:[A-Z0-9]\b)?\s*",
    re.IGNORECASE,
)
_LETTERED = re.compile(r"^[A-Z]\s+(?=[a-z])")
_ARTICLE = re.compile(r"^(?:the|a|an|some|his|her|their|its|another|one|two|both|more)\s+", re.IGNORECASE)
_PARTICLES = re.compile(r"up|down|out|off|over|away|apart|back|together|on|in", re.IGNORECASE)
_PLACES = re.compile(
    r"from|into|onto|in|on|to|with|using|at|under|inside|off|of|over|through|against", re.IGNORECASE
)
_MOVING = re.compile(
    r"put|place|plug|pour|drop|insert|throw|hang|hand|give|move|push|return|transfer|pass|add|fix|attach|"
    r"tip|dip|stick|pack|load|connect"
)
_SWAP_PEOPLE = {"lady": "woman", "guy": "man", "kid": "child"}


def parse_narration(text: str, start: float, end: float) -> EventStructure | None:
    """None where the line names no action ("#unsure", "#C C", "#Summary ...")."""
    matched = _TAG.match(" ".join(text.split()))
    if matched is None:
        return None
    tag = (matched["tag"] or "c").lower()
    rest = re.sub(r"#\s*unsure\b.*$", "", matched["rest"], flags=re.IGNORECASE).strip(" .…")
    if tag not in {"c", "o"}:
        return None
    found = _agent(rest, tag)
    if found is None or not found[1]:
        return None
    agent, said = found
    verb, *words = said.split()
    if not re.fullmatch(r"[A-Za-z-]+", verb):
        return None
    action = _base(verb.lower())
    particle, words = _particle(words)
    patient, tail = _patient(words)
    if action == "pick" and not particle and patient:
        particle = "up"
    slots, adverbials = _slots(tail, action)
    shown = f"the {patient}" if patient else ""
    parts = (f"the {agent}", verb.lower(), particle, shown, adverbials)
    return EventStructure(
        rewritten=" ".join(part for part in parts if part),
        agent=agent,
        action=action,
        patient=patient,
        patient_canonical=_canonical(patient),
        patient_location=slots.get("location"),
        patient_destination=slots.get("destination"),
        instrument=slots.get("instrument"),
        event_location=slots.get("at"),
        start=start,
        end=end,
    )


def _agent(rest: str, tag: str) -> tuple[str, str] | None:
    """Who, and what is said of them."""
    if tag == "c":
        return CAMERA_WEARER, _WEARER.sub("", rest, count=1)
    other = _OTHER.match(rest)
    if other:
        who = " ".join(other["who"].lower().split())
        return _SWAP_PEOPLE.get(who, who), rest[other.end() :]
    lettered = _LETTERED.match(rest)
    return ("person", rest[lettered.end() :]) if lettered else None


def _particle(words: list[str]) -> tuple[str, list[str]]:
    """The "up" of "up the cup"; "on" and "in" always count as places, as of "on the table"."""
    if words and _PARTICLES.fullmatch(words[0]) and words[0].lower() not in {"on", "in"}:
        return words[0].lower(), words[1:]
    return "", words


def _patient(words: list[str]) -> tuple[str, list[str]]:
    for at, word in enumerate(words):
        if _PLACES.fullmatch(word):
            return _noun(words[:at]), words[at:]
    return _noun(words), []


def _noun(words: list[str]) -> str:
    """Without its article, and without a particle behind it ("the cup down")."""
    while words and _PARTICLES.fullmatch(words[-1]):
        words = words[:-1]
    return _ARTICLE.sub("", " ".join(words).lower()).strip(" ,.;")


def _slots(words: list[str], action: str) -> tuple[dict[str, str], str]:
    """Slot to noun, and the same said with articles: "from the table with the left hand"."""
    slots: dict[str, str] = {}
    adverbials: list[str] = []
    at = 0
    while at < len(words):
        preposition = words[at].lower()
        stop = at + 1
        while stop < len(words) and not _PLACES.fullmatch(words[stop]):
            stop += 1
        noun = _noun(words[at + 1 : stop])
        if noun:
            slots.setdefault(_slot(preposition, action), noun)
            adverbials.append(f"{preposition} the {noun}")
        at = stop
    return slots, " ".join(adverbials)


def _slot(preposition: str, action: str) -> str:
    if preposition in {"with", "using"}:
        return "instrument"
    if preposition in {"from", "off", "of"}:
        return "location"
    if preposition in {"into", "onto", "to"} or _MOVING.fullmatch(action):
        return "destination"
    return "at"


def _base(verb: str) -> str:
    """Third person to base form: picks, rinses, washes, carries, goes."""
    if verb.endswith("ies") and len(verb) > 4:
        return f"{verb[:-3]}y"
    if verb.endswith(("sses", "shes", "ches", "xes", "zzes", "oes")):
        return verb[:-2]
    return verb[:-1] if verb.endswith("s") and not verb.endswith("ss") else verb


def _canonical(patient: str) -> str:
    """The last noun in the singular, with what precedes it."""
    *before, last = patient.split() or [""]
    return " ".join([*before, _singular(last)]).strip()


def _singular(noun: str) -> str:
    if noun in {"scissors", "pliers", "glasses", "tongs", "tweezers", "headphones", "shears", "pants"}:
        return noun
    if noun.endswith("ies") and len(noun) > 4:
        return f"{noun[:-3]}y"
    if noun.endswith(("shes", "ches", "sses", "xes")):
        return noun[:-2]
    return noun[:-1] if noun.endswith("s") and not noun.endswith(("ss", "us", "is")) else noun
