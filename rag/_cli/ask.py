"""`rag ask`: answer one question with citations, or a file of questions."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from corpora.outputs import OverwritePolicy
from rag._cli.batch import DocumentNames, IdKind, Ids, manifest, run_batch
from rag._cli.options import argument, option
from rag._cli.output import echo_stderr, width
from rag._cli.session import (
    End,
    Force,
    Options,
    PathGlobs,
    Session,
    Start,
    Threshold,
    TopK,
    unmatched_paths,
    where,
    with_session,
    words,
)
from rag.errors import UsageError
from rag.rendering.shapes import answer_shape, plain, with_states
from rag.rendering.terminal import answer_lines

if TYPE_CHECKING:
    from eval.batches import BatchQuestion
    from rag.library import Library as OpenedLibrary
    from rag.records import SearchFilter


@with_session({"search.top_k": "top_k", "search.threshold": "threshold"}, several=True)
def ask(
    session: Session,
    question: Annotated[
        str | None,
        argument("QUESTION", "May contain its options: '... (A) ... (B) ...'.", show_default=False),
    ] = None,
    option: Options = None,
    top_k: TopK = None,  # noqa: ARG001 (in the session's settings)
    threshold: Threshold = None,  # noqa: ARG001 (as above)
    path: PathGlobs = None,
    begin: Start = None,
    end: End = None,
    questions: Annotated[
        Path | None,
        option(
            "--questions FILE", 'Many questions: JSON lines of {"_id": ..., "text": ..., "options": [...]}.'
        ),
    ] = None,
    out: Annotated[
        Path | None, option("--out FILE", "Write the answers to this file, as JSON lines.")
    ] = None,
    ids: Ids = "hash",
    force: Force = False,
) -> int:
    """Answer QUESTION from the library, with the windows and passages that prove it.

    Passages have no times: they are read whatever --start and --end are.
    """
    chosen = where(path, begin, end)
    policy = session.overwrite_policy(force, questions)
    if out is not None:
        from eval.batches import check_answers

        check_answers(out, policy)
    if questions is not None or out is not None:
        if questions is None or out is None or question is not None or option:
            raise UsageError("--questions FILE and --out FILE go together, and without a QUESTION")
        return _run(session, questions, out, chosen, ids, policy)
    if ids != "hash":
        raise UsageError("--ids goes with --questions FILE and --out FILE")
    if question is None:
        raise UsageError("a QUESTION is missing; see 'rag ask --help'")
    from rag.questions import parse_distinct_question

    with session.open_library() as opened:
        asked, options = words(question), tuple(map(words, option or ()))
        parse_distinct_question(asked, options)
        answer = opened.ask(asked, options=options, where=chosen)
        unread: list[str] = []
        if unmatched := unmatched_paths(opened, chosen):
            answer = replace(answer, explanation=unmatched)
        elif not answer.matched:
            unread += unsearchable_lines(opened)
        stale = opened.stale_files(citation.path for citation in answer.citations)
    shape = answer_shape(answer)
    shape["citations"] = with_states(shape["citations"], stale)
    session.print(shape, answer_lines(answer, width=width(), libraries=session.libraries, stale=stale))
    for line in unread:
        echo_stderr(line)
    return 3 if opened.left_out else 0


def _run(
    session: Session,
    questions: Path,
    out: Path,
    chosen: SearchFilter | None,
    ids: IdKind,
    policy: OverwritePolicy,
) -> int:
    with session.open_library(whole=True) as opened:
        names = DocumentNames(opened, ids)
        names.say_ambiguous()
        if unmatched := unmatched_paths(opened, chosen):
            echo_stderr(f"rag: {unmatched}")
        choices = {"where": plain(chosen), **names.choice}
        made_with = manifest(session, "ask", opened, **choices)

        def answer(question: BatchQuestion) -> dict[str, Any]:
            given = opened.ask(
                question.text, options=question.options, question_id=question.question_id, where=chosen
            )
            shape = answer_shape(given, batch=True)
            stale = opened.stale_files(citation.path for citation in given.citations)
            return {**shape, "citations": names.named(with_states(shape["citations"], stale))}

        counts = run_batch(questions, out, made_with, "question_id", answer, policy)
    session.report(
        "rag.batch/1",
        {"out": out, **plain(counts)},
        [f"{counts.asked} answered, {counts.kept} kept, {counts.bad} bad: {out}"],
    )
    return counts.exit_code


def unsearchable_lines(library: OpenedLibrary, video_ids: Collection[str] | None = None) -> Iterator[str]:
    """What these videos (default: all) have that no search finds, a line each."""
    from rag.server.health import unsearchable

    for line in unsearchable(library, video_ids):
        yield f"rag: not searched: {line}"
