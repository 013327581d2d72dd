"""The whole way to an OpenAI-compatible server and back, over real sockets on loopback."""

import asyncio
import json
import socket
import time

import pytest

from rag import Library
from rag.errors import ReasonerError, ReasonerUnreachable, ReplyInvalid, SettingsError, Unanswered
from rag.reasoners.examples import CHOICE, OPEN, sample_reading
from rag.reasoners.llm import open_llm_reasoner
from rag.reasoners.llm.openai_client import MAX_REPLY_BYTES, OpenAIClient
from rag.reasoners.llm.reasoner import LlmReasoner
from rag.reasoners.llm.usage import KEYS
from rag.reasoners.roles.answers import ANSWER_CHOICE
from rag.reasoners.roles.questions import ANCHOR_EVENT
from rag.settings import ReasonerSettings, Settings
from tests.fakes.chat_server import (
    chat_server,
    cut,
    dribble,
    hang,
    old_llama_cpp,
    raw,
    runs_on,
    say,
    status,
    takes_no_format,
    thinks_first,
)
from tests.fakes.synthetic import write_video

ANCHOR = {"description": "she polishes something", "position": "before"}
CHOSEN = {"choice": "A", "confidence": 0.8, "explanation": "glass", "windows": [0], "passages": [1]}
KEY = "sk-very-secret"


def settings(base_url: str, **changes) -> ReasonerSettings:
    return ReasonerSettings(
        **{"kind": "openai", "model": "m", "base_url": base_url, "timeout_seconds": 10.0, **changes}
    )


def ask(base_url: str, first_wait: float = 0.01, longest_wait: float = 30.0, **changes):
    chosen = settings(base_url, **changes)
    client = OpenAIClient(chosen, first_wait=first_wait, longest_wait=longest_wait)
    return LlmReasoner(client, chosen).run(ANCHOR_EVENT, OPEN)


def test_a_reply_comes_through_with_its_usage():
    usage = {"prompt_tokens": 321, "completion_tokens": 12, "total_tokens": 333}
    with chat_server([say(CHOSEN, usage)]) as server:
        reasoner = open_llm_reasoner(settings(server.base_url), seed=7)
        reply = reasoner.run(ANSWER_CHOICE, sample_reading(CHOICE))
    assert reasoner.name == "openai:m"
    assert (reply.choice, reply.windows, reply.passages) == ("A", (0,), (1,))
    spent = reasoner.usage()
    assert (spent.calls, spent.prompt_tokens, spent.completion_tokens) == (1, 321, 12)
    assert spent.image_tokens == 48
    assert spent.seconds > 0
    (request,) = server.requests
    assert (request["model"], request["temperature"], request["seed"]) == ("m", 0.0, 7)
    assert request["max_tokens"] == ANSWER_CHOICE.reply_tokens == 1024
    assert "response_format" not in request


def test_only_the_named_server_is_sent_only_what_it_needs(monkeypatch):
    for name, value in {
        "OPENAI_API_KEY": "sk-of-the-environment",
        "OPENAI_API_BASE": "http://127.0.0.1:1/v1",
        "OPENAI_BASE_URL": "http://127.0.0.1:1/v1",
        "OPENAI_ORG_ID": "org-x",
        "OPENAI_PROJECT_ID": "project-x",
        "OPENAI_CUSTOM_HEADERS": "x-leak: yes",
        "HTTP_PROXY": "http://127.0.0.1:1",
        "ALL_PROXY": "http://127.0.0.1:1",
    }.items():
        monkeypatch.setenv(name, value)
    with chat_server([say(ANCHOR)]) as server:
        ask(server.base_url, api_key="")
        ask(server.base_url, api_key=KEY)
    first, second = server.headers
    assert set(first) <= {
        *("host", "accept", "content-type", "content-length", "connection"),
        *("accept-encoding", "authorization", "user-agent"),
    }
    assert first["authorization"] == "Bearer none"
    assert second["authorization"] == f"Bearer {KEY}"
    assert first["user-agent"] == "offline-video-rag"


@pytest.mark.parametrize("failures", [[status(429), status(503)], [cut()], [cut(b"HTTP/1.1 200")]])
def test_a_passing_failure_is_tried_again(failures):
    with chat_server([*failures, say(ANCHOR)]) as server:
        assert ask(server.base_url).position == "before"
        assert len(server.requests) == len(failures) + 1


def test_a_server_that_has_answered_is_waited_for():
    with chat_server([say(ANCHOR)]) as server:
        chosen = settings(server.base_url)
        reasoner = LlmReasoner(OpenAIClient(chosen, first_wait=0.1), chosen)
        assert reasoner.run(ANCHOR_EVENT, OPEN).position == "before"
    started = time.monotonic()
    with pytest.raises(ReasonerUnreachable):
        reasoner.run(ANCHOR_EVENT, OPEN)
    assert time.monotonic() - started >= 0.75, "a wait between each two of five attempts"


def test_the_wait_that_the_server_asks_for_is_kept_up_to_a_limit():
    with chat_server([status(429, Retry_After="1"), say(ANCHOR)]) as server:
        started = time.monotonic()
        ask(server.base_url)
        assert 1 <= time.monotonic() - started < 5
    with chat_server([status(429, Retry_After="3600"), say(ANCHOR)]) as server:
        started = time.monotonic()
        ask(server.base_url, longest_wait=0.05)
        assert time.monotonic() - started < 5


BODY = b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\nContent-Type: application/json\r\n\r\n{"


@pytest.mark.parametrize("reply", [dribble(BODY), hang()], ids=["body", "nothing"])
def test_a_server_that_dribbles_or_is_silent_is_interrupted_at_the_deadline(reply):
    with chat_server([reply]) as server:
        started = time.monotonic()
        with pytest.raises(ReasonerUnreachable, match=r"no reply within 0\.7 s"):
            ask(server.base_url, timeout_seconds=0.7)
        assert 0.7 <= time.monotonic() - started < 5
        assert len(server.requests) == 1


def test_an_unreachable_server_is_one_line_that_names_it_and_what_to_do():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        base_url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        started = time.monotonic()
        with pytest.raises(ReasonerUnreachable) as caught:
            ask(base_url, first_wait=20.0)
        assert time.monotonic() - started < 5
    said = str(caught.value)
    assert base_url in said
    assert "reasoner.base_url" in said
    assert "\n" not in said
    assert caught.value.exit_code == 1


@pytest.mark.parametrize(
    "body",
    [
        *[b"<html>It works!</html>", b"", b'{"choices": [{"message": {"content": 7}}]}', b"[" * 200_000],
        *[b"\xff\xfe\x00", b" " * (MAX_REPLY_BYTES + 1)],
    ],
    ids=["html", "empty", "number", "deep", "bytes", "endless"],
)
def test_what_is_no_chat_completion_is_an_error_at_once(body):
    with chat_server([raw(body, "text/html")]) as server:
        with pytest.raises(ReasonerError, match=r"must name an OpenAI-compatible server") as caught:
            ask(server.base_url)
        assert len(server.requests) == 1
    assert server.base_url in str(caught.value)
    # A program that is no model server would lose every question: it stops the run.
    assert not isinstance(caught.value, Unanswered)


def test_of_a_model_server_an_odd_reply_is_one_lost_reply():
    with chat_server([say(ANCHOR), raw(b"<html>504 Gateway</html>")]) as server:
        reasoner = open_llm_reasoner(settings(server.base_url))
        reasoner.run(ANCHOR_EVENT, OPEN)
        with pytest.raises(ReplyInvalid, match="no JSON"):
            reasoner.run(ANCHOR_EVENT, OPEN)


NO_IMAGES = r"reasoner\.images to false"


@pytest.mark.parametrize(
    ("code", "said", "advice", "tries"),
    [
        (400, "no", "check the server", 1),
        (401, "no", "RAG_REASONER__API_KEY", 1),
        (404, "no", "check reasoner.model", 1),
        (500, "image input is not supported - hint: you may need to provide the mmproj", NO_IMAGES, 1),
        (429, "", "--concurrency", 5),
        (500, "", "log", 5),
        (503, "Loading model", "Loading model", 5),
    ],
)
def test_an_error_of_the_server_is_one_line_that_says_what_to_do(code, said, advice, tries):
    with chat_server([status(code, json.dumps({"error": f"{said} {KEY}"}))]) as server:
        with pytest.raises(ReasonerError, match=advice) as caught:
            ask(server.base_url, api_key=KEY)
        assert len(server.requests) == tries
    assert isinstance(caught.value, ReasonerUnreachable) == (tries > 1)
    assert KEY not in str(caught.value)
    assert "\n" not in str(caught.value)
    assert server.base_url in str(caught.value)


def test_what_a_server_says_of_an_error_stays_one_short_printable_line():
    noise = status(400, "\x1b[2Jno\n\n" + "z" * 10_000)
    with chat_server([noise]) as server, pytest.raises(ReasonerError, match=r"\?\[2Jno zzz") as caught:
        ask(server.base_url)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 600


def test_a_redirect_is_not_followed():
    with (
        chat_server([say(ANCHOR)]) as elsewhere,
        chat_server([status(307, Location=elsewhere.base_url + "/chat/completions")]) as server,
    ):
        with pytest.raises(ReasonerError, match="redirects are not followed"):
            ask(server.base_url)
        assert elsewhere.requests == []


@pytest.mark.parametrize(
    ("name", "value"),
    [("base_url", ""), ("base_url", "127.0.0.1:8080"), ("base_url", "http://u:p@h/v1"), ("model", "")],
)
def test_a_server_without_an_address_or_a_model_is_a_wrong_setting(name, value):
    with pytest.raises(SettingsError, match=rf"reasoner\.{name}"):
        ask(**{"base_url": "http://127.0.0.1:1/v1", name: value})


def test_it_works_where_an_event_loop_already_runs():
    async def inside(base_url: str) -> str:
        return ask(base_url).position

    with chat_server([say(ANCHOR)]) as server:
        assert asyncio.run(inside(server.base_url)) == "before"


FORMS = [("json_schema", False), ("json_object", True), ("json_object", False), (None, False)]
"""The type of each `response_format` in its order, and whether the schema is beside it."""


def forms(server):
    asked = [request.get("response_format", {}) for request in server.requests]
    return [(each.get("type"), "schema" in each) for each in asked]


@pytest.mark.parametrize(
    ("server_of", "answered"),
    [
        (old_llama_cpp(ANCHOR), 1),
        *((takes_no_format(ANCHOR, code, named), 3) for code, named in ((422, True), (500, False))),
        (say(ANCHOR), 0),
    ],
)
def test_a_refused_reply_format_is_given_up_step_by_step_and_remembered(server_of, answered):
    with chat_server([server_of]) as server:
        reasoner = open_llm_reasoner(settings(server.base_url, structured=True))
        for _ in range(2):
            assert reasoner.run(ANCHOR_EVENT, OPEN).position == "before"
    assert forms(server) == [*FORMS[: answered + 1], FORMS[answered]]


def test_a_failure_of_a_moment_takes_no_form_from_a_server_that_has_answered_in_it():
    acts = [say(ANCHOR), status(500, "{}"), say(ANCHOR)]
    with chat_server(acts) as server:
        chosen = settings(server.base_url, structured=True)
        reasoner = LlmReasoner(OpenAIClient(chosen, first_wait=0.01), chosen)
        for _ in range(2):
            assert reasoner.run(ANCHOR_EVENT, OPEN).position == "before"
    assert forms(server) == [FORMS[0]] * 3


def test_an_error_with_status_200_is_the_error_that_it_names():
    busy = raw(json.dumps({"error": {"message": "try again", "code": 429}}).encode())
    with chat_server([busy, say(ANCHOR)]) as server:
        assert ask(server.base_url).position == "before"
    refused = raw(json.dumps({"error": "response_format is not supported"}).encode())
    with chat_server([refused, say(ANCHOR)]) as server:
        assert ask(server.base_url, structured=True).position == "before"
        assert forms(server) == FORMS[:2]


def test_a_reply_is_as_long_as_its_role_needs_and_thinking_has_the_whole_room():
    with chat_server([runs_on()]) as server:
        with pytest.raises(ReplyInvalid, match="cut at 512 tokens"):
            ask(server.base_url)
        assert [request["max_tokens"] for request in server.requests] == [512, 512]
    with chat_server([thinks_first(ANCHOR, 2000)]) as server:
        assert ask(server.base_url).position == "before"
        assert [request["max_tokens"] for request in server.requests] == [512, 4096]
    with chat_server([say(ANCHOR)]) as server:
        ask(server.base_url, max_tokens=100)
        assert server.requests[0]["max_tokens"] == 100


REWRITTEN = {"visual_query": "A video that shows a bench.", "passage_queries": ["torque wrench clicks"]}
ANSWER = {"text": "the torque wrench", "confidence": 0.9, "explanation": "It is said.", "windows": [0]}
QUESTION = "What clicks on the bench?"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    corpus = tmp_path_factory.mktemp("corpus")
    write_video(corpus / "bench.mp4", 12, subtitles=[(1, 4, "The torque wrench clicks.")])
    library = tmp_path_factory.mktemp("library") / ".rag"
    Library.index(
        [corpus], settings=Settings(library=library, ocr={"mode": "off"}, encoder={"image": "none"})
    )
    return library


def asked(folder, base_url, **reasoner):
    chosen = {"kind": "openai", "model": "scripted", "base_url": base_url, **reasoner}
    settings = Settings(reasoner=chosen, localize={"frame_budget": 4})
    with Library.open(folder, settings=settings) as library:
        return library.ask(QUESTION)


def test_a_model_answers_from_the_frames_and_words_of_a_window(folder):
    usage = {"prompt_tokens": 1000, "completion_tokens": 10, "total_tokens": 1010}
    with chat_server(
        [say(REWRITTEN, usage), say({**ANCHOR, "position": "within"}, usage), say(ANSWER, usage)]
    ) as server:
        answer = asked(folder, server.base_url)
    assert (answer.text, answer.matched, answer.confidence) == ("the torque wrench", True, 0.9)
    (citation,) = answer.citations
    assert citation.path.endswith("bench.mp4")
    assert citation.start < 4
    assert citation.end > 1
    assert (answer.usage.calls, answer.usage.prompt_tokens) == (3, 3000)
    assert set(answer.usage.by_role) == {"rewrite_question", "anchor_event", "answer_open"}
    assert set(answer.usage.by_role["answer_open"]) == set(KEYS)
    content = server.requests[2]["messages"][1]["content"]
    images = [block for block in content if block["type"] == "image_url"]
    assert 1 <= len(images) <= 4
    assert "The torque wrench clicks." in content[0]["text"]
