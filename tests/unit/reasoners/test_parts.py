"""Planner, watcher and judge with models of their own, and what a run would have cost."""

from dataclasses import replace

import pytest

from rag.errors import ReplyInvalid, SettingsError
from rag.reasoners import open_reasoner
from rag.reasoners.examples import OPEN, VIEW, sample_reading
from rag.reasoners.llm import open_llm_reasoner
from rag.reasoners.roles.answers import ANSWER_OPEN
from rag.reasoners.roles.judge import JUDGE, JudgeRequest
from rag.reasoners.roles.questions import DECOMPOSE_FACETS
from rag.reasoners.roles.searching import PLAN, PlanRequest
from rag.reasoners.roles.watching import LOCATE, OBSERVE, LocateRequest, ObserveRequest
from rag.reasoners.wrappers import (
    COUNTED_AS,
    IMAGE_TOKENS,
    MEASURED_AS,
    RoutedReasoner,
    TokenCountingReasoner,
    count_tokens,
    with_token_counts,
)
from rag.settings import ReasonerSettings, Settings
from tests.fakes.chat_server import chat_server, say
from tests.fakes.embedded_reasoner import embedded
from tests.fakes.scripted_roles import play


def test_an_error_names_the_setting_of_the_part_whose_server_it_is():
    chosen = {"kind": "openai", "model": "m", "judge": {"base_url": "ftp://x/v1"}}
    with pytest.raises(SettingsError, match=r"reasoner\.judge\.base_url: it is no http address"):
        open_reasoner(Settings(reasoner=chosen), None)
    with pytest.raises(SettingsError, match=r"reasoner\.base_url: it is no http address"):
        open_reasoner(Settings(reasoner={**chosen, "base_url": "ftp://x/v1", "judge": {"model": "j"}}), None)


def test_each_part_asks_its_own_model_and_one_count_is_kept():
    with chat_server([say(play)]) as server:
        chosen = {
            "kind": "openai",
            "model": "m",
            "base_url": server.base_url,
            "planner": {"model": "p"},
            "watcher": {"model": "w", "image_short_side": 32},
            "judge": {"model": "j"},
        }
        reasoner = open_reasoner(Settings(reasoner=chosen), None)
        assert isinstance(reasoner, RoutedReasoner)
        assert reasoner.name == "openai:m+openai:p+openai:w+openai:j"
        reasoner.run(PLAN, PlanRequest(OPEN))
        reasoner.run(OBSERVE, ObserveRequest(OPEN, VIEW))
        reasoner.run(JUDGE, JudgeRequest(OPEN.text, ("glass",), "some glass"))
    assert [request["model"] for request in server.requests] == ["p", "w", "j"]
    usage = reasoner.usage()
    assert usage.calls == 3
    assert set(usage.by_role) == {"plan", "observe", "judge"}
    assert reasoner.usage().calls == 0


@pytest.mark.parametrize("judge", [{}, {"model": "j"}])
def test_a_refusal_goes_to_the_fallback_model_and_both_calls_are_counted(judge):
    def refuse(request):
        return play(request) if request["model"] == "local" else "I cannot help with that."

    with chat_server([say(refuse)]) as server:
        chosen = {"kind": "openai", "model": "m", "base_url": server.base_url, "repairs": 0, "judge": judge}
        alone = open_reasoner(Settings(reasoner=chosen), None)
        with pytest.raises(ReplyInvalid):
            alone.run(OBSERVE, ObserveRequest(OPEN, VIEW))
        alone.usage()
        reasoner = open_reasoner(Settings(reasoner={**chosen, "fallback": {"model": "local"}}), None)
        assert reasoner.run(OBSERVE, ObserveRequest(OPEN, VIEW)).caption
    assert [request["model"] for request in server.requests] == ["m", "m", "local"]
    assert reasoner.usage().calls == 2
    assert reasoner.usage().calls == 0
    assert reasoner.fingerprint != alone.fingerprint


def test_one_part_alone_may_be_a_language_model():
    with chat_server([say(play)]) as server:
        own = {"kind": "openai", "model": "w", "base_url": server.base_url}
        chosen = {"watcher": own}
        with pytest.raises(SettingsError, match="needs a text encoder"):
            open_reasoner(Settings(reasoner=chosen), None)
        with_encoder = open_reasoner(Settings(reasoner=chosen), object())
        assert with_encoder.reads_pixels
        assert with_encoder.run(OBSERVE, ObserveRequest(OPEN, VIEW)).caption
        assert with_encoder.run(DECOMPOSE_FACETS, OPEN).facets
    assert with_encoder.usage().calls == 1


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
    assert reasoner.usage().calls == 0
    assert reasoner.fingerprint == mixed.fingerprint
