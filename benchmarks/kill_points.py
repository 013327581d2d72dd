"""Named moments of indexing, and `rag` commands that end themselves by SIGKILL at one of them.

Each command is a fork of a process that has imported what takes seconds (`multiprocessing`'s fork server);
LanceDB starts its threads again in one.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import inspect
import json
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from multiprocessing.context import ForkServerContext
from pathlib import Path
from typing import Any, Literal

from tests.fakes.stopped_runs import COMMITS

STAGES: dict[str, tuple[str, ...]] = {
    "scan": ("rag.indexing.run:scan",),
    "plan": ("rag.indexing.pipeline:make_plan",),
    "load encoders": ("rag.indexing.encoders:open_image_encoder",),
    "fetch": ("rag.indexing.copies:fetch",),
    "probe": ("rag.indexing.pipeline:ContentIndexer._probe",),
    "read subtitles": ("corpora.video.reader:MediaReader.sidecars",),
    "decode": ("rag.indexing.media:cut_clips", "rag.indexing.renewing:decode_clips"),
    "embed": ("rag.indexing.media:embed_clip", "rag.indexing.renewing:embed_clip"),
    "read on-screen text": ("rag.indexing.stages:Stages.read_keyframes",),
    "transcribe": ("rag.indexing.stages:Stages.transcribe",),
    "encode text": ("indexers.protocol:TextEncoder.encode_text",),
    "measure frames": ("rag.indexing.media:measure_frames",),
    "store measurements": ("rag.indexing.pipeline:store_measures", "rag.indexing.renewing:store_measures"),
    "progress log": ("rag.indexing.media:ProgressLog.append",),
    "passages": ("rag.indexing.passages:PassageIndexer.add", "rag.indexing.passages:PassageIndexer.flush"),
    "remove": ("rag.indexing.pipeline:remove_missing",),
    "switch encoders": ("rag.store.tables:EncoderSwitch.commit",),
    "maintain": ("rag.store.writing:Writer.maintain",),
    "full-text index": ("rag.store.maintenance:index_text",),
    "compact": ("rag.store.maintenance:compact",),
    "clean": ("rag.store.maintenance:clean",),
    "calibrate": ("rag.indexing.pipeline:calibrate_scores",),
    "rename": ("rag.indexing.pipeline:rename_videos",),
    "merge a shard": ("rag.indexing.shards:ShardedRun._merge",),
    "delete a shard": ("rag.indexing.shards:_discard",),
}
"""By name, the functions and methods of each stage, where they are called."""
PRELOADED = (
    *("av", "cv2", "lance", "lancedb", "onnx.numpy_helper", "onnxruntime", "pyarrow.dataset"),
    *("pyloudnorm", "scenedetect", "tokenizers", "torch", "indexers.onnx_text", "indexers.sentence"),
    *("transformers.models.clip.modeling_clip", "transformers.models.clip.image_processing_pil_clip"),
    *("rag._cli.index", "rag.indexing.pipeline", "rag.indexing.shards"),
)


When = Literal["before", "during", "after"]


@dataclass(frozen=True, slots=True)
class Aim:
    """Where a command ends: at the `nth` call of a stage."""

    stage: str
    nth: int
    when: When
    seconds: float
    """After its beginning, for `during`."""


class Moments:
    """Counts the calls of stages in this process, and ends it at one of them.

    `seconds`: a file for the name and the duration of each call; `struck`: for the stages that a kill ends.
    """

    def __init__(self, aim: Aim | None, seconds: Path, struck: Path) -> None:
        self._aim = aim
        self._seconds = os.open(seconds, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        self._struck = struck
        self._calls: Counter[str] = Counter()
        self._active: Counter[str] = Counter()
        self._lock = threading.RLock()

    def install(self) -> None:
        """Wrap every stage, and every method of the database that writes: with its table, a stage each."""
        for stage, places in STAGES.items():
            for place in places:
                module, _, path = place.partition(":")
                owner: Any = importlib.import_module(module)
                *parts, name = path.split(".")
                for part in parts:
                    owner = getattr(owner, part)
                setattr(owner, name, self._wrapped(getattr(owner, name), lambda *_, s=stage: s))
        from rag.store.database import Database

        for method in (*COMMITS, "drop"):
            label = functools.partial(_commit_of, method)
            setattr(Database, method, self._wrapped(getattr(Database, method), label))

    def _wrapped(self, call: Callable[..., Any], label: Callable[..., str]) -> Callable[..., Any]:
        @functools.wraps(call)
        def function(*given: Any, **named: Any) -> Any:
            with self._call(label(*given)):
                return call(*given, **named)

        @functools.wraps(call)
        def generator(*given: Any, **named: Any) -> Generator[Any, None, Any]:
            steps, stage = call(*given, **named), label(*given)
            with contextlib.closing(steps):
                while True:
                    try:
                        with self._call(stage):
                            item = next(steps)
                    except StopIteration as end:
                        return end.value
                    yield item

        return generator if inspect.isgeneratorfunction(call) else function

    @contextlib.contextmanager
    def _call(self, stage: str) -> Iterator[None]:
        with self._lock:
            self._calls[stage] += 1
            self._active[stage] += 1
            aim = self._aim
            aimed = aim is not None and (stage, self._calls[stage]) == (aim.stage, aim.nth)
        if aimed and aim is not None:
            if aim.when == "before":
                self._kill()
            elif aim.when == "during":
                threading.Thread(target=self._kill_after, args=(aim.seconds,), daemon=True).start()
        begun = time.monotonic()
        try:
            yield
        finally:
            if aimed and aim is not None and aim.when == "after":
                self._kill()
            os.write(self._seconds, f"{json.dumps([stage, time.monotonic() - begun])}\n".encode())
            with self._lock:
                self._active[stage] -= 1

    def _kill_after(self, seconds: float) -> None:
        time.sleep(seconds)
        self._kill()

    def _kill(self) -> None:
        active = sorted(stage for stage, count in self._active.items() if count)
        self._struck.write_text(json.dumps(active))
        os.kill(os.getpid(), signal.SIGKILL)


def _commit_of(method: str, _: object, table: str = "", *__: Any) -> str:
    if not table:
        return method
    return f"{method} {table.partition('_')[0] if table.startswith('vectors_') else table}"


class Run:
    """One `rag` command in a session of its own."""

    def __init__(
        self, words: Sequence[str], log: Path, environment: Mapping[str, str], aim: Aim | None = None
    ) -> None:
        self._seconds, self._struck = log.with_suffix(".seconds"), log.with_suffix(".struck")
        self._struck.unlink(missing_ok=True)
        given = (words, log, self._seconds, self._struck, aim, environment)
        self._process = server().Process(target=_run_command, args=given)
        self._process.start()

    def wait(self) -> int:
        """Its exit status once it and its children have ended; a signal's number is negative."""
        process = self._process
        assert process.pid is not None
        try:
            process.join()
        except KeyboardInterrupt:
            os.killpg(process.pid, signal.SIGKILL)
            raise
        deadline = time.monotonic() + 30
        while not _is_empty(process.pid):
            if time.monotonic() > deadline:
                raise AssertionError("a child outlived the killed command")
            time.sleep(0.02)
        assert process.exitcode is not None
        return process.exitcode

    def struck(self) -> list[str]:
        """The stages that the kill ended."""
        return json.loads(self._struck.read_text()) if self._struck.exists() else []

    def seconds(self) -> dict[str, list[float]]:
        """Durations of the calls of each stage that ended."""
        found: dict[str, list[float]] = {}
        for line in self._seconds.read_text().splitlines():
            stage, seconds = json.loads(line)
            found.setdefault(stage, []).append(seconds)
        return found


def _is_empty(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return True
    return False


@cache
def server() -> ForkServerContext:
    """What commands are forks of."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([*PRELOADED])
    return context


def _run_command(
    words: Sequence[str],
    log: Path,
    seconds: Path,
    struck: Path,
    aim: Aim | None,
    environment: Mapping[str, str],
) -> None:
    os.setsid()
    for number, path in enumerate((os.devnull, os.devnull, str(log))):
        os.dup2(os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC), number)
    os.environ.update(environment)
    fake_readers()
    small_commits()
    Moments(aim, seconds, struck).install()
    from rag._cli.main import run

    sys.argv = ["rag", *words]
    run()


def small_commits() -> None:
    """A commit of each clip: more boundaries in less material."""
    from rag.indexing import media, renewing

    for module in (media, renewing):
        module.CLIPS_PER_COMMIT = 1  # type: ignore[attr-defined]  # imported names


def fake_readers() -> None:
    """Text on the screen and speech as numbers, by which equal frames and sounds give equal texts."""
    from indexers.asr import Asr
    from indexers.ocr import Ocr
    from indexers.screen import TextBox
    from rag.indexing import pipeline, stages

    class Colours(Ocr):
        def read_clip(self, images: Iterable[Any]) -> Iterator[tuple[TextBox, ...]]:
            return ((TextBox(0, 0, 9, 9, f"colour {image.mean() // 8:.0f}", 1.0),) for image in images)

    class Loudness(Asr):
        def transcribe(self, chunks: Iterable[Any]) -> Iterator[tuple[float, float, str]]:
            begun = 0.0
            for chunk in chunks:
                end = begun + len(chunk) / 16_000
                yield begun, end, f"loudness {100 * abs(chunk).mean():.0f}"
                begun = end

    vars(pipeline).update(open_ocr=lambda _: Colours(None, "colours", 0.0, "on-screen text: on"))
    vars(stages).update(
        open_asr=lambda *_: Loudness(None, "", "loudness", "speech: on", lambda _: ()),
        asr_line=lambda *_: "speech: on",
    )
