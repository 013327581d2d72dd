"""What a frame decoder must do, and how one is registered: a new one is one file and an entry point.

Decoders run in the watched subprocess (`corpora.video.worker`) and nowhere else. The contract suite is
`corpora.testing.DecoderContract`; docs/how-to/decoder.md builds one.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from importlib.util import find_spec
from typing import Protocol

from corpora.entry_points import load_entry_point
from corpora.errors import SettingsError
from corpora.records import Frames
from corpora.video.records import DecodeReport, FrameBatch, FrameRequest, Probe


class Decoder(Protocol):
    """Raises `FileProblem` with the reason alone, without the path. Calls `corpora.heartbeat.beat` for each
    frame."""

    name: str
    package: str
    """Import name of the library that decodes; where it is missing, the decoder is refused in one line."""

    def frames(
        self, path: str, probe: Probe, request: FrameRequest
    ) -> Generator[FrameBatch, None, DecodeReport]:
        """Sampled frames by the rule of `corpora.video.sampling`, and then the report."""

    def frames_at(self, path: str, probe: Probe, times: Sequence[float], short_side: int) -> Frames:
        """The frame on screen at each of `times` (ascending); the first or last one where none is.

        `times` of the result are those at which these frames came on screen.
        """


def decode(
    path: str, decoder: str, probe: Probe, request: FrameRequest
) -> Iterator[FrameBatch | DecodeReport]:
    """The frames that the decoder of that name gives, and its report last."""
    report = yield from open_decoder(decoder).frames(path, probe, request)
    yield report


def decode_at(path: str, decoder: str, probe: Probe, times: Sequence[float], short_side: int) -> Frames:
    """Call `Decoder.frames_at` of the decoder of that name."""
    return open_decoder(decoder).frames_at(path, probe, times, short_side)


GROUP = "rag.decoders"
"""Entry points of decoders: the name is that of the setting, the value a class without arguments."""


def check_decoder(name: str) -> str:
    """The name itself, of a decoder that can be opened here. Decodes and loads nothing.

    Raises `UsageError` for an unknown name, `SettingsError` where what it needs is not installed.
    """
    decoder = load_entry_point(GROUP, name, "decoder")
    if find_spec(decoder.package) is None:
        raise SettingsError(f'decoder "{name}" is not installed here; use pyav')
    return name


def open_decoder(name: str) -> Decoder:
    """Raises `UsageError` for an unknown name, `SettingsError` where its package cannot be imported."""
    decoder: Decoder = load_entry_point(GROUP, name, "decoder")()
    return decoder
