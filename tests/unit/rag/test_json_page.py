"""docs/reference/json.md against the program: every block comes out of records exactly as it is there."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rag
from corpora.objects import StoreAddress
from corpora.records import Clip, Evidence, Passage, Problem, Shot, SoundTrack
from corpora.settings import StorageSettings
from eval.runs.runner import Done
from eval.workbench.corpus import CorpusReport
from eval.workbench.recording import recorded_fields
from eval.workbench.web_files import WebReport
from indexers.models.verify import FileCheck, ModelRow, Verification
from localization.windows import LocalizedWindow
from rag._cli.batch import Counts
from rag._cli.doctor import Finding
from rag._cli.eval_commands import Listed
from rag._cli.show import Shown
from rag.agents.shotfinder.calibration import Labelled, calibrate
from rag.export.records import Exported
from rag.indexing.merging import MergeReport
from rag.indexing.report import Forecast, IndexReport
from rag.records import (
    Answer,
    NearDuplicate,
    PassageCitation,
    PassageHit,
    Question,
    ScoredOption,
    UnmeasuredVideos,
    VideoCitation,
    VideoHit,
)
from rag.rendering.shapes import (
    answer_shape,
    citation_shape,
    plain,
    report_shape,
    search_shape,
    windows_shape,
)
from rag.retrieval.shots import sound_runs
from rag.settings import ResolvedSetting
from rag.store.pulling import PullReport
from rag.store.records import FileStatus, Removed
from rag.web import Downloaded, Page, SearchPage, SearchResult, Transcript, TranscriptLine
from rag.web.building import BuildReport
from tests.fakes.libraries import STATS

PAGE = Path(rag.__file__).parent.parent / "docs" / "reference" / "json.md"
BLOCKS = [
    json.loads(block) for block in re.findall(r"```json\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)
]

SAID = (Evidence("5f0c2a", 12.0, 14.25, "subtitle", "The mirror is made of beryllium."),)
COLD = "Beryllium keeps its shape in the cold."
BAD = (Problem("odd.mp4", "not a video"),)
FILES = (FileStatus("odd.mp4", "failed", "not a video (skipped)", None),)
EXPORTED = Exported("edl", 2, ("lab.mov: 12.5 frames a second; cut points are counted at 25",), BAD)
ANSWER = Answer(
    question=Question("q", "What is the mirror of the telescope made of?", ("glass", "beryllium")),
    choice="B",
    text="beryllium",
    confidence=0.91,
    explanation="The subtitle at 00:12 names it.",
    matched=True,
    citations=(
        VideoCitation("talks/webb.mp4", "5f0c2a", 12.5, 17.5, 0.81, SAID),
        PassageCitation("webb.pdf", "77ab", "Telescopes", COLD, 0.5, (12, 13)),
    ),
    options=(ScoredOption("A", "glass", 0.25), ScoredOption("B", "beryllium", 0.75)),
    timings={"retrieve": 0.02, "answer": 0.01},
)
HITS = (
    VideoHit(
        "talks/webb.mp4",
        "5f0c2a",
        12.5,
        17.5,
        Clip("5f0c2a:00000", "5f0c2a", 0, 30),
        0.81,
        SAID,
        relevance=0.7,
    ),
    PassageHit("webb.pdf", Passage("77ab", "9c1d", "Telescopes", COLD, (12, 13)), 0.5, 0.4),
)
SHOWN = {"citation": citation_shape(PassageCitation("webb.pdf", "77ab", "Telescopes", COLD, 1.0, (12, 13)))}
LOCALIZED = [LocalizedWindow("5f0c2a", 12.5, 17.5, 0.31, 0.62)]
INDEXED = IndexReport(
    library="/home/me/.rag",
    files_found=3,
    indexed=2,
    problems=BAD,
    ignored=2,
    ignored_files=("notes.json", "plan.doc"),
    unread=("plan.doc: .doc files are not read; save it as PDF or HTML",),
    clips=4,
    passages=12,
    video_seconds=95.5,
    seconds=12.25,
    bytes=1_048_576,
    stages=("ocr: on",),
    forecast=Forecast(2, 95.5, 14.0, 900_000),
)
MODEL = ModelRow(
    name="siglip2-base-patch16-224",
    purpose="image encoder",
    size=1_535_000_000,
    licence="Apache-2.0",
    licence_note="",
    commercial=True,
    recommended=True,
    in_use=False,
    here=False,
    path="",
    problem="",
    pinned="commit and hash",
    note="",
)
VERIFIED = Verification(
    name="all-MiniLM-L6-v2",
    folder=Path("models/all-MiniLM-L6-v2"),
    revision="",
    files=(FileCheck("model.safetensors", "ok", "53aa", "53aa"),),
)
PULLED = {"name": MODEL.name, "path": Path("models") / MODEL.name}
COUNTS: Mapping[str, Any] = plain(Counts(20, 5, 0))
CHECK = Finding("package", "av", True, "18.1.0")

LISTED = Listed("egofact-workbench", "396 questions", {"random": "any option"})
DONE = Done(Path("runs/egofact-workbench/random-seed0"), "random", 0, asked=300, kept=96, right=66)
SHOWN_SAMPLE = {"query": {}, "sample": {}, "picture": Path("random-seed0_q1.png"), "same": None}

URL = "https://videos.example/watch?v=n2DBxa42Umc"
FOUND_VIDEO = SearchResult(
    1, URL, "Kettle notes", "Just me.", "video", "n2DBxa42Umc", "Tea Time", "2020-02-03", 30.0, ("kettle",)
)
OPENED = {
    **plain(
        Page(
            *(URL, "Kettle notes", "Just me.", "video", "n2DBxa42Umc", "Tea Time", "2020-02-03", 30.0),
            *(("kettle",), "", "ok", True),
        )
    ),
    "transcript": Transcript(URL, (TranscriptLine(0.0, 1.5, "Fill the kettle."),), language="en"),
    "download": Downloaded(URL, "web/.downloads/5f0c2a.mp4", "5f0c2a", 1_048_576, False),
}

SHOT = Shot("5f0c2a:s00000", "5f0c2a", 0.0, 18.5, 4.0, "warm", 21.4, 12.1, 48.2, 19.7, 2.1, "live")
UNMEASURED = UnmeasuredVideos(1, 12, ("1 video is measured in part: some of its sound is missing",))
MEASURED = {
    "path": "talks/webb.mp4",
    "video_id": "5f0c2a",
    "width": 1280,
    "height": 720,
    "shots": (SHOT,),
    "sound": sound_runs(SoundTrack("5f0c2a", ("speech",) * 18, np.full(18, -21.5, np.float32))),
    "copies": (NearDuplicate("81b0d4", "talks/again.mp4", 0.91, 1.08, 0.0),),
    "uncompared": 0,
}
MERGED = MergeReport((Path("team-a"), Path("team-b")), Path("all"), 3, 2, 1, 60.5, 4, 0, (), 1.25, 5000)
ARCHIVE = StoreAddress("s3://archive/library", StorageSettings())
PULLED_LIBRARY = PullReport(ARCHIVE, Path("copy"), False, 31, 4, 60000, 1.5, 70000)
LABELLED = [("warm", "warm")] * 18 + [("neutral", "warm")] * 3 + [("neutral", "neutral")] * 20
CALIBRATED = calibrate(
    [Labelled("color", f"{at % 12}.mp4", true, measured) for at, (true, measured) in enumerate(LABELLED)],
    encoder="",
).model_dump(mode="json")
MADE = [
    answer_shape(ANSWER),
    search_shape("the mirror", HITS, threshold=0.3),
    search_shape("the mirror", [replace(HITS[0], evidence=())], shots=[SHOT], unmeasured=UNMEASURED),
    report_shape("rag.calibrate/1", {"out": "rag-calibration.json", "tables": CALIBRATED["tables"]}),
    report_shape("rag.shots/1", MEASURED),
    windows_shape(
        "webb.mp4",
        "talks/webb.mp4",
        "5f0c2a",
        "the mirror",
        [LocalizedWindow("5f0c2a", 12.5, 17.5, 0.31, 0.62)],
        0.3,
    ),
    report_shape("rag.show/1", {**SHOWN, **plain(Shown())}),
    report_shape("rag.export/1", EXPORTED) | {"path": "selects.edl"},
    report_shape("rag.index/1", INDEXED),
    report_shape("rag.stats/1", STATS),
    report_shape("rag.problems/1", {"problems": BAD}),
    report_shape("rag.files/1", {"files": FILES}),
    report_shape("rag.remove/1", Removed(("talks/webb.mp4",), ("5f0c2a",))),
    report_shape("rag.library/1", MERGED),
    report_shape("rag.pull/1", PULLED_LIBRARY),
    report_shape("rag.doctor/1", {"ok": True, "checks": [CHECK]}),
    report_shape("rag.settings/1", {"settings": [ResolvedSetting("search.top_k", 8, "rag.toml")]}),
    report_shape("rag.models/1", {"models": [MODEL]}),
    report_shape("rag.models.pull/1", PULLED),
    report_shape(
        "rag.models.verify/1", {"models": [{**plain(VERIFIED), "ok": True, "pinned": VERIFIED.pinned}]}
    ),
    report_shape("rag.batch/1", {"out": "answers.jsonl", **COUNTS}),
    report_shape("rag.batch/1", {"run": "out.trec", "windows": "out.windows.jsonl", **COUNTS}),
    report_shape("rag.demo/1", {"folder": "demo", "index": {}, "answers": []}),
    report_shape("rag.eval.list/1", {"benchmarks": [LISTED]}),
    report_shape("rag.eval.run/1", {"benchmark": "egofact-workbench", "runs": [DONE]}),
    report_shape("rag.eval.score/1", {"runs": [DONE]}),
    report_shape("rag.eval.report/1", {"files": [Path("report/report.md")]}),
    report_shape("rag.eval.show/1", SHOWN_SAMPLE),
    report_shape("rag.web.build/1", BuildReport("web", 304, 290, 110, 64, 416, "5f0c2a", BAD)),
    report_shape(
        "rag.web.workbench/1", recorded_fields(WebReport("web", 304, 416, 190, 190, 7000.0, 393_216_000))
    ),
    report_shape("rag.web.search/1", SearchPage("kettle", 1, (replace(FOUND_VIDEO, score=0.991935),), 12, 2)),
    report_shape("rag.web.open/1", OPENED),
    report_shape("rag.workbench/1", recorded_fields(CorpusReport("wb", 12, 12, 360.0, 21489732, 416, False))),
]


def test_every_block_has_its_maker() -> None:
    assert [block["schema"] for block in BLOCKS] == [shape["schema"] for shape in MADE]


@pytest.mark.parametrize(("block", "made"), list(zip(BLOCKS, MADE, strict=False)))
def test_a_block_is_what_comes_out(block: dict[str, Any], made: dict[str, Any]) -> None:
    assert made == block
    assert list(made) == list(block)
