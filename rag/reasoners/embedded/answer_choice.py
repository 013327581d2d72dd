"""A question with options answered by weighing three kinds of evidence for each.

For option i, with its statement h_i ("torque wrench: it should not loosen bolts"):

    words_i   = cosine(h_i, s) + 0.12 overlap(h_i, s)   at the sentence s nearest to h_i
    says_i    = coverage of the option's words by s, and whether s says it or its contrary
    image_i   = log(n share) of the n options, by the frames of the windows (`frame_votes`)
    p         = softmax((8 words + 3 coverage + 2.5 verdict + image) / T)

with T = 1.6, and T = 3 where the windows were looked for by the options (`Reading.searched_by_option`):
there each option's nearest sentence is the best of a whole video, and a denial or a number in one
of them outweighs what is nearly even. T sets how sure the choice is, and never which it is.

Two-hop options, "When X. The object does Y." (EgoFact, section 2.2): options
with the same X are about the same object, and what that object is, is in
their passages, not in them; so the image is asked for the things that the
passage of the option names, and the words of options of one X count only against
each other. Which thing is seen ("what is the object that ...?") is
stated by no passage, so there only the clip's own words count beside the images.

Options that differ only in when, or how often: "which of these happens first?" is decided by when each
option's event is best supported, "how many times" by the number of windows that support the event asked
for. What supports: a sentence of the windows (`text_relevance`), or a frame (`image_relevance`), at a
relevance of one half or more.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from rag.questions import option_label
from rag.reasoners.embedded.agreement import Agreement, agreement
from rag.reasoners.embedded.frame_votes import frame_votes
from rag.reasoners.embedded.rewriting import (
    asks_for_order,
    asks_for_thing,
    declarative,
    parts,
    statement,
    two_hop,
)
from rag.reasoners.embedded.scoring import SentenceVectors
from rag.reasoners.embedded.sentences import Sentence, relevances, sentences_of, shortlist
from rag.reasoners.roles.answer_choice import ChosenOption
from rag.reasoners.roles.reading import Reading
from rag.relevance import (
    IMAGE_MIDDLE,
    ImageScoreCalibrator,
    content_words,
    image_relevance,
    lexical_overlap,
    numbers,
    text_relevance,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray


SUPPORTED = 0.5
UNSEEN = 0.05
"""Weight of an option that nothing supports against one that is surely seen at the right end."""
SURE_COUNT = 0.3
"""Share that the nearest number gets beyond an even one: the windows read show only a part of the video."""

_COUNT = re.compile(r"\bhow (?:many|often)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Support:
    """The strongest place at which an option is seen or stated."""

    strength: float
    time: float
    window: int


def asks_for_count(text: str, options: Sequence[str]) -> bool:
    """Whether a number is asked for, and every option is one."""
    return _COUNT.search(text) is not None and all(len(numbers(option)) == 1 for option in options)


def answer_over_time(
    reading: Reading, vectors: SentenceVectors, calibrator: ImageScoreCalibrator | None
) -> ChosenOption | None:
    """None where the question is about neither order nor number, or nothing in the windows speaks to it."""
    question = reading.question
    end = asks_for_order(question.text)
    if end is not None:
        # Times of two videos have no order.
        videos = dict.fromkeys(window.window.video_id for window in reading.windows)
        supports = [
            [
                _support(option, reading, vectors, calibrator, _windows_of(video_id, reading))
                for option in question.options
            ]
            for video_id in videos
        ]
        return _by_order(max(supports, key=_strength, default=[]), end)
    if asks_for_count(question.text, question.options):
        return _by_count(reading, vectors, calibrator)
    return None


def _windows_of(video_id: str, reading: Reading) -> list[int]:
    return [index for index, window in enumerate(reading.windows) if window.window.video_id == video_id]


def _strength(supports: Sequence[_Support | None]) -> float:
    return sum(found.strength for found in supports if found is not None)


def _by_order(supports: Sequence[_Support | None], end: Literal["first", "last"]) -> ChosenOption | None:
    placed = [(found.time, index) for index, found in enumerate(supports) if found is not None]
    if not placed:
        return None
    placed.sort(key=lambda pair: (pair[0] if end == "first" else -pair[0], pair[1]))
    weights = [UNSEEN] * len(supports)
    for rank, (_, index) in enumerate(placed):
        found = supports[index]
        assert found is not None, "only what is placed is ranked"
        weights[index] += found.strength * 0.5**rank
    order = ", then ".join(f"({option_label(index)}) at {time:.0f} s" for time, index in sorted(placed))
    windows = {found.window for found in supports if found is not None}
    return _chosen(weights, f"Seen or said: {order}.", windows)


def _by_count(
    reading: Reading, vectors: SentenceVectors, calibrator: ImageScoreCalibrator | None
) -> ChosenOption | None:
    asked = declarative(parts(reading.question.text).core)
    event = asked if content_words(asked) else reading.question.text
    supporting = [
        index
        for index in range(len(reading.windows))
        if _support(event, reading, vectors, calibrator, [index])
    ]
    if not supporting:
        return None
    offered = [numbers(option)[0] for option in reading.question.options]
    nearest = min(range(len(offered)), key=lambda i: (abs(offered[i] - len(supporting)), i))
    weights = [1.0] * len(offered)
    weights[nearest] += SURE_COUNT * len(offered)
    return _chosen(
        weights,
        f"{len(supporting)} of {len(reading.windows)} windows show or say “{event}”.",
        set(supporting),
    )


def _chosen(weights: Sequence[float], explanation: str, windows: set[int]) -> ChosenOption:
    whole = sum(weights)
    scores = tuple(round(weight / whole, 6) for weight in weights)
    best = max(range(len(scores)), key=lambda i: (scores[i], -i))
    return ChosenOption(
        choice=option_label(best),
        scores=scores,
        confidence=scores[best],
        explanation=explanation,
        windows=tuple(sorted(windows)),
    )


def _support(
    event: str,
    reading: Reading,
    vectors: SentenceVectors,
    calibrator: ImageScoreCalibrator | None,
    among: Sequence[int],
) -> _Support | None:
    """The stronger support of an event in the one of the windows `among` where words and frames, as odds
    multiplied, support it most; the earliest of equals. None where neither has a relevance of one half."""
    best, most = None, 0.0
    rows = None if calibrator is None else calibrator.encode([event])
    for index in among:
        supports = _by_text(event, reading, index, vectors), _by_frames(rows, reading, index, calibrator)
        found = [support for support in supports if support and support.strength >= SUPPORTED]
        together = sum(math.log(support.strength / max(1e-6, 1 - support.strength)) for support in found)
        here = max(found, key=lambda support: (support.strength, -support.time), default=None)
        if here and (best is None or (together, -here.time) > (most, -best.time)):
            best, most = here, together
    return best


def _by_text(event: str, reading: Reading, index: int, vectors: SentenceVectors) -> _Support | None:
    texts = reading.windows[index].texts
    if not texts or not content_words(event):
        return None
    strengths = relevances(event, [text.text for text in texts], vectors)
    at = strengths.index(max(strengths))
    return _Support(strengths[at], texts[at].start, index)


def _by_frames(
    rows: NDArray[np.float32] | None, reading: Reading, index: int, calibrator: ImageScoreCalibrator | None
) -> _Support | None:
    window = reading.windows[index]
    if calibrator is None or rows is None or window.frame_vectors is None or not len(window.frame_vectors):
        return None
    z: NDArray[np.float64] = np.round(calibrator.level_z(rows, window.frame_vectors)[0], 6)
    at = int(np.argmax(z))
    time = float(window.frame_times[at]) if window.frame_times is not None else window.window.start
    return _Support(image_relevance(float(z[at])), time, index)


TEMPERATURE = 1.6
"""Of the softmax over options: of 1 to 2 in steps of 0.1 the one of least log loss of the confidence on 450
questions of two dev worlds of egofact-workbench-hard (docs/design/workbench.md)."""
TEMPERATURE_BY_OPTION = 3.0
"""The same where windows were looked for by the options: of 1, 2, 2.5, 3, 4, 5 and 6 the one of least
log loss on 51 questions over three videos that no report is about."""
WORDS, COVERAGE, VERDICT, IMAGES = 8.0, 3.0, 2.5, 1.0
LEAST_RELEVANCE = 0.2
"""Of the nearest sentence, below which words support no option."""
SURE_RELEVANCE = 0.9
"""From which a sentence supports an option that shares no word with it."""
SCENE_SHARE = 0.6
"""Of the best window's standard score that a window must reach to show the same scene."""
LEAST_IMAGE_SHARE = 0.6
"""Share of what the images say below which they support no option."""


@dataclass(frozen=True, slots=True)
class Weighed:
    """One option: the sentence nearest to it, what that says of it, and the image's vote."""

    sentence: Sentence | None
    words: float
    relevance: float
    agreement_: Agreement
    image: float | None
    frames: tuple[int, ...]
    """Windows whose frames gave the vote."""

    def text_score(self) -> float:
        """What the words say."""
        return WORDS * self.words + COVERAGE * self.agreement_.coverage + VERDICT * self.agreement_.verdict

    def image_score(self) -> float:
        """What the images say."""
        return IMAGES * (self.image or 0.0)


def answer_choice(
    reading: Reading, vectors: SentenceVectors, calibrator: ImageScoreCalibrator | None
) -> ChosenOption:
    """The likeliest option; no choice where neither words nor images come near any."""
    timed = answer_over_time(reading, vectors, calibrator)
    if timed is not None:
        return timed
    weighed = _weigh(reading, vectors, calibrator)
    if not reading.must_choose and not any(_supported(option, len(weighed)) for option in weighed):
        return ChosenOption(
            choice=None, confidence=0.0, explanation="The evidence read supports none of the options."
        )
    logits = _logits(reading, weighed)
    sharp = _softmax([value / TEMPERATURE for value in logits])
    best = max(range(len(sharp)), key=lambda i: (sharp[i], -i))
    # Of options as good as equal the first is taken, and none may then get a higher score.
    logits[best] = max(logits)
    scores = (
        _softmax([value / TEMPERATURE_BY_OPTION for value in logits]) if reading.searched_by_option else sharp
    )
    chosen = weighed[best]
    windows = set(chosen.frames)
    passages: set[int] = set()
    if chosen.sentence is not None and chosen.relevance >= LEAST_RELEVANCE:
        (windows if chosen.sentence.origin == "window" else passages).add(chosen.sentence.index)
    return ChosenOption(
        choice=option_label(best),
        scores=scores,
        confidence=scores[best],
        explanation=_explanation(best, weighed),
        windows=tuple(sorted(windows)),
        passages=tuple(sorted(passages)),
    )


def _logits(reading: Reading, weighed: Sequence[Weighed]) -> list[float]:
    """Words and images of each option; of two-hop options with images, words only within their X:
    log p(X by images) + log p(option by words, given X).

    A library holds a passage for every X, so how well words fit says nothing about which X it is.
    """
    hops = [two_hop(option) for option in reading.question.options]
    text_score = [option.text_score() for option in weighed]
    if all(hops) and any(option.image is not None for option in weighed):
        groups: dict[str, list[float]] = {}
        for hop, value in zip(hops, text_score, strict=True):
            groups.setdefault(hop.when if hop else "", []).append(value)
        whole = {when: _log_sum(values) for when, values in groups.items()}
        text_score = [
            value - whole[hop.when if hop else ""] for hop, value in zip(hops, text_score, strict=True)
        ]
    return [value + option.image_score() for value, option in zip(text_score, weighed, strict=True)]


def _weigh(
    reading: Reading, vectors: SentenceVectors, calibrator: ImageScoreCalibrator | None
) -> list[Weighed]:
    question = reading.question
    wanted = content_words(" ".join([question.text, *question.options]))
    votes = frame_votes(reading, calibrator)
    informative = _informative_sentences(reading, votes is not None)
    in_scene = windows_in_scene(reading, calibrator)
    if in_scene is not None:
        informative = [s for s in informative if s.origin == "passage" or s.index in in_scene]
    sentences = shortlist(wanted, informative)
    claims = [statement(question, option) for option in question.options]
    rows = vectors.of([*claims, *(s.context for s in sentences)], reading.text_vectors)
    weighed = []
    for index, (option, claim) in enumerate(zip(question.options, claims, strict=True)):
        nearest, words = _nearest(claim, option, sentences, rows)
        agreement_ = Agreement(0.0, 0.0, ())
        relevance = 0.0
        if nearest is not None:
            rivals = [_body(other) for at, other in enumerate(question.options) if at != index]
            agreement_ = agreement(_body(option), nearest.context, rivals)
            relevance = text_relevance(words, 0.0)
        vote = votes[index] if votes else None
        image, frames = (vote.z, vote.windows) if vote else (None, ())
        weighed.append(Weighed(nearest, words, relevance, agreement_, image, frames))
    return weighed


def windows_in_scene(reading: Reading, calibrator: ImageScoreCalibrator | None) -> frozenset[int] | None:
    """Indices of the windows whose frames show the scene of "In a clip that shows SCENE, ...".

    None where it is unknown: the question names no scene, no frame is known, or no window shows it
    (mean standard score of its frames below 2.5, relevance one half).
    """
    scene = parts(reading.question.text).scene
    if not scene or calibrator is None:
        return None
    rows = calibrator.encode([f"A video that shows {scene}."])
    fits = {
        index: round(float(calibrator.level_z(rows, window.frame_vectors).mean()), 6)
        for index, window in enumerate(reading.windows)
        if window.frame_vectors is not None and len(window.frame_vectors)
    }
    best = max(fits.values(), default=0.0)
    if best < IMAGE_MIDDLE:
        return None
    return frozenset(index for index, fit in fits.items() if fit >= SCENE_SHARE * best)


def _informative_sentences(reading: Reading, has_images: bool) -> list[Sentence]:
    """The sentences that can distinguish the options.

    Which thing is seen in a video's event is in no passage: passages that name all the options
    would drown what the images say.
    """
    sentences = sentences_of(reading)
    question = reading.question
    if not has_images or any(two_hop(option) for option in question.options):
        return sentences
    return [s for s in sentences if s.origin == "window"] if asks_for_thing(question.text) else sentences


def _nearest(
    claim: str, option: str, sentences: Sequence[Sentence], rows: Mapping[str, NDArray[np.float64]]
) -> tuple[Sentence | None, float]:
    best, most, likest = None, -math.inf, 0.0
    wanted, own = content_words(claim), content_words(option)
    for sentence in sentences:
        words_of_sentence = set(content_words(f"{sentence.title} {sentence.context}"))
        words = float(rows[claim] @ rows[sentence.context]) + 0.12 * lexical_overlap(
            wanted, words_of_sentence
        )
        rank = round(words + 0.25 * lexical_overlap(own, words_of_sentence), 6)
        if rank > most:
            best, most, likest = sentence, rank, round(words, 6)
    return best, likest


def _body(option: str) -> str:
    hop = two_hop(option)
    return hop.claim if hop else option


def _share(option: Weighed, options: int) -> float:
    """Of what the images say, in [0, 1]: a vote is log(n share) of n options."""
    return 0.0 if option.image is None else math.exp(option.image) / options


def _supported(option: Weighed, options: int) -> bool:
    named = option.agreement_.coverage > 0 or option.relevance >= SURE_RELEVANCE
    by_words = option.relevance >= LEAST_RELEVANCE and named
    return by_words or _share(option, options) >= LEAST_IMAGE_SHARE


def _log_sum(values: Sequence[float]) -> float:
    """log of the sum of exp: less this, values are logarithms of shares that sum to 1."""
    top = max(values)
    return top + math.log(sum(math.exp(value - top) for value in values))


def _softmax(logits: Sequence[float]) -> tuple[float, ...]:
    """Probabilities to 6 decimals that sum to 1 (the first greatest takes what rounding left)."""
    top = max(logits)
    powers = [math.exp(value - top) for value in logits]
    rounded = [round(power / sum(powers), 6) for power in powers]
    first = rounded.index(max(rounded))
    rounded[first] = round(rounded[first] + 1.0 - sum(rounded), 6)
    return tuple(rounded)


def _explanation(best: int, weighed: Sequence[Weighed]) -> str:
    chosen = weighed[best]
    reasons = []
    if chosen.sentence is not None and chosen.relevance >= LEAST_RELEVANCE:
        source = "a passage" if chosen.sentence.origin == "passage" else "the video"
        if chosen.sentence.title:
            source = f"the passage “{chosen.sentence.title}”"
        reasons.append(f"{option_label(best)} is nearest to what {source} says: “{chosen.sentence.text}”")
    if chosen.image is not None and chosen.image > 0:
        reasons.append(f"the frames fit it best ({_share(chosen, len(weighed)):.0%})")
    for index, other in enumerate(weighed):
        if index != best and other.agreement_.reasons and other.sentence == chosen.sentence:
            reasons.append(f"{option_label(index)} is contradicted: {other.agreement_.reasons[0]}")
    if not reasons:
        return "No option stands out."
    text = "; ".join(reasons)[:1500]
    return text if text.endswith((".”", "!”", "?”")) else text + "."
