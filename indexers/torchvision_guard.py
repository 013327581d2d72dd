"""Makes transformers and open_clip importable beside a torchvision whose compiled half does not load.

Some torchvision wheels need CUDA libraries; without them `import torchvision`
ends in "operator torchvision::nms does not exist" and takes every import that
touches it down. Declaring the two operators lets the rest import. Detection
operators themselves stay unavailable, and say so when called.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from typing import Any

SCHEMAS = (
    "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
)
SYMPTOM = "operator torchvision::nms does not exist"

_declared: list[Any] = []
"""The Library object: its operators vanish with it."""


def guard_torchvision() -> bool:
    """Call before the first import of transformers, open_clip or imagebind.

    True where the guard had to step in; False where torchvision is absent or sound.
    """
    if importlib.util.find_spec("torchvision") is None or _declared:
        return bool(_declared)
    try:
        importlib.import_module("torchvision")
    except RuntimeError as error:
        if SYMPTOM not in str(error):
            raise
    else:
        return False
    for module in [name for name in sys.modules if name.partition(".")[0] == "torchvision"]:
        del sys.modules[module]
    import torch

    library = torch.library.Library("torchvision", "FRAGMENT")
    for schema in SCHEMAS:
        library.define(schema)
    _declared.append(library)
    importlib.import_module("torchvision")
    return True
