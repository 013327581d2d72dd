"""Any OpenAI-compatible server (llama.cpp, Ollama, vLLM, LM Studio, ...), through LlamaIndex's `OpenAILike`.

One deadline holds for a whole call: connecting, retries, waits, and a server
that sends a byte now and then for ever. It is kept by cancelling, so the call
runs in an event loop of its own.

`Endpoint` is an httpx transport under the OpenAI client: a request may go to the server that the user named,
and nowhere else. That client would follow redirects, use proxies and organization names of the environment,
send facts about this machine in headers, and take a body of any size or kind; this one does not.
"""

from __future__ import annotations

import asyncio
import email.utils
import json
import math
import random
import ssl
import threading
import time
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, NoReturn, TypeVar

import httpx
import openai
import openai.resources.chat
import tenacity
from llama_index.llms.openai_like import OpenAILike

from rag.errors import PromptTooLarge, ReasonerError, ReasonerUnreachable, ReplyInvalid, SettingsError
from rag.reasoners.llm.fitting import ModelLimits
from rag.reasoners.llm.messages import ChatReply, chat_messages
from rag.reasoners.llm.recording import LARGEST_COUNT
from rag.reasoners.llm.refusals import format_refused, images_refused, limits_refused
from rag.reasoners.prompts import Message
from rag.reasoners.turns import waiting
from rag.settings import ReasonerSettings

Result = TypeVar("Result")
MAX_REPLY_BYTES = 8 * 2**20

KEPT_HEADERS = ("host", "accept", "content-type", "content-length", "connection")


class NotAChatReply(Exception):
    """The server answered 2xx with something that is no chat completion."""

    advice = "reasoner.base_url must name an OpenAI-compatible server (it ends in /v1)"


class ErrorAsReply(NotAChatReply):
    """The server answered 2xx with an error."""

    advice = "check the server and the reasoner settings"


def parse_base_url(base_url: str) -> httpx.URL:
    """The address of an OpenAI-compatible server; else `ValueError`."""
    try:
        url = httpx.URL(base_url.strip())
    except httpx.InvalidURL as error:
        raise ValueError(str(error)) from error
    if url.scheme not in ("http", "https") or not url.host:
        raise ValueError("it is no http address with a host")
    if url.userinfo:
        raise ValueError("it holds a password; that goes into RAG_REASONER__API_KEY")
    return url


@cache
def _ssl_context() -> ssl.SSLContext:
    """Made once: reading the certificates takes 0.1 s, and every call has a transport of its own."""
    return httpx.create_ssl_context()


class Endpoint(httpx.AsyncBaseTransport):
    """Carries requests to `base_url` only, with `api_key` as the only credential."""

    def __init__(self, base_url: httpx.URL, api_key: str) -> None:
        self._base_url = base_url
        self._authorization = f"Bearer {api_key}"
        self._inner = httpx.AsyncHTTPTransport(verify=_ssl_context())

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request within the endpoint's bounds of size and time."""
        here, there = self._base_url, request.url
        if (there.scheme, there.host, there.port) != (here.scheme, here.host, here.port):
            raise httpx.UnsupportedProtocol(f"refused to contact {there.host}", request=request)
        kept = {name: request.headers[name] for name in KEPT_HEADERS if name in request.headers}
        request.headers = httpx.Headers(
            {
                **kept,
                "accept-encoding": "identity",
                "authorization": self._authorization,
                "user-agent": "offline-video-rag",
            }
        )
        read = _chat_only if request.method == "POST" else _model_cards
        response = await self._inner.handle_async_request(request)
        body = await _bounded(response)
        headers = [pair for pair in response.headers.raw if pair[0].lower() not in _FRAMING]
        if response.is_success:
            body = read(body)
            headers = [(b"content-type", b"application/json")]
        return httpx.Response(response.status_code, headers=headers, content=body, request=request)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._inner.aclose()


# The body is whole by now: how it came, and in what pieces, is over.
_FRAMING = (b"content-length", b"transfer-encoding", b"content-encoding")


async def _bounded(response: httpx.Response) -> bytes:
    body = bytearray()
    try:
        async for piece in response.aiter_bytes():
            body += piece
            if len(body) > MAX_REPLY_BYTES:
                raise NotAChatReply(f"a reply of more than {MAX_REPLY_BYTES // 2**20} MiB")
    except httpx.DecodingError as error:
        raise NotAChatReply("a reply that does not decompress") from error
    finally:
        await response.aclose()
    return bytes(body)


def _chat_only(body: bytes) -> bytes:
    """What is used of a chat completion, in the one form that the client library is sure to read.

    A server may send a reply without a role, odd tool calls, or counts that are none; all that goes.
    """
    try:
        reply = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise NotAChatReply("no JSON") from error
    match reply:
        case {"choices": [{"message": {"content": str() | list() | None as content}} as choice, *_]}:
            pass
        case {"error": {"message": str() as fault}} | {"error": str() as fault}:
            raise ErrorAsReply(f"an error: {fault}")
        case _:
            raise NotAChatReply("JSON that is no chat completion")
    finish = choice.get("finish_reason")
    if isinstance(content, list):
        content = "".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
    # A lone surrogate has no UTF-8: such a reply could not be shown to the model again.
    said = None if content is None else content.encode("utf-8", "replace").decode()
    plain = {
        "id": "",
        "object": "chat.completion",
        "created": 0,
        "model": "",
        "choices": [
            {
                "index": 0,
                "finish_reason": "length" if finish == "length" else "stop",
                "message": {"role": "assistant", "content": said},
            }
        ],
        "usage": _usage(reply.get("usage")),
    }
    return json.dumps(plain).encode()


def _model_cards(body: bytes) -> bytes:
    """What is used of a list of models: their names, and the smallest context that each one says."""
    try:
        listed = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise NotAChatReply("no JSON") from error
    cards = listed.get("data") if isinstance(listed, dict) else None
    plain = []
    for card in cards if isinstance(cards, list) else []:
        if not isinstance(card, dict):
            continue
        meta = card.get("meta")
        held = [
            _count(each.get(key)) for each in (card, meta) if isinstance(each, dict) for key in CONTEXT_KEYS
        ]
        said = [tokens for tokens in held if tokens is not None and tokens >= SHORTEST_CONTEXT]
        plain.append({"id": str(card.get("id")), "context": min(said, default=None)})
    return json.dumps({"data": plain}).encode()


def _usage(usage: object) -> dict[str, object]:
    """The counts that are counts: whole numbers from 0."""
    if not isinstance(usage, dict):
        return {}
    details = usage.get("prompt_tokens_details")
    counts = {
        name: _count(usage.get(name)) for name in ("prompt_tokens", "completion_tokens", "total_tokens")
    }
    images = _count(details.get("image_tokens")) if isinstance(details, dict) else None
    return {**counts, "prompt_tokens_details": {"image_tokens": images}}


PASSING = (408, 429)
"""Refusals of a moment, beside 5xx."""
LONGEST_CONNECT = 10.0
LONGEST_CARD = 5.0
"""Seconds that the model card is waited for, once."""
CONTEXT_KEYS = (
    "max_model_len",  # vLLM
    "n_ctx",  # llama.cpp, the context that runs
    "n_ctx_train",
    "loaded_context_length",  # LM Studio
    "max_context_length",
    "context_length",
    "context_window",
)
SHORTEST_CONTEXT = 512
"""A model card that says less counts something else."""
FORMATS = ("json_schema", "json_object", "")
"""What `reasoner.structured` asks a server for, the next one where it refuses."""
SHOWN = 300
"""Characters of a server's own message that are shown."""


class OpenAIClient:
    """Sends conversations to `settings.base_url`; contacts nothing else.

    Transport errors, 429 and 5xx are tried again, at most `attempts` times in all (VideoDetective, table 9: 5
    times, from 1 s to 20 s). A wait is between half of it and the whole of `first_wait`, doubled each time,
    so that calls refused together do not come again together; or it is the server's Retry-After;
    `longest_wait` seconds at most. `jitter`: [0, 1), a new one for each wait. Everything else is an error at
    once; so is a first call that cannot connect: the server was not started, and does not start again.
    """

    def __init__(
        self,
        settings: ReasonerSettings,
        *,
        seed: int = 0,
        attempts: int = 5,
        first_wait: float = 1.0,
        longest_wait: float = 20.0,
        jitter: Callable[[], float] = random.random,
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
        # An empty key would make the client look for one in the environment and send that.
        self._key = settings.api_key.get_secret_value() or "none"
        self._seed = seed
        self._limits: ModelLimits | None = None
        self._answered = False
        self._opening = threading.Lock()
        self._format = 0 if settings.structured else len(FORMATS) - 1
        self._attempts = attempts
        self._first_wait = first_wait
        self._longest_wait = longest_wait
        self._jitter = jitter

    def limits(self) -> ModelLimits:
        """Those of the settings; the context else from the server's model card, which is read once."""
        # The lock is only ever waited for outside of one's turn: who holds it may be waiting for a turn.
        with waiting(), self._opening:
            if self._limits is None:
                chosen = self._settings
                tokens = chosen.context_tokens or _run(self._context())
                self._limits = ModelLimits(tokens, chosen.max_images)
        return self._limits

    async def _context(self) -> int | None:
        """Tokens by the model card; None where the server has none, or does not say."""
        said = {card["id"]: card["context"] for card in await self._cards()}
        return said.get(self._settings.model, next(iter(said.values())) if len(said) == 1 else None)

    async def _cards(self) -> list[dict[str, Any]]:
        """The models that the server lists; none where it lists none."""
        seconds = min(LONGEST_CARD, self._settings.timeout_seconds)
        transport = Endpoint(self._url, self._key)
        try:
            async with (
                asyncio.timeout(seconds),
                httpx.AsyncClient(transport=transport, trust_env=False) as http,
            ):
                answered = await http.get(f"{str(self._url).rstrip('/')}/models")
                return list(answered.json()["data"]) if answered.is_success else []
        except (httpx.HTTPError, NotAChatReply, TimeoutError, ValueError):
            return []

    def send(
        self,
        messages: Sequence[Message],
        schema: dict[str, Any],
        *,
        within: float | None = None,
        max_tokens: int | None = None,
    ) -> ChatReply:
        """As `ChatClient.send`, under one deadline for connecting, retries and the reply.

        A server that refuses a `response_format` is asked for the next of `FORMATS`, from then on.
        """
        seconds = min(self._settings.timeout_seconds, within or math.inf)
        longest = max_tokens or self._settings.max_tokens
        asked = self._format
        try:
            with waiting():
                return _run(self._send(messages, schema, seconds, asked, longest))
        except openai.APIStatusError as error:
            if asked < len(FORMATS) - 1 and format_refused(error):
                self._format = max(self._format, asked + 1)
                return self.send(messages, schema, within=within, max_tokens=max_tokens)
            self._refused(error)
        except openai.APIConnectionError as error:
            cause = error.__cause__
            if isinstance(cause, NotAChatReply):
                # Of a model server it is one lost reply; of another program it would be every one.
                kind = ReplyInvalid if self._answered or _run(self._cards()) else ReasonerError
                raise kind(f"{self._where} answered with {self._masked(cause)}; {cause.advice}") from error
            raise self._unreachable(self._masked(cause or error)) from error
        except TimeoutError as error:
            raise self._unreachable(
                f"no reply within {seconds:g} s", "raise reasoner.timeout_seconds, see its log"
            ) from error

    async def _send(
        self, messages: Sequence[Message], schema: dict[str, Any], seconds: float, asked: int, longest: int
    ) -> ChatReply:
        last: BaseException | None = None

        def remember(state: tenacity.RetryCallState) -> None:
            nonlocal last
            last = state.outcome.exception() if state.outcome else None

        retrying = tenacity.AsyncRetrying(
            stop=tenacity.stop_after_attempt(self._attempts),
            retry=self._is_repeated,
            wait=self._wait,
            before_sleep=remember,
            reraise=True,
        )
        connect = min(seconds, LONGEST_CONNECT)
        try:
            http = httpx.AsyncClient(
                transport=Endpoint(self._url, self._key),
                timeout=httpx.Timeout(seconds, connect=connect),
                follow_redirects=False,
                trust_env=False,
            )
            # Made before the clock runs: what a library takes to load is not the server's silence.
            llm = self._llm(http, schema, FORMATS[asked], longest)
            chat = chat_messages(messages)
            async with asyncio.timeout(seconds), http:
                async for attempt in retrying:
                    with attempt:
                        reply = _chat_reply(await llm.achat(chat))
                        self._answered = True
                        return reply
        except TimeoutError:
            if last is not None:
                raise last from None
            raise
        raise AssertionError("the last attempt returns or raises")

    def _llm(self, http: httpx.AsyncClient, schema: dict[str, Any], asked: str, longest: int) -> OpenAILike:
        extra: dict[str, Any] = {"seed": self._seed}
        if asked:
            named = {"name": "reply", "schema": schema, "strict": True}
            inner = {"json_schema": named} if asked == "json_schema" else {}
            extra["response_format"] = {"type": asked, **inner}
        try:
            return OpenAILike(
                model=self._settings.model,
                api_base=str(self._url),
                api_key=self._key,
                is_chat_model=True,
                temperature=0.0,
                max_tokens=longest,
                max_retries=0,
                timeout=self._settings.timeout_seconds,
                additional_kwargs=extra,
                async_http_client=http,
            )
        except ValueError as error:
            raise SettingsError(f"reasoner.model {self._settings.model!r}: {error}") from error

    def _is_repeated(self, state: tenacity.RetryCallState) -> bool:
        error = state.outcome.exception() if state.outcome else None
        if error is None or not _passing(error):
            return False
        first = state.attempt_number == 1 and not self._answered
        return not (first and isinstance(error.__cause__, httpx.ConnectError))

    def _wait(self, state: tenacity.RetryCallState) -> float:
        asked = _retry_after(state.outcome.exception() if state.outcome else None)
        if asked is not None:
            return min(asked, self._longest_wait)
        wait: float = min(self._first_wait * 2 ** (state.attempt_number - 1), self._longest_wait)
        return wait * (0.5 + 0.5 * self._jitter())

    def _refused(self, error: openai.APIStatusError) -> NoReturn:
        status, said = error.status_code, self._said(error)
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
        elif self._settings.structured and status in (400, 422):
            advice = "if it cannot hold replies to a schema, set reasoner.structured to false"
        raise ReasonerError(f"{self._where} answers {status}{said}; {advice}") from error

    def _said(self, error: openai.APIStatusError) -> str:
        said = error.response.text
        return f" ({self._masked(said)})" if said.strip() else ""

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


def _run(work: Coroutine[Any, Any, Result]) -> Result:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    # A notebook or a server already runs a loop in this thread, and loops do not nest.
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


def _passing(error: BaseException) -> bool:
    """Whether the same request may succeed a moment later."""
    if isinstance(error, openai.APIStatusError):
        refused = limits_refused(error) is not None or images_refused(error)
        return error.status_code in PASSING or (error.status_code >= 500 and not refused)
    return isinstance(error, openai.APIConnectionError) and isinstance(error.__cause__, httpx.TransportError)


def _retry_after(error: BaseException | None) -> float | None:
    """Seconds that the server asked for, as a number or a date; None where it did not."""
    if not isinstance(error, openai.APIStatusError):
        return None
    asked = error.response.headers.get("retry-after", "")
    try:
        return max(0.0, float(asked))
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(asked).timestamp() - time.time())
    except (ValueError, OverflowError, IndexError, TypeError, OSError):
        return None


def _chat_reply(response: Any) -> ChatReply:
    """Text and counts of a `ChatResponse`. A count of 0 for the prompt is no count."""
    usage = response.raw.usage
    details = getattr(usage, "prompt_tokens_details", None)
    return ChatReply(
        text=response.message.content or "",
        prompt_tokens=_count(getattr(usage, "prompt_tokens", None)) or None,
        completion_tokens=_count(getattr(usage, "completion_tokens", None)),
        image_tokens=_count(getattr(details, "image_tokens", None)),
        cut=response.raw.choices[0].finish_reason == "length",
    )


def _count(value: object) -> int | None:
    return value if type(value) is int and 0 <= value <= LARGEST_COUNT else None
