"""A synthetic voice without a model: eSpeak NG, out of the package `espeakng-loader`.

The package carries the library with its data. Both are under the GPL, version 3 or later, so they are in an
extra, which nothing but the demo uses, and run in a process of their own; what the voice says is not under
that licence.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from indexers.errors import ExtraMissing
from rag.errors import RagError

if TYPE_CHECKING:
    from numpy.typing import NDArray

PROGRAM = Path(__file__).with_name("espeak.py")


def speak(text: str, rate: int) -> NDArray[np.float32]:
    """A text spoken in English: mono float32 (n,) in [-1, 1] at `rate` samples a second.

    The same text gives the same samples. Raises `ExtraMissing` without the package, and `RagError` where it
    fails.
    """
    from scipy.signal import resample_poly

    if importlib.util.find_spec("espeakng_loader") is None:
        raise ExtraMissing("the demo needs the extra `demo`: pip install 'offline-video-rag[demo]'")
    done = subprocess.run([sys.executable, "-P", PROGRAM], input=text.encode(), capture_output=True)
    if done.returncode:
        reason = done.stderr.decode(errors="replace").strip().splitlines() or [f"exit code {done.returncode}"]
        raise RagError(f"the voice of the demo failed: {reason[-1]}")
    own_rate, _, spoken = done.stdout.partition(b"\n")
    samples = np.frombuffer(spoken, np.int16).astype(np.float32) / 32768
    resampled: NDArray[np.float32] = resample_poly(samples, rate, int(own_rate)).astype(np.float32)
    return np.clip(resampled, -1, 1)
