"""Locating, observing, summarizing the course and verifying from stored vectors and words."""

from dataclasses import replace

import numpy as np
import pytest

from corpora.records import Evidence
from indexers.protocol import TextTower, Vocabulary
from rag.reasoners.embedded.scoring import SentenceVectors, ZeroShotScorer
from rag.reasoners.embedded.watching import locate, match_frame, observe, summarize, timeline, verify_video
from rag.reasoners.roles.material import Memory, VideoView
from rag.reasoners.roles.questions import Facet
from rag.reasoners.roles.watching import (
    LocateRequest,
    MatchRequest,
    ObserveRequest,
    SummarizeRequest,
    VerifyRequest,
)
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
    other = observe(ObserveRequest(Question("q", "?"), view, (Facet("A", (), ("a boat",)),)), scorer, vectors)
    assert (other.needs_more_info, other.missing_visual_keyword) == (True, "a boat")


def test_a_caption_names_what_is_seen_and_a_summary_quotes_lines_too(scorer, vectors):
    said_last = "Torque the wheel bolts to ninety newton metres."
    lines = [*(said(2.0 * at, f"Line {at} is of no weight.") for at in range(30)), said(70.0, said_last)]
    asked = Question("q", "What must be torqued to ninety newton metres?")
    view = showing("guitar", texts=tuple(lines))
    seen = observe(ObserveRequest(asked, view), scorer, vectors).caption
    assert seen == "Seems to show a guitar."
    assert summarize(SummarizeRequest(asked, view), scorer, vectors).summary.startswith(
        f"{seen}\n{said_last}\n"
    )
    blind = ZeroShotScorer(None)
    assert observe(ObserveRequest(asked, view), blind, vectors).caption == said_last
    nothing = summarize(SummarizeRequest(asked, replace(view, texts=())), blind, vectors)
    assert (nothing.relevant, nothing.summary) == (False, "")


def test_an_encoder_that_names_objects_alone_is_read(vectors):
    tower = Tower()
    tower.vocabulary = Vocabulary((), (), ("boat", "guitar"))
    asked = ObserveRequest(Question("q", "What floats?"), showing("boat"))
    assert observe(asked, ZeroShotScorer(tower), vectors).caption == "Seems to show boat."
    tower.names_images, tower.looks_like = True, lambda _: []  # nothing that it has a name for
    assert observe(asked, ZeroShotScorer(tower), vectors).caption == ""


def test_the_course_is_in_order_and_neighbours_alike_are_one_event(scorer):
    view = showing("boat", "boat", "guitar", texts=(said(12, "We sail."),))
    reply = timeline(view, scorer)
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
    told = verify_video(VerifyRequest(Memory("A film about a boat. The sea is calm."), view), scorer, vectors)
    assert told.video_match
    blank = verify_video(VerifyRequest(Memory("", "a boat"), VideoView("", 0, 9)), scorer, vectors)
    assert (blank.video_match, blank.confidence, blank.reason) == (False, 1.0, "there is nothing to compare")


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
        ("color", "Warm, orange light lies over all of it.", True),
        ("color", "It has a cool, bluish look.", False),
        # No one value is named.
        ("color", "from warm to cold", False),
        ("style", "It is live action.", False),  # all styles fit alike
        ("resolution", "720P", None),
        ("color", "", None),
    ],
)
def test_a_constraint_is_met_where_its_value_fits_a_frame_better_than_the_others(
    vectors, kind, constraint, met
):
    asked = MatchRequest("", lit(0.1, 0.02, 0.05), None, kind, constraint)
    assert match_frame(asked, ZeroShotScorer(Lights()), vectors).constraint_match is met
    assert match_frame(asked, ZeroShotScorer(None), vectors).constraint_match is None
    alike = match_frame(replace(asked, candidate=lit(0.1, 0.02, 0.1)), ZeroShotScorer(Lights()), vectors)
    assert not alike.constraint_match
