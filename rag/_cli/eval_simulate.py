"""`rag eval simulate-model`: a simulated vision-language model behind an OpenAI-compatible server."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from rag._cli.options import option
from rag._cli.output import echo_stderr, print_lines
from rag._cli.session import Host, Port, given_path
from rag.errors import UsageError

# Repeated here, so that the command line starts without importing the world.
Preset = Literal["strong", "small"]


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
    preset: Annotated[Preset, option("--preset", "How able the model is.")] = "strong",
    dial: Annotated[
        list[str] | None,
        option(
            "--dial NAME=VALUE", "Another value of one dial, as perception=0.6 or refusal=0.01; repeatable."
        ),
    ] = None,
    seed: Annotated[int, option("--seed N", "The same seed gives the same replies.")] = 0,
    host: Host = "127.0.0.1",
    port: Port = 8080,
    name: Annotated[str, option("--name NAME", "Name of the model.")] = "simulated",
) -> int:
    """Serve a simulated model, to test with synthetic videos.

    It knows what they show: a test instrument, no model. Prints its base
    URL on stdout, and runs until it is interrupted.
    """
    from eval.simulated_model.dials import preset as dials_of
    from eval.simulated_model.frames import corpus_folders, open_index
    from eval.simulated_model.server import SimulatedModel, SimulatedModelServer, serve

    dials = dials_of(preset, dict(map(_dial, dial or [])))
    if not corpus:
        raise UsageError("name a folder with synthetic videos: --corpus DIR")
    index = open_index(corpus_folders(corpus), _progress)
    server = SimulatedModelServer(SimulatedModel(index, dials, seed), name, host, port)
    serve(server, started=lambda base: print_lines([base]))
    return 0


def _dial(text: str) -> tuple[str, float]:
    name, _, value = text.partition("=")
    try:
        return name, float(value)
    except ValueError as error:
        raise UsageError(f"--dial {text!r}: it is NAME=VALUE with a number") from error


def _progress(done: int, videos: int) -> None:
    if done == videos or done % 100 == 0:
        echo_stderr(f"read {done} of {videos} videos")
