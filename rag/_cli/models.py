"""`rag models`: list and download model weights; `pull` alone uses a network."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from corpora.outputs import OverwritePolicy
from rag._cli.options import argument
from rag._cli.output import echo_stderr, width
from rag._cli.progress import CountProgress
from rag._cli.session import Force, Session, with_session
from rag.rendering.terminal import byte_count, excerpt, table_lines

if TYPE_CHECKING:
    from indexers.models.lookup import ModelRow
    from rag.settings import Settings

app = typer.Typer(help="List and download model weights. Only 'pull' uses a network.", rich_markup_mode=None)

_with_settings = with_session(without=("library",))
Name = Annotated[str, argument("NAME", "A name from 'rag models list'.")]


@app.command("list")
@_with_settings
def list_(session: Session) -> int:
    """List models: size, licence, whether installed and in use."""
    rows = _rows(session.settings)
    session.report("rag.models/1", {"models": rows}, _table(rows))
    return 0


@app.command("pull")
@_with_settings
def pull(session: Session, name: Name, force: Force = False) -> int:
    """Download a model's files, at the pinned commit where there is one.

    A model that is here is compared with its hashes. Only safetensors are pulled.
    """
    from indexers.models.catalogue import known_model
    from indexers.models.pull import pull

    model = known_model(name)
    if model.licence_note:
        echo_stderr(f"{name}: {model.licence}, {model.licence_note}")
    if not (model.revision or model.sha256):
        echo_stderr(f"{name}: not pinned: its newest commit is pulled, and held to the hub's own hashes")
    with CountProgress(shown=byte_count) as progress:

        def show(path: str, done: int, total: int) -> None:
            progress.update(done, total, path)

        folder = pull(name, session.settings.encoder, show, OverwritePolicy(force), progress.print)
    session.report("rag.models.pull/1", {"name": name, "path": folder}, [f"{name} is installed: {folder}"])
    return 0


def _rows(settings: Settings) -> tuple[ModelRow, ...]:
    """Every model known by name. In use are those that a new library and a question would open by `settings`;
    a library that exists keeps its own encoders."""
    from indexers.models.lookup import list_models, recommended_model
    from indexers.registry import models_in_use
    from rag.reasoners.embedded.ranker import MODEL as RANKER

    used = models_in_use(settings.encoder)
    if settings.asr.mode != "off":
        used.add(settings.asr.model)
    if settings.reasoner.kind == "extractive":
        used.add(settings.reasoner.model or recommended_model("reader").name)
    if settings.reasoner.kind == "embedded":
        used.add(RANKER)
    return list_models(settings.encoder, used)


def _table(rows: Sequence[ModelRow]) -> Iterator[str]:
    from indexers.models.lookup import readable_size

    cells = [["", "model", "for", "size", "licence"]]
    for row in rows:
        installed = "installed" if row.here else "bad" if row.problem else "missing" if row.in_use else "-"
        if row.here and row.in_use:
            installed = "in use"
        licence = row.licence if row.commercial else f"{row.licence} (non-commercial)"
        name = f"{row.name} *" if row.recommended else row.name
        cells.append([installed, name, row.purpose, readable_size(row.size), licence])
    yield from table_lines(cells)
    yield ""
    yield "* recommended: permissive licence. Install one with 'rag models pull NAME'."
    for row in rows:
        if row.problem:
            yield excerpt(f"{row.name}: {row.problem}", 3 * width())
