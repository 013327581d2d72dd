"""What is laid before a role that looks at a video."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from corpora.records import Evidence, Frames

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class VideoView:
    """A video, or the stretch [start, end) seconds of it, as far as it is shown.

    Frames travel as pixels (`frames`), for a reasoner that says `reads_pixels`, or as stored
    vectors (`frame_vectors` with `frame_times`), or both; a view without either is words alone.
    """

    title: str
    start: float
    end: float
    texts: tuple[Evidence, ...] = ()
    """Transcript, text on the screen, captions and sounds of the stretch, in time order."""
    description: str = ""
    frame_times: NDArray[np.float64] | None = None
    """(n,) seconds, strictly rising."""
    frame_vectors: NDArray[np.float32] | None = None
    """(n, d) stored unit vectors of the frames at `frame_times`."""
    frames: Frames | None = None

    @property
    def times(self) -> tuple[float, ...]:
        """Of the frames shown, in order: frame i of a reply is at `times[i]`. Pixels go before vectors."""
        shown = self.frames.times if self.frames is not None else self.frame_times
        return () if shown is None else tuple(float(time) for time in shown)
