"""A request read as a model reads it: the JSON schema of the reply, the quoted material, and the images."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from eval.tasks.egofact.scorer import CHECK_CAPTION
from eval.tasks.egofact.solvers.graph import EXTRACT_ENTITIES
from rag.reasoners.roles import ROLES

_BLOCK = re.compile(
    r"\[BEGIN (?P<name>[^\n\]]+) (?P<tag>[0-9a-f]{8})\]\n(?P<text>.*?)\n?\[END (?P=name) (?P=tag)\]",
    re.DOTALL,
)
_STEP = re.compile(r"^Step: (\w+)\.", re.MULTILINE)
SCHEMAS = {
    role.name: role.reply.model_json_schema() for role in (*ROLES.values(), EXTRACT_ENTITIES, CHECK_CAPTION)
}
"""The JSON schema of the reply that the prompt of each step describes."""
MUST = ("never null", "must be true")
"""Words of a prompt that allows no empty answer."""
_IMAGE = re.compile(r"\x00(\d+)\x00")
_LINE = re.compile(
    r"^(?P<kind>[a-z_]+) (?P<start>\d+(?:\.\d+)?) s to (?P<end>\d+(?:\.\d+)?) s: (?P<text>.*)$"
)
_SPAN = re.compile(r"^Time: (?P<start>\d+(?:\.\d+)?) s to (?P<end>\d+(?:\.\d+)?) s$", re.MULTILINE)
_AT = re.compile(r"^Frames(?: at)?: (?P<times>.*)$", re.MULTILINE)


class BadRequest(ValueError):
    """A request that is no chat completion."""


@dataclass(frozen=True, slots=True)
class Text:
    """Words said or shown during [start, end), seconds of the video."""

    kind: str
    start: float
    end: float
    text: str


@dataclass(frozen=True, slots=True)
class Block:
    """One piece of quoted material, with the images that follow it."""

    name: str
    text: str
    images: tuple[bytes, ...] = ()

    @property
    def times(self) -> list[float]:
        """The seconds that are said of its images; empty where they are not said of each."""
        found = _AT.search(self.text)
        times = [float(at) for at in re.findall(r"(\d+(?:\.\d+)?) s", found["times"])] if found else []
        return times if len(times) == len(self.images) else []

    @property
    def span(self) -> tuple[float, float] | None:
        """[start, end) seconds of the stretch; None for material that is no stretch of a video."""
        found = _SPAN.search(self.text)
        return (float(found["start"]), float(found["end"])) if found else None

    @property
    def texts(self) -> list[Text]:
        """The timed texts of the block; a line without a time goes on with the one before."""
        found: list[Text] = []
        for line in self.text.splitlines():
            match = _LINE.match(line)
            if match:
                found.append(Text(match["kind"], float(match["start"]), float(match["end"]), match["text"]))
            elif found:
                last = found.pop()
                found.append(Text(last.kind, last.start, last.end, f"{last.text} {line}"))
        return found


@dataclass(frozen=True)
class Request:
    """One chat completion that is asked for."""

    step: str
    """Name of the role that the prompt is of; empty where it is none of ours."""
    blocks: tuple[Block, ...]
    schema: Mapping[str, Any]
    """JSON schema of the reply: that of the request, else of the prompt's step; empty where neither says."""
    system: str
    text: str
    images: tuple[bytes, ...]
    digest: str
    """A digest of everything that a reply depends on."""

    def get(self, name: str) -> str:
        """The text of the material of that name; empty where there is none."""
        return next((block.text for block in self.blocks if block.name == name), "")

    def numbered(self, name: str) -> list[Block]:
        """ "window 0", "window 1", ... in order."""
        return [block for block in self.blocks if re.fullmatch(rf"{name} \d+", block.name)]

    @property
    def fields(self) -> Mapping[str, Any]:
        """Schema of each key of the reply."""
        found: Mapping[str, Any] = self.schema.get("properties", {})
        return found

    @property
    def required(self) -> frozenset[str]:
        """Keys that the reply must have."""
        return frozenset(self.schema.get("required", ()))

    @property
    def count(self) -> int:
        """How many entries are wanted: the last number of the prompt's own words; 3 without one."""
        found = re.findall(r"\b\d+\b", _IMAGE.sub("", _BLOCK.sub("", self.text)))
        return int(found[-1]) if found else 3

    @property
    def must_answer(self) -> bool:
        """Whether an answer must be given even where nothing supports one."""
        return any(words in self.system for words in MUST)


def read_request(body: Any) -> Request:
    """Read the JSON of a chat completion. Raises `BadRequest`."""
    messages = body.get("messages") if isinstance(body, dict) else None
    if not isinstance(messages, list) or not messages:
        raise BadRequest("messages: a list with at least one message is required")
    images: list[bytes] = []
    written: dict[str, list[str]] = {"system": [], "user": [], "assistant": []}
    for message in messages:
        if not isinstance(message, dict) or message.get("role") not in written:
            raise BadRequest("messages: each has a role: system, user or assistant")
        written[message["role"]].append(_content(message.get("content"), images))
    system, user = "\n".join(written["system"]), written["user"][0] if written["user"] else ""
    step = _STEP.search(system)
    given = body.get("response_format")
    structured: Mapping[str, Any] = given if isinstance(given, dict) else {}
    kind = structured.get("type", "")
    schema = structured.get("schema") or structured.get("json_schema", {}).get("schema")
    return Request(
        step=step[1] if step else "",
        blocks=tuple(_blocks(user, images)),
        schema=schema or SCHEMAS.get(step[1] if step else "", {}),
        system=system,
        text=user,
        images=tuple(images),
        digest=_digest(messages, kind),
    )


def _content(content: Any, images: list[bytes]) -> str:
    """The text of a message, with a mark where each image is; images are appended."""
    if content is None or isinstance(content, str):
        return (content or "").replace("\x00", "")
    if not isinstance(content, list):
        raise BadRequest("content: a text, or a list of parts")
    found: list[str] = []
    for part in content:
        match part:
            case {"type": "text", "text": str() as text}:
                found.append(text.replace("\x00", ""))
            case {"type": "image_url", "image_url": {"url": str() as url}}:
                found.append(f"\x00{len(images)}\x00")
                images.append(_image(url))
            case _:
                raise BadRequest("content: a part is of type text or image_url")
    return "".join(found)


def _image(url: str) -> bytes:
    head, _, data = url.partition(";base64,")
    if not head.startswith("data:image/"):
        raise BadRequest("image_url: only data: URLs with base64 are taken; nothing is fetched")
    try:
        return base64.b64decode(data, validate=True)
    except binascii.Error as error:
        raise BadRequest("image_url: no base64") from error


def _blocks(text: str, images: Sequence[bytes]) -> Iterator[Block]:
    """The quoted material; an image belongs to the block that it follows."""
    matches = list(_BLOCK.finditer(text))
    ends = [match.start() for match in matches[1:]] + [len(text)]
    for match, end in zip(matches, ends, strict=False):
        own = tuple(images[int(number)] for number in _IMAGE.findall(text, match.end(), end))
        yield Block(match["name"], match["text"], own)


def _digest(messages: Any, structured: str) -> str:
    text = json.dumps([messages, structured], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]
