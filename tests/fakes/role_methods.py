"""A reasoner for tests whose roles are methods under the roles' names."""

from collections.abc import Sequence
from typing import Any

from rag.errors import ReasonerError, RoleUnknown
from rag.reasoners.protocol import ReplyT, RequestT, Role
from rag.records import Usage


class RoleMethods:
    """Keeps what it was asked. `fails`: roles that raise `error`; `rules`: further roles, as functions."""

    name, fingerprint, reads_pixels = "rules", "rules-1", True

    def __init__(
        self, *, fails: Sequence[str] = (), error: type[ReasonerError] = ReasonerError, **rules: Any
    ) -> None:
        self.fails, self.error = tuple(fails), error
        vars(self).update(rules)
        self.asked: list[str] = []
        self.kept: list[tuple[str, Any]] = []

    def _ask(self, role: str) -> None:
        self.asked.append(role)
        if role in self.fails:
            raise self.error(f"no {role} today")

    def run(self, role: Role[RequestT, ReplyT], request: RequestT) -> ReplyT:
        rule = getattr(self, role.name, None)
        if rule is None:
            raise RoleUnknown(f"no rule for {role.name}")
        self._ask(role.name)
        self.kept.append((role.name, request))
        return rule(request)

    def requests_of(self, *roles: str) -> list[Any]:
        """Requests of these roles that did not fail, in order."""
        return [request for name, request in self.kept if name in roles]

    @property
    def readings(self) -> list[Any]:
        return self.requests_of("answer_choice", "answer_open", "answer_unaided")

    @property
    def located(self) -> list[Any]:
        return self.requests_of("locate")

    @property
    def imagined(self) -> list[Any]:
        return self.requests_of("imagine_queries")

    def usage(self) -> Usage:
        return Usage()
