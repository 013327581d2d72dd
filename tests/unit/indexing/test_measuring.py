"""Sound that ends early or has gaps: what was heard is kept, and what is missing is said."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpora.video.reader import MediaReader
from indexers.soundtrack import SAMPLE_RATE, SoundMeter
from rag.errors import UnreadableFile
from rag.indexing.stages import lost_sound, measure_sound


class Torn(MediaReader):
    """Of six seconds the third and the fourth are missing, and then comes an error."""

    def audio(self, path: str, **_: Any) -> Iterator[NDArray[np.float32]]:
        hum = np.full(6 * SAMPLE_RATE, 0.25, np.float32)
        hum[2 * SAMPLE_RATE : 4 * SAMPLE_RATE] = np.nan
        yield hum
        raise UnreadableFile(f"{path}: the rest cannot be decoded")


def test_what_is_missing_of_sound_is_said_and_the_rest_is_kept() -> None:
    meter = SoundMeter()
    line = measure_sound(meter, Torn(), "a.mp4")
    assert line == "sound not measured to its end: the rest cannot be decoded"
    track = meter.track("a", 6.0)
    assert track is not None
    assert lost_sound(track).startswith("2 s of its sound are missing")
    assert [name is None for name in track.classes] == [False, False, True, True, False, False]
    assert np.isnan(track.loudness[2:4]).all()
    assert np.isfinite(track.loudness[[0, 1, 4, 5]]).all()
