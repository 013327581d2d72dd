"""An image encoder without weights: the mean colour of an image."""

import numpy as np
import pytest
from numpy.typing import NDArray

from indexers.protocol import ImageEncoder
from rag.indexing import encoders, reembedding
from rag.settings import Settings


class MeanColors(ImageEncoder):
    """It knows no words."""

    name, dim, fingerprint, batch, backend, weights = "mean", 3, "2" * 32, 4, "", ""

    def _encode_batch(self, images: NDArray[np.uint8]) -> NDArray[np.float32]:
        return np.asarray(images.mean(axis=(1, 2)) + 1, np.float32)


def index_with(encoder: ImageEncoder, patch: pytest.MonkeyPatch) -> None:
    """It is the image encoder of every library that is to have one."""

    def configured(settings: Settings, **_: object) -> tuple[ImageEncoder | None, str]:
        return (None, "off") if settings.encoder.image == "none" else (encoder, "mean")

    for module in (encoders, reembedding):
        patch.setattr(module, "open_configured_encoder", configured)
    patch.setattr(encoders, "open_held", lambda *_: encoder)
