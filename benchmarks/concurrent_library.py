"""Two indexing processes, ten readers, removals and compaction on one library at once.

    python -m benchmarks.concurrent_library --minutes 10 [--readers 10] [--seed 0]

Each indexing process changes a folder of its own (a document gets another version, a video other subtitles,
a file goes or comes back) and indexes it with `prune`, over and over; a third process removes files from the
library, a fourth compacts it. Readers open the library, or refresh an open one, and look at all of it: each
video has its clips, its frames and the spans of one version, each document the passages of one version, by
vectors and by words; what is in a third folder, which does not change, is always there and is found by
searches and questions. In the end all is indexed once more, and the library must be that of the
same files indexed alone, row for row. Prints operations and faults; the only error that is none is that
another process writes.
"""

from __future__ import annotations

import importlib
import itertools
import multiprocessing
import os
import random
import signal
import tempfile
import time
import traceback
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.options import option_parser
from rag.errors import LibraryBusy, RagError
from rag.settings import Settings, load_settings
from tests.fakes.synthetic import write_video
from tests.fakes.tiny_models import save_clip
from tests.fakes.tiny_text import write_tiny_text

FOLDERS = ("first", "second")
PARTS = 5
"""Passages of a document."""
SPANS = 3
"""Subtitles of a video."""
PRELOADED = ("av", "cv2", "torch", "lancedb", "pyloudnorm", "scenedetect", "rag.indexing", "rag.library")
MOST = 999


@dataclass
class Result:
    """What the processes did and saw."""

    operations: Counter[str] = field(default_factory=Counter)
    busy: int = 0
    """How often another process was writing."""
    faults: list[str] = field(default_factory=list)

    def add(self, other: Result) -> None:
        """Those of another process, too."""
        self.operations += other.operations
        self.busy += other.busy
        self.faults += other.faults

    def lines(self) -> Iterator[str]:
        """A table of operations, and the number of faults."""
        yield "| operation | done |"
        yield "| --- | ---: |"
        yield from (f"| {name} | {count} |" for name, count in sorted(self.operations.items()))
        yield f"{self.busy} times another process was writing, {len(self.faults)} faults"


def write_subtitles(video: Path, version: int) -> None:
    """Spans that all say the same version."""
    lines = [
        f"{i + 1}\n00:00:0{i},000 --> 00:00:0{i},900\nspan {i} version {version}\n" for i in range(SPANS)
    ]
    video.with_suffix(".srt").write_text("\n".join(lines))


def write_document(path: Path, version: int) -> None:
    """Passages that all say the same version."""
    text = f"of {path.parent.name} {path.stem} version {version}"
    rows = [f'{{"_id": "{i}", "title": "Part {i}", "text": "The part {i} {text}"}}\n' for i in range(PARTS)]
    path.write_text("".join(rows))


class Place:
    """The corpora, the library and its settings."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.corpus = folder / "corpus"
        self.library = folder / "library"
        # Of two copies under two names, the one that is indexed first gives the title.
        seconds = itertools.count(3)
        for name in ("kept", *FOLDERS):
            (self.corpus / name).mkdir(parents=True)
            (folder / "aside" / name).mkdir(parents=True)
            for k in range(1 if name == "kept" else 3):
                video = self.corpus / name / f"video{k}.mp4"
                write_video(video, next(seconds), fps=2)
                write_subtitles(video, 0)
            for k in range(2 if name == "kept" else 6):
                write_document(self.corpus / name / f"document{k}.jsonl", 0)
        kept = self.corpus / "kept" / "video0.srt"
        kept.write_text(kept.read_text().replace("span", "torque wrench span"))
        self.flags = {
            "encoder.text": str(write_tiny_text(folder / "tiny-text")),
            "encoder.image": f"hf:{save_clip(folder / 'tiny-clip')}",
            "ocr.mode": "off",
        }

    def settings(self, library: Path | None = None) -> Settings:
        """Of the library, or of another one."""
        return load_settings(flags={**self.flags, "library": library or self.library})

    def index(self, *names: str, library: Path | None = None, prune: Any = True) -> None:
        """Index some folders."""
        from rag.indexing import index

        folders = [self.corpus / name for name in names]
        index(folders, settings=self.settings(library), prune=prune)


class Worker(ABC):
    """A process that does one thing over and over."""

    def __init__(self, place: Place, name: str, chance: random.Random) -> None:
        self._place, self._name, self._chance = place, name, chance
        self._version = 0
        self._changed = False
        self._library: Any = None

    @abstractmethod
    def step(self) -> str:
        """Do it once; what was done."""


class Indexer(Worker):
    """Changes a folder and indexes it."""

    def step(self) -> str:
        """One run, after a change where the last one was indexed."""
        if not self._changed:
            self._change()
            self._changed = True
        self._place.index(self._name)
        self._changed = False
        time.sleep(self._chance.uniform(0.0, 1.0))  # else no other writer ever has its turn
        return "index"

    def _change(self) -> None:
        chance, folder = self._chance, self._place.corpus / self._name
        aside = self._place.folder / "aside" / self._name
        self._version += 1
        kind = chance.random()
        away = sorted(aside.iterdir())
        if away and kind < 0.5:
            path = chance.choice(away)
            path.rename(folder / path.name)
        elif kind < 0.25 or (kind < 0.5 and not away):
            names = sorted(path for path in folder.iterdir() if path.suffix != ".srt")
            path = chance.choice(names)
            path.rename(aside / path.name)
        elif kind < 0.75:
            documents = sorted(folder.glob("*.jsonl"))
            write_document(chance.choice(documents), self._version)
        else:
            videos = sorted(folder.glob("*.mp4"))
            write_subtitles(chance.choice(videos), self._version) if videos else None


class Remover(Worker):
    """Removes files from the library; the next run indexes them again."""

    def step(self) -> str:
        """One of a file, or of what is there of it."""
        from rag.library import Library

        folder = self._place.corpus / self._chance.choice(FOLDERS)
        paths = sorted(path for path in folder.iterdir() if path.suffix != ".srt")
        with Library.open(settings=self._place.settings()) as library:
            removed = library.remove([self._chance.choice(paths)])
        time.sleep(self._chance.uniform(0.5, 2.0))
        return "remove a file" if removed.paths else "remove nothing"


class Compactor(Worker):
    """Merges fragments, makes indexes and cleans old versions."""

    def step(self) -> str:
        """All maintenance."""
        from rag.store.writing import Writer

        with Writer.open(self._place.library, create=False) as writer:
            writer.maintain(exact_rows=8)
        time.sleep(self._chance.uniform(0.5, 2.0))
        return "compact"


class Looker(Worker):
    """Looks at all of the library."""

    def step(self) -> str:
        """Open or refresh, look, search, and now and then ask."""
        from rag.library import Library

        time.sleep(self._chance.uniform(0.1, 0.8))
        refreshed = self._library is not None and self._chance.random() < 0.5
        if refreshed:
            self._library.refresh()
        else:
            if self._library is not None:
                self._library.close()
            self._library = Library.open(settings=self._place.settings())
        reader = self._library._reader
        look_at_videos(reader, self._place)
        look_at_documents(reader, self._place)
        self._search()
        return "read after a refresh" if refreshed else "read after opening"

    def _search(self) -> None:
        library = self._library
        kept = os.path.realpath(self._place.corpus / "kept" / "video0.mp4")
        hits = library.search("torque wrench", top_k=MOST)
        if not any(getattr(hit, "path", "") == kept for hit in hits):
            raise AssertionError(f"the kept video is not among {len(hits)} hits")
        if self._chance.random() < 0.2 and not library.ask("torque wrench").citations:
            raise AssertionError("an answer without a citation")


def look_at_videos(reader: Any, place: Place) -> None:
    """Each is whole."""
    videos = reader.videos()
    kept = os.path.realpath(place.corpus / "kept" / "video0.mp4")
    if kept not in {each.path for each in videos}:
        raise AssertionError("the kept video is missing")
    for each in videos:
        clips = reader.clips(each.video_id)
        if not clips or len(reader.frames([clip.clip_id for clip in clips])) != len(clips):
            raise AssertionError(f"{each.path}: {len(clips)} clips, or not all of their frames")
        spans = reader.evidence(each.video_id, 0.0, 1e9)
        texts = [span.text for span in spans if span.kind == "subtitle"]
        require_one_version(each.path, texts, SPANS)
    hits = reader.search_clips(np.ones(reader.meta.image_encoder.dim, np.float32), MOST)
    if {hit.key.rpartition(":")[0] for hit in hits} != {each.video_id for each in videos}:
        raise AssertionError("vectors of other videos than there are")


def look_at_documents(reader: Any, place: Place) -> None:
    """Each is whole, by vectors and by words; subtitles are documents while their video is not there."""
    hits = reader.search_passages(np.ones(reader.meta.text_encoder.dim, np.float32), MOST)
    paths = reader.passage_paths([hit.key for hit in hits])
    keys = [hit.key for hit, path in zip(hits, paths, strict=True) if not path.endswith(".srt")]
    found: dict[str, list[str]] = {}
    for passage, path in reader.passages_with_paths(keys):
        found.setdefault(path, []).append(passage.text)
    words = {hit.key for hit in reader.match_passages("part", MOST)}
    if words != set(keys):
        raise AssertionError(f"{len(words)} passages by words, {len(keys)} by vectors")
    kept = {os.path.realpath(path) for path in (place.corpus / "kept").glob("*.jsonl")}
    if not kept <= found.keys():
        raise AssertionError(f"documents that are kept are missing: {kept - found.keys()}")
    for path, texts in found.items():
        # Beside a new version the one before it is there until its last path goes.
        versions = Counter(text.rpartition(" ")[2] for text in texts)
        if set(versions.values()) != {PARTS}:
            raise AssertionError(f"{path}: passages by version {versions}")


def require_one_version(name: str, texts: list[str], count: int) -> None:
    """Raise `AssertionError` for a mixture, or a part."""
    versions = {text.rpartition(" ")[2] for text in texts}
    if len(texts) != count or len(versions) != 1:
        raise AssertionError(f"{name}: {texts}")


def work(
    kind: type[Worker], place: Place, name: str, seed: int, until: tuple[Event, Event], out: Any
) -> None:
    """Steps until the end, one at least; what is raised is counted."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    start, stop = until
    start.wait()
    result = Result()
    worker = kind(place, name, random.Random(seed))
    what = kind.__name__.lower()
    while not (stop.is_set() and result.operations):
        try:
            result.operations[worker.step()] += 1
        except LibraryBusy:
            result.busy += 1
            time.sleep(0.02)
        except (RagError, AssertionError) as error:
            result.faults.append(f"{what}: {type(error).__name__}: {error}")
        except Exception:
            result.faults.append(f"{what}: {traceback.format_exc(limit=-5)}")
    out.put(result)


def concurrent_runs(folder: Path, seconds: float, *, readers: int = 10, seed: int = 0) -> Result:
    """All processes for some seconds, then the comparison."""
    for module in PRELOADED:
        importlib.import_module(module)
    place = Place(folder)
    # Forks of a process in which Lance has not worked yet.
    context = multiprocessing.get_context("fork")
    until, out = (context.Event(), context.Event()), context.SimpleQueue()
    kinds: list[tuple[type[Worker], str]] = [(Indexer, name) for name in FOLDERS]
    kinds += [(Remover, ""), (Compactor, "")]
    kinds += [(Looker, "")] * readers
    processes = [
        context.Process(target=work, args=(kind, place, name, seed * 1000 + n, until, out))
        for n, (kind, name) in enumerate(kinds)
    ]
    for process in processes:
        process.start()
    result = Result()
    try:
        place.index("kept", *FOLDERS)
        until[0].set()
        time.sleep(seconds)
    finally:
        until[1].set()
        until[0].set()
        # A process that was ended from outside sends nothing.
        while any(process.is_alive() for process in processes) or not out.empty():
            if out.empty():
                time.sleep(0.05)
            else:
                result.add(out.get())
    result.faults += [f"a process ended with {ended.exitcode}" for ended in processes if ended.exitcode]
    result.faults += compare(place)
    return result


def compare(place: Place) -> list[str]:
    """Whether the library is that of the same files, indexed alone."""
    from rag.library import Library
    from tests.fakes.library_dump import dump

    alone = place.folder / "alone"
    place.index("kept", *FOLDERS, prune="all")
    place.index("kept", *FOLDERS, library=alone)
    rows, expected = list(dump(place.library)), list(dump(alone))
    found = []
    if rows != expected:
        more, fewer = sorted({*rows} - {*expected}), sorted({*expected} - {*rows})
        found.append(f"rows differ: {[r[:300] for r in more[:3]]} in place of {[r[:300] for r in fewer[:3]]}")
    with Library.open(settings=place.settings()) as library:
        found += [f"doctor: {check.message}" for check in library.doctor() if check.ok is False]
    return found


def main() -> None:
    """Print the tables; the exit status is 1 where anything was wrong."""
    parser = option_parser(__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--readers", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        result = concurrent_runs(Path(name), 60 * given.minutes, readers=given.readers, seed=given.seed)
    for line in result.lines():
        print(line)
    for fault in result.faults[:10]:
        print(fault)
    raise SystemExit(1 if result.faults else 0)


if __name__ == "__main__":
    main()
