"""Arguments, rows and texts that the tools of the MCP server share.

A tool returns rows for programs, and lines for readers of the same rows. Names, titles and recognized text
come from files: control characters are escaped, and in lines they are in quotation marks, which they cannot
close. What does not fit is left out, and `next` is the call that continues.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field
from pydantic.json_schema import SkipJsonSchema

from corpora.records import EvidenceKind, cited_title, kind_name
from rag.library import Library
from rag.records import rounded_down
from rag.rendering.terminal import clock, excerpt
from rag.server.page import address_of
from rag.server.problems import unknown_video
from rag.server.questions import proving_line
from rag.server.service import Service

LONGEST_RESULT = 8_000
"""Characters of a result, of its text and of its JSON: clients refuse what is much longer."""
ROOM = 7_000
"""Of them for all but the last row and the line on how to continue."""
LONGEST_QUOTE = 160
LONGEST_TITLE = 140
LONGEST_PASSAGE = 400
SHORTEST_ID = 8
"""Characters of a video id that are enough to name it."""

Absent = SkipJsonSchema[None]
"""What is None where it is left out: its schema is that of its value, without null."""
T = TypeVar("T", bound="Row")


class Arguments(BaseModel):
    """Arguments of a tool: unknown ones are refused."""

    model_config = ConfigDict(extra="forbid")


class Row(BaseModel):
    """A part of a result."""

    def size(self) -> int:
        """Characters of its JSON, in which what is None is absent."""
        return len(self.model_dump_json(exclude_none=True))


@dataclass(frozen=True, slots=True)
class LabelledImage:
    """A JPEG and the line before it."""

    label: str
    jpeg: bytes


@dataclass(frozen=True, slots=True)
class Reply:
    """What a tool returns: the result, its lines of text, and images."""

    result: Row
    lines: Sequence[str]
    images: Sequence[LabelledImage] = ()


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
Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)] | Absent


State = Annotated[
    Literal["missing", "changed", "unreadable"],
    Field(description="Of a file that is no longer the one that was indexed."),
]


class Quote(Row):
    """Words from a file."""

    kind: EvidenceKind
    start: float
    end: float
    quote: str


class Found(Row):
    """A window of a video, or a passage, by its citation."""

    citation: str
    kind: Literal["video", "passage"]
    file: str
    state: State | Absent = None
    title: str = ""
    start: float | Absent = None
    end: float | Absent = None
    score: float = Field(description="Orders the rows of this result; no measure of how well one matches.")
    relevance: float | Absent = Field(None, description="How well it matches by itself, from 0 to 1.")
    matched: bool | Absent = Field(None, description="False: below the threshold, only among the nearest.")
    evidence: Quote | Absent = None
    passage: str | Absent = None
    pages: list[int] | Absent = Field(None, description="Pages of the file that the passage is on, from 1.")
    link: str | Absent = None

    def line(self) -> str:
        """One line for readers."""
        at = "" if self.start is None or self.end is None else f" {clock(self.start)}-{clock(self.end)}"
        name = f"“{cited_title(cleaned(self.title or self.file, LONGEST_TITLE), self.pages or ())}”"
        why = ""
        if self.evidence is not None:
            kind, at_second = kind_name(self.evidence.kind), f"{self.evidence.start:g} s"
            why = f"; {kind} at {at_second}: {quoted(self.evidence.quote)}"
        if self.passage is not None:
            why = f": {quoted(self.passage, LONGEST_PASSAGE)}"
        rated = "" if self.relevance is None else rating(self.relevance, near=self.matched is False)
        return f"{self.citation}  {name}{at}{rated}{stated(self.state)}{why}"


def stated(state: str | None) -> str:
    """`; file changed`, after what the file is cited for; empty where it is as it was indexed."""
    return f"; file {state}" if state else ""


def rating(relevance: float, *, near: bool) -> str:
    """`  relevance 0.29, only near`, after what is rated."""
    return f"  relevance {rounded_down(relevance):.2f}{', only near' if near else ''}"


def quoted(text: str, width: int = LONGEST_QUOTE) -> str:
    """Words from a file, on one line in quotation marks that they cannot close."""
    return f"“{cleaned(text, width)}”"


def cleaned(text: str, width: int = LONGEST_QUOTE) -> str:
    """Words from a file on one line, every character visible, without curly quotation marks."""
    return excerpt(text, width).replace("“", '"').replace("”", '"')


def fitting(rows: Sequence[T], line: Callable[[T], str], used: int = 0) -> list[T]:
    """The first rows that fit into a result of which `used` characters are taken; at least one."""
    kept: list[T] = []
    as_json = as_text = used
    for row in rows:
        as_json += row.size() + 1
        as_text += len(line(row)) + 1
        if kept and max(as_json, as_text) > ROOM:
            break
        kept.append(row)
    return kept


def call(tool: str, **arguments: Any) -> str:
    """A call as it is written to a model: `read_transcript(video="5f0c", start=120)`; None is left out."""
    given = ", ".join(
        f"{name}={json.dumps(value, ensure_ascii=False)}"
        for name, value in arguments.items()
        if value is not None
    )
    return f"{tool}({given})"


def found_row(service: Service, shape: Mapping[str, Any], threshold: float | None = None) -> Found:
    """A result of `questions.find`, or a citation of `questions.answer`; `threshold`: of a match."""
    common = {
        "citation": shape["citation"],
        "kind": shape["kind"],
        "file": file_name(shape["path"]),
        "state": shape.get("state"),
        "title": cleaned(shape.get("title", "")),
        "score": shape["score"],
        "relevance": shape.get("relevance"),
        "matched": None if threshold is None else shape["relevance"] >= threshold,
        "link": link(service, shape),
    }
    if shape["kind"] == "passage":
        passage = cleaned(shape["text"], LONGEST_PASSAGE)
        return Found(**common, passage=passage, pages=shape["pages"] or None)
    evidence = proving_line(shape)
    return Found(
        **common,
        start=shape["start"],
        end=shape["end"],
        evidence=None if evidence is None else quote_row(evidence),
    )


def quote_row(shape: Mapping[str, Any], width: int = LONGEST_QUOTE) -> Quote:
    """A piece of evidence."""
    return Quote(
        kind=shape["kind"], start=shape["start"], end=shape["end"], quote=cleaned(shape["text"], width)
    )


def file_name(path: str) -> str:
    """The last part of a path: folders of the server are none of a model's business."""
    return cleaned(PurePath(path).name)


def link(service: Service, shape: Mapping[str, Any]) -> str | None:
    """The address at which the page shows a result; None where there is no page."""
    return None if service.address is None else address_of(service.address, shape)


def links(service: Service) -> list[str]:
    """A line on where a window plays; none without a page."""
    if service.address is None:
        return []
    return [f"A window plays at {service.address}/#/v/VIDEO_ID?t=START,END"]


def following(call_of_next: str | None) -> list[str]:
    """The last line of a result that was cut; none for one that is whole."""
    return [] if call_of_next is None else [f"Truncated; there is more: {call_of_next}"]


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
        raise unknown_video(cleaned(name))
    return found[0]
