"""What a question asks: its queries, scene and event, what it counts or orders, and what its options claim.

The forms are those of EgoFact's prompts (D.2.3 and D.2.4): "In a video where SCENE, [before|after EVENT,]
what is the object that EVENT?". A question of no form loses its question word and is taken as it is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Literal

from localization.methods import Position
from rag.function_words import FUNCTION_WORDS, is_english
from rag.questions import option_label
from rag.reasoners.embedded.phrases import content_runs, entities
from rag.reasoners.roles.questions import MOST_KEYWORDS, AnchorEvent, Facets, Keywords, RewrittenQuestion
from rag.records import Question
from rag.words import content_words, tokens, word_set

_BEFORE = r"before|prior to|until|ahead of"
_CUE = (
    r"(?:(?:right|just|immediately|shortly) )?"
    rf"(?P<cue>{_BEFORE}|after|as soon as|once|following)"
)
_RECORDING = r"(?:video|clip|recording|film|movie|footage)"
_WH = r"(?:what|which|whom?|whose|where|when|why|how)"
_AUXILIARY = r"(?:is|are|was|were|does|do|did|should|can|could|will|would|has|have|had|may|might|i|you|we)"

_form = partial(re.compile, flags=re.IGNORECASE)


class Form:
    """How a question or a part of one is worded; the groups are what it asks."""

    NONE_OF = _form(r"^\W*(?:none|neither) of (?:the (?:above|others?|options)|these|those|them)\W*$")
    SCENE = _form(
        rf"^\s*in (?P<noun>(?:an?|the|this|one) (?:[\w'-]+ ){{0,8}}?){_RECORDING}(?: clip)?"
        r"(?: (?:where|in which|when|of|about|with|showing|depicting|(?:that|which)(?: shows| depicts)?)"
        r" (?P<scene>.+?))?[,.] "
        rf"(?=(?:{_CUE}|while|as|{_WH}|{_AUXILIARY})\b)"
    )
    IN_VIDEO = _form(
        rf"\s*\b(?:in|of|from|during|throughout) (?:the|this|that) (?:whole |entire )?{_RECORDING}\b,?"
    )
    ANCHOR_FIRST = _form(rf"^\s*{_CUE} (?P<event>.+?), (?P<core>.+)$")
    ANCHOR_LAST = _form(rf"^(?P<core>.+?)\b{_CUE} (?P<event>[^,?]+?)\s*[?.!]*\s*$")
    WHILE = _form(rf"^\s*(?P<cue>while|when|as) (?P<event>.+?), (?P<core>{_WH}\b.+)$")
    OBJECT = _form(r"^(?:what|which|who)\b.*?\b(?:object|thing|item|person)s? \S")
    ASKED = _form(
        r"^(?:(?:(?:on|in|at|to|from|with|for|of|by) )?"
        rf"(?:how (?:many|much|\w+(?= {_AUXILIARY}\b))|{_WH})\b)?(?:\s*\b{_AUXILIARY}\b)*\s*"
    )
    TRUE_OF = _form(r"\b(?:true|right|correct|false|wrong)\b(?: (?:about|of|for) (?P<topic>.+))?$")
    ORDER = _form(
        r"\bwhich (?:of (?:these|the following)|event|one)\b.{0,80}?"
        r"\b(?:happens?|comes?|occurs?|takes? place|is (?:seen|shown))\b.{0,40}?\b"
        r"(?P<end>first|earliest|last|latest)\b"
    )
    COUNT = _form(
        r"^how (?:often|many (?:times|parts|scenes|places)) "
        r"(?:(?:is it seen that|take place|is|are|was|were|does|do|did) )?(?P<event>.+)$"
    )
    SEEN = _form(r"\b(?:see|seen|shown?|shows)\b")
    TWO_HOP = _form(r"^(?P<when>(?:when|while|for|in|during) [^.]+)\. (?P<claim>.+)$")
    THING = _form(r"\b(?:an?|the)\s+(?P<rest>.+)$")


def bare(question: str) -> str:
    """A question without space and marks at its end."""
    return question.strip().rstrip("?.! ")


@dataclass(frozen=True, slots=True)
class Parts:
    """A question taken apart."""

    scene: str
    """As in "hikers crossing a bridge"; empty where the question names none."""
    event: str
    """The event of a "before", "after" or "while"; empty without one."""
    position: Position
    core: str
    """What is asked, without scene and anchor."""
    asked: str
    """What is asked, without the scene."""

    @property
    def seen(self) -> str:
        """ "he paints, he holds something": the event and what is asked; one of the two may say nothing."""
        core = declarative(self.core)
        return ", ".join(filter(None, (self.event, core if content_words(core) or not self.event else "")))


@lru_cache(maxsize=1024)
def parts(text: str) -> Parts:
    """Split a question into scene, event and what is asked."""
    scene, rest = "", " ".join(text.split())
    found = Form.SCENE.search(rest)
    if found and (found["scene"] or content_words(found["noun"])):
        scene, rest = (found["scene"] or found["noun"]).strip(), rest[found.end() :]
    rest = Form.IN_VIDEO.sub("", rest).strip()
    for form in (Form.ANCHOR_FIRST, Form.ANCHOR_LAST, Form.WHILE):
        found = form.search(rest)
        if found and content_words(found["event"]):
            before = re.fullmatch(_BEFORE, found["cue"], re.IGNORECASE)
            position: Position = "within" if form is Form.WHILE else "before" if before else "after"
            return Parts(scene, found["event"].strip(), position, found["core"].strip(), rest)
    return Parts(scene, "", "within", rest, rest)


def asks_for_thing(text: str) -> bool:
    """Whether a question asks which thing takes part in an event of a video it describes."""
    taken = parts(text)
    return bool(taken.scene) and Form.OBJECT.search(taken.core.strip()) is not None


def asks_for_order(text: str) -> Literal["first", "last"] | None:
    """Which end of the order a question asks for; None where it asks for neither."""
    ends = [found["end"].lower() for found in Form.ORDER.finditer(text)]
    return None if not ends else "first" if ends[-1] in ("first", "earliest") else "last"


def asks_for_order_alone(text: str) -> bool:
    """Whether a question of order says nothing else: "Which of these happens first in the video?"."""
    return not content_words(Form.ORDER.sub(" ", Form.IN_VIDEO.sub(" ", text)))


def counted_event(text: str) -> str:
    """What a question counts in a whole video ("How many times is X seen?"); empty for any other question.

    It is one that names the video or what is seen: "How often is the chain oiled?" may be about any text.
    """
    taken = parts(text)
    found = Form.COUNT.search(bare(taken.asked)) if not (taken.scene or taken.event) else None
    if found is None or not (Form.IN_VIDEO.search(text) or Form.SEEN.search(text)):
        return ""
    return found["event"] if content_words(found["event"]) else ""


def event_text(text: str) -> str:
    """A question as the event that one would see; any other text unchanged."""
    if not text.rstrip().endswith("?"):
        return text.strip()
    return ", ".join(filter(None, (parts(text).scene, parts(text).seen))) or text


def declarative(core: str) -> str:
    """A question without its question word and its auxiliary; the topic of a question about what is true."""
    text = bare(core)
    true_of = Form.TRUE_OF.search(text)
    return (true_of and true_of["topic"]) or Form.ASKED.sub("", text) or text


def two_hop(option: str) -> re.Match[str] | None:
    """The groups `when` and `claim` of an option of the form "When X. The object does Y." (EgoFact, section
    2.2); None for any other text."""
    return Form.TWO_HOP.match(" ".join(option.split()))


def thing_of(title: str) -> str:
    """The thing that the title of a how-to names: "carrot" of "How to tie a carrot up with string". It is the
    first words of meaning after an article, or the whole title where it has none."""
    found = Form.THING.search(title)
    return next(iter(content_runs(found["rest"])), title) if found else title


def spelled_out(question: Question) -> Question:
    """Replace options Yes and No by what they claim: "wear glasses", "not wear glasses"."""
    claim = declarative(parts(question.text).asked)
    claims = {"yes": claim, "no": f"not {claim}"}
    answers = [option.strip(" .!").casefold() for option in question.options]
    if sorted(answers) != ["no", "yes"] or not content_words(claim):
        return question
    return replace(question, options=tuple(claims[answer] for answer in answers))


def statement(question: Question, option: str) -> str:
    """What an option claims, after the question's own topic: "the torque wrench: it loosens bolts"."""
    core = bare(parts(question.text).core)
    found = Form.TRUE_OF.search(core)
    topic = (found["topic"] or "") if found else declarative(core)
    # What is asked for is no topic: "true about the object that she holds".
    hidden = found and re.match(r"(?:the|an?|some) (?:object|thing|item)\b", topic, re.IGNORECASE)
    body = option.strip().rstrip(". ")
    hop = two_hop(body)
    body = f"{_lower(hop['when'])}, {_lower(hop['claim'])}" if hop else _lower(body)
    body = re.sub(r"\b[Tt]he object\b", "some object", body)
    return body if hidden or not content_words(topic) else f"{topic}: {body}"


def _lower(text: str) -> str:
    """The first letter small where the word opens a sentence only."""
    first = text.split(maxsplit=1)[0] if text.split() else ""
    return text[:1].lower() + text[1:] if first.lower() in FUNCTION_WORDS else text


def rewrite_question(question: Question) -> RewrittenQuestion:
    """EgoFact, D.2.3: "A video that shows ...", and for each option what it claims.

    The paper's "A passage about ..." is left out: the claim is encoded anyway, to be compared with sentences.
    """
    question = spelled_out(question)
    taken = parts(question.text)
    shown = taken.scene or taken.seen
    visual = f"A video that shows {shown}.".replace("..", ".")
    if not is_english(tokens(question.text)):
        visual = question.text  # two languages in one sentence are near no image
    asked = taken.asked if content_words(taken.asked) else question.text
    return RewrittenQuestion(
        visual_query=visual,
        passage_queries=tuple(statement(question, option) for option in question.options) or (asked,),
        by_option=asks_for_order(question.text) is not None and asks_for_order_alone(question.text),
        counted=counted_event(question.text),
    )


def anchor_event(question: Question) -> AnchorEvent:
    """EgoFact, D.2.4: the event of a before or after; without one, the event that the question asks about."""
    taken = parts(question.text)
    if taken.position != "within":
        target = declarative(taken.core)
        target = target if content_words(target) else ""
        return AnchorEvent(description=taken.event, position=taken.position, target=target)
    event = taken.seen if content_words(taken.seen) else taken.scene
    return AnchorEvent(description=event or question.text, position="within")


def decompose_facets(question: Question) -> Facets:
    """The question's own facet and one an option; words that all options share set none of them apart."""
    stems = [word_set(option) for option in question.options]
    common = frozenset.intersection(*stems) if len(stems) > 1 else frozenset()
    options = {option_label(index): option for index, option in enumerate(question.options)}
    own = {
        label: tuple(word for word in entities(option, MOST_KEYWORDS) if not word_set(word) <= common)
        for label, option in options.items()
    }
    return Facets(
        query_keywords=entities(question.text, 2 * MOST_KEYWORDS),
        option_keywords={label: words for label, words in own.items() if words},
        semantic_queries={label: statement(question, option) for label, option in options.items()},
        general_semantic_query=event_text(question.text) or "the question",
        vlm_query=parts(question.text).asked or question.text,
    )


def extract_keywords(asked: Question) -> Keywords:
    """Extract the keywords of the question's own facet."""
    return Keywords(keywords=decompose_facets(asked).query_keywords)
