"""`--record` and `--replay`: exchanges with a language model kept in a file, and every reply taken from one.

An exchange is known by its key, a hash over the role, the prompt's version, the
rendered input (images by their bytes) and the settings that decide a reply.
Where a model is reached, and how long one waits for it, are no part of it.

A recording is JSON lines: what it is, then one exchange a line, each written
when its reply is there. A call that failed is not written. Nothing is looked up
while recording, so the same file may be recorded into again: a replay gives
the replies to one and the same input in the order in which they came, and the
last of them again after that.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import threading
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import takewhile
from pathlib import Path
from typing import Annotated, Any, Protocol

from pydantic import Field, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from corpora.errors import file_error
from corpora.outputs import RECORDING_HEAD as HEAD
from rag.errors import ReplayUnknown, SettingsError
from rag.reasoners.llm.messages import ChatReply
from rag.reasoners.prompts import EncodedAudio, Message
from rag.settings import ReasonerSettings

AROUND = 60
"""Characters shown on both sides of the first difference of two inputs."""


@dataclass(frozen=True)
class ExchangeInput:
    """What is put to a model."""

    role: str
    prompt: str
    """Version of the prompt file."""
    settings: Mapping[str, Any]
    messages: Sequence[_Message]

    @classmethod
    def of(
        cls, role: str, prompt: str, settings: Mapping[str, Any], messages: Sequence[Message]
    ) -> ExchangeInput:
        """Of rendered messages: images are replaced by a hash of their bytes."""
        return cls(role, prompt, settings, [_plain(message) for message in messages])

    @cached_property
    def key(self) -> str:
        """32 hex digits that identify the input under its settings."""
        return _hash([self.role, self.prompt, dict(self.settings), _hash(self.messages)])

    @cached_property
    def text(self) -> str:
        """The input as one text; the system message is the prompt's, and comes last."""
        ordered = sorted(self.messages, key=lambda message: message["speaker"] == "system")
        parts = (part for message in ordered for part in message["parts"])
        return "\n".join(part if isinstance(part, str) else json.dumps(part) for part in parts)


class _Message(TypedDict):
    speaker: str
    parts: list[str | dict[str, Any]]
    """Texts; images and sound as their hash and size."""


@dataclass(frozen=True)
class Exchange:
    """A line of a recording: what was asked, the reply, and its seconds."""

    asked: ExchangeInput
    reply: ChatReply
    seconds: Annotated[float, Field(ge=0, allow_inf_nan=False)]

    def line(self) -> str:
        """Without its end."""
        return json.dumps(asdict(self), ensure_ascii=False, sort_keys=True)


_EXCHANGE = TypeAdapter(Exchange)


def difference(now: ExchangeInput, recorded: ExchangeInput) -> str:
    """The first thing in which two differ, in a few words."""
    for name in sorted({*now.settings, *recorded.settings}):
        here, there = now.settings.get(name), recorded.settings.get(name)
        if here != there:
            return f"{name} is {here!r}, recorded with {there!r}"
    if now.prompt != recorded.prompt:
        return f"the prompt is version {now.prompt}, recorded with {recorded.prompt}"
    here, there = now.text, recorded.text
    start = max(0, _alike(here, there) - AROUND)
    shown = slice(start, start + 2 * AROUND)
    return f"the input is {here[shown]!r}, recorded with {there[shown]!r}"


def _alike(one: str, other: str) -> int:
    """Characters up to the first in which two texts differ."""
    same = takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
    return sum(1 for _ in same)


def _plain(message: Message) -> _Message:
    parts: list[Any] = []
    for part in message.parts:
        if isinstance(part, str):
            parts.append(part)
            continue
        digest = hashlib.sha256(part.data).hexdigest()[:32]
        if isinstance(part, EncodedAudio):
            parts.append({"audio": digest, "seconds": part.seconds})
        else:
            parts.append({"picture": digest, "width": part.width, "height": part.height})
    return {"speaker": message.speaker, "parts": parts}


def _hash(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:32]


SendCall = Callable[[], "tuple[ChatReply, float]"]
"""Asks the model: its reply, and the seconds it took."""


class Recording(Protocol):
    """Where replies come from: a model, kept on the way (`Recorder`), or a file (`Replayer`)."""

    def exchange(self, asked: ExchangeInput, send: SendCall) -> tuple[ChatReply, float]:
        """The reply and its seconds; `send` asks the model."""
        ...


def open_recording(settings: ReasonerSettings) -> Recording | None:
    """As `reasoner.record` or `reasoner.replay` say; None where neither does.

    Raises `SettingsError`, and as `file_error` where the file cannot be read or written.
    """
    if settings.record is not None and settings.replay is not None:
        raise SettingsError("reasoner.record and reasoner.replay exclude each other; give one of them")
    if settings.replay is not None:
        return Replayer(settings.replay)
    return Recorder(settings.record) if settings.record is not None else None


class Recorder:
    """Appends to a recording; a line that a killed run left half written goes first.

    Raises `SettingsError` where the file is something else, and as `file_error` where it cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._one_line = threading.Lock()
        try:
            kept = _plain_bytes(path) if path.exists() else b""
            # A killed run may have left a part of the first line.
            if not (HEAD.encode().startswith(kept) or kept.startswith(f"{HEAD}\n".encode())):
                raise SettingsError(f"{path}: no recording; name another file for reasoner.record")
            whole = kept[: kept.rfind(b"\n") + 1]
            with path.open("r+b" if kept else "wb") as file:
                file.truncate(len(whole))
                file.seek(len(whole))
                if not whole:
                    file.write(f"{HEAD}\n".encode())
        except OSError as error:
            raise file_error(path, error) from error

    def exchange(self, asked: ExchangeInput, send: SendCall) -> tuple[ChatReply, float]:
        """Ask the model, and append the exchange before the reply is used.

        Raises as `file_error` where it cannot be written.
        """
        sent, seconds = send()
        seconds = round(seconds, 6)
        line = f"{Exchange(asked, sent, seconds).line()}\n".encode("utf-8", "surrogatepass")
        with self._one_line:
            whole: int | None = None
            try:
                with self._path.open("ab") as file:
                    whole = file.seek(0, os.SEEK_END)
                    file.write(line)
                    file.flush()
                    os.fsync(file.fileno())
            except OSError as error:
                if whole is not None:
                    with contextlib.suppress(OSError):
                        os.truncate(self._path, whole)
                raise file_error(self._path, error) from error
        return sent, seconds


class Replayer:
    """Raises `SettingsError` where the file is no recording, and as `file_error` where it cannot be read."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._held: dict[str, list[Exchange]] = defaultdict(list)
        self._next: dict[str, int] = defaultdict(int)
        self._one_count = threading.Lock()
        try:
            text = _plain_bytes(path).decode("utf-8", "surrogatepass")
        except OSError as error:
            raise file_error(path, error, "read") from error
        except UnicodeDecodeError as error:
            raise SettingsError(f"{path}: no recording") from error
        # A killed run leaves its last line half written: what has no end is no line.
        head, *lines = text.split("\n")[:-1] or [""]
        if head != HEAD:
            raise SettingsError(f"{path}: no recording")
        for number, line in enumerate(lines, start=2):
            try:
                made = _EXCHANGE.validate_python(json.loads(line))
            except (ValueError, RecursionError) as error:
                why = error.errors()[0]["msg"] if isinstance(error, ValidationError) else error
                raise SettingsError(f"{path}: line {number} is damaged: {why}") from error
            self._held[made.asked.key].append(made)

    def exchange(self, asked: ExchangeInput, send: SendCall) -> tuple[ChatReply, float]:  # noqa: ARG002 (of Recording)
        """The recorded reply; raises `ReplayUnknown` for an input that is not in the file."""
        held = self._held.get(asked.key)
        if held is None:
            raise ReplayUnknown(f"{self._path}: {self._why(asked)}; record again with --record")
        with self._one_count:
            at = self._next[asked.key]
            self._next[asked.key] = at + 1
        made = held[min(at, len(held) - 1)]
        return made.reply, made.seconds

    def _why(self, asked: ExchangeInput) -> str:
        """What is asked, against the recorded exchange of its role that is like it for longest."""
        same = [made[0].asked for made in self._held.values() if made[0].asked.role == asked.role]
        if not same:
            return f"it holds no exchange for {asked.role}"
        nearest = max(same, key=lambda one: _alike(one.text, asked.text))
        return f"it does not hold what is asked for {asked.role}: {difference(asked, nearest)}"


def _plain_bytes(path: Path) -> bytes:
    """Of a regular file only: a device may have no end. Raises `OSError` and `SettingsError`."""
    if path.exists() and not path.is_file():
        raise SettingsError(f"{path}: no recording, for it is no regular file; name another")
    return path.read_bytes()
