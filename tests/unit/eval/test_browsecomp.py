"""Video-BrowseComp: the published rows, the drafted questions, and what a run is told as."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from eval.runs.samples import check_sample, sample_line
from eval.tasks import open_benchmark
from eval.tasks.browsecomp.building import FULL, check_questions
from eval.tasks.browsecomp.files import read_questions, write_questions
from eval.tasks.browsecomp.published import load_published
from eval.tasks.browsecomp.records import BrowseQuestion, Source
from eval.tasks.browsecomp.solvers import VideoBrowserSolver, evidence_recall, query_of
from eval.tasks.browsecomp.systems import SYSTEMS, settings_of
from eval.tasks.browsecomp.workbench.drafting import draft, worded_day
from eval.tasks.browsecomp.workbench.target_insertion import PlantingPlan, plant
from eval.workbench.web import WebPlan, plan_web
from rag.agents.video_browser.settings import EFFICIENCY
from rag.errors import UsageError
from rag.reasoners.roles import OpenAnswer, Reading
from tests.fakes.browser_world import HOST, RuleReasoner, frame_source, make_web

OFFLINE = {
    "id": 12,
    "question": "What colour is the pen?",
    "answer": "red",
    "category": "LabelledVideo",
    "difficulty": "level2",
    "evidence_chain": ["find the film", "look at the pocket"],
    "mode": "offline",
    "source_file": "a.json",
    "source_desc": "",
    "why_multi_video": "",
    "self_check": {"unique": True},
    "videos": [
        {
            "url": "https://youtube.com/watch?v=a",
            "title": "A",
            "role": "source",
            "video_id": "a",
            "local_path": "",
        },
        {"url": "https://youtube.com/watch?v=b", "title": "B", "role": "negative", "video_id": "b"},
    ],
}
ONLINE = {
    "row_id": 12,
    "question": "How many?",
    "answer": 6,
    "category": "Sports",
    "difficulty": "level1",
    "evidence_chain": "watch it",
    "source": ["https://youtube.com/watch?v=c", "a book"],
    "image": None,
}


def written(path: Path, *rows: object) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_both_kinds_of_published_row(tmp_path: Path) -> None:
    first, second = load_published([written(tmp_path / "rows.jsonl", OFFLINE, ONLINE)])
    assert (first.question_id, first.level, first.genre, first.answers) == (
        "offline-12",
        "level2",
        "LabelledVideo",
        ("red",),
    )
    assert [source.role for source in first.sources] == ["source", "negative"]
    assert [source.video_id for source in first.evidence] == ["a"]
    assert (second.question_id, second.mode, second.answers) == ("online-12", "online", ("6",))
    assert [source.urls for source in second.sources] == [("https://youtube.com/watch?v=c",)]
    assert second.evidence_chain == ("watch it",)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"difficulty": "hard"}, "rows.jsonl:1: .*difficulty"),
        ({"question": ""}, "rows.jsonl:1: .*question"),
        ({"answer": []}, "rows.jsonl:1: .*answer"),
        ({"videos": [{"role": "friend"}]}, "rows.jsonl:1: .*role"),
    ],
)
def test_rows_that_are_none_are_named(tmp_path: Path, change: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        load_published([written(tmp_path / "rows.jsonl", {**OFFLINE, **change})])


def test_two_rows_of_one_id_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="two rows"):
        load_published([written(tmp_path / "rows.jsonl", OFFLINE, OFFLINE)])


@pytest.fixture(scope="module")
def drafted() -> tuple[BrowseQuestion, ...]:
    planted = plant(FULL.web, FULL.planting)
    return tuple(draft(planted, FULL.web.split, FULL.web.seed))


def test_there_are_enough_questions_of_every_level(drafted: tuple[BrowseQuestion, ...]) -> None:
    levels = Counter(question.level for question in drafted)
    assert sum(levels.values()) >= 180
    assert levels["level1"] > levels["level2"] - 5
    assert levels["level3"] >= 15
    assert {question.kind for question in drafted} == {"thing", "action", "card", "speech"}
    assert len({question.genre for question in drafted}) == 8


def test_drafts_repeat_and_no_two_are_the_same(drafted: tuple[BrowseQuestion, ...]) -> None:
    again = draft(plant(FULL.web, FULL.planting), FULL.web.split, FULL.web.seed)
    assert tuple(again) == drafted
    assert len({question.question_id for question in drafted}) == len(drafted)
    assert len({question.text for question in drafted}) == len(drafted)


def test_the_truth_is_among_the_options_and_nowhere_in_the_question(
    drafted: tuple[BrowseQuestion, ...],
) -> None:
    for question in drafted:
        assert question.answers[0].lower() not in question.text.lower().split()
        if question.options:
            assert question.options.count(question.answers[0]) == 1
            assert len(set(question.options)) == len(question.options) in (8, 10)
            assert question.kind in ("thing", "action")


def test_the_chain_names_its_videos_in_order(drafted: tuple[BrowseQuestion, ...]) -> None:
    for question in drafted:
        assert len(question.evidence) == (2 if question.level == "level3" else 1)
        assert len(question.evidence_chain) == len(question.evidence) + 1
        assert all(source.end > source.start for source in question.evidence)


def test_nothing_that_is_asked_for_is_said_aloud(drafted: tuple[BrowseQuestion, ...]) -> None:
    planted = {each.upload.url: each for each in plant(FULL.web, FULL.planting)}
    for question in drafted:
        if question.kind == "thing":
            upload = planted[question.evidence[-1].urls[0]].upload
            said = " ".join(line.text for line in upload.lines).lower()
            assert f" {question.answers[0].lower()} " not in f" {said.replace('.', ' ')} "


def test_channel_and_day_lead_to_one_upload() -> None:
    uploads = [upload for each in plant(FULL.web, FULL.planting) for upload in each.uploads]
    uploads += plan_web(FULL.web)
    named = Counter((upload.metadata.channel, upload.upload_date) for upload in uploads)
    planted = {
        (each.upload.metadata.channel, each.upload.upload_date) for each in plant(FULL.web, FULL.planting)
    }
    assert all(named[name] == 1 for name in planted)


def test_stories_are_told_once() -> None:
    planted = plant(FULL.web, FULL.planting)
    assert len({(each.occasion.other, each.detail.other) for each in planted}) == len(planted)
    for each in planted:
        shared = set(each.occasion.plain.lower().split()) & set(each.occasion.other.lower().split())
        assert len(shared - {"the", "of", "my", "i", "a", "to", "on", "with", "was", "for", "were"}) <= 3


def test_smaller_plans_are_beginnings_of_their_own() -> None:
    small = plant(WebPlan(seed=3), PlantingPlan(videos=3, minutes=1.0, chained=2))
    assert [each.pointer is not None for each in small] == [True, True, False]
    assert all(each.pointer is None or each.pointer.target != each.number for each in small)


def test_a_day_in_words() -> None:
    assert worded_day("2024-03-05") == "5 March 2024"


def test_questions_are_written_and_read_alike(tmp_path: Path, drafted: tuple[BrowseQuestion, ...]) -> None:
    path = tmp_path / "questions.jsonl"
    write_questions(path, drafted[:20])
    assert tuple(read_questions(path)) == drafted[:20]
    path.write_text('{"question_id": "q"}\n', encoding="utf-8")
    with pytest.raises(UsageError, match=r"questions\.jsonl:1"):
        read_questions(path)


def test_every_system_has_settings() -> None:
    assert settings_of("pyramidal") == EFFICIENCY
    assert all(settings_of(name) is not None for name in SYSTEMS)
    assert settings_of("frames@7").sparse_frames == 7
    with pytest.raises(UsageError, match="no system"):
        settings_of("frames@none")


QUESTION = BrowseQuestion(
    "q1",
    "Which word is the secret of the kettle film?",
    ("PLUM",),
    "level1",
    "kitchen",
    sources=(Source((f"{HOST}film07",), video_id="", start=40.0, end=43.0),),
)


def browsing(folder: Path, name: str, question: BrowseQuestion = QUESTION) -> VideoBrowserSolver:
    web = make_web(folder)
    return VideoBrowserSolver(
        name, settings_of(name), {question.question_id: question}, web, RuleReasoner(), frame_source()
    )


def test_a_run_becomes_a_judged_sample(tmp_path: Path) -> None:
    system = browsing(tmp_path, "video-browser")
    query = query_of(QUESTION)
    sample = system.answer(query)
    check_sample(query, sample)
    assert (sample.correct, sample.choice, sample.evidence["answer"]) == (True, None, "PLUM")
    assert sample.evidence["evidence_recall"] == 1.0
    assert sample.evidence["judge"]["rule"] == "exact"
    assert sample_line(sample) == sample_line(
        system.answer(query)
    )  # every question is the web's first visitor


def test_of_options_only_the_right_one_is_right(tmp_path: Path) -> None:
    wrong = replace(QUESTION, options=("FIG", "PLUM"), kind="thing")
    sample = browsing(tmp_path, "pyramidal", wrong).answer(query_of(wrong))
    assert (sample.correct, sample.evidence["answer"]) == (False, "FIG")


def test_any_upload_of_a_film_counts_as_watched() -> None:
    chain = replace(
        QUESTION, sources=(Source(("https://a.example/watch?v=1", "https://a.example/watch?v=2")),)
    )
    assert evidence_recall(chain, ["https://www.a.example/watch?v=2&t=10"]) == [True]
    assert evidence_recall(chain, ["https://a.example/watch?v=3"]) == [False]


def test_what_text_alone_answers_is_dropped(tmp_path: Path) -> None:
    web = make_web(tmp_path / "web")
    told = replace(QUESTION, question_id="told", text="Which number?", answers=("kettle film 7",))
    twice = replace(QUESTION, question_id="twice")
    reasons = check_questions([QUESTION, told, twice], web, RuleReasoner())
    assert reasons == {
        "told": "the metadata of a video of its chain hold the answer",
        "twice": "another question has the same words",
    }


def test_what_a_page_of_text_answers_is_dropped(tmp_path: Path) -> None:
    """Nothing of it stands in the metadata: only the control that reads the web's pages can tell."""
    assert check_questions([QUESTION], make_web(tmp_path / "dry"), RuleReasoner()) == {}
    web = make_web(tmp_path / "web", page="A kettle boils water, and the secret is PLUM indeed.")
    options = replace(QUESTION, question_id="options", text="Which of these?", options=("FIG", "PLUM"))
    reasons = check_questions([QUESTION, options], web, RuleReasoner())
    assert reasons == {QUESTION.question_id: "text-search answers it without any video"}


class Knowing(RuleReasoner):
    """Knows without looking."""

    def answer_open(self, reading: Reading) -> OpenAnswer:
        assert not reading.windows
        return OpenAnswer(text="PLUM", confidence=1.0, explanation="everybody knows that")


def test_what_is_known_without_any_tool_is_dropped(tmp_path: Path) -> None:
    web = make_web(tmp_path / "web")
    reasons = check_questions([QUESTION], web, Knowing())
    assert reasons == {QUESTION.question_id: "tool-free answers it without any video"}
    assert not web.trace.events


def test_the_benchmarks_can_be_opened() -> None:
    for name in ("browsecomp-workbench", "browsecomp-workbench-mini", "browsecomp"):
        assert "pyramidal" in open_benchmark(name).systems()
    with pytest.raises(UsageError, match="--data"):
        _ = open_benchmark("browsecomp").queries
