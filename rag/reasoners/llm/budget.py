"""The bounds of one question: calls, tokens and seconds, a share of each kept for the answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag.errors import BudgetSpent

if TYPE_CHECKING:
    from rag.reasoners.llm.usage import UsageCounter
    from rag.settings import ReasonerSettings

CLOSING = frozenset({"answer_choice", "answer_open", "judge"})
"""Roles that end a run. They may use what the others had to leave, so that a run which is stopped can
still say what it has."""


@dataclass(frozen=True, slots=True)
class Budget:
    """The bounds of one question, from the settings."""

    calls: int
    tokens: int
    """0: no bound."""
    seconds: float
    """Spent in calls; 0: no bound."""
    kept: float
    """Share of each bound that only closing roles may use."""

    @classmethod
    def of(cls, settings: ReasonerSettings) -> Budget:
        """The bounds that the settings name."""
        return cls(
            settings.max_calls,
            settings.max_total_tokens,
            settings.max_total_seconds,
            settings.kept_for_answer,
        )

    def allow(self, name: str, role: str, usage_counter: UsageCounter, tokens: int) -> float | None:
        """Seconds that the next call may take (None: no bound), or `BudgetSpent` naming the setting.

        `tokens`: what the call will read, as estimated.
        """
        share = 1.0 if role in CLOSING else 1.0 - self.kept
        calls = max(1, self.calls - int(self.calls * (1.0 - share)))
        if usage_counter.calls >= calls:
            raise BudgetSpent(
                f"{name}: {calls} calls spent on one question (at {role}); raise reasoner.max_calls"
            )
        if self.tokens and usage_counter.tokens + tokens > self.tokens * share:
            raise BudgetSpent(
                f"{name}: {usage_counter.tokens} tokens spent on one question, and {role} would read "
                f"{tokens} more; raise reasoner.max_total_tokens"
            )
        if not self.seconds:
            return None
        left = self.seconds * share - usage_counter.seconds
        if left <= 0:
            raise self.late(name, role)
        return left

    def late(self, name: str, role: str) -> BudgetSpent:
        """The error of a run that spent its seconds."""
        return BudgetSpent(
            f"{name}: {self.seconds:g} s spent on one question (at {role}); raise reasoner.max_total_seconds"
        )
