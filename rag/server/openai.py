"""The OpenAI-compatible API, for chat clients: `/v1/models` and `/v1/chat/completions`.

The last message of the user is the question. Clients show citations in different places and drop fields that
they do not know, so they are given three times: as Markdown links at the end of the text, as `url_citation`
annotations, and as the `citations` of `rag.ask/1`. A chat client's own prompts, for titles and the like, are
answered without a search.
"""

from __future__ import annotations

import asyncio
import re
import secrets
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel, FailFast, Field
from starlette.responses import Response, StreamingResponse

from corpora.records import cited_title, clock
from rag.citations import quotations
from rag.errors import QuestionError, RagError
from rag.library import Library
from rag.questions import parse_distinct_question
from rag.reasoners.llm.usage import estimated_text_tokens
from rag.records import lead
from rag.rendering.shapes import CitationItem, to_json
from rag.rendering.terminal import excerpt, excerpt_with
from rag.server.page import address_of
from rag.server.problems import Document, Problem, problem_shape, problems
from rag.server.questions import AskBody, answer, proving_line
from rag.server.service import Served, Service

MODEL = "offline-video-rag"
MODEL_ROW = {"id": MODEL, "object": "model", "created": 0, "owned_by": "offline-video-rag"}
LONGEST_QUOTE = 160
MARKDOWN = re.compile(r"([\\`*_\[\]<>|~#])")
COMMENT_SECONDS = 15.0
"""Between two comments on a silent stream: proxies close one that is silent for long."""
LONGEST_TITLE = 60
CHORE = re.compile(r"\s*### Task:\n.*<chat_history>", re.DOTALL)
"""Open WebUI asks so for a title, tags and the like, each a key of a JSON object; without it has its own."""
TITLE_CHORE = re.compile(
    r"provide a concise, 5-word-or-less title for the conversation"
    r"|analyze this conversation and provide:\s*1\. the detected language"
    r"|generate a concise title \(max 40 characters\) for a conversation",
    re.IGNORECASE,
)
"""LibreChat asks so for a title, after the conversation or with it."""


class Message(BaseModel):
    """A message of the conversation; further keys are ignored."""

    role: str = Field(max_length=100)
    content: str | Annotated[list[dict[str, Any]], Field(max_length=1000)] | None = None

    def text(self) -> str:
        """The text, of all parts. Raises `QuestionError` for a part that is no text."""
        if not isinstance(self.content, list):
            return self.content or ""
        kinds = {str(part.get("type")) for part in self.content}
        if kinds - {"text"}:
            raise QuestionError("only text can be asked here; search by an image with POST /v1/search")
        return "\n".join(str(part.get("text", "")) for part in self.content)


class ChatBody(BaseModel):
    """A conversation; sampling options, tools and all else are accepted and ignored."""

    model: str = Field(max_length=200)
    messages: Annotated[list[Message], FailFast(), Field(min_length=1, max_length=10_000)]
    stream: bool | None = None
    stream_options: dict[str, Any] | None = Field(None, description="`include_usage` is read.")
    n: Literal[1] | None = Field(None, description="There is one answer to a question.")


@dataclass(frozen=True)
class Completion:
    """An answer as text, with where it cites what."""

    text: str
    prompt_tokens: int
    completion_tokens: int
    annotations: list[dict[str, Any]] = field(default_factory=list)
    citations: list[dict[str, Any]] = field(default_factory=list)

    @property
    def usage(self) -> dict[str, int]:
        """The tokens."""
        prompt, completion = self.prompt_tokens, self.completion_tokens
        return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}


def _head(kind: str) -> dict[str, Any]:
    created = int(time.time())
    return {"id": f"chatcmpl-{secrets.token_hex(12)}", "object": kind, "created": created, "model": MODEL}


def _choice(key: str, value: Mapping[str, Any], finish: str | None) -> dict[str, Any]:
    return {"index": 0, key: value, "finish_reason": finish, "logprobs": None}


class OpenAIRoute(APIRoute):
    """A route whose errors have the shape of OpenAI's."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler, and how its errors are answered."""
        handler = super().get_route_handler()

        async def handle(request: Request) -> Response:
            try:
                return await handler(request)
            except (RagError, Problem, RequestValidationError) as error:
                shape, status = error_shape(error)
                return Document(shape, status)

        return handle


def error_shape(error: Exception) -> tuple[dict[str, Any], int]:
    """The document and the status of an error."""
    if isinstance(error, RequestValidationError):
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"][1:])
        error = Problem(400, "invalid-request", f"{where}: {first['msg']}", param=where or None)
    shape = problem_shape(error, "")
    status = shape["status"]
    row = {
        "message": shape["detail"],
        "type": "invalid_request_error" if status < 500 else "server_error",
        "param": shape.get("param"),
        "code": shape["type"].rpartition(":")[2],
    }
    return {"error": row}, status


def _require_model(name: str) -> None:
    if name != MODEL:
        raise Problem(404, "unknown-id", f"{name}: no such model; it is {MODEL}")


def _answers(*statuses: int, stream: bool = False) -> dict[int | str, dict[str, Any]]:
    """`responses=` of a route: OpenAI's own documents, and problems where access is refused."""
    found = problems(*statuses)
    for row in found.values():
        row["content"] = {"application/json": {}, **row["content"]}
    events = {"text/event-stream": {"schema": {"type": "string"}}} if stream else {}
    answer = {"description": "As OpenAI has it", "content": {"application/json": {}, **events}}
    return {200: answer, **found}


router = APIRouter(prefix="/v1", tags=["openai"], route_class=OpenAIRoute)


@router.get("/models", responses=_answers())
def models() -> Response:
    """The one model: this library."""
    return Document({"object": "list", "data": [MODEL_ROW]})


@router.get("/models/{model}", responses=_answers(404))
def model(model: str) -> Response:
    """The model of that name."""
    _require_model(model)
    return Document(MODEL_ROW)


@router.post("/chat/completions", responses=_answers(404, 502, 504, stream=True))
async def chat(request: Request, service: Served, body: ChatBody) -> Response:
    """The answer to the last message of the user, with citations; streamed with `stream`."""
    _require_model(body.model)
    asked = [message.text() for message in body.messages if message.role == "user"]
    if not asked:
        raise QuestionError("there is no message of the user, so there is no question")
    reply = chore_reply(asked)
    if reply is None:
        # Refused here, before a stream has begun, with a status.
        parse_distinct_question(asked[-1])
    page = str(request.base_url).rstrip("/")

    def complete(library: Library) -> Completion:
        return completion(answer(library, AskBody.model_construct(question=asked[-1])), page)

    made = None
    if reply is not None:
        made = Completion(reply, estimated_text_tokens(asked[-1]), estimated_text_tokens(reply))
    if body.stream:
        with_usage = bool((body.stream_options or {}).get("include_usage"))
        chunks = streamed(service, complete, made, with_usage)
        unkept = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        return StreamingResponse(chunks, headers=unkept, media_type="text/event-stream")
    if made is None:
        made = await service.compute(request, complete)
    message = {"role": "assistant", "content": made.text, "refusal": None, "annotations": made.annotations}
    choices = [_choice("message", message, "stop")]
    head = _head("chat.completion")
    return Document({**head, "choices": choices, "usage": made.usage, "citations": made.citations})


async def streamed(
    service: Service, complete: Callable[[Library], Completion], made: Completion | None, with_usage: bool
) -> AsyncIterator[str]:
    """Server-sent events: the text, the annotations and the end, or the error, after a comment every 15 s.

    `made`: without a search. The question is given up where the client goes, and where the server stops.
    """
    head = _head("chat.completion.chunk")

    def chunk(delta: Mapping[str, Any], finish: str | None = None, **more: Any) -> str:
        return _event({**head, "choices": [_choice("delta", delta, finish)], **more})

    yield chunk({"role": "assistant", "content": ""})
    if made is None:
        question = asyncio.ensure_future(service.compute(None, complete))
        try:
            while not (await asyncio.wait([question], timeout=COMMENT_SECONDS))[0]:
                yield ":\n\n"
            made = question.result()
        except (RagError, Problem) as error:
            yield _event(error_shape(error)[0])
            return
        finally:
            question.cancel()
    yield chunk({"content": made.text})
    if made.annotations:
        yield chunk({"annotations": made.annotations}, citations=made.citations)
    yield chunk({}, "stop")
    if with_usage:
        yield _event({**head, "choices": [], "usage": made.usage})
    yield "data: [DONE]\n\n"


def _event(document: Mapping[str, Any]) -> str:
    return f"data: {to_json(document)}\n\n"


def chore_reply(messages: Sequence[str]) -> str | None:
    """The reply to what a client asks of its own; None for a question. `messages`: those of the user."""
    *before, prompt = messages
    if TITLE_CHORE.search(prompt):
        return excerpt(before[0] if before else "Conversation", LONGEST_TITLE)
    return "{}" if CHORE.match(prompt) else None


def completion(shape: Mapping[str, Any], page: str) -> Completion:
    """`rag.ask/1` as a text in Markdown; `page`: where the page is served."""
    found = shape["answer"]
    chosen = f"{found['choice']}. " if found["choice"] else ""
    text = f"{lead(found['verdict'])}{chosen}{markdown(found['text'])}"
    if found["matched"]:
        text = f"**{text}** (confidence {found['confidence']:.2f})"
    if found["explanation"]:
        text += f"\n\n{markdown(found['explanation'])}"
    annotations: list[dict[str, Any]] = []
    quoted = quotations(found["text"], found["explanation"], found["choice"])
    if shape["citations"]:
        text += "\n\nSources:\n"
    for number, citation in enumerate(shape["citations"], 1):
        title, quote = _source(citation, quoted)
        address = address_of(page, citation)
        text += f"\n{number}. "
        start = len(text)
        text += f"[{markdown(title)}]({address})"
        place = {"start_index": start, "end_index": len(text), "title": title, "url": address}
        annotations.append({"type": "url_citation", "url_citation": place})
        text += f": “{markdown(quote)}”" if quote else ""
    usage = shape["usage"]
    return Completion(
        text,
        usage["prompt_tokens"] + usage["image_tokens"] or estimated_text_tokens(shape["question"]),
        usage["completion_tokens"] or estimated_text_tokens(text),
        annotations,
        shape["citations"],
    )


def _source(citation: CitationItem, quoted: Sequence[str]) -> tuple[str, str]:
    """What a link is called, and the words that prove it, which may be empty; of a passage those `quoted`."""
    name = excerpt(PurePath(citation["path"]).name, 100)
    if citation["kind"] == "passage":
        title = cited_title(excerpt(citation["title"], 100) or name, citation["pages"], citation["path"])
        return title, excerpt_with(quoted, citation["text"], LONGEST_QUOTE)
    evidence = proving_line(citation)
    quote = "" if evidence is None else excerpt(evidence["text"], LONGEST_QUOTE)
    return f"{name} {clock(citation['start'])}-{clock(citation['end'])}", quote


def markdown(text: str) -> str:
    """Text from a file, in which nothing is Markdown."""
    return MARKDOWN.sub(r"\\\1", excerpt(text, 10_000))
