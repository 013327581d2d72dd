"""The systems that are tried on long films, by name."""

from eval.benchmarks.longvideo.systems.registry import SYSTEMS, open_system

__all__ = ["SYSTEMS", "open_system"]
