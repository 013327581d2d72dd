"""What tasks over an indexed library share: progress of making it, and fingerprints."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from eval.task import ProgressCallback
from indexers.ocr import ocr_line
from rag.indexing.report import Progress

if TYPE_CHECKING:
    from pathlib import Path

    from eval.workbench.jobs import CorpusPlan
    from rag.library import Library


def fingerprints(library: Library, complete: bool = True) -> Mapping[str, str]:
    """Fingerprint a library's encoders, its reasoner and the on-screen text that was read while indexing,
    and whether subtitles are left out.

    `complete`: all videos are there. Of a library that further ones may be added to, what reads the text of
    the screen counts, not what was read.
    """
    meta = library.engine.reader.meta
    assert meta is not None, "an opened library has its meta row"
    image = meta.image_encoder
    return {
        "text": meta.text_encoder.fingerprint,
        "image": image.fingerprint if image is not None else "none",
        "reasoner": library.engine.reasoner.fingerprint,
        "screen text": screen_text_hash(library) if complete else ocr_line(library.settings.ocr),
        **({} if library.settings.search.subtitles else {"subtitles": "left out"}),
    }


def screen_text_hash(library: Library) -> str:
    """16 hex digits over all on-screen text of the library's videos."""
    digest, reader = hashlib.sha256(), library.engine.reader
    for video in sorted(reader.videos(), key=lambda video: video.video_id):
        for text in reader.evidence(video.video_id, 0.0, float("inf")):
            if text.kind == "ocr":
                digest.update(f"{video.video_id} {text.start:.3f} {text.text}\n".encode())
    return digest.hexdigest()[:16]


@dataclass
class FileCounter(Progress):
    """A `Progress` that says how many files are done, and passes over notes."""

    say: ProgressCallback
    files: int = 0
    total: int = 0

    def start(self, total_seconds: float, total_files: int) -> None:  # noqa: ARG002 (the protocol's)
        """Begin a count of files."""
        self.files, self.total = 0, total_files

    def file(self, path: str) -> None:  # noqa: ARG002 (the protocol's)
        """Count the file before this one."""
        self.say(self.files, self.total, "files indexed")
        self.files += 1


def rendering(say: ProgressCallback | None) -> Callable[[int, int], None] | None:
    """Report rendered videos; a file is reported when it is finished."""
    return say and (lambda done, total: say(done, total, "videos rendered"))


def render_corpus(folder: Path, plan: CorpusPlan, progress: ProgressCallback | None) -> None:
    """The videos of `plan` in `folder/corpus`; what is complete is kept.

    Raises `UsageError` for a folder with other files.
    """
    from eval.workbench.corpus import check_data_folder, make_corpus

    check_data_folder(folder, "corpus")
    make_corpus(folder / "corpus", plan, say=rendering(progress))


def indexing(say: ProgressCallback | None) -> FileCounter | None:
    """Report the files of `Library.index`; a file is reported when its turn comes."""
    return say and FileCounter(say)
