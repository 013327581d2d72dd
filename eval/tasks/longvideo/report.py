"""Report of runs on long videos: accuracy by kind, paired tests, tokens, observations.

The paper's figures are shown beside runs on the benchmark that they were measured on, with other models;
they are not compared. Figure 2 and figure 3 are drawn of the runs.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from importlib import resources
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eval.metrics.pairing import Paired, compare
from eval.metrics.scored import Measure, Scored, correct, number, restricted, sample_field, tokens
from eval.metrics.tables import estimate, families
from eval.reports.drawing import COLOURS, MARKERS, draw, draw_bars, draw_systems, legend_below, percent_axis
from eval.reports.spec import Labels, Pair, ReportSpec, Row, Section, ordered_rows
from eval.reports.tables import (
    MARK,
    NOTHING,
    Cell,
    Column,
    Table,
    by_family,
    measured,
    paired_table,
    percent,
    system_lines,
)
from eval.tasks.longvideo.dataset import KINDS
from eval.tasks.longvideo.solvers import SUFFIXES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PRINTED: Mapping[str, Any] = tomllib.loads(
    resources.files("eval.tasks.longvideo").joinpath("printed.toml").read_text(encoding="utf-8")
)
"""The paper's tables, percent right."""
BENCHMARKS: Sequence[str] = PRINTED["benchmarks"]
"""As the data name them."""
ABLATION: Mapping[str, float] = PRINTED["table_3"]
OURS, UNIFORM, NO_PROPAGATION = "video-detective", "uniform", "no-propagation"
WITH_AND_WITHOUT = (
    ("video-detective-paper", "no-propagation-paper"),
    ("literal-prior", "literal-no-propagation"),
    ("truthful-watcher", "truthful-no-propagation"),
)
"""With and without propagation, under other settings."""
PAPER_SUFFIX = SUFFIXES["paper"]
"""Ends the names of systems of the paper's preset."""
ORDER = (
    OURS,
    OURS + PAPER_SUFFIX,
    *(f"{name}{suffix}" for name in ABLATION if name != OURS for suffix in SUFFIXES.values()),
)


def printed(system: str, benchmark: str) -> float | None:
    """Percent right as the paper printed it of a method on a benchmark; None where it did not.

    `benchmark`: one of `BENCHMARKS`, or the name of other data. The ablations were on VideoMME alone.
    """
    method = system.removesuffix(PAPER_SUFFIX)
    if benchmark in BENCHMARKS and (row := PRINTED["stands_for"].get(method)):
        return _of_table_2(benchmark)[row]
    return ABLATION.get(method) if benchmark == BENCHMARKS[0] else None


def _of_table_2(benchmark: str) -> dict[str, float]:
    """Percent right of each model of which the paper prints it."""
    column = BENCHMARKS.index(benchmark)
    values = {model: row[column] for model, row in PRINTED["table_2"].items()}
    return {model: value for model, value in values.items() if not isnan(value)}


def _benchmark(section: Section) -> str:
    return next((name for name in section.dataset if name in BENCHMARKS), "")


def tables(section: Section) -> list[Table]:
    """All tables, in the order of the report."""
    return [
        _accuracy_table(section),
        _paired_table(section),
        _token_table(section),
        _observation_table(section),
        _published_table(_benchmark(section)),
    ]


def _rows(section: Section) -> list[Row]:
    return ordered_rows(section, ORDER, sweeps=True)


def _accuracy_table(section: Section) -> Table:
    """Percent right by kind and overall; where the paper has the benchmark, with its figures beside."""
    present = families(section.rows[0].samples)
    kinds = [*(kind for kind in KINDS if kind in present), *(kind for kind in present if kind not in KINDS)]
    columns = by_family(correct, kinds, "overall")
    rows = _rows(section)
    body, records = measured(system_lines(rows), columns, key="kind", count=True)
    benchmark = _benchmark(section)
    papers = [printed(row.system, benchmark) for row in rows] if benchmark else []
    beside = f" The paper's column: tables 2 and 3, {benchmark}, Qwen3-8B with Qwen3-VL-8B." if papers else ""
    videos = len({query.cluster for query in section.queries})
    chance = sum(1 / len(query.options) for query in section.queries) / len(section.queries)
    return Table(
        "accuracy",
        "Accuracy",
        f"Percent right, with 95 % intervals clustered by video ({videos} videos). Chance is "
        f"{percent(chance)}.{beside}",
        ("system", *columns, "n", *([MARK] if papers else [])),
        tuple(
            (*cells, *(NOTHING if paper is None else f"{paper:.1f}" for paper in papers[at : at + 1]))
            for at, cells in enumerate(body)
        ),
        tuple(records),
    )


def _paired_table(section: Section) -> Table:
    """Each system against uniform sampling, and the whole method against each of its ablations."""
    by_name = {row.system: row for row in section.rows}
    names = [row.system for row in _rows(section)]
    wanted = [(name, UNIFORM) for name in names] + [(OURS, NO_PROPAGATION), *WITH_AND_WITHOUT]
    wanted += [(OURS + suffix, name + suffix) for suffix in SUFFIXES.values() for name in ABLATION]
    pairs: dict[tuple[str, ...], Paired] = {}
    for system, base in wanted:
        if system != base and system in by_name and base in by_name:
            one, other = by_name[system], by_name[base]
            pair = compare(one.samples, other.samples)
            if pair is not None:
                pairs.setdefault((one.label, other.label), pair)
    return paired_table(
        "paired",
        "Paired differences",
        "Percent points, on the same questions. p is an exact permutation test over whole videos, Holm's "
        "correction is over this table, McNemar's exact test counts questions as independent.",
        ("system", "minus"),
        pairs,
        "videos",
    )


def _token_table(section: Section) -> Table:
    """Tokens and calls a question; and whether the deciding moment was among what was shown."""
    columns: dict[str, Measure | Column] = {
        "tokens": Column(_tokens, "amount"),
        "prompt tokens": Column(_tokens_of("prompt"), "amount"),
        "image tokens": Column(_tokens_of("image"), "amount"),
        "calls": Column(number("calls"), "amount"),
        "moment shown": _of_moment("gold_shown"),
        "words read": _of_moment("gold_read"),
    }
    rows = [row for row in _rows(section) if any(scored.sample.tokens for scored in row.samples)]
    body, records = measured(system_lines(rows), columns)
    return Table(
        "tokens",
        "Tokens a question",
        f"Means over questions; {_counting(rows)}. The scan of a video is charged to each of its questions. "
        "Moment shown: of the questions that one moment decides, percent with one of its frames among "
        "those that the answer was given from; words read: the same for words.",
        ("system", *columns),
        tuple(body),
        tuple(records),
    )


def _counting(rows: Sequence[Row]) -> str:
    """How tokens were counted, as the runs' settings state; the product as a solver states nothing."""
    stated = sorted({str(row.settings["tokens"]) for row in rows if "tokens" in row.settings})
    if bare := ", ".join(row.label for row in rows if "tokens" not in row.settings):
        stated.append(f"{bare}: as the reasoner reports them, 0 without a language model")
    return "; ".join(stated)


def _observation_table(section: Section) -> Table:
    """How the observations were spent."""
    body: list[tuple[str, ...]] = []
    records: list[dict[str, Cell]] = []
    for row in _rows(section):
        found = [sample_field(scored, "looks") for scored in row.samples]
        runs = [looks for looks in found if isinstance(looks, list)]
        if not runs:
            continue
        policies = [look["policy"] for looks in runs for look in looks]
        fallbacks = sum(bool(sample_field(scored, "fallback")) for scored in row.samples)
        confirmed = sum(len(look["confirmed"]) for looks in runs for look in looks)
        shares = [policies.count(name) / len(runs) for name in ("anchor", "retry", "neighbour", "gap")]
        amounts = (len(policies) / len(runs), *shares, confirmed / len(runs))
        body.append(
            (row.label, *(f"{amount:.1f}" for amount in amounts), percent(fallbacks / len(row.samples)))
        )
        records.append({"system": row.label, "looks": len(policies) / len(runs), "fallback": fallbacks})
    return Table(
        "looks",
        "Observations a question",
        "By policy; facets confirmed; and percent of questions that fell back to uniform frames.",
        ("system", "observations", "anchor", "next best", "neighbour", "gap", "confirmed", "uniform frames"),
        tuple(body),
        tuple(records),
    )


def _published_table(benchmark: str) -> Table:
    """Table 2 of the paper as printed, of one benchmark; of VideoMME tables 1 and 4 too."""
    body: list[tuple[str, str, str]] = []
    if benchmark:
        body = [("table 2", model, f"{value:.1f}") for model, value in _of_table_2(benchmark).items()]
    if benchmark == BENCHMARKS[0]:
        body += [
            (f"table 1, {backbone}", method, f"{value:.1f}")
            for backbone, methods in PRINTED["table_1"].items()
            for method, value in methods.items()
        ]
        body += [
            ("table 4, VideoDetective", f"planner {planner}, watcher {watcher}", f"{right:.1f}")
            for planner, watcher, right in map(dict.values, PRINTED["table_4"])
        ]
    return Table(
        "published",
        "Figures of the paper",
        f"{benchmark}, as VideoDetective prints it: VideoMME's long videos without subtitles, MLVU's test "
        "set, LongVideoBench's validation set. Shown for reference, not for comparison.",
        ("where", "what", "percent right"),
        tuple(body),
        tuple({"where": where, "what": what, "percent": float(value)} for where, what, value in body),
    )


def _tokens(scored: Scored) -> float | None:
    return tokens(scored) if scored.sample.tokens else None


def _tokens_of(kind: str) -> Measure:
    return lambda scored: scored.sample.tokens.get(kind)


def _of_moment(name: str) -> Measure:
    """A boolean field, of the questions that one moment decides: not of counts, nor without known times."""
    return restricted(number(name), lambda one: one.query.family != "count" and one.query.has_window)


def draw_figures(section: Section, folder: Path) -> list[str]:
    """Accuracy of every system with its interval; figure 2 and figure 3, where the runs have their points."""
    title = "Accuracy over all questions, intervals by video"
    made = draw_systems(folder / "accuracy.png", title, _rows(section), (OURS,), "% right", width=8.0)
    if backbones := _backbones(section):
        made.append("figure2_backbones.png")
        series = {
            "direct inference": [estimate(correct, direct.samples) for direct, _ in backbones.values()],
            "VideoDetective": [estimate(correct, ours.samples) for _, ours in backbones.values()],
        }
        title = "Figure 2: VideoDetective over direct inference, by model and frames"
        draw_bars(folder / made[-1], title, list(backbones), {"": series}, label="% right")
    if costly := [row for row in _rows(section) if estimate(_tokens, row.samples, "amount")]:
        made.append("tokens.png")
        _draw_tokens(costly, folder / made[-1])
    return made


def _backbones(section: Section) -> dict[str, tuple[Row, Row]]:
    """Direct inference and VideoDetective (the paper's preset, else ours) of the same model and frames."""
    held: dict[str, dict[str, Row]] = {}
    for row in section.rows:
        frames, model = row.settings.get("frames"), row.settings.get("reasoner")
        held.setdefault(f"{model}, {frames} frames", {})[row.system.partition("@")[0]] = row
    pairs = {
        name: (rows.get(UNIFORM), rows.get(OURS + PAPER_SUFFIX) or rows.get(OURS))
        for name, rows in held.items()
    }
    return {name: (direct, ours) for name, (direct, ours) in pairs.items() if direct and ours}


def _draw_tokens(rows: Sequence[Row], path: Path) -> None:
    """Figure 3: percent right by tokens a question, with intervals."""

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        axes.set_xscale("log")
        for at, row in enumerate(rows):
            cost, right = estimate(_tokens, row.samples, "amount"), estimate(correct, row.samples)
            if cost is None or right is None:
                continue
            colour, marker = COLOURS[at % len(COLOURS)], MARKERS[at % len(MARKERS)]
            axes.plot([cost.value], [100 * right.value], marker, color=colour, label=row.label)
            if right.low is not None and right.high is not None:
                ends = [100 * right.low, 100 * right.high]
                axes.plot([cost.value] * 2, ends, color=colour, linewidth=0.8)
        axes.set_xlabel("tokens a question")
        axes.set_title("Figure 3: accuracy and tokens, intervals by video")
        percent_axis(axes, "% right")
        legend_below(figure, axes)

    draw(path, (8.0, 4.6), paint)


REPORT = ReportSpec(
    tables,
    draw_figures,
    "Intervals are 95 %, by resampling whole videos 5,000 times; n counts answers. Columns marked "
    f'"{MARK}" repeat what the VideoDetective paper printed of the benchmark with other models: they are '
    "shown for reference, not for comparison.",
    labels=Labels(window="deciding moment"),
    asked="what a long video shows or says, with options",
    pairs=(
        Pair(OURS, UNIFORM, "looking where the question points answers more than frames at equal distances"),
        Pair(OURS, NO_PROPAGATION, "what is seen at one place says where to look next"),
    ),
)
