"""`POST /v1/exports`: windows of a served library as files to download."""

import json
from typing import Any

import opentimelineio as otio
from starlette.testclient import TestClient

from tests.fakes.served_library import World


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
