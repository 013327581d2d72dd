"""Agents on a recording of a language model: what it said once is said again, and the bytes are the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rag.agents.video_browser import view as browser_view
from rag.agents.video_browser.agent import run_video_browser
from rag.agents.video_browser.records import BrowserSettings
from rag.agents.video_detective.agent import VideoDetective
from rag.agents.video_detective.records import DetectiveResult
from rag.agents.video_detective.view import record_json, result_json
from rag.errors import ReplayUnknown
from rag.reasoners.llm import open_llm_reasoner
from rag.reasoners.llm.reasoner import LlmReasoner
from rag.records import Question
from rag.settings import ReasonerSettings
from tests.fakes.browser_world import ASKED, frame_source, make_web
from tests.fakes.chat_server import chat_server, say
from tests.fakes.detective_world import open_world, question
from tests.fakes.scripted_roles import play

NOBODY = "http://127.0.0.1:1/v1"
USAGE = {"prompt_tokens": 100, "completion_tokens": 7, "total_tokens": 107}


def reasoner(base_url: str = NOBODY, **recording: Path) -> LlmReasoner:
    return open_llm_reasoner(
        ReasonerSettings(kind="openai", model="scripted", base_url=base_url, **recording)
    )


def investigated(folder: Path, reasoner: LlmReasoner, asked: Question) -> DetectiveResult:
    with open_world(folder) as library:
        return VideoDetective(library, reasoner=reasoner).investigate("workshop", asked)


def as_bytes(found: DetectiveResult) -> bytes:
    """All that `--json` and `--trace` write of it, but for the clock."""
    answer = result_json(found)
    del answer["timings"]
    steps = [record_json(step) for step in (found.plan, *found.looks, found.selected)]
    return json.dumps([answer, steps]).encode()


def test_video_detective_is_replayed_to_the_byte(tmp_path: Path) -> None:
    recording = tmp_path / "run.jsonl"
    with chat_server([say(play, USAGE)]) as server:
        live = investigated(tmp_path / "live", reasoner(server.base_url, record=recording), question())
        asked = len(server.requests)
    assert live.answer.choice == "B"
    assert live.answer.usage.calls == asked == len(live.looks) + 3
    kept = recording.read_bytes()
    first, second = (
        investigated(tmp_path / name, reasoner(replay=recording), question()) for name in ("first", "second")
    )
    assert as_bytes(live) == as_bytes(first) == as_bytes(second)
    assert recording.read_bytes() == kept


def test_another_question_is_not_in_the_recording(tmp_path: Path) -> None:
    recording = tmp_path / "run.jsonl"
    with chat_server([say(play, USAGE)]) as server:
        investigated(tmp_path / "live", reasoner(server.base_url, record=recording), question())
    with pytest.raises(ReplayUnknown):
        investigated(tmp_path / "again", reasoner(replay=recording), question("Which thing is of part 4?"))


def browsed(folder: Path, reasoner: LlmReasoner) -> bytes:
    settings = BrowserSettings(max_steps=1)
    with make_web(folder) as web:
        run = run_video_browser(ASKED, web, reasoner, frame_source(), settings)
    shape = browser_view.result_json(run)
    del shape["timings"]
    return json.dumps([shape, [step.data for step in run.steps]], default=str).encode()


def test_video_browser_is_replayed_to_the_byte(tmp_path: Path) -> None:
    recording = tmp_path / "run.jsonl"
    with chat_server([say(play, USAGE)]) as server:
        live = browsed(tmp_path / "live", reasoner(server.base_url, record=recording))
        assert server.requests
    first, second = (browsed(tmp_path / name, reasoner(replay=recording)) for name in ("first", "second"))
    assert b"PLUM" in live
    assert first == second
