"""Windows is refused: in one line by the command, by an `ImportError` in a program."""

from __future__ import annotations

import subprocess
import sys

import pytest

from corpora import UNSUPPORTED_PLATFORM, require_posix
from rag._cli.main import run


def test_the_command_refuses_windows_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(sys, "argv", ["rag", "stats"])
    with pytest.raises(SystemExit) as stop:
        run()
    assert stop.value.code == 2
    assert capsys.readouterr() == ("", f"rag: {UNSUPPORTED_PLATFORM}\n")


def test_readers_refuse_windows_when_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(ImportError, match="on Windows, run it in WSL"):
        require_posix()


def test_the_command_starts_without_what_windows_lacks() -> None:
    """Else the refusal would be a traceback: `fcntl` and `resource` are made to fail as they do there."""
    code = (
        "import sys; sys.modules.update(fcntl=None, resource=None); import rag._cli.main; "
        "assert not {'rag.store.lock', 'corpora.video.ipc'} & sys.modules.keys(); import rag.library"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert found.returncode == 1
    assert found.stderr.splitlines()[-1] == f"ImportError: {UNSUPPORTED_PLATFORM}"
