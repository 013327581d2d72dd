"""What calls cost, by role, and the most calls for one question.

Tokens are counted by the model where it counts, else estimated and marked so: a text token is four UTF-8
bytes, an image token a patch of 28 x 28 pixels; both rounded up. `prompt_tokens` includes `image_tokens`;
`last_prompt_tokens` is the prompt of the last call alone, of a repair where there was one.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Mapping, Sequence

from rag.errors import BudgetSpent
from rag.reasoners.prompts import ChatReply, Message
from rag.reasoners.turns import current_turn
from rag.records import Usage
from rag.settings import ReasonerSettings

BYTES_A_TOKEN = 4
PATCH = 28

KEYS = (
    *("calls", "repairs", "prompt_tokens", "completion_tokens", "image_tokens", "seconds"),
    *("last_prompt_tokens", "estimated_text_calls", "estimated_image_calls", "counted_calls"),
    *("unread", "reduced"),
)
"""The counts of each role in `Usage.by_role`. `estimated_*`: calls to a model that gave no counts of its own;
`counted_calls`: calls that no model answered, counted in its place (`wrappers`). `unread`: runs of the role
without a usable reply after all repairs; `reduced`: calls whose prompt was larger than the model takes."""


def estimated_text_tokens(text: str) -> int:
    """Four UTF-8 bytes a token, rounded up."""
    return math.ceil(len(text.encode("utf-8", "surrogatepass")) / BYTES_A_TOKEN)


def estimated_image_tokens(messages: Sequence[Message]) -> int:
    """One token a patch of 28 x 28 pixels, over all images of the messages."""
    return sum(
        math.ceil(shown.width / PATCH) * math.ceil(shown.height / PATCH)
        for message in messages
        for shown in message.images
    )


def estimated_audio_tokens(messages: Sequence[Message]) -> int:
    """32 tokens a second of sound."""
    return math.ceil(32 * sum(message.audio_seconds for message in messages))


def usage_of(by_role: Mapping[str, Mapping[str, float]]) -> Usage:
    """The sums over the rows of all roles, with the rows."""
    total = {key: sum(row.get(key, 0.0) for row in by_role.values()) for key in KEYS}
    counts = {key: int(total[key]) for key in ("calls", "prompt_tokens", "completion_tokens", "image_tokens")}
    return Usage(**counts, seconds=total["seconds"], by_role=by_role)


def usage_together(given: Iterable[Usage]) -> Usage:
    """What several reasoners cost together, role by role."""
    roles: dict[str, dict[str, float]] = {}
    for usage in given:
        for role, row in usage.by_role.items():
            kept = roles.setdefault(role, dict.fromkeys(KEYS, 0.0))
            for key in KEYS:
                kept[key] += row.get(key, 0.0)
    return usage_of(roles)


class UsageCounter:
    """Calls since the last `usage`, of each turn, and outside of turns of each thread, on its own: one thread
    works on one question."""

    def __init__(self) -> None:
        self._thread = threading.local()

    @property
    def _roles(self) -> dict[str, dict[str, float]]:
        """Rows since the last `usage`."""
        turn = current_turn()
        if turn is not None:
            return turn.counted.setdefault(self, {})
        if not hasattr(self._thread, "roles"):
            self._thread.roles = {}
        roles: dict[str, dict[str, float]] = self._thread.roles
        return roles

    @property
    def now(self) -> Usage:
        """All that was counted since the last `usage`."""
        return usage_of(self._roles)

    def add(self, role: str, **amounts: float) -> None:
        """Add to the row of a role, by the names of `KEYS`; `prompt_tokens` are those of one call."""
        row = self._roles.setdefault(role, dict.fromkeys(KEYS, 0.0))
        for key, amount in amounts.items():
            row[key] += amount
        row["last_prompt_tokens"] = amounts.get("prompt_tokens", row["last_prompt_tokens"])

    def record(self, role: str, messages: Sequence[Message], sent: ChatReply) -> None:
        """Add the tokens of one call, as the model counted them or as estimated."""
        estimated = estimated_image_tokens(messages)
        images, prompt, completion = sent.image_tokens, sent.prompt_tokens, sent.completion_tokens
        self.add(
            role,
            estimated_image_calls=images is None and estimated > 0,
            estimated_text_calls=prompt is None or completion is None,
        )
        if images is None:
            images = estimated if prompt is None else min(estimated, prompt)
        if prompt is None:
            prompt = images + sum(estimated_text_tokens(message.text) for message in messages)
        if completion is None:
            completion = estimated_text_tokens(sent.text)
        self.add(role, image_tokens=images, prompt_tokens=prompt, completion_tokens=completion)

    def usage(self) -> Usage:
        """Everything since the last call of this; starts again from nothing."""
        used, turn = usage_of({role: dict(row) for role, row in self._roles.items()}), current_turn()
        if turn is not None:
            turn.read.append(used)
        self._roles.clear()
        return used


CLOSING = frozenset({"answer_choice", "answer_open", "answer_unaided", "judge"})
"""Roles that end a run. They may use what the others had to leave, so that a run which is stopped can
still say what it has."""
KEPT = 0.25
"""Share of the calls that only these may use."""


def require_call_left(settings: ReasonerSettings, name: str, role: str, spent: UsageCounter) -> None:
    """Raises `BudgetSpent` where `reasoner.max_calls` are made, of which `KEPT` is for closing roles."""
    kept = 0 if role in CLOSING else int(settings.max_calls * KEPT)
    calls = max(1, settings.max_calls - kept)
    if spent.now.calls >= calls:
        raise BudgetSpent(
            f"{name}: {calls} calls spent on one question (at {role}); raise reasoner.max_calls"
        )
