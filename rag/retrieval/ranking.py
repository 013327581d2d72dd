"""Rankings of clips and passages: search over a table of texts, dense and BM25, and how hits are fused.

Images and texts each give a clip a chance to be the right one, and these are averaged (`pooled`). Ranks would
not do there: in a video in which people speak every clip has some rank by its words, and two rankings of
irrelevant words outweigh one of images with a clear best.

Passages are found by reciprocal rank fusion (Cormack, Clarke and Buettcher, SIGIR 2009):

    RRF(d) = sum over rankings r that hold d of 1 / (k + rank_r(d)),   rank from 1, k = 60

given here as a share of its maximum, which first place in every ranking has.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from corpora.records import Clip, Evidence, Passage
from indexers.protocol import TextEncoder
from rag.function_words import without_function_words
from rag.records import PassageHit, VideoHit
from rag.relevance import RRF_K, SENTENCE_MIDDLE, TEXT_ODDS_POWER, chunk_relevance, text_relevance
from rag.store.reading import Reader
from rag.store.records import Hit
from rag.words import (
    CLOSED,
    codes,
    content_words,
    elided,
    lexical_overlap,
    split_sentences,
    tokens,
    with_articles,
    word_set,
)


@dataclass(frozen=True, slots=True)
class RelevantSpan:
    """Text evidence and its relevance to a query."""

    evidence: Evidence
    relevance: float
    """In [0, 1]."""
    covered: float = 0.0
    """Share of the query's words that it has, in [0, 1]."""


def by_time(spans: Iterable[RelevantSpan]) -> tuple[RelevantSpan, ...]:
    """Spans of one video in time order."""

    def key(span: RelevantSpan) -> tuple[float, float, str, str]:
        return span.evidence.start, span.evidence.end, span.evidence.kind, span.evidence.text

    return tuple(sorted(spans, key=key))


@dataclass(frozen=True, slots=True)
class RetrievedClip:
    """A clip that retrieval found, before it is localized."""

    clip: Clip
    path: str
    title: str
    score: float
    """In (0, 1]: `pooled`; orders the clips of one query."""
    relevance: float
    """In [0, 1]: the greatest of `image_relevance` and its spans' relevance; comparable between queries."""
    image_relevance: float
    """In [0, 1]: relevance of the clip's image embedding, or the chance that its match gives it where that is
    more; 0 where there is none."""
    spans: tuple[RelevantSpan, ...]
    """Text evidence of the clip that the query found, in time order."""
    match: float | None = None
    """In (0, 1]: how likely it is the clip that is looked for, by its frames and those of the other clips
    compared; None where frames were not compared."""
    event: str = ""
    """The event for which it was looked for; empty where it is for the whole question."""
    occurrence: tuple[float, float] | None = None
    """First and last second in which its frames show that event, where this is known."""


@dataclass(frozen=True, slots=True)
class RetrievedPassage:
    """A passage that retrieval found."""

    passage: Passage
    path: str
    score: float
    """In (0, 1]: by RRF, or `pooled` where clips are ranked with passages; orders the hits of one query."""
    relevance: float
    """In [0, 1], comparable between queries."""
    covered: float = 0.0
    """Share of the query's words that it has, in [0, 1]."""
    option: int | None = None
    """Index of the option it was retrieved for; None where it is for the whole question."""
    nearest: str = ""
    """Its sentence that is nearest in meaning to the query of all that were compared; empty: another's is."""


MOST_RELEVANCE = 1 - 1e-6
"""Relevance of finite odds."""
LEAST_SCORE = 1e-6
"""The least score of anything that is found."""
WORDS_SHARE = 0.25
"""BM25 decides this share of the chance that text gives: it finds names and numbers that no vector knows."""


def fuse(rankings: Sequence[Sequence[str]]) -> list[Hit]:
    """Best first, by reciprocal ranks; equal scores in the order of the keys.

    `rankings`: each best first; a key that comes twice in one counts where it comes first.
    """
    sums: dict[str, float] = {}
    for ranking in rankings:
        for rank, key in enumerate(dict.fromkeys(ranking), start=1):
            sums[key] = sums.get(key, 0.0) + 1.0 / (RRF_K + rank)
    scores = {key: round(total / (len(rankings) / (RRF_K + 1)), 6) for key, total in sums.items()}
    return [Hit(*item) for item in sorted(scores.items(), key=lambda item: (-item[1], item[0]))]


def text_chances(
    relevance: Mapping[str, float], words: Mapping[str, float], covered: Mapping[str, float]
) -> dict[str, float]:
    """Estimate for each item, by its text, the chance in [0, 1] that it is looked for; at most 1 in all.

    `relevance`: in [0, 1]; as odds, to the power of `TEXT_ODDS_POWER`, with even odds that no text is
    relevant. So texts that are all somewhat relevant say little of each. `words`: BM25, above 0, by its
    share, as far as the item's text has the words of the query: `covered`, in [0, 1]. One word of five in
    common is no name.
    """
    odds = {
        key: (value / (1.0 - min(value, MOST_RELEVANCE))) ** TEXT_ODDS_POWER
        for key, value in relevance.items()
    }
    whole, matched = 1.0 + sum(odds.values()), sum(words.values()) or 1.0
    return {
        key: (1 - WORDS_SHARE) * value / whole
        + WORDS_SHARE * covered.get(key, 0.0) * words.get(key, 0.0) / matched
        for key, value in odds.items()
    }


def pooled(images: Mapping[str, float], texts: Mapping[str, float]) -> list[Hit]:
    """Best first, by the mean of two opinions on which item is looked for (linear opinion pool, Stone 1961).

    `images`, best first, and `texts`: chances in [0, 1], whose sum is at most 1 in each; an empty one is no
    opinion. Of equal items those of `images` come first, in its order.
    """
    opinions = [opinion for opinion in (images, texts) if opinion]
    keys = dict.fromkeys([*images, *sorted(texts)])
    mean = {key: sum(opinion.get(key, 0.0) for opinion in opinions) / len(opinions) for key in keys}
    ranked = sorted(keys, key=lambda key: -round(mean[key], 9))  # stable
    return [Hit(key, max(LEAST_SCORE, round(mean[key], 6))) for key in ranked]


@dataclass(frozen=True, slots=True)
class TextHits:
    """Both rankings of one query over one table, best first, and the cosine of each key.

    A key that only BM25 found is below the dense pool: it gets the pool's least cosine, an upper bound of
    its own.
    """

    dense: tuple[Hit, ...]
    matched: tuple[Hit, ...]
    cosine: dict[str, float]

    def keys(self) -> list[str]:
        """Everything found, sorted."""
        return sorted(self.cosine)

    def relevance(self, query: str, texts: dict[str, str], *, chunks: bool = False) -> dict[str, float]:
        """Relevance in [0, 1] of each key. `texts`: by key; `chunks`: they are passages, not sentences.

        A query of one word is looked for as it is written: half of what a text with it lacks of 1 is added.
        """
        wanted = content_words(query)
        one_word = len(query.split()) == 1
        found = {}
        for key, cosine in self.cosine.items():
            overlap = lexical_overlap(wanted, word_set(texts[key]))
            relevance = (
                chunk_relevance(cosine, overlap, len(wanted)) if chunks else text_relevance(cosine, overlap)
            )
            found[key] = round((1 + relevance) / 2, 6) if one_word and overlap == 1 else relevance
        return found


@dataclass(frozen=True, slots=True)
class ClipHits:
    """Everything one search found for clips."""

    evidence: TextHits
    spans: dict[str, dict[str, RelevantSpan]]
    """Clip id to evidence id to span."""
    images: Mapping[str, float] = field(default_factory=dict)
    """Clip id to how likely it is the right one by its images, best first; their sum is about 1."""
    compared: bool = False
    """Whether that is by their frames (`RetrievedClip.match`), and not by the vectors of whole clips."""
    relevance: Mapping[str, float] = field(default_factory=dict)
    """Clip id to the relevance of its images, of those that match best."""
    searched: int = 0
    """Clips among which those of `images` were found."""

    def ranked(self) -> list[Hit]:
        """The clips, best first."""
        relevance = self._relevance()
        # Where no text is relevant, images are all that there is to go by, however weak.
        weight = max([1.0 - max(relevance.values(), default=0.0), *self.relevance.values()])
        chances = {key: weight * match for key, match in self.images.items()}
        return pooled(chances, text_chances(relevance, self._words(), self._covered()))

    def ranked_with(
        self, clips: Sequence[RetrievedClip], passages: Sequence[RetrievedPassage], hits: TextHits
    ) -> list[Hit]:
        """Clips and passages in one ranking, best first: `clip ID` and `passage ID`.

        `clips`: the best of these hits, best first. `hits`: the search that found the passages.
        """
        relevance, words, covered = self._relevance(), self._words(), self._covered()
        ids = [found.clip.clip_id for found in clips]
        texts = {f"clip {key}": relevance.get(key, 0.0) for key in ids}
        texts |= {f"passage {found.passage.passage_id}": found.relevance for found in passages}
        scores = {f"clip {key}": words[key] for key in ids if key in words}
        scores |= {f"passage {hit.key}": hit.score for hit in hits.matched}
        of_words = {f"clip {key}": covered.get(key, 0.0) for key in ids}
        of_words |= {f"passage {p.passage.passage_id}": p.covered for p in passages}
        # A passage has no images: what they say is weighed clip by clip, and where no text is relevant by
        # nothing else.
        least = 1.0 - max(texts.values(), default=0.0)
        images = {
            f"clip {key}": max(least, found.image_relevance) * self.images[key]
            for key, found in zip(ids, clips, strict=True)
            if key in self.images
        }
        return pooled(images, text_chances(texts, scores, of_words))

    def image_chances(self) -> dict[str, float]:
        """Clip id to the chance that some clip is right and that it is this one, by images alone; empty where
        no frames were compared."""
        weight = max(self.relevance.values(), default=1.0)
        return {key: weight * match for key, match in self.images.items()} if self.compared else {}

    def _words(self) -> dict[str, float]:
        """Clip id to the BM25 score of its best span by words."""
        owner, best = self._owners(), dict[str, float]()
        for hit in self.evidence.matched:
            if clip_id := owner.get(hit.key):
                best[clip_id] = max(hit.score, best.get(clip_id, 0.0))
        return best

    def _covered(self) -> dict[str, float]:
        """Clip id to the share of the query's words that its best span has."""
        return {key: max(span.covered for span in held.values()) for key, held in self.spans.items()}

    def _relevance(self) -> dict[str, float]:
        """Clip id to the relevance of its most relevant span."""
        return {key: max(span.relevance for span in held.values()) for key, held in self.spans.items()}

    def _owners(self) -> dict[str, str]:
        """Evidence id to the id of the clip that it counts for."""
        return {key: clip_id for clip_id, found in self.spans.items() for key in found}


def text_hits(near: Sequence[Hit], words: Sequence[Hit], pool: int) -> TextHits:
    """The hits of both searches of one query, by vectors and by words, for which `pool` each were asked."""
    least = min((hit.score for hit in near), default=0.0) if len(near) >= pool else 0.0
    cosine = {hit.key: hit.score for hit in near}
    for hit in words:
        cosine.setdefault(hit.key, max(0.0, least))
    return TextHits(tuple(near), tuple(words), cosine)


def best_passages(
    reader: Reader, found: Sequence[TextHits], queries: Sequence[str], top_k: int
) -> list[list[RetrievedPassage]]:
    """The `top_k` passages of each query, best first, of its hits in `found`; all are read together."""
    scored = []
    for hits in found:
        fused = fuse([[hit.key for hit in hits.dense], [hit.key for hit in hits.matched]])[:top_k]
        scored.append({item.key: item.score for item in fused})
    keys = list(dict.fromkeys(key for scores in scored for key in scores))
    read = dict(zip(keys, reader.passages_with_paths(keys), strict=True))
    best = []
    for hits, query, scores in zip(found, queries, scored, strict=True):
        texts = {key: f"{read[key][0].title} {read[key][0].text}" for key in scores}
        kept = TextHits((), (), {key: hits.cosine[key] for key in scores})
        relevance = kept.relevance(query, texts, chunks=True)
        wanted = content_words(query)
        best.append(
            [
                RetrievedPassage(
                    *read[key], scores[key], relevance[key], lexical_overlap(wanted, word_set(texts[key]))
                )
                for key in scores
            ]
        )
    return best


LEAST_WORDS, LEAST_UNENDED = 2, 4
"""Words of a sentence with and without its end: shorter ones are scraps and headings."""
MOST_JUDGED = 10
"""Passages: the sentences of hundreds would take a minute."""


def judged_by_sentence(
    passages: Sequence[RetrievedPassage], query: str, encoder: TextEncoder
) -> list[RetrievedPassage]:
    """The passages, each at least as relevant as its best sentence.

    The vector of a passage on many things is near none of them, so that a question in other words than the
    text's, or in another language, seems to have no answer. All sentences of the first `MOST_JUDGED`
    passages are encoded.
    """
    sentences = [_sentences_of(found.passage.text) for found in passages[:MOST_JUDGED]]
    vector, *rows = encoder.encode_text([query, *chain.from_iterable(sentences)])
    cosines, wanted = iter([float(vector @ row) for row in rows]), content_words(query)
    judged, near = list(passages), list[tuple[float, int, str]]()
    for at, held in enumerate(sentences):
        spoken = [(next(cosines), -at, text) for text in held]
        each = [
            text_relevance(cosine, lexical_overlap(wanted, word_set(text)), SENTENCE_MIDDLE)
            for cosine, _, text in spoken
        ]
        judged[at] = replace(judged[at], relevance=max([judged[at].relevance, *each]))
        near += spoken
    _, place, nearest = max(near)
    judged[-place] = replace(judged[-place], nearest=nearest)
    return judged


def _sentences_of(text: str) -> list[str]:
    """Sentences of its paragraphs, without short headings and tables; the whole text if there are none."""
    parts = (part for part in text.split("\n\n") if not part.lstrip().startswith("|"))
    each = [sentence for part in parts for sentence in split_sentences(part)]
    least = (LEAST_WORDS if CLOSED.search(one) else LEAST_UNENDED for one in each)
    spoken = (one for one, words in zip(each, least, strict=True) if len(tokens(one)) >= words)
    return list(spoken) or [text]


def search_words(query: str) -> str:
    """The words for full-text search: without function words, unless there are no others; of a code its
    parts and the whole, as it may be written, and French words with their articles too ("l'eau").

    Codes first: a full-text query has a limit of words.
    """
    words = tokens(query)
    kept = without_function_words(words) or words
    whole = [form for word in elided(query) for form in (word, word.replace("'", "’"))]
    french = dict.fromkeys([*with_articles(kept), *whole])
    return " ".join([*kept, *sorted(codes(query) - set(words)), *french])


def clip_with_most(clips: Sequence[Clip], start: float, end: float) -> Clip:
    """The clip that has most of [start, end) seconds, the earlier of two, or else is nearest; of a span
    longer than any clip the one that it starts in. `clips`: those of a video in order of time, at least one.
    """
    if end - start > max(clip.end - clip.start for clip in clips):
        return next((clip for clip in clips if clip.end > start), clips[-1])
    return max(clips, key=lambda clip: min(end, clip.end) - max(start, clip.start))


def overlap(a_start: float, a_end: float, b_start: float, b_end: float) -> float:
    """Seconds that [a_start, a_end) and [b_start, b_end) share."""
    return max(0.0, min(a_end, b_end) - max(a_start, b_start))


def hit_id(hit: VideoHit | PassageHit) -> str:
    """Id by which hits of equal scores are ordered."""
    return hit.passage.passage_id if isinstance(hit, PassageHit) else hit.clip.clip_id
