"""Hints on speech and on-screen text that were not read at indexing, for searches without a match."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING

from rag._cli.session import Session
from rag.errors import RagError

if TYPE_CHECKING:
    from rag.library import Library


def unread_lines(
    session: Session, library: Library, video_ids: Collection[str] | None = None
) -> Iterator[str]:
    """A line on speech and one on on-screen text, where they were not read in these videos (default: all)."""
    from indexers.asr import asr_line
    from indexers.ocr import ocr_line
    from rag.retrieval.unread import unread

    settings = session.settings
    found = unread(library.engine.reader, video_ids)
    if found.speech:
        state = _state(lambda: asr_line(settings.asr, settings.encoder))
        yield _line("speech", "asr.mode", library, found.speech, state)
    if found.screen:
        state = _state(lambda: ocr_line(settings.ocr))
        yield _line("on-screen text", "ocr.mode", library, found.screen, state)


def _state(look: Callable[[], str]) -> str:
    """The present state of a stage, without its name."""
    try:
        return look().partition(": ")[2]
    except RagError as error:
        return f"off, {error}"


def _line(what: str, setting: str, library: Library, ids: Collection[str], state: str) -> str:
    path = library.path_of(next(iter(ids)))
    which = path if len(ids) == 1 else f"{len(ids)} videos, such as {path}"
    if state == "off by the settings":
        way = f'set {setting} = "auto", then'
    elif state.startswith("off, "):
        way = f"{state.removeprefix('off, ')}; then"
    else:
        way = "it can be read now:"
    return (
        f"no {what} of {which} is stored, so it cannot be searched; "
        f"{way} remove and index it again with rag remove and rag index"
    )
