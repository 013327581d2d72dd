"""A task answered by the simulated model through HTTP: accuracy by perception, replies lost to format.

    python -m benchmarks.simulated_model egofact-workbench-mini --data DIR --out DIR
        [--systems localized,blind] [--presets strong,small] [--perception 0.2,0.4,0.6,0.8,1.0]
        [--limit N] [--minutes M] [--options="--concurrency 4"]

Each preset is run as it is; each value of perception is run on top of the first preset. A run that was
stopped goes on. Writes TASK.json, TASK.md and TASK.png. The figures are of a test instrument, of no model.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from eval.runs.folder import read_usage
from eval.simulated_model.server import ATTEMPTS

RAG = [sys.executable, "-m", "rag._cli.main"]


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


def run(chosen: argparse.Namespace, preset: str, dials: Sequence[str], seconds: float) -> dict[str, Any]:
    """Accuracy by system, and what became of the replies; `seconds` is the most that it may take."""
    name = "-".join([preset, *dials])
    out = chosen.out / name
    with served(chosen.data, chosen.port, preset, dials) as base:
        settings = {"KIND": "openai", "MODEL": "simulated", "BASE_URL": base, "REPAIRS": "2"}
        environment = {**os.environ, **{f"RAG_REASONER__{key}": value for key, value in settings.items()}}
        command = [*RAG, "eval", "run", chosen.task, "--data", str(chosen.data), "--out", str(out)]
        command += ["--system", chosen.systems, "--text", *chosen.options.split()]
        command += ["--limit", str(chosen.limit)] if chosen.limit else []
        begun = time.perf_counter()
        try:
            subprocess.run(command, check=False, env=environment, timeout=seconds)
        except subprocess.TimeoutExpired:
            print(f"{name}: stopped after {seconds:.0f} s; the same command goes on", file=sys.stderr)
        took = time.perf_counter() - begun
        with urllib.request.urlopen(base.removesuffix("/v1") + "/counts") as answer:
            counts = json.load(answer)
    systems = {folder.name.rsplit("-seed", 1)[0]: accuracy(folder) for folder in sorted(out.glob("*-seed*"))}
    return {
        "name": name,
        "preset": preset,
        "dials": list(dials),
        "seconds": round(took),
        "counts": counts,
        "systems": systems,
    }


def accuracy(folder: Path) -> dict[str, Any]:
    """Right answers, answers, and replies that were lost, by role."""
    usage = read_usage(folder)
    lost = Counter({role: int(row["unread"]) for role, row in (usage.by_role if usage else {}).items()})
    right = asked = 0
    for line in (folder / "samples.jsonl").read_text(encoding="utf-8").splitlines():
        sample = json.loads(line)
        asked += 1
        right += bool(sample.get("correct"))
        lost["any"] += bool(sample.get("parse_failure"))
    return {"right": right, "asked": asked, "lost": dict(lost)}


def page(task: str, runs: Sequence[Mapping[str, Any]]) -> str:
    """Two tables in Markdown."""
    systems = sorted({system for one in runs for system in one["systems"]})
    lines = [f"# {task} with the simulated model", "", "Figures of a test instrument, and of no model.", ""]
    lines += [f"| run | {' | '.join(systems)} | seconds |", "|---" * (len(systems) + 2) + "|"]
    for one in runs:
        cells = [one["systems"].get(system) for system in systems]
        shown = [
            f"{cell['right'] / cell['asked']:.3f} ({cell['asked']})" if cell and cell["asked"] else ""
            for cell in cells
        ]
        lines.append(f"| {one['name']} | {' | '.join(shown)} | {one['seconds']} |")
    lines += ["", "| run | role | runs | sent back once | twice | lost |", "|---|---|---|---|---|---|"]
    for one in runs:
        counts = one["counts"]
        lost = Counter[str]()
        for cell in one["systems"].values():
            lost.update(cell["lost"])
        for role in sorted({key.split(" ")[0] for key in counts}):
            row = [counts.get(f"{role} {kind}", 0) for kind in ATTEMPTS]
            lines.append(f"| {one['name']} | {role} | {' | '.join(map(str, row))} | {lost[role]} |")
        lines.append(f"| {one['name']} | samples without a readable answer | | | | {lost['any']} |")
    return "\n".join(lines) + "\n"


def draw(path: Path, task: str, runs: Sequence[Mapping[str, Any]]) -> None:
    """Accuracy of each system against the perception dial; nothing before the sweep has begun."""
    points: dict[str, list[tuple[float, float]]] = {}
    for one in runs:
        for dial in one["dials"]:
            for system, cell in one["systems"].items():
                if dial.startswith("perception=") and cell["asked"]:
                    at = float(dial.partition("=")[2])
                    points.setdefault(system, []).append((at, cell["right"] / cell["asked"]))
    if not points:
        return
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.subplots()
    for system, row in sorted(points.items()):
        axes.plot(*zip(*sorted(row), strict=True), marker="o", label=system)
    axes.set(
        xlabel="share of objects and actions perceived",
        ylabel="accuracy",
        ylim=(0, 1),
        title=f"{task}: the simulated model, a test instrument",
    )
    axes.legend()
    figure.savefig(path, dpi=120)


def main() -> None:
    """Run the presets and the sweep, and write what came of them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("task")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--systems", default="all")
    parser.add_argument("--presets", default="strong,small")
    parser.add_argument("--perception", default="0.2,0.4,0.6,0.8,1.0", help="empty: no sweep")
    parser.add_argument("--limit", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=60.0, help="the most that one run may take")
    parser.add_argument("--options", default="", help="more options of 'rag eval run', as '--concurrency 4'")
    parser.add_argument("--port", type=int, default=8941)
    chosen = parser.parse_args()
    chosen.out.mkdir(parents=True, exist_ok=True)
    presets = chosen.presets.split(",")
    wanted: list[tuple[str, tuple[str, ...]]] = [(preset, ()) for preset in presets]
    wanted += [(presets[0], (f"perception={value}",)) for value in chosen.perception.split(",") if value]
    runs: list[dict[str, Any]] = []
    for preset, dials in wanted:
        runs.append(run(chosen, preset, dials, 60 * chosen.minutes))
        (chosen.out / f"{chosen.task}.json").write_text(json.dumps(runs, indent=1) + "\n", encoding="utf-8")
        (chosen.out / f"{chosen.task}.md").write_text(page(chosen.task, runs), encoding="utf-8")
        draw(chosen.out / f"{chosen.task}.png", chosen.task, runs)


if __name__ == "__main__":
    main()
