"""`rag demo`: the whole road on a corpus made on the spot: write, index, ask, cite, draw."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rag._cli.index import summary_lines
from rag._cli.options import Config, Json, Seed, Verbose
from rag._cli.output import print_json, print_lines, talk, width
from rag._cli.session import Session, start
from rag._cli.show import draw_sheet, sheet_name
from rag.records import Answer, VideoCitation

if TYPE_CHECKING:
    from rag.indexing.report import IndexReport

__all__ = ["demo"]


def demo(
    folder: Annotated[
        Path, typer.Option("--dir", metavar="DIR", help="Where the corpus, library and sheets go.")
    ] = Path("demo"),
    config: Config = None,
    as_json: Json = None,
    verbose: Verbose = 0,
    seed: Seed = None,
) -> int:
    """Write a small corpus, index it, ask three questions and draw what proves the answers."""
    library = folder / ".rag"
    session = start(library, config, as_json, verbose, seed)
    from corpora.demo import demo_questions, write_demo_corpus
    from rag.library import Library as Shelf

    corpus = folder / "corpus"
    talk(f"writing videos and documents into {corpus}")
    corpus.mkdir(parents=True, exist_ok=True)
    write_demo_corpus(corpus)
    report, said = _index(session, corpus)
    answers: list[tuple[Answer, list[Path]]] = []
    with Shelf.open(settings=session.settings) as shelf:
        for question in demo_questions():
            answer = shelf.ask(question.text, options=question.options, question_id=question.question_id)
            answers.append((answer, _sheets(answer, folder)))
    if session.as_json:
        print_json(_shape(folder, report, answers))
    else:
        print_lines(_lines(folder, report, said, answers))
    return report.exit_code


def _index(session: Session, corpus: Path) -> tuple[IndexReport, list[str]]:
    from rag._cli.progress import open_progress
    from rag.library import Library as Shelf

    with open_progress() as progress:
        report = Shelf.index([str(corpus)], settings=session.settings, progress=progress)
    return report, progress.said


def _sheets(answer: Answer, folder: Path) -> list[Path]:
    drawn = (
        draw_sheet(citation, folder / sheet_name(citation))
        for citation in answer.citations
        if isinstance(citation, VideoCitation)
    )
    return [sheet for sheet in drawn if sheet is not None]


def _lines(
    folder: Path, report: IndexReport, said: list[str], answers: list[tuple[Answer, list[Path]]]
) -> Iterator[str]:
    from rag.rendering.terminal import answer_lines

    yield from summary_lines(report, said)
    for answer, sheets in answers:
        yield ""
        yield f"? {answer.question.text}"
        yield from answer_lines(answer, width=width(), library=str(folder / ".rag"))
        for sheet in sheets:
            yield f"    contact sheet: {sheet}"
    yield ""
    yield f'everything lies in {folder}; ask on: rag ask --library {folder / ".rag"} "..."'


def _shape(folder: Path, report: IndexReport, answers: list[tuple[Answer, list[Path]]]) -> dict[str, Any]:
    from rag.rendering.shapes import answer_shape, plain, report_shape

    asked = [{**answer_shape(answer), "sheets": plain(sheets)} for answer, sheets in answers]
    return report_shape("rag.demo/1", {"folder": folder, "index": plain(report), "answers": asked})
