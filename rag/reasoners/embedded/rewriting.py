"""What to look for, read from a question by rules: anchor, queries, parts, claims of options and facets."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from rag.questions import option_label
from rag.reasoners.embedded.phrases import entities
from rag.reasoners.embedded.question_forms import (
    Form,
    asks_for_order,
    asks_for_order_alone,
    asks_openly,
    bare,
    counted_event,
    declarative,
    parts,
    says_more,
)
from rag.reasoners.roles.anchor_event import AnchorEvent
from rag.reasoners.roles.decompose_facets import Facets
from rag.reasoners.roles.extract_keywords import Keywords
from rag.reasoners.roles.rewrite_question import RewrittenQuestion
from rag.records import Question
from rag.words import content_words, split_sentences, word_set

MIN_WORDS = 2
"""Words of meaning that a part must have to be looked for by itself."""
MOST_PARTS = 5

_ELSEWHERE = r"in (?:another|a second|the other|a different)"
_ASKS = r"(?:what|which|whom?|where|when|how(?: many| much| long)?)"
_HARD = re.compile(rf";\s+|,?\s+and (?=(?:{_ELSEWHERE}|then|{_ASKS})\b)", re.IGNORECASE)
_SOFT = re.compile(rf",\s+(?=(?:then|afterwards|later|{_ELSEWHERE}|{_ASKS})\b)", re.IGNORECASE)
_OPENS = re.compile(r"^(?:in|after|before|when|while|during|at|on|for|from|by)\b", re.IGNORECASE)
"""A clause that says where or when: "In the video where X", "After she leaves"."""
_BACK = re.compile(
    r"\b(?:he|she|it|they|him|her|them|his|its|their|this|these|those|the same|"
    r"that (?!(?:is|are|was|were|has|have|can)\b)\w+|such)\b",
    re.IGNORECASE,
)
_NAMING = re.compile(r"\b(?:video|film|clip|channel|upload\w*|recording)s?\b", re.IGNORECASE)
_NOUN = r"person|man|woman|player|actor|actress|object|thing|tool|item|place|room|video|film|team|animal|dish"
_NESTED = re.compile(
    rf"^(?P<head>.*?)\b(?P<noun>the (?:\w+ ){{0,2}}?(?:{_NOUN})) "
    rf"(?P<clause>(?:who|that|which|where) .+?)(?P<tail> {_ELSEWHERE} \w+\b.*|\?)$",
    re.IGNORECASE,
)


def decompose(question: str) -> list[str]:
    """At most five parts in the order in which they must be found; the question itself where it is one part.

    Sentences, then clauses that ask for something of their own; a part that says too little is joined
    to the one before it. A person or thing described by a clause ("the tool that he buys in another
    video") is a part before what is asked of it.
    """
    parts: list[str] = []
    for sentence in split_sentences(" ".join(question.split())):
        for clause in _HARD.split(sentence):
            parts += _clauses(clause)
    parts = _joined(parts)
    parts = [piece for part in parts for piece in _unnested(part)]
    if len(parts) > MOST_PARTS:
        parts = [*parts[: MOST_PARTS - 1], " ".join(parts[MOST_PARTS - 1 :])]
    return parts or [question.strip() or "the question"]


def without_source_sentences(question: str) -> str:
    """A question without the sentences before it that only say which video is meant.

    "The channel X uploaded a video in May. In it, what is poured?" asks for no channel.
    """
    sentences = split_sentences(" ".join(question.split()))
    if len(sentences) < 2 or not sentences[-1].endswith("?"):
        return question
    kept = [sentence for sentence in sentences[:-1] if not _NAMING.search(sentence)]
    return " ".join([*kept, sentences[-1]])


def refers_back(part: str) -> bool:
    """Whether a part speaks of something that an earlier one must find."""
    return bool(_BACK.search(part))


def _clauses(text: str) -> list[str]:
    """Split before what is asked, but not from where or when it is asked."""
    found: list[str] = []
    for clause in _SOFT.split(text):
        clause = clause.strip(" ,;")
        if found and _OPENS.match(found[-1]):
            found[-1] = f"{found[-1]}, {clause}"
        elif clause:
            found.append(clause)
    return found


def _joined(parts: list[str]) -> list[str]:
    """A part that says too little goes with the one before it."""
    found: list[str] = []
    for part in parts:
        if found and len(content_words(part)) < MIN_WORDS:
            found[-1] = f"{found[-1].rstrip('.')}. {part}"
        else:
            found.append(part)
    return found


def _unnested(part: str) -> list[str]:
    found = _NESTED.match(part)
    if found is None or len(content_words(found["clause"])) < MIN_WORDS:
        return [part]
    if len(content_words(found["head"])) < MIN_WORDS and len(content_words(found["tail"])) < MIN_WORDS:
        return [part]
    return [f"{found['noun']} {found['clause']}", f"{found['head']}{found['noun']}{found['tail']}"]


_TWO_HOP = re.compile(r"^\s*(?P<when>(?:when|while|for|in|during) [^.]+)\. (?P<claim>.+)$", re.I | re.DOTALL)


@dataclass(frozen=True, slots=True)
class TwoHop:
    """An option of the form "When X. The object does Y." (EgoFact, section 2.2)."""

    when: str
    claim: str


def two_hop(option: str) -> TwoHop | None:
    """The two parts of a two-hop option; None for any other text."""
    found = _TWO_HOP.match(option)
    return TwoHop(" ".join(found["when"].split()), found["claim"].strip()) if found else None


_YES_NO = (
    {"yes", "no"}, {"ja", "nein"}, {"oui", "non"}, {"sí", "no"}, {"si", "no"}, {"true", "false"},
    {"wahr", "falsch"}, {"richtig", "falsch"},
)  # fmt: skip


def is_answered_by_none(question: Question) -> bool:
    """Whether the options say Yes and No, or True and False, to a question that asks for more."""
    answers = {option.strip(" .!").casefold() for option in question.options}
    return answers in _YES_NO and asks_openly(parts(question.text).asked) is True


def spelled_out(question: Question) -> Question:
    """With what Yes and No claim in place of such options: "wear glasses", "not wear glasses"."""
    answers = [option.strip(" .!").casefold() for option in question.options]
    claim = declarative(parts(question.text).asked)
    if sorted(answers) != ["no", "yes"] or not content_words(claim):
        return question
    options = tuple(claim if answer == "yes" else f"not {claim}" for answer in answers)
    return replace(question, options=options)


def rewrite_question(question: Question) -> RewrittenQuestion:
    """EgoFact, D.2.3: "A video that shows ...", and for each option what it claims.

    The paper's "A passage about ..." is left out: the claim is encoded anyway, to be compared with sentences.
    """
    question = spelled_out(question)
    taken = parts(question.text)
    shown = taken.scene or declarative(taken.core)
    if not taken.scene and taken.event:
        shown = f"{taken.event}, {shown}" if content_words(shown) else taken.event
    visual = f"A video that shows {shown}.".replace("..", ".")
    counted = counted_event(question.text)
    if not question.options:
        query = taken.asked if content_words(taken.asked) else question.text
        return RewrittenQuestion(visual_query=visual, passage_queries=(query,), counted=counted)
    queries = tuple(statement(question, option) for option in question.options)
    by_option = asks_for_order(question.text) is not None and asks_for_order_alone(question.text)
    return RewrittenQuestion(
        visual_query=visual, passage_queries=queries, by_option=by_option, counted=counted
    )


def anchor_event(question: Question) -> AnchorEvent:
    """EgoFact, D.2.4: the event of a before or after; without one, the event that the question asks about."""
    taken = parts(question.text)
    if taken.event and taken.position != "within":
        asked = declarative(taken.core)
        named = says_more(asked)
        return AnchorEvent(description=taken.event, position=taken.position, target=asked if named else "")
    event = declarative(taken.core)
    if taken.event:
        event = f"{taken.event}, {event}"
    if not content_words(event) and taken.scene:
        event = taken.scene
    return AnchorEvent(description=event or question.text, position="within")


def topic_of(question: Question) -> str:
    """What the options are about, where the question itself says it in words of its own; else empty."""
    core = bare(parts(question.text).core)
    found = Form.TRUE_OF.search(core)
    topic = found["topic"] or "" if found else declarative(core)
    hidden = re.match(r"(?:the|an?|some) (?:object|thing|item)\b|something\b", topic, re.IGNORECASE)
    return "" if (hidden and found) or not content_words(topic) else topic


def statement(question: Question, option: str) -> str:
    """What an option claims, after the question's own topic: "the torque wrench: it loosens bolts"."""
    topic = topic_of(question)
    body = option.strip().rstrip(". ")
    hop = two_hop(body)
    body = f"{_lower(hop.when)}, {_lower(hop.claim)}" if hop else _lower(body)
    body = re.sub(r"\b[Tt]he object\b", "some object", body)
    return f"{topic}: {body}" if topic else body


_IT = re.compile(r"\b(?:it|its|them)\b", re.IGNORECASE)
_SAYS = re.compile(
    r"(?:article|clip|document|guide|handbook|instructions?|manual|page|passage|recording|text|"
    r"tutorial|video)s?\b",
    re.IGNORECASE,
)
"""What says or shows something, as in "What does the manual say about the kettle?"."""
_NAMED = re.compile(
    r"\b(?:the|an?|his|her|their|th(?:is|at|ese|ose))\s+(?P<noun>\w+(?: \w+)?)", re.IGNORECASE
)


def named_thing(question: Question, option: str) -> frozenset[str]:
    """Stems of the thing of the question that an option calls "it", and of the word after it, for the first
    may describe it: "stapler" and "cover" of "Why is the stapler covered?" and "He wraps it up.".

    Empty where the option names what it is about, or the question names nothing but where it is said.
    """
    named = _NAMED.finditer(topic_of(question)) if _IT.search(option) else ()
    found = (content_words(each["noun"]) for each in named if not _SAYS.match(each["noun"]))
    return frozenset(next(found, ()))


_OPENING_WORDS = frozenset(
    ["the", "a", "an", "it", "when", "while", "for", "in", "during", "if", "its", "this"]
)


def _lower(text: str) -> str:
    """The first letter small, unless the word is a name or an abbreviation."""
    first = text.split(maxsplit=1)[0] if text.split() else ""
    return text[:1].lower() + text[1:] if first.lower() in _OPENING_WORDS else text


MOST_KEYWORDS = 5
LONGEST_FILLER = 6
"""Words of an option that may stand for the "something" of the question's event."""

_PLACES = (
    (r"\b(?:at the (?:start|beginning)|in the beginning|opening|first)\b", "look at the beginning first"),
    (r"\b(?:at the end|in the end|finally|closing|last)\b", "look at the end first"),
    (r"\bhow (?:many times|often)\b|\bhow many\b", "look at all places where it happens, and count them"),
    (r"\border\b|\bsequence\b|\bfirst\b.*\bthen\b", "find each event, then compare their times"),
)


def decompose_facets(asked: Question) -> Facets:
    """The question's own facet and one an option; words that all options share set none of them apart."""
    question = replace(asked, text=Form.TIMES_DOES.sub("how does ", asked.text))
    taken = parts(question.text)
    event = declarative(taken.core)
    shown = event if says_more(event) else taken.scene or question.text
    if taken.event:
        shown = (
            f"{shown}, {taken.position} {taken.event}"
            if taken.position != "within"
            else f"{taken.event}, {shown}"
        )
    # A scene is found by all that it shows together; each word of it is seen in many others.
    scene = (taken.scene,) if len(content_words(taken.scene)) > 1 else ()
    keywords: dict[str, tuple[str, ...]] = {}
    events: dict[str, str] = {}
    stems = [word_set(option) for option in question.options]
    common = frozenset.intersection(*stems) if len(stems) > 1 else frozenset()
    for index, option in enumerate(question.options):
        label = option_label(index)
        own = tuple(word for word in entities(option, MOST_KEYWORDS) if not word_set(word) <= common)
        if own:
            keywords[label] = own
        events[label] = option_event(question, option) or option
    return Facets(
        query_keywords=(
            *scene,
            *entities(" ".join([taken.scene, taken.event, taken.core]), 2 * MOST_KEYWORDS),
        ),
        option_keywords=keywords,
        semantic_queries=events,
        general_semantic_query=shown or question.text or "the question",
        temporal_plan=_plan(taken.position, taken.event, asked.text),
        vlm_query=parts(asked.text).asked or asked.text,
    )


def option_event(question: Question, option: str) -> str:
    """The event that shows an option to be right: put into the question's event, or unchanged."""
    body = " ".join(option.split()).rstrip(". ")
    if two_hop(option):
        return statement(question, option)
    event = declarative(parts(question.text).core)
    short = len(body.split()) <= LONGEST_FILLER
    if "something" in event and short and says_more(event):
        return event.replace("something", body[:1].lower() + body[1:], 1)
    return statement(question, option)


def _plan(position: str, event: str, text: str) -> str:
    if position != "within":
        return f"find “{event}” first, then watch what comes just {position} it"
    return next((plan for cue, plan in _PLACES if re.search(cue, text, re.IGNORECASE)), "")


def extract_keywords(asked: Question) -> Keywords:
    """Those of the question's own facet."""
    return Keywords(keywords=decompose_facets(asked).query_keywords)
