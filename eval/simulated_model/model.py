"""The simulated model itself: one request in, the text of one reply out."""

from __future__ import annotations

import io
import math
from dataclasses import dataclass

from eval.simulated_model.answers import Answering
from eval.simulated_model.dials import Dials
from eval.simulated_model.fingerprints import FrameIndex
from eval.simulated_model.perception import Perception
from eval.simulated_model.replies import UNKNOWN_ROLE, reply_text
from eval.simulated_model.request import BadRequest, Request

CELL = 28
"""Pixels of an image token's side, as of Qwen2-VL."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The text, what it cost, and what is wrong with it."""

    text: str
    prompt_tokens: int
    image_tokens: int
    completion_tokens: int
    cut: bool
    slips: tuple[str, ...]


class SimulatedModel:
    """Deterministic: the same seed, dials, videos and request give the same reply, in any order."""

    def __init__(self, index: FrameIndex, dials: Dials, seed: int = 0) -> None:
        self.dials, self.seed = dials, seed
        self._perception = Perception(index, dials, seed)

    def complete(self, request: Request) -> Reply:
        """The reply to a request. Raises `BadRequest`, in the words of vLLM, beyond the model's limits."""
        image_tokens = sum(_image_tokens(image) for image in request.images)
        prompt = image_tokens + text_tokens(request.system) + text_tokens(request.text)
        self._check_limits(request, prompt)
        text, slips = UNKNOWN_ROLE, tuple[str, ...]()
        if request.fields:
            reply = Answering(request, self._perception).reply()
            text, slips = reply_text(reply, request, self.dials, self.seed)
        tokens = text_tokens(text)
        cut = tokens > request.max_tokens
        if cut:
            text, tokens = text[: 4 * request.max_tokens], request.max_tokens
        return Reply(text, prompt, image_tokens, tokens, cut, slips)

    def _check_limits(self, request: Request, prompt: int) -> None:
        most = self.dials.images
        if len(request.images) > most:
            raise BadRequest(f"At most {most} image(s) may be provided in one request.")
        longest, reply = self.dials.context_tokens, request.max_tokens
        if prompt + reply > longest:
            raise BadRequest(
                f"This model's maximum context length is {longest} tokens. However, you requested "
                f"{prompt + reply} tokens ({prompt} in the messages, {reply} in the completion). "
                "Please reduce the length of the messages or completion."
            )


def text_tokens(text: str) -> int:
    """About four characters a token."""
    return math.ceil(len(text) / 4)


def _image_tokens(data: bytes) -> int:
    from PIL import Image

    try:
        width, height = Image.open(io.BytesIO(data)).size
    except OSError as error:
        raise BadRequest("image_url: no image that can be read") from error
    return math.ceil(width / CELL) * math.ceil(height / CELL)
