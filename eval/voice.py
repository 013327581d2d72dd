"""A synthetic voice without a model: eSpeak NG, out of the package `espeakng-loader`.

The package carries the library with its data. Both are under the GPL, version 3 or later, so they are in an
extra, which nothing but the demo uses; what the voice says is not under that licence.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np

from indexers.errors import ExtraMissing

if TYPE_CHECKING:
    from numpy.typing import NDArray

VOICE = b"en-us"
WORDS_A_MINUTE = 150

# Of speak_lib.h.
_RETRIEVAL, _DONT_EXIT, _UTF8, _RATE = 1, 0x8000, 1, 1
_CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.c_void_p)


def speak(text: str, rate: int) -> NDArray[np.float32]:
    """A text spoken in English: mono float32 (n,) in [-1, 1] at `rate` samples a second.

    The same text gives the same samples. Raises `ExtraMissing` without the package.
    """
    from scipy.signal import resample_poly

    library, own_rate = _open()
    spoken = bytearray()

    def keep(samples: Any, count: int, _events: int) -> int:
        if samples:
            spoken.extend(ctypes.string_at(samples, count * ctypes.sizeof(ctypes.c_short)))
        return 0

    kept = _CALLBACK(keep)
    library.espeak_SetSynthCallback(kept)
    library.espeak_SetVoiceByName(VOICE)
    library.espeak_SetParameter(_RATE, WORDS_A_MINUTE, 0)
    said = text.encode()
    library.espeak_Synth(said, len(said) + 1, 0, 1, 0, _UTF8, None, None)
    library.espeak_Synchronize()
    samples = np.frombuffer(bytes(spoken), np.int16).astype(np.float32) / 32768
    resampled: NDArray[np.float32] = resample_poly(samples, rate, own_rate).astype(np.float32)
    return np.clip(resampled, -1, 1)


def _open() -> tuple[ctypes.CDLL, int]:
    """The library, initialized, and its samples a second. Raises `ExtraMissing`."""
    try:
        from espeakng_loader import get_data_path, get_library_path
    except ImportError as error:
        raise ExtraMissing(
            "the demo needs the extra `demo`: pip install 'offline-video-rag[demo]'"
        ) from error
    library = ctypes.CDLL(get_library_path())
    rate = library.espeak_Initialize(_RETRIEVAL, 0, get_data_path().encode(), _DONT_EXIT)
    if rate <= 0:
        raise ExtraMissing(f"{get_data_path()}: no data of eSpeak NG; install espeakng-loader again")
    return library, rate
