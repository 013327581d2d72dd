"""On-screen text and measurements of a video that is not finished yet, in a file beside the library.

Clips are committed in groups, but a video's evidence and its shots only as a
whole. The OCR text of the committed clips, and the figures of their frames,
are in `progress/<video_id>.jsonl`, one line a clip each, written before the
clips are: a killed run goes on with it, and it is deleted when the video is
ready. Losing it costs time, never rows.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from corpora.records import Evidence
from indexers.shots import FrameFigures
from indexers.versions import FRAME_MEASURES
from rag.indexing.measuring import packed, unpacked


class ProgressLog:
    """The log of one video. Text read with another `fingerprint` than this one, of the stage, is ignored."""

    def __init__(self, folder: Path, video_id: str, fingerprint: str) -> None:
        self._path = folder / "progress" / f"{video_id}.jsonl"
        self._fingerprint = fingerprint
        self.damaged = False
        """Whether the file is damaged: then a resumed run decodes it from its beginning."""
        self.figures: dict[str, FrameFigures] = {}
        self._pixels: dict[str, str] = {}
        self.spans: dict[str, list[Evidence]] = self._load()

    def note_damage(self) -> None:
        """Store that the file is damaged."""
        if not self.damaged:
            self.damaged = True
            self._write([{"damaged": True}])

    def append(self, spans: Mapping[str, Sequence[Evidence]]) -> None:
        """Store the spans of these clips, by clip_id."""
        self._write(
            [
                {"clip": clip_id, "by": self._fingerprint, "spans": [asdict(span) for span in found]}
                for clip_id, found in spans.items()
            ]
        )
        self.spans.update({clip_id: list(found) for clip_id, found in spans.items()})

    def measured(self, clip_id: str, pixels: str) -> bool:
        """Whether the log has the figures of these very pixels; `pixels` is a clip's hash."""
        return self._pixels.get(clip_id) == pixels

    def append_figures(self, figures: Mapping[str, tuple[str, FrameFigures]]) -> None:
        """Store the figures of these clips: by clip_id, the hash of the pixels and the figures."""
        self._write(
            [
                {"clip": clip_id, "of": FRAME_MEASURES, "pixels": pixels, **packed(part)}
                for clip_id, (pixels, part) in figures.items()
            ]
        )
        for clip_id, (pixels, part) in figures.items():
            self.figures[clip_id], self._pixels[clip_id] = part, pixels

    def _write(self, rows: Sequence[Mapping[str, object]]) -> None:
        self._path.parent.mkdir(exist_ok=True)
        with self._path.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)

    def close(self) -> None:
        """Delete the log: the video is ready."""
        self._path.unlink(missing_ok=True)

    def _load(self) -> dict[str, list[Evidence]]:
        try:
            lines = self._path.read_text(encoding="utf-8").splitlines()
        except (FileNotFoundError, UnicodeDecodeError):
            return {}
        spans: dict[str, list[Evidence]] = {}
        for line in lines:
            try:
                row = json.loads(line)
            except json.JSONDecodeError:
                break  # a line that a kill cut short, and nothing behind it
            if "damaged" in row:
                self.damaged = True
            elif "of" in row:
                self._take_figures(row)
            elif row["by"] == self._fingerprint:
                spans[row["clip"]] = [Evidence(**span) for span in row["spans"]]
        return spans

    def _take_figures(self, row: Mapping[str, object]) -> None:
        if row["of"] != FRAME_MEASURES:
            return
        try:
            part = unpacked(row)
        except (ValueError, KeyError, zlib.error):
            return
        clip_id = str(row["clip"])
        self.figures[clip_id], self._pixels[clip_id] = part, str(row["pixels"])
