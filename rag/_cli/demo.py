"""`rag demo`: a small corpus, indexed and asked, with contact sheets of what is cited."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import rag
from corpora.outputs import OverwritePolicy
from rag._cli.index import summary_lines
from rag._cli.options import option
from rag._cli.output import width
from rag._cli.session import Config, Force, Json, Session, Verbose, given_path, start
from rag._cli.show import render_sheet, sheet_name
from rag.records import Answer, VideoCitation, span_name
from rag.rendering.shapes import answer_shape
from rag.rendering.terminal import answer_lines

if TYPE_CHECKING:
    from eval.demo import DemoQuestion
    from rag.indexing.report import IndexReport


def demo(
    folder: Annotated[
        Path, option("--dir DIR", "Folder for the corpus, library and sheets.", parser=given_path)
    ] = Path("demo"),
    force: Force = False,
    config: Config = None,
    as_json: Json = None,
    verbose: Verbose = 0,
) -> int:
    """Index three clips of photographs, ask three questions and render the windows cited.

    One is about what is seen, one about what is said, one about what is read.
    """
    from eval.demo import QUESTIONS, copy_corpus

    session = start([folder / ".rag"], config, as_json, verbose)
    report, printed = _index(session, copy_corpus(folder / "corpus", OverwritePolicy(force)))
    policy = session.overwrite_policy(force=True)  # the sheets are the demo's own
    answers: list[Answered] = []
    with rag.Library.open(settings=session.settings) as opened:
        for question in QUESTIONS:
            answer = opened.ask(question.text, options=question.options, question_id=question.question_id)
            answers.append(Answered(question, answer, _sheets(answer, folder, policy)))
    shape = {"folder": folder, "index": report, "answers": list(map(_shape, answers))}
    session.report("rag.demo/1", shape, _lines(folder, report, printed, answers))
    return report.exit_code


@dataclass(frozen=True, slots=True)
class Answered:
    """One question of the demo."""

    question: DemoQuestion
    answer: Answer
    sheets: list[Path]


def _index(session: Session, videos: Path) -> tuple[IndexReport, list[str]]:
    from rag._cli.progress import open_progress

    with open_progress() as progress:
        report = rag.Library.index([str(videos)], settings=session.settings, progress=progress)
    return report, progress.printed


def _sheets(answer: Answer, folder: Path, policy: OverwritePolicy) -> list[Path]:
    sheets = (
        render_sheet(citation, folder / sheet_name(citation), policy=policy)
        for citation in answer.citations
        if isinstance(citation, VideoCitation)
    )
    return [sheet for sheet in sheets if sheet is not None]


def _lines(folder: Path, report: IndexReport, printed: list[str], answers: list[Answered]) -> Iterator[str]:
    yield from summary_lines(report, printed)
    for each in answers:
        yield ""
        yield f"? {each.answer.question.text}"
        yield from answer_lines(each.answer, width=width(), libraries=[str(folder / ".rag")])
        for sheet in each.sheets:
            yield f"    contact sheet: {sheet}"
        question, proof = each.question, each.question.proof
        verdict = "correct" if question.is_right(each.answer) else "incorrect"
        where = f"in {proof.video} at {span_name(proof.start, proof.end)} s"
        yield f"    ground truth: {question.expected} {where} ({verdict})"
    yield ""
    library = shlex.quote(str(folder / ".rag"))
    yield f'everything is in {folder}; ask more with: rag ask --library {library} "..."'
    yield f"or look at it in a browser: rag serve --library {library} --open"


def _shape(answered: Answered) -> dict[str, Any]:
    return {
        **answer_shape(answered.answer),
        "sheets": answered.sheets,
        "expected": answered.question.expected,
        "proof": answered.question.proof,
        "right": answered.question.is_right(answered.answer),
    }
