"""Replies of a language model kept in a file: what a killed run has asked is not asked again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from eval.resumable import LineWriter, differences, truncate_partial_line
from rag.errors import BudgetSpent, ReplyInvalid, Unanswered
from rag.reasoners.prompts import prompt_versions
from rag.reasoners.protocol import Reasoner, ReplyT, RequestT, Role


class StoredReplies(LineWriter):
    """Runs roles, each request once: the file has a line a reply, under a key; a context manager.

    A request without a usable reply is kept as such, and raises `ReplyInvalid` each time. `roles`: those that
    are run; another model or prompt refuses the file. `calls`, `tokens`: of this run.
    """

    def __init__(self, path: Path, reasoner: Reasoner, roles: Sequence[Role[Any, Any]]) -> None:
        super().__init__(path, path)
        self._reasoner = reasoner
        self._header = {"model": reasoner.name, "prompts": prompt_versions(roles)}
        self.calls = self.tokens = 0
        self._held: dict[str, dict[str, Any]] = {}

    def run(
        self, role: Role[RequestT, ReplyT], request: Callable[[], RequestT], *key: str | int | float
    ) -> ReplyT:
        """The reply to `request()`, which is made only where no reply is kept under role and `key`.

        Raises `ReplyInvalid`, or another `ReasonerError` that ends the run.
        """
        name = hashlib.sha256(json.dumps([role.name, *key]).encode()).hexdigest()[:24]
        if name not in self._held:
            self._held[name] = self._asked(role, request(), name)
        held = self._held[name]
        if "unread" in held:
            raise ReplyInvalid(held["unread"])
        return role.reply.model_validate(held["reply"])

    def _asked(self, role: Role[RequestT, ReplyT], request: RequestT, name: str) -> dict[str, Any]:
        try:
            made: dict[str, Any] = {"reply": self._reasoner.run(role, request).model_dump(mode="json")}
        except BudgetSpent:  # a limit of the settings, which may be raised: not kept
            raise
        except Unanswered as error:
            made = {"unread": str(error)}
        usage = self._reasoner.usage()
        self.calls += usage.calls
        self.tokens += usage.prompt_tokens + usage.completion_tokens
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
