"""A stretch looked at: its words, the nearest wordings of its frames, and which keywords are not there.

Where more is said or shown than a caption has room for, it tells what comes nearest the question.
No picture is described freely. What the caption says of the frames is a list of
wordings that they come near to (`zero_shot`), and of the facets' own words those
that reach a relevance of one half and come nearer than all of those; both under "seems to show".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rag.reasoners.embedded.listening import Heard, heard, lines, relevances
from rag.reasoners.embedded.locating import sought
from rag.reasoners.embedded.zero_shot import ZeroShotScorer
from rag.reasoners.roles import Facet, Observation, ObserveRequest, VideoView
from rag.relevance import content_words

if TYPE_CHECKING:
    from rag.reasoners.embedded.vectors import SentenceVectors

SUPPORTED = 0.5
MOST_SAID, MOST_SHOWN = 6, 4
"""Lines of a caption that are spoken, and that stand on the screen."""
MOST_COMPARED = 24

_SAID = ("subtitle", "asr")
_TOLD = ("caption", "chapter")
_QUOTATION = re.compile(r"\s*\b(?:On the screen|Said): “[^“”]*”\.(?=\s|$)")
ROOM = ((_SAID, MOST_SAID), (("ocr",), MOST_SHOWN), (_TOLD, MOST_SHOWN))


def observe(request: ObserveRequest, sight: ZeroShotScorer, vectors: SentenceVectors) -> Observation:
    view = request.view
    facets = request.facets or (Facet("question", (), (request.vlm_query or request.question.text,)),)
    held = lines(view)
    told = _worth_telling(held, request.question.text, view, vectors)
    keywords = list(dict.fromkeys(word for facet in facets for word in facet.keywords if word.strip()))
    queries = list(dict.fromkeys(query for facet in facets for query in facet.queries if query.strip()))
    seen = _seen([*keywords, *(sought(query) for query in queries)], view, sight)
    read = set(content_words(" ".join(line.text for line in held)))
    missing = tuple(word for word in keywords if not _read(word, read) and seen.get(word, 0.0) < SUPPORTED)
    unmet = [query for query in queries if not _supported(query, held, seen, vectors)]
    lacking = next(iter(unmet), "") or next(iter(missing), "")
    shown = sight.nearer([text for text, relevance in seen.items() if relevance >= SUPPORTED], view)
    named = sight.named(view)
    return Observation(
        caption=_caption(told, shown, named.said() if named is not None else ""),
        missing=missing,
        needs_more_info=bool(unmet) or bool(missing and not queries),
        missing_visual_keyword=lacking,
        reasoning=_reasoning(len(queries) - len(unmet), len(queries), len(missing), len(keywords)),
    )


def without_quotations(caption: str) -> str:
    """What a caption of `observe` tells of the pictures, without what it quotes of speech and screen."""
    return _QUOTATION.sub("", caption).strip()


def _seen(texts: Sequence[str], view: VideoView, sight: ZeroShotScorer) -> dict[str, float]:
    """Relevance of each text to the frame that shows it best; empty where nothing can be seen."""
    plain = [text for text in dict.fromkeys(texts) if content_words(text)]
    relevance = sight.relevance(plain, view)
    return {} if relevance is None else dict(zip(plain, relevance, strict=True))


def _read(word: str, read: set[str]) -> bool:
    stems = content_words(word)
    return bool(stems) and set(stems) <= read


def _supported(query: str, held: Sequence[Heard], seen: dict[str, float], vectors: SentenceVectors) -> bool:
    if seen.get(sought(query), 0.0) >= SUPPORTED:
        return True
    texts = [line.text for line in held if line.kind != "tag"][:MOST_COMPARED]
    return bool(texts) and bool(content_words(query)) and max(relevances(query, texts, vectors)) >= SUPPORTED


def _worth_telling(
    held: Sequence[Heard], question: str, view: VideoView, vectors: SentenceVectors
) -> list[Heard]:
    """All lines of a kind that a caption has room for, else those nearest the question, in time order."""
    kept: list[Heard] = []
    for kinds, most in ROOM:
        found = [line for line in held if line.kind in kinds]
        if len(found) > most:
            ranked = [line for line in heard(question, view, vectors) if line.kind in kinds]
            found = sorted(ranked[:most] or found[:most], key=lambda line: (line.start, line.end, line.text))
        kept += found
    return kept


def _caption(held: Sequence[Heard], shown: Sequence[str], named: str) -> str:
    """Empty where nothing can be told: a sentence that says so would be read as if it told something."""
    said = [line.text for line in held if line.kind in _SAID]
    read = [line.text for line in held if line.kind == "ocr"]
    told = [line.text for line in held if line.kind in _TOLD]
    parts = []
    if seems := "; ".join(dict.fromkeys(part for part in (named, *shown) if part)):
        parts.append(f"Seems to show {seems}.")
    parts += [f"On the screen: “{text}”." for text in read]
    parts += [f"Said: “{text}”." for text in said]
    parts += told
    return " ".join(parts)


def _reasoning(met: int, queries: int, missing: int, keywords: int) -> str:
    return (
        f"{met} of {queries} events are shown or said, {keywords - missing} of {keywords} keywords are there."
    )
