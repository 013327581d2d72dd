"""Reading files: what is in a folder, and what is in each file: frames, audio, texts, documents."""

import sys

if sys.platform == "win32":
    raise ImportError("offline-video-rag runs on Linux and macOS; on Windows, run it in WSL")
