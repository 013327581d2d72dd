"""Report of runs on Video-BrowseComp: tables 1 to 3 and figure 3 of Video-Browser, and work a question.

The paper's figures were measured on 210 questions over the open web with other models; they are shown
beside ours, not compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from eval.metrics.calibration import expected_calibration_error
from eval.metrics.intervals import Estimate
from eval.metrics.pairing import Paired, compare
from eval.metrics.scored import Measure, Scored, correct, number, parse_failure, restricted, sample_field
from eval.metrics.scored import tokens as all_tokens
from eval.metrics.tables import estimate
from eval.reports.drawing import COLOURS, draw, draw_sweeps, percent_axis
from eval.reports.spec import (
    Compared,
    Labels,
    Pair,
    ReportSpec,
    Row,
    Section,
    ordered_rows,
    printed_figure,
    sweep_points,
)
from eval.reports.tables import (
    MARK,
    NOTHING,
    PAIR_HEAD,
    Cell,
    Column,
    Line,
    Table,
    by_family,
    compare_rows,
    holm_adjusted,
    measured,
    measures_table,
    pair_cells,
    pair_record,
    percent,
    percent_range,
    record,
    system_lines,
)
from eval.tasks.browsecomp.dataset import LEVELS
from eval.tasks.browsecomp.solvers import CONTROLS, VARIANTS
from rag.agents.video_browser.records import SCALING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BINS = 5
"""Of the calibration error (equation 5)."""


@dataclass(frozen=True, slots=True)
class Printed:
    """Percent; tokens a question."""

    accuracy: float
    calibration_error: float | None = None
    tokens: int | None = None
    context: int | None = None
    levels: tuple[float, float, float] | None = None


MAIN_RESULTS: Mapping[str, Printed] = {
    "tool-free": Printed(19.52, 79.18, levels=(31.20, 3.23, 0.0)),
    "text-search": Printed(23.81, 31.45, levels=(37.60, 4.84, 0.0)),
    "video-browser": Printed(26.19, 44.60, levels=(37.60, 11.29, 4.35)),
}
"""Table 1: the best of each group (gemini-2.5-pro without and with search, VideoBrowser with GPT-5.1)."""
PARADIGMS: Mapping[str, Printed] = {
    "direct": Printed(19.05, 50.80, 78_229, 76_955),
    "summarization": Printed(18.57, 51.34, 75_728, 919),
    "pyramidal": Printed(26.19, 38.10, 32_627, 11_198),
}
"""Table 2, with GPT-5.1."""
ABLATIONS: Mapping[str, Printed] = {
    "full": Printed(12.86, 68.23, 19_505, 5_649),
    "wo-stage1": Printed(9.52, 66.64, 16_846, 6_068),
    "wo-stage2": Printed(12.38, 69.50, 44_961, 42_401),
    "wo-stage3": Printed(10.48, 67.52, 18_330, 4_198),
    "transcript-only": Printed(7.14, 52.49, 15_606, 5_155),
    "visual-only": Printed(12.38, 37.31, 8_353, 3_901),
}
"""Table 3."""
SCALED: Mapping[str, Mapping[int, float]] = {
    "videos": {1: 10.0, 5: 14.8},
    "loops": {5: 19.0},
    "frames": {4: 10.5, 64: 15.7},
}
"""Figure 3: the values that section 5.5 gives in words."""
TABLE_1 = (
    *("tool-free", "text-search", "direct", "direct-selected", "summarization"),
    *("pyramidal", "pyramidal-stored", "video-browser", "video-browser-stored"),
)
TABLE_2 = ("direct", "direct-selected", "summarization", "pyramidal", "pyramidal-stored")
TABLE_3 = ("full", "wo-stage1", "wo-stage2", "wo-stage3", "transcript-only", "visual-only")
BASES = ("direct", "summarization", "direct-selected")
"""The systems that table 2 subtracts, each pair in one direction. The last is ours, on stage 1's videos."""
ON_MATCH = "Right is what the judge calls right; “by match” counts exact and normalized matches alone."
COSTS = ("OA", "CE", "tokens", "context")


def rewording_tokens(scored: Scored) -> float:
    """Of the two calls that only the embedded analyst makes; the paper's agent has no such step."""
    by_role = sample_field(scored, "tokens_by_role", {})
    rows = [by_role.get(role, {}) for role in ("rewrite_question", "anchor_event")]
    return float(sum(row.get(kind, 0) for row in rows for kind in ("prompt_tokens", "completion_tokens")))


def tokens(scored: Scored) -> float:
    """All tokens of the paper's calls."""
    return all_tokens(scored) - rewording_tokens(scored)


def calibration_error(samples: Sequence[Scored]) -> Estimate | None:
    """Equation 5 over the samples whose model gave a confidence: a run that ended with an error has none,
    and counting it as 0 would favour such runs."""
    return expected_calibration_error(
        [scored for scored in samples if not sample_field(scored, "failure")], BINS
    )


def context(scored: Scored) -> float:
    """Tokens of the final prompt (table 2)."""
    return float(sample_field(scored, "context", 0))


def by_match(scored: Scored) -> float:
    """Right by exact or normalized match alone, without a judge."""
    return float(bool(sample_field(scored, "judge", {}).get("by_match")))


def tables(section: Section) -> list[Table]:
    """All tables, in the order of the report."""
    return [
        _results(section),
        _paradigms(section),
        _ablations(section),
        _scaling(section),
        _kinds(section),
        _work(section),
    ]


def _rows(section: Section, names: Sequence[str]) -> list[Row]:
    return [row for row in ordered_rows(section, list(VARIANTS.named)) if row.system in names]


def _values(section: Section, name: str) -> list[str]:
    """The values of a field of the evidence that occur, sorted."""
    values = {str(sample_field(scored, name, "")) for row in section.rows for scored in row.samples}
    return sorted(values - {""})


def _where(name: str, value: str) -> Measure:
    """Accuracy where a field of the evidence has that value."""
    return restricted(correct, lambda scored: str(sample_field(scored, name, "")) == value)


def _results(section: Section) -> Table:
    """Table 1: accuracy, by level and by genre, and calibration."""
    genres = _values(section, "genre")
    parts: dict[str, Measure] = {"overall": correct, "by match": by_match}
    parts |= by_family(correct, LEVELS, "overall")
    parts |= {f"genre {genre}": _where("genre", genre) for genre in genres}
    body, records = [], []
    for row in _rows(section, TABLE_1):
        (cells,), own = measured(system_lines([row]), parts, key="part")
        error = calibration_error(row.samples)
        split = 3 + len(LEVELS)
        printed = _printed_main(MAIN_RESULTS.get(row.system))
        body.append((*cells[:split], percent_range(error), *cells[split:], str(len(row.samples)), *printed))
        records += [*own, record(error, system=row.label, part="calibration error")]
    short = (level.replace("level", "L") for level in LEVELS)
    ends = ("n", f"{MARK}: OA", f"{MARK}: L1, L2, L3", f"{MARK}: CE")
    return Table(
        "table1_results",
        "Table 1: accuracy and calibration",
        f"Percent. {ON_MATCH} CE is equation 5, 5 bins. The paper's rows: the best of each group."
        + _by_construction(section),
        ("system", "OA", "by match", *short, "CE", *genres, *ends),
        tuple(body),
        tuple(records),
    )


def _costs(row: Row) -> tuple[tuple[str, ...], list[dict[str, Cell]]]:
    """Accuracy, calibration error, tokens and context of a system, as cells and records."""
    error = calibration_error(row.samples)
    columns: Mapping[str, Measure | Column] = {
        "OA": correct,
        "tokens": Column(tokens, "amount"),
        "context": Column(context, "amount"),
    }
    ((label, accuracy, spent, asked),), records = measured(system_lines([row]), columns)
    records.insert(1, record(error, system=row.label, measure="CE"))
    return (label, accuracy, percent_range(error), spent, asked), records


def _paradigms(section: Section) -> Table:
    """Table 2: cost, and each paradigm against direct visual inference and summarization."""
    rows = _rows(section, TABLE_2)
    by_name = {row.system: row for row in rows}
    pairs: dict[tuple[str, str], Paired] = {}
    for row in rows:
        done = BASES.index(row.system) + 1 if row.system in BASES else 0
        for base in BASES[done:]:
            if base in by_name and (pair := compare(row.samples, by_name[base].samples)) is not None:
                pairs[row.label, base] = pair
    adjusted = holm_adjusted(pairs)
    direct = estimate(tokens, by_name["direct"].samples, "amount") if "direct" in by_name else None
    body, records = [], []
    for row in rows:
        (*cells, asked), own = _costs(row)
        spent = estimate(tokens, row.samples, "amount")
        share = percent(spent.value / direct.value if spent and direct and direct.value else None)
        compared = (
            pair_cells(pairs.get((row.label, base)), adjusted.get((row.label, base))) for base in BASES
        )
        flat = [cell for part in compared for cell in part]
        body.append((*cells, share, asked, *flat, *_printed(PARADIGMS.get(row.system))))
        records += own
        records += [
            pair_record(pair, adjusted[label, base], system=label, measure=f"OA minus {base}")
            for (label, base), pair in pairs.items()
            if label == row.label
        ]
    head = ["system", "OA", "CE", "tokens", "of direct's", "context"]
    for base in BASES:
        head += [f"minus {base}", "p by video", *PAIR_HEAD]
    return Table(
        "table2_paradigms",
        "Table 2: three paradigms at T = 1, K = 3",
        f"{_counting(section)} Paired differences in percent points; p by video is an exact permutation test "
        "over whole videos, Holm's correction is over this table.",
        (*head, *(f"{MARK}: {name}" for name in COSTS)),
        tuple(body),
        tuple(records),
    )


def _ablations(section: Section) -> Table:
    """Table 3: each stage and each modality removed, against all of them, at T = 1, K = 2."""
    rows = _rows(section, TABLE_3)
    pairs = compare_rows(rows, next((row for row in rows if row.system == "full"), None))
    adjusted = holm_adjusted(pairs)
    body, records = [], []
    for row in rows:
        cells, own = _costs(row)
        compared = pair_cells(pairs.get(row.label), adjusted.get(row.label))
        body.append((*cells, *compared, *_printed(ABLATIONS.get(row.system))))
        records += own
        if row.label in pairs:
            pair = pair_record(
                pairs[row.label], adjusted[row.label], system=row.label, measure="OA minus full"
            )
            records.append(pair)
    head = ("setting", *COSTS, "minus full", "p by video", *PAIR_HEAD, *(f"{MARK}: {name}" for name in COSTS))
    return Table(
        "table3_ablations",
        "Table 3: without a stage, without a modality, at T = 1, K = 2",
        f"{_counting(section)} Paired differences with `full`, in percent points.",
        head,
        tuple(body),
        tuple(records),
    )


def _scaling(section: Section) -> Table:
    """Figure 3 as a table."""
    body, records = [], []
    columns: Mapping[str, Measure | Column] = {"OA": correct, "tokens": Column(tokens, "amount")}
    for axis, value, row in sweep_points(section, list(SCALING)):
        (cells,), own = measured([Line({"axis": axis, "value_of": value}, row.samples)], columns)
        printed = SCALED[axis].get(int(value))
        body.append((*cells, NOTHING if printed is None else f"{printed:.1f}"))
        records += own
    return Table(
        "figure3_scaling",
        "Figure 3: test-time scaling",
        "Videos: T = 1. Loops: K = 2. Frames of the sparse scan: T = 1, K = 2.",
        ("axis", "value", *columns, f"{MARK}: OA"),
        tuple(body),
        tuple(records),
    )


def _kinds(section: Section) -> Table:
    """Accuracy by what is asked for: an object, an action, a card on the screen, speech."""
    kinds = _values(section, "kind")
    columns = {kind: _where("kind", kind) for kind in kinds}
    lines = system_lines(_rows(section, (*TABLE_1, *TABLE_3)))
    title = "Accuracy by what is asked for"
    return measures_table("by_kind", title, _chances(section, kinds), lines, columns, key="kind")


def _by_construction(section: Section) -> str:
    filtered = [row.label for row in section.rows if row.system in CONTROLS]
    if not filtered or not section.benchmark.startswith("browsecomp-workbench"):
        return ""
    return (
        f" {' and '.join(filtered)}: what they answer with the embedded reasoner was dropped from these "
        "questions, so with it they are at zero by construction and measure nothing."
    )


def _chances(section: Section, kinds: Sequence[str]) -> str:
    """The accuracy of guessing, by kind, where options are given."""
    found = {
        (str(sample_field(scored, "kind", "")), int(sample_field(scored, "options", 0)))
        for row in section.rows
        for scored in row.samples
    }
    chances = [f"{kind} {percent(1 / count)}" for kind, count in sorted(found) if count and kind in kinds]
    return f"Chance, in percent: {', '.join(chances)}. Other kinds are asked without options."


def _work(section: Section) -> Table:
    """Search calls, recall of the evidence chain, and runs without an answer."""
    columns: Mapping[str, Measure | Column] = {
        "search calls": Column(number("searches"), "amount", 2),
        "loops": Column(number("loops"), "amount", 2),
        "tokens of rewording": Column(rewording_tokens, "amount"),
        "evidence recall": number("evidence_recall"),
        "ended in failure": lambda one: float(bool(sample_field(one, "failure", ""))),
        "unusable replies": parse_failure,
    }
    return measures_table(
        "work",
        "Searches and evidence recall",
        "Means a question, from evidence recall on in percent: of the chain's videos, watched in any upload.",
        system_lines(ordered_rows(section, list(VARIANTS.named), sweeps=True)),
        columns,
    )


def _printed(printed: Printed | None) -> tuple[str, ...]:
    if printed is None:
        return (NOTHING,) * 4
    error = NOTHING if printed.calibration_error is None else f"{printed.calibration_error:.2f}"
    counts = (NOTHING if count is None else f"{count:,}" for count in (printed.tokens, printed.context))
    return (f"{printed.accuracy:.2f}", error, *counts)


def _printed_main(printed: Printed | None) -> tuple[str, ...]:
    if printed is None:
        return (NOTHING,) * 3
    levels = ", ".join(f"{value:.2f}" for value in printed.levels or ()) or NOTHING
    return (f"{printed.accuracy:.2f}", levels, f"{printed.calibration_error:.2f}")


def _counting(section: Section) -> str:
    """How tokens were counted, as the runs' settings state."""
    said = sorted({str(row.settings.get("tokens", "")) for row in section.rows} - {""})
    apart = "without those of rewording the question (table Searches), a step of ours"
    return f"Tokens a question are {'; '.join(said)}; {apart}." if said else ""


def draw_figures(section: Section, folder: Path) -> list[str]:
    """Names of the PNG files written; figures without data are left out."""
    made = []
    rows, genres = _rows(section, TABLE_1), _values(section, "genre")
    if rows and genres:
        made.append("table1_results.png")
        _draw_genres(rows, genres, folder / made[-1])
    if rows:
        made.append("table2_paradigms.png")
        _draw_tokens(rows, folder / made[-1])
    labels = {"videos": "videos (K)", "loops": "search loops (T)", "frames": "sparse frames"}
    path, title = folder / "figure3_scaling.png", "Test-time scaling, intervals by video"
    return made + draw_sweeps(path, title, section, list(SCALING), {"OA": correct}, labels)


def _draw_genres(rows: Sequence[Row], genres: Sequence[str], path: Path) -> None:
    """Accuracy of each system in each genre (appendix A.5, figure 8)."""
    found = [[estimate(_where("genre", genre), row.samples) for genre in genres] for row in rows]
    shares = [[100 * part.value if part else float("nan") for part in line] for line in found]

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        shown = axes.imshow(shares, cmap="Blues", vmin=0, vmax=100, aspect="auto")
        axes.set_xticks(range(len(genres)), genres, rotation=30, ha="right")
        axes.set_yticks(range(len(rows)), [row.label for row in rows])
        for y, line in enumerate(shares):
            for x, value in enumerate(line):
                if value == value:
                    ink = "white" if value > 55 else "black"
                    axes.text(x, y, f"{value:.0f}", ha="center", va="center", color=ink, fontsize=8)
        axes.set_title("Accuracy by genre (%)")
        figure.colorbar(shown, ax=axes, shrink=0.8)

    draw(path, (8, 1.6 + 0.4 * len(rows)), paint)


def _draw_tokens(rows: Sequence[Row], path: Path) -> None:
    """Accuracy over tokens a question (appendix A.5, figure 9)."""

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        for number_, row in enumerate(rows):
            spent, right = estimate(tokens, row.samples, "amount"), estimate(correct, row.samples)
            if spent is None or right is None:
                continue
            x, y = max(spent.value, 1.0), 100 * right.value
            low, high = (right.value if bound is None else bound for bound in (right.low, right.high))
            colour = COLOURS[number_ % len(COLOURS)]
            axes.vlines(x, 100 * low, 100 * high, color=colour, linewidth=0.8)
            axes.plot([x], [y], marker="o", linestyle="none", color=colour, label=f"{row.label}, n={right.n}")
        axes.set_xscale("log")
        axes.set_xlabel("tokens a question")
        axes.set_title("Accuracy against tokens, intervals by video")
        percent_axis(axes, "accuracy (%)")
        axes.legend(frameon=False, fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5))

    draw(path, (8, 4.2), paint)


def _printed_accuracy(system: str) -> str:
    for table, rows in (("table 1", MAIN_RESULTS), ("table 2", PARADIGMS), ("table 3", ABLATIONS)):
        if system in rows:
            return printed_figure(rows[system].accuracy, f"Video-Browser, {table}")
    return ""


REPORT = ReportSpec(
    tables,
    draw_figures,
    "Intervals are 95 %, by resampling whole videos 5,000 times; n counts answers. Columns marked "
    f'"{MARK}" repeat what the Video-Browser paper printed, on other videos, questions and models: '
    "they are shown for reference, not for comparison.",
    labels=Labels(
        "the judge calls the answer right; of given options, the right one alone is.", window="last evidence"
    ),
    compared=(Compared("right", correct, printed=_printed_accuracy),),
    paper_note="The paper: 210 questions over the open web, commercial models.",
    asked="what videos of a web show or say, where they have to be searched for and watched",
    pairs=(
        Pair("video-browser", "tool-free", "searching and watching answers more than the model alone"),
        Pair("pyramidal", "direct", "looking closer at a few windows answers more than many frames at once"),
        Pair("full", "wo-stage1", "choosing among the videos before watching answers more"),
    ),
)
