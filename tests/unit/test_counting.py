"""What a run would have cost: rendered prompts counted, and every frame a look."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rag.reasoners.counting import COUNTED_AS, IMAGE_TOKENS, CountedReasoner, count_tokens, counted_tokens
from rag.reasoners.llm import turns_watching
from rag.reasoners.llm.prompts import load_prompt, render
from rag.reasoners.roles import JudgeRequest, LocateRequest, VideoView
from tests.contract.test_reasoners import embedded
from tests.readings import OPEN, reading
from tests.role_inputs import INPUTS, VIEW


@pytest.fixture(scope="module")
def count():
    return count_tokens()


def test_words_are_those_of_minilm_without_special_ones_and_without_an_end(count):
    assert count("") == 0
    assert count("hello world") == 2
    assert count("word " * 5000) == 5000
    assert counted_tokens("hello world", 3, count) == 602
    assert "200" in COUNTED_AS


def test_a_frame_counts_the_same_as_pixels_and_as_a_stored_vector(count):
    request = LocateRequest("the mirror", VIEW)
    spent = []
    for view in (VIEW, replace(VIEW, frames=None), replace(VIEW, frame_vectors=None, frame_times=None)):
        with embedded() as inner:
            mind = CountedReasoner(inner, count)
            mind.locate(replace(request, view=view))
            spent.append(mind.usage().by_role["locate"])
    assert {row["image_tokens"] for row in spent} == {4 * IMAGE_TOKENS}
    assert len({row["prompt_tokens"] for row in spent}) == 1
    assert (spent[0]["calls"], spent[0]["estimated_text_calls"], spent[0]["estimated_image_calls"]) == (
        1,
        1,
        1,
    )


def test_the_count_is_that_of_the_rendered_prompt(count):
    turn = turns_watching.locate(LocateRequest("the mirror", replace(VIEW, frames=None)))
    bare = VideoView(VIEW.title, VIEW.start, VIEW.end, VIEW.texts)
    with embedded() as inner:
        mind = CountedReasoner(inner, count)
        mind.locate(LocateRequest("the mirror", bare))
        usage = mind.usage()
    messages = render(load_prompt("locate"), turn.variables, turn.images, short_side=1)
    text = "\n".join(message.text for message in messages)
    assert (usage.prompt_tokens, usage.image_tokens) == (count(text), 0)
    assert usage.completion_tokens > 0


def test_windows_of_a_reading_count_by_their_frames(count):
    with embedded() as inner:
        mind = CountedReasoner(inner, count)
        assert mind.answer_open(reading(OPEN, pixels=False)) == inner.answer_open(reading(OPEN, pixels=False))
        assert mind.usage().image_tokens == 8 * IMAGE_TOKENS


def test_a_match_of_characters_asks_nobody(count):
    with embedded() as inner:
        mind = CountedReasoner(inner, count)
        mind.judge(JudgeRequest("?", ("glass",), "Glass"))
        assert mind.usage().calls == 0
        mind.judge(JudgeRequest("?", ("glass",), "ceramic"))
        assert mind.usage().calls == 1


def test_it_says_what_the_one_inside_says(count):
    with embedded() as inner:
        mind = CountedReasoner(inner, count)
        for case in INPUTS:
            assert getattr(mind, case.role)(case.request) == getattr(inner, case.role)(case.request)
