"""A question with options answered by weighing three kinds of evidence for each.

For option i, with its statement h_i ("torque wrench: it should not loosen bolts"):

    words_i   = cosine(h_i, s) + 0.12 overlap(h_i, s)   at the sentence s nearest to h_i
    says_i    = coverage of the option's words by s, and whether s says it or its contrary
    asked_i   = share of the question's words in s, where all options have a number
    image_i   = log(n share) of the n options, by the frames of the windows (`frame_votes`)
    p         = softmax((8 words + 3 coverage + 2.5 verdict + 3 asked + image) / T)

with T = 1.6, and T = 3 where the windows were looked for by the options (`Reading.searched_by_option`):
there each option's nearest sentence is the best of a whole video, and a denial or a number in one
of them outweighs what is nearly even. T sets how sure the choice is, and never which it is.

Two-hop options, "When X. The object does Y." (EgoFact, section 2.2): options
with the same X are about the same object, and what that object is, is in
their passages, not in them; so the image is asked for the things that the
passage of the option names, and the words of options of one X count only against
each other. Which thing is seen ("what is the object that ...?") is
stated by no passage, so there only the clip's own words count beside the images.

Options that differ only in when, or how often: `over_time`. Options about the others, "none of the above" and
"all of the above", are weighed against what becomes of the others without them: `_beside_the_listed`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from rag.questions import option_label
from rag.reasoners.embedded.agreement import agreement
from rag.reasoners.embedded.answer_open import ranked_answers
from rag.reasoners.embedded.answer_types import answer_type
from rag.reasoners.embedded.claims import is_answered_by_none, spelled_out, two_hop
from rag.reasoners.embedded.over_time import answer_over_time
from rag.reasoners.embedded.question_forms import Form, parts
from rag.reasoners.embedded.quotation import Scored
from rag.reasoners.embedded.scoring import SentenceVectors, frames_of
from rag.reasoners.embedded.sentences import Sentence, contrasts, said_of_another, sentences_of
from rag.reasoners.embedded.weighing import SURE_RELEVANCE, Weighed, stems_of, weigh
from rag.reasoners.roles.answer_choice import ChosenOption
from rag.reasoners.roles.reading import Reading
from rag.records import Question
from rag.relevance import IMAGE_MIDDLE, ImageScoreCalibrator
from rag.words import content_words, lexical_overlap, word_set

TEMPERATURE = 1.6
"""Of the softmax over options: of 1 to 2 in steps of 0.1 the one of least log loss of the confidence on 450
questions of two dev worlds of egofact-workbench-hard (docs/design/workbench.md)."""
TEMPERATURE_BY_OPTION = 3.0
"""The same where windows were looked for by the options: of 1, 2, 2.5, 3, 4, 5 and 6 the one of least
log loss on 51 questions over three videos that no report is about."""
EVEN = 1e-6
"""Between two logits, below which neither option is likelier."""
LEAST_RELEVANCE = 0.2
"""Of the nearest sentence, below which words support no option."""
LEAST_CLAIMED = 0.6
"""Share of the words of what Yes and No claim that a sentence must exceed to support either: one word of it
says nothing of the claim."""
SURE_ANSWER = 0.6
"""Confidence of a sentence that answers a question, from which an option that it does not state is wrong."""
MOST_OTHERWISE = 0.7
"""Confidence that no option is right, where a text only says something else: one may say the same in other
words."""
SCENE_SHARE = 0.6
"""Of the best window's standard score that a window must reach to show the same scene."""
LEAST_IMAGE_SHARE = 0.6
"""Share of what the images say below which they support no option."""


def answer_choice(
    reading: Reading, vectors: SentenceVectors, calibrator: ImageScoreCalibrator | None
) -> ChosenOption:
    """The likeliest option, and no choice where neither words nor images come near any."""
    options = range(len(reading.question.options))
    listed = [at for at in options if not _about_others(reading.question.options[at])]
    if 1 < len(listed) < len(options):
        return _beside_the_listed(reading, listed, vectors, calibrator)
    return _chosen(reading, vectors, calibrator, options)


def _about_others(option: str) -> bool:
    """Whether an option says that all of the others are right, or none."""
    return bool(Form.ALL_OF.search(option) or Form.NONE_OF.search(option))


def _chosen(
    reading: Reading,
    vectors: SentenceVectors,
    calibrator: ImageScoreCalibrator | None,
    labelled: Sequence[int],
) -> ChosenOption:
    """Of options that are not about each other. `labelled`: number of each, by which it is labelled.

    Where the frames show the scene that the question names, one of the options is likeliest, however little.
    """
    asked = reading.question
    if not reading.must_choose and is_answered_by_none(asked):
        return _no_choice("The question asks for more than its options say, which is but yes or no.")
    reading = replace(reading, question=spelled_out(asked))
    claimed = reading.question != asked
    least = LEAST_CLAIMED if claimed else 0.0
    timed = answer_over_time(reading, vectors, calibrator)
    if timed is not None:
        return timed
    in_scene = windows_in_scene(reading, calibrator)
    weighed = weigh(reading, vectors, calibrator, in_scene, claimed=claimed)
    choose = reading.must_choose or (in_scene is not None and weighed[0].image is not None)
    if not choose and not any(_supported(option, len(weighed), least) for option in weighed):
        held = sentences_of(reading)
        others = contrasts(asked.text, held, held, reading) if not claimed else {}
        why = said_of_another(asked.text, others)
        return _no_choice(f"The evidence read supports none of the options{': ' if why else ''}{why}.")
    logits = _logits(reading, weighed)
    labels = [option_label(at) for at in labelled]
    equal = [label for label, value in zip(labels, logits, strict=True) if max(logits) - value < EVEN]
    if len(equal) > 1 and not reading.must_choose:
        return _no_choice(f"The evidence read does not distinguish {' and '.join(equal)}.")
    return _likeliest(reading, weighed, logits, labels)


def _no_choice(why: str) -> ChosenOption:
    return ChosenOption(choice=None, confidence=0.0, explanation=why)


def _likeliest(
    reading: Reading, weighed: Sequence[Weighed], logits: Sequence[float], labels: Sequence[str]
) -> ChosenOption:
    """The option with the greatest of `logits`, with its evidence."""
    sharp = _softmax([value / TEMPERATURE for value in logits])
    best = sharp.index(max(sharp))
    # Of options as good as equal the first is taken, and none may then get a higher score.
    logits = [max(logits) if at == best else value for at, value in enumerate(logits)]
    scores = (
        _softmax([value / TEMPERATURE_BY_OPTION for value in logits]) if reading.searched_by_option else sharp
    )
    chosen = weighed[best]
    windows = set(chosen.frames)
    passages: set[int] = set()
    if chosen.sentence is not None and _supported_by_words(chosen):
        (windows if chosen.sentence.origin == "window" else passages).add(chosen.sentence.index)
    return ChosenOption(
        choice=labels[best],
        scores=scores,
        confidence=scores[best],
        explanation=_explanation(best, weighed, labels),
        windows=tuple(sorted(windows)),
        passages=tuple(sorted(passages)),
    )


def _beside_the_listed(
    reading: Reading, listed: Sequence[int], vectors: SentenceVectors, calibrator: ImageScoreCalibrator | None
) -> ChosenOption:
    """The choice where options that are not `listed` say that all of these are right, or none.

    All: where sentences that have all words of the question state each. None: where the sentence that answers
    the question best does so surely, and states none. Else one of the listed, but for one that its nearest
    sentence denies.
    """
    options = reading.question.options
    others = [index for index in range(len(options)) if index not in listed]
    every = [index for index in others if Form.ALL_OF.search(options[index])]
    neither = [index for index in others if index not in every]
    passages = (
        replace(read, option=listed.index(read.option) if read.option in listed else None)
        for read in reading.passages
    )
    question = replace(reading.question, options=tuple(options[index] for index in listed))
    reading = replace(reading, question=question, passages=tuple(passages))
    weighed = weigh(reading, vectors, calibrator, windows_in_scene(reading, calibrator), claimed=False)
    if every and (said := _each_stated(weighed, question)):
        sure = min(option.relevance for option in weighed)
        return _one_of_others(every[0], sure, "All of the others are stated", said, len(options))
    by_images = any(_share(option, len(weighed)) >= LEAST_IMAGE_SHARE for option in weighed)
    if neither and not by_images:
        best = next(iter(ranked_answers(reading, vectors)), None)
        meant = any(_names_in_other_words(option) for option in weighed)
        if best is not None and not meant and _answers_otherwise(best, question):
            why = "The question is answered, and by none of the others"
            denied = all(option.agreement.verdict < 0 for option in weighed)
            sure = best.confidence if denied else min(best.confidence, MOST_OTHERWISE)
            return _one_of_others(neither[0], sure, why, [best.sentence], len(options))
        if not reading.must_choose and max(weighed, key=Weighed.text_score).agreement.verdict < 0:
            return _no_choice(
                "The evidence read denies the options nearest to it, and does not surely answer the question."
            )
    found = _chosen(reading, vectors, calibrator, listed)
    scores = dict(zip(listed, found.scores, strict=bool(found.scores)))
    every_score = tuple(scores.get(index, 0.0) for index in range(len(options))) if scores else ()
    return found.model_copy(update={"scores": every_score})


def _each_stated(weighed: Sequence[Weighed], question: Question) -> list[Sentence]:
    """The sentences that state all options, where they have all words of the question; else none."""
    asked = content_words(question.text)
    found = [
        option.sentence
        for option in weighed
        if option.sentence is not None
        and option.agreement.coverage == 1
        and option.agreement.verdict > 0
        and lexical_overlap(asked, stems_of(option.sentence)) == 1
    ]
    return found if len(found) == len(weighed) else []


def _answers_otherwise(best: Scored, question: Question) -> bool:
    """Whether a sentence surely answers a question, and with none of its options."""
    kind, asked = answer_type(question.text), content_words(question.text)
    full = lexical_overlap(asked, stems_of(best.sentence)) == 1
    fits = kind.name == "thing" or kind.strength(best.sentence.text) > 0
    if best.confidence < SURE_ANSWER or not (best.holds_type or (full and fits)):
        return False
    context = best.sentence.context
    own = [set(content_words(option)) - set(asked) for option in question.options]
    held = [lexical_overlap(words, word_set(context)) > 0 for words in own]
    return not any(
        said and agreement(option, context).verdict >= 0
        for option, said in zip(question.options, held, strict=True)
    )


def _one_of_others(
    index: int, sure: float, why: str, sentences: Sequence[Sentence], options: int
) -> ChosenOption:
    """The choice of an option about the others, by what sentences say."""
    rest = round((1 - sure) / (options - 1), 6)
    scores = tuple(rest if other != index else round(1 - rest * (options - 1), 6) for other in range(options))
    quoted = "; ".join(dict.fromkeys(f"“{sentence.text}”" for sentence in sentences))
    return ChosenOption(
        choice=option_label(index),
        scores=scores,
        confidence=scores[index],
        explanation=f"{why}: {quoted}"[:1500],
        windows=tuple(sorted({one.index for one in sentences if one.origin == "window"})),
        passages=tuple(sorted({one.index for one in sentences if one.origin == "passage"})),
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
    return [value + (option.image or 0.0) for value, option in zip(text_score, weighed, strict=True)]


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
        index: round(float(calibrator.level_z(rows, vectors).mean()), 6)
        for index, vectors in frames_of(reading).items()
    }
    best = max(fits.values(), default=0.0)
    if best < IMAGE_MIDDLE:
        return None
    return frozenset(index for index, fit in fits.items() if fit >= SCENE_SHARE * best)


def _share(option: Weighed, options: int) -> float:
    """Of what the images say, in [0, 1]: a vote is log(n share) of n options."""
    return 0.0 if option.image is None else math.exp(option.image) / options


def _names_in_other_words(option: Weighed) -> bool:
    return option.relevance >= SURE_RELEVANCE and option.nearer


def _supported_by_words(option: Weighed, least: float = 0.0) -> bool:
    """Whether the nearest sentence is about what is asked, and names the option: one is always nearest."""
    named = option.agreement.coverage > least or _names_in_other_words(option)
    return option.relevance >= LEAST_RELEVANCE and named and option.on_topic


def _supported(option: Weighed, options: int, least: float) -> bool:
    return _supported_by_words(option, least) or _share(option, options) >= LEAST_IMAGE_SHARE


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


def _explanation(best: int, weighed: Sequence[Weighed], labels: Sequence[str]) -> str:
    chosen = weighed[best]
    reasons = []
    if chosen.sentence is not None and _supported_by_words(chosen):
        source = "a passage" if chosen.sentence.origin == "passage" else "the video"
        if chosen.sentence.title:
            source = f"the passage “{chosen.sentence.title}”"
        reasons.append(f"{labels[best]} is nearest to what {source} says: “{chosen.sentence.text}”")
    if chosen.image is not None and chosen.image > 0:
        reasons.append(f"the frames fit it best ({_share(chosen, len(weighed)):.0%})")
    for index, other in enumerate(weighed):
        if index != best and other.agreement.reasons and other.sentence == chosen.sentence:
            reasons.append(f"{labels[index]} is contradicted: {other.agreement.reasons[0]}")
    if not reasons:
        return "No option stands out."
    text = "; ".join(reasons)[:1500]
    text = text[0].upper() + text[1:]
    return text if text.endswith((".”", "!”", "?”")) else text + "."
