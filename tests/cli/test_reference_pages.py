"""docs/reference against the program: the keys in the blocks of json.md, and settings.md with its flags."""

import json
import re
import runpy

import pytest
from pydantic import SecretStr

from rag._cli.main import main
from rag.errors import SettingsError
from rag.library import Library
from rag.settings import load_settings
from tests.fakes.libraries import FixedLibrary
from tests.fakes.sources import ROOT

SCRIPT = runpy.run_path(str(ROOT / "docs/write_reference.py"))
ROWS = [row for _, held in SCRIPT["rows"]() for row in held]
BELL = "\x07"
PAGE = (ROOT / "docs/reference/json.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "command",
    [
        *("ask What?", "search lamp", "localize a.mp4 lamp", "stats", "stats --problems", "remove a.mp4"),
        *("doctor --settings", "models list", "eval list"),
    ],
)
def test_a_document_has_the_keys_of_its_block_and_no_other(
    command: str, tmp_path, monkeypatch, capsys
) -> None:
    monkeypatch.chdir(tmp_path)
    library = FixedLibrary()
    monkeypatch.setattr(Library, "open", lambda *_, **__: library)
    assert main([*command.split(), "--json"]) == 0
    shape = json.loads(capsys.readouterr().out)
    block = PAGE.partition(f'  schema: "{shape["schema"]}"\n')[2].partition("\n}\n")[0]
    keys = dict(re.findall(r"^  (\w+)(\??):", block, re.MULTILINE))
    required = {name for name, optional in keys.items() if not optional}
    assert required <= shape.keys() - {"schema"} <= keys.keys()


def test_every_setting_is_explained_and_those_of_flags_name_theirs():
    assert [row.name for row in ROWS if not row.about] == []
    flags = {row.name: row.flag for row in ROWS if row.flag}
    assert len(flags) == 11
    assert (flags["library"], flags["search.top_k"]) == ("--library", "--top-k")


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
