"""The forms of English questions: one table of how each is worded, and what a question of a form asks.

Those with a scene and an event are of EgoFact's prompts (D.2.3 and D.2.4): "In a video where SCENE,
[before|after EVENT,] what is the object that EVENT?". A question of no form loses its question word and is
taken as it is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from functools import cache, lru_cache
from typing import Literal

from rag.words import content_words

_BEFORE = r"before|prior to|until|ahead of|bevor"
_CUE = (
    r"(?:(?:right|just|immediately|shortly|directly|soon|direkt|gleich|kurz) )?"
    rf"(?P<cue>{_BEFORE}|after|as soon as|once|following|nachdem)"
)
_RECORDING = r"(?:video|clip|recording|film)"
_WHOLE = rf"(?:the|this|that) (?:whole |entire )?(?:{_RECORDING}|movie|footage)\b"

_OTHER_OPTIONS = (
    r"(?: (?:the|these|those|them|above|below|others?|options?|answers?|choices|listed|given|following|"
    r"mentioned|der|die|dieser|diesen|von|davon|genannten?|obigen|anderen|antworten|optionen))+"
)


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """A pattern of a table, without regard to case."""
    return re.compile(pattern, re.IGNORECASE)


class Form(Enum):
    """How a question or a part of one is worded; the groups are what it asks."""

    # "What does he ask?", "What does she say is next?"
    ABOUT_QUESTIONS = r"\b(?:ask(?:s|ed|ing)?|questions?)\b"
    SAID = (
        r"\b(?:do|does|did)\s+(?:the\s+)?\w+(?:\s+\w+)?\s+(?:say|mention|announce|explain|claim|tell\s+us)\b"
        r"(?:\s+that\b)?"
    )
    ASKING = r"\b(?:what|which)\b"

    # Scene and anchor: "In a video where SCENE, ...", "After EVENT, ...", "... before EVENT?", "While EVENT"
    SCENE = (
        rf"^\s*in (?:a|an|the|this|one) (?:short |egocentric |first-person )?{_RECORDING}"
        r"(?: clip)? (?:where|in which|that shows|that depicts|which shows|showing|depicting|of|about|with|"
        r"when) (?P<scene>.+?)[,.] "
        r"(?=(?:(?:right |just |immediately |shortly )?(?:before|after|while|when|as|until)\b|"
        r"what|which|who|whom|whose|where|when|why|how|does|do|did|is|are|was|were|can)\b)"
    )
    SCENE_NOUN = rf"^\s*in (?P<scene>(?:a|an|the) [\w\s'-]{{2,60}}?) {_RECORDING}, "
    IN_VIDEO = rf"\s*\b(?:in|of|from) (?:this|the|that) {_RECORDING}\b,?"
    ANCHOR_FIRST = rf"^\s*{_CUE} (?P<event>.+?), "
    ANCHOR_LAST = rf"^(?P<head>.+?)\b{_CUE} (?P<event>[^,?]+?)\s*[?.!]*\s*$"
    WHILE = r"^\s*(?:while|when|as) (?P<event>.+?), (?=(?:what|which|who|where|how)\b)"

    # The event of a question: "What is the object that EVENT?", "What does EVENT?", "What is WHO VERBing?"
    OBJECT = (
        r"^(?:what|which|who)\b.*?\b(?:object|thing|item|tool|food|animal|ingredient|device|person)s?"
        r"(?: (?:that|which|who|being))? (?P<event>\S.*)$"
    )
    DOING = r"^what (?:is|are|was|were) (?P<who>.+?) (?P<verb>\w+ing)\b(?P<rest>.*)$"
    DOES = r"^(?:what|who|whom|which(?: \w+){1,3}) (?:does|do|did) (?P<event>.+)$"
    QUESTION_WORD = (
        r"^(?:(?:on|in|at|to|from|with|for|of|by) )?(?:what|which|who|whom|whose|where|when|why|"
        r"how(?: (?:many|much|often|long|far|fast|high|hot|old|big|large|heavy|thick|wide|deep|should))?)\b"
        r"(?: (?:is|are|was|were|does|do|did|should|can|could|will|would|has|have|had|may|might|i|you|we)\b)*"
        r"\s*"
    )
    YES_NO = r"^(?:is|are|was|were|does|do|did|should|can|could|will|would|has|have|may) (?:(?:i|you|we) )?"
    TRUE_OF = r"\b(?:true|right|correct|false|wrong)\b(?: (?:about|of|for|regarding) (?P<topic>.+))?$"

    # Order: "Which of these happens first?"
    WHICH_EVENT = r"\bwhich (?:of (?:these|the following)|event|one)\b"
    HAPPENS = r"\b(?:happens?|comes?|occurs?|takes? place|is (?:seen|shown))\b"
    END = r"\b(?:first|earliest|last|latest)\b"
    ORDER_ALONE = rf"\bin {_WHOLE}(?! (?:of|about|from)\b)|\bevents?\b"
    """What a question of order may say beside it, and still names nothing to be seen."""

    # Number: "How many times is it seen that EVENT in the whole video?"
    TIMES = (
        r"^\s*how (?:often|many (?:times|parts|scenes|places))\b(?! (?:an?|per|each|every) \w)"
        r"(?! (?:can|do) (?:I|you|we)\b(?! see\b))"
        r"(?!.*\b(?:should|must|needs?|recommended|ha(?:s|ve) to)\b)(?P<event>.+)$"
    )
    WHOLE_VIDEO = rf"\b(?:in|of|during|throughout) {_WHOLE}"
    SEEN_THAT = (
        r"^(?:(?:is it|can (?:one|we|you)) (?:seen|shown|see)(?: that)?|takes? place|happens?|plays?"
        r"|(?:is|are|was|were|does|do|did) (?!it\b))\s*"
    )
    TIMES_DOES = r"\bhow (?:many times|often) (?:does|do|did) "

    # An option about the others: "none of the above", "Keine der genannten".
    NONE_OF = rf"^\W*(?:(?:none|neither) of|keine[rs]?){_OTHER_OPTIONS}\W*$"

    @property
    def pattern(self) -> re.Pattern[str]:
        """Without regard to case."""
        return compiled(self.value)

    def search(self, text: str) -> re.Match[str] | None:
        """The first place in a text that is worded so."""
        return self.pattern.search(text)

    def sub(self, other: str, text: str) -> str:
        """A text with `other` in place of what is worded so."""
        return self.pattern.sub(other, text)


def bare(question: str) -> str:
    """Without space and marks at its end."""
    return question.strip().rstrip("?.! ")


@dataclass(frozen=True, slots=True)
class Parts:
    """A question taken apart."""

    scene: str
    """As in "hikers crossing a bridge"; empty where the question names none."""
    event: str
    """Of a before, after or while; empty without one."""
    position: Literal["before", "after", "within"]
    core: str
    """What is asked, without scene and anchor."""
    asked: str
    """What is asked, without the scene."""


@lru_cache(maxsize=1024)
def parts(text: str) -> Parts:
    """Split a question into scene, event and what is asked."""
    scene, rest = "", " ".join(text.split())
    if found := Form.SCENE.search(rest) or Form.SCENE_NOUN.search(rest):
        scene, rest = found["scene"].strip(), rest[found.end() :]
    rest = Form.IN_VIDEO.sub("", rest).strip()
    if found := Form.ANCHOR_FIRST.search(rest):
        return Parts(scene, found["event"].strip(), _side(found["cue"]), rest[found.end() :], rest)
    if (found := Form.ANCHOR_LAST.search(rest)) and content_words(found["event"]):
        return Parts(scene, found["event"].strip(), _side(found["cue"]), found["head"].strip(), rest)
    if found := Form.WHILE.search(rest):
        return Parts(scene, found["event"].strip(), "within", rest[found.end() :], rest)
    return Parts(scene, "", "within", rest, rest)


def _side(cue: str) -> Literal["before", "after"]:
    return "before" if compiled(_BEFORE).fullmatch(cue) else "after"


def asks_for_thing(text: str) -> bool:
    """Whether a question asks which thing takes part in an event of a video it describes."""
    taken = parts(text)
    return bool(taken.scene) and Form.OBJECT.search(taken.core.strip()) is not None


def asks_for_order(text: str) -> Literal["first", "last"] | None:
    """Which end of the order a question asks for; None where it asks for neither."""
    # One pattern of all three would take a long question cubic time.
    which = Form.WHICH_EVENT.search(text)
    ends = list(Form.END.pattern.finditer(text, which.end())) if which else []
    if which is None or not ends:
        return None
    happens = list(Form.HAPPENS.pattern.finditer(text, which.end(), ends[-1].start()))
    if not happens:
        return None
    asked = next(end for end in ends if end.start() >= happens[-1].end())
    return "first" if asked[0].lower() in ("first", "earliest") else "last"


def asks_for_order_alone(text: str) -> bool:
    """Whether a question of order says nothing else: "Which of these happens first in the video?"."""
    rest = Form.ORDER_ALONE.sub(" ", Form.IN_VIDEO.sub(" ", text))
    for form in (Form.WHICH_EVENT, Form.HAPPENS, Form.END):
        rest = form.sub(" ", rest)
    return not content_words(rest)


def counted_event(text: str) -> str:
    """What a question counts in a whole video ("How many times does X?"); empty for any other question."""
    taken = parts(text)
    seen = not (taken.scene or taken.event or speech_question(text))
    found = Form.TIMES.search(bare(taken.asked)) if seen else None
    event = " ".join(Form.WHOLE_VIDEO.sub(" ", found["event"]).split()) if found else ""
    event = Form.SEEN_THAT.sub("", event)
    return event if content_words(event) else ""


def speech_question(text: str) -> str:
    """What a question about something said asks, without the verb of saying; empty for any other question.

    "Who does the speaker say gave the best advice?" is "Who gave the best advice?", and no frame shows it.
    """
    said = Form.SAID.search(text)
    return " ".join(f"{text[: said.start()]} {text[said.end() :]}".split()) if said else ""


def declarative(core: str) -> str:
    """The event of a question as a plain clause, with "something" in the place of the asked-for object."""
    text = bare(core)
    if found := Form.OBJECT.search(text):
        event = found["event"]
        passive = compiled(r"^(?:is|are|was|were|being|gets?|has been)\b").search(event)
        return f"something {event}" if passive else _with_object(event)
    if found := Form.DOING.search(text):
        return f"{found['who']} {found['verb']} something{found['rest']}"
    if found := Form.DOES.search(text):
        event = found["event"]
        return event if re.search(r"\b(?:do|happen)$", event) else _with_object(event)
    plain = Form.QUESTION_WORD.sub("", text) or text
    return (Form.YES_NO.sub("", text) or text) if plain == text else plain


_PLACE_FOR_OBJECT = (
    r" (?=(?:toward|towards|into|onto|on|to|from|with|in|at|over|under|for|near|off|through|against|around|"
    r"inside|between|behind|beside)\b)"
)


def _with_object(event: str) -> str:
    """ "the goalkeeper kicks toward the goal" -> "the goalkeeper kicks something toward the goal"."""
    head, *tail = re.split(_PLACE_FOR_OBJECT, event, maxsplit=1)
    return " ".join([head, "something", *tail])


def says_more(event: str) -> bool:
    """Whether an event of `declarative` says more than "something"."""
    return bool(content_words(event.replace("something", "")))
