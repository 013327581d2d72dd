"""Moment retrieval as a task: published annotations with their videos, or rendered ones."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from corpora.identity import file_sha256
from corpora.outputs import atomic_write_text
from eval.metrics.scored import Measure, Scored
from eval.reports.described import load_report
from eval.task import Footage, Prepared, ProgressCallback, Task, task_opener, task_settings
from eval.tasks.libraries import fingerprints, render_corpus
from eval.tasks.moments.dataset import (
    FORMATS,
    Annotations,
    format_name,
    input_of,
    query_of,
    read_annotations,
    video_names,
)
from eval.tasks.moments.scorer import MEASURES, MomentScore, MomentScorer, submission_lines
from eval.tasks.moments.solvers import SOLVERS, MomentEnvironment
from eval.tasks.videos import IndexedVideos, find_videos, index_videos
from eval.workbench.jobs import CorpusPlan, truth, video_jobs
from eval.workbench.video import Render
from rag.errors import UsageError

if TYPE_CHECKING:
    from rag.settings import Settings

REPORT = load_report("eval.tasks.moments", MEASURES)


SUBMISSION = "submission.jsonl"
"""In a run folder: what the benchmark's server takes."""


MINI = CorpusPlan(seed=14, split="test", clips=24, render=Render(360, fps=4))
"""Clips, each event of which is a sentence. The library samples two frames a second."""


def sentence_rows(plan: CorpusPlan) -> Iterator[dict[str, Any]]:
    """Lines in the layout of QVHighlights: one a clip and sentence, with every time that it happens."""
    for held in map(truth, video_jobs(plan)):
        times: dict[str, list[list[float]]] = {}
        for event in held["events"]:
            times.setdefault(event["rewritten"], []).append([event["start"], event["end"]])
        for number, (sentence, windows) in enumerate(times.items()):
            name = Path(held["video"]).stem
            yield {
                "qid": f"{name}-{number}",
                "query": sentence,
                "duration": held["duration"],
                "vid": name,
                "relevant_windows": windows,
            }


class MomentsTask(Task[MomentEnvironment]):
    """`made`: what is rendered; None for annotations and videos from elsewhere, below `folder` in any place.

    `format`: of `eval.tasks.moments.dataset.FORMATS`; empty: recognized. `split`: a part of the name of the
    annotation file.
    """

    report = REPORT
    score_type = MomentScore
    solvers = SOLVERS
    measures: ClassVar[Mapping[str, Measure]] = MEASURES

    def __init__(
        self,
        name: str,
        about: str,
        folder: Path | None,
        made: CorpusPlan | None = None,
        *,
        format: str = "",
        split: str = "",
    ) -> None:
        self.name, self.about, self.folder, self.made = name, about, folder, made
        self.format, self.split = format, split

    def prepare(
        self, settings: Settings, progress: ProgressCallback | None = None
    ) -> Prepared[MomentEnvironment]:
        folder, made = self.folder, self.made
        if folder is None:
            raise UsageError(f"{self.name} needs --data DIR, the folder with the annotations and the videos")
        fixed = {"asr.mode": "off", "ocr.mode": "off"} if made else {}
        chosen = task_settings(self.name, settings, folder / "library", fixed, synthetic=made is not None)
        if made is not None:
            render_corpus(folder, made, progress)
            lines = "".join(json.dumps(row) + "\n" for row in sentence_rows(made))
            atomic_write_text(folder / "moments.jsonl", lines)
        elif not folder.is_dir():
            raise UsageError(f"{folder}: no such folder")
        held = read_annotations(folder, self.format, self.split)
        names = video_names(held)
        found = find_videos(folder, names, near=dict.fromkeys(names, (held.format,)))
        return self.prepared(held, index_videos(found, chosen, progress))

    def prepared(self, held: Annotations, videos: IndexedVideos) -> Prepared[MomentEnvironment]:
        """Annotations with their videos, ready to be asked."""
        self.format = held.format
        queries = [query_of(moment, held.format) for moment in held.moments]
        return Prepared(
            queries=queries,
            inputs={moment.query_id: input_of(moment) for moment in held.moments},
            environment=MomentEnvironment(videos.library, videos.paths),
            dataset={held.path.name: file_sha256(held.path)},
            encoders=fingerprints(videos.library),
            gold={moment.query_id: moment for moment in held.moments},
            skipped=videos.skipped_queries(queries),
            unusable=held.unusable,
        )

    def open_scorer(self, prepared: Prepared[MomentEnvironment]) -> MomentScorer:
        return MomentScorer(prepared.gold, FORMATS[self.format])

    def files(self, samples: Sequence[Scored]) -> Mapping[str, str]:
        if not self.format or not FORMATS[self.format].highlights:
            return {}
        return {SUBMISSION: submission_lines(samples)}

    def footage(self, prepared: Prepared[MomentEnvironment], name: str) -> Footage | None:
        return prepared.environment.footage(name)


open_mini = task_opener(
    partial(MomentsTask, format="qvhighlights"),
    "moments-workbench-mini",
    "sentences about the events of 24 synthetic clips of 30 s, for trying out",
    MINI,
)


def open_folder(data: Path | None = None, format: str = "", split: str = "") -> MomentsTask:
    """Published annotations and videos. `format`: default: recognized; `split`: a part of a file's name."""
    known = format_name(format) if format else ""
    name = "-".join(["moments", *filter(None, [known, split])])
    about = (
        f"moment retrieval: {', '.join(each.title for each in FORMATS.values())}: --data DIR; "
        "moments:format=NAME reads one of them, moments:split=PART the annotation file with PART in its name"
    )
    return MomentsTask(name, about, data, format=known, split=split)
