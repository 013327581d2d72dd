"""The page's own files: vendored code as published, imports that resolve, nothing that the policy refuses."""

import hashlib
import re
import tomllib
from pathlib import Path

import pytest

import rag.server
from rag.export.writing import FORMATS

STATIC = Path(rag.server.__file__).parent / "static"
VENDOR = STATIC / "vendor"
MODULES = sorted(path for path in STATIC.rglob("*.js"))
OWN = [path for path in MODULES if not path.is_relative_to(VENDOR)]


def test_vendored_files_are_those_of_the_published_packages() -> None:
    listed = {}
    for package in tomllib.loads((VENDOR / "VENDOR.toml").read_text())["package"]:
        assert package["integrity"].startswith("sha512-")
        assert package["licence"]
        assert "LICENSE" in package["sha256"]
        folder = VENDOR / f"{package['name']}@{package['version']}"
        listed |= {folder / name: digest for name, digest in package["sha256"].items()}
    found = {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in listed}
    assert found == listed
    assert {path for path in VENDOR.rglob("*") if path.is_file()} == {*listed, VENDOR / "VENDOR.toml"}


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.name)
def test_every_import_is_a_file_beside_it(module: Path) -> None:
    imported = re.findall(r"""\bimport\b[^"'`;]*["']([^"'\s]+)["']""", module.read_text())
    assert [name for name in imported if not name.startswith(".")] == []
    assert [name for name in imported if not (module.parent / name).is_file()] == []


@pytest.mark.parametrize("module", OWN, ids=lambda path: path.name)
def test_the_library_s_texts_never_become_markup(module: Path) -> None:
    source = module.read_text()
    assert source.startswith("// @ts-check\n")
    assert not re.search(r"innerHTML|unsafe|insertAdjacentHTML|document\.write|\beval\(|new Function", source)
    assert not re.search(r"[^.\w]style=[\"$]", source)
    assert not re.search(r"https?://|[\"'`]//", source)


def test_the_selects_offer_every_format_of_an_export() -> None:
    offered = re.findall(r'^  \["(\w+)", "', (STATIC / "selects.js").read_text(), re.MULTILINE)
    assert offered == list(FORMATS)
