"""The simulated model keeps the contract of a reasoner: every role, through HTTP."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from rag.reasoners.llm.reasoner import LlmReasoner
from rag.reasoners.testing import ReasonerContract
from tests.fakes.simulated_world import simulated_reasoner


class TestSimulatedModel(ReasonerContract):
    @contextlib.contextmanager
    def open(self) -> Iterator[LlmReasoner]:
        with simulated_reasoner(repairs=0) as (reasoner, _):
            yield reasoner
