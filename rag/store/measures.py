"""The tables of what was measured on frames and sound: `shots`, `sound_tracks`, `fingerprints`.

They came with schema 2. A library of schema 1 has none of them and is read as one in which nothing
has been measured yet.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any, get_args

from corpora.records import AudioClass, Shot, SoundTrack

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MEASURED_TABLES = ("shots", "sound_tracks", "fingerprints")
LETTERS: dict[AudioClass, str] = {"speech": "s", "music": "m", "ambient": "a", "silence": "-"}
"""How `sound_tracks` spells a second."""
LONE_SECONDS = {"m": "sa", "a": "m"}
LONE_SECOND_CONTEXT = 4
MISSING = "?"
"""And one that could not be heard; its loudness is null."""
CLASSES: dict[str, AudioClass] = {letter: name for name, letter in LETTERS.items()}

if set(LETTERS) != set(get_args(AudioClass)):
    raise AssertionError("every class of sound has a letter")


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What a video looks like through its time, so small and coarse that a copy of it looks the same.

    `times`: float64 (n,) seconds. `pictures`: uint8 (n, 18, 32), L* scaled to 0..255.
    """

    video_id: str
    times: NDArray[np.float64]
    pictures: NDArray[np.uint8]


def measured_schemas() -> dict[str, Any]:
    """Arrow schemas of the tables of measurements, by table."""
    import pyarrow as pa

    figures = ["warmth", "saturation", "brightness", "contrast", "sharpness"]
    return {
        "shots": pa.schema(
            [
                ("shot_id", pa.string()),
                ("video_id", pa.string()),
                ("start", pa.float64()),
                ("end", pa.float64()),
                ("key_time", pa.float64()),
                ("tone", pa.string()),
                *((name, pa.float64()) for name in figures),
                ("style", pa.string()),
            ]
        ),
        "sound_tracks": pa.schema(
            [("video_id", pa.string()), ("classes", pa.string()), ("loudness", pa.list_(pa.float32()))]
        ),
        "fingerprints": pa.schema(
            [
                ("video_id", pa.string()),
                ("times", pa.list_(pa.float64())),
                ("height", pa.int32()),
                ("width", pa.int32()),
                ("pictures", pa.binary()),
            ]
        ),
    }


def shot_rows(shots: Sequence[Shot]) -> Any:
    """Shots as an Arrow table."""
    import pyarrow as pa

    values = [{**asdict(shot), "style": shot.style or ""} for shot in shots]
    return pa.Table.from_pylist(values, schema=measured_schemas()["shots"])


def shot_of(row: Mapping[str, Any]) -> Shot:
    """A shot from its row."""
    return Shot(**{**row, "style": row["style"] or None})


def sound_track_rows(track: SoundTrack) -> Any:
    """A sound track as an Arrow table of one row."""
    import pyarrow as pa

    value = {
        "video_id": track.video_id,
        "classes": "".join(MISSING if name is None else LETTERS[name] for name in track.classes),
        "loudness": [None if level != level else level for level in track.loudness.tolist()],
    }
    return pa.Table.from_pylist([value], schema=measured_schemas()["sound_tracks"])


def sound_track_of(row: Mapping[str, Any]) -> SoundTrack:
    """A sound track from its row; loudness (seconds,) float32."""
    import numpy as np

    letters = smooth_lone_seconds(row["classes"])
    classes = tuple(None if letter == MISSING else CLASSES[letter] for letter in letters)
    return SoundTrack(row["video_id"], classes, np.asarray(row["loudness"], np.float32))


def smooth_lone_seconds(letters: str) -> str:
    """Letters of seconds, where a single one is taken for what is around it: one of speech or noises within
    music, and one of music within noises.

    Around it, or before it at the end, are `LONE_SECOND_CONTEXT` seconds or more of that. Stored letters are
    as measured, so older libraries are read alike. A single second within speech is a pause, and one of
    speech within noises may be a word: both stay.
    """
    runs = [(letter, len(list(run))) for letter, run in groupby(letters)]
    place = 1
    while place < len(runs):
        (around, before), (lone, length) = runs[place - 1], runs[place]
        last = place + 1 == len(runs)
        after = 0 if last else runs[place + 1][1]
        same = last or runs[place + 1][0] == around
        if (
            length == 1
            and lone in LONE_SECONDS.get(around, "")
            and same
            and before + after >= LONE_SECOND_CONTEXT
        ):
            runs[place - 1 : place + 2] = [(around, before + 1 + after)]
        else:
            place += 1
    return "".join(letter * length for letter, length in runs)


def fingerprint_rows(fingerprint_: Fingerprint) -> Any:
    """A fingerprint as an Arrow table of one row."""
    import numpy as np
    import pyarrow as pa

    _, height, width = fingerprint_.pictures.shape
    value = {
        "video_id": fingerprint_.video_id,
        "times": fingerprint_.times.tolist(),
        "height": height,
        "width": width,
        "pictures": np.ascontiguousarray(fingerprint_.pictures, np.uint8).tobytes(),
    }
    return pa.Table.from_pylist([value], schema=measured_schemas()["fingerprints"])


def fingerprint_of(row: Mapping[str, Any]) -> Fingerprint:
    """A fingerprint from its row; times (n,) float64 in seconds."""
    import numpy as np

    shape = (-1, row["height"], row["width"])
    pictures = np.frombuffer(row["pictures"], np.uint8).reshape(shape)
    return Fingerprint(row["video_id"], np.asarray(row["times"], np.float64), pictures)
