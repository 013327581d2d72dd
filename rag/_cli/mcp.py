"""`rag mcp`: the library as tools of an agent, over the Model Context Protocol on stdin and stdout."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated, Any

from rag._cli.options import option
from rag._cli.output import print_json
from rag._cli.session import AllowIndex, Session, with_session


@with_session(without=("as_json",))
def mcp(
    session: Session,
    print_config: Annotated[
        bool, option("--print-config", "Print what to add to the settings of a client, as JSON.")
    ] = False,
    allow_index: AllowIndex = None,
) -> int:
    """Give an agent the library: search, ask, look at frames, read transcripts.

    Speaks the Model Context Protocol on stdin and stdout until stdin is closed. The same tools are at /mcp of
    'rag serve'.
    """
    from rag.listening import require_serving

    require_serving()
    from rag.server.jobs import resolved_roots

    roots = resolved_roots([Path(os.fsdecode(root)) for root in allow_index or ()])
    if print_config:
        print_json({"mcpServers": {"video-library": _command(session, roots)}})
        return 0
    from rag.server.mcp.server import run_stdio

    return run_stdio(session.settings, roots)


def _command(session: Session, roots: tuple[Path, ...]) -> dict[str, Any]:
    """How a client starts this server, whatever its working folder."""
    from rag.store.finding import find_library

    program = os.path.abspath(sys.argv[0])
    words = [program] if os.access(program, os.X_OK) else [sys.executable, "-m", "rag._cli.main"]
    library = find_library(library=session.settings.library, storage=session.settings.storage)
    words += ["mcp", "--library", os.fsdecode(library)]
    config = session.config or Path("rag.toml")
    if config.is_file():
        words += ["--config", os.path.abspath(config)]
    words += [word for root in roots for word in ("--allow-index", os.fspath(root))]
    return {"command": words[0], "args": words[1:]}
