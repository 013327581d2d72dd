"""`rag serve`: the page, the REST API and MCP of one library."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

from rag._cli.options import option
from rag._cli.output import echo_stderr, print_lines
from rag._cli.session import AllowIndex, Host, Port, Session, given_path, with_session


@with_session(without=("as_json",))
def serve(
    session: Session,
    host: Host = "127.0.0.1",
    port: Port = 8650,
    token_file: Annotated[
        Path | None,
        option(
            "--token-file FILE",
            "Demand the token in this file. Default: one for this run where other machines can connect.",
            parser=given_path,
            show_default=False,
        ),
    ] = None,
    allow_index: AllowIndex = None,
    open_page: Annotated[bool, option("--open", "Open the page in a browser.")] = False,
) -> int:
    """Serve a page to search, ask and look, a REST API, and MCP.

    Prints its address on stdout, and runs until it is interrupted.
    """
    from rag.listening import require_serving

    require_serving()
    from rag.server.running import serve as run
    from rag.store.finding import find_library
    from rag.store.layout import open_layout

    def announce(address: str, token: str | None) -> None:
        page = f"{address}/" if token is None else f"{address}/?token={token}"
        # A token of a file is known: it need not be in the log of a service.
        print_lines([page if token_file is None else f"{address}/"])
        library = find_library(library=session.settings.library, storage=session.settings.storage)
        if not open_layout(library).exists():
            echo_stderr(f"rag: {library}: no library here yet; the page says how to make one")
        if token is not None:
            echo_stderr("rag: programs send the token as Authorization: Bearer TOKEN")
        if open_page:
            import webbrowser

            webbrowser.open(page)

    roots = tuple(Path(os.fsdecode(root)) for root in allow_index or ())
    run(session.settings, host, port, token_file=token_file, index_roots=roots, started=announce)
    return 0
