"""One question all the way: a real library, its frames sent to a server, the citations that come back."""

from __future__ import annotations

import pytest

from rag import Library
from rag.reasoners.llm.usage import KEYS
from rag.settings import Settings
from tests.fakes.chat_server import chat_server, say
from tests.fakes.synthetic import write_video

REWRITTEN = {"visual_query": "A video that shows a bench.", "passage_queries": ["torque wrench clicks"]}
ANCHOR = {"description": "the torque wrench clicks", "position": "within"}
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
    with chat_server([say(REWRITTEN, usage), say(ANCHOR, usage), say(ANSWER, usage)]) as server:
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
