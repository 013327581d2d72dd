"""The contract of a web, run on the mock web with each engine."""

from __future__ import annotations

from pathlib import Path

from corpora.identity import content_hash
from rag.web import EngineKind, PageEntry, TranscriptLine, VideoEntry, Web, open_web, write_catalogue
from rag.web.testing import CONTENT, PAGE, SILENT, VIDEO, WebContract


class TestMockWeb(WebContract):
    engine: EngineKind = "bm25"

    def open_web(self, folder: Path) -> Web:
        folder.mkdir(exist_ok=True)
        file = folder / "kettle.mp4"
        file.write_bytes(CONTENT)
        spoken = (TranscriptLine(1.0, 2.0, "water boils"),)
        videos = [
            VideoEntry(
                "kettle",
                VIDEO,
                "boiling kettle",
                duration=3.0,
                transcript=spoken,
                file=file.name,
                content_id=content_hash(file),
            ),
            VideoEntry("silent", SILENT, "silent kettle", duration=3.0),
        ]
        write_catalogue(folder, videos, [PageEntry("kettles", PAGE, "Kettles", "A kettle boils water.")])
        return open_web(folder, engine=self.engine)
