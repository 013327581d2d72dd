"""What an able model would say in each role: to the requests of their contract, and inside an agent."""

import json
from collections.abc import Sequence
from typing import Any

from corpora.records import Frames
from eval.simulated_model.answers import Answering
from eval.simulated_model.frames import FrameIndex
from eval.simulated_model.perception import Perception
from eval.simulated_model.request import read_request
from eval.tasks.egofact.construction.records import FactPassage
from eval.tasks.egofact.construction.roles import (
    AnsweredQuestion,
    CheckReply,
    CheckRequest,
    Description,
    Distractors,
    EventReply,
    KeywordsReply,
    Narration,
    Screenshot,
    StatementsReply,
    Timeline,
)
from eval.tasks.egofact.scorer import CaptionCheck, Sufficiency
from eval.tasks.egofact.solvers.graph import Entity, Extraction, Relationship
from rag.reasoners.examples import CHOICE, VIEW, requests_of
from rag.reasoners.llm.openai_client import plain_message
from rag.reasoners.llm.reasoner import LlmReasoner
from rag.reasoners.prompts import ChatReply, Message
from rag.reasoners.protocol import Role
from rag.settings import ReasonerSettings

NO_VIDEOS = FrameIndex([])


def play(request: dict[str, Any]) -> dict[str, Any]:
    """What the simulated model says that recognizes no frame and makes no slip."""
    return Answering(read_request(request), Perception(NO_VIDEOS, 1.0, 0)).reply()


class Played:
    """A client of that model."""

    name = "played"

    def send(self, messages: Sequence[Message], *_: Any, **__: Any) -> ChatReply:
        return ChatReply(json.dumps(play({"messages": [plain_message(message) for message in messages]})))


LINES = "[00:01:30.00] (Scene) A bench with tools.\n[00:01:32.82] (Sound) #C C picks up a mirror."
PASSAGE = FactPassage("p", "Mirrors", "A mirror is stored dry, at 4 degrees.", "mirror", "")
MIRROR, WOMAN = Entity(name="mirror", type="object"), Entity(name="woman", type="person")
POLISHES = Relationship(source="woman", target="mirror", description="She polishes it.", strength=8)
EGOFACT: dict[str, tuple[Any, Any]] = {
    "describe_screenshot": (
        Screenshot(Frames(VIEW.frames.times[:1], VIEW.frames.images[:1]), ("Workshop",)),
        Description(description="A bench with tools."),
    ),
    "narrate_timeline": (
        Timeline(LINES, ("Workshop",)),
        Narration(concise="the video that shows a bench", detailed="the video that shows a bench."),
    ),
    "timeline_keywords": (Timeline(LINES), KeywordsReply(keywords={"bench": 8, "mirror": 6})),
    "event_structure": (
        "#C C picks up a mirror",
        EventReply(
            rewritten="the camera wearer picks up the mirror",
            agent="camera wearer",
            action="pick",
            patient="mirror",
            patient_canonical="mirror",
        ),
    ),
    "write_distractors": (
        AnsweredQuestion("What is the object that she polishes?", "mirror"),
        Distractors(distractors=("drill", "lamp", "cup", "brush", "lens"), score=8),
    ),
    "write_statements": (
        PASSAGE,
        StatementsReply(
            activity="storing parts",
            fact="It is stored at 4 degrees.",
            counterfacts=("It is stored at 9 degrees.", "It is stored wet.", "It is never stored."),
        ),
    ),
    "check_choice": (CheckRequest(CHOICE, ("It is made of glass.",)), CheckReply(choice="A")),
    "check_caption": (CaptionCheck("What is polished?", "1. A mirror."), Sufficiency(sufficient=True)),
    "extract_entities": (
        "The woman polishes a mirror.",
        Extraction(entities=(MIRROR, WOMAN), relationships=(POLISHES,)),
    ),
}
"""A request to each role of EgoFact's evaluation, and a sound reply."""


def exchanges(role: Role[Any, Any]) -> dict[str, tuple[Any, Any]]:
    """Requests to a role by name, each with a sound reply."""
    if role.name in EGOFACT:
        return {"one": EGOFACT[role.name]}
    model = LlmReasoner(Played(), ReasonerSettings(kind="openai", model="played", repairs=0))
    return {name: (request, model.run(role, request)) for name, request in requests_of(role).items()}
