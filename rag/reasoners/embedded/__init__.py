"""A reasoner without a language model: rules, sentence vectors and stored image embeddings."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rag.errors import ReasonerError, SettingsError
from rag.reasoners.embedded import answer_choice as choices
from rag.reasoners.embedded import answer_open as open_answers
from rag.reasoners.embedded import imagine_queries as imagining
from rag.reasoners.embedded import judge as judging
from rag.reasoners.embedded import locate as locating
from rag.reasoners.embedded import observe as observing
from rag.reasoners.embedded import plan as planning
from rag.reasoners.embedded import rewriting
from rag.reasoners.embedded import select_candidates as selecting
from rag.reasoners.embedded import verify_video as verifying
from rag.reasoners.embedded.scoring import SentenceVectors, ZeroShotScorer
from rag.records import Usage

if TYPE_CHECKING:
    from indexers.protocol import TextEncoder, TextTower
    from rag.reasoners import ReasonerContext
    from rag.reasoners.protocol import ReplyT, RequestT, Role

__all__ = ["EmbeddedReasoner", "open_embedded"]

VERSION = 13
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
        made = {
            "family": "embedded",
            "rules": VERSION,
            "text": self._text_encoder.fingerprint,
            "tower": tower,
        }
        return json.dumps(made, sort_keys=True)

    def run(self, role: Role[RequestT, ReplyT], request: RequestT) -> ReplyT:
        """Raises `ReasonerError` for a role without a rule."""
        rule = RULES.get(role.name)
        if rule is None:
            raise ReasonerError(
                f"the embedded reasoner has no rule for the role {role.name}; use a language model for it"
            )
        reply: ReplyT = rule(request, self)
        return reply

    def usage(self) -> Usage:
        """Always zero: no model is called."""
        return Usage()


RULES: dict[str, Callable[[Any, EmbeddedReasoner], Any]] = {
    "rewrite_question": lambda request, _: rewriting.rewrite_question(request),
    "anchor_event": lambda request, _: rewriting.anchor_event(request),
    "decompose_facets": lambda request, _: rewriting.decompose_facets(request),
    "imagine_queries": lambda request, _: imagining.imagine_queries(request),
    "plan": lambda request, own: planning.plan(request, own.sentences),
    "select_candidates": lambda request, own: selecting.select_candidates(request, own.sentences),
    "locate": lambda request, own: locating.locate(request, own.images, own.sentences),
    "observe": lambda request, own: observing.observe(request, own.images, own.sentences),
    "timeline": lambda request, own: observing.timeline(request, own.images),
    "verify_video": lambda request, own: verifying.verify_video(request, own.images, own.sentences),
    "match_frame": lambda request, own: verifying.match_frame(request, own.images, own.sentences),
    "answer_choice": lambda request, own: choices.answer_choice(
        request, own.sentences, own.images.calibrator
    ),
    "answer_open": lambda request, own: open_answers.answer_open(request, own.sentences),
    "judge": lambda request, own: judging.judge(request, own.sentences),
}
"""The rule of each role, under the role's name."""


def open_embedded(context: ReasonerContext) -> EmbeddedReasoner:
    """The factory of the kind `embedded`. Raises `SettingsError` without a text encoder."""
    if context.text_encoder is None:
        raise SettingsError("the embedded reasoner needs a text encoder; open a library first")
    return EmbeddedReasoner(context.text_encoder, context.tower)
