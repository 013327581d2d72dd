"""The systems that are tried on long films, by name."""

from eval.tasks.longvideo.systems.registry import SYSTEMS, TRUTHFUL, open_system

__all__ = ["SYSTEMS", "TRUTHFUL", "open_system"]
