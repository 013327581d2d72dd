"""Reasoners by kind: the entry points of the group `rag.reasoners`, ours among them.

An entry point names a factory: a `ReasonerContext` in, a `Reasoner` out. It is imported when a
reasoner of its kind is opened, so that no other kind's libraries are needed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, get_args

from corpora.entry_points import load_entry_point
from indexers.settings import EncoderSettings
from rag.settings import PartSettings, ReasonerSettings, Settings

if TYPE_CHECKING:
    from indexers.protocol import TextEncoder, TextTower
    from rag.reasoners.llm.usage import UsageCounter
    from rag.reasoners.protocol import Part, Reasoner

__all__ = ["ReasonerContext", "open_reasoner"]

GROUP = "rag.reasoners"


@dataclass(frozen=True)
class ReasonerContext:
    """What a factory may build a reasoner of."""

    settings: ReasonerSettings
    """The settings of the part that the reasoner runs."""
    encoder: EncoderSettings
    """Where installed models are (`indexers.models.lookup.find_weights`)."""
    seed: int
    text_encoder: TextEncoder | None
    """The library's text encoder; None where no library is open."""
    tower: TextTower | None
    """The text half of the library's image encoder; None without images."""
    usage_counter: UsageCounter
    """Shared by all reasoners of a run: their calls count against one budget."""


def open_reasoner(
    settings: Settings, text_encoder: TextEncoder | None, tower: TextTower | None = None
) -> Reasoner:
    """The reasoner of `settings.reasoner`, routed where planner, watcher or judge have one of their own.

    `text_encoder`, `tower`: of the library, for the embedded reasoner; a language model needs neither.
    Raises `ReasonerError`, `ModelError` or `SettingsError` where a reasoner cannot be opened, and
    `UsageError` for an unknown kind.
    """
    from rag.reasoners.llm.usage import UsageCounter
    from rag.reasoners.protocol import Part

    by_part: dict[Part, ReasonerSettings] = {
        part: settings.reasoner.of_part(part) for part in ("analyst", *get_args(Part))
    }
    whole = settings.reasoner
    usage_counter = UsageCounter()
    opened: dict[str, Reasoner] = {}

    def open_part(own: ReasonerSettings) -> Reasoner:
        # Parts under the same settings share one reasoner: a model in this process is loaded once.
        identity = own.kind if own.kind == "embedded" else _identity(own)
        if identity not in opened:
            made: Callable[[ReasonerContext], Reasoner] = load_entry_point(GROUP, own.kind, "reasoner")
            context = ReasonerContext(
                own, settings.encoder, settings.seed, text_encoder, tower, usage_counter
            )
            opened[identity] = made(context)
        return opened[identity]

    routed: dict[Part, Reasoner] = {part: open_part(own) for part, own in by_part.items()}
    fallback = open_part(whole.of_part("fallback")) if whole.fallback != PartSettings() else None
    from rag.reasoners.wrappers import FallbackReasoner, RoutedReasoner

    if fallback is not None:
        backed = {id(own): FallbackReasoner(own, fallback) for own in routed.values() if own is not fallback}
        routed = {part: backed.get(id(own), own) for part, own in routed.items()}
    if len({id(own) for own in routed.values()}) == 1:
        return routed["analyst"]
    return RoutedReasoner(routed)


def _identity(own: ReasonerSettings) -> str:
    key = own.api_key.get_secret_value()
    return own.model_dump_json(exclude={"planner", "watcher", "judge", "fallback", "api_key"}) + key
