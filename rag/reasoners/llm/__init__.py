"""Roles run by a language model: one at a server, or one loaded in this process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rag.errors import SettingsError
from rag.reasoners import ReasonerContext
from rag.settings import ReasonerSettings

if TYPE_CHECKING:
    from rag.reasoners.llm.reasoner import LlmReasoner
    from rag.reasoners.llm.usage import UsageCounter
    from rag.reasoners.prompts import ChatClient

__all__ = ["open_llm", "open_llm_reasoner"]


def open_llm(context: ReasonerContext) -> LlmReasoner:
    """The factory of the kinds `openai` and `transformers`; raises as `open_llm_reasoner` does."""
    return open_llm_reasoner(context.settings, seed=context.seed, usage_counter=context.usage_counter)


def open_llm_reasoner(
    settings: ReasonerSettings, *, seed: int = 0, usage_counter: UsageCounter | None = None
) -> LlmReasoner:
    """The reasoner that `settings.kind` names (`openai` or `transformers`).

    `usage_counter`: shared by several; default, its own. No server is contacted yet; a model in process is
    loaded now.
    Raises `SettingsError`, `WeightsMissing`, `WeightsInvalid` or `DeviceFull`.
    """
    from rag.reasoners.llm.reasoner import LlmReasoner

    return LlmReasoner(_open_client(settings, seed), settings, usage_counter=usage_counter, seed=seed)


def _open_client(settings: ReasonerSettings, seed: int) -> ChatClient:
    match settings.kind:
        case "openai":
            from rag.reasoners.llm.openai_client import OpenAIClient

            return OpenAIClient(settings, seed=seed)
        case "transformers" if settings.audio:
            raise SettingsError("reasoner.audio is for a model at a server; set it to false for transformers")
        case "transformers":
            from rag.reasoners.llm.local_client import LocalClient

            return LocalClient.load(settings)
        case _:
            raise SettingsError(f"reasoner.kind {settings.kind} is no language model")
