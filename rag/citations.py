"""Which windows and passages an answer cites, which seconds of a clip prove what it quotes, and where to look
for what is not answered."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import PurePath

from corpora.file_names import repeats_name
from corpora.kinds import is_subtitles
from corpora.records import SPOKEN, Evidence, page_range
from corpora.text_decoding import one_line
from localization.spans import covering_window
from localization.windows import Window
from rag.cues import cues_with
from rag.questions import option_label
from rag.reasoners.roles.answers import ChosenOption, OpenAnswer
from rag.reasoners.roles.reading import Reading, ReadPassage, ReadWindow
from rag.records import (
    UNSURE,
    Answer,
    Citation,
    PassageCitation,
    Question,
    VideoCitation,
    is_still,
    pages_with,
    passage_citation,
    rounded_down,
)
from rag.retrieval import RetrievedClip, RetrievedPassage, Retriever
from rag.words import folded

LONGEST_QUOTED = 200
"""Characters of a text that is quoted where nothing is answered."""
QUOTED = re.compile(r"[“\"]([^“”\"]+)[”\"]")


def cite(reading: Reading, reply: ChosenOption | OpenAnswer) -> tuple[Citation, ...]:
    """The windows, then the passages that `reply` rests on, as read; each once. What holds a quotation comes
    first. An answer that names none of them was made of what was read: it cites what of that holds its words,
    or all of it.

    Where the answer, or the explanation of a choice, quotes text of the clip outside its window, the window
    cited is the one that holds the quotation: a citation must prove what it is cited for.
    """
    quotations = [reply.text] if isinstance(reply, OpenAnswer) else QUOTED.findall(reply.explanation)
    windows: dict[tuple[str, float, float], VideoCitation] = {}
    named = {i for i in reply.windows if 0 <= i < len(reading.windows)}
    named_passages = {i for i in reply.passages if 0 <= i < len(reading.passages)}
    answered = _answered(reading, reply)
    unnamed = bool(answered) and not named and not named_passages
    if unnamed:
        named, named_passages = {*range(len(reading.windows))}, {*range(len(reading.passages))}
    for index in sorted(named):
        read = reading.windows[index]
        start, end = citation_window(read, quotations)
        citation = VideoCitation(
            path=read.path,
            video_id=read.window.video_id,
            start=start,
            end=end,
            score=read.retrieval_score,
            evidence=tuple(e for e in read.texts if e.start < end and e.end > start),
        )
        # Two clips beside each other may have the same window at their border.
        windows.setdefault((citation.video_id, start, end), citation)
    passages: dict[str, ReadPassage] = {}
    for index in sorted(named_passages):
        read_passage = reading.passages[index]
        passages.setdefault(read_passage.passage.passage_id, read_passage)
    cited: list[Citation] = [*windows.values()]
    cited += [passage_citation(p.path, p.passage, p.score, quotations) for p in passages.values()]
    wanted = [*quotations, *QUOTED.findall(reply.explanation), *([answered] if unnamed else ())]
    quoted = [text for text in map(folded, wanted) if text]

    def holds(citation: Citation) -> bool:
        words = folded(_words(citation))
        return any(text in words for text in quoted)

    proof = [one for one in cited if holds(one)] if unnamed else []
    return tuple(proof or sorted(cited, key=lambda one: not holds(one)))


def _answered(reading: Reading, reply: ChosenOption | OpenAnswer) -> str:
    """The words of the answer; empty where nothing is answered."""
    if isinstance(reply, OpenAnswer):
        return reply.text.strip()
    chosen = [option_label(index) == reply.choice for index in range(len(reading.question.options))]
    return next((text for text, here in zip(reading.question.options, chosen, strict=True) if here), "")


def quotations(said: str, explanation: str, choice: str | None) -> list[str]:
    """What an answer quotes, what decided it first: of a choice its explanation, else what is said."""
    quoted = QUOTED.findall(explanation)
    return [said, *quoted] if choice is None else [*quoted, said]


def with_paths(answer: Answer, path_of: Callable[[str], str]) -> Answer:
    """The answer with the path of each video that it cites as `path_of` gives it for its id."""
    cited = (
        one if isinstance(one, PassageCitation) else replace(one, path=path_of(one.video_id))
        for one in answer.citations
    )
    return replace(answer, citations=tuple(cited))


def with_what_is_seen(citations: Sequence[Citation], retriever: Retriever) -> tuple[Citation, ...]:
    """The citations, each of a window with what its stored frames look like."""
    return tuple(
        replace(one, evidence=(*one.evidence, *retriever.seen(one.video_id, one.start, one.end)))
        if isinstance(one, VideoCitation)
        else one
        for one in citations
    )


def _words(citation: Citation) -> str:
    if isinstance(citation, PassageCitation):
        return citation.text
    return " ".join(evidence.text for evidence in citation.evidence)


def citation_window(read: ReadWindow, quotations: Sequence[str]) -> tuple[float, float]:
    """[start, end) in seconds: the window that was read, or the one in its texts that holds `quotations`.

    Speech that is quoted is in it whole, over all its cues; text on screen may stay beyond it. A window that
    does not hold the quoted text moves to where it covers it best, and grows over the speech that it cuts.
    """
    start, end = read.window.start, read.window.end
    quoted = _quoted(quotations, read.texts)
    spoken, shown = (
        [(texts[0].start, texts[-1].end) for texts in quoted if (texts[0].kind in SPOKEN) == said]
        for said in (True, False)
    )
    if all(start <= s and e <= end for s, e in spoken) and all(s < end and e > start for s, e in shown):
        return start, end
    spans = [*spoken, *shown]
    starts, ends = zip(*spans, strict=True)
    low, high = min(read.clip.start, start, *starts), max(read.clip.end, end, *ends)
    begin, until, score = covering_window(spans, [1.0] * len(spans), start=low, end=high, length=end - start)
    if score <= 0:
        return start, end
    cut = [(s, e) for s, e in spoken if s < until and e > begin]
    return round(min([begin, *(s for s, _ in cut)]), 6), round(max([until, *(e for _, e in cut)]), 6)


def quoted_texts(quotations: Sequence[str], texts: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """Choose the texts that hold a quotation or words of one, in their order.

    What is quoted of speech may begin in one cue and end in another.
    """
    found = {text for together in _quoted(quotations, texts) for text in together}
    return tuple(text for text in texts if text in found)


def _quoted(quotations: Sequence[str], texts: Sequence[Evidence]) -> list[tuple[Evidence, ...]]:
    """What holds a quotation or words of one: the cues over which it is said, each other text by itself."""
    said = [quotation for quotation in map(folded, quotations) if quotation]
    spoken = [[text for text in texts if text.kind == kind] for kind in SPOKEN]
    found = [together for each in said for cues in spoken for together in cues_with(each, cues)]
    held = {cue for together in found for cue in together}
    rest = [text for text in texts if text not in held]
    return found + [(one,) for one in rest if any(_quotes(each, folded(one.text)) for each in said)]


def _quotes(quotation: str, text: str) -> bool:
    return bool(text) and (quotation in text or (text in quotation and len(text.split()) > 1))


def quotation(text: str) -> str:
    """The beginning of a text on one line, in quotation marks."""
    line = " ".join(text.split())
    return f"“{line if len(line) <= LONGEST_QUOTED else f'{line[: LONGEST_QUOTED - 1].rstrip()}…'}”"


def nearest(found: Sequence[RetrievedClip | RetrievedPassage | Citation]) -> str:
    """A sentence on where to look for what is not answered: the first citation, or the most relevant of what
    was retrieved; empty without any. Where that is a passage, the one with the nearest sentence is named.

    The text that makes a clip relevant is quoted, unless it is the name of the file.
    """
    best = max(found, key=lambda one: getattr(one, "relevance", 0.0), default=None)
    said = next((one for one in found if isinstance(one, RetrievedPassage) and one.nearest), None)
    if best is None:
        return ""
    return f"Nearest is {_place(said if said and isinstance(best, RetrievedPassage) else best)}."


def place_of_text(text: str, found: Citation) -> str:
    """A text, quoted, and where the citation has it: “It is gold.” at 4.0-6.5 s of f.mp4."""
    if isinstance(found, VideoCitation):
        return _said_in_video(text, found.start, found.end, found.path)
    return _of_file(quotation(one_line(text)), found.pages, found.path)


def place_of_window(start: float, end: float, path: str) -> str:
    """Seconds of a video, and its name; of a photograph its name alone: 4.0-6.5 s of f.mp4, f.png."""
    name = PurePath(path).name
    return name if is_still(start, end) else f"{start:.1f}-{end:.1f} s of {name}"


def _said_in_video(text: str, start: float, end: float, path: str) -> str:
    return f"{quotation(text)} {'in' if is_still(start, end) else 'at'} {place_of_window(start, end, path)}"


def _place(found: RetrievedClip | RetrievedPassage | Citation) -> str:
    match found:
        case RetrievedClip(clip=clip, spans=spans):
            span = max(spans, key=lambda span: span.relevance, default=None)
            said = span.evidence if span and span.relevance >= found.image_relevance else None
            if said and not (said.kind == "tag" and repeats_name(said.text, found.path)):
                return _said_in_video(said.text, said.start, said.end, found.path)
            return place_of_window(clip.start, clip.end, found.path)
        case VideoCitation(start=start, end=end):
            return place_of_window(start, end, found.path)
        case RetrievedPassage(passage=passage, nearest=sentence) if sentence:
            return _of_file(quotation(one_line(sentence)), pages_with(passage, [sentence]), found.path)
        case RetrievedPassage(passage=passage) | (PassageCitation() as passage):
            title = f"“{one_line(passage.title)}”" if passage.title else ""
            return _of_file(title, passage.pages, found.path)


def _of_file(said: str, pages: Sequence[int], path: str) -> str:
    """What a file says, on which of its pages or when, and its name."""
    name, place = PurePath(path).name, page_range(pages, path)
    if place:
        at = "at" if is_subtitles(path) else "on"
        return f"{said} {at} {place} of {name}" if said else f"{place} of {name}"
    return f"{said} in {name}" if said else name


def answer_by_images(
    question: Question,
    clips: Sequence[RetrievedClip],
    windows: Sequence[Window],
    retriever: Retriever,
    *,
    threshold: float,
    unanswered: str,
) -> Answer | None:
    """The window whose images fit an open question best, where no sentence answers it: never sure. None where
    none have the relevance of a match, or where their encoder names images and has no name for these.

    `windows`: one for each of the `clips` that were found for the question. `threshold`: least relevance of a
    match, in [0, 1]. `unanswered`: why no text answers it.
    """
    best = max(range(len(clips)), key=lambda at: clips[at].image_relevance, default=None)
    if best is None or clips[best].image_relevance < threshold:
        return None
    clip, window = clips[best], windows[best]
    named = retriever.seen(window.video_id, window.start, window.end)
    if retriever.tower is not None and retriever.tower.names_images and not named:
        return None
    like = f", which {named[0].text.replace('like:', 'like')}" if named else ""
    cited = VideoCitation(clip.path, window.video_id, window.start, window.end, clip.score, named)
    return Answer(
        question=question,
        choice=None,
        text=f"{place_of_window(window.start, window.end, clip.path)}{like}.",
        confidence=min(clip.image_relevance, UNSURE),
        explanation=f"Images of this window fit it (relevance {rounded_down(clip.image_relevance):.2f}), and "
        f"by images alone no answer is sure. {unanswered}".strip(),
        matched=True,
        citations=(cited,),
    )
