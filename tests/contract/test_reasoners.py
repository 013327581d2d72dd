"""The reasoners of the package keep the contract that any other one must keep."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace

import pytest
from pydantic import ValidationError

from rag.errors import ReasonerError
from rag.reasoners import open_reasoner
from rag.reasoners.embedded import RULES
from rag.reasoners.examples import BARE, EMPTY, OPEN, requests_of, sample_view
from rag.reasoners.protocol import BadReply, Reasoner
from rag.reasoners.roles import ROLES
from rag.reasoners.roles.answers import ANSWER_CHOICE, ChosenOption
from rag.reasoners.roles.searching import PLAN, SEARCH_STEP, PlanRequest
from rag.reasoners.roles.watching import MATCH_FRAME, OBSERVE, MatchRequest, ObserveRequest
from rag.reasoners.testing import ReasonerContract
from rag.records import Usage
from rag.settings import Settings
from tests.fakes.embedded_reasoner import embedded, sentences
from tests.fakes.simulated_world import simulated_reasoner


@contextmanager
def embedded_without_images() -> Iterator[Reasoner]:
    yield open_reasoner(Settings(), sentences(), None)


class TestEmbedded(ReasonerContract):
    open = staticmethod(embedded)


class TestEmbeddedWithoutImages(ReasonerContract):
    open = staticmethod(embedded_without_images)


@pytest.mark.slow
class TestSimulatedModel(ReasonerContract):
    """Every role, through HTTP."""

    @contextmanager
    def open(self) -> Iterator[Reasoner]:
        with simulated_reasoner(repairs=0) as (reasoner, _):
            yield reasoner


@pytest.mark.parametrize("role", ROLES.values(), ids=lambda role: role.name)
def test_a_role_has_requests_and_an_embedded_rule(role):
    assert {type(request) for request in requests_of(role).values()} == {role.request}
    # RACLO does without search steps; every other role has a rule in rag/reasoners/embedded/.
    assert role.name in RULES or role is SEARCH_STEP, role.name


def test_an_embedded_plan_searches_unless_all_is_solved():
    with embedded() as reasoner:
        for request in requests_of(PLAN).values():
            reply = reasoner.run(PLAN, request)
            assert (reply.focus is None) == reply.solved


@pytest.mark.parametrize("open_one", [embedded, embedded_without_images])
def test_embedded_replies_are_empty_where_nothing_can_be_said(open_one):
    with open_one() as reasoner:
        assert reasoner.run(PLAN, PlanRequest(EMPTY, max_queries=1)).search_queries == ()
        assert reasoner.run(OBSERVE, ObserveRequest(EMPTY, BARE)).caption == ""
        coloured = MatchRequest("a woman", sample_view(count=1), None, "color", "warm")
        assert reasoner.run(MATCH_FRAME, coloured).image_match is None


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
    with pytest.raises(
        ValidationError, match=r"no reasoner .oracle.; installed are: embedded, extractive, openai"
    ):
        Settings(reasoner={"kind": "oracle"})


def test_a_role_of_another_package_needs_a_rule_of_the_embedded_reasoner():
    role = replace(PLAN, name="translate")
    with embedded() as reasoner, pytest.raises(ReasonerError, match="no rule for the role translate"):
        reasoner.run(role, PlanRequest(OPEN))
