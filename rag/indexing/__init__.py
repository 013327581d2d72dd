"""Indexing: from folders of videos and documents to a library."""

from rag.indexing.report import Forecast, IndexReport, Progress
from rag.indexing.run import index

__all__ = ["Forecast", "IndexReport", "Progress", "index"]
