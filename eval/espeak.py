"""eSpeak NG as a program: UTF-8 text on stdin, 16-bit mono samples on stdout after a line with their rate.

A process says one text: the library keeps a state that changes what it says next, and where it fails, nothing
else does. Only the standard library and the package `espeakng-loader` are imported.
"""

from __future__ import annotations

import ctypes
import sys
from typing import Any

VOICE = b"en-us"
WORDS_A_MINUTE = 150

# Of speak_lib.h.
_SYNCHRONOUS, _DONT_EXIT, _UTF8, _RATE = 2, 0x8000, 1, 1
_CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.c_void_p)


def main() -> None:
    """Speak what is on stdin; exits with a line on stderr where the package has no data."""
    from espeakng_loader import get_data_path, get_library_path

    library = ctypes.CDLL(get_library_path())
    rate = library.espeak_Initialize(_SYNCHRONOUS, 0, get_data_path().encode(), _DONT_EXIT)
    if rate <= 0:
        sys.exit(f"{get_data_path()}: no data of eSpeak NG; install espeakng-loader again")
    spoken = bytearray()

    def keep(samples: Any, count: int, _events: int) -> int:
        if samples:
            spoken.extend(ctypes.string_at(samples, count * ctypes.sizeof(ctypes.c_short)))
        return 0

    kept = _CALLBACK(keep)
    library.espeak_SetSynthCallback(kept)
    library.espeak_SetVoiceByName(VOICE)
    library.espeak_SetParameter(_RATE, WORDS_A_MINUTE, 0)
    text = sys.stdin.buffer.read()
    library.espeak_Synth(text, len(text) + 1, 0, 1, 0, _UTF8, None, None)
    library.espeak_Synchronize()
    sys.stdout.buffer.write(b"%d\n" % rate + spoken)


if __name__ == "__main__":
    main()
