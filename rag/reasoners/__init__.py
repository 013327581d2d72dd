"""Reasoners by name. Each is imported when it is opened, so that no other's libraries are needed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rag.errors import SettingsError
from rag.settings import ReasonerSettings, Settings

if TYPE_CHECKING:
    from indexers.protocol import TextEncoder, TextTower
    from rag.reasoners.roles import Part, Reasoner

__all__ = ["open_reasoner"]

_PARTS: tuple[Part, ...] = ("analyst", "planner", "watcher", "judge")


def open_reasoner(
    settings: Settings, text_encoder: TextEncoder | None, tower: TextTower | None = None
) -> Reasoner:
    """The reasoner of `settings.reasoner`: one mind, or one for each part that has a model of its own.

    `text_encoder`, `tower`: of the library, for the embedded reasoner; a language model needs neither.
    Raises `ReasonerError`, `ModelError` or `SettingsError` where a language model cannot be opened.
    """
    chosen = {part: settings.reasoner.of_part(part) for part in _PARTS}
    taped = settings.reasoner.record is not None or settings.reasoner.replay is not None
    if all(part.kind == "embedded" for part in chosen.values()):
        if taped:
            raise SettingsError(
                "reasoner.record and reasoner.replay are for a language model; the embedded one says the "
                "same each time by itself"
            )
        return _embedded(text_encoder, tower)
    shared = _shared(settings.reasoner)
    reasoners: dict[str, Reasoner] = {}
    played: dict[Part, Reasoner] = {}
    for part, own in chosen.items():
        # Parts under the same settings are one mind: a model in this process is loaded once.
        who = own.kind if own.kind == "embedded" else _identity(own)
        if who not in reasoners:
            reasoners[who] = (
                _embedded(text_encoder, tower)
                if own.kind == "embedded"
                else _language_model(own, settings.seed, shared)
            )
        played[part] = reasoners[who]
    if len(reasoners) == 1:
        return played["analyst"]
    from rag.reasoners.routing import RoutedReasoner

    return RoutedReasoner(played)


def _embedded(text_encoder: TextEncoder | None, tower: TextTower | None) -> Reasoner:
    from rag.reasoners.embedded import EmbeddedReasoner

    if text_encoder is None:
        raise SettingsError("the embedded reasoner needs a text encoder; open a library first")
    return EmbeddedReasoner(text_encoder, tower)


def _language_model(own: ReasonerSettings, seed: int, shared: dict[str, Any]) -> Reasoner:
    from rag.reasoners.llm import open_llm_reasoner

    return open_llm_reasoner(own, seed=seed, **shared)


def _shared(settings: ReasonerSettings) -> dict[str, Any]:
    """One count of calls and one recording for all models of a run."""
    from rag.reasoners.llm.recording import open_tape
    from rag.reasoners.llm.usage import Ledger

    return {"ledger": Ledger(), "tape": open_tape(settings)}


def _identity(own: ReasonerSettings) -> str:
    key = own.api_key.get_secret_value()
    return own.model_dump_json(exclude={"planner", "watcher", "judge", "api_key"}) + key
