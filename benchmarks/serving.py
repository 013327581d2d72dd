"""`rag serve` over 100 hours of video: what HTTP adds to a question, many clients, memory over time.

    python -m benchmarks.serving [--folder FOLDER] [--clients 1,8,64] [--calls 400] [--indexing]
        [--requests 20000] [--json]

The library is that of 100 hours of `benchmarks.synthetic_library` (12,000 clips, 72,000 evidence spans, 1,000
passages), made on top of a few short videos and notes that `rag index` has indexed, so that questions are
encoded by the encoders that are installed and media are there to be shown. It is kept where --folder says.

Three parts, on one server: each question alternately over HTTP and in this process, so that the difference
is the server's; clients that search and ask without a pause, three searches to a question, with --indexing
beside a `rag index` and `rag remove` of a small folder, over and over; and --requests of every kind, some of
them bad, from 8 clients, with the server's memory and open files looked at 40 times. Growth is the median of
the last quarter of these looks less that of the second; the first is warm-up.
"""

from __future__ import annotations

import http.client
import json
import os
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.options import kept_folder, option_parser
from benchmarks.synthetic_library import build, words
from eval.reports.tables import markdown_table
from rag.library import Library
from rag.settings import load_settings
from rag.store.layout import Layout
from rag.store.reading import Reader
from tests.fakes.synthetic import write_video

RAG = [sys.executable, "-m", "rag._cli.main"]
SETTINGS = {"RAG_ENCODER__IMAGE": "bundled", "RAG_OCR__MODE": "off", "RAG_ASR__MODE": "off"}
HOURS, FRAMES = 100, 60
"""Of the library, and a clip."""
LOOKS = 40
"""At the server's memory and open files."""
IDLE_SECONDS = 4.0
"""After which a client connects again; uvicorn closes after 5."""
POOL = 40
"""Questions among the requests of every kind: what is kept of texts, up to 50,000 of them, is no growth."""
CLIENTS = 8
"""That send the requests of every kind."""


@dataclass(frozen=True, slots=True)
class Call:
    """One request, and the statuses that are right for it."""

    kind: str
    path: str
    body: Mapping[str, Any] | bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    right: tuple[int, ...] = (200,)


@dataclass(frozen=True, slots=True)
class Reply:
    """What came of a call; `milliseconds` from the first byte that is sent to the last that is read."""

    kind: str
    milliseconds: float
    error: str


class Client:
    """One connection, which is kept as long as the server keeps it."""

    def __init__(self, address: str) -> None:
        self._connection = http.client.HTTPConnection(address.partition("//")[2].strip("/"), timeout=600)
        self._used = time.perf_counter()

    def send(self, call: Call) -> Reply:
        """The reply; a status that is not right, or a connection that breaks, is its error."""
        data = json.dumps(call.body).encode() if isinstance(call.body, Mapping) else call.body
        headers = {"Content-Type": "application/json", **call.headers} if data is not None else call.headers
        begun = time.perf_counter()
        if begun - self._used > IDLE_SECONDS:
            self._connection.close()
        try:
            self._connection.request("GET" if data is None else "POST", call.path, data, dict(headers))
            answer = self._connection.getresponse()
            answer.read()
            error = "" if answer.status in call.right else f"{call.kind}: {answer.status}"
        except (OSError, http.client.HTTPException) as broken:
            self._connection.close()
            error = f"{call.kind}: {broken!r}"
        self._used = time.perf_counter()
        return Reply(call.kind, 1000 * (self._used - begun), error)


class World:
    """What can be asked: texts, and the ids of videos."""

    def __init__(self, library: Path) -> None:
        with Reader.open(library) as reader:
            videos = reader.videos()
        self.synthetic = [video.video_id for video in videos if video.path.startswith("/v/")]
        self.real = [video.video_id for video in videos if os.path.exists(video.path)]

    def text(self, rng: np.random.Generator) -> str:
        """A text that was not asked before, of words that the library has."""
        return f"{words(rng, 5)[0]} {rng.integers(1 << 40)}"

    def search(self, rng: np.random.Generator) -> Call:
        """Windows and passages for a text."""
        return Call("search", "/v1/search", {"query": self.text(rng)})

    def ask(self, rng: np.random.Generator) -> Call:
        """An open question."""
        return Call("ask", "/v1/ask", {"question": f"what is {self.text(rng)}?"})

    def question(self, rng: np.random.Generator) -> Call:
        """Three searches to one question."""
        return self.ask(rng) if rng.random() < 0.25 else self.search(rng)

    def any(self, rng: np.random.Generator) -> Call:
        """A call of any kind: one in twenty is a question, one of a few, and one in ten is refused."""
        real, synthetic = (str(rng.choice(ids)) for ids in (self.real, self.synthetic))
        media, seconds = f"/v1/videos/{real}", round(float(rng.uniform(0, 8)), 1)
        first = int(rng.integers(5000))
        read = [
            Call("health", "/v1/health"),
            Call("videos", f"/v1/videos?limit=20&text=Video%20{rng.integers(200)}"),
            Call("video", media),
            Call("evidence", f"/v1/videos/{synthetic}/evidence?start={30 * seconds}&limit=100"),
            Call("captions", f"/v1/videos/{real}/captions.vtt"),
            Call("frame", f"{media}/frame?t={seconds}&height=180"),
            Call("thumbnail", f"{media}/thumbnail?t={seconds}"),
            Call("range", f"{media}/file", headers={"Range": f"bytes={first}-{first + 999}"}, right=(206,)),
            Call("conditional", f"{media}/file", headers={"If-None-Match": f'"{real}"'}, right=(304,)),
            Call("page", "/static/app.js"),
        ]
        bad = [
            Call("bad: no such video", f"/v1/videos/{'f' * 32}", right=(404,)),
            Call("bad: no such file", f"/v1/videos/{synthetic}/thumbnail", right=(404,)),
            Call("bad: no JSON", "/v1/search", b"{", right=(422,)),
            Call("bad: unknown key", "/v1/search", {"queries": "x"}, right=(422,)),
            Call("bad: no range", f"{media}/file", headers={"Range": "bytes=99999999-"}, right=(416,)),
            Call("bad: host", "/v1/health", headers={"Host": "example.org"}, right=(421,)),
            Call("bad: site", "/v1/health", headers={"Sec-Fetch-Site": "cross-site"}, right=(403,)),
        ]
        draw = rng.random()
        if draw < 0.05:
            return self.question(np.random.default_rng(rng.integers(POOL)))
        return bad[rng.integers(len(bad))] if draw < 0.15 else read[rng.integers(len(read))]


class ServerProcess:
    """A `rag serve` in its own process, as the kernel sees it."""

    def __init__(self, pid: int, address: str) -> None:
        self.address = address
        self._proc = Path(f"/proc/{pid}")

    def megabytes(self) -> float:
        """Its resident memory."""
        pages = int((self._proc / "statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20

    def open_files(self) -> int:
        """Descriptors that it has open."""
        return len(os.listdir(self._proc / "fd"))

    def cpu_seconds(self) -> float:
        """Processor time of all its threads."""
        fields = (self._proc / "stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def rag(*arguments: str | Path, folder: Path) -> None:
    """Run a command with the settings of the benchmark, at a low priority as a server's job."""
    command = ["nice", "-n", "10", *RAG, *map(str, arguments), "--library", str(folder / "library")]
    done = subprocess.run(
        command, env={**os.environ, **SETTINGS}, cwd=folder, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"rag {arguments[0]}: {done.stderr}")


def make_library(folder: Path) -> None:
    """Short videos and notes through `rag index`, then 100 hours beside them; another small folder."""
    for name, count in (("media", 4), ("beside", 2)):
        (folder / name).mkdir(parents=True, exist_ok=True)
        for number in range(count):
            seconds = 8 + number + count
            write_video(folder / name / f"{number}.mp4", seconds, size=(426, 240))
            lines = [f"{i + 1}\n00:00:0{i},000 --> 00:00:0{i + 1},000\nLine {i}.\n" for i in range(8)]
            (folder / name / f"{number}.srt").write_text("\n".join(lines))
            (folder / name / f"{number}.txt").write_text(f"{name} {number}: bolt {number} is loose.\n")
    rag("index", folder / "media", folder=folder)
    with Reader.open(folder / "library") as reader:
        meta = reader.meta
    assert meta is not None
    build(folder / "library", HOURS, frames=FRAMES, meta=meta)


@contextmanager
def serving(folder: Path) -> Iterator[ServerProcess]:
    """The server, with its models loaded."""
    places = {"XDG_CACHE_HOME": str(folder / "cache")}
    command = [*RAG, "serve", "--port", "0", "--library", str(folder / "library")]
    environment = {**os.environ, **SETTINGS, **places}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            assert process.stdout is not None
            address = process.stdout.readline().strip()
            if not address:
                raise SystemExit("the server did not start")
            Client(address).send(Call("ask", "/v1/ask", {"question": "which bolt is loose?"}))
            yield ServerProcess(process.pid, address)
        finally:
            process.send_signal(signal.SIGINT)


@contextmanager
def indexing(folder: Path) -> Iterator[None]:
    """A small folder is indexed and removed, over and over, to the end of the block."""
    ended = threading.Event()

    def repeat() -> None:
        while not ended.is_set():
            rag("index", folder / "beside", folder=folder)
            rag("remove", folder / "beside", folder=folder)

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(repeat)
        try:
            yield
        finally:
            ended.set()
            running.result()


def overhead(folder: Path, server: ServerProcess, world: World, calls: int) -> list[dict[str, Any]]:
    """Each kind of question over HTTP and in this process by turns: medians, and processor time of each."""
    rng, client, rows = np.random.default_rng(1), Client(server.address), []
    os.environ.update(SETTINGS)
    with Library.open(settings=load_settings(None, {"library": folder / "library"})) as library:
        kinds: dict[str, tuple[Callable[[np.random.Generator], Call], Callable[[Any], Any]]] = {
            "search": (world.search, lambda body: library.search(body["query"])),
            "ask": (world.ask, lambda body: library.ask(body["question"])),
        }
        for make, answer in kinds.values():
            answer(make(rng).body)  # loads the models; the connection is opened after that
        for kind, (make, answer) in kinds.items():
            over, within, cpu = [], [], dict.fromkeys(("http", "process"), 0.0)
            for number in range(calls + 5):
                call, spent = make(rng), server.cpu_seconds()
                reply = client.send(call)
                cpu["http"] += server.cpu_seconds() - spent if number >= 5 else 0
                begun, spent = time.perf_counter(), time.process_time()
                answer(call.body)
                within.append(1000 * (time.perf_counter() - begun))
                cpu["process"] += time.process_time() - spent if number >= 5 else 0
                over.append(reply.milliseconds)
                if reply.error:
                    raise SystemExit(reply.error)
            http_ms, process_ms = statistics.median(over[5:]), statistics.median(within[5:])
            rows.append(
                {
                    "call": kind,
                    "n": calls,
                    "http_p50_ms": round(http_ms, 1),
                    "in_process_p50_ms": round(process_ms, 1),
                    "overhead_p50_ms": round(http_ms - process_ms, 1),
                    "http_cpu_ms": round(1000 * cpu["http"] / calls, 1),
                    "in_process_cpu_ms": round(1000 * cpu["process"] / calls, 1),
                }
            )
    return rows


def send_all(
    server: ServerProcess, make: Callable[[np.random.Generator], Call], clients: int, calls: int, seed: int
) -> Iterator[Reply]:
    """The replies to `calls` calls of so many clients, each of which sends the next once it has its reply."""

    def send(number: int) -> list[Reply]:
        rng, client = np.random.default_rng((seed, number)), Client(server.address)
        return [client.send(make(rng)) for _ in range(max(1, calls // clients))]

    with ThreadPoolExecutor(clients) as pool:
        for replies in pool.map(send, range(clients)):
            yield from replies


def load(server: ServerProcess, world: World, clients: int, calls: int) -> list[dict[str, Any]]:
    """Latency of searches, of questions and of both together."""
    begun, spent = time.perf_counter(), server.cpu_seconds()
    replies = list(send_all(server, world.question, clients, calls, clients))
    took, spent = time.perf_counter() - begun, server.cpu_seconds() - spent
    rows = []
    for kind in ("search", "ask", "both"):
        chosen = [reply for reply in replies if kind in (reply.kind, "both")]
        p50, p95, p99 = np.percentile([reply.milliseconds for reply in chosen], [50, 95, 99])
        rows.append(
            {
                "clients": clients,
                "call": kind,
                "n": len(chosen),
                "per_s": round(len(chosen) / took, 1),
                "p50_ms": round(p50),
                "p95_ms": round(p95),
                "p99_ms": round(p99),
                "p99 / p50": round(p99 / p50, 1),
                "errors": sum(bool(reply.error) for reply in chosen),
                "cpu_ms": round(1000 * spent / len(replies)) if kind == "both" else "",
                "memory_mb": round(server.megabytes()) if kind == "both" else "",
                "files": server.open_files() if kind == "both" else "",
            }
        )
    return rows


def endurance(server: ServerProcess, world: World, requests: int) -> dict[str, Any]:
    """Memory and open files over calls of every kind."""
    replies: list[Reply] = []
    looks = []
    for number in range(LOOKS):
        replies += send_all(server, world.any, CLIENTS, requests // LOOKS, 1000 + number)
        looks.append((server.megabytes(), server.open_files()))
    quarter = LOOKS // 4
    middle, last = (np.median(looks[at : at + quarter], axis=0) for at in (quarter, 3 * quarter))
    return {
        "requests": len(replies),
        "errors": dict(Counter(reply.error for reply in replies if reply.error)),
        "kinds": dict(sorted(Counter(reply.kind for reply in replies).items())),
        "memory_mb": [round(memory, 1) for memory, _ in looks],
        "open_files": [files for _, files in looks],
        "growth_mb": round(float(last[0] - middle[0]), 1),
        "growth_files": float(last[1] - middle[1]),
    }


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Records of the same keys as Markdown."""
    return markdown_table([*rows[0]], [[str(value) for value in row.values()] for row in rows])


def main() -> None:
    """Print the tables, or all figures as JSON."""
    parser = option_parser(__doc__)
    parser.add_argument("--folder", type=Path, default=kept_folder() / "serving")
    parser.add_argument("--clients", type=lambda text: [*map(int, text.split(","))], default=[1, 8, 64])
    parser.add_argument("--calls", type=int, default=400, help="of each number of clients")
    parser.add_argument("--indexing", action="store_true", help="index and remove a small folder beside")
    parser.add_argument("--requests", type=int, default=0, help="of every kind; 0: leave that part out")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    if not Layout(chosen.folder / "library").exists():
        make_library(chosen.folder)
    world = World(chosen.folder / "library")
    figures: dict[str, Any] = {}

    def report(name: str, found: Any) -> None:
        figures[name] = found
        if not chosen.json:
            shown = f"\n{table(found)}" if isinstance(found, list) else json.dumps(found, indent=2)
            print(f"{name}: {shown}", flush=True)

    report("load average of the machine before", f"{os.getloadavg()[0]:.1f}")
    with serving(chosen.folder) as server:
        if chosen.calls:
            report("overhead", overhead(chosen.folder, server, world, chosen.calls // 4))
            for clients in chosen.clients:
                with indexing(chosen.folder) if chosen.indexing else nullcontext():
                    report(f"{clients} clients", load(server, world, clients, chosen.calls))
        if chosen.requests:
            report("requests of every kind", endurance(server, world, chosen.requests))
    if chosen.json:
        print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
