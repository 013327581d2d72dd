"""Any role by a language model: its prompt rendered and sent, its reply checked against its schema."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from pydantic import BaseModel

from rag.errors import PromptTooLarge, ReplyInvalid
from rag.reasoners.llm.fitting import (
    ModelLimits,
    Reduction,
    fit_to,
    reduce_further,
    reduced_items,
    reduced_variables,
)
from rag.reasoners.llm.replies import parse_reply, spoken
from rag.reasoners.llm.usage import UsageCounter, require_call_left
from rag.reasoners.prompts import (
    ChatClient,
    ChatReply,
    Message,
    Prompt,
    PromptItem,
    load_prompt,
    prompt_versions,
    render,
)
from rag.reasoners.protocol import BadReply, ReplyT, RequestT, Role, RoleCall
from rag.reasoners.roles import ROLES
from rag.reasoners.turns import turn_clock
from rag.records import Usage
from rag.settings import ReasonerSettings

Rendered = Callable[[Reduction | None], tuple[Message, ...]]
"""A prompt as messages, reduced where it is too large."""
REPLY_EXCERPT = 2000
"""Characters of a bad reply that are shown to the model again; a runaway reply is not fed back whole."""


class LlmReasoner:
    """The roles, run by a language model behind a `ChatClient`.

    `settings.max_calls` holds between two `usage()`: for one question, repairs included. Every role may raise
    `ReasonerUnreachable`, `ReplyInvalid`, `BudgetSpent` or another `ReasonerError`. `usage_counter`: shared
    by the models of one run.
    """

    def __init__(
        self,
        client: ChatClient,
        settings: ReasonerSettings,
        *,
        usage_counter: UsageCounter | None = None,
        seed: int = 0,
    ) -> None:
        self.name = client.name
        self.reads_pixels = settings.images
        self._client = client
        self._settings = settings
        self._usage_counter = usage_counter if usage_counter is not None else UsageCounter()
        self._seed = seed

    @property
    def fingerprint(self) -> str:
        """Model, settings that decide a reply, and versions of all prompts, as JSON."""
        prompts = json.dumps(prompt_versions(ROLES.values()), sort_keys=True)
        chosen = self._settings
        audio = {"audio_seconds": chosen.audio_seconds} if chosen.audio else {}
        more = {"zoom_short_side": chosen.zoom_short_side, **audio, "prompts": prompts}
        facts = {
            "model": self.name,
            "temperature": 0,
            "seed": self._seed,
            "max_tokens": chosen.max_tokens,
            "images": chosen.images,
            "image_short_side": chosen.image_short_side,
            "structured": chosen.structured,
        }
        return json.dumps({**facts, **more}, sort_keys=True)

    def run(self, role: Role[RequestT, ReplyT], request: RequestT) -> ReplyT:
        """Run one role: render its prompt, send it, parse the reply.

        A bad reply is sent back with its error at most `settings.repairs` times, then `ReplyInvalid`. It ends
        sooner where the same would be sent again: the model is deterministic.
        """
        if role.decided is not None and (decided := role.decided(request)) is not None:
            return decided
        prompt = load_prompt(role)
        rendered = self._renderer(prompt, role.prompt(request))
        messages = rendered(None)
        whole, repairs = self._settings.max_tokens, self._settings.repairs
        longest = min(role.reply_tokens, whole) if repairs else whole
        for attempt in range(1, repairs + 2):
            sent = self._send(prompt, messages, role.reply, rendered, longest, repair=attempt > 1)
            try:
                return read_reply(role, request, sent.text)
            except BadReply as error:
                fault = str(error)
                if sent.cut:
                    fault += f" (the reply was cut at {longest} tokens; be shorter)"
            if sent.cut and longest < whole and _is_thinking(sent.text):
                longest = whole
                continue
            corrected = (*messages[:2], *_correction(sent.text, fault))
            if corrected == messages:
                break
            messages = corrected
        self._usage_counter.add(role.name, unread=1)
        advice = "use a more able model"
        advice = f"{advice}, or raise reasoner.max_tokens" if sent.cut and longest == whole else advice
        raise ReplyInvalid(
            f"{self.name}: no usable reply for {role.name} in {attempt} attempts: {fault}; {advice}"
        )

    def _renderer(self, prompt: Prompt, call: RoleCall) -> Rendered:
        """The prompt of a call, or what a reduction leaves of it; without images where none are sent."""
        chosen, images = self._settings, call.images
        if images is not None and not chosen.images:
            images = [PromptItem(shown.name, shown.text, read_audio=shown.read_audio) for shown in images]

        def rendered(reduction: Reduction | None) -> tuple[Message, ...]:
            variables, shown, scale = call.variables, images, 1.0
            if reduction is not None:
                variables, scale = reduced_variables(variables, reduction), reduction.scale
                shown = None if shown is None else reduced_items(shown, reduction)
            return render(
                prompt,
                variables,
                shown,
                short_side=max(1, round(chosen.image_short_side * scale)),
                zoom_short_side=max(1, round(chosen.zoom_short_side * scale)),
                audio_seconds=chosen.audio_seconds if chosen.audio else 0.0,
            )

        return rendered

    def _send(
        self,
        prompt: Prompt,
        messages: tuple[Message, ...],
        reply_model: type[BaseModel],
        rendered: Rendered,
        longest: int,
        *,
        repair: bool,
    ) -> ChatReply:
        role = prompt.role
        require_call_left(self._settings, self.name, role, self._usage_counter)
        # Counted before it is made, so that a failed one is not free.
        self._usage_counter.add(role, calls=1, repairs=repair)

        started = turn_clock()
        try:
            sent = self._fitted(messages, reply_model.model_json_schema(), rendered, longest)
        finally:
            self._usage_counter.add(role, seconds=turn_clock() - started)
        self._usage_counter.add(role, reduced=sent.reduced)
        self._usage_counter.record(role, messages, sent)
        return sent

    def _fitted(
        self, messages: tuple[Message, ...], schema: dict[str, Any], rendered: Rendered, longest: int
    ) -> ChatReply:
        """The reply to the prompt, reduced to what the model takes. Raises `PromptTooLarge` where the least
        that can be sent is refused.

        Nothing is learned from one call for the next: equal prompts are reduced equally, in any order.
        """
        whole = now = Reduction(images=sum(len(message.images) for message in messages))
        known = ModelLimits(self._settings.context_tokens, self._settings.max_images)
        now = fit_to(known, messages, now, longest)
        while True:
            less = replace(now, max_tokens=0) != whole
            shown = (*rendered(now), *messages[2:]) if less else messages
            try:
                sent = self._client.send(shown, schema, max_tokens=now.max_tokens or longest)
                return replace(sent, reduced=less)
            except PromptTooLarge as error:
                further = reduce_further(error, shown, now, longest)
                if further is None:
                    raise
                now = further

    def usage(self) -> Usage:
        """What the calls since the last `usage` cost (keys of `by_role`: `usage.KEYS`); resets the count."""
        return self._usage_counter.usage()


def read_reply(role: Role[RequestT, ReplyT], request: RequestT, text: str) -> ReplyT:
    """The reply that a model's text has for a role; raises `BadReply` where it has none that is sound."""
    reply = parse_reply(text, role.reply)
    return reply if role.sanitize is None else role.sanitize(request, reply)


def _is_thinking(text: str) -> bool:
    """Whether thinking took the room of a reply: in its text, or in a channel that is not shown."""
    return not text.strip() or spoken(text) != text


def _correction(text: str, fault: str) -> tuple[Message, Message]:
    shown = text[:REPLY_EXCERPT] if text.strip() else "(empty reply)"
    return (
        Message("assistant", (shown,)),
        Message(
            "user",
            (
                f"That reply cannot be used: {json.dumps(fault, ensure_ascii=False)}. "
                "Reply again with the corrected JSON object and nothing else.",
            ),
        ),
    )
