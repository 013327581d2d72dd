"""Model weights, in one place to import from: know them, find them, pull them, verify them."""

from __future__ import annotations

from indexers.models.catalogue import Model, catalogue, known_model
from indexers.models.lookup import find_weights, home_folder

__all__ = ["Model", "catalogue", "find_weights", "home_folder", "known_model"]
