"""Roles that see no image: rewriting, planning and choosing by text, and judging answers.

Planning is by the rules of the embedded reasoner over the words of the prompt, and so no dial of perception
changes it; the judge's verdicts are wrong as often as the dials say.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from eval.simulated_model.language import clause_of
from eval.simulated_model.perception import Perception
from eval.simulated_model.request import Block, Request, listed_options, memory_parts
from eval.simulated_model.watcher import verdict
from eval.workbench.catalogue import kind, place_name
from eval.workbench.seeds import stable_number
from indexers.protocol import TextEncoder
from rag.reasoners.embedded import EmbeddedReasoner
from rag.reasoners.protocol import Role
from rag.reasoners.roles import ROLES
from rag.reasoners.roles.imagine_queries import IMAGINE_QUERIES, ImagineRequest
from rag.reasoners.roles.judge import JudgeRequest
from rag.reasoners.roles.material import Memory
from rag.reasoners.roles.plan import KnownVideo, PlanRequest, SubQuestion, TriedQuery
from rag.reasoners.roles.select_candidates import SELECT_CANDIDATES, Candidate, SelectRequest
from rag.records import Question
from rag.words import content_words

if TYPE_CHECKING:
    from numpy.typing import NDArray

WIDTH = 512


class WordVectors(TextEncoder):
    """A text encoder without weights: stems hashed to unit rows float32 (n, 512)."""

    name = "word-hashes"
    dim = WIDTH
    fingerprint = "word-hashes/1"

    def _encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = np.zeros((len(texts), WIDTH), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in content_words(text):
                row[stable_number("word", word) % WIDTH] += 1.0
        return rows


_RULES = EmbeddedReasoner(WordVectors())


def by_rule(role: Role[Any, Any], asked: Any) -> dict[str, Any]:
    """The embedded reasoner's reply as JSON data."""
    reply: dict[str, Any] = _RULES.run(role, asked).model_dump(mode="json")
    return reply


def question_role(request: Request, _: Perception) -> dict[str, Any]:
    """Roles that are given the question and nothing else."""
    return by_rule(ROLES[request.step], _question(request))


def _question(request: Request) -> Question:
    return Question("", request.get("question"), tuple(listed_options(request.get("options")).values()))


def imagine_queries(request: Request, _: Perception) -> dict[str, Any]:
    """As many searches as are wanted."""
    asked = ImagineRequest(_memory(request.get("memory")), request.count("count", 2))
    return by_rule(ROLES[request.step], asked)


def _memory(text: str) -> Memory:
    return Memory(**memory_parts(text))  # type: ignore[arg-type]  # the kind is one of the prompt's own


_SUB = re.compile(r"^\d+\. \((?P<status>solved|partial|missing)\) (?P<text>.*?)(?: Found: (?P<finding>.*))?$")
_TRIED = re.compile(r"^(?P<query>.*) -> (?P<found>\d+) new results$")


def plan(request: Request, _: Perception) -> dict[str, Any]:
    """The next step of a search."""
    subs = [found for line in request.get("sub_questions").splitlines() if (found := _SUB.match(line))]
    tried = [found for line in request.get("tried").splitlines() if (found := _TRIED.match(line))]
    asked = PlanRequest(
        question=_question(request),
        sub_questions=tuple(
            SubQuestion(text=found["text"], status=found["status"], finding=found["finding"] or "")
            for found in subs
        ),
        tried=tuple(TriedQuery(found["query"], int(found["found"])) for found in tried),
        known=tuple(_known(block) for block in request.numbered("video")),
        step=request.count("step", 1),
        max_steps=request.count("steps", 5),
        max_queries=request.count("count", 3),
    )
    return by_rule(ROLES[request.step], asked)


def _fields(text: str) -> dict[str, str]:
    """ "Title: ..." by line; a line without a name goes on with the one before."""
    found: dict[str, str] = {}
    last = ""
    for line in text.splitlines():
        name, colon, rest = line.partition(": ")
        if colon and name in _FIELDS:
            last, found[name] = name, rest
        elif last:
            found[last] += f"\n{line}"
    return found


_FIELDS = frozenset(
    {"Status", "Title", "Found", "At", "Channel", "Uploaded", "Length", "Tags", "Description"}
)


def _known(block: Block) -> KnownVideo:
    fields = _fields(block.text)
    status: Any = fields.get("Status")
    return KnownVideo(
        block.name,
        fields.get("Title", ""),
        status if status in ("verified", "watched", "rejected") else "watched",
        fields.get("Found", ""),
    )


def select_candidates(request: Request, _: Perception) -> dict[str, Any]:
    """The results that are worth opening."""
    found = [_fields(block.text) for block in request.numbered("result")]
    candidates = tuple(_candidate(str(at), fields) for at, fields in enumerate(found))
    asked = SelectRequest(
        request.get("question"), request.get("sub_question"), candidates, request.count("count", 3)
    )
    return by_rule(ROLES[request.step], asked)


def _candidate(url: str, fields: Mapping[str, str]) -> Candidate:
    return Candidate(
        url=url,
        title=fields.get("Title", ""),
        description=fields.get("Description", ""),
        channel=fields.get("Channel", ""),
        upload_date=fields.get("Uploaded", ""),
        duration=float(fields.get("Length", "0 s").removesuffix(" s") or 0),
        tags=tuple(tag for tag in fields.get("Tags", "").split(", ") if tag),
    )


_RESULT = re.compile(r"^Result \d+(?P<closed> \(cannot be opened\))?:$", re.MULTILINE)


def search_step(request: Request, _: Perception) -> dict[str, Any]:
    """The next search that was not made yet; none left: the results whose metadata fit best."""
    memory = _memory(request.get("memory"))
    tried, found = [], []
    for block in request.numbered("search"):
        head, *rest = _RESULT.split(block.text)
        tried.append(head.partition("Query: ")[2].split("\n")[0].casefold())
        found += [(mark is None, _fields(listed)) for mark, listed in zip(rest[::2], rest[1::2], strict=True)]
    left = request.count("count", 2)
    wanted = ImagineRequest(memory, len(tried) + 1)
    imagined = by_rule(IMAGINE_QUERIES, wanted)["queries"]
    queries = [query for query in imagined if query.casefold() not in tried]
    if left and (queries or not tried):
        return {"thought": "Another search.", "queries": queries[:1] or imagined[:1], "open": []}
    candidates = tuple(_candidate(str(at), fields) for at, (_, fields) in enumerate(found))
    cues = " ".join(memory_parts(request.get("memory")).values())
    most = request.count("urls", 2) * max(1, len(tried)) + 2
    ranked = by_rule(SELECT_CANDIDATES, SelectRequest(cues, cues, candidates, max(1, most)))["selected"]
    chosen = [at for at in ranked if found[at][0]]
    return {"thought": "These fit best.", "queries": [], "open": chosen}


def extract_entities(request: Request, _: Perception) -> dict[str, Any]:
    """The people, things and places of a text, and an edge for each action."""
    entities: dict[str, dict[str, Any]] = {}
    edges: list[dict[str, Any]] = []
    for line in re.split(r"(?<=[.!?])\s+|\n", request.get("text")):
        clause = clause_of(line)
        named = {
            "person": clause.agent,
            "object": kind(clause.kind_id).name if clause.kind_id else None,
            "place": place_name(clause.place) if clause.place else None,
        }
        here = [(name, sort) for sort, name in named.items() if name]
        for name, sort in here:
            entities.setdefault(name, {"name": name, "type": sort, "description": line.strip()})
        edges += [
            {"source": one, "target": other, "description": line.strip(), "strength": 8}
            for (one, _sort), (other, _other) in pairwise(here)
        ]
    return {"entities": list(entities.values()), "relationships": edges}


def judge(request: Request, perception: Perception) -> dict[str, Any]:
    """Whether an answer says what one of the right answers says."""
    truths = tuple(request.get("truth").splitlines())
    asked = JudgeRequest(request.get("question"), truths, request.get("prediction"))
    found = by_rule(ROLES[request.step], asked)
    right = verdict(bool(found["is_correct"]), request, perception, "judge")
    return {"is_correct": right, "reason": found["reason"] or "It says the same."}
