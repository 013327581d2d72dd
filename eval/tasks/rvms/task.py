"""RVMS-Bench (RACLO): videos and their moments found by a vague memory of them, over a frozen web."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eval.reports.failures import Failure
from eval.runs.records import Query, Sample, TaskInput
from eval.task import Prepared, ProgressCallback, ScorerOptions
from eval.tasks.jsonl import published_files, read_records
from eval.tasks.libraries import rendering
from eval.tasks.rvms.construction import FULL, MINI, SAMPLES, build_rvms
from eval.tasks.rvms.dataset import BENCHMARK, RvmsInput, RvmsSample, load_rows, memory_texts, query_of
from eval.tasks.rvms.report import REPORT
from eval.tasks.rvms.scorer import CLIP_SCORE, JUDGES, RvmsScore, RvmsScorer, failure_of
from eval.tasks.rvms.solvers import VARIANTS, give_target, open_solver
from eval.tasks.web_task import Variant, WebEnvironment, WebTask
from rag.agents.raclo.records import RacloSettings

if TYPE_CHECKING:
    from rag.settings import Settings


class RvmsTask(WebTask[RacloSettings, RvmsSample]):
    """The registered task; see `WebTask`."""

    benchmark = BENCHMARK
    variants = VARIANTS
    report = REPORT
    score_type = RvmsScore
    judges = JUDGES
    query_of = staticmethod(query_of)
    open_solver = staticmethod(open_solver)

    @property
    def fixed_settings(self) -> Mapping[str, Any]:
        """Speech is read from the web's transcripts; rendered videos have no text on the screen."""
        return {"asr.mode": "off", **({"ocr.mode": "off"} if self.shape else {})}

    def load(
        self,
        folder: Path,
        settings: Settings,  # noqa: ARG002 (the protocol's)
        progress: ProgressCallback | None,
    ) -> tuple[Sequence[Path], Mapping[str, RvmsSample]]:
        if self.shape is None:
            paths = published_files(folder, BENCHMARK, ".jsonl", ".json")
            return paths, load_rows(paths)
        if not (folder / "manifest.json").is_file():
            build_rvms(folder, self.shape, progress=rendering(progress))
        samples = read_records(folder / SAMPLES, RvmsSample)
        return [folder / SAMPLES], {sample.sample_id: sample for sample in samples}

    def input_of(self, record: RvmsSample) -> TaskInput:
        """What a solver sees of a sample."""
        return RvmsInput(record.sample_id, " ".join(memory_texts(record.memory)), memory=record.memory)

    def given(self, variant: Variant[RacloSettings]) -> Callable[[Query, TaskInput], TaskInput] | None:
        return give_target if variant.mode in ("oracle", "chance") else None

    def open_scorer(self, prepared: Prepared[WebEnvironment], options: ScorerOptions) -> RvmsScorer:
        self.refuse(options, threshold=True)
        judge = options.judge or "reasoner"
        threshold = CLIP_SCORE if options.threshold is None else options.threshold
        return RvmsScorer(prepared.environment, prepared.gold, judge, threshold)

    def failure(self, prepared: Prepared[WebEnvironment], query: Query, sample: Sample) -> Failure | None:
        catalogue = prepared.environment.web.catalogue

        def file_of(url: str) -> str:
            entry = catalogue.video(url)
            path = None if entry is None else catalogue.path(entry)
            return "" if path is None else str(path)

        return failure_of(prepared.gold[query.query_id], sample, file_of)


def open_workbench(data: Path | None = None) -> RvmsTask:
    """The synthetic benchmark at full size."""
    name = "rvms-workbench"
    about = "432 queries by memory for 48 moments of 16 synthetic videos, under nine sets of cues"
    return RvmsTask(name, about, data or Path(name), FULL)


def open_mini(data: Path | None = None) -> RvmsTask:
    """The synthetic benchmark for trying out."""
    name = "rvms-workbench-mini"
    return RvmsTask(name, "18 of them over a small web, for trying out", data or Path(name), MINI)


def open_folder(data: Path | None = None) -> RvmsTask:
    """The published rows (`*.jsonl`, `*.json`) beside a `web` folder."""
    return RvmsTask("rvms", "RVMS-Bench's published rows over a web of one's own: --data DIR", data)
