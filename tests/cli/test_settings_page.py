"""docs/reference/settings.md says what the settings model says, and its flags are flags."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path

import pytest
from pydantic import SecretStr

from rag.errors import SettingsError
from rag.settings import load_settings

ROOT = Path(__file__).resolve().parents[2]
_SCRIPT = runpy.run_path(str(ROOT / "docs/write_reference.py"))
FLAGS, rows, cli_page = (_SCRIPT[name] for name in ("FLAGS", "rows", "cli_page"))


def test_every_setting_is_explained():
    assert [row.name for row in rows() if not row.about] == []


def test_flags_are_those_of_the_command_line():
    set_by_commands = {
        name
        for source in (ROOT / "rag/_cli").glob("*.py")
        for name in re.findall(r'"([a-z]+\.[a-z_]+)":', source.read_text(encoding="utf-8"))
    }
    assert set_by_commands == {name for name in FLAGS if "." in name}
    page = cli_page()
    assert [flag for flag in FLAGS.values() if f"{flag} " not in page] == []


BELL = "\x07"


def outcome(row) -> str:
    """The error that names the setting, or the value that it took."""
    try:
        held = load_settings()
    except SettingsError as error:
        return str(error)
    for part in row.name.split("."):
        held = getattr(held, part)
    if isinstance(held, tuple):
        return " ".join(held)
    return held.get_secret_value() if isinstance(held, SecretStr) else str(held)


@pytest.mark.parametrize("row", list(rows()), ids=lambda row: row.name)
def test_the_environment_name_sets_the_setting(row, monkeypatch):
    """A control character is taken by a setting that is text, and refused by name by any other."""
    monkeypatch.setenv(row.environment, json.dumps([BELL]) if row.default.startswith("`[") else BELL)
    refused = f"environment variable {row.environment}: setting {row.name}"
    assert outcome(row) == BELL or outcome(row).startswith((f"{refused}: ", f"{refused}.0: "))
