"""The demo and a server from the built wheel, in a network namespace without interfaces."""

import json
import os
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from corpora.outputs import OverwritePolicy
from eval.demo import CLIPS, QUESTIONS, copy_corpus

ROOT = Path(__file__).parents[2]
BUILT_FROM = ("pyproject.toml", "README.md", "LICENSE", "corpora", "indexers", "localization", "rag", "eval")
BUILD = """
import sys
from setuptools.build_meta import build_sdist, build_wheel

folder = sys.argv[1]  # The build writes its own arguments over ours.
print(build_sdist(folder))
print(build_wheel(folder))
"""
NO_NETWORK = ["unshare", "--map-root-user", "--net"]
REACH_OUT = "import socket; socket.create_connection(('127.0.0.1', 9), timeout=2)"
SERVE = """
import errno, fcntl, json, signal, socket, struct, subprocess, sys, urllib.request

with socket.socket() as any_socket:  # SIOCSIFFLAGS: the loopback interface comes up
    fcntl.ioctl(any_socket, 0x8914, struct.pack("16sH14x", b"lo", 0x41))
command = [sys.argv[1], "serve", "--library", "demo/.rag", "--port", "0"]
with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
    address = server.stdout.readline().strip()

    def get(path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(address + path, data, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=300) as answer:
            kind, content = answer.headers["Content-Type"], answer.read()
        return json.loads(content) if kind == "application/json" else kind.partition(";")[0]

    try:
        found = {path: get(path, body) for path, body in json.loads(sys.argv[2]).items()}
        video_id = found["v1/videos"]["videos"][0]["video_id"]
        found["thumbnail"] = get(f"v1/videos/{video_id}/thumbnail")
    finally:
        server.send_signal(signal.SIGINT)
with socket.socket() as any_socket:
    print(json.dumps({"outside": errno.errorcode[any_socket.connect_ex(("192.0.2.1", 80))], "found": found}))
"""


def _run(*command: str | Path, cwd: Path) -> str:
    hidden = ("HF_HUB_OFFLINE", "PYTHONPATH")
    environment = {key: value for key, value in os.environ.items() if key not in hidden}
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Path:
    """`bin` of a fresh environment: our wheel, and the dependencies that this interpreter has."""
    folder = tmp_path_factory.mktemp("wheel")
    tree, home = folder / "tree", folder / "venv"
    tree.mkdir()
    for name in BUILT_FROM:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, tree / name)
    wheel = folder / _run(sys.executable, "-c", BUILD, folder, cwd=tree).splitlines()[-1]
    shutil.rmtree(tree)
    venv.create(home)
    python = home / "bin" / "python"
    pip = (sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps", "--no-index")
    _run(*pip, "--no-compile", wheel, cwd=folder)  # each module at its first import, and of many none
    # The .pth files of a folder that is itself named in one, as an editable install's, are not read.
    where = "import sysconfig; print(sysconfig.get_path('purelib'))"
    packages = Path(_run(python, "-c", where, cwd=folder).strip())
    (packages / "dependencies.pth").write_text(f"{Path(np.__file__).parents[1]}\n")
    places = _run(python, "-c", "import eval, rag; print(eval.__file__, rag.__file__, sep='\\n')", cwd=folder)
    assert all(Path(place).is_relative_to(packages) for place in places.splitlines())
    return home / "bin"


def test_both_archives_have_the_page_and_the_licence_of_what_it_uses(installed: Path) -> None:
    static = ROOT / "rag/server/static"
    page = {str(path.relative_to(ROOT)) for path in static.rglob("*") if path.is_file()}
    assert page
    folder = installed.parents[1]
    (wheel,), (archive,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    in_wheel = set(zipfile.ZipFile(wheel).namelist())
    with tarfile.open(archive) as source:
        in_archive = {name.partition("/")[2] for name in source.getnames()}
    assert page - in_wheel == set()
    assert page - in_archive == set()
    assert any(name.endswith("lit-html@3.3.3/LICENSE") and ".dist-info/" in name for name in in_wheel)


def test_the_namespace_denies_even_loopback() -> None:
    tried = subprocess.run([*NO_NETWORK, sys.executable, "-c", REACH_OUT], capture_output=True, text=True)
    assert "Network is unreachable" in tried.stderr


@pytest.fixture(scope="module")
def demo(installed: Path, tmp_path_factory) -> tuple[Path, Any]:
    """The folder in which the demo was run, and what it printed."""
    folder = tmp_path_factory.mktemp("demo")
    return folder, json.loads(_run(*NO_NETWORK, installed / "rag", "demo", "--json", cwd=folder))


def test_the_demo_sees_hears_and_reads_without_a_network(demo: tuple[Path, Any]) -> None:
    folder, shape = demo
    assert not shape["index"]["problems"]
    for question, given in zip(QUESTIONS, shape["answers"], strict=True):
        assert given["right"], (question, given)
        assert given["sheets"]
        assert all(Path(folder, sheet).read_bytes().startswith(b"\x89PNG") for sheet in given["sheets"])


def test_the_server_searches_and_answers_without_a_network(installed: Path, demo: tuple[Path, Any]) -> None:
    folder, shown = demo
    question = QUESTIONS[0]
    asked = {
        "v1/search": {"query": question.text},
        "v1/ask": {"question": question.text, "options": question.options},
        "v1/health": None,
        "v1/videos": None,
        "openapi.json": None,
        "": None,
        "static/app.js": None,
    }
    printed = _run(
        *NO_NETWORK, installed / "python", "-c", SERVE, installed / "rag", json.dumps(asked), cwd=folder
    )
    shape = json.loads(printed)
    assert shape["outside"] == "ENETUNREACH"
    search, ask, health, _, described, *files = (shape["found"][path] for path in asked)
    assert search["results"]
    assert ask["answer"]["choice"] == shown["answers"][0]["answer"]["choice"]
    assert ask["citations"]
    assert (health["status"], health["models"]) == ("ready", "ready")
    assert set(asked) - {"", "static/app.js", "openapi.json"} <= {path[1:] for path in described["paths"]}
    assert [*files, shape["found"]["thumbnail"]] == ["text/html", "text/javascript", "image/jpeg"]


def test_the_clips_are_copied_once_with_their_sources(tmp_path) -> None:
    clips = copy_corpus(tmp_path / "corpus", OverwritePolicy())
    assert sorted(path.name for path in clips.iterdir()) == list(CLIPS)
    sources = (tmp_path / "corpus" / "SOURCES.md").read_text(encoding="utf-8")
    listed = [line for line in sources.splitlines() if line.startswith("- ")]
    assert all(line.endswith(("; CC0.", "; public domain.")) for line in listed)
    assert not any(f" {asked.expected} " in sources for asked in QUESTIONS if not asked.options)
    (clips / CLIPS[0]).write_bytes(b"mine")
    copy_corpus(tmp_path / "corpus", OverwritePolicy())
    assert (clips / CLIPS[0]).read_bytes() == b"mine"
