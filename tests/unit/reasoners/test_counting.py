"""What a run would have cost: rendered prompts counted, and every frame a look."""

from __future__ import annotations

from dataclasses import replace

from rag.reasoners.examples import OPEN, VIEW, sample_reading
from rag.reasoners.llm import open_llm_reasoner
from rag.reasoners.roles.answers import ANSWER_OPEN
from rag.reasoners.roles.questions import DECOMPOSE_FACETS
from rag.reasoners.roles.watching import LOCATE, OBSERVE, LocateRequest, ObserveRequest
from rag.reasoners.wrappers import (
    COUNTED_AS,
    IMAGE_TOKENS,
    MEASURED_AS,
    RoutedReasoner,
    TokenCountingReasoner,
    count_tokens,
    token_count_method,
    with_token_counts,
)
from rag.settings import ReasonerSettings
from tests.fakes.chat_server import chat_server, say
from tests.fakes.embedded_reasoner import embedded
from tests.fakes.scripted_roles import play


def test_words_are_those_of_minilm_without_special_ones_and_without_an_end():
    count = count_tokens()
    assert count("") == 0
    assert count("hello world") == 2
    assert count("word " * 5000) == 5000
    assert "200" in COUNTED_AS


def test_a_frame_counts_the_same_as_pixels_and_as_a_stored_vector():
    request = LocateRequest("the mirror", VIEW)
    spent = []
    for view in (VIEW, replace(VIEW, frames=None), replace(VIEW, frame_vectors=None, frame_times=None)):
        with embedded() as inner:
            reasoner = TokenCountingReasoner(inner)
            reasoner.run(LOCATE, replace(request, view=view))
            spent.append(reasoner.usage().by_role["locate"])
    assert {row["image_tokens"] for row in spent} == {4 * IMAGE_TOKENS}
    assert len({row["prompt_tokens"] for row in spent}) == 1
    assert (spent[0]["calls"], spent[0]["counted_calls"], spent[0]["estimated_text_calls"]) == (1, 1, 0)


def test_of_mixed_parts_each_counts_in_its_own_way():
    """An embedded base with a model that looks: the model's own counts are kept, the rest is counted."""
    with (
        chat_server([say(play, usage={"prompt_tokens": 777, "completion_tokens": 11})]) as server,
        embedded() as inner,
    ):
        own = ReasonerSettings(kind="openai", model="w", base_url=server.base_url)
        watcher = open_llm_reasoner(own)
        mixed = RoutedReasoner({"planner": inner, "watcher": watcher, "analyst": inner, "judge": inner})
        reasoner, label = with_token_counts(mixed)
        assert label == f"watcher: {MEASURED_AS}; planner, analyst, judge: {COUNTED_AS}"
        reasoner.run(DECOMPOSE_FACETS, OPEN)
        reasoner.run(OBSERVE, ObserveRequest(OPEN, VIEW))
        reasoner.run(ANSWER_OPEN, sample_reading(OPEN))
        usage = reasoner.usage()
    looked, planned = usage.by_role["observe"], usage.by_role["decompose_facets"]
    assert (looked["prompt_tokens"], looked["completion_tokens"], looked["counted_calls"]) == (777, 11, 0)
    assert (planned["calls"], planned["counted_calls"], planned["estimated_text_calls"]) == (1, 1, 0)
    assert usage.calls == 3
    assert usage.prompt_tokens == sum(row["prompt_tokens"] for row in usage.by_role.values())
    assert (
        token_count_method(label, usage)
        == f"{label}; of 3 calls 2 counted, 1 with estimated tokens of images"
    )
    assert reasoner.usage().calls == 0
    assert reasoner.fingerprint == mixed.fingerprint
