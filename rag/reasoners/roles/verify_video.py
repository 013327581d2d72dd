"""Whether a video is the remembered one (RACLO, appendix E)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pydantic import Field

from rag.reasoners.protocol import Example, Reply, Role, RoleCall
from rag.reasoners.roles.material import Memory, VideoView, memory_text, view_item
from rag.reasoners.roles.samples import BARE, MEMORY, VIEW


@dataclass(frozen=True, slots=True)
class VerifyRequest:
    """Is this the video one remembers? (RACLO, appendix E; 64 frames uniformly over it, and its sound)"""

    memory: Memory
    view: VideoView


class VideoVerdict(Reply):
    """Whether a video is the one remembered."""

    video_match: bool
    audio_match: bool | None = None
    """None: no sound to compare, or nothing remembered of it."""
    confidence: float = Field(ge=0, le=1)
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Consensus:
    """A match counts only where both judges say so (RACLO, section 3.2)."""

    first: VideoVerdict
    second: VideoVerdict | None
    """None: not asked, because the first one rejected."""

    @property
    def agreed(self) -> bool:
        """True where both judges say that it matches."""
        return self.second is not None and self.first.video_match and self.second.video_match


def _prompt(request: VerifyRequest) -> RoleCall:
    return RoleCall({"memory": memory_text(request.memory)}, [view_item("video", request.view)])


def _examples() -> Iterator[Example[VerifyRequest, VideoVerdict]]:
    verdict = VideoVerdict(video_match=True, audio_match=True, confidence=0.8)
    yield Example("memory", VerifyRequest(MEMORY, VIEW), verdict)
    nothing = VideoVerdict(video_match=False, confidence=0.0)
    yield Example("nothing", VerifyRequest(Memory(), BARE), nothing)


VERIFY_VIDEO = Role(
    "verify_video", "watcher", VerifyRequest, VideoVerdict, _prompt, reply_tokens=512, examples=_examples
)
