"""The relevance scale of a library's image encoder, measured again whenever its clips have changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indexers.errors import WeightsInvalid
from indexers.models.catalogue import is_specialised
from indexers.registry import open_text_tower
from rag.errors import RagError
from rag.null_scores import BACKGROUND, centre_of, content_digest, measure_null_scores
from rag.settings import Settings
from rag.store.reading import Reader
from rag.store.records import SCORE_MEASURES, EncoderRef, ScoreCalibration
from rag.store.schema import vectors_table
from rag.store.writing import Writer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rag.store.snapshot import Snapshot


def is_calibrated(s: Snapshot) -> bool:
    """Whether the stored scale was measured by this program on as many clips as there are, or none is due."""
    meta = s.meta
    if meta is None or meta.image_encoder is None or is_specialised(meta.image_encoder.name):
        return True
    held, name = meta.calibration, vectors_table(meta.image_encoder)
    measured = held.image.sizes[-1] if held and held.image else 0
    rows = s.tables[name].count_rows() if name in s.tables else 0
    return held is not None and held.version == SCORE_MEASURES and measured == rows


def calibrate_scores(writer: Writer, settings: Settings) -> str:
    """Store what unrelated texts reach among the library's clips; one line where that failed, else empty.

    Nothing happens where the clips are those that the stored calibration was measured on. A specialised
    encoder has none: the constants of `rag.relevance` were set for it.
    """
    meta = writer.meta
    if meta is None or meta.image_encoder is None or is_specialised(meta.image_encoder.name):
        return ""
    with Reader.open(writer.folder) as reader:
        images = reader.clip_vectors()
        content = content_digest(images[0])
        held = meta.calibration
        if held is not None and (held.version, held.content) == (SCORE_MEASURES, content):
            return ""
        try:
            texts = _background(meta.image_encoder, settings)
        except RagError as error:
            return f"relevance of images: not calibrated ({error})"
        calibration = ScoreCalibration(
            version=SCORE_MEASURES,
            content=content,
            centre=centre_of(texts),
            image=measure_null_scores(texts, *images, reader.frames),
        )
    writer.put_calibration(calibration)
    return ""


def _background(encoder: EncoderRef, settings: Settings) -> NDArray[np.float32]:
    """Unit rows of `BACKGROUND`. Raises `RagError`, as of weights that are not the library's."""
    tower = open_text_tower(encoder.name, settings.encoder)
    if encoder.weights and tower.weights != encoder.weights:
        raise WeightsInvalid(f"the weights of {encoder.name} are not those that this library was made with")
    return tower.encode_named(BACKGROUND)
