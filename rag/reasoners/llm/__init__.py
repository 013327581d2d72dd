"""The roles played by a language model: a local server's, or one loaded in this process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rag.errors import SettingsError

if TYPE_CHECKING:
    from rag.config import ReasonerSettings
    from rag.reasoners.llm.messages import ChatClient
    from rag.reasoners.llm.reasoner import LlmReasoner

__all__ = ["open_llm_reasoner"]


def open_llm_reasoner(settings: ReasonerSettings, *, frame_budget: int = 15, seed: int = 0) -> LlmReasoner:
    """The reasoner that `settings.kind` names (`openai` or `transformers`).

    `frame_budget`: frames sent of one window at most. No server is contacted yet; a model
    in process is loaded now. Raises `SettingsError`, `WeightsMissing` or `WeightsInvalid`.
    """
    from rag.reasoners.llm.reasoner import LlmReasoner

    return LlmReasoner(_open_client(settings, seed), settings, frame_budget)


def _open_client(settings: ReasonerSettings, seed: int) -> ChatClient:
    match settings.kind:
        case "openai":
            from rag.reasoners.llm.openai_client import OpenAIClient

            return OpenAIClient(settings, seed=seed)
        case "transformers":
            from rag.reasoners.llm.local_client import LocalClient, TransformersLLM

            return LocalClient(TransformersLLM.load(settings))
        case _:
            raise SettingsError(f"reasoner.kind {settings.kind} is no language model")
