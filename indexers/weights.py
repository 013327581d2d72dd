"""Model weights, in one place to import from: know them, find them, pull them, verify them."""

from __future__ import annotations

from indexers.models.catalogue import Model, catalogue, known_model
from indexers.models.lookup import (
    AUTO_ORDER,
    Resolution,
    find_weights,
    home_folder,
    readable_size,
    resolve_image_encoder,
)
from indexers.models.pull import Progress, pull
from indexers.models.verify import FileCheck, Lock, ModelRow, Verification, list_models, read_lock, verify

__all__ = [
    "AUTO_ORDER",
    "FileCheck",
    "Lock",
    "Model",
    "ModelRow",
    "Progress",
    "Resolution",
    "Verification",
    "catalogue",
    "find_weights",
    "home_folder",
    "known_model",
    "list_models",
    "pull",
    "read_lock",
    "readable_size",
    "resolve_image_encoder",
    "verify",
]
