"""What a library answers with: its snapshot on disk, encoders, reasoner and decoder, each opened when needed.

Agents and evaluation work with these parts; users have `Library`.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from corpora.records import Frames
from indexers.errors import OTHER_ENCODER, EncoderKind
from indexers.settings import EncoderSettings
from rag.errors import EncoderMismatch
from rag.settings import Settings
from rag.store.reading import Reader

if TYPE_CHECKING:
    from corpora.video.reader import MediaReader
    from indexers.protocol import ImageEncoder, TextEncoder, TextTower
    from rag.reasoners.protocol import Reasoner
    from rag.retrieval import Retriever


class Engine:
    """The parts behind one open library."""

    def __init__(self, reader: Reader, settings: Settings) -> None:
        self.reader = reader
        """The pinned snapshot of the tables: vectors, clips, evidence, passages."""
        self.settings = settings
        self._media: MediaReader | None = None

    @cached_property
    def tower(self) -> TextTower | None:
        """Text into the space of the stored image embeddings; None where the library has none.

        Raises `WeightsMissing`, or `EncoderMismatch` where the weights are not those of the library.
        """
        meta = self.reader.meta
        if meta is None or meta.image_encoder is None:
            return None
        from indexers.registry import open_text_tower

        tower = open_text_tower(meta.image_encoder.name, self._encoder_settings)
        _check_weights("image", meta.image_encoder.weights, tower)
        return tower.keep_rows()

    @cached_property
    def text_encoder(self) -> TextEncoder:
        """Queries into the space of passages and spans. Raises as `tower` does."""
        from indexers.registry import open_query_encoder

        meta = self.reader.meta
        assert meta is not None, "`Library.open` refuses a library without"
        encoder = open_query_encoder(meta.text_encoder.name, self.settings.encoder)
        _check_weights("text", meta.text_encoder.weights, encoder)
        return encoder

    @cached_property
    def image_encoder(self) -> ImageEncoder | None:
        """Images into the space of the stored image embeddings; None where the library has none.

        Raises as `tower` does.
        """
        meta = self.reader.meta
        if meta is None or meta.image_encoder is None:
            return None
        from indexers.registry import open_image_encoder

        encoder = open_image_encoder(meta.image_encoder.name, self._encoder_settings, batch=1)
        _check_weights("image", meta.image_encoder.weights, encoder)
        return encoder

    @property
    def _encoder_settings(self) -> EncoderSettings:
        """Those of the user, with the library's own text encoder: an image encoder may build on its space."""
        meta = self.reader.meta
        own = self.settings.encoder.text if meta is None else meta.text_encoder.name
        return self.settings.encoder.model_copy(update={"text": own})

    @cached_property
    def reasoner(self) -> Reasoner:
        """The reasoner of the settings."""
        from rag.reasoners import open_reasoner

        return open_reasoner(self.settings, self.text_encoder, self.tower)

    def share_models(self, other: Engine) -> None:
        """Use the models that `other` has opened, where both snapshots were made with the same encoders."""
        held, given = self.reader.meta, other.reader.meta
        if held is None or given is None:
            return
        same = (held.image_encoder, held.text_encoder) == (given.image_encoder, given.text_encoder)
        if same and self.settings == other.settings:
            names = ("tower", "text_encoder", "image_encoder", "reasoner")
            vars(self).update({name: vars(other)[name] for name in names if name in vars(other)})

    def new_retriever(self, settings: Settings | None = None) -> Retriever:
        """A retriever for one question; `settings`: of search and localization, default the library's."""
        from rag.retrieval import Retriever

        return Retriever(self.reader, self.tower, self.text_encoder, settings or self.settings)

    @property
    def _reader(self) -> MediaReader:
        if self._media is None:
            from corpora.video.reader import MediaReader

            video = self.settings.video
            self._media = MediaReader(
                video.decoder,
                video.stall_seconds,
                self.settings.storage,
                self.settings.reading,
                video.audio_track,
            )
        return self._media

    def read_audio(self, path: str, start: float, end: float) -> NDArray[np.float32]:
        """The sound of [start, end) seconds of a video file, mono float32 (n,) at 16,000 Hz; empty without
        a sound track. Raises `FileProblem`."""
        return self._reader.audio_between(path, start, end)

    def read_frames(self, path: str, times: NDArray[np.float64], *, zoomed: bool = False) -> Frames:
        """The frame on screen at each of `times`, float64 (n,) seconds, of a video file, upright.

        `zoomed`: at `reasoner.zoom_short_side` instead of `reasoner.image_short_side`. Raises `FileProblem`.
        """
        side = self.settings.reasoner.short_side(zoomed=zoomed)
        return self._reader.frames_at(path, times.tolist(), short_side=side)

    def close(self) -> None:
        """End the decoder and let the snapshot go."""
        if self._media is not None:
            self._media.close()
        self.reader.close()


def _check_weights(kind: EncoderKind, expected: str, encoder: ImageEncoder | TextEncoder) -> None:
    """A query encoder has no batch or backend, so its weights are what is compared."""
    if expected and expected != encoder.weights:
        raise EncoderMismatch(
            f"the {kind} encoder's weights are not those that this library was made with: restore the old "
            f"ones, or {OTHER_ENCODER[kind]}"
        )
