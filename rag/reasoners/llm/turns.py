"""One role put to a language model: what its prompt is filled with, and what its reply must be.

A turn is made of a role's input alone, so it can be rendered, counted and
compared without a model. The makers of turns: `turns_road`, `turns_searching`,
`turns_watching`, `turns_judging`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from pydantic import BaseModel

from rag.reasoners.llm.messages import Shown
from rag.reasoners.llm.prompts import Material

Reply = TypeVar("Reply", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Turn(Generic[Reply]):
    role: str
    variables: Mapping[str, Material]
    """Material by name; bare words of ours under `!name`."""
    reply: type[Reply]
    images: Sequence[Shown] | None = None
    """What `{{images}}` stands for; None where the prompt has no such place."""
    check: Callable[[Reply], object] | None = None
    """Raises `BadReply` for what the schema alone cannot tell."""
