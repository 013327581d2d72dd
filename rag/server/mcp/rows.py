"""What the tools of the MCP server share: their arguments, and how a document of the API is cut for a model.

A tool returns the document that the REST API has for the same question. For a model it is made small:
paths are names of files, texts are excerpts, and the rows that do not fit are left out. `next` is then the
call that continues. Names, titles and recognized text come from files: their control characters are escaped.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Annotated, Any

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from rag.library import Library
from rag.rendering.shapes import CitationItem
from rag.rendering.terminal import excerpt
from rag.server.page import address_of
from rag.server.problems import unknown_video
from rag.server.questions import proving_line
from rag.server.service import Service

LONGEST_RESULT = 8_000
"""Characters of a result as JSON: clients refuse what is much longer."""
ROOM = 7_700
"""Characters for all but the last row and `next`."""
LONGEST_TEXT = 1_200
"""Characters of a text; most passages are shorter."""
SHORTEST_ID = 8
"""Characters of a video id that are enough to name it."""
LEFT_OUT = frozenset({"clip", "proof", "shot", "usage", "timings", "also_at"})
"""Keys of documents that tell a model nothing."""
PATHS = frozenset({"path", "paths", "file"})

Absent = SkipJsonSchema[None]
"""What is None where it is left out: its schema is that of its value, without null."""
Video = Annotated[
    str,
    Field(
        min_length=1,
        max_length=200,
        description="Id of a video as results give it, or a citation of one of its windows.",
    ),
]
Query = Annotated[
    str,
    Field(
        min_length=1,
        max_length=1000,
        description="What to look for, in plain words: what is seen, said, or written on screen.",
    ),
]
Within = Annotated[
    str | Absent, Field(min_length=1, max_length=200, description="Only in this video, by id or citation.")
]
Skip = Annotated[int, Field(ge=0, description="Rows to leave out from the first: pass what `next` names.")]


@dataclass(frozen=True, slots=True)
class Opened:
    """What a tool works on."""

    service: Service
    library: Library
    tool: str
    arguments: Mapping[str, Any]
    """Those that the client gave, as they were understood."""


def cut(value: Any, longest: int = LONGEST_TEXT, key: str = "") -> Any:
    """A document for a model: without what tells it nothing, every text at most `longest` characters.

    Of paths the last part: folders of the server are none of a model's business.
    """
    match value:
        case str():
            return excerpt(PurePath(value).name if key in PATHS else value, longest)
        case Mapping():
            return {name: cut(each, longest, name) for name, each in value.items() if name not in LEFT_OUT}
        case list() | tuple():
            return [cut(each, longest, key) for each in value]
    return value


def fit(shape: Any, rows: str, opened: Opened, *, more: bool = False) -> None:
    """Leave out the last of the rows under the key `rows` that do not fit, but for the first.

    `next` then is the same call with the rows to skip; also where there are `more` rows than the document
    has.
    """
    held: Sequence[Any] = shape[rows]
    room = ROOM - _length({**shape, rows: []})
    kept = 0
    for row in held:
        room -= _length(row) + 2
        if kept and room < 0:
            break
        kept += 1
    shape[rows] = held[:kept]
    if more or kept < len(held):
        skip = opened.arguments.get("skip", 0) + kept
        shape["next"] = call(opened.tool, **{**opened.arguments, "skip": skip})


def _length(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False))


def call(tool: str, **arguments: Any) -> str:
    """A call as it is written to a model: `read_transcript(video="5f0c", start=120)`; None is left out."""
    given = ", ".join(
        f"{name}={json.dumps(value, ensure_ascii=False)}"
        for name, value in arguments.items()
        if value is not None
    )
    return f"{tool}({given})"


def cite(service: Service, shapes: Sequence[CitationItem]) -> None:
    """Leave each window the evidence that proves it best, and link each to the page where there is one."""
    for shape in shapes:
        if shape["kind"] == "video":
            proof = proving_line(shape)
            shape["evidence"] = [] if proof is None else [proof]
        if service.address is not None:
            shape["link"] = address_of(service.address, shape)


def video_of(library: Library, name: str) -> str:
    """The id of a video given by its id, the start of it, or a citation; never by a path.

    Raises `Problem` for one that the library does not have.
    """
    name = name.rpartition("@")[0] or name
    known = [video.video_id for video in library.engine.reader.videos()]
    found = [video_id for video_id in known if video_id == name] or [
        video_id for video_id in known if len(name) >= SHORTEST_ID and video_id.startswith(name)
    ]
    if len(found) != 1:
        raise unknown_video(excerpt(name, LONGEST_TEXT))
    return found[0]
