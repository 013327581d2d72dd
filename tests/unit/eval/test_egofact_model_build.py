"""EgoFact built by a language model (appendix C): its roles, its funnel, its bounds, and going on."""

import json
import random
from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from eval.tasks.egofact.construction.annotated import read_events, read_release
from eval.tasks.egofact.construction.model_build import Builder, WikiHow
from eval.tasks.egofact.construction.options import FactPair, WrittenPassages, choose_pairs
from eval.tasks.egofact.construction.plan import Plan
from eval.tasks.egofact.construction.records import BuildSettings, FactPassage, Shape, shape_of
from eval.tasks.egofact.construction.roles import BUILD_ROLES
from eval.tasks.egofact.construction.segments import CachedEncoder
from eval.tasks.egofact.dataset import load_egofact
from eval.tasks.egofact.records import FAMILIES
from eval.tasks.egofact.replies import StoredReplies
from rag.errors import BudgetSpent, UsageError
from rag.store.reading import Reader
from tests.fakes.answer_world import BagOfWords, blank_frames, build_library
from tests.fakes.egofact_world import SPOILT, THINGS, BuildModel, WordEncoder, near, passages, write_events

SHAPE = Shape(6, 5, 4, 5, 4)


def build(folder: Path, model: BuildModel, out: str = "out") -> Plan:
    videos = read_events(folder / "events.jsonl")
    with StoredReplies(folder / out / "work" / "replies.jsonl", model, BUILD_ROLES) as replies:
        return Builder(
            folder / out,
            replies,
            "scripted",
            blank_frames,
            lambda _: 30.0,
            near,
            CachedEncoder(WordEncoder()),
            BuildSettings(cluster_share=1.0),
        ).build("egofact", videos, SHAPE, 1)


@pytest.fixture
def folder(tmp_path) -> Path:
    write_events(tmp_path / "events.jsonl", 10)
    return tmp_path


def test_a_model_builds_the_benchmark_from_events_and_raw_passages(folder: Path) -> None:
    model = BuildModel()
    plan = build(folder, model)
    read = load_egofact(folder / "out")
    assert Counter(query.family for query in read.queries) == {name: SHAPE.of(name) for name in FAMILIES}
    assert {clip.path for clip in read.clips} <= {f"../videos/clip{at:03d}.mp4" for at in range(9)}
    # C.1: ten screenshots, one narration and one set of keywords of each clip that is there.
    calls = Counter(name for name, _ in model.kept)
    assert (calls["narrate_timeline"], calls["timeline_keywords"]) == (9, 9)
    assert calls["describe_screenshot"] == 9 * 10 + 1
    (timeline,) = {
        each.text for each in model.requests_of("narrate_timeline") if "scene0 " in each.scenarios[0]
    }
    lines = timeline.splitlines()
    assert lines == sorted(lines)
    assert lines[0] == "[00:00:01.00] (Sound) #C C puts the kettle onto the bench"
    assert lines[1] == "[00:00:01.50] (Scene) A bench at 1.5 s."
    # C.2.4: what scores less than 7 is dropped, and both hops share their objects.
    assert sum(plan.counts["without quality"].values()) >= 1
    assert all(query.options["ABCDEF".index(query.answer)] != SPOILT for query in read.queries)
    assert plan.counts["annotated videos"] == {"clips": 11}
    assert plan.counts["videos that are there"] == {"clips": 10}
    assert plan.counts["narrated"] == {"clips": 9}
    assert plan.counts["trivial"]
    manifest = json.loads((folder / "out" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["steps"] == plan.counts
    assert (manifest["model"], manifest["reader"]) == ("scripted", "scripted")
    assert set(manifest["prompts"]) == {role.name for role in BUILD_ROLES}
    # C.2.5: two-hop options are statements of passages, which alone are the corpus.
    used = {each for query in read.queries for each in query.option_passages if each}
    assert {passage.passage_id for passage in read.passages} >= used
    counts = manifest["passages"]
    assert counts["passages near an option"] >= counts["statement sets"] > counts["valid and non-trivial"] > 0
    assert all(any(name in each.object for name in THINGS) for each in read.passages)


def test_a_stopped_build_goes_on_with_what_it_has_and_ends_in_the_same_bytes(folder: Path) -> None:
    whole = BuildModel()
    build(folder, whole, out="whole")
    model, stops = BuildModel(), 0
    for _ in range(20):
        model.left = 60
        try:
            build(folder, model)
        except BudgetSpent:
            stops += 1
    assert stops == len(whole.kept) // 60
    assert len(model.kept) == len(whole.kept)
    for path in sorted((folder / "whole").glob("*.json*")):
        assert (folder / "out" / path.name).read_bytes() == path.read_bytes(), path.name


def test_replies_of_another_model_or_prompt_are_refused(folder: Path) -> None:
    with pytest.raises(BudgetSpent):
        build(folder, BuildModel(left=1))
    other = BuildModel()
    other.name = "other"
    with pytest.raises(UsageError, match="model was"):
        build(folder, other)


def test_half_a_line_of_a_killed_build_is_asked_again(folder: Path) -> None:
    with pytest.raises(BudgetSpent):
        build(folder, BuildModel(left=3))
    path = folder / "out" / "work" / "replies.jsonl"
    path.write_bytes(path.read_bytes()[:-5])
    model = BuildModel(left=1)
    with pytest.raises(BudgetSpent):
        build(folder, model)
    assert [float(asked.frame.times[0]) for asked in model.requests_of("describe_screenshot")] == [7.5]


def test_passages_near_an_object_are_found_by_similarity(tmp_path) -> None:
    texts = {
        "How to Use a Soldering Iron": "Heat it first. Then touch the joint.",
        "Joints": "A soldering iron melts tin. It gets hot.",
        "Bread": "Knead the dough.",
    }
    words: Any = BagOfWords()
    words.backend, words.batch, words.weights = "numpy", 1, "bag"
    encoder = CachedEncoder(words)
    reader = Reader.open(build_library(tmp_path / "library", {}, texts, None))
    library: Any = SimpleNamespace(engine=SimpleNamespace(reader=reader))
    found = WikiHow(library, encoder, 0.5).near("soldering iron")
    assert [(one.title, one.object, one.fact) for one in found] == [
        ("How to Use a Soldering Iron", "soldering iron", ""),
        ("Joints", "soldering iron", ""),
    ]
    assert WikiHow(library, encoder, 0.5).near("ladder") == []


def test_the_shape_keeps_the_papers_proportions() -> None:
    assert shape_of(127) == Shape(127, 113, 73, 119, 91)
    assert shape_of(1) == Shape(1, 1, 1, 1, 1)


SOUNDS = "video_uid\tclip_start\tclip_end\tclip_text\nu1\tearly\t2.75\t#C C picks the cup from the table\n"


@pytest.mark.parametrize(
    ("name", "text", "fault"),
    [
        ("ego4d.json", "{", "Invalid JSON"),
        ("a.csv", "video_uid\tclip_start\n", "no tab-separated column 'clip_end'"),
        ("a.csv", SOUNDS, "a.csv:2: clip_start or clip_end is no number"),
    ],
)
def test_an_event_list_that_cannot_be_read_is_named(tmp_path, name: str, text: str, fault: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=fault):
        read_release(tmp_path, tmp_path / "a.csv", scenarios=())


class AllPassages(WrittenPassages):
    """Passages whose statements are there already."""

    def __init__(self, held: list[FactPassage]) -> None:
        self._of = {name: tuple(one for one in held if one.object == name) for name in THINGS}


def test_no_statement_names_its_object_or_is_shared() -> None:
    held = passages()

    def pairs(chosen: list[FactPassage]) -> tuple[FactPair, ...] | None:
        return choose_pairs("kettle", THINGS[1:6], AllPassages(chosen), random.Random(1))

    found = pairs(held)
    assert found[2].passage.object == "kettle"
    for pair in found:
        gold = pair.passage
        assert pair.fact == f"When {gold.activity}. {gold.fact}"
        assert pair.counterfact in [f"When {gold.activity}. {wrong}" for wrong in gold.counterfacts]
    assert pairs([one for one in held if one.object != "kettle"]) is None
    assert pairs([one for one in held if one.object in THINGS[:2]]) is None
    assert pairs([replace(one, fact=held[0].fact) for one in held]) is None
    assert pairs([replace(one, activity="one job") for one in held]) is None
    named = [replace(one, activity=f"filling the kettle {at}") for at, one in enumerate(held)]
    assert pairs(named) is None
