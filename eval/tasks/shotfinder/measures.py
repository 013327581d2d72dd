"""Measures of a search for a shot, each of one sample: read from its evidence and its tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from eval.metrics.scored import Measure, Scored


def told(scored: Scored, name: str, default: Any = None) -> Any:
    """A field of the sample's evidence."""
    return scored.sample.evidence.get(name, default)


def by_rule(name: str) -> Measure:
    """1 where that way of counting calls the sample right; None where it cannot tell."""

    def measure(scored: Scored) -> float | None:
        verdict = told(scored, "rules", {}).get(name)
        return None if verdict is None else float(verdict)

    return measure


def in_right_video(scored: Scored) -> float | None:
    """1 where the frame that was given lies in the right video; None where nobody knows when the shot is."""
    if not scored.query.has_window:
        return None
    shot = told(scored, "shot")
    return float(shot is not None and shot["video_id"] == scored.query.video)


def off_by(scored: Scored) -> float | None:
    """Seconds between the frame that was given and the right shot, in the right video; 0 inside the shot."""
    seconds = told(scored, "off_by")
    return None if seconds is None else float(seconds)


def stage(scored: Scored) -> str:
    """Where it went wrong; empty for a right sample and for one that was not put anywhere."""
    return str(told(scored, "stage", ""))


def value(scored: Scored) -> str:
    """What the constraint asks for: `warm`, `2d`, ..."""
    return str(told(scored, "value", ""))


@dataclass(frozen=True, slots=True)
class Agreement:
    """A rule against the truth, over frames that were found."""

    both: int
    only_rule: int
    only_truth: int
    neither: int
    hits: tuple[tuple[float, str], ...]
    """1 where the two agree, and the cluster, of each frame."""

    @property
    def n(self) -> int:
        return self.both + self.only_rule + self.only_truth + self.neither

    @property
    def precision(self) -> float | None:
        called = self.both + self.only_rule
        return self.both / called if called else None

    @property
    def recall(self) -> float | None:
        true = self.both + self.only_truth
        return self.both / true if true else None

    @property
    def kappa(self) -> float | None:
        """Cohen's: agreement beyond chance."""
        n = self.n
        if not n:
            return None
        agreed = (self.both + self.neither) / n
        rule, true = (self.both + self.only_rule) / n, (self.both + self.only_truth) / n
        chance = rule * true + (1 - rule) * (1 - true)
        return None if chance == 1 else (agreed - chance) / (1 - chance)


def agreement(samples: Sequence[Scored], rule: str, truth: str = "truth") -> Agreement:
    """Over every candidate's frame. `rule`: `strict`, `by_clip`, `text` or `image`; frames that one of the
    two says nothing of are left out. `truth`: or `moment`, which is blind to the constraint."""
    counts = {(a, b): 0 for a in (True, False) for b in (True, False)}
    hits = []
    for scored in samples:
        frames: Sequence[Mapping[str, Any]] = told(scored, "judged", [])
        for frame in frames:
            said, true = frame.get(rule), frame.get(truth)
            if said is None or true is None:
                continue
            counts[bool(said), bool(true)] += 1
            hits.append((float(bool(said) == bool(true)), scored.query.cluster))
    return Agreement(
        counts[True, True], counts[True, False], counts[False, True], counts[False, False], tuple(hits)
    )
