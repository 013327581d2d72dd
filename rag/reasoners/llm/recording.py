"""`--record` and `--replay`: exchanges kept in a file, and every reply taken from one.

A recording is JSON lines: what it is, then one exchange a line, each written
when its reply is there. A call that failed is not written. Nothing is looked up
while recording, so the same file may be recorded into again: a replay gives
the replies to one and the same input in the order in which they came, and the
last of them again after that.
"""

from __future__ import annotations

import difflib
import os
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from corpora.outputs import RECORDING_HEAD
from rag.errors import ReplayUnknown, SettingsError
from rag.reasoners.llm.exchanges import Exchange, ExchangeInput, difference

if TYPE_CHECKING:
    from rag.reasoners.llm.messages import ChatReply
    from rag.settings import ReasonerSettings

HEAD = RECORDING_HEAD
COMPARED = 2000
"""Characters of an input by which the nearest recorded one is found."""


SendCall = Callable[[], "tuple[ChatReply, float]"]
"""Asks the model: its reply, and the seconds it took."""


class Recording(Protocol):
    """Where replies come from: a model, kept on the way (`Recorder`), or a file (`Replayer`)."""

    def exchange(self, asked: ExchangeInput, send: SendCall) -> tuple[ChatReply, float]:
        """The reply and its seconds; `send` asks the model."""
        ...


def open_recording(settings: ReasonerSettings) -> Recording | None:
    """As `reasoner.record` or `reasoner.replay` say; None where neither does. Raises `SettingsError`."""
    if settings.record is not None and settings.replay is not None:
        raise SettingsError("reasoner.record and reasoner.replay exclude each other; give one of them")
    if settings.replay is not None:
        return Replayer(settings.replay)
    return Recorder(settings.record) if settings.record is not None else None


class Recorder:
    """Appends to a recording; a line that a killed run left half written goes first.

    Raises `SettingsError` where the file is something else, or cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            kept = _plain_bytes(path) if path.exists() else b""
            whole = kept[: kept.rfind(b"\n") + 1]
            if not _may_be_recording(kept):
                raise SettingsError(f"{path}: no recording; name another file for reasoner.record")
            with path.open("r+b" if kept else "wb") as file:
                file.truncate(len(whole))
                file.seek(len(whole))
                if not whole:
                    file.write(f"{HEAD}\n".encode())
        except OSError as error:
            raise SettingsError(f"{path}: cannot be recorded into: {error.strerror or error}") from error

    def exchange(self, asked: ExchangeInput, send: SendCall) -> tuple[ChatReply, float]:
        """Ask the model, and append the exchange before the reply is used."""
        sent, seconds = send()
        made = Exchange(asked, sent, seconds)
        with self._path.open("ab") as file:
            file.write(f"{made.line()}\n".encode("utf-8", "surrogatepass"))
            file.flush()
            os.fsync(file.fileno())
        return sent, round(seconds, 6)


class Replayer:
    """Raises `SettingsError` where the file is no recording."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._held: dict[str, list[Exchange]] = defaultdict(list)
        self._next: dict[str, int] = defaultdict(int)
        try:
            text = _plain_bytes(path).decode("utf-8", "surrogatepass")
        except OSError as error:
            raise SettingsError(f"{path}: cannot be read: {error.strerror or error}") from error
        except UnicodeDecodeError as error:
            raise SettingsError(f"{path}: no recording") from error
        # A killed run leaves its last line half written: what has no end is no line.
        head, *lines = text.split("\n")[:-1] or [""]
        if head != HEAD:
            raise SettingsError(f"{path}: no recording")
        for number, line in enumerate(lines, start=2):
            try:
                made = Exchange.read(line)
            except (ValueError, KeyError, TypeError, RecursionError, OverflowError) as error:
                raise SettingsError(f"{path}: line {number} is damaged: {error}") from error
            self._held[made.asked.key].append(made)

    def exchange(self, asked: ExchangeInput, send: SendCall) -> tuple[ChatReply, float]:  # noqa: ARG002 (of Recording)
        """The recorded reply; raises `ReplayUnknown` for an input that is not in the file."""
        held = self._held.get(asked.key)
        if held is None:
            raise ReplayUnknown(f"{self._path}: {self._why(asked)}; record anew with --record")
        at = self._next[asked.key]
        self._next[asked.key] = at + 1
        made = held[min(at, len(held) - 1)]
        return made.sent, made.seconds

    def _why(self, asked: ExchangeInput) -> str:
        """What is asked, against the recorded exchange of its role that comes nearest."""
        same = [made[0].asked for made in self._held.values() if made[0].asked.role == asked.role]
        if not same:
            return f"it holds no exchange for {asked.role}"
        text = _compared(asked)
        nearest = max(same, key=lambda one: (one.settings == asked.settings, _likeness(text, _compared(one))))
        return f"it does not hold what is asked for {asked.role}: {difference(asked, nearest)}"


def _plain_bytes(path: Path) -> bytes:
    """Of a regular file only: a device may have no end. Raises `OSError` and `SettingsError`."""
    if path.exists() and not path.is_file():
        raise SettingsError(f"{path}: no recording, for it is no regular file; name another")
    return path.read_bytes()


def _may_be_recording(kept: bytes) -> bool:
    """Whether it begins as a recording does; a killed run may have left a part of the first line."""
    head = HEAD.encode()
    return head.startswith(kept) or kept.startswith(head + b"\n")


def _compared(asked: ExchangeInput) -> str:
    user = [message for message in asked.messages if message["speaker"] != "system"]
    parts = [part for message in user for part in message["parts"] if isinstance(part, str)]
    return "\n".join(parts)[:COMPARED]


def _likeness(one: str, other: str) -> float:
    return difflib.SequenceMatcher(None, one, other, autojunk=False).quick_ratio()
