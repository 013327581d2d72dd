"""`rag mcp --print-config`: what a client's settings need, which starts the server from any folder."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from rag._cli.mcp import PLACES
from tests.fakes.command import run_rag


@pytest.mark.parametrize("client", PLACES)
def test_the_printed_settings_start_the_server_of_this_library(client: str, tmp_path: Path) -> None:
    (tmp_path / "caf\xe9").mkdir()
    done = run_rag(tmp_path, "mcp", "--library", "caf\xe9/.rag", "--print-config", client)
    place = PLACES[client]  # type: ignore[index]  # its keys are the names
    read = tomllib.loads if client == "codex" else json.loads
    (entry,) = read(done.stdout)[place.key].values()
    assert done.returncode == 0
    assert Path(entry["command"]).is_absolute()
    assert entry["args"][-3:] == ["mcp", "--library", str(tmp_path / "caf\xe9/.rag")]
    assert done.stderr == f"rag: add this to {place.file}\n"


@pytest.mark.parametrize("given", [("--config", "own.toml"), ()])
def test_the_printed_settings_name_the_settings_file(given: tuple[str, ...], tmp_path: Path) -> None:
    file = tmp_path / (given[1] if given else "rag.toml")
    file.write_text("seed = 7\n")
    done = run_rag(tmp_path, "mcp", "--library", ".rag", *given, "--print-config", "cursor")
    (entry,) = json.loads(done.stdout)["mcpServers"].values()
    assert entry["args"][-2:] == ["--config", str(file)]
