"""A task answered by the simulated model through HTTP: accuracy and gain by perception, replies lost by role.

    python -m benchmarks.simulated_model egofact-workbench --data DIR --out DIR --systems localized,blind
        [--presets strong,small] [--perception 0.2,0.4,0.6,0.8,1.0] [--swept localized,blind]
        [--limit N] [--minutes M] [--options="--concurrency 4"]

The last of `--systems` is the baseline of the gains. Each preset is run as it is; each value of perception
is run on top of the first preset, by all systems or those of `--swept`. A run that reaches `--minutes` is
stopped: the first queries count, and the same command goes on with it. Writes TASK.md, TASK.csv and TASK.png.
`--data`: made by `rag eval run` before. The figures are of a test instrument, of no model.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from matplotlib.figure import Figure

from benchmarks.options import option_parser
from corpora.outputs import atomic_write_text
from eval.metrics.intervals import Estimate, binomial_interval, cluster_interval
from eval.metrics.pairing import compare
from eval.metrics.scored import Scored
from eval.reports.drawing import draw, legend_below, lines_apart
from eval.reports.tables import csv_text, markdown_table, percent_range, record
from eval.runs.folder import folder_name, read_run_folder, read_usage

RAG = [sys.executable, "-m", "rag._cli.main"]
NOTE = "Figures of a test instrument, and of no model. Percent, with 95 % intervals by clusters of queries."


@contextmanager
def served(data: Path, port: int, preset: str, dials: Sequence[str]) -> Iterator[str]:
    """The base URL of a simulated model that knows the videos in `data`."""
    command = [*RAG, "eval", "simulate-model", "--corpus", str(data), "--preset", preset, "--port", str(port)]
    command += [part for dial in dials for part in ("--dial", dial)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            base = process.stdout.readline().strip()
            if not base:
                raise SystemExit("the server did not start")
            yield base
        finally:
            process.terminate()


def run(
    chosen: argparse.Namespace, systems: Sequence[str], preset: str, dials: Sequence[str], out: Path
) -> None:
    """Answer the task into run folders below `out`."""
    with served(chosen.data, chosen.port, preset, dials) as base:
        settings = {"KIND": "openai", "MODEL": "simulated", "BASE_URL": base}
        environment = {**os.environ, **{f"RAG_REASONER__{key}": value for key, value in settings.items()}}
        command = [*RAG, "eval", "run", chosen.task, "--data", str(chosen.data), "--out", str(out)]
        command += ["--system", ",".join(systems), "--text", *chosen.options.split()]
        command += ["--limit", str(chosen.limit)] if chosen.limit else []
        try:
            subprocess.run(command, check=False, env=environment, timeout=60 * chosen.minutes)
        except subprocess.TimeoutExpired:
            print(f"{out.name}: stopped; the same command goes on", file=sys.stderr)


class Results:
    """The run folders of one preset or dial: samples of each system, and its replies by role."""

    def __init__(self, out: Path, systems: Sequence[str]) -> None:
        self.name = out.name
        self.samples: dict[str, list[Scored]] = {}
        self.replies: dict[str, Mapping[str, Mapping[str, float]]] = {}
        for system in systems:
            folder = out / folder_name(system, 0)
            if not (folder / "samples.jsonl").exists():
                continue
            found = read_run_folder(folder)
            pairs = zip(found.queries, found.samples, strict=False)
            self.samples[system] = [Scored(*pair, None, None, False, False) for pair in pairs]
            usage = read_usage(folder)
            self.replies[system] = usage.by_role if usage else {}

    def accuracy(self, system: str) -> Estimate | None:
        """Share of right answers."""
        samples = self.samples.get(system, [])
        return cluster_interval(
            [float(each.sample.correct) for each in samples], [each.query.cluster for each in samples]
        )

    def gain(self, system: str, baseline: str) -> Estimate | None:
        """Difference to the baseline, over the queries that both answered."""
        ours, theirs = self.samples.get(system, []), self.samples.get(baseline, [])
        n = min(len(ours), len(theirs))
        pair = compare(ours[:n], theirs[:n])
        return pair.difference if pair else None

    def lost(self) -> Iterator[tuple[str, int, int, Estimate]]:
        """Role, replies that were repaired or filtered, replies sent back, and the share that was lost."""
        rows = list(self.replies.values())
        for role in sorted({role for by_role in rows for role in by_role}):
            count = {
                key: int(sum(by_role.get(role, {}).get(key, 0) for by_role in rows))
                for key in ("calls", "repairs", "repaired", "filtered", "unread")
            }
            asked = count["calls"] - count["repairs"]
            share = Estimate(
                count["unread"] / max(asked, 1), asked, asked, *binomial_interval(count["unread"], asked)
            )
            yield role, count["repaired"] + count["filtered"], count["repairs"], share


def page(task: str, runs: Sequence[Results], systems: Sequence[str]) -> str:
    """Accuracy, gain, and replies by role as Markdown tables."""
    *others, baseline = systems
    accuracy = [[one.name, *(percent_range(one.accuracy(system)) for system in systems)] for one in runs]
    gain = [[one.name, *(percent_range(one.gain(system, baseline)) for system in others)] for one in runs]
    replies = [
        [one.name, role, f"{share.n:,}", str(repaired), str(returned), percent_range(share, n=False)]
        for one in runs
        for role, repaired, returned, share in one.lost()
    ]
    return "\n".join(
        [
            f"# {task} with the simulated model\n\n{NOTE}\n\n## Right answers\n",
            markdown_table(["run", *systems], accuracy),
            f"## Gain over {baseline}\n\nPaired by query.\n",
            markdown_table(["run", *others], gain),
            "## Replies by role\n\nSent back: returned with their error. Lost: never readable (exact).\n",
            markdown_table(["run", "role", "asked", "repaired", "sent back", "lost"], replies),
        ]
    )


def figure(path: Path, task: str, runs: Sequence[Results], systems: Sequence[str]) -> None:
    """Accuracy and gain of each system by perception; nothing before the sweep has reached the baseline."""
    values = {one.name.partition("perception=")[2]: one for one in runs if "perception=" in one.name}
    swept = [each for each in systems if any(each in one.samples for one in values.values())]
    if systems[-1] not in swept:
        return
    *others, baseline = swept

    def paint(figure: Figure) -> None:
        left, right = figure.subplots(1, 2)
        shares = {each: [one.accuracy(each) for one in values.values()] for each in swept}
        lines_apart(left, list(values), shares)
        left.set_title("right answers")
        gains = {each: [one.gain(each, baseline) for one in values.values()] for each in others}
        lines_apart(right, list(values), gains)
        right.set(title=f"gain over {baseline}", ylim=(-30, 100), ylabel="points")
        right.axhline(0, color="grey", linewidth=0.8)
        for axes in (left, right):
            axes.set_xlabel("share of objects and actions perceived")
        figure.suptitle(f"{task}: the simulated model, a test instrument")
        legend_below(figure, left)

    draw(path, (10.5, 4.6), paint)


def main() -> None:
    """Run the presets and the sweep, and write what came of them."""
    parser = option_parser(__doc__)
    parser.add_argument("task")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--systems", type=lambda text: text.split(","), required=True)
    parser.add_argument("--presets", default="strong,small")
    parser.add_argument("--perception", default="0.2,0.4,0.6,0.8,1.0", help="empty: no sweep")
    parser.add_argument(
        "--swept", type=lambda text: text.split(","), help="systems of the sweep; default: all"
    )
    parser.add_argument("--limit", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=60.0, help="the most that one run may take")
    parser.add_argument("--options", default="", help="more options of 'rag eval run', as '--concurrency 4'")
    parser.add_argument("--port", type=int, default=8941)
    chosen = parser.parse_args()
    presets = chosen.presets.split(",")
    wanted: list[tuple[str, tuple[str, ...]]] = [(preset, ()) for preset in presets]
    wanted += [(presets[0], (f"perception={value}",)) for value in chosen.perception.split(",") if value]
    done: list[Results] = []
    for preset, dials in wanted:
        out = chosen.out / chosen.task / "-".join([preset, *dials])
        run(chosen, (dials and chosen.swept) or chosen.systems, preset, dials, out)
        done.append(Results(out, chosen.systems))
        atomic_write_text(chosen.out / f"{chosen.task}.md", page(chosen.task, done, chosen.systems))
        figures = [
            record(one.accuracy(system), run=one.name, system=system)
            for one in done
            for system in chosen.systems
        ]
        atomic_write_text(chosen.out / f"{chosen.task}.csv", csv_text(figures))
        figure(chosen.out / f"{chosen.task}.png", chosen.task, done, chosen.systems)


if __name__ == "__main__":
    main()
