"""Several libraries made with the same encoders, read as one: nothing is copied, each content counts once."""

from __future__ import annotations

import os
import shlex
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from corpora.objects import StoreError
from corpora.records import EvidenceKind
from indexers.devices import BACKENDS
from rag.errors import EncoderMismatch, LibraryError
from rag.records import SearchFilter
from rag.store import schema
from rag.store.finding import nothing_indexed
from rag.store.layout import Layout, Location
from rag.store.records import PULLED, EncoderRef, FileRow, Hit, Meta, best_hits
from rag.store.snapshot import Snapshot, Texts
from rag.store.vectors import Rows

_Encoded = tuple[Location, EncoderRef | None]
"""A library and its image encoder."""


def require_same_encoders(first: Location, held: Meta, second: Location, other: Meta) -> None:
    """Raise `EncoderMismatch` or `LibraryError` where the rows of two libraries do not compare.

    The message names the difference and what to do about the second.
    """
    # Text first: an image encoder may be made of it, and images alone can be encoded again.
    roles = (
        ("text", held.text_encoder, other.text_encoder),
        ("image", held.image_encoder, other.image_encoder),
    )
    for role, mine, theirs in roles:
        if (mine and mine.fingerprint) != (theirs and theirs.fingerprint):
            name = shlex.quote(mine.name) if mine else "NAME"
            remedy = f"index its files into a new library with RAG_ENCODER__TEXT={name}"
            if role == "image":
                remedy = _image_remedy((first, mine), (second, theirs))
            raise EncoderMismatch(
                f"{second}: made with {_described(role, theirs)}, and {first} with "
                f"{_described(role, mine)}; {remedy}"
            )
    ours, its = held.settings, other.settings
    for name in sorted(ours.keys() & its.keys() - {PULLED}):
        if ours[name] != its[name]:
            raise LibraryError(
                f"{second}: made with {name} = {its[name]}, and {first} with {ours[name]}; "
                "index its files into a new library with that value"
            )


def _image_remedy(first: _Encoded, second: _Encoded) -> str:
    """How the images of the second library come to be encoded as those of the first; those of the one that
    has no encoder, where one has none."""
    folder, wanted = (first[0], second[1]) if first[1] is None else (second[0], first[1])
    command = f"rag index FOLDER --reembed --library {shlex.quote(os.fspath(folder))}"
    assert wanted is not None, "two libraries without an image encoder have the same"
    given = f"RAG_ENCODER__IMAGE={shlex.quote(wanted.name)}"
    for device, backend in BACKENDS.items():
        given += f" RAG_ENCODER__DEVICE={device}" * (backend == wanted.backend)
    return f"encode the images of {folder} as those of the other: {given} {command}"


def _described(role: str, encoder: EncoderRef | None) -> str:
    if encoder is None:
        return f"no {role} encoder"
    way = f", {encoder.backend} x{encoder.batch}" if encoder.backend else ""
    return f"{role} encoder {encoder.name} ({encoder.fingerprint[:12]}{way})"


class JoinedSnapshot(Snapshot):
    """The snapshots of several libraries behind the interface of one.

    A content that several hold is read from one of them: that in which most stages were on, of which
    subtitle files are one, then that with the first path. Vectors are searched in one index over all. BM25
    weighs words by each library's own texts. Relevance of images uses the scale of the library with the most
    clips.

    One whose object store fails is left out, and named in `left_out`; where all fail, `StoreError` is raised.
    One that was made and never given anything is left out too. Raises `LibraryNotFound` for one that is not
    there, or where none has content, else as `require_same_encoders`.
    """

    def __init__(
        self,
        layouts: Sequence[Layout],
        exact_rows: int | None = None,
        hidden: frozenset[EvidenceKind] = frozenset(),
    ) -> None:
        self._layouts = layouts
        super().__init__(layouts[0], exact_rows, hidden)

    def _pin(self) -> None:
        self._libraries, failed = [], list[StoreError]()
        for layout in self._layouts:
            try:
                self._libraries.append(Snapshot(layout, self._exact_rows))
            except StoreError as error:
                failed.append(error)
        if not self._libraries:
            raise failed[0]
        # The library of a shard without files has no content; one that is not there is an error.
        first = self._libraries[0]
        self._libraries = [one for one in self._libraries if one.meta or not one.layout.exists()] or [first]
        self.layout, self.left_out = self._libraries[0].layout, tuple(map(str, failed))
        metas = []
        for library in self._libraries:
            folder = library.layout.folder
            if library.meta is None:
                raise nothing_indexed(folder)
            metas.append(library.meta)
            require_same_encoders(self.layout.folder, metas[0], folder, library.meta)
        scales = [meta.calibration for meta in metas if meta.calibration and meta.calibration.image]
        scale = max(scales, key=lambda scale: scale.image.sizes[-1] if scale.image else 0, default=None)
        library_id = "+".join(meta.library_id for meta in metas)
        self.meta = replace(metas[0], calibration=scale, library_id=library_id)
        owners = self._owners()
        self.tables, self.video_rows, self.sources = {}, {}, set()
        files: dict[tuple[str, str], FileRow] = {}
        for number, library in enumerate(self._libraries):
            known = library.video_rows.keys() | library.sources
            library.elsewhere = frozenset(key for key in known if owners[key] != number)
            shown = library.video_rows.keys() - library.elsewhere
            self.video_rows |= {video_id: library.video_rows[video_id] for video_id in shown}
            self.sources |= library.sources
            self.tables = {**library.tables, **self.tables}
            files |= {(row.path, row.content_id): row for row in library.file_rows}
        self.file_rows = sorted(files.values(), key=lambda row: row.path)

    def row_bytes(self) -> int:
        """Bytes of the rows of all libraries, with what several hold."""
        return sum(library.row_bytes() for library in self._libraries)

    def sidecars(self, video_id: str) -> frozenset[str]:
        """Hashes over a video's sidecars, one for each library that has others."""
        return frozenset().union(*(library.sidecars(video_id) for library in self._libraries))

    def taken_out(self) -> frozenset[str]:
        """The ids of videos and documents that a repair took out of every library that had them."""
        held = (library.sources - library.taken_out() for library in self._libraries)
        return frozenset(self.sources.difference(*held))

    def _owners(self) -> dict[str, int]:
        """The number of the library from which each content is read."""
        ranked: dict[str, tuple[bool, int, str, int]] = {}
        for number, library in enumerate(self._libraries):
            taken_out = library.taken_out()
            for content in library.video_rows.keys() | library.sources:
                stages_on, path = 0, ""
                if content in library.video_rows:
                    stages_on = sum(s not in ("off", "") for s in library.stages(content).values())
                    path = library.paths(content)[0]
                rank = (content in taken_out, -stages_on, path, number)
                ranked[content] = min(ranked.get(content, rank), rank)
        return {content: rank[-1] for content, rank in ranked.items()}

    def scan(self, name: str, columns: list[str], where: str | None = None, **options: Any) -> Any:
        """Scan one library after the other."""
        import pyarrow as pa

        there = [library for library in self._libraries if name in library.tables]
        if not there:
            return super().scan(name, columns)
        return pa.concat_tables([library.scan(name, columns, where, **options) for library in there])

    def vector_parts(self, table: schema.VectorColumns) -> list[Rows]:
        """The parts of all libraries."""
        return [part for library in self._libraries for part in library.vector_parts(table)]

    def stream(self, name: str, where: str) -> Iterator[Any]:
        """Stream one library after the other."""
        for library in self._libraries:
            yield from library.stream(name, where)

    def match(
        self, name: Texts, text: str, k: int, owners: Collection[str] | None, where: SearchFilter
    ) -> list[Hit]:
        """Match in each library; scores are each library's own."""
        hits = (library.match(name, text, k, owners, where) for library in self._libraries)
        return best_hits(chain.from_iterable(hits))[:k]
