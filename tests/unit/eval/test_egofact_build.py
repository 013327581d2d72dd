"""The construction by rules on hand-made clips, and the files that it is made from."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from eval.tasks.egofact.construction.annotated import read_release
from eval.tasks.egofact.construction.build import write_benchmark
from eval.tasks.egofact.construction.plan import EmbeddedCheckReader, Source, answers_right
from eval.tasks.egofact.construction.records import BuildSettings, Shape
from eval.tasks.egofact.files import load_egofact
from eval.tasks.egofact.records import FAMILIES
from eval.tasks.egofact.task import LETTERS
from rag.errors import UsageError
from tests.fakes.egofact_world import ONE_HOP, THINGS, WordEncoder, even_prior, passages, words, world

SHAPE = Shape(10, 9, 5, 11, 8)
SETTINGS = BuildSettings()


def _build(out: Path, seed=1, reader=None, source=None):
    return write_benchmark(
        source or Source(world(15), passages(), even_prior()),
        out,
        seed=seed,
        shape=SHAPE,
        name="egofact-test",
        split="test",
        settings=SETTINGS,
        encoder=WordEncoder(),
        reader=reader,
    )


def test_a_build_fills_its_shape_and_reads_back(tmp_path):
    report = _build(tmp_path)
    assert report.shortfalls == ()
    assert len(report.segments) == 10
    assert Counter(query.family for query in report.queries) == {
        family: SHAPE.of(family) for family in FAMILIES
    }
    read = load_egofact(tmp_path)
    assert len(read.queries) == SHAPE.queries
    assert {query.clip_id for query in read.queries} == {clip.clip_id for clip in read.clips}
    manifest = json.loads((tmp_path / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["settings"]["visual_similarity"] == 0.7
    assert manifest["steps"]["selected"]["clips"] == 10
    assert manifest["steps"]["questions"]["local-1hop"] >= 40
    assert len({query.answer for query in read.queries}) == 6


def test_the_checks_ask_with_the_gold_texts_and_without():
    encoder = words()
    reader = EmbeddedCheckReader(encoder)
    query = replace(ONE_HOP, options=THINGS[:6], text="what does the camera wearer put onto the bench?")
    assert answers_right(query, reader, ["the camera wearer puts the hammer onto the bench"])
    assert not answers_right(query, reader, ["the camera wearer puts the towel onto the bench"])
    assert answers_right(replace(query, text="the hammer what?"), reader)
    assert not answers_right(replace(query, text="the towel what?"), reader)


class BlindlyThird:
    """Without texts it always takes the third option."""

    name = "third"

    def __init__(self, *, reads: bool) -> None:
        self._reader = EmbeddedCheckReader(words()) if reads else None

    def answer(self, question, context_texts):
        return self._reader.answer(question, context_texts) if self._reader and context_texts else 2


def test_queries_that_a_blind_reader_gets_are_left_out(tmp_path):
    report = _build(tmp_path, reader=BlindlyThird(reads=True))
    assert sum(report.counts["trivial"].values())
    assert {query.answer for query in report.queries} == set(LETTERS) - {"C"}


def test_a_corpus_that_is_too_small_says_what_it_lacks(tmp_path):
    report = _build(tmp_path, source=Source(world(3), passages(), even_prior()))
    assert report.shortfalls[0] == "clips: 3 of 10; the corpus has no more with a good query"
    manifest = json.loads((tmp_path / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["shortfalls"] == list(report.shortfalls)


SOUNDS = 'video_uid\tclip_start\tclip_end\tclip_text\nu1\t1.25\t2.75\t#C C picks the "cup" from the table\n'


@pytest.mark.parametrize(
    ("name", "text", "fault"),
    [
        ("ego4d.json", "{", "Invalid JSON"),
        ("a.csv", "video_uid\tclip_start\n", "no tab-separated column 'clip_end'"),
        ("a.csv", SOUNDS.replace("1.25", "early"), "a.csv:2: clip_start or clip_end is no number"),
    ],
)
def test_an_event_list_that_cannot_be_read_is_named(tmp_path, name, text, fault):
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=fault):
        read_release(tmp_path, tmp_path / "a.csv", scenarios=())
