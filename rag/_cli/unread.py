"""Lines on words that were never read: said once, where somebody looks for them in vain."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING

from rag._cli.session import Session
from rag.errors import RagError

if TYPE_CHECKING:
    from rag.library import Library as Shelf


def unread_lines(session: Session, shelf: Shelf, video_ids: Collection[str] | None = None) -> Iterator[str]:
    """A line on speech and one on the screen, where they were not read in these videos (default: all)."""
    from indexers.asr import asr_line
    from indexers.ocr import ocr_line
    from rag.retrieval.unread import unread

    settings = session.settings
    found = unread(shelf.reader, video_ids)
    if found.speech:
        state = _state(lambda: asr_line(settings.asr, settings.encoder))
        yield _line("speech", "what is said", "asr.mode", shelf, found.speech, state)
    if found.screen:
        state = _state(lambda: ocr_line(settings.ocr))
        yield _line("text on the screen", "what is written", "ocr.mode", shelf, found.screen, state)


def _state(look: Callable[[], str]) -> str:
    """What a stage says of itself now, without its name; it raises where it must be on and cannot be."""
    try:
        return look().partition(": ")[2]
    except RagError as error:
        return f"off, {error}"


def _line(what: str, sought: str, setting: str, shelf: Shelf, ids: Collection[str], state: str) -> str:
    path = shelf.path_of(next(iter(ids)))
    which = path if len(ids) == 1 else f"{len(ids)} videos, such as {path}"
    if state == "off by the settings":
        way = f'set {setting} = "auto", then'
    elif state.startswith("off, "):
        way = f"{state.removeprefix('off, ')}; then"
    else:
        way = "it can be read now:"
    return (
        f"no {what} is stored of {which}, so {sought} there cannot be found; "
        f"{way} take it out and in again with rag remove and rag index"
    )
