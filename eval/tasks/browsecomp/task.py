"""Video-BrowseComp: questions over a web of videos (Video-Browser, section 3), published or synthetic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from eval.metrics.calibration import expected_calibration_error
from eval.metrics.intervals import Estimate
from eval.metrics.scored import Measure, Scored, correct, number, restricted, sample_field
from eval.metrics.scored import tokens as all_tokens
from eval.reports.described import load_report
from eval.reports.spec import Section
from eval.reports.tables import Column, percent
from eval.task import Prepared, task_opener
from eval.tasks.browsecomp.dataset import BENCHMARK, BrowseQuestion, input_of, query_of, question_of
from eval.tasks.browsecomp.scorer import BrowseScore, BrowseScorer
from eval.tasks.browsecomp.solvers import VARIANTS, VideoBrowserSolver
from eval.tasks.web_task import SyntheticWeb, WebEnvironment, WebTask
from rag.agents.video_browser.records import BrowserSettings

if TYPE_CHECKING:
    from rag.web.catalogue import Catalogue

BINS = 5
"""The calibration error has as many bins (equation 5)."""


def rewording_tokens(scored: Scored) -> float:
    """Tokens of the two calls that only the embedded analyst makes; the paper's agent has no such step."""
    by_role = sample_field(scored, "tokens_by_role", {})
    rows = [by_role.get(role, {}) for role in ("rewrite_question", "anchor_event")]
    return float(sum(row.get(kind, 0) for row in rows for kind in ("prompt_tokens", "completion_tokens")))


def tokens(scored: Scored) -> float:
    """All tokens of the paper's calls."""
    return all_tokens(scored) - rewording_tokens(scored)


def _ended(scored: Scored) -> bool:
    return not sample_field(scored, "failure")


def calibration_error(samples: Sequence[Scored]) -> Estimate | None:
    """Equation 5 over the samples whose model gave a confidence: a run that ended with an error has none,
    and counting it as 0 would favour such runs."""
    return expected_calibration_error([scored for scored in samples if _ended(scored)], BINS)


MEASURES: Mapping[str, Measure | Column] = {
    "by match": lambda scored: float(bool(sample_field(scored, "judge", {}).get("by_match"))),
    "CE": Column(restricted(correct, _ended), "share", over=calibration_error),
    "tokens": Column(tokens),
    "context": Column(lambda scored: float(sample_field(scored, "context", 0))),
    "search calls": Column(number("searches"), decimals=2),
    "loops": Column(number("loops"), decimals=2),
    "tokens of rewording": Column(rewording_tokens),
    "evidence recall": number("evidence_recall"),
    "ended in failure": lambda scored: float(not _ended(scored)),
}


def _chances(section: Section) -> Mapping[str, str]:
    """The accuracy of guessing, by kind, where options are given."""
    samples = (scored for row in section.rows for scored in row.samples)
    found = {(sample_field(one, "kind", ""), int(sample_field(one, "options", 0))) for one in samples}
    chances = ", ".join(f"{kind} {percent(1 / count)}" for kind, count in sorted(found) if kind and count)
    return {"chances": f"Chance, in percent: {chances}. Other kinds are asked without options."}


REPORT = load_report("eval.tasks.browsecomp", MEASURES, facts=_chances)


class BrowseCompTask(WebTask[BrowserSettings, BrowseQuestion]):
    """The registered task; see `WebTask`."""

    benchmark = BENCHMARK
    record_type, records_file = BrowseQuestion, "questions.jsonl"
    variants = VARIANTS
    report = REPORT
    score_type = BrowseScore
    parse_row = staticmethod(question_of)
    query_of = staticmethod(query_of)
    input_of = staticmethod(input_of)
    open_solver = staticmethod(VideoBrowserSolver)

    def addresses(self, record: BrowseQuestion) -> Sequence[str]:
        return [url for source in record.evidence for url in source.urls]

    def with_contents(self, record: BrowseQuestion, catalogue: Catalogue) -> BrowseQuestion:
        """The content ids of its videos, and every other upload that shows one of them."""
        by_url = {entry.url: entry for entry in catalogue.videos}
        sources = []
        for source in record.sources:
            entry = by_url[source.urls[0]]
            shown = [
                other.url
                for other in catalogue.videos
                if other.url not in source.urls
                and (other.content_id == entry.content_id or other.alias_of == entry.id)
            ]
            sources.append(replace(source, video_id=entry.content_id, urls=(*source.urls, *shown)))
        return replace(record, sources=tuple(sources))

    def open_scorer(self, prepared: Prepared[WebEnvironment]) -> BrowseScorer:
        return BrowseScorer(prepared.environment.reasoner, prepared.gold)


_DRAFTED = Path(__file__).with_name("workbench")
# A fifth of the questions ask for text on the screen.
FULL = SyntheticWeb(_DRAFTED / "full", reads_screen=True)
"""A target video is some minutes long, has a channel and a day of its own, states a story in its description,
and says one thing in passing. Some say, or show on a card, under which name the work continues: that
leads to another target video. Rules of the embedded reasoner were tuned on the web of seed 11."""
MINI = SyntheticWeb(_DRAFTED / "mini")
open_workbench = task_opener(
    BrowseCompTask,
    "browsecomp-workbench",
    "158 questions in three levels over a synthetic web of videos",
    FULL,
)
open_mini = task_opener(
    BrowseCompTask, "browsecomp-workbench-mini", "a handful of them over a small web, for trying out", MINI
)
open_folder = task_opener(
    BrowseCompTask, "browsecomp", "Video-BrowseComp's published files over a web of one's own: --data DIR"
)
