"""Sound as content parts of a request: for a model that takes audio, and for no other."""

import base64
import io
import wave
from dataclasses import replace
from pathlib import Path

import numpy as np

from rag.agents.raclo.records import PAPER
from rag.agents.raclo.verification import shown
from rag.agents.runtime.frame_source import FrameSource, fetch_video
from rag.reasoners.examples import MEMORY, VIEW
from rag.reasoners.llm import open_llm_reasoner
from rag.reasoners.roles.watching import VERIFY_VIDEO, VerifyRequest
from rag.settings import ReasonerSettings
from tests.fakes.browser_world import HOST, frame_source, make_web
from tests.fakes.chat_server import chat_server, say

MATCH = {"video_match": True, "confidence": 0.8}
RATE = 16_000


def sine(most: float) -> np.ndarray:
    """Up to 3 s of a tone that begins at half its height, with a gap."""
    samples = np.full(int(min(most, 3.0) * RATE), 0.5, np.float32)
    samples[10:20] = np.nan
    return samples


def asked(settings: dict, view=VIEW) -> tuple[list[dict], str]:
    """The content parts of the user message, and the fingerprint of the model."""
    with chat_server([say(MATCH)]) as server:
        model = ReasonerSettings(kind="openai", model="m", base_url=server.base_url, **settings)
        reasoner = open_llm_reasoner(model)
        reasoner.run(VERIFY_VIDEO, VerifyRequest(MEMORY, replace(view, read_audio=sine)))
        content = server.requests[0]["messages"][1]["content"]
    return content, reasoner.fingerprint


def test_sound_is_sent_as_wav_to_a_model_that_takes_it():
    content, listening = asked({"audio": True, "audio_seconds": 2.0})
    (part,) = [part for part in content if part["type"] == "input_audio"]
    assert part["input_audio"]["format"] == "wav"
    with wave.open(io.BytesIO(base64.b64decode(part["input_audio"]["data"]))) as sent:
        assert (sent.getframerate(), sent.getnchannels(), sent.getsampwidth()) == (RATE, 1, 2)
        samples = np.frombuffer(sent.readframes(sent.getnframes()), "<i2")
    assert len(samples) == 2 * RATE
    assert (samples[0], samples[15]) == (round(0.5 * 32767), 0)
    text = "".join(part.get("text", "") for part in content)
    assert "The sound of video, 2.0 s from its start" in text
    plain, mute = asked({})
    assert not [part for part in plain if part["type"] == "input_audio"]
    assert "The sound of video" not in "".join(part.get("text", "") for part in plain)
    assert listening != mute


def test_raclo_shows_the_sound_of_the_whole_video(tmp_path):
    spans = []

    def read(path: str, start: float, end: float) -> np.ndarray:
        spans.append((Path(path).suffix, start, end))
        return sine(end - start)

    source = replace(frame_source(), read_audio=read)
    web = make_web(tmp_path)
    result = web.search_videos("kettle video 7", page_size=1).results[0]
    video = fetch_video(web, result, source, transcript=True)
    view = shown(video, np.array([1.0]), PAPER)
    assert len(view.read_audio(60.0)) == 3 * RATE
    assert spans == [(".mp4", 0.0, 60.0)]
    assert shown(video, np.array([1.0]), replace(PAPER, sound=False)).read_audio is None
    assert result.url == f"{HOST}video07"
    bare = fetch_video(web, result, FrameSource(None, None), transcript=True)
    assert shown(bare, np.zeros(0), PAPER).read_audio is None
