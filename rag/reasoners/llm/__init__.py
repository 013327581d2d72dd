"""The roles played by a language model: a local server's, or one loaded in this process."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rag.errors import SettingsError

if TYPE_CHECKING:
    from rag.reasoners.llm.messages import ChatClient
    from rag.reasoners.llm.reasoner import LlmReasoner
    from rag.reasoners.llm.recording import Tape
    from rag.reasoners.llm.usage import Ledger
    from rag.settings import ReasonerSettings

__all__ = ["open_llm_reasoner"]


def open_llm_reasoner(
    settings: ReasonerSettings,
    *,
    seed: int = 0,
    ledger: Ledger | None = None,
    tape: Tape | None = None,
) -> LlmReasoner:
    """The reasoner that `settings.kind` names (`openai` or `transformers`).

    `ledger`, `tape`: shared by several; by default its own, and what `settings.record` or
    `settings.replay` say. No server is contacted yet; a model in process is loaded now, but for a
    replay, which needs none.
    Raises `SettingsError`, `WeightsMissing` or `WeightsInvalid`.
    """
    from rag.reasoners.llm.reasoner import LlmReasoner
    from rag.reasoners.llm.recording import open_tape

    client = _open_client(settings, seed)
    if tape is None:
        tape = open_tape(settings)
    return LlmReasoner(client, settings, ledger=ledger, tape=tape, seed=seed)


def _open_client(settings: ReasonerSettings, seed: int) -> ChatClient:
    if settings.replay is not None:
        from rag.reasoners.llm.messages import NoClient

        named = Path(settings.model).expanduser().name if settings.kind == "transformers" else settings.model
        return NoClient(f"{settings.kind}:{named}")
    match settings.kind:
        case "openai":
            from rag.reasoners.llm.openai_client import OpenAIClient

            return OpenAIClient(settings, seed=seed)
        case "transformers":
            from rag.reasoners.llm.local_client import LocalClient, TransformersLLM

            return LocalClient(TransformersLLM.load(settings))
        case _:
            raise SettingsError(f"reasoner.kind {settings.kind} is no language model")
