"""Words read and figures measured so far on the pictures of a video that is not finished, beside the library.

Clips are committed in groups, but a video's evidence and its shots only as a
whole. What OCR has read of the committed clips, and what their frames
measure, waits in `progress/<video_id>.jsonl`, a line a clip each, written
before the clips are: a killed run goes on with it, and it is deleted when the
video is ready. Losing it costs time, never rows.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from corpora.records import Evidence
from indexers.shots import FrameFigures
from indexers.stages import PICTURES
from rag.indexing.measuring import packed, unpacked


class ProgressLog:
    """The log of one video. `fingerprint` is that of the stage: another one starts afresh."""

    def __init__(self, folder: Path, video_id: str, fingerprint: str) -> None:
        self._path = folder / "progress" / f"{video_id}.jsonl"
        self._fingerprint = fingerprint
        self.damaged = False
        """Whether the file has proved to be damaged: then a resumed run decodes it from its beginning."""
        self.figures: dict[str, FrameFigures] = {}
        self._pixels: dict[str, str] = {}
        self.spans: dict[str, list[Evidence]] = self._load()

    def note_damage(self) -> None:
        """Keep in mind that the file is damaged."""
        if not self.damaged:
            self.damaged = True
            self._write([{"damaged": True}])

    def append(self, spans: Mapping[str, Sequence[Evidence]]) -> None:
        """Keep the spans of these clips, by clip_id."""
        self._write(
            [
                {"clip": clip_id, "by": self._fingerprint, "spans": [asdict(span) for span in found]}
                for clip_id, found in spans.items()
            ]
        )
        self.spans.update({clip_id: list(found) for clip_id, found in spans.items()})

    def measured(self, clip_id: str, pixels: str) -> bool:
        """Whether the figures of these very pixels are here."""
        return self._pixels.get(clip_id) == pixels

    def append_figures(self, figures: Mapping[str, tuple[str, FrameFigures]]) -> None:
        """Keep what the frames of these clips measure: by clip_id, the hash of the pixels and the figures."""
        self._write(
            [
                {"clip": clip_id, "of": PICTURES, "pixels": pixels, **packed(part)}
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
        """The video is ready: the log has served."""
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
        if row["of"] != PICTURES:
            return
        try:
            part = unpacked(row)
        except (ValueError, KeyError, zlib.error):
            return
        clip_id = str(row["clip"])
        self.figures[clip_id], self._pixels[clip_id] = part, str(row["pixels"])
