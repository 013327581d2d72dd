"""Answers read out of text by a question-answering model: the real loading path with tiny weights."""

import shutil

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from corpora.records import Passage
from indexers.settings import EncoderSettings
from rag.errors import SettingsError, WeightsInvalid, WeightsMissing
from rag.reasoners import open_reasoner
from rag.reasoners.embedded.rewriting import anchor_event, rewrite_question
from rag.reasoners.extractive import SpanReader, best_span, reader_folder
from rag.reasoners.roles.answers import ANSWER_OPEN
from rag.reasoners.roles.reading import Reading, ReadPassage
from rag.records import Question
from rag.settings import Settings
from tests.fakes.embedded_reasoner import sentences
from tests.fakes.tiny_models import save_reader

# Loads transformers.
pytestmark = pytest.mark.slow

TEXT = "The man holds a lamp. The mirror is made of glass. A dog is in the house."


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return save_reader(tmp_path_factory.mktemp("models") / "tiny-reader")


@pytest.fixture(scope="module")
def reader(folder):
    return SpanReader(folder)


def opened(folder):
    return open_reasoner(Settings(reasoner={"kind": "extractive", "model": str(folder)}), sentences())


def reading(*texts: str) -> Reading:
    question = Question("q", "What is the mirror made of?")
    passages = tuple(
        ReadPassage(Passage(f"p{at}", f"d{at}", "", text), "p.md", 1.0, None) for at, text in enumerate(texts)
    )
    return Reading(question, rewrite_question(question), anchor_event(question), (), passages)


def test_the_best_span_by_hand():
    starts, ends = np.log([1.0, 2.0, 6.0, 1.0]), np.log([1.0, 1.0, 1.0, 4.0])
    # Spans of three tokens: 2 + 2 + 8 + 6 + 24 + 4 = 46 beside the null answer's 1; all but those of the
    # first token alone and of the last alone overlap tokens 2 and 3.
    first, last, confidence = best_span(starts, ends)
    assert (first, last) == (1, 2)
    assert confidence == pytest.approx(44 / 47)


@pytest.mark.parametrize("architecture", ["bert", "roberta"])
def test_the_model_points_to_its_word_also_beyond_its_length(tmp_path, architecture):
    far = "The man holds a lamp. " * 40 + TEXT
    reader = SpanReader(save_reader(tmp_path / "reader", architecture=architecture))
    spans, read = reader.read("What is the mirror made of?", ["The dog is red.", far])
    best = max(spans, key=lambda span: span.confidence)
    assert best.text == 1
    assert "glass" in far[best.start : best.end]
    assert read > len(far.split())


def test_an_open_question_is_answered_with_its_sentence_passage_and_tokens(folder):
    reasoner = opened(folder)
    reply = reasoner.run(ANSWER_OPEN, reading("The dog is red.", TEXT))
    assert "glass" in reply.text
    assert reply.text in TEXT
    assert "“The mirror is made of glass.”" in reply.explanation
    assert (reply.windows, reply.passages) == ((), (1,))
    assert 0 < reply.confidence <= 1
    usage = reasoner.usage()
    assert usage.calls == 1
    assert usage.prompt_tokens > 20
    assert reasoner.run(ANSWER_OPEN, reading("The dog is red.", TEXT)) == reply


def test_a_model_that_prefers_the_null_answer_and_an_empty_reading_answer_nothing(tmp_path, folder):
    silent = opened(save_reader(tmp_path / "silent", null=40.0))
    for reasoner, read in ((silent, reading(TEXT)), (opened(folder), reading())):
        reply = reasoner.run(ANSWER_OPEN, read)
        assert (reply.text, reply.confidence, reply.passages) == ("", 0.0, ())


def test_a_folder_without_a_trained_head_or_without_a_model_is_refused(tmp_path, folder):
    headless = tmp_path / "headless"
    shutil.copytree(folder, headless)
    tensors = load_file(headless / "model.safetensors")
    kept = {name: each for name, each in tensors.items() if not name.startswith("qa_outputs")}
    save_file(kept, headless / "model.safetensors", {"format": "pt"})
    with pytest.raises(WeightsInvalid, match="qa_outputs"):
        SpanReader(headless)
    (headless / "model.safetensors").write_bytes(b"cut off")
    with pytest.raises(WeightsInvalid, match="not a usable question-answering model"):
        SpanReader(headless)
    with pytest.raises(WeightsMissing, match=r"config\.json is missing"):
        reader_folder(str(tmp_path), EncoderSettings())


def test_a_reader_is_found_by_its_name_or_by_none(tmp_path, folder, monkeypatch):
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "cache"))
    settings = EncoderSettings(models_dir=tmp_path / "models")
    with pytest.raises(WeightsMissing, match="rag models pull roberta-base-squad2"):
        reader_folder("", settings)
    here = tmp_path / "models" / "roberta-base-squad2"
    here.parent.mkdir()
    here.symlink_to(folder)
    assert reader_folder("", settings) == reader_folder("roberta-base-squad2", settings) == here
    with pytest.raises(SettingsError, match="is for speech"):
        reader_folder("faster-whisper-tiny", settings)
