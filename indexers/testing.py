"""Contract suites that families of image and text encoders of another package pass.

They are part of the package, because a package that extends this one has our wheel and not our tests. A test
module of that package subclasses `ImageEncoderContract` or `TextEncoderContract`, and pytest runs the
inherited tests; the family is found by its entry point, as in use. Nothing here imports pytest.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from indexers.protocol import ImageEncoder, TextEncoder, TextTower
from indexers.registry import (
    choose_backend,
    open_image_encoder,
    open_text_encoder,
    open_text_tower,
    resolve_image_encoder,
)
from indexers.settings import EncoderSettings

BATCH = 8


def probe_images(count: int, height: int = 224, width: int = 398) -> NDArray[np.uint8]:
    """Images of blocks of colour with grain, all different; uint8 (count, height, width, 3)."""
    random = np.random.default_rng(0)
    blocks = random.integers(20, 236, (count, height // 16 + 1, width // 16 + 1, 3))
    images = blocks.repeat(16, axis=1).repeat(16, axis=2)[:, :height, :width]
    return (images + random.integers(-8, 9, images.shape)).astype(np.uint8)


class ImageEncoderContract:
    """What every image encoder does. `encoder` is a value of the setting `encoder.image`."""

    encoder = ""
    settings = EncoderSettings()

    def _open(self, batch: int = BATCH) -> ImageEncoder:
        return open_image_encoder(self.encoder, self.settings, batch=batch)

    def _images(self) -> NDArray[np.uint8]:
        return probe_images(21, 64, 114)

    def test_the_name_resolves(self) -> None:
        """The name resolves to itself, by a look at files alone."""
        settings = self.settings.model_copy(update={"image": self.encoder})
        assert resolve_image_encoder(settings).name == self.encoder

    def test_rows_are_unit_float32(self) -> None:
        """(n, dim), different for different images; no images give no rows."""
        encoder, images = self._open(), self._images()
        rows = encoder.encode_images(images)
        assert rows.dtype == np.float32
        assert rows.shape == (len(images), encoder.dim)
        np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
        assert len(np.unique(rows.round(4), axis=0)) > 1
        assert encoder.encode_images(images[:0]).shape == (0, encoder.dim)

    def test_an_image_has_the_same_bits_in_any_batch(self) -> None:
        """Place and company change no bit: a resumed library equals one that was not stopped."""
        encoder, images = self._open(), self._images()
        together = encoder.encode_images(images)
        order = np.random.default_rng(1).permutation(len(images))
        assert np.array_equal(encoder.encode_images(images[order]), together[order])
        for index in (0, BATCH - 1, BATCH, len(images) - 1):
            assert np.array_equal(encoder.encode_images(images[index : index + 1])[0], together[index])

    def test_two_openings_agree(self) -> None:
        """Bits and fingerprint are equal; another batch changes the fingerprint."""
        first, second, images = self._open(), self._open(), self._images()
        assert first.fingerprint == second.fingerprint
        assert np.array_equal(first.encode_images(images), second.encode_images(images))
        assert self._open(batch=4).fingerprint != first.fingerprint

    def test_the_text_tower_is_that_of_the_encoder(self) -> None:
        """Same dim, same weights; each text encoded alone, and what only some towers have by its default."""
        encoder, tower = self._open(), open_text_tower(self.encoder, self.settings)
        texts = ["a red lamp", "two people at a table"]
        rows = tower.encode_text(texts)
        assert rows.dtype == np.float32
        assert rows.shape == (2, encoder.dim)
        np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
        assert np.array_equal(rows[1:], tower.encode_text(texts[1:]))
        assert (tower.dim, tower.weights) == (encoder.dim, encoder.weights)
        named = tower.encode_named(texts)
        assert named.shape == rows.shape
        np.testing.assert_allclose(np.linalg.norm(named, axis=1), 1, atol=1e-5)
        assert all(tower.looks_like(encoder.encode_images(self._images())))
        assert tower.half_relevant > 0 <= tower.steady_seconds
        assert tower.vocabulary is None or tower.vocabulary.objects

    def test_a_backend_is_chosen(self) -> None:
        """One that runs here, in a fixed batch."""
        backend, batch = choose_backend(self.encoder, self.settings)
        opened = open_image_encoder(self.encoder, self.settings, backend=backend, batch=batch)
        assert (opened.backend, opened.batch) == (backend, batch)


class TextEncoderContract:
    """What every text encoder does. `encoder` is a value of the setting `encoder.text`."""

    encoder = ""
    settings = EncoderSettings()
    texts: Sequence[str] = (
        *("a man is eating food", "The telescope's MIRROR is made of glass!", "", "red " * 600, "a"),
        *("Ünïcode 😀 \n tabs\tand   spaces", "a lone surrogate \ud83d"),
    )

    def _opened(self) -> Sequence[TextTower | TextEncoder]:
        """The encoder of passages, and that of questions."""
        return [open_text_encoder(self.encoder, self.settings, role) for role in ("document", "query")]

    def test_rows_are_unit_float32(self) -> None:
        """(n, dim), different for different texts; no texts give no rows."""
        for encoder in self._opened():
            rows = encoder.encode_text(self.texts)
            assert rows.dtype == np.float32
            assert rows.shape == (len(self.texts), encoder.dim)
            np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
            assert len(np.unique(rows.round(4), axis=0)) > 1
            assert encoder.encode_text([]).shape == (0, encoder.dim)

    def test_a_text_has_the_same_vector_in_any_company(self) -> None:
        """Vectors agree to 1e-5; the same call gives the same bits."""
        for encoder in self._opened():
            together = encoder.encode_text(self.texts)
            assert np.array_equal(encoder.encode_text(self.texts), together)
            alone = np.concatenate([encoder.encode_text([text]) for text in self.texts])
            np.testing.assert_allclose(alone, together, atol=1e-5)

    def test_two_openings_agree(self) -> None:
        """Weights and fingerprint are equal."""
        for first, second in zip(self._opened(), self._opened(), strict=True):
            assert (first.weights, first.fingerprint) == (second.weights, second.fingerprint)
