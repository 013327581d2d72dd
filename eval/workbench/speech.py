"""Spoken lines by the program `flite`, where it is installed; nowhere else is anything voiced."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import wave
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from eval.workbench.film import AUDIO_RATE, Line
from rag.errors import RagError

if TYPE_CHECKING:
    from numpy.typing import NDArray

PROGRAM = "flite"
SECONDS_A_LINE = 60


@dataclass(frozen=True, slots=True)
class VoicedLine:
    """A line and its sound, mono float32 (n,) at 16 kHz, no longer than the line."""

    line: Line
    samples: NDArray[np.float32]


def find_voice() -> str | None:
    """Where `flite` is; None where it is not installed."""
    return shutil.which(PROGRAM)


def spoken_seconds(text: str) -> float:
    """How long a line takes to say, with room to spare."""
    return round(0.6 + 0.42 * len(text.split()), 1)


def voiced(lines: Sequence[Line], program: str) -> list[VoicedLine]:
    """Every line spoken; raises `RagError` where the program fails."""
    with tempfile.TemporaryDirectory(prefix="workbench-") as folder:
        return [VoicedLine(line, _spoken(line, program, Path(folder) / "line.wav")) for line in lines]


def _spoken(line: Line, program: str, path: Path) -> NDArray[np.float32]:
    try:
        subprocess.run(
            [program, "-t", line.text, "-o", str(path)],
            check=True,
            capture_output=True,
            timeout=SECONDS_A_LINE,
        )
        samples = _read(path)
    except (OSError, subprocess.SubprocessError, wave.Error, EOFError) as error:
        raise RagError(f"{program} could not say a line ({error}); mend it or take it away") from error
    return samples[: round((line.end - line.start) * AUDIO_RATE)]


def _read(path: Path) -> NDArray[np.float32]:
    """A 16-bit mono WAV file at 16 kHz, whatever its own rate."""
    with wave.open(str(path)) as file:
        rate, channels = file.getframerate(), file.getnchannels()
        raw = np.frombuffer(file.readframes(file.getnframes()), "<i2").astype(np.float32) / 32768
    mono: NDArray[np.float32] = raw.reshape(-1, channels).mean(axis=1, dtype=np.float32)
    if rate != AUDIO_RATE:
        times = np.arange(int(len(mono) * AUDIO_RATE / rate)) * (rate / AUDIO_RATE)
        mono = np.interp(times, np.arange(len(mono)), mono).astype(np.float32)
    return mono
