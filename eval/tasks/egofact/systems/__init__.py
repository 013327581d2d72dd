"""The systems that EgoFact compares, and the controls beside them; each is made of the same few parts."""

from __future__ import annotations

from eval.tasks.egofact.systems.registry import CONTROLS, SYSTEMS, open_system

__all__ = ["CONTROLS", "SYSTEMS", "open_system"]
