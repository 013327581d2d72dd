"""RVMS-Bench: published rows in both spellings, the sampled plan, the rules of its checks, and its tables."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from eval.metrics.scored import Scored
from eval.runs.records import Query, Sample
from eval.tasks.published import published_files
from eval.tasks.rvms.dataset import GROUPS, RvmsSample, TargetUpload
from eval.tasks.rvms.scorer import (
    CandidateScore,
    RvmsScore,
    RvmsScorer,
    error_stage,
    moment_correct,
    score_of_candidates,
    was_found,
)
from eval.tasks.rvms.task import RULES, open_folder
from rag.agents.raclo.records import cues_of, only_cues
from rag.errors import UsageError
from rag.reasoners.roles.material import Memory
from rag.reasoners.roles.watching import FrameMatch, MatchRequest
from tests.fakes.browser_world import HOST, RecallingReasoner, environment_of, make_web

PAPER_ROW = {
    "id": "youtube_abc",
    "video_url": "https://videos.example/watch?v=abc",
    "video_source": "YouTube",
    "video_category": "Music",
    "timestamp": "01:30 / 12:05",
    "resolution": "720P",
    "video_language": "en",
    "global_impression": "I remember a song.",
    "key_moment": "From what I recall, a boat.",
    "temporal_context": ["In the preceding seconds, waves.", "In the following seconds, gulls."],
    "auditory_memory": "I vaguely recall a flute.",
}
CARD_ROW = {
    "ID": 7,
    "Video URL": "https://videos.example/watch?v=def",
    "Video Category": "Travel",
    "Video Duration": "3-10 minutes",
    "Time Progress": "02:00 / 05:00",
    "Key Moment": "a bridge",
    "Temporal Context": None,
}


def write(path: Path, *rows: Any) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def rows_of(paths: list[Path]) -> list[RvmsSample]:
    return list(open_folder().load_rows(paths).records.values())


def test_both_spellings_of_a_row_are_read(tmp_path) -> None:
    first, second = rows_of([write(tmp_path / "rows.jsonl", PAPER_ROW, CARD_ROW)])
    assert (first.sample_id, first.task, first.topic) == ("youtube_abc", "GKTA", "Music")
    assert (first.key_time, first.duration, first.group) == (90.0, 725.0, "10-30 minutes")
    assert first.memory.after == "In the following seconds, gulls."
    assert (second.sample_id, second.task, second.group) == ("7", "K", "3-10 minutes")
    listed = tmp_path / "rows.json"
    listed.write_text(json.dumps([CARD_ROW]), encoding="utf-8")
    assert rows_of([listed])[0].key_time == 120.0


def test_a_row_may_name_its_task(tmp_path) -> None:
    rows = [{**PAPER_ROW, "Task Type": "K+T"}, {**PAPER_ROW, "Task Type": "G-task"}]
    sample, whole = rows_of([write(tmp_path / "r.jsonl", *rows)])
    assert (whole.sample_id, whole.task) == ("youtube_abc-G", "G")
    assert (sample.task, cues_of(sample.memory), sample.asks_video, sample.asks_moment) == (
        "KT",
        "KT",
        False,
        True,
    )


def test_unusable_rows_are_named_and_the_others_are_used(tmp_path) -> None:
    wrong = {**CARD_ROW, "Time Progress": "soon"}
    found = open_folder().load_rows(
        [write(tmp_path / "rows.jsonl", CARD_ROW, *[wrong] * 5, CARD_ROW, [], PAPER_ROW)]
    )
    assert len(found.records) == 2
    assert [row.place for row in found.unusable] == [f"rows.jsonl:{line}" for line in range(2, 9)]
    assert [row.reason for row in found.unusable[5:]] == [
        f"duplicate id: two rows have the id {next(iter(found.records))!r}",
        "not an object",
    ]
    with pytest.raises(UsageError, match="no row of RVMS-Bench") as problem:
        open_folder().load_rows([write(tmp_path / "rows.jsonl", *[wrong] * 5)])
    message = str(problem.value)
    assert [line for line in range(1, 7) if f"rows.jsonl:{line}: " in message] == [1, 2, 3]
    assert message.endswith("and 2 more")


def checked(**fields: Any) -> CandidateScore:
    empty: dict[str, Any] = dict.fromkeys(CandidateScore.__slots__)
    return CandidateScore(**{**empty, "url": "u", "rule": False, "true": False, **fields})


def asked(task: str = "GKTA") -> RvmsSample:
    memory = Memory("g" if "G" in task else "", "k", "b", "a", "s")
    url, times = "https://v.example/watch?v=", (60.0, 10.0, (5.0, 20.0), (9.0, 11.0))
    uploads = TargetUpload(f"{url}a", "A"), TargetUpload(f"{url}b", "B", 1.1)
    return RvmsSample("m-1", "m", task, memory, f"{url}a", "garden", GROUPS[0], *times, uploads)


def verdict_of(sample: RvmsSample, found: list[CandidateScore], chosen: int | None) -> RvmsScore:
    return score_of_candidates(sample, found, None if chosen is None else found[chosen], correct=False)


def test_the_rules_of_retrieval_and_localization() -> None:
    right = checked(rule=True, true=True, model=False, in_shot=True, frame=True, on_event=False, error=3.0)
    again = checked(true=True, model=True, in_shot=False, frame=False)
    wrong = checked(model=True, in_shot=False, frame=False)
    verdict = verdict_of(asked(), [wrong, again], 0)
    assert (verdict.rule, verdict.model_rule) == (False, True)
    assert (verdict.content, verdict.answer_true, verdict.in_shot) == (True, False, False)
    verdict = verdict_of(asked(), [right, wrong], 0)
    assert (verdict.rule, verdict.frame, verdict.in_shot_answer, verdict.error) == (True, True, True, 3.0)
    assert verdict_of(asked("K"), [wrong], 0).model_rule is None
    assert verdict_of(asked("G"), [right], 0).frame is None


def test_the_first_stage_that_failed_is_named() -> None:
    sample = asked()

    def stage(found: list[CandidateScore], results: list[str]) -> str:
        answer = found[0] if found else None
        seen = was_found([[f"https://v.example/watch?v={name}" for name in results]], sample)
        return error_stage(found, answer, moment_correct(sample, answer), seen=seen)

    assert stage([], ["x"]) == "generator"
    assert stage([], ["x", "b"]) == "retriever"
    right = checked(rule=True, true=True, in_shot=True, on_event=True)
    assert stage([right], ["a"]) == ""
    assert stage([checked(), right], ["x", "a"]) == "verifier"
    assert stage([checked(rule=True, true=True, in_shot=True, on_event=False)], ["a"]) == "localizer"


def scored(*lines: dict[str, Any]) -> Scored:
    query = Query("q", "t", (), "a", "GKTA", "v", "v", (0.0, 0.0), ())
    sample = Sample("q", "GKTA", "v", "v", None, False, None, evidence={"candidates": list(lines)})
    return Scored(query, sample, None, None, False, False)


def test_judgement_is_counted_against_truth() -> None:
    lines = [
        checked(true=True, model=True, video_score=0.9).line(),
        checked(true=False, model=True, video_score=0.6).line(),
        checked(true=True, model=False, video_score=0.8).line(),
        checked(true=False, model=False, video_score=0.75).line(),
        checked(true=False, model=None, video_score=None).line(),
    ]
    model = Counter(RULES["video: model"](scored(*lines)))
    assert model == {(True, True): 1, (True, False): 1, (False, True): 1, (False, False): 1, (None, False): 1}
    score = Counter(RULES["video: CLIP score"](scored(*lines)))
    assert score == {(True, True): 2, (True, False): 1, (False, False): 1, (None, False): 1}


class HearingJudge(RecallingReasoner):
    """Sees every frame for the right one."""

    def __init__(self, heard: bool | None) -> None:
        super().__init__()
        self.heard = heard

    def match_frame(self, request: MatchRequest) -> FrameMatch:
        assert bool(request.auditory_memory) == bool(request.candidate.texts)
        return FrameMatch(text_match=True, image_match=True, audio_match=self.heard, confidence=0.9)


@pytest.mark.parametrize(
    ("task", "heard", "frame"),
    [("KA", True, True), ("KA", False, False), ("KA", None, True), ("K", False, True)],
)
def test_a_remembered_sound_is_part_of_the_verdict(
    task: str, heard: bool | None, frame: bool, tmp_path
) -> None:
    url = f"{HOST}video07"
    sample = replace(asked(task), memory=only_cues(asked().memory, task), url=url, key_time=41.0)
    scorer = RvmsScorer(environment_of(make_web(tmp_path), HearingJudge(heard)), {})
    found = {"url": url, "video_id": "", "accepted": True, "moment": [40.0, 41.0, 42.0]}
    assert scorer.check(sample, found).frame == frame


def test_parquet_and_a_folder_as_published(tmp_path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "web").mkdir()
    write(tmp_path / "web" / "web.jsonl", {})
    rows = [{**PAPER_ROW, "resolution": None}, {**PAPER_ROW, "id": "other", "key_moment": None}]
    parquet.write_table(pa.Table.from_pylist(rows), tmp_path / "data" / "train.parquet")
    (path,) = published_files(tmp_path, "RVMS-Bench", ".jsonl", ".parquet")
    assert rows_of([path])[0] == rows_of([write(tmp_path / "rows.jsonl", PAPER_ROW)])[0]
