"""`rag mcp --print-config`: what a client's settings need, which starts the server from any folder."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.fakes.command import run_rag


@pytest.mark.parametrize("given", [("--config", "own.toml"), ()])
def test_the_printed_settings_start_the_server_of_this_library(
    given: tuple[str, ...], tmp_path: Path
) -> None:
    (tmp_path / "caf\xe9").mkdir()
    file = tmp_path / (given[1] if given else "rag.toml")
    file.write_text("seed = 7\n")
    done = run_rag(tmp_path, "mcp", "--library", "caf\xe9/.rag", *given, "--print-config")
    (entry,) = json.loads(done.stdout)["mcpServers"].values()
    assert (done.returncode, done.stderr) == (0, "")
    assert Path(entry["command"]).is_absolute()
    assert entry["args"][-5:] == ["mcp", "--library", str(tmp_path / "caf\xe9/.rag"), "--config", str(file)]
