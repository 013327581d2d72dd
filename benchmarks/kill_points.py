"""Named moments of indexing, and a server of `rag` commands that end themselves by SIGKILL at one of them.

Each command is a fork of a process that has imported what takes seconds; LanceDB starts its threads again in
one.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import gc
import importlib
import inspect
import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, NoReturn

from tests.fakes.stopped_runs import COMMITS

STAGES: dict[str, tuple[str, ...]] = {
    "scan": ("rag.indexing.run:scan",),
    "plan": ("rag.indexing.pipeline:make_plan",),
    "load encoders": ("rag.indexing.encoders:open_image_encoder",),
    "fetch": ("rag.indexing.copies:fetch",),
    "probe": ("rag.indexing.pipeline:ContentIndexer._probe",),
    "read subtitles": ("corpora.video.reader:MediaReader.sidecars",),
    "decode": ("rag.indexing.media:cut_clips", "rag.indexing.reembed:decode_clips"),
    "embed": ("rag.indexing.stages:Stages.embed", "rag.indexing.reembed:embed_clip"),
    "read on-screen text": ("rag.indexing.stages:Stages.read_keyframes",),
    "transcribe": ("rag.indexing.stages:Stages.transcribe",),
    "encode text": ("rag.indexing.stages:Stages.encode",),
    "measure frames": ("rag.indexing.media:measure_frames",),
    "store measurements": ("rag.indexing.measuring:Measuring.store",),
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
    return f"{method} {table.partition('_')[0] if table.startswith(('vectors_', 'sounds_')) else table}"


class Run:
    """One `rag` command in a session of its own, until it ends or is killed."""

    def __init__(self, server: subprocess.Popen[str], words: list[str], log: Path, **given: Any) -> None:
        """`given`: `environment` and `aim`."""
        assert server.stdin is not None
        assert server.stdout is not None
        self._seconds, self._struck = log.with_suffix(".seconds"), log.with_suffix(".struck")
        self._struck.unlink(missing_ok=True)
        files = {"log": str(log), "seconds": str(self._seconds), "struck": str(self._struck)}
        given["aim"] = asdict(given["aim"]) if given.get("aim") else None
        server.stdin.write(json.dumps({"words": words, **files, **given}) + "\n")
        server.stdin.flush()
        self._replies = server.stdout
        self.pid = int(self._replies.readline())

    def poll(self) -> bool:
        """Whether it has ended."""
        return bool(select.select([self._replies], [], [], 0)[0])

    def wait(self) -> int:
        """Its exit status once it and its children have ended; a signal's number is negative."""
        try:
            status = int(self._replies.readline())
        except KeyboardInterrupt:
            os.killpg(self.pid, signal.SIGKILL)
            raise
        deadline = time.monotonic() + 30
        while not _is_empty(self.pid):
            if time.monotonic() > deadline:
                raise AssertionError("a child outlived the killed command")
            time.sleep(0.02)
        return status

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


@contextlib.contextmanager
def open_server() -> Iterator[subprocess.Popen[str]]:
    """The process that commands are forks of."""
    # Two threads that sleep while they wait for each other, and do not spin.
    threads = {"OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "PASSIVE"}
    environment = {**os.environ, **threads, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-m", "benchmarks.kill_points"]
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    ) as server:
        try:
            yield server
        finally:
            server.kill()


def serve(lines: Iterable[str]) -> None:
    """Run one command a line; print its process id and, once it ended, its exit status."""
    from indexers.onnx_graph import forbid_telemetry
    from indexers.torch_backend import guard_torchvision

    guard_torchvision()
    forbid_telemetry()
    warnings.filterwarnings("ignore", "lancedb fork support|lance is not fork-safe")
    for module in PRELOADED:
        importlib.import_module(module)
    # It compiles the patterns of all models, 0.4 s, when it opens the first.
    sys.modules["transformers.conversion_mapping"].get_checkpoint_conversion_mapping("clip")
    gc.freeze()
    for line in lines:
        child = os.fork()
        if child == 0:
            _run_command(**json.loads(line))
        print(child, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


def _run_command(
    words: list[str],
    log: str,
    seconds: str,
    struck: str,
    aim: dict[str, Any] | None,
    environment: dict[str, str],
) -> None:
    os.setsid()
    for number, path in enumerate((os.devnull, os.devnull, log)):
        os.dup2(os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC), number)
    os.environ.update(environment)
    fake_readers()
    small_commits()
    Moments(Aim(**aim) if aim else None, Path(seconds), Path(struck)).install()
    from rag._cli.main import run

    sys.argv = ["rag", *words]
    try:
        run()
    except SystemExit as end:
        _end(end.code)
    _end(0)


def _end(code: object) -> NoReturn:
    """Without the end of the interpreter, which would touch, and so copy, all of its objects."""
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(code if isinstance(code, int) else 0 if code is None else 1)


def small_commits() -> None:
    """A commit of each clip: more boundaries in less material."""
    from rag.indexing import media, reembed

    for module in (media, reembed):
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


if __name__ == "__main__":
    serve(sys.stdin)
