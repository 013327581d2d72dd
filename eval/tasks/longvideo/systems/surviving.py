"""What a run over long films makes of a question that its mind cannot answer in a form that can be read."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from eval.runs.records import Query, Sample
from eval.tasks.adapter import System
from eval.tasks.longvideo.systems.corpus import Corpus, sampled
from rag.errors import BudgetSpent, ReplyInvalid
from rag.reasoners.roles import ChosenOption


@dataclass(frozen=True)
class Surviving:
    """A system for which an unusable reply, or a spent budget, is a wrong answer and not the run's end.

    A mind that cannot be reached is no wrong answer: `answer` raises `ReasonerUnreachable`, and the run is
    taken up later where it stopped.
    """

    system: System
    corpus: Corpus

    @property
    def name(self) -> str:
        return self.system.name

    @property
    def settings(self) -> Mapping[str, Any]:
        return self.system.settings

    def answer(self, query: Query) -> Sample:
        try:
            return self.system.answer(query)
        except (ReplyInvalid, BudgetSpent) as error:
            reply = ChosenOption(choice=None, confidence=0.0, explanation=str(error))
            usage = self.corpus.reasoner.usage()
            sample = sampled(query, reply, (), usage, failure=type(error).__name__)
            return dataclasses.replace(sample, parse_failure=isinstance(error, ReplyInvalid))
