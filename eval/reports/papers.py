"""What is measured of each benchmark on the page for all, and what its paper printed for the same measure.

A figure of a paper stands beside the measure that it is a figure of, and beside no other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from eval.metrics.accuracy import correct
from eval.metrics.scored import Measure
from eval.reports.published import ACCURACY

RIGHT = "right"


def _nothing(system: str) -> str:  # noqa: ARG001 (one shape for all)
    return ""


@dataclass(frozen=True, slots=True)
class Compared:
    label: str
    measure: Measure
    about: str = ""
    """What is counted, in a sentence; empty for `right`, which `eval.reports.labels` tells."""
    printed: Callable[[str], str] = _nothing
    """From the name of a system of ours: `33.6 (EgoFact, table 3)`; empty where the paper has nothing."""

    @property
    def has_paper(self) -> bool:
        return self.printed is not _nothing


def compared(benchmark: str) -> tuple[Compared, ...]:
    """The measures of a benchmark; of one that nobody wrote about, what it calls right."""
    known = MEASURED.get(benchmark.partition("-")[0])
    return (Compared(RIGHT, correct),) if known is None else known()


def printed(benchmark: str, system: str, label: str = RIGHT) -> str:
    """What the paper printed of that measure; empty for a system, measure or benchmark of our own."""
    return next((one.printed(system) for one in compared(benchmark) if one.label == label), "")


def _egofact() -> tuple[Compared, ...]:
    return (
        Compared(
            RIGHT,
            correct,
            printed=lambda system: _told(ACCURACY.get(system, {}).get("overall"), "EgoFact, table 3"),
        ),
    )


def _browsecomp() -> tuple[Compared, ...]:
    from eval.tasks.browsecomp.report import ABLATIONS, MAIN_RESULTS, PARADIGMS

    def told(system: str) -> str:
        for table, rows in (("table 1", MAIN_RESULTS), ("table 2", PARADIGMS), ("table 3", ABLATIONS)):
            if system in rows:
                return _told(rows[system].accuracy, f"Video-Browser, {table}")
        return ""

    return (Compared(RIGHT, correct, printed=told),)


def _longvideo() -> tuple[Compared, ...]:
    from eval.tasks.longvideo.report import printed as of_paper

    def told(system: str) -> str:
        found = of_paper(system)
        return "" if found is None else _told(found[0], f"VideoDetective, {found[1]}")

    return (Compared(RIGHT, correct, printed=told),)


def _shotfinder() -> tuple[Compared, ...]:
    from eval.tasks.shotfinder.report import TABLE_1, by_rule
    from eval.tasks.shotfinder.systems import ASKED, OURS

    def told(system: str) -> str:
        best = TABLE_1["GPT-5.2"]["overall"] if system in (OURS, ASKED) else None
        return _told(best, "ShotFinder, table 1, GPT-5.2")

    strict = "the verifier says of the shot that was given that text and image match (the paper's rule)."
    return (Compared("strict", by_rule("strict"), strict, told), Compared(RIGHT, correct))


def _rvms() -> tuple[Compared, ...]:
    from eval.tasks.rvms.report import LOCALIZED, MEASURES, MODEL_RULE, RULE_ONLY

    def of(table: Mapping[str, tuple[float | None, ...]], model: str, place: str) -> Callable[[str], str]:
        best = table[model][-1]
        return lambda system: _told(best, f"RACLO, {place}, {model}") if system == "raclo" else ""

    return (
        Compared(
            "rule only",
            MEASURES["rule"],
            "the video's own address is among the candidates.",
            of(RULE_ONLY, "Gemini-3-Pro", "table 1, rule only"),
        ),
        Compared(
            "model + rule",
            MEASURES["model+rule"],
            "it is, or the judges take a candidate for the video; tasks with G.",
            of(MODEL_RULE, "Gemini-3-Pro", "table 1, model + rule"),
        ),
        Compared(
            "localization",
            MEASURES["frame"],
            "a located frame of any candidate matches text and reference frame, by the judge; tasks with K.",
            of(LOCALIZED, "GPT-5.2", "table 2"),
        ),
        Compared(RIGHT, correct),
    )


def _told(value: float | None, place: str) -> str:
    return "" if value is None else f"{value:.1f} ({place})"


MEASURED: Mapping[str, Callable[[], tuple[Compared, ...]]] = {
    "egofact": _egofact,
    "browsecomp": _browsecomp,
    "longvideo": _longvideo,
    "rvms": _rvms,
    "shotfinder": _shotfinder,
}
NOTES: Mapping[str, str] = {
    "egofact": "The paper: Ego4D clips, GPT-4o-mini.",
    "browsecomp": "The paper: 210 questions over the open web, commercial models.",
    "longvideo": "The paper: VideoMME-long, Qwen3-8B with Qwen3-VL-8B.",
    "shotfinder": "The paper: 1,210 rows over the open web, commercial models, GPT-5.2 without the task of "
    "sound; people reach 88.5.",
    "rvms": "The paper: 1,440 rows over the open web, commercial models, the best of each table.",
}
"""What the papers measured with: why the columns are not to be compared."""
