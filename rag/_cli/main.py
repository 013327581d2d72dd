"""The command `rag`: how it starts, ends and reports errors.

All else is imported once it runs, so that an interrupt ends the start as it ends a command: with one line.
"""

from __future__ import annotations

import gc
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

    import typer


def run() -> NoReturn:
    """The entry point: `main`, and the process ends with its exit code; on Windows one line and 2."""
    try:
        code = _run()
    except KeyboardInterrupt:
        code = _interrupted()
    sys.exit(code)


def _interrupted() -> int:
    """Say so without an import: what was interrupted may be that of a library that can be imported once."""
    # Both the stream and who reads it may be gone.
    try:  # noqa: SIM105 (importing `contextlib` takes milliseconds in which no interrupt is caught yet)
        sys.stderr.write("rag: interrupted\n")
    except (AttributeError, OSError):
        pass
    return 130


def _run() -> int:
    from rag._cli.output import open_standard_streams

    open_standard_streams()
    # What is imported lives to the end. Looking through it for garbage, twice over when all is done, took a
    # sixth of the CPU of a small `rag index`.
    gc.set_threshold(10_000)
    # NumPy's second thread would spin for 25 ms after each product, beside the searches of a question.
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")
    # Lance warns on stderr of what is damaged; one line of ours says it.
    os.environ.setdefault("LANCE_LOG", "error")
    code = main(sys.argv[1:])
    gc.freeze()
    return code


def main(arguments: Sequence[str]) -> int:
    """Run one command; returns its exit code.

    A `RagError` or a usage error is one line on stderr, an interrupt is one line and 130, a closed pipe is
    silent; anything else is a bug and is raised, with its traceback.
    """
    import typer

    from rag._cli.commands import app
    from rag._cli.output import echo_stderr
    from rag.errors import RagError

    try:
        code = app(list(arguments), prog_name="rag", standalone_mode=False)
    except RagError as error:
        echo_stderr(f"rag: {error}")
        return error.exit_code
    except typer.TyperException as error:
        return _usage_error(error)
    except (typer.Abort, SystemExit) as stop:
        # typer turns an EOFError and a BrokenPipeError from anywhere below into these; here they are bugs.
        bug = stop.__cause__ or stop.__context__
        if isinstance(bug, EOFError | BrokenPipeError):
            raise bug from None
        raise
    return _interrupted() if code == 130 else int(code or 0)


def _usage_error(error: typer.TyperException) -> int:
    from rag._cli.output import echo_stderr

    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "rag"
    # pydantic, by which typer checks choices, puts this before its message.
    message = " ".join(error.format_message().replace("Value error, ", "").split()).rstrip(".")
    stop = "" if message.endswith("?") else "."
    echo_stderr(f"{command}: {message}{stop} Try '{command} --help'.")
    return error.exit_code


if __name__ == "__main__":
    run()
