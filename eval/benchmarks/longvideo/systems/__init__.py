"""The systems that are tried on long films, by name."""

from eval.benchmarks.longvideo.systems.registry import SYSTEMS, TRUTHFUL, open_system

__all__ = ["SYSTEMS", "TRUTHFUL", "open_system"]
