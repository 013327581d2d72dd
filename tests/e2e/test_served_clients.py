"""Other people's clients of the server: MCP's own, over stdio and HTTP, and the `openai` package."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from mcp.client import Client

from rag.server.app import build_app
from rag.server.openai import MODEL
from rag.server.security import AccessPolicy
from tests.fakes.served_library import World, build_world, serve, serving

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
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
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
        assert message.content is not None
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
        assert process.stdin is not None
        assert process.stdout is not None
        for message in messages:
            process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        process.stdin.flush()
        first, second = (json.loads(process.stdout.readline())["result"] for _ in range(2))
        rest, _ = process.communicate(timeout=60)
    assert first["serverInfo"]["name"] == "offline-video-rag"
    assert second["structuredContent"]["videos"][0]["video_id"] == world.lamp
    assert (process.returncode, rest) == (0, b"")
