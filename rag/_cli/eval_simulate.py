"""`rag eval simulate-model`: a simulated vision-language model behind an OpenAI-compatible server."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from rag._cli.options import option
from rag._cli.output import echo_stderr, print_lines
from rag._cli.session import Host, Port, given_path
from rag.errors import UsageError


def simulate_model(
    corpus: Annotated[
        list[Path] | None,
        option(
            "--corpus DIR",
            "Folder with synthetic videos, or above some, as --data of 'rag eval run'; repeatable.",
            parser=given_path,
            show_default=False,
        ),
    ] = None,
    perception: Annotated[
        float, option("--perception SHARE", "Of events and decor, those that it perceives.", min=0, max=1)
    ] = 0.95,
    context_tokens: Annotated[
        int, option("--context-tokens N", "Of prompt and reply together.", min=1)
    ] = 131072,
    images: Annotated[int, option("--images N", "Most images of a request.", min=1)] = 256,
    seed: Annotated[int, option("--seed N", "The same seed gives the same replies.")] = 0,
    host: Host = "127.0.0.1",
    port: Port = 8080,
    name: Annotated[str, option("--name NAME", "Name of the model.")] = "simulated",
) -> int:
    """Serve a simulated model, to test with synthetic videos.

    It knows what they show: a test instrument, no model. Prints its base
    URL on stdout, and runs until it is interrupted.
    """
    from eval.simulated_model.frames import corpus_folders, open_index
    from eval.simulated_model.server import SimulatedModel, SimulatedModelServer, serve

    if not corpus:
        raise UsageError("name a folder with synthetic videos: --corpus DIR")
    index = open_index(corpus_folders(corpus), _progress)
    model = SimulatedModel(index, perception, seed, context_tokens=context_tokens, images=images)
    server = SimulatedModelServer(model, name, host, port)
    serve(server, started=lambda base: print_lines([base]))
    return 0


def _progress(done: int, videos: int) -> None:
    if done == videos or done % 100 == 0:
        echo_stderr(f"read {done} of {videos} videos")
