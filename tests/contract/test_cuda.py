"""On CUDA: images with the same bits in any batch, texts near the processor's."""

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from indexers.devices import has_device
from indexers.registry import open_image_encoder, open_text_encoder
from indexers.settings import EncoderSettings
from indexers.testing import probe_images
from tests.fakes.library_dump import dump
from tests.fakes.synthetic import write_video
from tests.fakes.tiny_models import save_clip, save_sentences, save_siglip
from tests.fakes.tiny_text import write_tiny_text

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _card() -> None:
    """Asked when a test begins: torch takes seconds in each of pytest's workers."""
    if not has_device("cuda"):
        pytest.skip("torch sees no CUDA device here")


SETTINGS = EncoderSettings()


@pytest.mark.parametrize("save", [save_clip, save_siglip])
def test_an_image_has_the_same_bits_in_any_batch(save: Any, tmp_path) -> None:
    name, batch = f"hf:{save(tmp_path / 'model')}", 32
    encoder = open_image_encoder(name, SETTINGS, backend="cuda-fp16", batch=batch)
    images = probe_images(75, 64, 114)
    together = encoder.encode_images(images)
    order = np.random.default_rng(1).permutation(len(images))
    assert np.array_equal(encoder.encode_images(images[order]), together[order])
    for place in (0, batch - 1, batch, len(images) - 1):
        assert np.array_equal(encoder.encode_images(images[place : place + 1])[0], together[place])
        assert np.array_equal(encoder.encode_images(images[place:])[0], together[place])
    reference = open_image_encoder(name, SETTINGS, batch=batch).encode_images(images[:batch])
    assert (together[:batch] * reference).sum(axis=1).min() > 0.999


def test_texts_of_any_lengths_are_near_those_of_the_processor(tmp_path) -> None:
    """Of a folder that ONNX Runtime does not read, in whatever batch."""
    folder = str(save_sentences(tmp_path / "model", architecture="roberta", width=128))
    encoder = open_text_encoder(folder, EncoderSettings(device="cuda"))
    texts = [" ".join(["drill", "cat"][place % 2] for place in range(n)) for n in range(81)]
    together = encoder.encode_text(texts)
    assert np.array_equal(encoder.encode_text(texts), together)
    alone = np.concatenate([encoder.encode_text([text]) for text in texts])
    np.testing.assert_allclose(alone, together, atol=1e-5)
    reference = open_text_encoder(folder, EncoderSettings(device="cpu")).encode_text(texts)
    np.testing.assert_allclose(together, reference, atol=1e-4)


def test_a_library_of_cuda_is_the_same_twice_and_goes_on_with_cuda_alone(tmp_path) -> None:
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    write_video(corpus / "first.mp4", 35, fps=4, subtitles=[(1, 4, "The torque wrench clicks.")])
    write_video(corpus / "second.mp4", 7, fps=4)
    (corpus / "notes.md").write_text("# Chain oil\n\nUse two drops of oil on every link.\n")
    environment = os.environ | {
        "RAG_ENCODER__IMAGE": f"hf:{save_clip(tmp_path / 'clip')}",
        "RAG_ENCODER__TEXT": f"bert:{write_tiny_text(tmp_path / 'text')}",
        "RAG_ENCODER__DEVICE": "cuda",
        "RAG_OCR__MODE": "off",
    }
    hidden = environment | {"CUDA_VISIBLE_DEVICES": "", "RAG_ENCODER__DEVICE": "auto"}

    def run(environment: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "rag._cli.main", *words]
        return subprocess.run(command, env=environment, capture_output=True, text=True)

    libraries = [tmp_path / name for name in ("a", "b")]
    for library in libraries:
        done = run(environment, "index", str(corpus), "--library", str(library))
        assert done.returncode == 0, done.stderr
    assert list(dump(libraries[0])) == list(dump(libraries[1]))
    write_video(corpus / "third.mp4", 5, fps=4)
    refused = run(hidden, "index", str(corpus), "--library", str(libraries[0]))
    assert refused.returncode != 0
    assert "rag index FOLDER --reembed" in refused.stderr
