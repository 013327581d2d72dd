"""The classes of ImageNet as vectors of the default text encoders: `python -m training.class_vectors`.

So that no machine spends half a minute on them, and images have the same vectors on all machines. Writes
`indexers/imagenet_vectors.safetensors`.
"""

from __future__ import annotations

import numpy as np
from safetensors.numpy import save_file

from indexers.imagenet import ENGLISH, VECTORS, class_vectors
from indexers.registry import open_query_encoder
from indexers.settings import EncoderSettings


def main() -> None:
    """Encode what each encoder is given of the classes, and write it in float16."""
    settings = EncoderSettings()
    encoders = [open_query_encoder(name, settings) for name in (ENGLISH, settings.text)]
    vectors = {each.name: class_vectors(each, settings).astype(np.float16) for each in encoders}
    save_file(vectors, VECTORS)


if __name__ == "__main__":
    main()
