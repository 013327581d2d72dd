"""Locating, observing, summarizing the course and verifying from stored vectors and words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from corpora.records import Evidence
from indexers.protocol import TextTower
from rag.reasoners.embedded.locate import locate
from rag.reasoners.embedded.observe import MAX_SPOKEN_LINES, observe, timeline
from rag.reasoners.embedded.question_forms import speech_question
from rag.reasoners.embedded.scoring import SentenceVectors, ZeroShotScorer
from rag.reasoners.embedded.verify_video import match_frame, verify_video
from rag.reasoners.roles.decompose_facets import Facet
from rag.reasoners.roles.locate import LocateRequest
from rag.reasoners.roles.match_frame import MatchRequest
from rag.reasoners.roles.material import Memory, VideoView
from rag.reasoners.roles.observe import ObserveRequest
from rag.reasoners.roles.timeline import TimelineRequest
from rag.reasoners.roles.verify_video import VerifyRequest
from rag.records import Question
from tests.fakes.embedded_reasoner import sentences

WORDS = ("guitar", "boat", "kitchen", "chart")


class Tower(TextTower):
    """One axis a word; all other texts are on the last."""

    name = fingerprint = "axes"
    dim = len(WORDS) + 1
    words = WORDS

    def _encode(self, texts):
        rows = np.zeros((len(texts), self.dim), np.float32)
        for row, text in zip(rows, texts, strict=True):
            held = [at for at, word in enumerate(self.words) if word in text.lower()]
            row[held or [-1]] = 1
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def showing(*words: str, texts: tuple[Evidence, ...] = ()) -> VideoView:
    """A frame each 10 s that shows one of `WORDS`."""
    rows = np.zeros((len(words), Tower.dim), np.float32)
    for row, word in zip(rows, words, strict=True):
        row[WORDS.index(word)] = 0.95
        row[-1] = np.sqrt(1 - 0.95**2)
    times = 10.0 * np.arange(len(words)) + 5
    return VideoView("t", 0.0, 10.0 * len(words), texts, frame_times=times, frame_vectors=rows)


@pytest.fixture(scope="module")
def scorer():
    return ZeroShotScorer(Tower())


@pytest.fixture(scope="module")
def vectors():
    return SentenceVectors(sentences())


def said(start: float, text: str, kind: str = "subtitle") -> Evidence:
    return Evidence("v", start, start + 3, kind, text)


def test_a_frame_represents_the_stretch_to_its_neighbours(scorer, vectors):
    view = showing("boat", "boat", "guitar", "boat", "boat")
    reply = locate(LocateRequest("somebody plays a guitar", view, max_windows=1), scorer, vectors)
    (window,) = reply.windows
    assert (window.start, window.end) == (15.0, 35.0)
    assert reply.confidence > 0.9


def test_a_line_of_the_transcript_is_a_place_too(scorer, vectors):
    view = showing("boat", "boat", "boat", texts=(said(21, "The mirror is made of glass."),))
    reply = locate(LocateRequest("What is the mirror made of?", view), scorer, vectors)
    assert reply.relevant
    assert (reply.windows[0].start, reply.windows[0].end) == (19.0, 26.0)
    assert "subtitle at 21.0 s" in reply.windows[0].reason


def test_a_question_about_speech_is_located_in_the_transcript(scorer, vectors):
    line = "The best advice on this I ever had came from my old friend Beatrix."
    view = showing("guitar", "boat", "kitchen", texts=(said(2.0, "Let us begin."), said(24.0, line)))
    found = locate(LocateRequest("Who does the speaker say gave the best advice?", view), scorer, vectors)
    assert found.windows[0].start < 24.0 < found.windows[0].end
    assert line[:20] in found.reason
    assert not any("frame" in window.reason for window in found.windows)


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("Who does the speaker say gave the best advice?", "Who gave the best advice?"),
        ("Where do they say that the train goes to?", "Where the train goes to?"),
        ("What does the person say?", "What ?"),
        ("What does the person pour?", ""),
    ],
)
def test_saying_is_taken_off_a_question_about_words(text, asked):
    assert speech_question(text) == asked


def test_nowhere_is_a_legal_answer_unless_one_must_choose(scorer, vectors):
    view = showing("boat", "boat")
    away = locate(LocateRequest("a guitar", view, "frame"), scorer, vectors)
    assert (away.relevant, away.frame) == (False, None)
    assert (
        locate(LocateRequest("a guitar", view, "frame", must_choose=True), scorer, vectors).frame is not None
    )
    assert not locate(LocateRequest("a guitar", view), scorer, vectors).relevant


def test_what_came_before_and_after_decides_between_like_frames(scorer, vectors):
    view = showing("boat", "guitar", "chart", "kitchen", "guitar", "boat")
    for memory, frame in (
        (Memory(key_moment="a guitar", before="a kitchen"), 4),
        (Memory("", "a guitar", "a boat"), 1),
    ):
        request = LocateRequest("a guitar", view, "frame", memory=memory)
        assert locate(request, scorer, vectors).frame == frame


def test_frames_of_another_encoder_are_not_looked_at(scorer, vectors):
    view = replace(showing("guitar"), frame_vectors=np.ones((1, 3), np.float32))
    assert not locate(LocateRequest("a guitar", view, "frame"), scorer, vectors).relevant


def test_keywords_are_there_when_they_are_shown_or_read(scorer, vectors):
    view = showing("guitar", texts=(said(1, "Budget: 40 euros", "ocr"), said(4, "We sail tomorrow.")))
    facets = (Facet("question", ("guitar", "budget", "chart"), ("somebody plays a guitar",)),)
    reply = observe(ObserveRequest(Question("q", "?"), view, facets), scorer, vectors)
    assert reply.missing == ("chart",)
    assert not reply.needs_more_info
    assert "On the screen: “Budget: 40 euros”." in reply.caption
    assert "Said: “We sail tomorrow.”" in reply.caption
    assert "somebody plays a guitar" in reply.caption
    other = observe(ObserveRequest(Question("q", "?"), view, (Facet("A", (), ("a boat",)),)), scorer, vectors)
    assert (other.needs_more_info, other.missing_visual_keyword) == (True, "a boat")


def test_of_many_lines_a_caption_names_those_nearest_the_question(scorer, vectors):
    lines = [said(2.0 * at, f"Line {at} is of no weight.") for at in range(30)]
    asked = Question("q", "What must be torqued to ninety newton metres?")
    view = showing("guitar", texts=(*lines, said(70.0, "Torque the wheel bolts to ninety newton metres.")))
    caption = observe(ObserveRequest(asked, view), scorer, vectors).caption
    assert "Torque the wheel bolts" in caption
    assert caption.count("Said:") == MAX_SPOKEN_LINES
    few = replace(view, texts=tuple(lines[:MAX_SPOKEN_LINES]))
    assert observe(ObserveRequest(asked, few), scorer, vectors).caption.count("Said:") == MAX_SPOKEN_LINES


def test_the_course_is_in_order_and_neighbours_alike_are_one_event(scorer):
    view = showing("boat", "boat", "guitar", texts=(said(12, "We sail."),))
    reply = timeline(TimelineRequest(view), scorer)
    assert [(event.start, event.end) for event in reply.events] == [(0.0, 20.0), (12.0, 15.0), (20.0, 30.0)]
    assert "boat" in reply.events[0].description
    assert reply.events[1].description == "We sail."


def test_a_video_is_verified_by_all_parts_of_the_memory(scorer, vectors):
    view = showing("boat", "guitar", texts=(said(1, "The sea is calm today."),))
    right = Memory("a boat", "a guitar", auditory_memory="The sea is calm.")
    reply = verify_video(VerifyRequest(right, view), scorer, vectors)
    assert (reply.video_match, reply.audio_match) == (True, True)
    wrong = verify_video(VerifyRequest(Memory("a kitchen", "a chart"), view), scorer, vectors)
    assert (wrong.video_match, wrong.audio_match) == (False, None)
    assert wrong.contradictions == ("a kitchen", "a chart")


def test_a_frame_matches_only_where_text_and_reference_both_do(scorer, vectors):
    one, same, other = showing("guitar"), showing("guitar"), showing("boat")
    assert match_frame(MatchRequest("a guitar", one, same), scorer, vectors).matched
    unlike = match_frame(MatchRequest("a guitar", one, other), scorer, vectors)
    assert (unlike.text_match, unlike.image_match, unlike.matched) == (True, False, False)
    alone = match_frame(MatchRequest("a guitar", one), scorer, vectors)
    assert (alone.image_match, alone.matched) == (None, True)


class Lights(Tower):
    words = ("warm", "cold", "neutral", "live action")


def lit(*light: float) -> VideoView:
    """One frame, of which words on its light say as little as they do to encoders of objects."""
    row = np.array([*light, 0.05, 1.0], np.float32)
    vectors = (row / np.linalg.norm(row))[None]
    return VideoView("t", 0.0, 10.0, (), frame_times=np.array([5.0]), frame_vectors=vectors)


@pytest.mark.parametrize(
    ("kind", "constraint", "met"),
    [
        ("color", "The overall tone is warm.", True),
        ("color", "Warm, orange light lies over all of it.", True),
        ("color", "It has a cool, bluish look.", False),
        ("color", "The colours are neutral, as in plain daylight.", False),
        ("color", "not cold but warm", True),
        # No one value is named: as a description.
        ("color", "from warm to cold", False),
        ("color", "black and white", False),
        ("style", "It is live action.", False),
        ("resolution", "720P", None),
        ("color", "", None),
    ],
)
def test_a_tone_is_the_one_of_all_tones_that_fits_a_frame_best(vectors, kind, constraint, met):
    scorer, view = ZeroShotScorer(Lights()), lit(0.1, 0.02, 0.05)
    assert scorer.relevance(["warm tones"], view)[0] < 0.1
    assert (
        match_frame(MatchRequest("", view, None, kind, constraint), scorer, vectors).constraint_match is met
    )
    blind = match_frame(MatchRequest("", view, None, kind, constraint), ZeroShotScorer(None), vectors)
    assert blind.constraint_match is None


def test_a_frame_that_fits_two_tones_alike_has_neither(vectors):
    asked = MatchRequest("", lit(0.1, 0.02, 0.1), None, "color", "warm")
    assert match_frame(asked, ZeroShotScorer(Lights()), vectors).constraint_match is False
