"""`rag serve` as a process, and other people's clients of it: MCP's own, and the `openai` package."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from mcp.client import Client

from rag.server.app import build_app
from rag.server.jobs import Jobs
from rag.server.openai import MODEL
from rag.server.security import AccessPolicy
from rag.settings import Settings
from tests.fakes.command import run_rag
from tests.fakes.served_library import World, build_world, serve, serving
from tests.fakes.synthetic import write_video

# A shell's background job ignores SIGINT, and what it starts.
RUN = """
import atexit, os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
if "IMPORTED" in os.environ:
    atexit.register(lambda: open(os.environ["IMPORTED"], "w").write(" ".join(sys.modules)))
from rag._cli.main import run
sys.exit(run())
"""
# What questions, exports, agents and MCP import when they are asked for.
LATER = {
    *("torch", "transformers", "sentence_transformers", "tokenizers", "huggingface_hub", "llama_index"),
    *("scipy", "numba", "matplotlib", "pandas", "sklearn", "nltk"),
    *("lancedb", "lance", "pyarrow", "faiss", "av", "cv2", "PIL", "scenedetect", "onnxruntime"),
    *("mcp", "openai", "httpx", "opentimelineio", "eval", "rag.agents", "rag.indexing"),
}
SERVE = [sys.executable, "-c", RUN, "serve", "--port", "0"]


@contextmanager
def _served(folder: Path, *options: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The process and the line that it prints."""
    env = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache")}
    command = [*SERVE, "--library", str(folder / "library"), *options]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", env=env
    ) as process:
        try:
            yield process, process.stdout.readline().strip()
        finally:
            process.kill()


def _get(address: str, **headers: str) -> tuple[int, Any]:
    try:
        with urllib.request.urlopen(urllib.request.Request(address, headers=headers), timeout=60) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


def test_it_serves_without_a_library_and_ends_with_everything_open(tmp_path, monkeypatch) -> None:
    imported = tmp_path / "imported.txt"
    monkeypatch.setenv("IMPORTED", str(imported))
    with _served(tmp_path) as (process, address):
        # Anything but health waits for the application.
        assert _get(f"{address}nowhere")[0] == 404
        status, health = _get(f"{address}v1/health")
        assert (status, health["status"], health["models"]) == (200, "empty", "cold")
        port = int(address.rstrip("/").rpartition(":")[2])
        half = b"POST /v1/search HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        with socket.create_connection(("127.0.0.1", port)) as open_one:
            open_one.sendall(half + b"Content-Length: 100\r\n\r\n{")
            process.send_signal(signal.SIGINT)
            # 2 s and a little; a connection that stays open would hold it up for ever.
            process.wait(30)
        library = tmp_path / "library"
        assert (process.returncode, process.stderr.read().splitlines()) == (
            130,
            [f"rag: {library}: no library here yet; the page says how to make one", "rag: interrupted"],
        )
    modules = set(imported.read_text().split())
    assert "fastapi" in modules
    assert modules & LATER == set()


def test_another_address_than_loopback_demands_a_token(tmp_path) -> None:
    with _served(tmp_path, "--host", "0.0.0.0") as (_, address):
        base, token = address.split("/?token=")
        here = f"http://127.0.0.1:{base.rpartition(':')[2]}/"
        assert len(token) >= 32
        assert _get(f"{here}v1/health")[0] == 401
        assert _get(f"{here}v1/health", Authorization=f"Bearer {token}")[0] == 200


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (["--token-file", "short.txt"], "rag: short.txt: a token is one word of at least 32 characters"),
        (["--token-file", "none.txt"], "rag: none.txt: the token cannot be read: no such file or directory"),
        (["--allow-index", "none"], "rag: none: no such folder; --allow-index names one that exists"),
    ],
)
def test_what_cannot_be_served_is_one_line(tmp_path, options: list[str], line: str) -> None:
    (tmp_path / "short.txt").write_text("secret\n")
    done = run_rag(tmp_path, "serve", "--port", "0", *options)
    assert (done.returncode, done.stdout, done.stderr.strip()) == (2, "", line)


def test_a_token_of_a_file_is_not_printed(tmp_path) -> None:
    (tmp_path / "token").write_text("t" * 40)
    with _served(tmp_path, "--token-file", str(tmp_path / "token")) as (process, address):
        assert _get(f"{address}v1/health")[0] == 401
        assert _get(f"{address}v1/health", Authorization=f"Bearer {'t' * 40}")[0] == 200
        process.send_signal(signal.SIGINT)
        printed = "".join((address, *process.communicate(timeout=30)))
    assert "interrupted" in printed
    assert "t" * 40 not in printed
    assert "token=" not in printed


def _ended(jobs: Jobs, job_id: str) -> Any:
    limit = time.monotonic() + 300
    while time.monotonic() < limit:
        job = jobs.get(job_id)
        if job["ended"] is not None:
            return job
        time.sleep(0.05)
    raise AssertionError(job)


def test_a_folder_is_forecast_by_a_child_process(tmp_path) -> None:
    """Which is the real command."""
    root = tmp_path / "root"
    root.mkdir()
    write_video(root / "lamp.mp4", 6, subtitles=[(1, 3, "Switch the lamp on.")])
    (root / "odd.mp4").write_text("no video")
    (tmp_path / "secret.txt").write_text("A secret.")
    (root / "link.txt").symlink_to(tmp_path / "secret.txt")
    off = {"mode": "off"}
    settings = Settings.model_validate({"library": tmp_path / "library", "ocr": off, "asr": off})
    jobs = Jobs(settings, tmp_path / "library", [root], lambda: None)
    try:
        job = _ended(jobs, jobs.start_index(str(root), dry_run=True)["job_id"])
    finally:
        jobs.close()
    assert (job["state"], job["error"]) == ("done", None)
    assert job["forecast"]["new_files"] == 1
    assert [Path(problem["path"]).name for problem in job["problems"]] == ["link.txt", "odd.mp4"]
    assert "speech: off" in str(job["result"]["stages"])


TOOLS = 7
ROOT = Path(__file__).parents[2]
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


@pytest.fixture(scope="module")
def world(tmp_path_factory) -> World:
    return build_world(tmp_path_factory.mktemp("world"))


@pytest.fixture
def address(world: World) -> Iterator[str]:
    # An application closes its service when it ends, so each has its own.
    service = serve(world.folder / "library", world.folder / "cache")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        policy = AccessPolicy(port=listener.getsockname()[1])
        with serving(build_app(service, policy), listener) as address:
            yield address


def _use_mcp(server: Any, mode: str) -> tuple[str, int, str]:
    """The protocol's version, the number of tools, and the first id that `list_videos` gives."""

    async def run() -> tuple[str, int, str]:
        async with Client(server, mode=mode) as client:
            tools = (await client.list_tools()).tools
            result = await client.call_tool("list_videos", {"query": "lamp"})
            return client.protocol_version, len(tools), result.structured_content["videos"][0]["video_id"]

    return anyio.run(run)


def test_both_generations_of_mcp_over_http(address: str, world: World) -> None:
    address = f"{address}/mcp"
    assert _use_mcp(address, "auto") == ("2026-07-28", TOOLS, world.lamp)
    assert _use_mcp(address, "legacy") == ("2025-11-25", TOOLS, world.lamp)
    # GET would be a stream without an end; hosts, origins and types of content: tests/unit/server.
    assert [httpx.request(method, address).status_code for method in ("GET", "DELETE")] == [405, 405]


def test_the_openai_client_gets_answers_streamed_and_not(address: str, world: World) -> None:
    import openai  # a second in each of pytest's workers

    with openai.OpenAI(base_url=f"{address}/v1", api_key="none", max_retries=0) as client:
        assert [model.id for model in client.models.list()] == [MODEL]
        question: Any = [{"role": "user", "content": "What do I switch on? (A) the lamp (B) the kettle"}]
        whole = client.chat.completions.create(model=MODEL, messages=question)
        message = whole.choices[0].message
        assert message.content.startswith("**A. the lamp**")
        assert message.annotations is not None
        assert world.lamp in "".join(note.url_citation.url for note in message.annotations)
        chunks = list(client.chat.completions.create(model=MODEL, messages=question, stream=True))
        streamed = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
        assert streamed == message.content
        with pytest.raises(openai.BadRequestError, match="no word and no number"):
            client.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": "?"}])
        with pytest.raises(openai.NotFoundError, match="no such model"):
            client.chat.completions.create(model="gpt-4o", messages=question)


def test_over_stdio_it_answers_until_stdin_is_closed(world: World) -> None:
    library = os.fspath(world.folder / "library")
    words = [sys.executable, "-m", "rag._cli.main", "mcp", "--library", library]
    call = {"name": "list_videos", "arguments": {"query": "lamp"}}
    messages = [
        INITIALIZE,
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": call},
    ]
    with subprocess.Popen(words, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        for message in messages:
            process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        process.stdin.flush()
        first, second = (json.loads(process.stdout.readline())["result"] for _ in range(2))
        rest, _ = process.communicate(timeout=60)
    assert first["serverInfo"]["name"] == "offline-video-rag"
    assert second["structuredContent"]["videos"][0]["video_id"] == world.lamp
    assert (process.returncode, rest) == (0, b"")
