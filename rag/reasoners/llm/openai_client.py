"""Any OpenAI-compatible server (llama.cpp, Ollama, vLLM, LM Studio, ...), over HTTP.

A request goes to the server that the user named, and nowhere else: redirects are not followed, and proxies,
keys and names of the environment are not read. One deadline holds for a whole call: connecting, retries,
waits, and a server that sends a byte now and then for ever. It is kept by cancelling, so a call runs in an
event loop of its own.
"""

from __future__ import annotations

import asyncio
import base64
import itertools
import json
import random
import ssl
from collections.abc import Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, NoReturn, TypeVar

import httpx2

from rag.errors import (
    PromptTooLarge,
    ReasonerError,
    ReasonerUnreachable,
    ReplyInvalid,
    RequestRefused,
    SettingsError,
)
from rag.reasoners.llm.refusals import ErrorStatus, form_refused, format_named, images_refused, limits_refused
from rag.reasoners.prompts import ChatReply, EncodedAudio, EncodedImage, Message
from rag.reasoners.turns import waiting
from rag.settings import ReasonerSettings

Result = TypeVar("Result")
MAX_REPLY_BYTES = 8 * 2**20
PASSING = (408, 429)
"""Refusals of a moment, beside 5xx."""
ATTEMPTS = 5
"""VideoDetective, table 9: 5 times, with waits from 1 s to 20 s."""
LONGEST_CONNECT = 10.0
LARGEST_COUNT = 2**53
"""A larger number of tokens is no real count."""
SHOWN = 300
"""Characters of a server's own message that are shown."""


class NotAChatReply(Exception):
    """The server answered 2xx with something that is no chat completion."""

    advice = "reasoner.base_url must name an OpenAI-compatible server (it ends in /v1)"


def parse_base_url(base_url: str) -> httpx2.URL:
    """The address of an OpenAI-compatible server; else `ValueError`."""
    try:
        url = httpx2.URL(base_url.strip())
    except httpx2.InvalidURL as error:
        raise ValueError(str(error)) from error
    if url.scheme not in ("http", "https") or not url.host:
        raise ValueError("it is no http address with a host")
    if url.userinfo:
        raise ValueError("it holds a password; that goes into RAG_REASONER__API_KEY")
    return url


def reply_formats(schema: dict[str, Any]) -> tuple[dict[str, Any], ...]:
    """The forms in which a server is asked for a reply of that JSON schema, the strictest first.

    The second is llama.cpp's: without the schema beside it, it holds a reply to no keys at all. The last asks
    for no form.
    """
    named = {"name": "reply", "schema": schema, "strict": True}
    formats = ({"type": "json_schema", "json_schema": named}, {"type": "json_object", "schema": schema})
    return (*({"response_format": each} for each in (*formats, {"type": "json_object"})), {})


class OpenAIClient:
    """Sends conversations to `settings.base_url`; contacts nothing else.

    Transport errors, 429 and 5xx are tried again, at most `ATTEMPTS` times in all. A wait is between half of
    it and the whole of `first_wait`, doubled each time, so that calls refused together do not come again
    together; or it is the server's Retry-After; `longest_wait` seconds at most. Everything else is an error
    at once; so is a first call that cannot connect: the server was not started, and does not start again.
    """

    def __init__(
        self,
        settings: ReasonerSettings,
        *,
        seed: int = 0,
        first_wait: float = 1.0,
        longest_wait: float = 20.0,
    ) -> None:
        if not settings.model:
            raise SettingsError(
                "reasoner.model is empty: name the model as the server lists it (RAG_REASONER__MODEL)"
            )
        try:
            self._url = parse_base_url(settings.base_url)
        except ValueError as error:
            raise SettingsError(f"{settings.server}: {error}; give http://host:port/v1") from error
        self.name = f"openai:{settings.model}"
        self._settings = settings
        self._key = settings.api_key.get_secret_value() or "none"
        self._seed = seed
        self._answered = False
        self._format = 0 if settings.structured else len(reply_formats({})) - 1
        self._first_wait = first_wait
        self._longest_wait = longest_wait

    def send(self, messages: Sequence[Message], schema: dict[str, Any], *, max_tokens: int) -> ChatReply:
        """Send as `ChatClient.send`, under one deadline for connecting, retries and the reply.

        A server that refuses a form of `reply_formats` is asked for the next one. The first that it answers
        to is asked for from then on.
        """
        seconds = self._settings.timeout_seconds
        body = {
            "model": self._settings.model,
            "messages": [plain_message(message) for message in messages],
            "temperature": 0.0,
            "seed": self._seed,
            "max_tokens": max_tokens,
        }
        formats = reply_formats(schema)
        for number in range(self._format, len(formats)):
            last = number == len(formats) - 1
            try:
                with waiting():
                    reply = _run(self._ask({**body, **formats[number]}, seconds, may_step_down=not last))
            except ErrorStatus as error:
                if last or not self._steps_down(error):
                    self._give_up(error)
            except NotAChatReply as error:
                # Of a model server it is one lost reply; of another program it would be every one.
                kind = ReplyInvalid if self._answered else ReasonerError
                raise kind(f"{self._where} answered with {self._masked(error)}; {error.advice}") from error
            except httpx2.TransportError as error:
                raise self._unreachable(self._masked(error)) from error
            except TimeoutError as error:
                raise self._unreachable(
                    f"no reply within {seconds:g} s", "raise reasoner.timeout_seconds, see its log"
                ) from error
            else:
                if not self._answered:
                    self._answered, self._format = True, number
                return reply
        raise AssertionError("the last form is answered, or an error")

    async def _ask(self, body: dict[str, Any], seconds: float, *, may_step_down: bool) -> ChatReply:
        """One request, sent again where its failure may pass; raises the last failure."""
        failure: Exception | None = None
        data = json.dumps(body).encode()
        http = self._http(seconds)
        try:
            async with asyncio.timeout(seconds), http:
                for attempt in itertools.count(1):
                    try:
                        return _chat_reply(await self._exchange(http, data))
                    except (ErrorStatus, httpx2.TransportError) as error:
                        failure = error
                        refused = may_step_down and isinstance(error, ErrorStatus) and self._steps_down(error)
                        if refused or attempt == ATTEMPTS or not self._passes(error, attempt):
                            raise
                    await asyncio.sleep(self._wait(failure, attempt))
        except TimeoutError:
            if failure is not None:
                raise failure from None
            raise
        raise AssertionError("the last attempt returns or raises")

    def _http(self, seconds: float) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(
            headers={
                "accept-encoding": "identity",
                "authorization": f"Bearer {self._key}",
                "content-type": "application/json",
                "user-agent": "offline-video-rag",
            },
            timeout=httpx2.Timeout(seconds, connect=min(seconds, LONGEST_CONNECT)),
            follow_redirects=False,
            trust_env=False,
            verify=_ssl_context(),
        )

    async def _exchange(self, http: httpx2.AsyncClient, data: bytes) -> bytes:
        """The body of a reply; raises `ErrorStatus`, and `NotAChatReply` for an endless one."""
        body = bytearray()
        address = f"{str(self._url).rstrip('/')}/chat/completions"
        async with http.stream("POST", address, content=data) as response:
            try:
                async for piece in response.aiter_bytes():
                    body += piece
                    if len(body) > MAX_REPLY_BYTES:
                        raise NotAChatReply(f"a reply of more than {MAX_REPLY_BYTES // 2**20} MiB")
            except httpx2.DecodingError as error:
                raise NotAChatReply("a reply that does not decompress") from error
            if not response.is_success:
                said = body.decode("utf-8", "replace")
                raise ErrorStatus(response.status_code, said, response.headers.get("retry-after", ""))
        return bytes(body)

    def _steps_down(self, error: ErrorStatus) -> bool:
        """Whether a refusal is of the reply's form: it names it, or nothing was answered in this form yet."""
        return form_refused(error) and (format_named(error) or not self._answered)

    def _passes(self, error: Exception, attempt: int) -> bool:
        """Whether the same request may succeed a moment later."""
        if isinstance(error, ErrorStatus):
            known = limits_refused(error) is not None or images_refused(error)
            return error.status in PASSING or (error.status >= 500 and not known)
        return self._answered or attempt > 1 or not isinstance(error, httpx2.ConnectError)

    def _wait(self, error: Exception, attempt: int) -> float:
        asked = error.retry_after if isinstance(error, ErrorStatus) else ""
        if asked.isdecimal():
            return min(float(asked), self._longest_wait)
        wait: float = min(self._first_wait * 2 ** (attempt - 1), self._longest_wait)
        return wait * random.uniform(0.5, 1.0)

    def _give_up(self, error: ErrorStatus) -> NoReturn:
        status, said = error.status, f" ({self._masked(error.said)})" if error.said.strip() else ""
        if (limits := limits_refused(error)) is not None:
            raise PromptTooLarge(
                f"{self._where} answers {status}{said}; lower search.top_k, localize.frame_budget or "
                "reasoner.image_short_side, or run the model with a longer context",
                limits.context_tokens,
                limits.max_images,
            ) from error
        if images_refused(error):
            raise ReasonerError(
                f"{self._where} answers {status}{said}; serve a model that takes images, or set "
                "reasoner.images to false"
            ) from error
        if form_refused(error) and (status < 500 or format_named(error)):
            raise RequestRefused(
                f"{self._where} answers {status}{said}; check the server and the reasoner settings"
            ) from error
        if status in PASSING or status >= 500:
            advice = "lower --concurrency" if status == 429 else "see the server's log"
            raise ReasonerUnreachable(
                f"{self._where} keeps answering {status}{said}; {advice}, and try again later"
            ) from error
        advice = {
            401: "set RAG_REASONER__API_KEY",
            403: "set RAG_REASONER__API_KEY",
            404: f"check reasoner.model, and that {self._settings.server} ends in /v1",
        }.get(status, "check the server and the reasoner settings")
        if 300 <= status < 400:
            advice = f"redirects are not followed; set {self._settings.server} to the final address"
        raise ReasonerError(f"{self._where} answers {status}{said}; {advice}") from error

    @property
    def _where(self) -> str:
        return f"the language model server at {self._url}"

    def _unreachable(self, why: str, advice: str = "start it") -> ReasonerUnreachable:
        return ReasonerUnreachable(
            f"{self._where} is not answering: {why}; {advice}, correct {self._settings.server}, "
            "or use reasoner.kind = embedded"
        )

    def _masked(self, said: object) -> str:
        """One printable line of what a server or a library said, without the key."""
        text = " ".join(str(said).split()) or type(said).__name__
        if self._key != "none":
            text = text.replace(self._key, "****")
        text = "".join(letter if letter.isprintable() else "?" for letter in text)
        return text if len(text) <= SHOWN else text[:SHOWN] + "..."


@cache
def _ssl_context() -> ssl.SSLContext:
    """Made once: reading the certificates takes 0.1 s, and every call has a client of its own."""
    return httpx2.create_ssl_context()


def _run(work: Coroutine[Any, Any, Result]) -> Result:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    # A notebook or a server already runs a loop in this thread, and loops do not nest.
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


def plain_message(message: Message) -> dict[str, Any]:
    """Put a message into the API's own form: one text, or a list of texts, images and sounds."""
    if all(isinstance(part, str) for part in message.parts):
        return {"role": message.speaker, "content": message.text}
    return {"role": message.speaker, "content": [_content(part) for part in message.parts]}


def _content(part: str | EncodedImage | EncodedAudio) -> dict[str, Any]:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    data = base64.b64encode(part.data).decode()
    if isinstance(part, EncodedAudio):
        return {"type": "input_audio", "input_audio": {"data": data, "format": "wav"}}
    return {"type": "image_url", "image_url": {"url": f"data:image/jpeg;base64,{data}"}}


def _json(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        raise NotAChatReply("no JSON") from error


def _chat_reply(body: bytes) -> ChatReply:
    """Text and counts of a chat completion. A count of 0 for the prompt is no count.

    Raises `NotAChatReply`, and `ErrorStatus` for an error that came with status 200.
    """
    reply = _json(body)
    match reply:
        case {"choices": [{"message": {**message}} as choice, *_]}:
            content = message.get("content")
        # Gateways answer 200 with the error of the server behind them.
        case {"error": {"message": str() as fault, "code": int() as code}} if 400 <= code < 600:
            raise ErrorStatus(code, fault)
        case {"error": {"message": str() as fault}} | {"error": str() as fault}:
            raise ErrorStatus(400, fault)
        case _:
            raise NotAChatReply("JSON that is no chat completion")
    if isinstance(content, list):
        content = "".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
    if not isinstance(content, str | None):
        raise NotAChatReply("JSON that is no chat completion")
    usage = reply["usage"] if isinstance(reply.get("usage"), dict) else {}
    details = usage.get("prompt_tokens_details")
    return ChatReply(
        # A lone surrogate has no UTF-8: such a reply could not be shown to the model again.
        text=(content or "").encode("utf-8", "replace").decode(),
        prompt_tokens=_count(usage.get("prompt_tokens")) or None,
        completion_tokens=_count(usage.get("completion_tokens")),
        image_tokens=_count(details.get("image_tokens")) if isinstance(details, dict) else None,
        cut=choice.get("finish_reason") == "length",
    )


def _count(value: object) -> int | None:
    return value if type(value) is int and 0 <= value <= LARGEST_COUNT else None
