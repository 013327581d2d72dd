"""`rag mcp`: the library as tools of an agent, over the Model Context Protocol on stdin and stdout."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from rag._cli.options import option
from rag._cli.output import echo_stderr, print_lines
from rag._cli.session import AllowIndex, Session, with_session

Client = Literal["claude", "claude-code", "codex", "cursor", "gemini", "vscode", "windsurf", "zed"]
NAME = "video-library"
Entry = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a client reads its servers."""

    file: str
    key: str = "mcpServers"
    more: tuple[tuple[str, str], ...] = ()
    """Further keys of the entry."""
    text: Callable[[str, Entry], str] = lambda key, entry: json.dumps({key: {NAME: entry}}, indent=2)


def _toml(key: str, entry: Entry) -> str:
    rows = [f"{name} = {json.dumps(value)}" for name, value in entry.items()]
    return "\n".join([f"[{key}.{NAME}]", *rows])


PLACES: dict[Client, Place] = {
    "claude": Place("claude_desktop_config.json (Settings, Developer, Edit Config)"),
    "claude-code": Place(".mcp.json in the project"),
    "codex": Place("~/.codex/config.toml", "mcp_servers", text=_toml),
    "cursor": Place("~/.cursor/mcp.json"),
    "gemini": Place("~/.gemini/settings.json"),
    "vscode": Place(".vscode/mcp.json in the workspace", "servers", (("type", "stdio"),)),
    "windsurf": Place("~/.codeium/windsurf/mcp_config.json"),
    "zed": Place("settings.json of Zed", "context_servers", (("source", "custom"),)),
}
assert tuple(PLACES) == get_args(Client)


@with_session(without=("as_json", "seed"))
def mcp(
    session: Session,
    print_config: Annotated[
        Client | None,
        option("--print-config CLIENT", f"Print what to add to a client's settings: {', '.join(PLACES)}."),
    ] = None,
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
    if print_config is not None:
        place = PLACES[print_config]
        print_lines([place.text(place.key, {**dict(place.more), **_command(session, roots)})])
        echo_stderr(f"rag: add this to {place.file}")
        return 0
    from rag.server.mcp.stdio import run

    return run(session.settings, roots)


def _command(session: Session, roots: tuple[Path, ...]) -> Entry:
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
