"""A folder of what `rag eval` and `rag agent --trace` write, with hostile text in it."""

from __future__ import annotations

import json
from pathlib import Path

from PIL import Image

from corpora.outputs import RUN_SCHEMA, OverwritePolicy
from eval.reports.tables import markdown_table
from rag.agents.runtime.trace import Step, TraceWriter

HOSTILE = "<img src=x onerror=alert(1)>"
HEAD, BODY = ("system", "", "n"), (("localized|1", "33.6 [29.1, 38.4]", "396"), (HOSTILE, "–", "1"))


def write_reports(folder: Path) -> None:
    """`bench/report.md` with a figure, `runs/one/results.json`, `steps.jsonl`, and other files."""
    for name in ("bench/bench", "runs/one", ".hidden"):
        (folder / name).mkdir(parents=True)
    Image.new("RGB", (40, 30), "red").save(folder / "bench" / "bench" / "accuracy.png")
    page = [
        "# bench\n",
        f"2 queries: {HOSTILE}\nin two lines.\n",
        "## Accuracy\n",
        markdown_table(HEAD, BODY),
        "![Accuracy](bench/accuracy.png)\n",
        "![Elsewhere](../steps.jsonl)\n",
        "![Else](https://elsewhere.example/x.png)\n",
    ]
    (folder / "bench" / "report.md").write_text("\n".join(page))
    figures = {
        "right": {"overall": {"value": 0.25, "low": 0.125, "high": 0.5, "n": 4}, "wrong": None},
        "mIoU": {"overall": None},
        "recall": {"overall": {"value": 1, "low": None, "high": None, "n": 4}},
    }
    results = {"schema": RUN_SCHEMA, "benchmark": "bench", "system": "one", "seed": 0, "figures": figures}
    (folder / "runs" / "one" / "results.json").write_text(json.dumps(results))
    (folder / "runs" / "one" / "samples.jsonl").write_text('{"query_id": "q1"}\n')
    with TraceWriter(folder / "steps.jsonl", OverwritePolicy()) as writer:
        writer.write(Step(1, "plan", f"Look for {HOSTILE}", {"places": ["bench"]}))
        writer.write(Step(2, "result", "found", {"answer": {"text": f"at 0:12 {HOSTILE}"}}))
    (folder / ".hidden" / "report.md").write_text("# hidden\n")
    (folder / "results.json").write_text('{"schema": "another"}')
    (folder / "linked.jsonl").symlink_to(folder / "steps.jsonl")
