"""Planner, watcher and judge with models of their own."""

from __future__ import annotations

import pytest

from rag.errors import ReplyInvalid, SettingsError
from rag.reasoners import open_reasoner
from rag.reasoners.examples import OPEN, VIEW
from rag.reasoners.roles.judge import JUDGE, JudgeRequest
from rag.reasoners.roles.questions import DECOMPOSE_FACETS
from rag.reasoners.roles.searching import PLAN, PlanRequest
from rag.reasoners.roles.watching import OBSERVE, ObserveRequest
from rag.reasoners.wrappers import RoutedReasoner
from rag.settings import Settings
from tests.fakes.chat_server import chat_server, say
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
