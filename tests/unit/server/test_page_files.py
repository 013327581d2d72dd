"""The page's own files, and `POST /v1/exports`: windows of a served library as files to download."""

import hashlib
import json
import re
import tomllib
from pathlib import Path
from typing import Any

import opentimelineio as otio
import pytest
from starlette.testclient import TestClient

import rag.server
from rag.export.writing import FORMATS
from tests.fakes.served_library import World

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


def _export(client: TestClient, form: str, *windows: dict[str, Any], **more: Any) -> Any:
    return client.post("/v1/exports", json={"format": form, "selects": list(windows), **more})


def test_a_title_in_any_script_names_the_file(client: TestClient, world: World) -> None:
    answer = _export(client, "vtt", {"citation": f"{world.lamp}@1-2"}, title="日本: été/2")
    assert answer.headers["content-disposition"] == (
        "attachment; filename*=utf-8''%E6%97%A5%E6%9C%AC_%C3%A9t%C3%A9_2.vtt"
    )


def test_windows_become_a_timeline_to_download(client: TestClient, world: World) -> None:
    windows = (
        {"citation": f"{world.lamp}@1-2.5", "name": "the lamp", "score": 0.5},
        {"citation": f"{world.kettle}@2-3", "note": "it boils"},
    )
    answer = _export(client, "otio", *windows, title="My cut: 1/2", handles=0.5)
    assert answer.status_code == 200
    assert answer.headers["content-disposition"] == 'attachment; filename="My_cut_1_2.otio"'
    made = otio.adapters.read_from_string(answer.text, "otio_json")
    clips = list(made.tracks[0].find_clips())
    assert [clip.name for clip in clips] == ["the lamp", "caf\ufffd kettle"]
    assert clips[0].metadata["rag"]["citation"] == f"{world.lamp}@1.000-2.500"
    assert clips[0].markers[0].comment == "subtitle: Switch the <b>lamp</b> on."
    assert clips[1].markers[0].comment == "it boils"
    # Ten frames a second are counted at 30.
    assert clips[0].source_range.start_time.value == 15
    done = json.loads(answer.headers["rag-export"])
    assert (done["selects"], done["skipped"], len(done["notes"])) == (2, [], 2)


def test_what_cannot_be_exported_is_a_problem(client: TestClient, world: World) -> None:
    window = {"citation": f"{world.lamp}@0-1"}
    refused = {
        400: [
            _export(client, "edl", {"citation": f"{world.lamp}@2-1"}),
            _export(client, "edl", {"citation": f"{world.lamp}@500-501"}),
            _export(client, "clips", *[{"citation": f"{world.lamp}@0-6"}] * 301),
        ],
        404: [
            _export(client, "edl", {"citation": "nothing@1-2"}),
            _export(client, "edl", window, {"citation": f"{world.gone}@1-2"}),
        ],
        422: [
            _export(client, "mp4", window),
            _export(client, "edl"),
            _export(client, "edl", {**window, "start": 1}),
            _export(client, "edl", {"citation": f"{world.lamp_file}@0-1"}),
            _export(client, "edl", window, handles=1e9),
        ],
    }
    for status, answers in refused.items():
        assert [answer.status_code for answer in answers] == [status] * len(answers)
        assert {answer.headers["content-type"] for answer in answers} == {"application/problem+json"}
