"""From a folder to a web; the live one is refused."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from indexers.settings import EncoderSettings
from rag.errors import LiveWebRefused, UsageError
from rag.web.catalogue import read_catalogue
from rag.web.downloads import Downloads
from rag.web.engine import ENGINES, EngineKind
from rag.web.faults import Faults
from rag.web.mock import MockWeb, WebStore
from rag.web.trace import WebTrace

if TYPE_CHECKING:
    from indexers.protocol import TextEncoder
    from rag.library import Library

LIVE = ("live", "http:", "https:", "www.")


def open_web(
    where: str | os.PathLike[str],
    *,
    engine: EngineKind = "hybrid",
    faults: Faults | None = None,
    trace: WebTrace | None = None,
    downloads: str | os.PathLike[str] | None = None,
    encoder: EncoderSettings | None = None,
    timeout_seconds: float = 10.0,
    real_time: bool = False,
    library: Library | None = None,
) -> MockWeb:
    """The frozen web in a folder that `rag web build` made, or that holds a `web.jsonl`.

    `downloads`: the cache of downloads; default `.downloads` in the web's folder. `encoder`: whose text
    encoder serves the dense half of the engine. `real_time`: sleep through the delays of slow answers.
    `library`: videos are searched by what it holds of them, and by their metadata.

    Raises `LiveWebRefused` for the live web, and `WebUnusable`.
    """
    named = os.fspath(where)
    if named.lower().startswith(LIVE) and not Path(named).exists():
        raise LiveWebRefused(
            f"{named}: the live web is out of scope by design: its answers never repeat; "
            "freeze what you need with: rag web build DIR SOURCE"
        )
    if engine not in ENGINES:
        raise UsageError(f"engine {engine}: no such engine; there are {', '.join(ENGINES)}")
    catalogue = read_catalogue(named)
    kept = Downloads(Path(downloads) if downloads is not None else catalogue.folder / ".downloads")
    opener = partial(_open_encoder, encoder or EncoderSettings())
    store = WebStore(catalogue, engine, opener, kept, library)
    return MockWeb(store, faults=faults, trace=trace, timeout_seconds=timeout_seconds, real_time=real_time)


def _open_encoder(settings: EncoderSettings) -> TextEncoder:
    from indexers.registry import open_query_encoder

    return open_query_encoder(settings.text, settings)
