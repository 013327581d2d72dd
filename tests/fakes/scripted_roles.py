"""What an able model would say in each role: to the examples of the roles, and inside an agent."""

from __future__ import annotations

from functools import cache
from typing import Any

from eval.simulated_model.answers import Answering
from eval.simulated_model.dials import Dials
from eval.simulated_model.frames import FrameIndex
from eval.simulated_model.perception import Perception
from eval.simulated_model.request import read_request
from rag.reasoners.prompts import load_prompt, render
from rag.reasoners.roles import ROLES

NO_VIDEOS = FrameIndex([])


def play_example(request: dict[str, Any]) -> dict[str, Any]:
    """The reply of the example whose prompt this is."""
    return _examples()[_texts(request)]


@cache
def _examples() -> dict[tuple[str, str], dict[str, Any]]:
    found = {}
    for role in ROLES.values():
        sent = role.reply if role.draft is None else role.draft.model
        for example in role.examples():
            call = role.prompt(example.request)
            system, user = render(load_prompt(role), call.variables, call.images, short_side=1)
            found[system.text, user.text] = example.reply.model_dump(include=set(sent.model_fields))
    return found


def play(request: dict[str, Any]) -> dict[str, Any]:
    """What the simulated model says that recognizes no frame and makes no slip."""
    return Answering(read_request(request), Perception(NO_VIDEOS, Dials(), 0)).reply()


def _texts(request: dict[str, Any]) -> tuple[str, str]:
    """The system and the user message of a chat request, without images."""
    system, user = (
        "".join(part.get("text", "") for part in parts) if isinstance(parts, list) else parts
        for parts in (message["content"] for message in request["messages"])
    )
    return system, user
