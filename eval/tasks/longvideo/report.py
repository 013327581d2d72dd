"""The report of runs on long films, for `rag eval report`: accuracy by kind, paired tests, tokens, looks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from eval.metrics.accuracy import correct
from eval.metrics.estimate import Estimate
from eval.metrics.holm import holm
from eval.metrics.pairing import Paired, compare
from eval.metrics.scored import Scored
from eval.metrics.tables import estimate, families
from eval.reports.drawing import COLOURS, draw, percent_axis
from eval.reports.layout import Cell, Table, amount_range, p_text, percent, percent_range, record
from eval.reports.rows import Row, Section
from eval.reports.spec import ReportSpec
from eval.tasks.longvideo.published import (
    ABLATION,
    COMPARISON,
    MARK,
    METHODS,
    SCALING,
)
from eval.tasks.longvideo.records import KINDS

OURS = "video-detective"
UNIFORM, STILL = "uniform", "no-propagation"
LIKEWISE = (("literal-prior", "literal-no-propagation"), ("truthful-watcher", "truthful-no-propagation"))
"""The same comparison, with and without propagation, under other settings."""
NO = "–"
ORDER = (OURS, *(name for name in ABLATION if name != OURS))


def tables(section: Section) -> list[Table]:
    return [
        accuracy_table(section),
        paired_table(section),
        token_table(section),
        look_table(section),
        published_table(),
    ]


def accuracy_table(section: Section) -> Table:
    """Percent right by kind and overall, with the paper's tables 1 and 3 beside."""
    kinds = _kinds(section)
    rows = _rows(section)
    body, records = [], []
    for row in rows:
        parts = {kind: estimate(correct, _of(row, kind)) for kind in kinds}
        overall = estimate(correct, row.samples)
        cells = [row.label, *(percent_range(parts[kind]) for kind in kinds)]
        cells += [percent_range(overall), str(len(row.samples)), _paper(row.system)]
        body.append(tuple(cells))
        for kind, part in [*parts.items(), ("overall", overall)]:
            records.append(record(part, system=row.label, kind=kind))
    films = len({query.cluster for query in section.queries})
    chance = sum(1 / len(query.options) for query in section.queries) / len(section.queries)
    return Table(
        name="accuracy",
        title="Accuracy",
        note=(
            f"Percent right, with 95 % intervals clustered by film ({films} films). "
            f"Chance is {percent(chance)}. The paper's column: tables 1 and 3, VideoMME-long without "
            "subtitles, Qwen3-8B with Qwen3-VL-8B."
        ),
        head=("system", *kinds, "overall", "n", MARK),
        body=tuple(body),
        records=tuple(records),
    )


def paired_table(section: Section) -> Table:
    """Each system against uniform sampling, and the whole method against each of its ablations."""
    by_name = {row.system: row for row in section.rows}
    pairs: dict[tuple[str, str], Paired] = {}
    for base in (UNIFORM, STILL):
        for row in _rows(section):
            wanted = base == UNIFORM or row.system == OURS
            if base in by_name and row.system != base and wanted:
                _put(pairs, row, by_name[base])
    for moved, still in LIKEWISE:
        if moved in by_name and still in by_name:
            _put(pairs, by_name[moved], by_name[still])
    for name in ABLATION:
        if name not in (OURS, UNIFORM, STILL) and name in by_name and OURS in by_name:
            _put(pairs, by_name[OURS], by_name[name])
    adjusted = dict(zip(pairs, holm([pair.p for pair in pairs.values()]), strict=True))
    body, records = [], []
    for (system, base), pair in pairs.items():
        body.append(
            (
                system,
                base,
                percent_range(pair.difference),
                str(pair.difference.n),
                p_text(pair.p),
                p_text(adjusted[system, base]),
                p_text(pair.p_mcnemar),
            )
        )
        told: dict[str, Cell] = {"p": pair.p, "p_holm": adjusted[system, base], "p_mcnemar": pair.p_mcnemar}
        records.append(record(pair.difference, system=system, minus=base) | told)
    return Table(
        name="paired",
        title="Paired differences",
        note=(
            "Points of percent, on the same questions. p by film is an exact permutation test over whole "
            "films, Holm's correction is over this table, McNemar's exact test counts questions as "
            "independent."
        ),
        head=("system", "minus", "difference", "n", "p by film", "p Holm", "p McNemar"),
        body=tuple(body),
        records=tuple(records),
    )


def token_table(section: Section) -> Table:
    """Tokens and calls a question; and whether the deciding moment was among what was shown."""
    measures: dict[str, Callable[[Scored], float | None]] = {
        "tokens": lambda scored: _tokens(scored, "prompt", "image", "completion"),
        "prompt tokens": lambda scored: _tokens(scored, "prompt"),
        "image tokens": lambda scored: _tokens(scored, "image"),
        "calls": lambda scored: _told(scored, "calls"),
        "moment shown": lambda scored: _found(scored, "gold_shown"),
        "words read": lambda scored: _found(scored, "gold_read"),
    }
    body, records = [], []
    kinds_of_count: set[str] = set()
    for row in _rows(section):
        if not any(scored.sample.tokens for scored in row.samples):
            continue
        kinds_of_count.add(str(row.settings.get("tokens", "measured")))
        cells = [row.label]
        for name, measure in measures.items():
            share = name in ("moment shown", "words read")
            found = estimate(measure, row.samples, "share" if share else "amount")
            cells.append(percent_range(found) if share else amount_range(found))
            records.append(record(found, system=row.label, measure=name))
        body.append(tuple(cells))
    counted = "; ".join(sorted(kinds_of_count))
    return Table(
        name="tokens",
        title="Tokens a question",
        note=(
            f"Means over questions; {counted}. The scan of a film is charged to each of its questions. "
            "Moment shown: of the questions that one moment decides, percent with one of its frames among "
            "those that the answer was given from; words read: the same for words."
        ),
        head=("system", *measures),
        body=tuple(body),
        records=tuple(records),
    )


def look_table(section: Section) -> Table:
    """How the looks were spent."""
    body: list[tuple[str, ...]] = []
    records: list[dict[str, Cell]] = []
    for row in _rows(section):
        looks = [scored.sample.evidence.get("looks") for scored in row.samples]
        held = [look for look in looks if isinstance(look, list)]
        if not held:
            continue
        policies = [step["policy"] for look in held for step in look]
        fallbacks = sum(bool(scored.sample.evidence.get("fallback")) for scored in row.samples)
        confirmed = sum(len(step["confirmed"]) for look in held for step in look)
        shares = [policies.count(name) / len(held) for name in ("anchor", "retry", "neighbour", "gap")]
        body.append(
            (
                row.label,
                f"{len(policies) / len(held):.1f}",
                *(f"{share:.1f}" for share in shares),
                f"{confirmed / len(held):.1f}",
                percent(fallbacks / len(row.samples)),
            )
        )
        records.append({"system": row.label, "looks": len(policies) / len(held), "fallback": fallbacks})
    return Table(
        name="looks",
        title="Looks a question",
        note="Why they were made, facets confirmed, and percent of questions with frames spread evenly.",
        head=("system", "looks", "anchor", "next best", "neighbour", "gap", "confirmed", "spread evenly"),
        body=tuple(body),
        records=tuple(records),
    )


def published_table() -> Table:
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
        name="published",
        title="What the paper printed",
        note="VideoMME-long without subtitles, 32 frames; theirs, to be looked at, not to be compared.",
        head=("where", "what", "percent right"),
        body=tuple(body),
        records=tuple({"where": where, "what": what, "percent": float(value)} for where, what, value in body),
    )


def draw_accuracy(section: Section, folder: Path) -> list[str]:
    """Accuracy of every system with its interval."""
    rows = _rows(section)
    found = [estimate(correct, row.samples) for row in rows]
    names = [f"{row.label}, n={len(row.samples)}" for row in rows]

    def paint(figure: Any) -> None:
        axes = figure.subplots()
        for place, part in enumerate(found):
            if part is not None:
                axes.bar(place, 100 * part.value, 0.7, color=COLOURS[1 if rows[place].system == OURS else 0])
                _whisker(axes, place, part)
        axes.set_xticks(range(len(rows)), names, rotation=35, ha="right")
        axes.set_title("Accuracy over all questions, intervals by film")
        percent_axis(axes, "% right")

    draw(folder / "accuracy.png", (8.0, 3.6), paint)
    return ["accuracy.png"]


def _whisker(axes: Any, place: int, part: Estimate) -> None:
    if part.low is not None and part.high is not None:
        axes.plot([place, place], [100 * part.low, 100 * part.high], color="#333333", linewidth=1)


def _rows(section: Section) -> list[Row]:
    """The whole method, its ablations in the paper's order, then the others by name."""
    places = {name: place for place, name in enumerate(ORDER)}
    return sorted(section.rows, key=lambda row: (places.get(row.system, len(places)), row.label))


def _kinds(section: Section) -> list[str]:
    held = families(section.rows[0].samples)
    return [kind for kind in KINDS if kind in held] + [kind for kind in held if kind not in KINDS]


def _of(row: Row, kind: str) -> Sequence[Scored]:
    return [scored for scored in row.samples if scored.query.family == kind]


def _put(pairs: dict[tuple[str, str], Paired], row: Row, base: Row) -> None:
    pair = compare(row.samples, base.samples)
    if pair is not None and (row.label, base.label) not in pairs:
        pairs[row.label, base.label] = pair


def _paper(system: str) -> str:
    if system in ABLATION:
        return f"{ABLATION[system]:.1f}"
    method = METHODS.get(system)
    return NO if method is None else f"{COMPARISON['Qwen3-8B + Qwen3VL-8B'][method]:.1f}"


def _tokens(scored: Scored, *names: str) -> float | None:
    held = scored.sample.tokens
    return float(sum(held[name] for name in names)) if all(name in held for name in names) else None


def _told(scored: Scored, name: str) -> float | None:
    value = scored.sample.evidence.get(name)
    return float(value) if isinstance(value, int | float) else None


def _found(scored: Scored, name: str) -> float | None:
    """Only where one moment decides: of a count it is the whole film, and elsewhere it may be unknown."""
    if scored.query.family == "count" or scored.query.window[1] <= 0:
        return None
    value = scored.sample.evidence.get(name)
    return float(value) if isinstance(value, bool) else None


REPORT_SPEC = ReportSpec(
    tables,
    draw_accuracy,
    "Intervals are 95 %, by drawing whole films 5,000 times; n counts answers. Columns marked "
    f'"{MARK}" repeat what the VideoDetective paper printed, on other films, questions and models: '
    "they are there to be looked at, not to be compared.",
)
