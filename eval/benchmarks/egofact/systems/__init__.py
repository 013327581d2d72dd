"""The systems that EgoFact compares, and the controls beside them; each is made of the same few parts."""

from __future__ import annotations

from eval.benchmarks.egofact.systems.registry import SYSTEMS, open_system, series

__all__ = ["SYSTEMS", "open_system", "series"]
