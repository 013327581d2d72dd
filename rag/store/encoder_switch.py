"""Changing the image encoder of a library: fill a new table beside the old one, then flip one row.

Readers see the old vectors until the flip and the new ones after it. Killed
before the flip, the new table is taken up again; killed after it, the next
writer drops the old one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from corpora.records import Clip
from rag.store import schema
from rag.store.database import Database, quoted
from rag.store.records import ClipFrames, EncoderRef
from rag.store.video_tables import replace_sounds

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class EncoderSwitch:
    """Made by `Writer.switch_encoder`."""

    def __init__(
        self, db: Database, held: EncoderRef | None, new: EncoderRef, flip: Callable[[str], None]
    ) -> None:
        self._db = db
        self._new = new
        self._old = schema.vectors_table(held) if held else ""
        self._name = schema.vectors_table(new)
        self._flip = flip
        for name in db.names():
            # Left by a switch to yet another encoder that was begun and given up.
            if schema.is_clip_vectors(name) and name not in self._kept(held, new):
                db.drop(name)
        db.create(self._name, schema.vectors_schema(new.dim))
        self._done = set(db.rows(self._name, ["clip_id"])["clip_id"].to_pylist())

    @staticmethod
    def _kept(held: EncoderRef | None, new: EncoderRef) -> set[str]:
        refs = [ref for ref in (held, new) if ref is not None]
        return {make(ref) for ref in refs for make in (schema.vectors_table, schema.sounds_table)}

    def done(self) -> frozenset[str]:
        """Ids of the clips that have their new vectors."""
        return frozenset(self._done)

    def clips(self, video_id: str) -> list[str]:
        """Ids of the clips of a video, in time order: what `add` has to bring."""
        rows = self._db.rows("clips", ["clip_id", "start"], f"video_id IN {quoted([video_id])}").to_pylist()
        return [row["clip_id"] for row in sorted(rows, key=lambda row: (row["start"], row["clip_id"]))]

    def add(self, clips: Sequence[ClipFrames]) -> None:
        """Commit new vectors; those of a clip that has some already are replaced."""
        if not clips:
            return
        rows = schema.vector_rows(clips, self._new.dim)
        ids = {c.clip.clip_id for c in clips}
        if known := sorted(ids & self._done):
            self._db.delete(self._name, f"clip_id IN {quoted(known)}")
        self._db.add(self._name, rows)
        self._done |= ids

    def put_sounds(
        self, video_id: str, clips: Sequence[Clip], vectors: Sequence[NDArray[np.floating[Any]]]
    ) -> None:
        """Store audio embeddings, unit float (dim,) for each clip, of a video; before its last clip."""
        replace_sounds(self._db, video_id, clips, vectors, self._new)

    def commit(self) -> None:
        """From here on the library is one of the new encoder; the old vectors go."""
        old = self._old if self._old != self._name else ""
        self._flip(old)
