"""What a frame decoder must do, and where they are: a new one is one file and one line here.

Decoders run in the watched child process (`corpora.video.worker`) and nowhere else. The contract tests
run over every name listed.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from importlib import import_module
from typing import Protocol

from corpora.errors import UsageError
from corpora.records import Frames
from corpora.video.records import DecodeReport, FrameBatch, FrameRequest, Probe

Heartbeat = Callable[[], None]
"""Called after every sign of progress; may raise to give the file up."""


class Decoder(Protocol):
    """Raises `FileProblem` with the reason alone, without the path."""

    name: str

    def frames(
        self, path: str, probe: Probe, request: FrameRequest, beat: Heartbeat
    ) -> Generator[FrameBatch, None, DecodeReport]:
        """Sampled frames by the rule of `corpora.video.sampling`, and then the report."""

    def frames_at(
        self, path: str, probe: Probe, times: Sequence[float], short_side: int, beat: Heartbeat
    ) -> Frames:
        """The frame on screen at each of `times` (ascending); the first or last one where none is.

        `times` of the result are those at which these frames came on screen.
        """


_DECODERS = {
    "pyav": "corpora.video.pyav_decoder:PyavDecoder",
    "decord": "corpora.video.decord_decoder:DecordDecoder",
}


def decoder_names() -> tuple[str, ...]:
    return tuple(_DECODERS)


def open_decoder(name: str) -> Decoder:
    """Raises `UsageError` for a name that is not in `decoder_names()`."""
    if name not in _DECODERS:
        raise UsageError(f"no decoder {name!r}; there are: {', '.join(_DECODERS)}")
    module, attribute = _DECODERS[name].split(":")
    decoder: Decoder = getattr(import_module(module), attribute)()
    return decoder
