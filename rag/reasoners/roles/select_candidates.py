"""Search results worth opening, by their metadata alone (Video-Browser, section 4.2, stage I)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from corpora.text_decoding import one_line
from rag.reasoners.prompts import PromptItem
from rag.reasoners.protocol import BadReply, Example, Reply, Role, RoleCall
from rag.reasoners.roles.material import known_numbers
from rag.reasoners.roles.samples import OPEN

DESCRIPTION_EXCERPT = 400
"""Characters of a search result's description; the rest is rarely about its content."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One search result by its metadata alone."""

    url: str
    title: str
    description: str = ""
    channel: str = ""
    upload_date: str = ""
    duration: float = 0.0
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SelectRequest:
    """Stage I of pyramidal perception (Video-Browser, section 4.2): no image is looked at."""

    question: str
    sub_question: str
    """What the search was for; the question itself where it was not taken apart."""
    candidates: tuple[Candidate, ...]
    top_k: int = 3


class SelectedCandidates(Reply):
    """The results worth opening."""

    selected: tuple[int, ...]
    """Indices into `candidates`, likeliest first, at most `top_k`, each once; empty: none is worth it."""
    reason: str = ""


def _prompt(request: SelectRequest) -> RoleCall:
    items = [
        PromptItem(f"result {index}", listed(candidate)) for index, candidate in enumerate(request.candidates)
    ]
    return RoleCall(
        {
            "question": request.question,
            "sub_question": request.sub_question,
            "candidates": items,
            "!count": str(request.top_k),
        }
    )


def _sanitize(request: SelectRequest, reply: SelectedCandidates) -> SelectedCandidates:
    count = len(request.candidates)
    known = known_numbers(reply.selected, count)
    if count and reply.selected and not known:
        raise BadReply(f"selected names {reply.selected[:5]}; there are only 0 to {count - 1}")
    return reply.model_copy(update={"selected": known[: request.top_k]})


def listed(candidate: Candidate) -> str:
    """What a prompt says of a search result: its metadata, a line each."""
    about = candidate.description[:DESCRIPTION_EXCERPT]
    parts = {
        "Title": candidate.title,
        "Channel": candidate.channel,
        "Uploaded": candidate.upload_date,
        "Length": f"{candidate.duration:.0f} s" if candidate.duration else "",
        "Tags": ", ".join(candidate.tags),
        "Description": about,
    }
    return (
        "\n".join(f"{name}: {one_line(text)}" for name, text in parts.items() if text) or "(nothing is told)"
    )


def _examples() -> Iterator[Example[SelectRequest, SelectedCandidates]]:
    results = (
        Candidate("u0", "Bread for beginners", duration=300),
        Candidate(
            "u1", "Telescope workshop", "We polish a mirror.", "Optics", "20240305", 600, ("telescope",)
        ),
        Candidate("u2", "telescope workshop", duration=600.5),
    )
    request = SelectRequest(OPEN.text, "telescope mirror polishing", results, 2)
    yield Example("two", request, SelectedCandidates(selected=(1, 2), reason="They are of the workshop."))
    yield Example("no results", SelectRequest(OPEN.text, OPEN.text, (), 3), SelectedCandidates(selected=()))
    yield Example(
        "untitled", SelectRequest("", "", (Candidate("u", ""),), 1), SelectedCandidates(selected=())
    )


SELECT_CANDIDATES = Role(
    "select_candidates", "planner", SelectRequest, SelectedCandidates, _prompt, _sanitize, examples=_examples
)
