"""The realest server there is here: transformers' own, with a tiny random vision-language model."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import numpy as np
import pytest

from rag.reasoners.llm.openai_client import OpenAIClient
from rag.reasoners.prompts import Message, encode_image
from rag.settings import ReasonerSettings
from tests.fakes.tiny_vlm import IMAGE_TOKENS, write_tiny_vlm

ROOT = Path(__file__).resolve().parents[2]
STARTS_WITHIN = 240


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return write_tiny_vlm(tmp_path_factory.mktemp("models") / "tiny-vlm")


@pytest.fixture(scope="module")
def base_url(tmp_path_factory):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = tmp_path_factory.mktemp("serve") / "log.txt"
    offline = {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    with log.open("wb") as said:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.fakes.serve_tiny", str(port)],
            cwd=ROOT,
            env={**os.environ, **offline},
            stdout=said,
            stderr=said,
        )
    try:
        _wait(process, f"http://127.0.0.1:{port}/health", log)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.kill()
        process.wait()


def _wait(process, address, log):
    end = time.monotonic() + STARTS_WITHIN
    while time.monotonic() < end:
        assert process.poll() is None, log.read_text()
        try:
            httpx.get(address, timeout=5)
        except httpx.TransportError:
            time.sleep(0.3)
        else:
            return
    raise AssertionError(f"the server did not start:\n{log.read_text()}")


def settings(model, base_url, **changes) -> ReasonerSettings:
    chosen = {"kind": "openai", "model": str(model), "base_url": base_url, "max_tokens": 16, **changes}
    return ReasonerSettings(**chosen)


def test_images_arrive_and_are_counted_by_the_server(model, base_url):
    client = OpenAIClient(settings(model, base_url))
    black = encode_image(np.zeros((40, 60, 3), np.uint8), 32)
    white = encode_image(np.full((40, 60, 3), 255, np.uint8), 32)
    plain = client.send([Message("user", ("look: ",))], {}, max_tokens=16)
    dark, light, again = (
        client.send([Message("user", ("look: ", shown))], {}, max_tokens=16)
        for shown in (black, white, black)
    )
    assert dark.prompt_tokens == plain.prompt_tokens + IMAGE_TOKENS
    assert 1 <= dark.completion_tokens <= 16
    assert dark == again, "greedy decoding"
    assert dark.text != light.text, "what is in an image makes a difference"
