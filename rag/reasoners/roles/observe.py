"""What one stretch of a video shows, and what is missing there (VideoDetective, D.2)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rag.reasoners.protocol import BadReply, Example, Reply, Role, RoleCall
from rag.reasoners.roles.decompose_facets import Facet
from rag.reasoners.roles.material import VideoView, distinct, view_item
from rag.reasoners.roles.samples import BARE, CHOICE, EMPTY, OPEN, VIEW
from rag.records import Question


@dataclass(frozen=True, slots=True)
class ObserveRequest:
    """Look at an interval for given facets (VideoDetective, D.2)."""

    question: Question
    view: VideoView
    facets: tuple[Facet, ...] = ()
    """What to verify; empty: the question as a whole."""
    vlm_query: str = ""
    """The question as `decompose_facets` words it for a model that looks; empty: as it was asked."""


class Observation(Reply):
    """What a stretch shows, and what it lacks."""

    caption: str
    """What is seen, read and said: who, what, where, actions, objects, text on the screen as it stands."""
    missing: tuple[str, ...] = ()
    """Keywords of the facets that are not to be seen or read here."""
    needs_more_info: bool
    """Whether the answer must be searched elsewhere."""
    missing_visual_keyword: str = ""
    """What to look for there; empty where nothing is missing."""
    reasoning: str = ""


def _prompt(request: ObserveRequest) -> RoleCall:
    return RoleCall(
        {
            "question": request.vlm_query or request.question.text,
            "keywords": _listed([word for facet in request.facets for word in facet.keywords]),
            "events": _listed([query for facet in request.facets for query in facet.queries]),
        },
        [view_item("video", request.view)],
    )


def _sanitize(request: ObserveRequest, reply: Observation) -> Observation:
    if not reply.caption.strip() and (request.view.times or request.view.texts):
        raise BadReply("caption is blank")
    words = {word.strip().casefold() for facet in request.facets for word in facet.keywords}
    missing = tuple(word for word in distinct(reply.missing) if word.casefold() in words)
    return reply.model_copy(update={"missing": missing})


def _listed(texts: Sequence[str]) -> str:
    return "\n".join(dict.fromkeys(texts)) or "(none)"


def _examples() -> Iterator[Example[ObserveRequest, Observation]]:
    mirror = Facet("question", ("mirror", "saxophone"), ("the mirror is polished",))
    facets = (mirror, Facet("A", ("glass",), ()))
    seen = Observation(caption="A mirror is polished.", needs_more_info=False)
    part = Observation(
        caption="A mirror is polished.",
        missing=("saxophone",),
        needs_more_info=True,
        missing_visual_keyword="saxophone",
    )
    yield Example("facets", ObserveRequest(CHOICE, VIEW, facets), part)
    yield Example("whole", ObserveRequest(OPEN, VIEW, vlm_query="What is it made of?"), seen)
    nothing = Observation(caption="Nothing is shown.", needs_more_info=True)
    yield Example("nothing", ObserveRequest(EMPTY, BARE), nothing)


OBSERVE = Role("observe", "watcher", ObserveRequest, Observation, _prompt, _sanitize, examples=_examples)
