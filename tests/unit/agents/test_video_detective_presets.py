"""VideoDetective's preset `paper`: each equation as printed, against the preset `tuned`."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

from corpora.records import Evidence
from eval.tasks.libraries import fingerprints
from eval.tasks.longvideo.baselines import LongVideoEnvironment, RetrievedTexts
from eval.tasks.longvideo.dataset import LongInput
from localization.graph import affinity_graph, centred
from rag._cli.agent import VideoDetective as Command
from rag.agents.video_detective.agent import VideoDetective
from rag.agents.video_detective.evidence import weak_evidence
from rag.agents.video_detective.features import Scorer, evidence_items
from rag.agents.video_detective.records import PAPER, PRESETS, TUNED, DetectiveResult, DetectiveSettings
from rag.errors import UsageError
from rag.library import Library
from rag.reasoners.protocol import Reasoner
from rag.reasoners.roles.decompose_facets import Facet
from rag.reasoners.wrappers import ReasonerWithCounts
from rag.records import Question
from rag.settings import load_settings
from tests.fakes.answer_world import BagOfWords, ImageWords
from tests.fakes.detective_world import RuleReasoner, open_world, question

FACET = Facet("A", ("kettle", "torque wrench"), ("the kettle is shown", "a hammer of part 9"))


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    with open_world(tmp_path_factory.mktemp("presets")) as opened:
        yield opened


def run(library: Library, settings: DetectiveSettings) -> DetectiveResult:
    detective = VideoDetective(library, settings, reasoner=cast("Reasoner", RuleReasoner()))
    return detective.investigate("workshop", question())


def scorer(library: Library, settings: DetectiveSettings) -> Scorer:
    features = VideoDetective(library, settings).features("workshop")
    return Scorer(features, [FACET], library.engine.tower, settings)


def test_the_graph_is_of_plain_or_centred_vectors(library: Library) -> None:
    for settings in PRESETS.values():
        features = VideoDetective(library, settings).features("workshop")
        nodes = features.segments.vectors
        rows = nodes if settings is PAPER else centred(nodes)
        expected = affinity_graph(rows, features.segments.centres, alpha=0.6, tau=30.0, neighbours=8)
        assert (features.graph != expected).nnz == 0


def test_the_prior_is_equation_5_in_the_towers_own_space(library: Library) -> None:
    tower = cast("ImageWords", library.engine.tower)
    nodes = VideoDetective(library, PAPER).features("workshop").segments.vectors
    descriptions = [f"something with a kettle at {node}" for node in range(len(nodes))]
    phi, psi = tower.encode_text(FACET.keywords), tower.encode_text(FACET.queries)
    visual = (phi.astype(np.float64) @ nodes.T).max(axis=0)
    semantic = (psi.astype(np.float64) @ tower.encode_text(descriptions).astype(np.float64).T).max(axis=0)
    (prior,) = scorer(library, PAPER).priors(descriptions)
    assert prior == pytest.approx(0.5 * visual + 0.5 * semantic, abs=2e-6)
    (tuned,) = scorer(library, TUNED).priors(descriptions)
    assert np.abs(tuned - prior).max() > 0.05


def test_a_score_is_equations_8_to_10(library: Library) -> None:
    tower = cast("ImageWords", library.engine.tower)
    frequencies, unknown = VideoDetective(library, PAPER).features("workshop").idf
    text = "the kettle and a torque wrench"
    # "wrench" is in no line: a default IDF; the "+ 1" of the usual smoothing is in both.
    shared = sum(frequencies.get(word, unknown) for word in ("kettl", "torqu", "wrench"))
    assert unknown == pytest.approx(math.log(25.0) + 1.0)
    rows = tower.encode_text([text, *FACET.queries]).astype(np.float64)
    semantic = float((rows[1:] @ rows[0]).max())
    expected = 0.3 * min(1.0, shared / 3.0) + 0.7 * semantic
    assert scorer(library, PAPER).by_facet(text, "caption") == [pytest.approx(expected, abs=2e-6)]


def test_a_word_of_every_line_counts_only_in_the_papers_idf(library: Library) -> None:
    idf = {name: VideoDetective(library, chosen).features("workshop").idf for name, chosen in PRESETS.items()}
    assert idf["paper"][0]["part"] == pytest.approx(1.0)
    assert idf["tuned"][0]["part"] == 0.0


def test_psi_is_the_text_tower_of_the_images(library: Library) -> None:
    sentences = cast("BagOfWords", library.engine.text_encoder)
    before = len(sentences.encoded)
    run(library, PAPER)
    assert len(sentences.encoded) == before
    run(library, TUNED)
    assert len(sentences.encoded) > before


def test_without_an_image_encoder_there_is_no_psi(tmp_path: Path) -> None:
    with open_world(tmp_path, images=False) as library, pytest.raises(UsageError, match="text tower"):
        run(library, PAPER)


def test_a_look_is_nine_seconds_in_the_middle_of_a_segment(library: Library) -> None:
    for look in run(library, PAPER).looks:
        assert np.diff(look.times) == pytest.approx(1.0)
        assert len(look.times) == 9
        assert look.times[4] == pytest.approx((look.start + look.end) / 2, abs=1.0)
    for look in run(library, TUNED).looks:
        assert np.diff(look.times) == pytest.approx(0.5)


def test_texts_are_scored_by_source() -> None:
    texts = [
        Evidence("v", 0.0, 2.0, "subtitle", "one"),
        Evidence("v", 1.0, 5.0, "ocr", "SIGN"),
        Evidence("v", 2.0, 4.0, "asr", "two"),
        Evidence("v", 4.0, 6.0, "subtitle", "one"),
    ]
    assert evidence_items(texts, TUNED) == texts
    assert evidence_items(texts, PAPER) == [replace(texts[0], end=6.0, text="one two"), texts[1]]


def test_each_threshold_of_table_6_spreads_the_frames_by_itself() -> None:
    assert weak_evidence([0.9, 0.1, 0.1, 0.1], PAPER) == ""
    for scores in ([0.39, 0.21, 0.1], [0.9, 0.0, 0.0, 0.0, 0.0], [0.9, 0.8, 0.8]):
        assert weak_evidence(scores, PAPER)
    assert weak_evidence([0.39, 0.21, 0.1], TUNED) == weak_evidence([0.9, 0.8, 0.8], TUNED) == ""


def test_four_even_frames_keep_their_places(library: Library) -> None:
    even = {60.0, 180.0, 300.5, 420.5}
    trusting = {"fallback_max_relevance": 0.0, "fallback_mean_relevance": 0.0, "flat_gap": 0.0}
    reserved = run(library, replace(PAPER, **trusting))
    assert not reserved.selected.fallback
    assert even <= set(reserved.frame_times.tolist())
    small = replace(PAPER, frames=8, **trusting)
    assert even <= set(run(library, small).frame_times.tolist())
    assert not even <= set(run(library, replace(small, uniform="free")).frame_times.tolist())


def test_the_command_takes_a_preset() -> None:
    made = {
        name: Command(video=Path("v.mp4"), question="what?", preset=name, looks=4)  # type: ignore[arg-type]  # a key
        for name in PRESETS
    }
    assert {name: one.settings for name, one in made.items()} == {
        name: replace(chosen, base_steps=4) for name, chosen in PRESETS.items()
    }


def test_without_subtitles_nothing_of_them_is_evidence(library: Library) -> None:
    assert VideoDetective(library).features("workshop").texts
    chosen = load_settings(flags={"search.subtitles": False})
    with Library.open(library.engine.reader.folder, settings=chosen) as silent:
        silent.engine.__dict__.update(text_encoder=BagOfWords(), tower=library.engine.tower)
        assert VideoDetective(silent).features("workshop").texts == ()
        assert fingerprints(silent)["subtitles"] == "left out"
        assert "subtitles" not in fingerprints(library)


def test_texts_that_fit_the_question_are_shown_beside_even_frames(library: Library) -> None:
    reasoner = RuleReasoner()
    environment = SimpleNamespace(
        library=library,
        counted=ReasonerWithCounts(reasoner, "counted"),
        ids={"workshop": library.video_id("workshop")},
    )
    asked = Question("q", "The kettle?", ("kettle here", "kettle there"))
    task_input = LongInput(asked.question_id, asked.text, asked.options, "workshop")
    output = RetrievedTexts(cast("LongVideoEnvironment", environment)).solve(task_input)
    (reading,) = reasoner.readings
    shown = {text.text for window in reading.windows for text in window.texts}
    assert shown
    assert all("kettle" in text for text in shown)
    assert len(output.frames_read["workshop"]) == 32
    assert output.evidence["words"]
