"""docs/reference/settings.md says what the settings model says, and its flags are flags."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import pytest
from pydantic import SecretStr

from rag.errors import SettingsError
from rag.settings import load_settings

ROOT = Path(__file__).resolve().parents[2]
_SCRIPT = runpy.run_path(str(ROOT / "docs/write_reference.py"))
ROWS = [row for _, held in _SCRIPT["rows"]() for row in held]


def test_every_setting_is_explained_and_those_of_flags_name_theirs():
    assert [row.name for row in ROWS if not row.about] == []
    flags = {row.name: row.flag for row in ROWS if row.flag}
    assert len(flags) == 15
    assert (flags["library"], flags["search.top_k"]) == ("--library", "--top-k")


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


def test_the_environment_name_of_each_sets_it():
    """A control character is taken by a setting that is text, and refused by name by any other."""
    for row in ROWS:
        variable = f"RAG_{row.name.replace('.', '__').upper()}"
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv(variable, json.dumps([BELL]) if row.default.startswith("`[") else BELL)
            found = outcome(row)
        refused = f"environment variable {variable}: setting {row.name}"
        assert found == BELL or found.startswith((f"{refused}: ", f"{refused}.0: "))
