"""Which objects an action could be done to, and how likely each is the one: fair distractors rest on it.

A blind reader is at chance where, given question and options, each option is
as likely the right one. So distractors must come by the same law as answers:
`weight` is that law (up to a constant) given the action, and `kept` is how
much of what the events of a clip bring along must be left out to obey it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Protocol

from eval.tasks.egofact.records import EventStructure, Segment


class ObjectPrior(Protocol):
    """How likely an object is used in an event."""

    name: str

    def weights(self, event: EventStructure) -> dict[str, float]:
        """Canonical name to how likely the world puts it there; what does not fit is absent."""
        ...

    def used(self, name: str) -> float:
        """How often it is used, whatever the action."""
        ...


def kept(law: ObjectPrior, weights: dict[str, float]) -> dict[str, float]:
    """Probability with which a used object of the clip may stand as a distractor.

    Objects used elsewhere in the clip come by the law of all actions together,
    under which things that many actions fit are commoner. Kept in proportion to
    weight / used, they come by the law of answers.
    """
    ratio = {name: weight / max(law.used(name), 1e-9) for name, weight in weights.items()}
    top = max((ratio[name] for name in ratio if law.used(name) > 0), default=1.0)
    return {name: min(1.0, value / top) for name, value in ratio.items()}


class WorkbenchObjects:
    """The Workbench world draws evenly among the kinds that an action fits."""

    name = "workbench catalogue"

    def __init__(self) -> None:
        from eval.workbench.catalogue import KINDS
        from eval.workbench.wording import ACTIONS, allows

        self._fit = {
            what.verb: {found.name: 1.0 for found in KINDS if allows(what, found)} for what in ACTIONS
        }
        self._used: dict[str, float] = {}
        for fit in self._fit.values():
            for name in fit:
                self._used[name] = self._used.get(name, 0.0) + 1 / len(fit)

    def weights(self, event: EventStructure) -> dict[str, float]:
        """Digest of the model's files."""
        return self._fit.get(event.action, {})

    def used(self, name: str) -> float:
        """Whether the synthetic world uses an object of this name."""
        return self._used.get(name, 0.0)


class CorpusObjects:
    """Any other event list: an action fits what it was done to somewhere in it, as often as it was."""

    name = "event counts"

    def __init__(self, segments: Iterable[Segment]) -> None:
        events: Sequence[EventStructure] = [event for segment in segments for event in segment.events]
        self._by_action: dict[str, Counter[str]] = {}
        self._used: Counter[str] = Counter()
        for event in events:
            if event.patient_canonical:
                self._by_action.setdefault(event.action, Counter())[event.patient_canonical] += 1
                self._used[event.patient_canonical] += 1

    def weights(self, event: EventStructure) -> dict[str, float]:
        """Digest of the model's files."""
        return {name: float(count) for name, count in self._by_action.get(event.action, Counter()).items()}

    def used(self, name: str) -> float:
        """Whether the corpus uses an object of this name."""
        return float(self._used[name])
