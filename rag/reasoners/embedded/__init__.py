"""A reasoner without a language model: rules, sentence vectors and stored image embeddings."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib import import_module
from inspect import isfunction, signature
from pkgutil import iter_modules
from typing import Any

from indexers.protocol import TextEncoder, TextTower
from rag.errors import RoleUnknown, SettingsError
from rag.reasoners import ReasonerContext
from rag.reasoners.embedded.scoring import SentenceVectors, ZeroShotScorer
from rag.reasoners.protocol import ReplyT, RequestT, Role
from rag.reasoners.roles import ROLES
from rag.records import Usage

__all__ = ["EmbeddedReasoner", "open_embedded"]

VERSION = 62
"""Of the rules; goes up whenever one changes a reply."""


class EmbeddedReasoner:
    """Same reading, same answer, to the bit; decodes nothing and costs no tokens.

    `tower`: words into the space of the stored frame vectors; None where the library has no images.
    """

    name = "embedded"
    reads_pixels = False

    def __init__(self, text_encoder: TextEncoder, tower: TextTower | None = None) -> None:
        self.sentences = SentenceVectors(text_encoder)
        self.images = ZeroShotScorer(tower)
        self._text_encoder = text_encoder
        self._tower = tower

    @property
    def fingerprint(self) -> str:
        """Version of the rules and fingerprints of both encoders, as JSON."""
        tower = self._tower.fingerprint if self._tower is not None else None
        made = {"family": "embedded", "rules": VERSION, "text": self._text_encoder.fingerprint}
        return json.dumps({**made, "tower": tower}, sort_keys=True)

    def run(self, role: Role[RequestT, ReplyT], request: RequestT) -> ReplyT:
        """Raises `RoleUnknown` for a role without a rule."""
        rule = RULES.get(role.name)
        if rule is None:
            raise RoleUnknown(
                f"the embedded reasoner has no rule for the role {role.name}; use a language model for it"
            )
        scorers = {"vectors": self.sentences, "scorer": self.images, "calibrator": self.images.calibrator}
        _, *wanted = signature(rule).parameters
        reply: ReplyT = rule(request, **{name: scorers[name] for name in wanted})
        return reply

    def usage(self) -> Usage:
        """Always zero: no model is called."""
        return Usage()


RULES: dict[str, Callable[..., Any]] = {
    name: rule
    for found in iter_modules(__path__)
    for name, rule in vars(import_module(f"{__name__}.{found.name}")).items()
    if name in ROLES and isfunction(rule) and rule.__module__ == f"{__name__}.{found.name}"
}
"""By role: the function of the role's name, in any module here, over the request and any of `vectors`,
`scorer` and `calibrator`."""


def open_embedded(context: ReasonerContext) -> EmbeddedReasoner:
    """The factory of the kind `embedded`. Raises `SettingsError` without a text encoder."""
    if context.text_encoder is None:
        raise SettingsError("the embedded reasoner needs a text encoder; open a library first")
    return EmbeddedReasoner(context.text_encoder, context.tower)
