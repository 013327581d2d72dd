"""Whether one frame shows the moment described (RACLO, F.3 and F.4; ShotFinder, section 4.4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pydantic import Field

from rag.reasoners.prompts import PromptItem
from rag.reasoners.protocol import BadReply, Example, Reply, Role, RoleCall
from rag.reasoners.roles.material import ConstraintKind, VideoView, view_item
from rag.reasoners.roles.samples import BARE, sample_view


@dataclass(frozen=True, slots=True)
class MatchRequest:
    """Is this frame the moment? (RACLO, F.3 and F.4; ShotFinder, section 4.4)"""

    description: str
    candidate: VideoView
    """One frame, with the words and sounds around it."""
    reference: VideoView | None = None
    """One frame: the true one."""
    constraint_kind: ConstraintKind = ""
    constraint: str = ""
    auditory_memory: str = ""


class FrameMatch(Reply):
    """Whether a frame is the moment, point by point; None where a point cannot be compared."""

    text_match: bool
    """The main subjects and actions of the description are there, and nothing contradicts it."""
    image_match: bool | None = None
    """Same scene as the reference; None where there is no reference."""
    audio_match: bool | None = None
    """None: no sound to compare, or nothing said of it."""
    constraint_match: bool | None = None
    """None: no constraint, or none that what is shown can decide."""
    confidence: float = Field(ge=0, le=1)
    reason: str = ""

    @property
    def matched(self) -> bool:
        """Every part that could be compared matches."""
        parts = (self.text_match, self.image_match, self.audio_match, self.constraint_match)
        return all(part is not False for part in parts)


def _prompt(request: MatchRequest) -> RoleCall:
    shown: list[PromptItem] = []
    if request.reference is not None:
        shown.append(view_item("reference", request.reference))
    shown.append(view_item("candidate", request.candidate))
    constraint = f"{request.constraint_kind}: {request.constraint}" if request.constraint else "(none)"
    return RoleCall(
        {
            "description": request.description,
            "constraint": constraint,
            "heard": request.auditory_memory or "(nothing)",
        },
        shown,
    )


def _sanitize(request: MatchRequest, reply: FrameMatch) -> FrameMatch:
    """Without a verdict on what there is nothing to compare with."""
    if request.reference is not None and reply.image_match is None:
        raise BadReply("image_match must be true or false")
    visible = request.constraint_kind in ("color", "style")
    if request.constraint and reply.constraint_match is None and visible:
        raise BadReply("constraint_match must be true or false")
    image = None if request.reference is None else reply.image_match
    constraint = reply.constraint_match if request.constraint else None
    return reply.model_copy(update={"image_match": image, "constraint_match": constraint})


def _examples() -> Iterator[Example[MatchRequest, FrameMatch]]:
    frame = sample_view(count=1)
    both = MatchRequest("a woman polishes", frame, frame, "audio", "a voice", "a voice")
    alone = FrameMatch(text_match=True, confidence=0.8)
    compared = FrameMatch(text_match=True, image_match=True, confidence=0.8)
    yield Example("alone", MatchRequest("a woman polishes", frame), alone)
    yield Example("against a reference", both, compared)
    unseen = FrameMatch(text_match=False, image_match=False, confidence=0.0)
    yield Example("nothing", MatchRequest("", BARE, BARE), unseen)


MATCH_FRAME = Role(
    "match_frame", "judge", MatchRequest, FrameMatch, _prompt, _sanitize, reply_tokens=512, examples=_examples
)
