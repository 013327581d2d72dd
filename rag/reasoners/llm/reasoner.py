"""Every role by one road: a prompt file, a call, a reply checked against the role's schema."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rag.errors import ReasonerError, ReasonerUnreachable, ReplyInvalid
from rag.reasoners.llm import turns_judging, turns_road, turns_searching, turns_watching
from rag.reasoners.llm.budget import Budget
from rag.reasoners.llm.exchanges import Asked
from rag.reasoners.llm.messages import ChatClient, Message, Sent, Shown
from rag.reasoners.llm.prompts import Material, Prompt, load_prompt, prompt_versions, render
from rag.reasoners.llm.replies import BadReply, parse_reply
from rag.reasoners.llm.turns import Reply, Turn
from rag.reasoners.llm.usage import Ledger, estimated_image_tokens, estimated_text_tokens
from rag.reasoners.matching import matched_verdict
from rag.reasoners.roles import ROLES, Verdict

if TYPE_CHECKING:
    from pydantic import BaseModel

    from rag.reasoners.llm.recording import Tape
    from rag.reasoners.roles import (
        AnchorEvent,
        ChosenOption,
        Facets,
        FrameMatch,
        ImaginedQueries,
        ImagineRequest,
        JudgeRequest,
        Located,
        LocateRequest,
        MatchRequest,
        Observation,
        ObserveRequest,
        OpenAnswer,
        Plan,
        PlanRequest,
        Reading,
        RewrittenQuestion,
        SelectedCandidates,
        SelectRequest,
        Timeline,
        TimelineRequest,
        VerifyRequest,
        VideoVerdict,
    )
    from rag.records import Question, Usage
    from rag.settings import ReasonerSettings

SHOWN_BACK = 2000
"""Characters of a bad reply that are shown to the model again; a runaway reply is not fed back whole."""


class LlmReasoner:
    """The roles, played by a language model behind a `ChatClient`.

    `settings.max_calls` and the other bounds hold between two `usage()`: for one question,
    repairs included. Every role may raise `ReasonerUnreachable`, `ReplyInvalid`, `BudgetSpent` or
    another `ReasonerError`; and, in a replay, `ReplayUnknown`, which is none. `frame_budget`: frames
    sent of one window of a `Reading` at most; None sends all. `ledger`, `tape`: shared by the models
    of one run.
    """

    def __init__(
        self,
        client: ChatClient,
        settings: ReasonerSettings,
        frame_budget: int | None = None,
        *,
        ledger: Ledger | None = None,
        tape: Tape | None = None,
        seed: int = 0,
    ) -> None:
        self.name = client.name
        self.reads_pixels = settings.images
        self._client = client
        self._settings = settings
        self._frame_budget = frame_budget
        self._budget = Budget.of(settings)
        self._ledger = ledger if ledger is not None else Ledger()
        self._tape = tape
        self._seed = seed

    @property
    def fingerprint(self) -> str:
        prompts = json.dumps(prompt_versions(ROLES), sort_keys=True)
        return json.dumps({**self._facts, "prompts": prompts}, sort_keys=True)

    @property
    def _facts(self) -> dict[str, Any]:
        """The settings that decide a reply; part of an exchange's key."""
        chosen = self._settings
        return {
            "model": self.name,
            "temperature": 0,
            "seed": self._seed,
            "max_tokens": chosen.max_tokens,
            "images": chosen.images,
            "image_short_side": chosen.image_short_side,
            "structured": chosen.structured,
        }

    def call(
        self,
        role: str,
        variables: Mapping[str, Material],
        reply_model: type[Reply],
        images: Sequence[Shown] | None = None,
        check: Callable[[Reply], object] | None = None,
    ) -> Reply:
        """Play one role once, by the parts of its `Turn`."""
        return self.play(Turn(role, variables, reply_model, images, check))

    def play(self, turn: Turn[Reply]) -> Reply:
        """Play one role once: render its prompt, send it, parse the reply.

        A bad reply is sent back with its error at most `settings.repairs` times, then `ReplyInvalid`.
        """
        prompt = load_prompt(turn.role)
        images = turn.images
        if images is not None and not self._settings.images:
            images = [Shown(shown.name, shown.text) for shown in images]
        messages: tuple[Message, ...] = render(
            prompt, turn.variables, images, short_side=self._settings.image_short_side
        )
        fault, cut = "", False
        for repair in range(self._settings.repairs + 1):
            sent = self._send(prompt, messages, turn.reply, repair=repair > 0)
            cut = sent.cut
            try:
                reply = parse_reply(sent.text, turn.reply)
                if turn.check is not None:
                    turn.check(reply)
                return reply
            except BadReply as error:
                fault = str(error)
                if cut:
                    fault += f" (the reply was cut at {self._settings.max_tokens} tokens; be shorter)"
                messages = (*messages[:2], *_correction(sent.text, fault))
        advice = "raise reasoner.max_tokens" if cut else "use a more able model, or raise reasoner.repairs"
        attempts = self._settings.repairs + 1
        raise ReplyInvalid(
            f"{self.name}: no usable reply for {turn.role} in {attempts} attempts: {fault}; {advice}"
        )

    def _send(
        self, prompt: Prompt, messages: Sequence[Message], reply_model: type[BaseModel], *, repair: bool
    ) -> Sent:
        role = prompt.role
        text = sum(estimated_text_tokens(message.text) for message in messages)
        expected = text + estimated_image_tokens(messages)
        within = self._budget.allow(self.name, role, self._ledger, expected)
        self._ledger.begin(role, repair=repair)

        def live() -> tuple[Sent, float]:
            started = time.perf_counter()
            try:
                sent = self._client.send(messages, reply_model.model_json_schema(), within=within)
            except ReasonerError as error:
                spent = time.perf_counter() - started
                self._ledger.spend(role, spent)
                late = isinstance(error, ReasonerUnreachable)
                if (
                    late
                    and within is not None
                    and within < self._settings.timeout_seconds
                    and spent >= within
                ):
                    raise self._budget.late(self.name, role) from error
                raise
            return sent, time.perf_counter() - started

        if self._tape is None:
            sent, seconds = live()
        else:
            asked = Asked.of(role, prompt.version, self._facts, messages)
            sent, seconds = self._tape.exchange(asked, live)
        self._ledger.spend(role, seconds)
        self._ledger.record(role, messages, sent)
        return sent

    def usage(self) -> Usage:
        """What the calls since the last `usage` cost (keys of `by_role`: `ledger.KEYS`); resets the count."""
        return self._ledger.usage()

    def rewrite_question(self, question: Question) -> RewrittenQuestion:
        return self.play(turns_road.rewrite_question(question))

    def anchor_event(self, question: Question) -> AnchorEvent:
        return self.play(turns_road.anchor_event(question))

    def decompose_facets(self, question: Question) -> Facets:
        return self.play(turns_searching.decompose_facets(question))

    def imagine_queries(self, request: ImagineRequest) -> ImaginedQueries:
        return self.play(turns_searching.imagine_queries(request))

    def plan(self, request: PlanRequest) -> Plan:
        return self.play(turns_searching.plan(request))

    def select_candidates(self, request: SelectRequest) -> SelectedCandidates:
        return self.play(turns_searching.select_candidates(request))

    def locate(self, request: LocateRequest) -> Located:
        return self.play(turns_watching.locate(request))

    def observe(self, request: ObserveRequest) -> Observation:
        return self.play(turns_watching.observe(request))

    def timeline(self, request: TimelineRequest) -> Timeline:
        return self.play(turns_watching.timeline(request))

    def verify_video(self, request: VerifyRequest) -> VideoVerdict:
        return self.play(turns_watching.verify_video(request))

    def match_frame(self, request: MatchRequest) -> FrameMatch:
        return self.play(turns_watching.match_frame(request))

    def answer_choice(self, reading: Reading) -> ChosenOption:
        return self.play(turns_road.answer_choice(reading, self._frame_budget))

    def answer_open(self, reading: Reading) -> OpenAnswer:
        return self.play(turns_road.answer_open(reading, self._frame_budget))

    def judge(self, request: JudgeRequest) -> Verdict:
        """Exact and normalized match first; only what they leave open is asked of the model."""
        matched = matched_verdict(request)
        if matched is not None:
            return matched
        reply = self.play(turns_judging.judge(request))
        return Verdict(
            is_correct=reply.is_correct, rule="model", score=float(reply.is_correct), reason=reply.reason
        )


def _correction(text: str, fault: str) -> tuple[Message, Message]:
    shown = text[:SHOWN_BACK] if text.strip() else "(empty reply)"
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
