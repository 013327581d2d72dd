"""A vision-language model in this process: a local transformers folder as a LlamaIndex LLM.

Only safetensors are read, no code that comes with the weights is run, nothing
is looked up at a hub, and decoding is greedy.
"""

from __future__ import annotations

import io
import math
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import torch
import transformers
from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    CompletionResponse,
    CompletionResponseGen,
    ImageBlock,
    LLMMetadata,
    MessageRole,
    TextBlock,
)
from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.llms.custom import CustomLLM
from llama_index.core.llms.llm import LLM
from PIL import Image
from safetensors import SafetensorError
from transformers.models.auto.processing_auto import PROCESSOR_MAPPING

from indexers.devices import device_memory
from indexers.torch_backend import quiet_transformers
from rag.errors import (
    DeviceFull,
    PromptTooLarge,
    ReasonerError,
    ReasonerUnreachable,
    SettingsError,
    WeightsInvalid,
    WeightsMissing,
)
from rag.reasoners.llm.fitting import ModelLimits
from rag.reasoners.llm.messages import ChatReply, chat_messages
from rag.reasoners.prompts import Message
from rag.reasoners.turns import waiting
from rag.settings import ReasonerSettings

SHORTEST_ROOM = 512
"""Tokens that the context must leave for a reply; fewer where the settings ask for fewer."""


class LocalClient:
    """Sends conversations to any LlamaIndex LLM that chats in this process.

    Token counts are taken from the response's `additional_kwargs`
    (`prompt_tokens`, `completion_tokens`, `image_tokens`, `cut`), where they are.
    """

    def __init__(self, llm: LLM) -> None:
        self.name = f"{llm.class_name()}:{llm.metadata.model_name}"
        self._llm = llm
        # A deadline hooks into the model, and two generations would need memory for both.
        self._one_call = threading.Lock()

    def limits(self) -> ModelLimits:
        """None: the model counts a prompt itself, and refuses one that is too long."""
        return ModelLimits()

    def send(
        self,
        messages: Sequence[Message],
        schema: dict[str, Any],  # noqa: ARG002 (of ChatClient)
        *,
        within: float | None = None,
        max_tokens: int | None = None,  # noqa: ARG002 (the model's own room bounds the reply)
    ) -> ChatReply:
        """As `ChatClient.send`; the schema is not enforced."""
        with waiting(), self._one_call:
            response = self._llm.chat(
                chat_messages(messages), **({} if within is None else {"within": within})
            )
        counts = response.additional_kwargs
        return ChatReply(
            text=response.message.content or "",
            prompt_tokens=counts.get("prompt_tokens"),
            completion_tokens=counts.get("completion_tokens"),
            image_tokens=counts.get("image_tokens"),
            cut=bool(counts.get("cut", False)),
        )


class TransformersLLM(CustomLLM):  # type: ignore[misc]  # LlamaIndex is Any to mypy: it takes minutes to follow
    """`AutoProcessor` and `AutoModelForImageTextToText` of one folder, chatting with images."""

    folder: str
    max_tokens: int
    timeout_seconds: float
    """Generation is stopped after this long, and is then an error."""

    _processor: Any = PrivateAttr()
    _model: Any = PrivateAttr()
    _reserved: tuple[str, ...] = PrivateAttr()

    @classmethod
    def load(cls, settings: ReasonerSettings) -> TransformersLLM:
        """Load the folder that `settings.model` names.

        Raises `SettingsError`, `WeightsMissing`, `WeightsInvalid` with the reason, or `DeviceFull`.
        """
        if not settings.model:
            raise SettingsError("reasoner.model is empty: give the folder of a transformers model")
        folder = Path(settings.model).expanduser()
        if not (folder / "config.json").is_file():
            raise WeightsMissing(f"{folder}: no transformers model here (config.json is missing)")
        local = {"local_files_only": True, "trust_remote_code": False}
        try:
            with quiet_transformers():
                processor = _load_processor(folder, local)
                model, info = transformers.AutoModelForImageTextToText.from_pretrained(
                    folder, use_safetensors=True, dtype="auto", output_loading_info=True, **local
                )
        except (OSError, ValueError, KeyError, ImportError, RuntimeError, SafetensorError) as error:
            # What loaders raise on a folder that is not what it should be has no common base.
            reason = str(error).strip().splitlines() or [type(error).__name__]
            raise WeightsInvalid(
                f"{folder}: not a usable vision-language model with safetensors weights: {reason[0]}"
            ) from error
        if lacking := sorted({*info["missing_keys"], *(key for key, *_ in info["mismatched_keys"])}):
            # The loader fills such weights with random numbers, and only warns.
            raise WeightsInvalid(f"{folder}: {len(lacking)} weights are missing, {lacking[0]} among them")
        if getattr(processor, "tokenizer", None) is None or not getattr(processor, "chat_template", None):
            raise WeightsInvalid(f"{folder}: the processor has no tokenizer or no chat template")
        llm = cls(
            folder=str(folder), max_tokens=settings.max_tokens, timeout_seconds=settings.timeout_seconds
        )
        llm._adopt(processor, model)
        return llm

    def _adopt(self, processor: Any, model: Any) -> None:
        device = "cuda" if torch.cuda.is_available() else "cpu"
        self._processor = processor
        with device_memory(self.folder):
            self._model = model.to(device).eval()
        # Left at the folder's values, these contradict greedy decoding and are warned about.
        for knob in ("temperature", "top_p", "top_k", "min_p", "typical_p"):
            setattr(self._model.generation_config, knob, None)
        tokenizer = processor.tokenizer
        special = [token for token in tokenizer.added_tokens_decoder.values() if token.special]
        reserved = {str(token) for token in (*tokenizer.all_special_tokens, *special)}
        self._reserved = tuple(sorted(token for token in reserved if len(token) > 1))

    @classmethod
    def class_name(cls) -> str:
        """The name that LlamaIndex shows."""
        return "transformers"

    @property
    def metadata(self) -> LLMMetadata:
        """Name and context length, in tokens."""
        return LLMMetadata(
            context_window=self._context or -1,
            num_output=self.max_tokens,
            is_chat_model=True,
            model_name=Path(self.folder).name,
        )

    @property
    def _context(self) -> int | None:
        """Tokens the model takes; None where its configuration does not say."""
        config = self._model.config
        return getattr(config.get_text_config(), "max_position_embeddings", None)

    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        """One reply; counts of tokens in `additional_kwargs`. `kwargs` go to `generate`, but for
        `within`: seconds, where these are fewer than the settings allow."""
        seconds = min(self.timeout_seconds, kwargs.pop("within", None) or math.inf)
        inputs = self._inputs(messages)
        prompt_tokens = int(inputs["input_ids"].shape[1])
        room = (
            self.max_tokens if self._context is None else min(self.max_tokens, self._context - prompt_tokens)
        )
        if room < min(self.max_tokens, SHORTEST_ROOM):
            raise PromptTooLarge(
                f"{self.folder}: the prompt has {prompt_tokens} tokens and the model takes {self._context}, "
                f"the reply among them, which may need {min(self.max_tokens, SHORTEST_ROOM)}; lower "
                "search.top_k, localize.frame_budget or reasoner.image_short_side"
            )
        purpose = f"{self.folder}: a prompt of {prompt_tokens} tokens"
        try:
            with device_memory(purpose), torch.inference_mode(), _Deadline(self._model, seconds) as deadline:
                placed = inputs.to(self._model.device, self._model.dtype)
                output = self._model.generate(
                    **placed, do_sample=False, num_beams=1, max_new_tokens=room, **kwargs
                )
        except DeviceFull as error:
            # As a server does it: a prompt with fewer images may still fit.
            raise PromptTooLarge(str(error)) from error
        if deadline.passed:
            raise ReasonerUnreachable(
                f"{self.folder}: no whole reply within {seconds:g} s; "
                "raise reasoner.timeout_seconds, or use a smaller model"
            )
        new = output[0, prompt_tokens:]
        whole = len(new) > 0 and int(new[-1]) in self._end_tokens()
        return ChatResponse(
            message=ChatMessage(
                role=MessageRole.ASSISTANT,
                content=self._processor.tokenizer.decode(new, skip_special_tokens=True),
            ),
            additional_kwargs={
                "prompt_tokens": prompt_tokens,
                "completion_tokens": len(new),
                "image_tokens": self._image_tokens(inputs["input_ids"]),
                "cut": not whole and len(new) >= room,
            },
        )

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:  # noqa: ARG002 (of LLM)
        """The reply to a single user message."""
        response = self.chat([ChatMessage(role=MessageRole.USER, content=prompt)], **kwargs)
        return CompletionResponse(
            text=response.message.content or "", additional_kwargs=response.additional_kwargs
        )

    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponseGen:
        """The whole reply as one piece: nothing here reads a reply before its end."""

        def pieces() -> CompletionResponseGen:
            whole = self.complete(prompt, formatted=formatted, **kwargs)
            yield CompletionResponse(text=whole.text, delta=whole.text)

        return pieces()

    def _inputs(self, messages: Sequence[ChatMessage]) -> Any:
        """Token ids and pixels, on the processor."""
        images: list[Image.Image] = []
        chat = []
        for message in messages:
            content: list[dict[str, str]] = []
            for block in message.blocks:
                if isinstance(block, TextBlock):
                    content.append({"type": "text", "text": self._disarmed(block.text)})
                elif isinstance(block, ImageBlock):
                    content.append({"type": "image"})
                    data = block.resolve_image().read()
                    images.append(Image.open(io.BytesIO(data)).convert("RGB"))
            chat.append({"role": message.role.value, "content": content})
        try:
            text = self._processor.apply_chat_template(chat, add_generation_prompt=True, tokenize=False)
            return self._processor(text=[text], images=images or None, return_tensors="pt")
        except (ValueError, TypeError, KeyError) as error:
            raise ReasonerError(f"{self.folder}: its processor refuses the prompt: {error}") from error

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


def _load_processor(folder: Path, local: dict[str, Any]) -> Any:
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


class _TooLate(Exception):
    """Carries a generation out of the middle of a forward pass."""


class _Deadline:
    """Breaks a model's work off before the first layer that would start too late.

    A stopping criterion is asked only between tokens, and reading a long prompt comes before the first.
    """

    def __init__(self, model: Any, seconds: float) -> None:
        self.passed = False
        self._model = model
        self._end = time.monotonic() + seconds
        self._hooks: list[Any] = []

    def __enter__(self) -> Self:
        self._hooks = [
            module.register_forward_pre_hook(self._look)
            for module in self._model.modules()
            if not list(module.children())
        ]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        for hook in self._hooks:
            hook.remove()
        self.passed = isinstance(error, _TooLate)
        return self.passed

    def _look(self, _module: Any, _inputs: Any) -> None:
        if time.monotonic() >= self._end:
            raise _TooLate
