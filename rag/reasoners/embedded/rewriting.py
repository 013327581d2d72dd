"""What to look for, read from a question by rules: scene, event, anchor, queries, parts and facets.

The forms are those of EgoFact's prompts (D.2.3 and D.2.4): "In a video where
SCENE, [before|after EVENT,] what is the object that EVENT?". A question in
another form loses its question word and is taken as it is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal

from rag.questions import option_label
from rag.reasoners.embedded.phrases import entities
from rag.reasoners.embedded.sentences import speech_question, split_sentences
from rag.reasoners.roles.anchor_event import AnchorEvent
from rag.reasoners.roles.decompose_facets import Facets
from rag.reasoners.roles.extract_keywords import Keywords
from rag.reasoners.roles.rewrite_question import RewrittenQuestion
from rag.records import Question
from rag.relevance import content_words

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


_SCENE = re.compile(
    r"^\s*in (?:a|an|the|this|one) (?:short |egocentric |first-person )?(?:video|clip|recording|film)"
    r"(?: clip)? (?:where|in which|that shows|that depicts|which shows|showing|depicting|of|about|with|when)"
    r" (?P<scene>.+?)[,.] (?=(?:(?:right |just |immediately |shortly )?(?:before|after|while|when|as|until)\b"
    r"|what|which|who|whom|whose|where|when|why|how|does|do|did|is|are|was|were|can)\b)",
    re.IGNORECASE | re.DOTALL,
)
_SCENE_NOUN = re.compile(
    r"^\s*in (?P<scene>(?:a|an|the) [\w\s'-]{2,60}?) (?:video|clip|recording|film), ", re.IGNORECASE
)
_SPOT = re.compile(r"\s*\b(?:in|of|from) (?:this|the|that) (?:video|clip|recording|film)\b,?", re.IGNORECASE)
_BEFORE = r"before|prior to|until|ahead of"
_AFTER = r"after|as soon as|once|following"
_CUE = r"(?:(?:right|just|immediately|shortly|directly|soon) )?(?P<cue>" + _BEFORE + "|" + _AFTER + ")"
_LEADING = re.compile(r"^\s*" + _CUE + r" (?P<event>.+?), ", re.IGNORECASE)
_TRAILING = re.compile(r"(?P<head>.+?)\b" + _CUE + r" (?P<event>[^,?]+?)\s*[?.!]*\s*$", re.IGNORECASE)
_WHILE = re.compile(
    r"^\s*(?:while|when|as) (?P<event>.+?), (?=(?:what|which|who|where|how)\b)", re.IGNORECASE
)
_OBJECT = re.compile(
    r"(?:what|which|who)\b.*?\b(?:object|thing|item|tool|food|animal|ingredient|device|person)s?"
    r"(?: (?:that|which|who|being))? (?P<event>\S.*)$",
    re.IGNORECASE,
)
_DOES = re.compile(r"^(?:what|who|whom|which(?: \w+){1,3}) (?:does|do|did) (?P<event>.+)$", re.IGNORECASE)
_DOING = re.compile(r"^what (?:is|are|was|were) (?P<who>.+?) (?P<verb>\w+ing)\b(?P<rest>.*)$", re.IGNORECASE)
_WH = re.compile(
    r"^(?:(?:on|in|at|to|from|with|for|of|by) )?(?:what|which|who|whom|whose|where|when|why|"
    r"how(?: (?:many|much|often|long|far|fast|high|hot|old|big|large|heavy|thick|wide|deep|should))?)\b"
    r"(?: (?:is|are|was|were|does|do|did|should|can|could|will|would|has|have|had|may|might|i|you|we)\b)*\s*",
    re.IGNORECASE,
)
_YES_NO = re.compile(
    r"^(?:is|are|was|were|does|do|did|should|can|could|will|would|has|have|may) (?:(?:i|you|we) )?",
    re.IGNORECASE,
)
_PLACE_FOR_OBJECT = re.compile(
    r" (?=(?:toward|towards|into|onto|on|to|from|with|in|at|over|under|for|near|off|through|against|around|"
    r"inside|between|behind|beside)\b)"
)
_PASSIVE = re.compile(r"^(?:is|are|was|were|being|gets?|has been)\b", re.IGNORECASE)
_TWO_HOP = re.compile(r"^\s*(?P<when>(?:when|while|for|in|during) [^.]+)\. (?P<claim>.+)$", re.I | re.DOTALL)
_TOPIC = re.compile(
    r"\b(?:true|right|correct|false|wrong)\b(?: (?:about|of|for|regarding) (?P<topic>.+))?$", re.I
)

_WHICH = re.compile(r"\bwhich (?:of (?:these|the following)|event|one)\b", re.IGNORECASE)
_HAPPENS = re.compile(r"\b(?:happens?|comes?|occurs?|takes? place|is (?:seen|shown))\b", re.IGNORECASE)
_UNTOLD = re.compile(
    r"\bin (?:the|this|that) (?:whole |entire )?(?:film|movie|footage|video|clip|recording)\b"
    r"(?! (?:of|about|from)\b)|\bevents?\b",
    re.IGNORECASE,
)
"""What a question of order may say beside it, and still names nothing to be seen."""
_END = re.compile(r"\b(?:first|earliest|last|latest)\b", re.IGNORECASE)
_OFTEN = re.compile(
    r"^\s*how (?:often|many (?:times|parts|scenes|places))\b(?! (?:an?|per|each|every) \w)"
    r"(?! (?:can|do) (?:I|you|we)\b(?! see\b))"
    r"(?!.*\b(?:should|must|needs?|recommended|ha(?:s|ve) to)\b)(?P<event>.+)$",
    re.IGNORECASE,
)
_WHOLE = re.compile(
    r"\b(?:in|of|during|throughout) (?:the|this|that) (?:whole |entire )?"
    r"(?:film|movie|footage|video|clip|recording)\b",
    re.IGNORECASE,
)
_SEEN_THAT = re.compile(
    r"^(?:(?:is it|can (?:one|we|you)) (?:seen|shown|see)(?: that)?|takes? place|happens?|plays?"
    r"|(?:is|are|was|were|does|do|did) (?!it\b))\s*",
    re.IGNORECASE,
)
"""What stands between "how many times" and the event."""


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


@dataclass(frozen=True, slots=True)
class TwoHop:
    """An option of the form "When X. The object does Y." (EgoFact, section 2.2)."""

    when: str
    claim: str


def two_hop(option: str) -> TwoHop | None:
    """The two parts of a two-hop option; None for any other text."""
    found = _TWO_HOP.match(option)
    return TwoHop(" ".join(found["when"].split()), found["claim"].strip()) if found else None


def parts(text: str) -> Parts:
    """Split a question into scene, event and what is asked."""
    scene, rest = "", " ".join(text.split())
    for pattern in (_SCENE, _SCENE_NOUN):
        if found := pattern.match(rest):
            scene, rest = found.group("scene").strip(), rest[found.end() :]
            break
    rest = _SPOT.sub("", rest).strip()
    if found := _LEADING.match(rest):
        return Parts(
            scene, found.group("event").strip(), _side(found.group("cue")), rest[found.end() :], rest
        )
    if (found := _TRAILING.match(rest)) and content_words(found.group("event")):
        event, head = found.group("event").strip(), found.group("head").strip()
        return Parts(scene, event, _side(found.group("cue")), head, rest)
    if found := _WHILE.match(rest):
        return Parts(scene, found.group("event").strip(), "within", rest[found.end() :], rest)
    return Parts(scene, "", "within", rest, rest)


def asks_for_thing(text: str) -> bool:
    """Whether a question asks which thing takes part in an event of a video it describes."""
    taken = parts(text)
    return bool(taken.scene) and _OBJECT.match(taken.core.strip()) is not None


def asks_for_order(text: str) -> Literal["first", "last"] | None:
    """Which end of the order a question asks for; None where it asks for neither."""
    # One pattern of all three would take a long question cubic time.
    which = _WHICH.search(text)
    ends = list(_END.finditer(text, which.end())) if which else []
    happens = list(_HAPPENS.finditer(text, which.end(), ends[-1].start())) if which and ends else []
    if not happens:
        return None
    asked = next(end for end in ends if end.start() >= happens[-1].end())
    return "first" if asked[0].lower() in ("first", "earliest") else "last"


def counted_event(text: str) -> str:
    """What a question counts in a whole video ("How many times does X?"); empty for any other question."""
    taken = parts(text)
    seen = not (taken.scene or taken.event or speech_question(text))
    found = _OFTEN.match(taken.asked.rstrip("?.! ")) if seen else None
    event = " ".join(_WHOLE.sub(" ", found["event"]).split()) if found else ""
    event = _SEEN_THAT.sub("", event)
    return event if content_words(event) else ""


def declarative(core: str) -> str:
    """The event of a question as a plain clause, with "something" in the place of the asked-for object."""
    text = core.strip().rstrip("?.! ")
    if found := _OBJECT.match(text):
        event = found.group("event")
        if _PASSIVE.match(event):
            return f"something {event}"
        return _with_object(event)
    if found := _DOING.match(text):
        return f"{found['who']} {found['verb']} something{found['rest']}"
    if found := _DOES.match(text):
        event = found.group("event")
        return event if re.search(r"\b(?:do|happen)$", event) else _with_object(event)
    plain = _WH.sub("", text) or text
    if plain == text:
        plain = _YES_NO.sub("", text) or text
    return plain


def says_more(event: str) -> bool:
    """Whether an event of `declarative` says more than "something"."""
    return bool(content_words(event.replace("something", "")))


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
    by_option = asks_for_order(question.text) is not None and not _names_something(question.text)
    return RewrittenQuestion(
        visual_query=visual, passage_queries=queries, by_option=by_option, counted=counted
    )


def _names_something(text: str) -> bool:
    """Whether a question of order says anything else; "Which of these happens first in the film?" doesn't."""
    rest = _UNTOLD.sub(" ", _SPOT.sub(" ", text))
    for pattern in (_WHICH, _HAPPENS, _END):
        rest = pattern.sub(" ", rest)
    return bool(content_words(rest))


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


def _side(cue: str) -> Literal["before", "after"]:
    return "before" if re.fullmatch(_BEFORE, cue, re.IGNORECASE) else "after"


def _with_object(event: str) -> str:
    """ "the goalkeeper kicks toward the goal" -> "the goalkeeper kicks something toward the goal"."""
    head, *tail = _PLACE_FOR_OBJECT.split(event, maxsplit=1)
    return " ".join([head, "something", *tail])


def topic_of(question: Question) -> str:
    """What the options are about, where the question itself says it in words of its own; else empty."""
    core = parts(question.text).core.strip().rstrip("?.! ")
    found = _TOPIC.search(core)
    if found:
        topic = found.group("topic") or ""
    else:
        topic = declarative(core)
    hidden = re.match(r"(?:the|an?|some) (?:object|thing|item)\b|something\b", topic, re.IGNORECASE)
    return "" if (hidden and found) or not content_words(topic) else topic


def statement(question: Question, option: str) -> str:
    """What an option claims, after the question's own topic: "the torque wrench: it loosens bolts"."""
    topic = topic_of(question)
    body = option.strip().rstrip(". ")
    if hop := two_hop(body):
        body = f"{_lower(hop.when)}, {_lower(hop.claim)}"
    else:
        body = _lower(body)
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

_COUNTED = re.compile(r"\bhow (?:many times|often) (?:does|do|did) ", re.IGNORECASE)
_SIDES = {"before": "just before", "after": "just after"}
_PLACES = (
    (r"\b(?:at the (?:start|beginning)|in the beginning|opening|first)\b", "look at the beginning first"),
    (r"\b(?:at the end|in the end|finally|closing|last)\b", "look at the end first"),
    (r"\bhow (?:many times|often)\b|\bhow many\b", "look at all places where it happens, and count them"),
    (r"\border\b|\bsequence\b|\bfirst\b.*\bthen\b", "find each event, then compare their times"),
)


def decompose_facets(asked: Question) -> Facets:
    """The question's own facet and one an option; words that all options share set none of them apart."""
    question = replace(asked, text=_COUNTED.sub("how does ", asked.text))
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
    stems = [set(content_words(option)) for option in question.options]
    common = set.intersection(*stems) if len(stems) > 1 else set()
    for index, option in enumerate(question.options):
        label = option_label(index)
        own = tuple(
            word for word in entities(option, MOST_KEYWORDS) if not set(content_words(word)) <= common
        )
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
    if position in _SIDES:
        return f"find “{event}” first, then watch what comes {_SIDES[position]} it"
    return next((plan for cue, plan in _PLACES if re.search(cue, text, re.IGNORECASE)), "")


def extract_keywords(asked: Question) -> Keywords:
    """Those of the question's own facet."""
    return Keywords(keywords=decompose_facets(asked).query_keywords)
