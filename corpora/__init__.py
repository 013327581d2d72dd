"""Reading files: what is in a folder, and what is in each file: frames, audio, texts, documents."""

import sys

UNSUPPORTED_PLATFORM = "offline-video-rag runs on Linux and macOS; on Windows, run it in WSL"


def require_posix() -> None:
    """Raise `ImportError` on Windows: for modules that use what it does not have."""
    if sys.platform == "win32":
        raise ImportError(UNSUPPORTED_PLATFORM)
