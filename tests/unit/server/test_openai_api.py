"""`/v1/models` and `/v1/chat/completions`: answers, streams, errors, and prompts that chat clients send."""

import json
from typing import Any

import pytest
from starlette.testclient import TestClient

from rag.errors import ReasonerUnreachable
from rag.library import Library
from rag.records import Answer, PassageCitation, Question
from rag.rendering.shapes import answer_shape
from rag.server.openai import MODEL, chore_reply, completion
from tests.fakes.served_library import World

OPTIONS = "What do I switch on? (A) the lamp (B) the kettle"
HISTORY = "<chat_history>\nUSER: When is the torque wrench set?\nASSISTANT: At 00:12.\n</chat_history>"


def _ask(client: TestClient, text: Any, **more: Any) -> Any:
    messages = [{"role": "system", "content": "Be kind."}, {"role": "user", "content": text}]
    return client.post("/v1/chat/completions", json={"model": MODEL, "messages": messages, **more})


def _events(text: str) -> list[Any]:
    lines = [line.removeprefix("data: ") for line in text.splitlines() if line and not line.startswith(":")]
    assert lines.pop() == "[DONE]"
    return [json.loads(line) for line in lines]


def test_an_answer_has_its_citations_in_text_annotations_and_their_own_field(
    client: TestClient, world: World
) -> None:
    shape = _ask(client, OPTIONS, temperature=0.7, tools=[], user="me").json()
    message = shape["choices"][0]["message"]
    assert message["content"].startswith("**A. the lamp** (confidence ")
    cited = next(row for row in shape["citations"] if row.get("video_id") == world.lamp)
    link = f"http://127.0.0.1:8650/#/v/{world.lamp}?t={cited['start']:g},{cited['end']:g}"
    assert f"[lamp.mp4 00:00-00:05]({link})" in message["content"]
    place = next(row["url_citation"] for row in message["annotations"] if row["url_citation"]["url"] == link)
    marked = message["content"][place["start_index"] : place["end_index"]]
    assert marked == f"[lamp.mp4 00:00-00:05]({link})"
    usage = shape["usage"]
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"] > 20


def test_a_stream_has_the_same_text_and_annotations(client: TestClient) -> None:
    whole = _ask(client, OPTIONS).json()["choices"][0]["message"]
    answer = _ask(client, OPTIONS, stream=True, stream_options={"include_usage": True})
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert "event:" not in answer.text
    chunks = _events(answer.text)
    assert {(chunk["object"], chunk["id"]) for chunk in chunks} == {
        ("chat.completion.chunk", chunks[0]["id"])
    }
    deltas = [choice["delta"] for chunk in chunks for choice in chunk["choices"]]
    assert deltas[0] == {"role": "assistant", "content": ""}
    assert "".join(delta.get("content", "") for delta in deltas) == whole["content"]
    assert [delta["annotations"] for delta in deltas if "annotations" in delta] == [whole["annotations"]]
    assert chunks[-2]["choices"][0]["finish_reason"] == "stop"
    assert chunks[-1]["choices"] == []
    assert chunks[-1]["usage"]["total_tokens"] > 20
    assert "usage" not in _events(_ask(client, OPTIONS, stream=True).text)[-1]


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"messages": [{"role": "user", "content": "What?"}], "model": "gpt-4o"}, 404, "unknown-id"),
        ({"messages": [{"role": "system", "content": "What?"}]}, 400, "question-error"),
        ({"messages": [{"role": "user", "content": "?"}], "stream": True}, 400, "question-error"),
        ({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, 400, "question-error"),
        ({"messages": []}, 400, "invalid-request"),
        ({"messages": [{"role": "user", "content": "What?"}], "n": 2}, 400, "invalid-request"),
    ],
)
def test_errors_have_the_shape_of_openai(
    client: TestClient, body: dict[str, Any], status: int, code: str
) -> None:
    answer = client.post("/v1/chat/completions", json={"model": MODEL, **body})
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["type"]) == (status, code, "invalid_request_error")
    assert error["message"]


def test_an_error_in_a_stream_is_its_last_event(client: TestClient, monkeypatch) -> None:
    def fail(*_: Any, **__: Any) -> Answer:
        raise ReasonerUnreachable("no answer from the server")

    monkeypatch.setattr(Library, "ask", fail)
    assert _ask(client, "What?").status_code == 502
    last = _ask(client, "What?", stream=True).text.strip().splitlines()[-1]
    error = json.loads(last.removeprefix("data: "))["error"]
    assert (error["message"], error["type"]) == ("no answer from the server", "server_error")


def test_prompts_of_a_chat_client_are_answered_without_a_search(client: TestClient, monkeypatch) -> None:
    monkeypatch.setattr(Library, "ask", lambda *_, **__: pytest.fail("searched"))
    text = f'### Task:\nGenerate a title.\nJSON format: {{ "title": "..." }}\n### Chat History:\n{HISTORY}'
    assert _ask(client, text).json()["choices"][0]["message"]["content"] == "{}"
    streamed = _events(_ask(client, text, stream=True).text)
    assert "".join(each["choices"][0]["delta"].get("content", "") for each in streamed) == "{}"


def test_titles_of_other_clients_need_no_search_and_questions_do() -> None:
    title = (
        "Provide a concise, 5-word-or-less title for the conversation, using title case conventions. "
        "Only return the title itself."
    )
    assert chore_reply(["When does the lamp go on again?", title]) == "When does the lamp go on again?"
    assert chore_reply([f"{title}\n\nConversation:\nUser: Where is it?\nAI: There."]) == "Conversation"
    for question in (OPTIONS, '### Task:\nWhat is { "title": 1 }?', "Which title has the conversation?"):
        assert chore_reply([question]) is None


def test_words_of_a_file_are_no_markdown() -> None:
    hostile = "![x](http://evil.example/?q=1) <img src=y>\n# *Obey* \udcff"
    cited = PassageCitation("/a/b.md", "p/1", hostile, hostile, 1.0)
    answer = Answer(Question("q", "?"), None, hostile, 1.0, hostile, True, (cited,))
    text = completion(answer_shape(answer), "http://127.0.0.1:1").text
    assert "![" not in text.replace(r"!\[", "")
    assert "<img" not in text.replace(r"\<img", "")
    assert text.count("](") == text.count(r"\](") + 1
    assert "(http://127.0.0.1:1/#/p/p%2F1)" in text
    text.encode("utf-8")


def test_an_option_is_cited_by_the_sentence_that_decided_it() -> None:
    said = "The bolts are set to 110 Nm, not 25."
    cited = PassageCitation("/a/b.md", "p", "", f"Page 25. {'Other things are said. ' * 20}{said}", 1.0)
    why = f"(A) is nearest to a passage: “{said}”."
    answer = Answer(Question("q", "?", ("25", "110")), "A", "25", 0.9, why, True, (cited,))
    text = completion(answer_shape(answer), "http://127.0.0.1:1").text
    assert text.rpartition("): ")[2] == f"“… {said}”"
