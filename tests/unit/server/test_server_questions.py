"""`/v1/search`, `/v1/ask`, `/v1/localize` over a real store with made-up vectors."""

import base64
import io
import json
import os
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from starlette.testclient import TestClient

from rag.errors import EncoderMismatch
from rag.library import Library
from rag.server.problems import MOST_KEYS
from rag.server.questions import proving_line, with_proof
from rag.server.renditions import decode_image
from rag.store.error_mapping import TableGone
from tests.fakes.served_library import SECONDS, World


@pytest.mark.parametrize(
    ("body", "kinds"),
    [
        ({"query": "kettle", "kind": "passage"}, {"passage"}),
        ({"query": "kettle", "kind": "video"}, {"video"}),
        ({"query": "kettle", "filter": {"paths": ["*.pdf"]}, "kind": "passage"}, {"passage"}),
        ({"query": "kettle", "filter": {"videos": []}, "kind": "video"}, set()),
        ({"query": "kettle", "filter": {"videos": ["0" * 32]}}, {"video"}),
    ],
)
def test_a_search_is_filtered(client: TestClient, body: dict[str, Any], kinds: set[str]) -> None:
    results = client.post("/v1/search", json=body).json()["results"]
    assert {hit["kind"] for hit in results} == kinds


def test_a_filter_on_shots_alone_lists_what_meets_it(client: TestClient, world: World) -> None:
    body = {"filter": {"tone": "cold", "videos": [world.lamp]}, "top_k": 5}
    shape = client.post("/v1/search", json=body).json()
    (hit,) = shape["results"]
    assert (hit["start"], hit["end"], hit["shot"]["tone"]) == (3.0, 6.0, "cold")
    assert (shape["query"], "matched" in shape) == (None, False)


def test_a_moment_finds_the_moments_that_look_like_it_and_not_itself(
    client: TestClient, world: World
) -> None:
    shape = client.post("/v1/search", json={"like": f"{world.kettle}@1"}).json()
    assert shape["query"] is None
    assert [hit["video_id"] for hit in shape["results"]] == [world.gone, world.lamp]
    assert shape["results"][0]["relevance"] > 0.9 > shape["results"][1]["relevance"]
    beyond = client.post("/v1/search", json={"like": f"{world.kettle}@99"})
    assert (beyond.status_code, "the video is 6 s long" in beyond.json()["detail"]) == (400, True)


def _base64(image: Image.Image, form: str) -> str:
    out = io.BytesIO()
    image.save(out, form)
    return base64.b64encode(out.getvalue()).decode("ascii")


def test_an_image_finds_the_moments_that_look_like_it(client: TestClient, world: World, monkeypatch) -> None:
    given: list[Any] = []

    class Encoder:
        def encode_images(self, images: Any) -> Any:
            given.append(images.shape)
            with world.service.library() as library:
                return library.engine.tower.image(["kettle"])[None]

    with world.service.library() as library:
        monkeypatch.setitem(vars(library.engine), "image_encoder", Encoder())
    image = _base64(Image.new("RGBA", (40, 30), "red"), "PNG")
    shape = client.post("/v1/search", json={"image": image, "top_k": 2}).json()
    assert given == [(1, 30, 40, 3)]
    assert {hit["video_id"] for hit in shape["results"]} == {world.kettle, world.gone}


def test_what_is_searched_by_images_in_a_library_without_them_is_a_problem(
    client: TestClient, world: World, monkeypatch
) -> None:
    with world.service.library() as library:
        for name in ("tower", "image_encoder"):
            monkeypatch.setitem(vars(library.engine), name, None)
    image = _base64(Image.new("L", (8, 8)), "PNG")
    for body in ({"like": f"{world.kettle}@1"}, {"image": image}):
        answer = client.post("/v1/search", json=body)
        assert (answer.status_code, answer.json()["type"]) == (409, "urn:rag:problem:library-error")
        assert "rag models pull" in answer.json()["detail"]


def test_an_image_is_scaled_and_anything_else_is_refused(client: TestClient) -> None:
    assert decode_image(_base64(Image.new("L", (3000, 1500)), "JPEG")).shape == (512, 1024, 3)
    for odd in ("x", base64.b64encode(b"GIF89a").decode(), _base64(Image.new("L", (8, 8)), "GIF")):
        answer = client.post("/v1/search", json={"image": odd})
        assert (answer.status_code, answer.json()["type"]) == (400, "urn:rag:problem:question-error")


def test_an_image_of_too_many_pixels_is_refused_by_its_header(client: TestClient) -> None:
    small = base64.b64decode(_base64(Image.new("L", (8, 8)), "PNG"))
    for side in (5_000, 20_000):
        header = b"IHDR" + side.to_bytes(4, "big") * 2 + small[24:29]
        data = small[:12] + header + zlib.crc32(header).to_bytes(4, "big") + small[33:]
        answer = client.post("/v1/search", json={"image": base64.b64encode(data).decode()})
        assert (answer.status_code, answer.json()["type"]) == (400, "urn:rag:problem:question-error")
        assert "pixels" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        *[({}, 400), ({"query": "..."}, 400), ({"query": "x", "like": "y@1"}, 400)],
        *[({"like": "y"}, 400), ({"like": "y@1"}, 404), ({"like": "kettle.mp4@1"}, 404)],
        *[({"query": "x", "top-k": 3}, 422), ({"query": "\ud800"}, 422)],
        *[({"query": "x", "top_k": "3"}, 422), ({"query": "x", "filter": {"end": True}}, 422)],
        ({"query": "x", "filter": {"start": 5, "end": 5}}, 400),
        ({"query": "x", "kind": "passage", "filter": {"videos": ["0" * 32]}}, 400),
    ],
)
def test_a_wrong_search_is_a_problem(client: TestClient, body: dict[str, Any], status: int) -> None:
    answer = client.post("/v1/search", content=json.dumps(body), headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")
    assert answer.json()["detail"]
    if not body:
        assert answer.json()["title"] == "The question, its options or its filter cannot be used as given"


def test_an_unknown_video_of_a_filter_is_named(client: TestClient, world: World) -> None:
    chosen = {"videos": [world.lamp, "f" * 32]}
    for address, body in (("search", {"query": "kettle"}), ("ask", {"question": "What is a kettle?"})):
        answer = client.post(f"/v1/{address}", json={**body, "filter": chosen})
        assert (answer.status_code, answer.json()["type"]) == (404, "urn:rag:problem:unknown-id")
        assert "f" * 32 in answer.json()["detail"]


def test_an_object_with_very_many_keys_has_one_error(client: TestClient) -> None:
    keys = dict.fromkeys(map(str, range(MOST_KEYS + 1)), 0)
    answer = client.post("/v1/ask", json={"question": "What?", "filter": keys})
    assert (answer.status_code, len(answer.json()["errors"])) == (422, 1)
    assert str(MOST_KEYS) in answer.json()["detail"]


def test_windows_come_with_the_curve_of_the_whole_video(client: TestClient, world: World) -> None:
    body = {"video_id": world.lamp, "query": "drill", "window_seconds": 2, "curve": 100}
    shape = client.post("/v1/localize", json=body).json()
    curve = shape["curve"]
    assert (shape["schema"], shape["video"], curve["of"]) == ("rag.localize/1", world.lamp, "frames")
    assert (Path(shape["path"]).name, shape["video_id"]) == ("lamp.mp4", world.lamp)
    assert curve["times"] == list(np.arange(0, SECONDS, 0.5))
    assert 3.0 <= curve["times"][int(np.argmax(curve["scores"]))] < SECONDS
    assert shape["windows"][0]["start"] >= 2.5
    assert "curve" not in client.post("/v1/localize", json={**body, "curve": None}).json()


def test_the_line_that_proves_has_the_words_of_the_answer_then_of_the_question() -> None:
    texts = {"tag": "telescope 13", "asr": "a telescope is here", "ocr": "it is at Goddard"}
    evidence = [{"kind": kind, "text": text} for kind, text in texts.items()]
    wanted = (("Goddard", "telescope"), ("Hubble", "telescope"), ("Hubble", "space"), ())
    found: list[Any] = [{"kind": "video", "evidence": evidence} for _ in wanted]
    for window, texts_of in zip(found, wanted, strict=True):
        with_proof([window], *texts_of)
    assert [one["proof"] for one in found] == [[2, 1, 0], [1, 0, 2], [1, 2, 0], [1, 2, 0]]
    assert proving_line(found[0]) == evidence[2]
    others: list[Any] = [{"kind": "video", "evidence": []}, {"kind": "passage"}]
    with_proof(others, "x")
    assert proving_line(others[0]) is None
    assert others[1] == {"kind": "passage"}


def test_an_error_of_a_question_keeps_its_sentence(client: TestClient, monkeypatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise errors.pop()

    other = "made with other weights; run rag index FOLDER --reembed"
    errors = [TableGone("it is gone"), EncoderMismatch(other)]

    monkeypatch.setattr(Library, "search", fail)
    answer = client.post("/v1/search", json={"query": "lamp"})
    assert (answer.status_code, answer.json()["detail"]) == (
        503,
        "made with other weights; run rag index FOLDER --reembed",
    )
    assert answer.json()["type"] == "urn:rag:problem:encoder-mismatch"
    answer = client.post("/v1/search", json={"query": "lamp"})
    assert (answer.status_code, answer.json()["type"]) == (409, "urn:rag:problem:table-gone")


def test_files_that_are_gone_or_changed_are_named(client: TestClient, world: World) -> None:
    def found(query: str) -> dict[str, Any]:
        results = client.post("/v1/search", json={"query": query}).json()["results"]
        return {hit.get("video_id", "passage"): hit.get("state") for hit in results}

    def cited() -> Any:
        answer = client.post("/v1/ask", json={"question": "How is the lamp switched on?"}).json()
        return answer["citations"][0].get("state")

    def localized() -> Any:
        return client.post("/v1/localize", json={"video_id": world.lamp, "query": "lamp"}).json().get("state")

    states = found("kettle")
    assert states == {**states, world.kettle: None, world.gone: "missing", "passage": "missing"}
    assert [found("lamp")[world.lamp], cited(), localized()] == [None, None, None]
    os.utime(world.lamp_file, ns=(1, 1))
    assert [found("lamp")[world.lamp], cited(), localized()] == ["changed"] * 3
    world.lamp_file.unlink()
    assert [found("lamp")[world.lamp], cited(), localized()] == ["missing"] * 3
    (row,) = client.get("/v1/videos", params={"text": "lamp"}).json()["videos"]
    assert row["state"] == "missing"
