"""The reasoners of the package keep the contract that any other one must keep."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import Any

import pytest
from pydantic import ValidationError

from rag.errors import ReasonerError
from rag.reasoners import open_reasoner
from rag.reasoners.protocol import BadReply, Reasoner
from rag.reasoners.roles import ANSWER_CHOICE, PLAN, ChosenOption, PlanRequest
from rag.reasoners.testing import OPEN, ReasonerContract
from rag.reasoners.wrappers import TokenCountingReasoner
from rag.records import Usage
from rag.settings import Settings
from tests.fakes.chat_server import chat_server, say
from tests.fakes.embedded_reasoner import Tower, embedded, sentences
from tests.fakes.role_inputs import SPARSE, assert_sound_reply
from tests.fakes.scripted_roles import play_role


@contextmanager
def embedded_without_images() -> Iterator[Reasoner]:
    yield open_reasoner(Settings(), sentences(), None)


@contextmanager
def token_counting() -> Iterator[Reasoner]:
    with embedded() as inner:
        yield TokenCountingReasoner(inner)


@contextmanager
def routed() -> Iterator[Reasoner]:
    """An embedded analyst; a language model for all else."""
    with chat_server([say(play)]) as server:
        own = {"kind": "openai", "model": "scripted", "base_url": server.base_url}
        chosen = {"planner": own, "watcher": own, "judge": own}
        yield open_reasoner(Settings(reasoner=chosen), sentences(), Tower())


@contextmanager
def language_model() -> Iterator[Reasoner]:
    with chat_server([say(play)]) as server:
        chosen = {"kind": "openai", "model": "scripted", "base_url": server.base_url}
        yield open_reasoner(Settings(reasoner=chosen), None, None)


def play(request: dict[str, Any]) -> dict[str, Any]:
    """What an able model would say: it reads the step, and answers from the material it was given."""
    system, user = (
        "".join(part.get("text", "") for part in parts) if isinstance(parts, list) else parts
        for parts in (message["content"] for message in request["messages"])
    )
    cited = {
        "windows": [int(number) for number in re.findall(r"\[BEGIN window (\d+) ", user)][:1],
        "passages": [int(number) for number in re.findall(r"\[BEGIN passage (\d+) ", user)][-1:],
    }
    answer = {"confidence": 0.9 if cited["windows"] else 0.0, "explanation": "As shown.", **cited}
    match re.search(r"Step: (\w+)\.", system)[1]:
        case "rewrite_question":
            count = int(re.search(r"queries wanted: (\d+)", user)[1])
            queries = [f"A passage about {index}." for index in range(count)]
            return {"visual_query": "A video that shows it.", "passage_queries": queries}
        case "anchor_event":
            return {"description": "she polishes something", "position": "after"}
        case "answer_choice":
            return {"choice": "B" if cited["windows"] else None, **answer}
        case "answer_open":
            return {"text": "glass" if cited["windows"] else "", **answer}
    return play_role(system, user)


class TestEmbedded(ReasonerContract):
    open = staticmethod(embedded)


class TestEmbeddedWithoutImages(ReasonerContract):
    open = staticmethod(embedded_without_images)


class TestTokenCounting(ReasonerContract):
    open = staticmethod(token_counting)


@pytest.mark.slow
class TestLanguageModel(ReasonerContract):
    open = staticmethod(language_model)


@pytest.mark.slow
class TestRouted(ReasonerContract):
    open = staticmethod(routed)


@pytest.mark.slow
@pytest.mark.parametrize(
    "open_one", [embedded, embedded_without_images, language_model], ids=lambda one: one.__name__
)
@pytest.mark.parametrize("case", SPARSE, ids=lambda case: f"{case.role.name}-{case.name}")
def test_a_reply_is_sound_where_there_is_little_to_go_by(open_one, case):
    with open_one() as reasoner:
        assert_sound_reply(reasoner.run(case.role, case.request), case.request)


class Wrong:
    """Says of every question that its answer is the option Q."""

    name = fingerprint = "wrong"
    reads_pixels = False

    def run(self, role, request):
        if role is ANSWER_CHOICE:
            return ChosenOption(choice="Q", confidence=1.0, explanation="")
        with embedded() as inner:
            return inner.run(role, request)

    def usage(self):
        return Usage()


def test_the_contract_refuses_an_unsound_reasoner():
    class Broken(ReasonerContract):
        def open(self):
            return nullcontext(Wrong())

    with pytest.raises(BadReply, match="'Q' is no label"):
        Broken().test_replies_are_sound()


def test_an_unknown_kind_of_reasoner_is_refused_with_the_known_ones():
    with pytest.raises(ValidationError, match=r"no reasoner .oracle.; installed are: embedded, openai"):
        Settings(reasoner={"kind": "oracle"})


def test_a_role_of_another_package_needs_a_rule_of_the_embedded_reasoner():
    role = replace(PLAN, name="translate")
    with embedded() as reasoner, pytest.raises(ReasonerError, match="no rule for the role translate"):
        reasoner.run(role, PlanRequest(OPEN))
