"""`transformers serve` on a loopback port: `python -m tests.fakes.serve_tiny PORT`.

Its model manager asks for a device map, which needs the accelerate package; without one a
model is loaded to the processor as it is. All else is the server as it comes.
"""

from __future__ import annotations

import sys


def serve(port: int) -> None:
    """Until the process is ended. Models are named by their folder and loaded at the first request."""
    from transformers.cli.serve import Serve

    running = Serve(host="127.0.0.1", port=port, non_blocking=True, device="cpu", force_model=None)
    running._model_manager.device = None
    running._thread.join()


if __name__ == "__main__":
    serve(int(sys.argv[1]))
