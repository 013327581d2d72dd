"""EgoFact's report: the paper's tables and figures beside the paper's own numbers."""

from __future__ import annotations

from eval.metrics.scored import correct
from eval.reports.generic import calibration_table, localization_table, reliability_table
from eval.reports.spec import Compared, Labels, ReportSpec, Section, named_systems, printed_figure
from eval.reports.tables import Table
from eval.tasks.egofact.accuracy_tables import accuracy_table, paper_accuracy_table, query_table, window_table
from eval.tasks.egofact.evidence_tables import (
    letters_table,
    retrieval_table,
    understanding_by_family_table,
    understanding_table,
)
from eval.tasks.egofact.figures import draw_figures
from eval.tasks.egofact.paper import ACCURACY, BASELINE, MARK


def egofact_tables(section: Section) -> list[Table]:
    """The paper's tables and figures as tables, in its order, then ours."""
    named = named_systems(section)
    return [
        query_table(named),
        accuracy_table(named),
        paper_accuracy_table(named),
        understanding_table(named),
        retrieval_table(named),
        understanding_by_family_table(named),
        letters_table(named),
        window_table(section),
        localization_table(named),
        calibration_table(named),
        reliability_table(named),
    ]


def _printed(system: str) -> str:
    return printed_figure(ACCURACY.get(system, {}).get("overall"), "EgoFact, table 3")


REPORT = ReportSpec(
    tables=egofact_tables,
    draw=draw_figures,
    note=(
        "Intervals are 95 %, by drawing whole videos 5,000 times; n counts answers. Columns marked "
        f'"{MARK}" repeat what the EgoFact paper printed, on other videos, questions and models.'
    ),
    labels=Labels(),
    compared=(Compared("right", correct, printed=_printed),),
    paper_note="The paper: Ego4D clips, GPT-4o-mini.",
    order=("graphrag", "videorag-jeong", BASELINE, "localized", "rag-ask"),
    controls=("blind", "passages-only", "random", "oracle-clip", "oracle-window"),
    shown=(BASELINE, "localized"),
)
