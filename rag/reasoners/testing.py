"""The contract of a `Reasoner`: a suite that any package can run over its own class with pytest.

    class TestMyReasoner(ReasonerContract):
        def open(self):
            return contextlib.nullcontext(MyReasoner(...))

Every role is run on its examples, and each reply must be one that the role's `sanitize` leaves as it is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any

from rag.errors import RoleUnknown
from rag.reasoners.examples import OPEN, requests_of, sample_reading
from rag.reasoners.protocol import Reasoner, Role
from rag.reasoners.roles import ROLES
from rag.reasoners.roles.answers import ANSWER_OPEN
from rag.reasoners.roles.questions import REWRITE_QUESTION
from rag.reasoners.roles.searching import SEARCH_STEP
from rag.records import Usage


def replies(reasoner: Reasoner) -> Iterator[tuple[Role[Any, Any], Any, Any, str]]:
    """Run the examples of all roles of a reasoner: role, request, reply, and the names of both.

    It may raise `RoleUnknown` for `search_step` alone, which agents can do without.
    """
    for role in ROLES.values():
        for name, request in requests_of(role).items():
            try:
                reply = reasoner.run(role, request)
            except RoleUnknown:
                assert role is SEARCH_STEP, role.name
                break
            yield role, request, reply, f"{role.name}, {name}"


class ReasonerContract(ABC):
    """Subclass it under a name that begins with `Test`, and override `open`.

    Frames of the requests come as pixels and as vectors of length `rag.reasoners.examples.DIM`.
    """

    @abstractmethod
    def open(self) -> AbstractContextManager[Reasoner]:
        """A new reasoner, closed on exit."""

    def test_it_has_a_name_and_a_stable_fingerprint(self) -> None:
        """Both are non-empty, and `reads_pixels` is a bool."""
        with self.open() as reasoner:
            assert reasoner.name
            assert reasoner.fingerprint
            assert reasoner.fingerprint == reasoner.fingerprint
            assert isinstance(reasoner.reads_pixels, bool)

    def test_replies_are_sound(self) -> None:
        """Each has its role's type, needs no filtering and survives JSON."""
        with self.open() as reasoner:
            for role, request, reply, where in replies(reasoner):
                assert type(reply) is role.reply, where
                assert type(reply).model_validate_json(reply.model_dump_json(), strict=True) == reply, where
                if role.sanitize is not None:
                    assert role.sanitize(request, reply) == reply, where
                # The bounds of a model hold for one question.
                reasoner.usage()

    def test_replies_repeat(self) -> None:
        """The same request gives the same reply: in one reasoner, and in another one of the same kind."""
        with self.open() as one, self.open() as other:
            for role, request, first, where in replies(one):
                assert one.run(role, request) == first, where
                assert other.run(role, request) == first, where
                one.usage()
                other.usage()

    def test_usage_adds_up_by_role_and_resets(self) -> None:
        """Totals are the sums over the roles, and reading them starts from zero."""
        with self.open() as reasoner:
            assert reasoner.usage() == Usage()
            reasoner.run(REWRITE_QUESTION, OPEN)
            reasoner.run(ANSWER_OPEN, sample_reading(OPEN))
            usage = reasoner.usage()
            assert isinstance(usage, Usage)
            for key in ("calls", "prompt_tokens", "completion_tokens", "image_tokens"):
                assert getattr(usage, key) == sum(row[key] for row in usage.by_role.values()), key
            assert (usage.calls > 0) == (usage.prompt_tokens > 0)
            assert usage.calls > 0 or usage.seconds == 0
            assert reasoner.usage() == Usage()
