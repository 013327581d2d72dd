"""A vision-language model in this process, from a local transformers folder.

Only safetensors are read, no code that comes with the weights is run, nothing
is looked up at a hub, and decoding is greedy.
"""

from __future__ import annotations

import io
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
import transformers
from PIL import Image
from transformers.models.auto.processing_auto import PROCESSOR_MAPPING

from indexers.devices import device_memory
from indexers.torch_backend import load_pretrained
from rag.errors import (
    DeviceFull,
    PromptTooLarge,
    ReasonerError,
    ReasonerUnreachable,
    SettingsError,
    WeightsInvalid,
    WeightsMissing,
)
from rag.reasoners.prompts import ChatReply, EncodedImage, Message
from rag.reasoners.turns import waiting
from rag.settings import ReasonerSettings

SHORTEST_ROOM = 512
"""Tokens that the context must leave for a reply; fewer where fewer are asked for."""


class LocalClient:
    """`AutoProcessor` and `AutoModelForImageTextToText` of one folder, chatting with images."""

    def __init__(self, folder: Path, processor: Any, model: Any, timeout_seconds: float) -> None:
        """`timeout_seconds`: generation ends at the first token after this long, and is then an error."""
        self.name = f"transformers:{folder.name}"
        self._folder, self._timeout_seconds = folder, timeout_seconds
        self._processor = processor
        # Two generations would need memory for both.
        self._one_call = threading.Lock()
        device = "cuda" if torch.cuda.is_available() else "cpu"
        with device_memory(str(folder)):
            self._model = model.to(device).eval()
        # Left at the folder's values, these contradict greedy decoding and are warned about.
        for knob in ("temperature", "top_p", "top_k", "min_p", "typical_p"):
            setattr(self._model.generation_config, knob, None)
        tokenizer = processor.tokenizer
        special = [token for token in tokenizer.added_tokens_decoder.values() if token.special]
        reserved = {str(token) for token in (*tokenizer.all_special_tokens, *special)}
        self._reserved = tuple(sorted(token for token in reserved if len(token) > 1))

    @classmethod
    def load(cls, settings: ReasonerSettings) -> LocalClient:
        """Load the folder that `settings.model` names.

        Raises `SettingsError`, `WeightsMissing`, `WeightsInvalid` with the reason, or `DeviceFull`.
        """
        if not settings.model:
            raise SettingsError("reasoner.model is empty: give the folder of a transformers model")
        folder = Path(settings.model).expanduser()
        if not (folder / "config.json").is_file():
            raise WeightsMissing(f"{folder}: no transformers model here (config.json is missing)")
        processor, model = load_pretrained(
            folder, "vision-language model", "AutoModelForImageTextToText", _load_processor, dtype="auto"
        )
        if getattr(processor, "tokenizer", None) is None or not getattr(processor, "chat_template", None):
            raise WeightsInvalid(f"{folder}: the processor has no tokenizer or no chat template")
        return cls(folder, processor, model, settings.timeout_seconds)

    def send(
        self,
        messages: Sequence[Message],
        schema: dict[str, Any],  # noqa: ARG002 (of ChatClient)
        *,
        max_tokens: int,
    ) -> ChatReply:
        """Send as `ChatClient.send`; the schema is not enforced."""
        with waiting(), self._one_call:
            return self._generated(messages, max_tokens)

    def _generated(self, messages: Sequence[Message], max_tokens: int) -> ChatReply:
        inputs = self._inputs(messages)
        prompt_tokens = int(inputs["input_ids"].shape[1])
        context = getattr(self._model.config.get_text_config(), "max_position_embeddings", None)
        room = max_tokens if context is None else min(max_tokens, context - prompt_tokens)
        if room < (needed := min(max_tokens, SHORTEST_ROOM)):
            raise PromptTooLarge(
                f"{self._folder}: the prompt has {prompt_tokens} tokens and the model takes {context}, "
                f"the reply among them, which may need {needed}; lower "
                "search.top_k, localize.frame_budget or reasoner.image_short_side"
            )
        purpose, seconds = f"{self._folder}: a prompt of {prompt_tokens} tokens", self._timeout_seconds
        try:
            with device_memory(purpose), torch.inference_mode():
                placed = inputs.to(self._model.device, self._model.dtype)
                output = self._model.generate(
                    **placed, do_sample=False, num_beams=1, max_new_tokens=room, max_time=seconds
                )
        except DeviceFull as error:
            # As a server does it: a prompt with fewer images may still fit.
            raise PromptTooLarge(str(error)) from error
        new = output[0, prompt_tokens:]
        whole = len(new) > 0 and int(new[-1]) in self._end_tokens()
        if not whole and len(new) < room:
            raise ReasonerUnreachable(
                f"{self._folder}: no whole reply within {seconds:g} s; "
                "raise reasoner.timeout_seconds, or use a smaller model"
            )
        return ChatReply(
            text=self._processor.tokenizer.decode(new, skip_special_tokens=True),
            prompt_tokens=prompt_tokens,
            completion_tokens=len(new),
            image_tokens=self._image_tokens(inputs["input_ids"]),
            cut=not whole,
        )

    def _inputs(self, messages: Sequence[Message]) -> Any:
        """Token ids and pixels, on the processor."""
        images: list[Image.Image] = []
        chat = []
        for message in messages:
            content: list[dict[str, str]] = []
            for part in message.parts:
                if isinstance(part, str):
                    content.append({"type": "text", "text": self._disarmed(part)})
                elif isinstance(part, EncodedImage):
                    content.append({"type": "image"})
                    images.append(Image.open(io.BytesIO(part.data)).convert("RGB"))
            chat.append({"role": message.speaker, "content": content})
        try:
            text = self._processor.apply_chat_template(chat, add_generation_prompt=True, tokenize=False)
            return self._processor(text=[text], images=images or None, return_tensors="pt")
        except (ValueError, TypeError, KeyError) as error:
            raise ReasonerError(f"{self._folder}: its processor refuses the prompt: {error}") from error

    def _disarmed(self, text: str) -> str:
        """Material that spells a token of the chat format (a role, an image) stays words."""
        for token in self._reserved:
            text = text.replace(token, f"{token[0]} {token[1:]}")
        return text

    def _end_tokens(self) -> set[int]:
        end = self._model.generation_config.eos_token_id
        return {end} if isinstance(end, int) else set(end or ())

    def _image_tokens(self, input_ids: Any) -> int:
        token = getattr(self._processor, "image_token_id", None)
        return int((input_ids == token).sum()) if isinstance(token, int) else 0


def _load_processor(folder: Path, **local: Any) -> Any:
    """The folder's processor; without its part for videos where that needs torchvision, which is not here:
    frames are sent as images."""
    try:
        return transformers.AutoProcessor.from_pretrained(folder, **local)
    except ImportError:
        kind: Any = PROCESSOR_MAPPING[type(transformers.AutoConfig.from_pretrained(folder, **local))]
        if "video_processor" not in kind.get_attributes():
            raise

    class ImagesOnly(kind):  # type: ignore[misc]  # its class is known when the folder is
        @classmethod
        def get_attributes(cls) -> list[str]:
            return [name for name in super().get_attributes() if name != "video_processor"]

    return ImagesOnly.from_pretrained(folder, **local)
