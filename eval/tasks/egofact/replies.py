"""Replies of a language model kept in a file: what a killed or bounded run has asked is not asked again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval.resumable import LineWriter, differences, truncate_partial_line
from rag.errors import BudgetSpent, RagError, ReplyInvalid, Unanswered
from rag.reasoners.prompts import prompt_versions
from rag.reasoners.protocol import Reasoner, ReplyT, RequestT, Role


class CallsSpent(RagError):
    """A bound on calls, tokens or seconds is reached."""


@dataclass(slots=True)
class CallBudget:
    """Bounds of one run, replies that are kept already not counted; 0 is no bound."""

    max_calls: int = 0
    max_tokens: int = 0
    calls: int = 0
    tokens: int = 0

    def check(self) -> None:
        """Raises `CallsSpent` where a bound is reached."""
        for what, spent, most in (
            ("calls", self.calls, self.max_calls),
            ("tokens", self.tokens, self.max_tokens),
        ):
            if most and spent >= most:
                raise CallsSpent(f"{spent} {what} of {most} are spent; the same command goes on from here")


class StoredReplies(LineWriter):
    """Runs roles, each request once: the file has a line a reply, under a key; a context manager.

    A request without a usable reply is kept as such, and raises `ReplyInvalid` each time. `roles`: those that
    are run; another model or prompt refuses the file.
    """

    kind = "file"

    def __init__(
        self,
        path: Path,
        reasoner: Reasoner,
        roles: Sequence[Role[Any, Any]],
        budget: CallBudget | None = None,
    ) -> None:
        super().__init__(path, path)
        self._reasoner = reasoner
        self._header = {"model": reasoner.name, "prompts": prompt_versions(roles)}
        self.budget = budget or CallBudget()
        self._held: dict[str, dict[str, Any]] = {}

    def run(
        self, role: Role[RequestT, ReplyT], request: Callable[[], RequestT], *key: str | int | float
    ) -> ReplyT:
        """The reply to `request()`, which is made only where no reply is kept under role and `key`.

        Raises `ReplyInvalid`, `CallsSpent`, or another `ReasonerError` that ends the run.
        """
        name = hashlib.sha256(json.dumps([role.name, *key]).encode()).hexdigest()[:24]
        if name not in self._held:
            self._held[name] = self._asked(role, request(), name)
        held = self._held[name]
        if "unread" in held:
            raise ReplyInvalid(held["unread"])
        return role.reply.model_validate(held["reply"])

    def _asked(self, role: Role[RequestT, ReplyT], request: RequestT, name: str) -> dict[str, Any]:
        self.budget.check()
        try:
            made: dict[str, Any] = {"reply": self._reasoner.run(role, request).model_dump(mode="json")}
        except BudgetSpent as error:  # a limit of the settings, which may be raised: not kept
            raise CallsSpent(f"{error}; the same command then goes on") from error
        except Unanswered as error:
            made = {"unread": str(error)}
        usage = self._reasoner.usage()
        self.budget.calls += usage.calls
        self.budget.tokens += usage.prompt_tokens + usage.completion_tokens
        self._append(json.dumps({"key": name, "role": role.name, **made}, ensure_ascii=False) + "\n")
        return made

    def _claim(self) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)

    def _resume(self) -> None:
        truncate_partial_line(self._path)
        lines = self._path.read_text(encoding="utf-8").split("\n")[:-1]
        if not lines:
            self._append(json.dumps(self._header) + "\n")
            return
        self._require_same(differences("", json.loads(lines[0]), self._header))
        for line in lines[1:]:
            held = json.loads(line)
            self._held[held.pop("key")] = held
