"""Exchanges kept and taken again: the same run to the byte, and an honest stop where it would differ."""

from __future__ import annotations

import errno
import json
import math
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from rag.agents.video_detective.agent import VideoDetective
from rag.agents.video_detective.records import TUNED
from rag.errors import RagError, ReasonerUnreachable, ReplayUnknown, SettingsError
from rag.reasoners.examples import CHOICE, OPEN, sample_reading
from rag.reasoners.llm import open_llm_reasoner
from rag.reasoners.llm.messages import ChatReply
from rag.reasoners.llm.reasoner import LlmReasoner
from rag.reasoners.llm.recording import HEAD, open_recording
from rag.reasoners.roles.answers import ANSWER_CHOICE
from rag.reasoners.roles.questions import ANCHOR_EVENT, REWRITE_QUESTION
from rag.records import Question
from rag.settings import ReasonerSettings
from tests.fakes import detective_world
from tests.fakes.scripted_client import ANCHOR, CHOSEN, Scripted, recorded

ROOT = Path(__file__).resolve().parents[3]


def replayed(path, **changes) -> LlmReasoner:
    settings = ReasonerSettings(kind="openai", model="m", replay=path, **changes)
    return LlmReasoner(
        Scripted(AssertionError("a replay makes no call")), settings, recording=open_recording(settings)
    )


def exchanges(path) -> list[dict]:
    head, *lines = path.read_text().splitlines()
    assert head == HEAD
    return [json.loads(line) for line in lines]


@pytest.fixture
def recording(tmp_path):
    return tmp_path / "run.jsonl"


def test_a_replay_is_the_run_again_with_its_repairs_and_its_cost(recording):
    sent = ChatReply(ANCHOR, prompt_tokens=120, completion_tokens=15)
    live = recorded(recording, "nonsense", sent, json.dumps(CHOSEN))
    said = (live.run(ANCHOR_EVENT, OPEN), live.run(ANSWER_CHOICE, sample_reading(CHOICE)))
    usage = live.usage()
    again = replayed(recording)
    assert (again.run(ANCHOR_EVENT, OPEN), again.run(ANSWER_CHOICE, sample_reading(CHOICE))) == said
    assert again.usage() == usage
    assert usage.by_role["anchor_event"]["repairs"] == 1
    first, *_ = exchanges(recording)
    assert set(first) == {"asked", "reply", "seconds"}
    asked = first["asked"]
    assert (asked["role"], asked["settings"]["model"]) == ("anchor_event", "scripted")
    assert asked["settings"]["temperature"] == 0


def test_replies_to_one_input_come_in_the_order_in_which_they_were_given(recording):
    other = ANCHOR.replace("within", "before")
    live = recorded(recording, ANCHOR, other)
    assert [live.run(ANCHOR_EVENT, OPEN).position for _ in range(2)] == ["within", "before"]
    again = replayed(recording)
    assert [again.run(ANCHOR_EVENT, OPEN).position for _ in range(3)] == ["within", "before", "before"]


def test_an_unknown_exchange_stops_with_the_difference_shown(recording):
    recorded(recording, ANCHOR).run(ANCHOR_EVENT, OPEN)
    other = Question("q", OPEN.text.replace("telescope", "microscope"))
    with pytest.raises(ReplayUnknown, match=r"anchor_event: the input is .*microscope.*recorded .*telescope"):
        replayed(recording).run(ANCHOR_EVENT, other)
    with pytest.raises(ReplayUnknown, match="max_tokens is 256, recorded with 4096"):
        replayed(recording, max_tokens=256).run(ANCHOR_EVENT, OPEN)
    with pytest.raises(ReplayUnknown, match="holds no exchange for rewrite_question"):
        replayed(recording).run(REWRITE_QUESTION, OPEN)


def test_images_are_part_of_the_key_by_their_bytes(recording):
    live = recorded(recording, json.dumps(CHOSEN))
    live.run(ANSWER_CHOICE, sample_reading(CHOICE))
    (held,) = exchanges(recording)
    images = [
        part for message in held["asked"]["messages"] for part in message["parts"] if isinstance(part, dict)
    ]
    assert len(images) == 8
    assert {(shown["width"], shown["height"]) for shown in images} == {(64, 48)}
    darker = sample_reading(CHOICE)
    darker.windows[0].frames.images[:] //= 2
    with pytest.raises(ReplayUnknown, match="the input is"):
        replayed(recording).run(ANSWER_CHOICE, darker)


def test_failures_are_never_kept(recording):
    live = recorded(recording, ReasonerUnreachable("gone"), ANCHOR)
    with pytest.raises(ReasonerUnreachable):
        live.run(ANCHOR_EVENT, OPEN)
    assert exchanges(recording) == []
    live.run(ANCHOR_EVENT, OPEN)
    assert len(exchanges(recording)) == 1


def test_recording_goes_on_in_the_same_file_after_a_half_written_line(recording):
    recorded(recording, ANCHOR).run(ANCHOR_EVENT, OPEN)
    with recording.open("ab") as file:
        file.write(b'{"key": "half')
    assert replayed(recording).run(ANCHOR_EVENT, OPEN)
    other = Question("q", "What does she open?")
    recorded(recording, ANCHOR).run(ANCHOR_EVENT, other)
    assert len(exchanges(recording)) == 2
    assert replayed(recording).run(ANCHOR_EVENT, other)


KILLED = """
import sys, os, signal
sys.path.insert(0, {root!r})
from tests.fakes.scripted_client import recorded
from tests.fakes.scripted_client import ANCHOR
from rag.reasoners.examples import OPEN
from rag.reasoners.roles.questions import ANCHOR_EVENT
from pathlib import Path
reasoner = recorded(Path({path!r}), ANCHOR)
reasoner.run(ANCHOR_EVENT, OPEN)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.slow
def test_what_was_answered_before_a_kill_is_kept(recording):
    code = KILLED.format(root=str(ROOT), path=os.fspath(recording))
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False, capture_output=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert replayed(recording).run(ANCHOR_EVENT, OPEN)


@pytest.mark.parametrize("held", [b"", b"\xff\xfe\n"])
def test_what_is_no_recording_is_refused(recording, held):
    recording.write_bytes(held)
    with pytest.raises(SettingsError, match=r"run\.jsonl"):
        replayed(recording)


def test_disk_errors_are_one_line_and_exit_status_1(recording, monkeypatch):
    live = recorded(recording, ANCHOR, ANCHOR, ANCHOR)
    live.run(ANCHOR_EVENT, OPEN)
    whole = recording.read_bytes()

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(RagError, match=r"run\.jsonl: cannot be written: no space left") as caught:
            live.run(ANCHOR_EVENT, OPEN)
        assert caught.value.exit_code == 1
    assert recording.read_bytes() == whole, "no line is left half written"
    live.run(ANCHOR_EVENT, OPEN)
    assert len(exchanges(recording)) == 2

    def refused(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    for name, key, done in (("open", "record", "written"), ("read_bytes", "replay", "read")):
        with monkeypatch.context() as patched:
            patched.setattr(Path, name, refused)
            with pytest.raises(RagError, match=f"cannot be {done}: permission denied") as caught:
                open_recording(ReasonerSettings(**{key: recording}))
        assert caught.value.exit_code == 1


def test_a_replay_needs_neither_server_nor_model(recording):
    recorded(recording, ANCHOR).run(ANCHOR_EVENT, OPEN)
    recording.write_text(recording.read_text())
    reasoner = open_llm_reasoner(
        ReasonerSettings(kind="transformers", model="/nowhere/tiny", replay=recording)
    )
    assert reasoner.name == "transformers:tiny"
    with pytest.raises(ReplayUnknown, match="model is 'transformers:tiny', recorded with 'scripted'"):
        reasoner.run(ANCHOR_EVENT, OPEN)


def line_of(reply: object, seconds: object = 1.0, messages: tuple = ()) -> str:
    asked = {"role": "judge", "prompt": "0" * 12, "settings": {"model": "m"}, "messages": messages}
    return json.dumps({"asked": asked, "reply": reply, "seconds": seconds})


@pytest.mark.parametrize(
    "line",
    [
        '{"key": ' + "[" * 100_000,
        line_of({"text": None}),
        line_of({"text": "x", "prompt_tokens": 10**400}),
        line_of({"text": "x"}, math.nan),
        line_of({"text": "x"}, 1.0, ("not a message",)),
        "[]",
    ],
)
def test_a_damaged_line_is_named(tmp_path, line):
    path = tmp_path / "run.jsonl"
    path.write_text(f"{HEAD}\n{line}\n")
    with pytest.raises(SettingsError, match="line 2 is damaged"):
        open_recording(ReasonerSettings(replay=path))


@pytest.mark.parametrize("role", ["timeline", "answer_choice"])
def test_video_detective_stops(tmp_path: Path, role: str) -> None:
    reasoner = detective_world.RuleReasoner(fails=(role,), error=ReplayUnknown)
    with detective_world.open_world(tmp_path) as library:
        detective = VideoDetective(library, TUNED, reasoner=reasoner)
        with pytest.raises(ReplayUnknown, match=f"no {role} today"):
            detective.investigate("workshop", detective_world.question())
