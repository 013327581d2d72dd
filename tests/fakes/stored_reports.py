"""A folder of what `rag eval` and `rag agent --trace` write, with hostile text in it."""

from __future__ import annotations

from pathlib import Path

from PIL import Image

from corpora.outputs import OverwritePolicy
from eval.reports.tables import markdown_table
from rag.agents.runtime.trace import Step, TraceWriter
from tests.fakes.toy_benchmark import ToyTask, run_task

HOSTILE = "<img src=x onerror=alert(1)>"
HEAD, BODY = (
    ("system", "", "n"),
    (("localized|1", "33.6 [29.1, 38.4]", "396"), (HOSTILE, "–", "1"), ("-", "--", "-")),
)


def write_reports(folder: Path) -> None:
    """`bench/report.md` with a figure, `runs/one` of the toy benchmark, `steps.jsonl`, and other files."""
    for name in ("bench/bench", ".hidden"):
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
    run_task(ToyTask(count=4), "random", 0, folder / "runs" / "one")
    with TraceWriter(folder / "steps.jsonl", OverwritePolicy()) as writer:
        writer.write(Step(1, "plan", f"Look for {HOSTILE}", {"places": ["bench"]}))
        writer.write(Step(2, "result", "found", {"answer": {"text": f"at 0:12 {HOSTILE}"}}))
    (folder / ".hidden" / "report.md").write_text("# hidden\n")
    (folder / "results.json").write_text('{"schema": "another"}')
    (folder / "linked.jsonl").symlink_to(folder / "steps.jsonl")
