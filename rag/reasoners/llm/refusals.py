"""Why a server refuses a request, by its own words: too long, too many images, or a reply format it lacks.

The API has no codes for these, so vLLM, llama.cpp, Ollama and LM Studio each word them differently.
"""

from __future__ import annotations

import re

from rag.reasoners.llm.fitting import ModelLimits

TOO_MANY_IMAGES = re.compile(
    r"at most (\d+) (?:image|multi-?modal)|limit-mm-per-prompt\D{1,60}?(\d+)"
    r"|too many images(?:\D{1,60}(\d+))?|(?:more than|maximum (?:of|is)?|limit of) (\d+) images?",
    re.IGNORECASE,
)
NO_IMAGES = re.compile(
    r"(?:image|vision|multi-?modal).{0,40}(?:not supported|unsupported)"
    r"|(?:not|n't) (?:support|accept|take).{0,40}(?:image|vision|multi-?modal)|not a multi-?modal model"
    r"|(?:at most|limit of|maximum of) 0 (?:image|multi-?modal)|mmproj",
    re.IGNORECASE,
)
TOO_LONG = re.compile(
    r"context (?:length|window|size)|n_ctx|max_model_len|too many tokens|exceed_context"
    r"|maximum (?:model|context|input|sequence|prompt) length"
    r"|(?:prompt|input|request|sequence|payload|body).{0,60}(?:too (?:long|large)|longer than|exceeds?)",
    re.IGNORECASE,
)
CONTEXT = re.compile(
    r"(?:context (?:length|window|size)|model length|n_ctx)(?: of only| of| is|[\"':= (])*\s*(\d{3,8})",
    re.IGNORECASE,
)
FORMAT = re.compile(r"response_format|json_schema|json_object|guided|grammar|structured", re.IGNORECASE)


class ErrorStatus(Exception):
    """A server's answer with an error status: the status, its words, and its Retry-After."""

    def __init__(self, status: int, said: str, retry_after: str = "") -> None:
        super().__init__(f"{status} {said}")
        self.status, self.said, self.retry_after = status, said, retry_after


def limits_refused(error: ErrorStatus) -> ModelLimits | None:
    """The limits that a refusal of length or images names, none of them maybe; None for another refusal.

    Servers word it differently, and some answer 500.
    """
    if error.status not in (400, 413, 422, 500):
        return None
    if images := TOO_MANY_IMAGES.search(error.said):
        most = next((int(number) for number in images.groups() if number), None)
        # A model that takes no image at all is another model than the settings say, not a limit.
        return None if most == 0 else ModelLimits(None, most)
    if error.status == 413 or TOO_LONG.search(error.said):
        context = CONTEXT.search(error.said)
        return ModelLimits(int(context[1]) if context else None)
    return None


def images_refused(error: ErrorStatus) -> bool:
    """Whether the server's model takes no images at all."""
    return error.status in (400, 415, 422, 500, 501) and NO_IMAGES.search(error.said) is not None


def form_refused(error: ErrorStatus) -> bool:
    """Whether the refusal may be of the request's form, as of its reply format.

    llama.cpp answers 500 to a `response_format` that it does not know.
    """
    refused = error.status in (400, 422, 500, 501)
    return refused and limits_refused(error) is None and not images_refused(error)


def format_named(error: ErrorStatus) -> bool:
    """Whether the server's words name the reply's format (`response_format`)."""
    return FORMAT.search(error.said) is not None
