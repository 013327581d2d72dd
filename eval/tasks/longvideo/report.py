"""Report of runs on long videos: accuracy by kind, paired tests, tokens, observations.

The paper's figures were measured on VideoMME-long without subtitles, with other models; they are shown
beside ours, not compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from eval.metrics.pairing import Paired, compare
from eval.metrics.scored import Measure, Scored, correct, number, restricted, sample_field, tokens
from eval.metrics.tables import families
from eval.reports.drawing import draw_systems
from eval.reports.spec import Compared, Labels, ReportSpec, Row, Section, ordered_rows, printed_figure
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

COMPARISON: Mapping[str, Mapping[str, float]] = {
    "Qwen3-8B + Qwen3VL-8B": {
        "LVNet": 40.4,
        "DVD": 42.6,
        "VideoAgent": 42.0,
        "VideoRAG": 50.3,
        "VideoDetective": 55.6,
    },
    "Qwen3-30B + SeedVL-1.5": {
        "LVNet": 51.7,
        "DVD": 45.4,
        "VideoAgent": 51.7,
        "VideoRAG": 62.0,
        "VideoDetective": 65.6,
    },
}
"""Table 1, percent right. Its four other methods are none of our baselines."""
ABLATION: Mapping[str, float] = {
    "video-detective": 55.6,
    "no-propagation": 51.4,
    "no-facets": 47.8,
    "no-refinement": 51.0,
    "no-texts": 49.9,
    "uniform-texts": 50.7,
    "uniform": 50.2,
}
"""Table 3, percent right with Qwen3-8B and Qwen3VL-8B."""
SCALING: tuple[tuple[str, str, float], ...] = (
    ("Qwen3-8B", "Qwen3-VL-8B", 55.6),
    ("Qwen3-30B", "Qwen3-VL-8B", 55.8),
    ("Qwen3-8B", "SeedVL-1.5", 65.1),
    ("Qwen3-30B", "SeedVL-1.5", 65.6),
)
"""Table 4: planner, watcher, percent right."""
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


def printed(system: str) -> tuple[float, str] | None:
    """Percent right as the paper printed it, and the table; None for systems that it does not have."""
    found = ABLATION.get(system.removesuffix(PAPER_SUFFIX))
    return None if found is None else (found, "table 3")


def tables(section: Section) -> list[Table]:
    """All tables, in the order of the report."""
    return [
        _accuracy_table(section),
        _paired_table(section),
        _token_table(section),
        _observation_table(section),
        _published_table(),
    ]


def _rows(section: Section) -> list[Row]:
    return ordered_rows(section, ORDER, sweeps=True)


def _accuracy_table(section: Section) -> Table:
    """Percent right by kind and overall, with the paper's table 3 beside."""
    present = families(section.rows[0].samples)
    kinds = [*(kind for kind in KINDS if kind in present), *(kind for kind in present if kind not in KINDS)]
    columns = by_family(correct, kinds, "overall")
    rows = _rows(section)
    body, records = measured(system_lines(rows), columns, key="kind", count=True)
    papers = (printed(row.system) for row in rows)
    videos = len({query.cluster for query in section.queries})
    chance = sum(1 / len(query.options) for query in section.queries) / len(section.queries)
    return Table(
        "accuracy",
        "Accuracy",
        f"Percent right, with 95 % intervals clustered by video ({videos} videos). Chance is "
        f"{percent(chance)}. The paper's column: table 3, VideoMME-long without subtitles, Qwen3-8B "
        "with Qwen3-VL-8B.",
        ("system", *columns, "n", MARK),
        tuple(
            (*cells, NOTHING if paper is None else f"{paper[0]:.1f}")
            for cells, paper in zip(body, papers, strict=True)
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


def _published_table() -> Table:
    """Tables 1 and 4 of the paper as printed."""
    body = [
        (f"table 1, {backbone}", method, f"{value:.1f}")
        for backbone, methods in COMPARISON.items()
        for method, value in methods.items()
    ]
    body += [
        ("table 4, VideoDetective", f"planner {planner}, watcher {watcher}", f"{value:.1f}")
        for planner, watcher, value in SCALING
    ]
    return Table(
        "published",
        "Figures of the paper",
        "VideoMME-long without subtitles, 32 frames; shown for reference, not for comparison.",
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
    """Accuracy of every system with its interval."""
    title = "Accuracy over all questions, intervals by video"
    return draw_systems(folder / "accuracy.png", title, _rows(section), (OURS,), "% right", width=8.0)


def _printed(system: str) -> str:
    found = printed(system)
    return "" if found is None else printed_figure(found[0], f"VideoDetective, {found[1]}")


REPORT = ReportSpec(
    tables,
    draw_figures,
    "Intervals are 95 %, by resampling whole videos 5,000 times; n counts answers. Columns marked "
    f'"{MARK}" repeat what the VideoDetective paper printed, on other videos, questions and models: '
    "they are shown for reference, not for comparison.",
    labels=Labels(window="deciding moment"),
    compared=(Compared("right", correct, printed=_printed),),
    paper_note="The paper: VideoMME-long, Qwen3-8B with Qwen3-VL-8B.",
)
