"""EgoFact's score: the letter exactly, and whether what was read of the gold clip names the event (D.1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from eval.runs.records import Output, Query, Score
from eval.tasks.egofact.solvers.captions import SURE, Captioner


@dataclass(frozen=True, slots=True)
class EgoFactScore(Score):
    """Right or wrong, and whether the event was understood."""

    understood: bool | None = None
    """None where no frame of the gold clip was read."""


@dataclass(frozen=True)
class EgoFactScorer:
    """`captioner`: the judge, who captions the frames that were read; None: understanding is not judged."""

    captioner: Captioner | None
    threshold: float = SURE
    """Cosine of two sentences from which they name the same event."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """Facts that belong to the identity of a run."""
        judge = {} if self.captioner is None else {"judge": "captions", "threshold": self.threshold}
        return {"scorer": "exact", **judge}

    def score(self, query: Query, output: Output) -> EgoFactScore:
        """Score one output; see `eval.task.Scorer`."""
        correct = output.choice is not None and output.choice == query.answer
        times, event = output.frames_read.get(query.video), output.evidence.get("event")
        if self.captioner is None or not times or not isinstance(event, str):
            return EgoFactScore(correct)
        frames = self.captioner.corpus.frames[query.video]
        nearest = np.abs(frames.times[None, :] - np.array(times)[:, None]).argmin(axis=1)
        understood = self.captioner.names_event(frames.vectors[nearest], event, self.threshold)
        return EgoFactScore(correct, understood=understood)
