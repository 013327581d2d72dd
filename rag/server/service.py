"""What the routes share: the library, the turn to compute, the media reader, and the end of the server."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Request

from rag.errors import RagError
from rag.library import Library
from rag.reasoners.turns import TurnStopped, taking_turns
from rag.server.health import ModelState
from rag.server.jobs import Jobs
from rag.server.problems import Problem, stopped_problem
from rag.server.renditions import DiskCache, MediaRenderer
from rag.server.session import LibrarySession
from rag.settings import Settings

T = TypeVar("T")

QUESTIONS = 32
"""Questions that wait in a thread for their turn or for a language model; more wait without a thread."""
MEDIA = 12
"""Requests for media that read or make something in a thread."""
WORKER = "rag-server-work"
"""The name of these threads begins so."""


@dataclass
class Service:
    """One server. `rag.server.app.build_app` makes it the state of the app; routes take it as `Served`."""

    settings: Settings
    session: LibrarySession
    cache_folder: Path
    """Where clips and thumbnails are kept."""
    index_roots: tuple[Path, ...] = ()
    """Folders below which jobs may index; none: indexing is off."""
    address: str | None = "http://127.0.0.1:8650"
    """Where the page is; None without one."""
    models: ModelState = "cold"
    stopping: threading.Event = field(default_factory=threading.Event)
    """Set once the server is to end: streams and questions stop."""
    _turn: threading.Lock = field(default_factory=threading.Lock)
    _asked: set[threading.Event] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._threads = ThreadPoolExecutor(QUESTIONS, WORKER)
        self._media_threads = ThreadPoolExecutor(MEDIA, WORKER)
        self.media = MediaRenderer(self.settings.video, self.settings.storage, DiskCache(self.cache_folder))
        self.jobs = Jobs(self.settings, self.session.folder, self.index_roots, self.session.refresh)

    @contextmanager
    def library(self) -> Iterator[Library]:
        """The library, open to the end of the block; for reading, from any thread.

        Raises `LibraryNotFound` where nothing is indexed yet.
        """
        with self.session.lease() as library:
            yield library

    async def compute(self, request: Request | None, work: Callable[[Library], T]) -> T:
        """What `work` returns, which runs in a thread and alone: questions use models one at a time.

        It is given up when the client goes, the caller is cancelled or the server stops. `request`: by which
        the client is known to have gone; None where the caller is cancelled then. Raises what `work` raises.
        """
        with self.question() as stopped:
            if request is None:
                return await self.in_thread(self.compute_now, work, stopped)
            return await self.while_connected(request, self.in_thread(self.compute_now, work, stopped))

    async def while_connected(self, request: Request, making: Awaitable[T]) -> T:
        """What is made, which is left to itself when the client goes."""

        async def gone() -> None:
            while (await request.receive())["type"] != "http.disconnect":
                pass

        work, left = asyncio.ensure_future(making), asyncio.ensure_future(gone())
        try:
            await asyncio.wait([work, left], return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                raise stopped_problem()
            return work.result()
        finally:
            work.cancel()
            left.cancel()

    @contextmanager
    def question(self) -> Iterator[threading.Event]:
        """An event for one question: set at the end of the block, and when the server stops."""
        stopped = threading.Event()
        self._asked.add(stopped)
        if self.stopping.is_set():
            stopped.set()
        try:
            yield stopped
        finally:
            stopped.set()
            self._asked.discard(stopped)

    async def in_thread(self, function: Callable[..., T], *given: Any) -> T:
        """What the function returns; a thread is left to itself where the caller is cancelled, and keeps its
        place: else clients that go would add ever more threads."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, partial(function, *given))

    async def in_media_thread(self, function: Callable[..., T], *given: Any) -> T:
        """The same for media, which do not wait for questions."""
        return await asyncio.get_running_loop().run_in_executor(
            self._media_threads, partial(function, *given)
        )

    def compute_now(self, work: Callable[[Library], T], stopped: threading.Event) -> T:
        """`work` in this thread, when its turn has come. Raises `Problem` once `stopped` is set."""
        try:
            with taking_turns(self._turn, stopped):
                if stopped.is_set():
                    raise stopped_problem()
                with self.library() as library:
                    self._load_models(library)
                    return work(library)
        except TurnStopped as stop:
            raise stopped_problem() from stop

    def warm_up(self) -> None:
        """Load the models in a thread, unless that was begun: the page was opened, a question will follow."""
        if self.models != "cold":
            return
        self.models = "loading"
        threading.Thread(target=self._warm_up, name="rag-server-models", daemon=True).start()

    def _warm_up(self) -> None:
        # What fails here fails again, with its reason, when a question is asked.
        with contextlib.suppress(RagError, Problem):
            self.compute_now(lambda _: None, self.stopping)
        if self.models == "loading":
            self.models = "cold"

    def _load_models(self, library: Library) -> None:
        if self.models == "ready":
            return
        self.models = "loading"
        try:
            engine = library.engine
            _ = engine.text_encoder, engine.tower
        except BaseException:
            self.models = "failed"
            raise
        self.models = "ready"

    def stop(self) -> None:
        """End streams and questions; from any thread, and from a signal's handler."""
        self.stopping.set()
        for stopped in list(self._asked):
            stopped.set()

    def close(self) -> None:
        """End the jobs, and close the library once its last reader has ended."""
        self.stop()
        for threads in (self._threads, self._media_threads):
            threads.shutdown(wait=False, cancel_futures=True)
        self.jobs.close()
        self.session.close()
        self.media.close()


async def service_of(request: Request) -> Service:
    """The service of the app that a request came to; not async, FastAPI would call it in a thread."""
    service: Service = request.app.state.service
    return service


Served = Annotated[Service, Depends(service_of)]
