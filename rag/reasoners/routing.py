"""Several reasoners as one: planning, looking and judging may each have a model of their own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from rag.reasoners.llm.usage import usage_together

if TYPE_CHECKING:
    from rag.reasoners.protocol import Part, Reasoner, ReplyT, RequestT, Role
    from rag.records import Usage


class RoutedReasoner:
    """Each role is run by the reasoner of its part."""

    def __init__(self, parts: Mapping[Part, Reasoner]) -> None:
        self.parts = dict(parts)
        self.name = "+".join(dict.fromkeys(reasoner.name for reasoner in self.parts.values()))

    @property
    def fingerprint(self) -> str:
        """The fingerprints of all parts, as JSON."""
        return json.dumps(
            {part: reasoner.fingerprint for part, reasoner in self.parts.items()}, sort_keys=True
        )

    @property
    def reads_pixels(self) -> bool:
        """True where the one that looks or the one that answers reads pixels."""
        return self.parts["watcher"].reads_pixels or self.parts["analyst"].reads_pixels

    def run(self, role: Role[RequestT, ReplyT], request: RequestT) -> ReplyT:
        """The reply of the reasoner of the role's part."""
        return self.parts[role.part].run(role, request)

    def usage(self) -> Usage:
        """Of all of them together. Reasoners that share one count give it once."""
        return usage_together(reasoner.usage() for reasoner in self.parts.values())
