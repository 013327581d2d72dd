"""What a reasoner is, and what a role is: a value that any reasoner can run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Literal, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict

from rag.records import Usage

if TYPE_CHECKING:
    from rag.reasoners.prompts import Material, PromptItem

Part = Literal["planner", "watcher", "analyst", "judge"]
"""Which model runs a role, where the settings name several; the analyst is that of `[reasoner]` itself."""

RequestT = TypeVar("RequestT")
ReplyT = TypeVar("ReplyT", bound=BaseModel)


class Reply(BaseModel):
    """The base of every reply: unknown keys are refused, and nothing is changed once it is read."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class BadReply(ValueError):
    """A reply that cannot be used; the message is shown to the model, then to the user."""


@dataclass(frozen=True, slots=True)
class RoleCall:
    """What a role's prompt is filled with for one request."""

    variables: Mapping[str, Material]
    """Material by name; bare words of ours under `!name`."""
    images: Sequence[PromptItem] | None = None
    """What `{{images}}` is replaced by; None where the prompt has no such place."""


@dataclass(frozen=True, slots=True)
class Role(Generic[RequestT, ReplyT]):
    """One thing that a reasoner is asked to do: typed in, typed out.

    The prompt's text is the file `<name>.md` in `package`, beside the role; `prompts.load_prompt`
    reads it. What goes in is a record of ours; what comes out is a pydantic model, because a language
    model's reply is outside data.
    """

    name: str
    part: Part
    request: type[RequestT]
    reply: type[ReplyT]
    prompt: Callable[[RequestT], RoleCall]
    sanitize: Callable[[RequestT, ReplyT], ReplyT] | None = None
    """The reply without what is excess or does not fit this request: more entries than asked for, unknown
    numbers, seconds outside the video. A sound reply comes back equal. Raises `BadReply` where nothing useful
    is left. Applied to the replies of language models."""
    decided: Callable[[RequestT], ReplyT | None] | None = None
    """The reply where it takes no model (the judge's exact match); None where it does."""
    reply_tokens: int = 1024
    """Longest reply that is asked of a language model, where `reasoner.max_tokens` is no shorter. A model
    that thinks before it replies is asked again with all of `reasoner.max_tokens`."""
    package: str = "rag.reasoners.roles"


class Reasoner(Protocol):
    """Runs roles. `run` may raise `ReasonerError` (or one of its kinds)."""

    name: str

    @property
    def fingerprint(self) -> str:
        """All that decides its replies, for the record of a run: model, settings, prompts, encoders."""
        ...

    @property
    def reads_pixels(self) -> bool:
        """True: give it decoded frames; False: stored vectors are enough."""
        ...

    def run(self, role: Role[RequestT, ReplyT], request: RequestT) -> ReplyT:
        """The reply of one role to one request."""
        ...

    def usage(self) -> Usage:
        """What the calls since the last `usage` cost; resets the count, and the budget with it."""
        ...
