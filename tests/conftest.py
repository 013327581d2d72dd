"""Rules of every test (no network, no settings of the user, no model hub) and the slow folders."""

import gc
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.fakes.warm_readers import WarmReader

pytest_plugins = ("tests.fakes.object_store",)

HERE = Path(__file__).parent
# Subprocesses, rendered worlds and servers: minutes. `make check` neither imports nor runs them.
SLOW_FOLDERS = ("cli", "e2e", "faults", "guarded", "page")
LONGEST_FIRST = {"page": 0, "e2e": 1, "faults": 2, "contract": 3}
WHOLLY_SLOW = re.compile(rb"^pytestmark = \[?\s*pytest\.mark\.slow\b", re.MULTILINE)
"""Of a module whose tests are all slow, which may import what takes seconds."""
FAST_LANE = "not slow"
TEXT_ENCODER = "RAG_ENCODER__TEXT"
# The fitted reasoner and the reports were made with MiniLM. Whisper takes two seconds to load, and there is
# no speech in what the tests record. Tests of the defaults have neither set.
SETTINGS = {TEXT_ENCODER: "all-MiniLM-L6-v2", "RAG_ASR__MODE": "off"}
LOOPBACK = ("127.", "::1", "localhost")

# A loaded machine is slow, not wrong: no deadline, no health check of the clock.
CLOCKS = (HealthCheck.too_slow, HealthCheck.data_too_large)
# Every run draws other examples, in CI too: what 25 of them miss, the next run may find.
settings.register_profile(
    "ours", deadline=None, suppress_health_check=CLOCKS, max_examples=25, derandomize=False
)
settings.load_profile("ours")


class NetworkDenied(AssertionError):
    """A test, or the code under it, connected to an address outside this machine."""


def _deny_network(event: str, args: tuple[Any, ...]) -> None:
    if event == "socket.connect":
        address = args[1]
        if isinstance(address, tuple) and not str(address[0]).startswith(LOOPBACK):
            raise NetworkDenied(f"connection to {address!r}")
    elif event == "socket.getaddrinfo":
        host = args[0].decode() if isinstance(args[0], bytes) else args[0]
        if host and not str(host).startswith(LOOPBACK):
            raise NetworkDenied(f"name look-up of {host!r}")


sys.addaudithook(_deny_network)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--write-golden", action="store_true", help="write tests/golden/data again")


def pytest_configure() -> None:
    # For fixtures that outlive a module, which are made before its environment.
    for name, value in SETTINGS.items():
        os.environ.setdefault(name, value)
    # Children that a test starts in another folder import from where this process does.
    if path := os.environ.get("PYTHONPATH"):
        os.environ["PYTHONPATH"] = os.pathsep.join(map(os.path.abspath, path.split(os.pathsep)))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """One worker more than cores for the whole suite, which waits for processes, servers and a browser."""
    return None if config.option.markexpr == FAST_LANE else (os.cpu_count() or 1) + 1


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Where files stay together, those of the page do too: the world that it shows takes seconds to make."""
    if config.option.dist != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class ByFile(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return "page" if nodeid.startswith("tests/page/") else super()._split_scope(nodeid)

    return ByFile(config, log)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    if config.option.markexpr != FAST_LANE:
        return None
    if collection_path.name.startswith("test_"):
        return True if WHOLLY_SLOW.search(collection_path.read_bytes()) else None
    return True if collection_path.parent == HERE and collection_path.name in SLOW_FOLDERS else None


def _folder(item: pytest.Item) -> str:
    return item.path.relative_to(HERE).parts[0]


OF_DEFAULTS = ("test_demo_offline", "test_default_models", "test_bundled_indexing")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Nothing of the 850,000 objects that are imported and collected is garbage: not looked through."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(10_000)  # as the command line has it
        gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if _folder(item) in SLOW_FOLDERS:
            item.add_marker(pytest.mark.slow)
    if hasattr(config, "workerinput"):
        # Several workers: the longest files first, so that none of them is left alone with one at the end.
        items.sort(key=lambda item: LONGEST_FIRST.get(_folder(item), len(LONGEST_FIRST)))


@pytest.fixture(scope="module", autouse=True)
def _module_settings(request) -> Iterator[None]:
    """No RAG_* setting of the person who runs the tests, and `SETTINGS` in the slow folders: for a module's
    fixtures too."""
    folder = request.path.relative_to(HERE).parts[0]
    slow = folder in SLOW_FOLDERS
    with pytest.MonkeyPatch.context() as patch:
        if folder != "faults":
            patch.setattr("corpora.video.ipc.start_reader", WarmReader)
        for name in [name for name in os.environ if name.startswith("RAG_")]:
            patch.delenv(name)
        if slow and request.path.stem not in OF_DEFAULTS:
            for name, value in SETTINGS.items():
                patch.setenv(name, value)
        yield


@pytest.fixture(autouse=True)
def _bare_environment(monkeypatch, tmp_path_factory, request) -> None:
    """No hub cache and no models folder of the person who runs the tests."""
    # Not made: a `tmp_path` of each of 5,000 tests costs more than most of them.
    home = tmp_path_factory.getbasetemp() / f"home-{id(request.node)}"
    monkeypatch.setenv("XDG_DATA_HOME", str(home / "xdg-data"))
    # Digests of models and vectors of class names, which take a minute to make: one folder for all workers.
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp().parent / "xdg-cache"))
    monkeypatch.setenv("HF_HOME", str(home / "hf-home"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


@pytest.fixture(scope="session")
def _tiny_text_folder(tmp_path_factory) -> Path:
    from tests.fakes.tiny_text import write_tiny_text

    return write_tiny_text(tmp_path_factory.mktemp("models") / "tiny-text")


@pytest.fixture(scope="module")
def tiny_text(_tiny_text_folder: Path) -> Iterator[None]:
    """A tiny text encoder is the default of this process and its children."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(TEXT_ENCODER, f"bert:{_tiny_text_folder}")
        yield
