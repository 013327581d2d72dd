"""The simulated model: what it makes of frames and prompts, and what it refuses."""

import base64
import json
from typing import Any

import httpx
import numpy as np

from corpora.records import Frames
from eval.simulated_model.request import read_request
from eval.simulated_model.server import SimulatedModel
from rag.reasoners.prompts import Message, load_prompt, render
from rag.reasoners.protocol import Role
from rag.reasoners.roles.answers import ANSWER_CHOICE
from rag.reasoners.roles.material import VideoView
from rag.reasoners.roles.watching import OBSERVE, ObserveRequest
from rag.records import Question
from tests.fakes.simulated_world import ACTS, frame_index, image, jpeg, simulated_reasoner

INDEX = frame_index()
HAMMER = Question(
    "q", "What is the object that the camera wearer wipes with the cloth?", ("towel", "hammer", "egg")
)


def shown(video: int = 0, times: tuple[float, ...] = (1.0, 5.0, 9.0, 13.0, 17.0, 21.0)) -> VideoView:
    at = np.array(times)
    frames = Frames(at, np.stack([image(video, time) for time in times]))
    return VideoView("", 0.0, 24.0, frame_times=at, frames=frames)


def body(role: Role[Any, Any], request: Any, **more: Any) -> dict[str, Any]:
    """A chat completion of the role's own prompt."""
    call = role.prompt(request)
    messages = render(load_prompt(role), call.variables, call.images, short_side=336)
    return {"messages": [_sent(message) for message in messages], **more}


def _sent(message: Message) -> dict[str, Any]:
    parts = [
        {"type": "text", "text": part}
        if isinstance(part, str)
        else {
            "type": "image_url",
            "image_url": {"url": f"data:image/jpeg;base64,{base64.b64encode(part.data).decode()}"},
        }
        for part in message.parts
    ]
    return {"role": message.speaker, "content": parts}


def reply_to(sent: dict[str, Any], perception: float = 1.0, seed: int = 0) -> str:
    return SimulatedModel(INDEX, perception, seed).complete(read_request(sent))


def answer(role: Role[Any, Any], request: Any, perception: float = 1.0) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(reply_to(body(role, request), perception))
    return found


class TestPerception:
    def test_frames_are_recognized_with_their_truth(self) -> None:
        found = answer(OBSERVE, ObserveRequest(HAMMER, shown()))
        assert "the camera wearer wipes a hammer with the cloth" in found["caption"]
        assert "a red globe" in found["caption"]
        assert "Order number 1204" in found["caption"]
        assert found["needs_more_info"] is False

    def test_noise_is_no_frame_of_any_video(self) -> None:
        rng = np.random.default_rng(5)
        noise = jpeg(rng.integers(0, 256, (180, 320, 3), dtype=np.uint8))
        assert INDEX.recognize([noise]) == [None]

    def test_nothing_is_perceived_at_zero_and_more_at_more(self) -> None:
        held = []
        for share in (0.0, 0.4, 0.7, 1.0):
            caption = answer(OBSERVE, ObserveRequest(HAMMER, shown()), share)["caption"]
            held.append({thing for _, _, thing in ACTS if f" {thing} " in caption})
        assert held[0] == set()
        assert held[0] <= held[1] <= held[2] <= held[3] == {thing for _, _, thing in ACTS}


class TestReplies:
    def test_the_same_request_has_the_same_reply_and_another_seed_another(self) -> None:
        sent = body(ANSWER_CHOICE, _blind(HAMMER))
        assert reply_to(sent) == reply_to(sent)
        assert len({reply_to(sent, seed=seed) for seed in range(20)}) > 1


class TestServer:
    def test_models_and_usage(self) -> None:
        with simulated_reasoner(SimulatedModel(INDEX)) as (reasoner, server):
            (card,) = httpx.get(f"{server.base_url}/models").json()["data"]
            assert card["id"] == server.name
            reasoner.run(OBSERVE, ObserveRequest(HAMMER, shown()))
            usage = reasoner.usage()
            assert usage.prompt_tokens > usage.image_tokens == 6 * 12 * 7
            refused = httpx.post(f"{server.base_url}/chat/completions", json={"messages": []})
            assert refused.status_code == 400


def _blind(question: Question) -> Any:
    from rag.reasoners.roles.questions import AnchorEvent, RewrittenQuestion
    from rag.reasoners.roles.reading import Reading

    rewritten = RewrittenQuestion(visual_query="A video.", passage_queries=question.options)
    return Reading(question, rewritten, AnchorEvent(description="it"), (), (), must_choose=True)
