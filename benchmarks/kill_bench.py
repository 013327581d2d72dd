"""Corpora and libraries of which runs of indexing are killed, and what is seen of them afterwards."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.kill_points import Aim, Run
from rag.store.layout import Location, open_layout
from tests.fakes.corpus import tiny_settings
from tests.fakes.library_dump import dump
from tests.fakes.object_store import KEYS, make_bucket, serve_buckets
from tests.fakes.synthetic import truncate, write_video
from tests.fakes.tiny_models import save_clip
from tests.fakes.tiny_text import write_tiny_text

ENDED = (0, 3)
"""Exit statuses of a command that did what it could: all, or all but bad files."""


@dataclass(frozen=True, slots=True)
class Step:
    """Commands after which a library is compared, without the path of the corpus or of the library."""

    name: str
    commands: tuple[tuple[str, ...], ...]
    encoder: int = 0


@dataclass
class Result:
    """What a series of kills showed."""

    kills: Counter[str] = field(default_factory=Counter)
    """By stage; a kill within two nested stages counts for both."""
    faults: Counter[str] = field(default_factory=Counter)
    """By stage that a kill hit in the life of a library that was not the undisturbed one in the end."""
    times: int = 0
    lives: int = 0
    messages: list[str] = field(default_factory=list)

    def lines(self) -> Iterator[str]:
        """A table."""
        yield "| stage | kills | faults |"
        yield "| --- | ---: | ---: |"
        for stage, count in sorted(self.kills.items()):
            yield f"| {stage} | {count} | {self.faults[stage]} |"
        yield f"| all ({self.lives} libraries) | {self.times} | {len(self.messages)} |"


PLAIN = (
    Step("index", (("index", "CORPUS"),)),
    Step("change", (("index", "CORPUS", "--prune"),)),
    Step("re-embed", (("index", "CORPUS", "--reembed"),), encoder=1),
)
STORE = PLAIN[:2]


def write_small_corpus(folder: Path) -> None:
    """As `write_corpus`, without its longer and its damaged video: so that a kill costs little."""
    folder.mkdir(parents=True)
    write_video(folder / "long.mp4", 35, fps=2, subtitles=[(1, 4, "The torque wrench clicks.")])
    write_video(folder / "short.mkv", 3, fps=4)
    write_video(folder / "variable.mp4", 4, variable_rate=True)
    write_video(folder / "sound.mp4", 3, fps=4, audio=True)
    write_video(folder / "cut off.mkv", 4)
    truncate(folder / "cut off.mkv", 0.6)
    (folder / "again").mkdir()
    shutil.copy(folder / "short.mkv", folder / "again" / "copy.mkv")
    (folder / "short.srt").write_text("1\n00:00:01,000 --> 00:00:02,000\nHold the iron like a pen.\n")
    (folder / "notes.md").write_text("# Chain oil\n\nUse two drops of oil on every link.\n")
    (folder / "corpus.jsonl").write_text('{"_id": "d1", "title": "Wrench", "text": "Set it to 25 Nm."}\n')


class Bench:
    """The corpus, the encoders, and the libraries of an undisturbed plain run after each step."""

    steps: tuple[Step, ...] = PLAIN

    def __init__(self, folder: Path, server: subprocess.Popen[str], corpora: Path | None = None) -> None:
        """`corpora`: a folder with the same corpus, for files of one recipe differ in their bytes."""
        self.folder = folder
        self.server = server
        self.logs = folder / "logs"
        self.logs.mkdir(parents=True)
        self.environment = tiny_settings(folder)
        text = write_tiny_text(folder / "tiny-text")
        self.environment |= {"RAG_ENCODER__TEXT": str(text), "RAG_VIDEO__DECODERS": "1"}
        self.encoders = (str(folder / "tiny-clip"), str(save_clip(folder / "other-clip", seed=1)))
        first, second = folder / "corpus-0", folder / "corpus-1"
        if corpora is None:
            write_small_corpus(first)
        else:
            shutil.copytree(corpora / "corpus-0", first)
        shutil.copytree(first, second)
        (second / "sound.mp4").unlink()
        (second / "variable.mp4").rename(second / "renamed.mp4")
        (second / "short.srt").write_text("1\n00:00:01,000 --> 00:00:02,000\nTin the tip.\n")
        (second / "more.md").write_text("# Solder\n\nLead-free solder melts at 217 degrees.\n")
        self.profiles: dict[tuple[int, int], dict[str, list[float]]] = {}
        """Durations of the calls of each stage in each command, by step and command."""

    def corpus(self, step: int) -> Path:
        """The corpus as it is at a step, always under one path."""
        path, wanted = self.folder / "corpus", min(step, 1)
        if not path.exists():
            (self.folder / f"corpus-{wanted}").rename(path)
        elif (self.folder / f"corpus-{wanted}").exists():
            path.rename(self.folder / f"corpus-{1 - wanted}")
            (self.folder / f"corpus-{wanted}").rename(path)
        return path

    def run(self, step: int, command: int, library: Location, aim: Aim | None = None) -> Run:
        """Start one command of a step."""
        chosen = self.steps[step]
        corpus = self.place(self.corpus(step))
        words = [corpus if word == "CORPUS" else word for word in chosen.commands[command]]
        environment = {**self.environment, "RAG_ENCODER__IMAGE": f"hf:{self.encoders[chosen.encoder]}"}
        log = self.logs / "command.log"
        words += ["--library", str(library)]
        return Run(self.server, words, log, aim=aim, environment=environment)

    def place(self, corpus: Path) -> str:
        """The corpus as a word of a command."""
        return str(corpus)

    def start(self, step: int) -> Location:
        """A library as it is before a step."""
        library = self.folder / "library"
        shutil.rmtree(library, ignore_errors=True)
        if step:
            shutil.copytree(self.folder / f"after-{step - 1}", library)
        return library

    def finish(self, step: int, library: Location) -> None:
        """Keep a library for the steps that follow."""
        assert isinstance(library, Path)
        shutil.copytree(library, self.folder / f"after-{step}")

    def rows(self, step: int, library: Location) -> list[str]:
        """The dump of a library, without the places of the corpus and the encoders."""
        places = {self.place(self.corpus(step)): "CORPUS", str(self.folder): "FOLDER"}
        lines = list(dump(library))
        for place, name in places.items():
            lines = [line.replace(json.dumps(place)[1:-1], name) for line in lines]
        return lines

    def undisturbed(self) -> None:
        """Run all steps without a kill, and keep library and profile of each."""
        for step, chosen in enumerate(self.steps):
            library = self.start(step)
            for command in range(len(chosen.commands)):
                run = self.run(step, command, library)
                if run.wait() not in ENDED:
                    raise SystemExit(f"{chosen.name}: {self.log()}")
                self.profiles[step, command] = run.seconds()
            self.finish(step, library)

    def flags(self, library: Location) -> dict[str, Any]:
        """Settings that open a library."""
        return {"library": library, "encoder.text": self.environment["RAG_ENCODER__TEXT"]}

    def log(self) -> str:
        """The end of what the last command said."""
        return (self.logs / "command.log").read_text(errors="replace")[-800:]

    def left_over(self, library: Location) -> list[str]:
        """What should not be there after a run."""
        return [str(shard) for shard in open_layout(library).shards()]

    def broken(self, library: Location) -> list[str]:
        """What `rag doctor` finds broken in a library."""
        from rag.library import Library
        from rag.settings import load_settings

        with Library.open(settings=load_settings(flags=self.flags(library))) as opened:
            return [f"{check.name}: {check.message}" for check in opened.doctor() if check.ok is False]

    def failure(self, status: int) -> str:
        """How the last command failed, of its exit status; empty where it did what it could."""
        failed = status not in ENDED or "Traceback" in self.log()
        return f"status {status}: {self.log()}" if failed else ""

    def difference(self, step: int, library: Location, expected: Sequence[str]) -> str:
        """How a library after a step is damaged, has files left over or other rows than `expected`."""
        rows = self.rows(step, library)
        if rows != expected:
            more, fewer = sorted({*rows} - {*expected}), sorted({*expected} - {*rows})
            return f"rows differ: {[r[:300] for r in more[:3]]} in place of {[r[:300] for r in fewer[:3]]}"
        if left := self.left_over(library):
            return f"left over: {left[:3]}"
        return "; ".join(self.broken(library))


class StoreBench(Bench):
    """Corpus and library on an object store. Its errors are on in every second library."""

    steps = STORE

    def __init__(self, folder: Path, server: subprocess.Popen[str], corpora: Path | None = None) -> None:
        super().__init__(folder, server, corpora)
        os.environ.update(KEYS)
        self._buckets = serve_buckets()
        self._bucket = make_bucket(self._buckets.__enter__())
        self._objects = self._bucket.open()
        self._random = random.Random(0)
        self._lives = 0
        self._uploaded = -1
        self.environment |= {**KEYS, **self._bucket.environment, "XDG_CACHE_HOME": str(folder / "cache")}

    def corpus(self, step: int) -> Path:
        """As it is, and in the bucket."""
        path, wanted = super().corpus(step), min(step, 1)
        if wanted != self._uploaded:
            self._objects.delete([found.key for found in self._objects.list("corpus")])
            self._bucket.upload(path, "corpus")
            self._uploaded = wanted
        return path

    def place(self, corpus: Path) -> str:  # noqa: ARG002 (as of a folder)
        """Its address."""
        return f"{self._bucket.url}/corpus"

    def _copy(self, source: str, target: str) -> None:
        self._objects.delete([found.key for found in self._objects.list(target)])
        for found in list(self._objects.list(source)):
            held = self._objects.read(found.key)
            assert held is not None
            self._objects.put(target + found.key.removeprefix(source), held[0])

    def start(self, step: int) -> Location:
        """As it is before a step, with no cache on this machine."""
        self._bucket.intercept = lambda _: None
        self._bucket.requests.clear()
        shutil.rmtree(self.folder / "cache", ignore_errors=True)
        self._copy(f"after-{step - 1}", "library")
        self._lives += 1
        if self._lives % 2 == 0:
            statuses = (500, 503, 429)
            self._bucket.intercept = lambda _: (
                self._random.choice(statuses) if self._random.random() < 0.1 else None
            )
        library: Location = self._bucket.address()
        return library

    def finish(self, step: int, library: Location) -> None:  # noqa: ARG002 (there is one)
        """Kept in the bucket."""
        self._copy("library", f"after-{step}")

    def flags(self, library: Location) -> dict[str, Any]:
        """With those of the store, which fails no more."""
        self._bucket.intercept = lambda _: None
        storage = {"storage.endpoint": self._bucket.endpoint, "storage.allow_http": True}
        return {**super().flags(library), "library": str(library), **storage}

    def rows(self, step: int, library: Location) -> list[str]:
        """Read without errors of the store."""
        self._bucket.intercept = lambda _: None
        return super().rows(step, library)
