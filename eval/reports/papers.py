"""What the papers printed for a system of ours, with its place: one line, or nothing where they have none."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from eval.reports.published import ACCURACY

__all__ = ["NOTES", "printed"]


def printed(benchmark: str, system: str) -> str:
    """`33.6 (EgoFact, table 3)`; empty for a system or benchmark of our own."""
    teller = TELLERS.get(benchmark.partition("-")[0])
    return teller(system) if teller is not None else ""


def _egofact(system: str) -> str:
    return _told(ACCURACY.get(system, {}).get("overall"), "EgoFact, table 3")


def _browsecomp(system: str) -> str:
    from eval.benchmarks.browsecomp.paper import ABLATIONS, MAIN_RESULTS, PARADIGMS

    for table, rows in (("table 1", MAIN_RESULTS), ("table 2", PARADIGMS), ("table 3", ABLATIONS)):
        if system in rows:
            return _told(rows[system].accuracy, f"Video-Browser, {table}")
    return ""


def _longvideo(system: str) -> str:
    from eval.benchmarks.longvideo.published import ABLATION, COMPARISON, METHODS

    if system in ABLATION:
        return _told(ABLATION[system], "VideoDetective, table 3")
    method = METHODS.get(system)
    best = None if method is None else COMPARISON["Qwen3-8B + Qwen3VL-8B"].get(method)
    return _told(best, "VideoDetective, table 1")


def _shotfinder(system: str) -> str:
    from eval.benchmarks.shotfinder.paper import TABLE_1
    from eval.benchmarks.shotfinder.systems import ASKED, OURS

    if system not in (OURS, ASKED):
        return ""
    return _told(TABLE_1["GPT-5.2"]["overall"], "ShotFinder, table 1, GPT-5.2")


def _rvms(system: str) -> str:
    from eval.benchmarks.rvms.paper import RULE_ONLY

    best = RULE_ONLY["Gemini-3-Pro"][-1] if system == "raclo" else None
    return _told(best, "RACLO, table 1, rule only, Gemini-3-Pro")


def _told(value: float | None, place: str) -> str:
    return "" if value is None else f"{value:.1f} ({place})"


TELLERS: Mapping[str, Callable[[str], str]] = {
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
    "shotfinder": "Right here: the shot that was found is the true one, by its times where they are known. "
    "The paper: judged by a model, 1,210 rows over the open web, commercial models; people reach 88.5.",
    "rvms": "Right here: the answer is the video, and its moment, where one is asked for, is the true one. "
    "The paper: the address alone, 1,440 rows over the open web, commercial models.",
}
"""Why the two columns are not to be compared, by benchmark; and what is right, where that is more than one
answer."""
