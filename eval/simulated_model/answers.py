"""A reply out of what is perceived and read, field by field of the JSON schema that is asked for.

No answer of any query is known here. A text fits a fact as far as the fact has its words, in any wording of
the world's catalogue; an option is right as far as a fact that fits the question has its words, or a passage
about the object of such a fact says it. It neither counts nor puts events in order.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

from corpora.records import SPOKEN
from eval.simulated_model.perception import Fact, Frame, Perception, View, draw
from eval.simulated_model.request import Block, Request
from rag.words import content_words, lexical_overlap, numbers, word_set

SOUGHT = ("question", "wanted", "description", "memory")
"""Names of the material that says what is asked."""
KNOWN = 0.5
"""Share of the words asked for from which something is what was asked."""
DENIED = re.compile(r"\b(?:not|never|no)\b")
QUOTED = re.compile(r"“([^”]+)”")
ASKING = re.compile(r"^(?:what|which|who|how)\b.*?\b(?:that|object) ", re.IGNORECASE)
SIDE = re.compile(r"\b(before|after) (.+?), (?=wh|how)", re.IGNORECASE)
OPTION = re.compile(r"^\(([A-Z])\) (.*)", re.MULTILINE)
RESULT = re.compile(r"^Result (\d+):\n((?:(?!Result \d).*\n?)*)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Support:
    """What speaks for one option or answer."""

    score: float = 0.0
    fact: Fact | None = None
    passage: str = ""
    """Name of the block."""
    why: str = "The material does not show it; this one seems likeliest."


class Answering:
    """One request on its way to a reply."""

    def __init__(self, request: Request, perception: Perception) -> None:
        self.request, self.perception = request, perception
        self.sought = next((text for name in SOUGHT if (text := request.get(name))), "")
        self.options = dict(OPTION.findall(request.get("options")))
        self.passages = request.numbered("passage")

    def reply(self) -> dict[str, Any]:
        """A value for each field of the schema that something is known for, and for each that is required."""
        fields, required = self.request.fields, self.request.required
        return {
            name: FIELDS[name](self) if name in FIELDS else self._plain(schema)
            for name, schema in fields.items()
            if name in FIELDS or name in required
        }

    def _plain(self, schema: Mapping[str, Any]) -> Any:
        """A value for a field of an unknown name."""
        plain: dict[str, Any] = {"integer": 0, "array": [], "object": {}, "number": self.confidence}
        plain |= {"string": self.best.why, "boolean": self.fits}
        return plain.get(str(schema.get("type")))

    # What is seen and asked

    @cached_property
    def views(self) -> list[View]:
        """The blocks of the request that are stretches of video."""
        return [self.perception.view(block) for block in self.request.blocks if block.images or block.span]

    @cached_property
    def facts(self) -> list[Fact]:
        """The facts of all views but a frame that is only compared with."""
        return [fact for view in self.views if view.block.name != "reference" for fact in view.facts]

    @property
    def frames(self) -> list[Frame]:
        """The frames of the first stretch of video."""
        return list(self.views[0].frames) if self.views else []

    @cached_property
    def main(self) -> str:
        """What is asked for, without what comes before it: "after ..., what is ...?"."""
        last = self.sought.strip().rsplit(", ", 1)[-1]
        return last if len(content_words(last)) > 2 else self.sought.strip()

    def fit(self, fact: Fact) -> float:
        """How well a fact is what the request asks for, in [0, 1]."""
        held = fact.words | fact.setting
        main, whole = (lexical_overlap(content_words(text), held) for text in (self.main, self.sought))
        return 0.7 * main + 0.3 * whole

    def share(self, text: str, frame: Frame) -> float:
        """Share of a text's words that a frame shows, or that are said and shown around it."""
        near = [
            fact.words
            for fact in self.facts
            if fact.kind != "seen" and fact.start - 4 <= frame.time <= fact.end + 4
        ]
        return lexical_overlap(content_words(text), frame.words.union(*near))

    @property
    def anchor(self) -> tuple[str, str, str]:
        """The event to look for, on which side of it, and what is looked for there."""
        asked = ASKING.sub("", self.main).rstrip("?") or "anything"
        side = SIDE.search(self.sought)
        return (side[2], side[1].lower(), asked) if side else (asked, "within", "")

    # Options and answers

    @cached_property
    def supports(self) -> dict[str, Support]:
        """What speaks for each option, by its label, best first; equal ones in an order by seed."""
        found = {label: self._support(option) for label, option in self.options.items()}
        seed, digest = self.perception.seed, self.request.digest
        return dict(
            sorted(found.items(), key=lambda one: (-one[1].score, draw("guess", seed, digest, one[0])))
        )

    def _support(self, option: str) -> Support:
        wanted = content_words(option)
        found = [
            Support(lexical_overlap(wanted, fact.words) * (0.3 + 0.7 * self.fit(fact)), fact, "", _told(fact))
            for fact in self.facts
        ]
        for block in self.passages:
            about = max((fact for fact in self.facts if _is_about(block, fact)), key=self.fit, default=None)
            said = _said(option, block.text)
            score = max(0.0, 2 * said - 1) * (0.2 + 0.8 * (self.fit(about) if about else 0.0))
            found.append(Support(score, about, block.name, f"{_told(about)} A passage says so."))
        return max(found, key=lambda one: one.score, default=Support())

    @cached_property
    def best(self) -> Support:
        """What the answer rests on; nothing where the material does not decide."""
        if self.options:
            first, *others = self.supports.values()
            decided = first.score >= KNOWN / 2 and first.score > max(
                (one.score for one in others), default=0.0
            )
            return first if decided else Support()
        fact = max(self.facts, key=self.fit, default=None)
        if fact is not None and self.fit(fact) > KNOWN:
            return Support(self.fit(fact), fact, "", _told(fact))
        wanted = content_words(self.sought)
        share, passage = max(
            ((lexical_overlap(wanted, word_set(block.text)), block.name) for block in self.passages),
            default=(0.0, ""),
        )
        return Support(share, None, passage, "A passage says it.") if share >= KNOWN else Support()

    @property
    def fits(self) -> bool:
        """Whether what is asked for is here."""
        return self.best.score > KNOWN or any(self.fit(fact) > KNOWN for fact in self.facts)

    @property
    def confidence(self) -> float:
        """The confidence that the reply states."""
        chance = 1 / len(self.options) if self.options and self.request.must_answer else 0.1
        return round(min(0.97, max(0.05, chance, self.best.score)), 3)

    @property
    def choice(self) -> str | None:
        """The option that is supported best; a guess where one must be given."""
        known = self.best.score > 0 or self.request.must_answer
        return next(iter(self.supports)) if self.options and known else None

    @property
    def text(self) -> str:
        """A short answer: the object, where the question does not name it, or what is done or said."""
        fact = self.best.fact
        if fact is not None:
            named = lexical_overlap(content_words(fact.thing), word_set(self.sought))
            return fact.thing if fact.thing and not named else fact.sentence
        block = self.request.get(self.best.passage)
        sentences = re.split(r"(?<=[.!?])\s+", block.partition("Text: ")[2] or block)
        wanted = content_words(self.sought)
        return max(sentences, key=lambda one: lexical_overlap(wanted, word_set(one))) if block else ""

    # Places in a video

    @property
    def caption(self) -> str:
        """Everything perceived."""
        return " ".join(view.caption for view in self.views) or "Nothing can be made out."

    def windows(self) -> list[Any]:
        """The windows that are cited, by number; or stretches of one video, best first, none twice."""
        if "$ref" not in str(self.request.fields["windows"]):
            return _number(self.best.fact.source if self.best.fact else "", "window")
        if not self.views:
            return []
        times = sorted(frame.time for frame in self.frames)
        low, high = self.views[0].block.span or (0.0, max(times, default=1.0) + 1.0)
        fits = [fact for fact in self.facts if self.fit(fact) > KNOWN]
        found: list[dict[str, Any]] = []
        for fact in sorted(fits, key=self.fit, reverse=True):
            start = max(low, max((time for time in times if time < fact.start), default=fact.start - 1.0))
            end = min(high, min((time for time in times if time > fact.end), default=fact.end + 1.0))
            if end - start > 0.05 and not any(start < one["end"] and end > one["start"] for one in found):
                found.append({"start": round(start, 2), "end": round(end, 2), "reason": fact.sentence})
        if not found and self.request.must_answer:
            found = [{"start": low, "end": min(high, low + 10.0), "reason": "the likeliest place"}]
        return found[: self.request.count]

    def frame(self) -> int | None:
        """The frame that fits best; None where none does and none must."""
        scores = [self.share(self.request.get("memory") or self.sought, frame) for frame in self.frames]
        best = max(range(len(scores)), key=lambda at: (scores[at], -at), default=None)
        return best if best is not None and (scores[best] >= KNOWN or self.request.must_answer) else None

    def events(self) -> list[dict[str, Any]]:
        """One for each stretch of frames that show the same."""
        found: list[dict[str, Any]] = []
        high = (self.views[0].block.span or (0.0, self.frames[-1].time + 1.0))[1] if self.frames else 0.0
        ends = [*(frame.time for frame in self.frames[1:]), high]
        for frame, end in zip(self.frames, ends, strict=False):
            said = frame.fact.sentence if frame.fact else frame.scenery
            if found and found[-1]["description"] == said:
                found[-1]["end"] = round(end, 2)
            elif said and end > frame.time:
                found.append({"start": round(frame.time, 2), "end": round(end, 2), "description": said})
        return found

    # Verdicts

    def video_match(self) -> bool:
        """Whether enough of what is asked for is seen somewhere in the video."""
        seen = [*(frame.setting for frame in self.frames), *(fact.words for fact in self.facts)]
        share = lexical_overlap(content_words(self.sought), frozenset[str]().union(*seen))
        return share >= KNOWN

    def text_match(self) -> bool:
        """Whether the one frame shows what is described."""
        return bool(self.frames and self.share(self.sought, self.frames[0]) >= KNOWN)

    def image_match(self) -> bool | None:
        """Whether two frames are of one scene; None where there is nothing to compare with."""
        if not any(block.name == "reference" for block in self.request.blocks):
            return None
        firsts = [view.frames[0] for view in self.views if view.frames]
        seen = [frame.setting for frame in firsts]
        shared = len(seen[0].intersection(*seen)) / max(1, len(seen[0].union(*seen))) if seen[1:] else 0.0
        apart = len({frame.key for frame in firsts} - {""}) > 1
        return shared >= KNOWN and not apart

    def audio_match(self) -> bool | None:
        """Whether what was heard, in quotation marks, is said; None where nothing is quoted or said."""
        heard = QUOTED.findall(f"{self.request.get('heard')} {self.request.get('memory')}")
        spoken = [fact.words for fact in self.facts if fact.kind in SPOKEN]
        if not heard or not spoken:
            return None
        share = lexical_overlap(content_words(" ".join(heard)), frozenset().union(*spoken))
        return share >= KNOWN

    def constraint_match(self) -> bool | None:
        """Whether the frame shows what is also asked; a guess where a frame cannot show it."""
        asked = self.request.get("constraint").partition(": ")[2]
        if not asked or not self.frames:
            return None
        share = self.share(asked, self.frames[0])
        guess = draw("constraint", self.perception.seed, self.request.digest) < 0.5
        return share >= KNOWN or (not share and guess)

    def same(self, one: str, other: str) -> bool:
        """Whether one text says what another one says; of several lines any."""
        held = word_set(other)
        shares = [lexical_overlap(content_words(line), held) for line in one.splitlines()]
        return max(shares, default=0.0) >= 0.75

    # Searching

    def missing(self) -> list[str]:
        """The keywords that nothing perceived holds."""
        held = word_set(" ".join(f"{view.caption} {view.block.text}" for view in self.views))
        words = [line for line in self.request.get("keywords").splitlines() if line and line != "(none)"]
        return [word for word in words if lexical_overlap(content_words(word), held) < 1]

    def queries(self) -> list[str]:
        """Searches that were not made yet: the parts of what is asked, the whole, the options. None once
        three were made, where results may be opened instead."""
        parts = [line.partition(": ")[2] or line for line in self.sought.splitlines()]
        tried = f"{self.request.get('tried')}\n{self._observed}".casefold()
        wanted = dict.fromkeys([*reversed(parts), self.main, *self.options.values()])
        left = [query for query in wanted if query and query.casefold() not in tried]
        if "open" in self.request.fields and self.request.numbered("search")[2:]:
            return []
        return left[: self.request.count] or [self.main or "anything"][: self.request.count]

    @property
    def _observed(self) -> str:
        return "\n".join(block.text for block in self.request.numbered("search"))

    def selected(self) -> list[int]:
        """Numbers of results whose words fit best."""
        listed = {int(block.name.rsplit(" ", 1)[1]): block.text for block in self.request.numbered("result")}
        listed |= {int(number): text for number, text in RESULT.findall(self._observed)}
        wanted = content_words(self.sought)
        scores = {at: lexical_overlap(wanted, word_set(text)) for at, text in listed.items()}
        return sorted(scores, key=lambda at: (-scores[at], at))[: max(2, self.request.count)]

    def sub_questions(self) -> list[dict[str, Any]]:
        """The question itself, solved once a video is verified."""
        blocks = self.request.numbered("video")
        found = next((block.text for block in blocks if "Status: verified" in block.text), "")
        finding = found.partition("Found: ")[2].partition("\n")[0]
        return [{"text": self.main, "status": "solved" if found else "missing", "finding": finding}]

    def named(self) -> list[list[str]]:
        """The words of each sentence of a text."""
        return [[*content_words(line)] for line in re.split(r"(?<=[.!?])\s+|\n", self.request.get("text"))]


def _told(fact: Fact | None) -> str:
    return f"At {fact.start:.1f} s: {fact.sentence}." if fact else ""


def _number(name: str, kind: str) -> list[int]:
    return [int(name.rsplit(" ", 1)[1])] if name.startswith(f"{kind} ") else []


def _is_about(block: Block, fact: Fact) -> bool:
    """Whether a passage's title names the object of a fact."""
    return bool(fact.thing) and word_set(fact.thing) <= word_set(block.text.partition("\n")[0])


def _said(option: str, text: str) -> float:
    """How far a text says a statement, in [0, 1]: its words, its numbers, and whether it is denied."""
    wanted = content_words(option)
    share = lexical_overlap(wanted, word_set(text))
    if not {*numbers(option)} <= {*numbers(text)}:
        share *= 0.8
    near = max(re.split(r"(?<=[.!?])\s+", text), key=lambda one: lexical_overlap(wanted, word_set(one)))
    return share if bool(DENIED.search(option)) == bool(DENIED.search(near)) else 0.85 * share


Field = Callable[[Answering], Any]
FIELDS: Mapping[str, Field] = {
    **dict.fromkeys(("explanation", "reason", "reasoning"), lambda one: one.best.why),
    "relevant": lambda one: one.fits or one.request.must_answer or one.frame() is not None,
    "confidence": lambda one: one.confidence,
    "choice": lambda one: one.choice,
    "text": lambda one: one.text,
    "passages": lambda one: _number(one.best.passage, "passage"),
    "windows": Answering.windows,
    "frame": Answering.frame,
    "events": Answering.events,
    "actions": lambda one: [f"{fact.sentence}." for fact in one.facts if fact.kind == "seen"],
    **dict.fromkeys(("caption", "summary"), lambda one: one.caption),
    "missing": Answering.missing,
    "needs_more_info": lambda one: not one.fits,
    "missing_visual_keyword": lambda one: "" if one.fits else next(iter(one.missing()), ""),
    "video_match": Answering.video_match,
    "text_match": Answering.text_match,
    "image_match": Answering.image_match,
    "audio_match": Answering.audio_match,
    "constraint_match": Answering.constraint_match,
    "is_correct": lambda one: one.same(one.request.get("truth"), one.request.get("prediction")),
    "sufficient": lambda one: one.same(one.main, one.request.get("caption")),
    "visual_query": lambda one: f"A video that shows: {one.main or 'anything'}",
    "passage_queries": lambda one: [*one.options.values()] or [one.sought],
    "description": lambda one: one.anchor[0],
    "position": lambda one: one.anchor[1],
    "target": lambda one: one.anchor[2],
    **dict.fromkeys(("keywords", "query_keywords"), lambda one: [*content_words(one.sought)]),
    "option_keywords": lambda one: {label: [*content_words(text)] for label, text in one.options.items()},
    "general_semantic_query": lambda one: one.main or "anything",
    **dict.fromkeys(("queries", "search_queries"), Answering.queries),
    "selected": Answering.selected,
    "open": lambda one: [] if one.queries() else one.selected(),
    "sub_questions": Answering.sub_questions,
    "entities": lambda one: [{"name": word, "type": "word"} for words in one.named() for word in words],
    "relationships": lambda one: [
        {"source": first, "target": other, "description": " ".join(words), "strength": 8}
        for words in one.named()
        for first, other in pairwise(words)
    ],
}
"""What is known of a field of a reply, by its name; the names are those of the roles' replies."""
