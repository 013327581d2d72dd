"""`rag search`: windows of videos and passages for a query, or a TREC run over many queries."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from corpora.outputs import check_outputs
from corpora.records import AudioClass, Style, Tone
from rag._cli.batch import DocumentNames, IdKind, Ids, manifest, run_batch, windows_path, write_run
from rag._cli.options import argument, option
from rag._cli.output import echo_stderr, width
from rag._cli.session import (
    End,
    Force,
    PathGlobs,
    Session,
    Start,
    TopK,
    unmatched_paths,
    weak_hits_line,
    where,
    with_session,
    words,
)
from rag.errors import UsageError
from rag.records import ShotFilter
from rag.rendering.shapes import plain, search_shape, with_copies, with_states
from rag.rendering.terminal import hit_lines

if TYPE_CHECKING:
    from eval.batches import BatchQuestion
    from rag.records import PassageHit, SearchFilter, UnmeasuredVideos, VideoHit

Kind = Literal["video", "passage", "all"]


@with_session({"search.top_k": "top_k"}, several=True)
def search(
    session: Session,
    query: Annotated[str | None, argument("QUERY", "Text to search for.", show_default=False)] = None,
    kind: Annotated[Kind, option("--kind", "Kind of results.")] = "all",
    top_k: TopK = None,
    path: PathGlobs = None,
    begin: Start = None,
    end: End = None,
    tone: Annotated[Tone | None, option("--tone --color", "Only shots of this colour tone.")] = None,
    style: Annotated[Style | None, option("--style", "Only shots of this style.")] = None,
    audio: Annotated[AudioClass | None, option("--audio", "Only intervals with this class of sound.")] = None,
    min_height: Annotated[
        int | None, option("--min-height LINES", "Only videos of at least this vertical resolution.", min=1)
    ] = None,
    after: Annotated[
        str | None, option("--after TEXT", "Only moments up to 60 s after this is seen in the video.")
    ] = None,
    before: Annotated[
        str | None, option("--before TEXT", "Only moments up to 60 s before this is seen in the video.")
    ] = None,
    queries: Annotated[
        Path | None, option("--queries FILE", 'Many queries: JSON lines of {"_id": ..., "text": ...}.')
    ] = None,
    run: Annotated[
        Path | None,
        option(
            "--run OUT.trec", "Write a TREC run by document to this file, and windows to OUT.windows.jsonl."
        ),
    ] = None,
    ids: Ids = "hash",
    force: Force = False,
) -> int:
    """Find the windows of videos and the passages that match QUERY.

    A filter without a QUERY lists every interval that meets it, by video and time. Passages have no times:
    with --start, --end or a filter on shots only videos are searched.
    """
    seen = [None if text is None else words(text) for text in (after, before)]
    shots = ShotFilter(tone, style, audio, min_height, *seen)
    chosen = where(path, begin, end, shots)
    if chosen is not None:
        from rag.retrieval.shots import check_filter

        check_filter(chosen, kind)
    if queries is not None or run is not None:
        if queries is None or run is None or query is not None:
            raise UsageError("--queries FILE and --run OUT.trec go together, and without a QUERY")
        return _run(session, queries, run, kind, chosen, ids, force)
    if ids != "hash":
        raise UsageError("--ids goes with --queries FILE and --run OUT.trec")
    if query is None and shots == ShotFilter():
        raise UsageError("a QUERY is missing, or a filter such as --tone; see 'rag search --help'")
    return _one(session, query, kind, chosen, top_k)


def _one(
    session: Session, query: str | None, kind: Kind, chosen: SearchFilter | None, most: int | None
) -> int:
    """One query; or, without one, at most `most` of the intervals that meet the filter."""
    from rag.store.lookup import other_paths

    with session.open_library() as opened:
        hits: Sequence[VideoHit | PassageHit]
        if query is not None:
            hits = opened.search(words(query), kind=kind, top_k=session.settings.search.top_k, where=chosen)
        else:
            hits = opened.browse(chosen or ShotFilter())[:most]
        hit_shots, unmeasured = None, None
        if chosen is not None and chosen.shots is not None:
            hit_shots = [
                opened.shot_at(hit.video_id, (hit.start + hit.end) / 2) if hit.kind == "video" else None
                for hit in hits
            ]
            unmeasured = opened.unmeasured(chosen)
        unmatched = unmatched_paths(opened, chosen)
        stale = opened.stale_files(hit.path for hit in hits)
        copies = other_paths(opened.engine.reader, [hit.path for hit in hits])
        if not hits and not opened.indexed_paths():
            from rag.store.finding import nothing_indexed

            echo_stderr(f"rag: {nothing_indexed(opened.engine.reader.folder)}")
    threshold = session.settings.search.threshold if query is not None else None
    shape = search_shape(query, hits, shots=hit_shots, unmeasured=unmeasured, threshold=threshold)
    results = with_copies(with_states(shape["results"], stale), copies)
    session.print(
        {**shape, "results": results},
        hit_lines(hits, width=width(), shots=hit_shots or (), threshold=threshold, stale=stale),
    )
    _report_unmeasured(unmeasured)
    if unmatched:
        echo_stderr(f"rag: {unmatched}")
    best = max((hit.relevance for hit in hits), default=1.0) if query is not None else 1.0
    if best < session.settings.search.threshold:
        echo_stderr(weak_hits_line("library", "hits", best, session.settings.search.threshold))
    return 3 if opened.left_out else 0


@with_session()
def highlights(
    session: Session,
    against: Annotated[
        str | None, option("--against QUERY", "Only moments that match this, compared with each other.")
    ] = None,
    top_k: TopK = None,
) -> int:
    """Find the moments that are least like the rest of the library, for footage that nobody has searched yet.

    A moment is as unusual as its stored images are far from their nearest neighbours. Near duplicates of one
    come after the others. Nothing is decoded, and no question is needed.
    """
    query = None if against is None else words(against)
    with session.open_library() as opened:
        hits = opened.highlights(against=query, top_k=top_k)
        stale = opened.stale_files(hit.path for hit in hits)
    shape = search_shape(query, hits)
    with_states(shape["results"], stale)
    session.print(shape, hit_lines(hits, width=width(), stale=stale))
    if query is not None and not hits:
        echo_stderr(f"rag: nothing in the library matches {query!r}")
    return 0


def _report_unmeasured(unmeasured: UnmeasuredVideos | None) -> None:
    """Name the videos that the filter could not decide about, which it leaves out."""
    if unmeasured is not None and unmeasured.videos:
        echo_stderr(
            f"rag: the filter could not decide about {unmeasured.videos} of {unmeasured.of} videos: "
            f"{'; '.join(unmeasured.why)}"
        )


def _run(
    session: Session,
    queries: Path,
    run: Path,
    kind: Kind,
    chosen: SearchFilter | None,
    ids: IdKind,
    force: bool,
) -> int:
    from eval.batches import BatchQuestion as Question
    from eval.batches import check_answers, is_begun, read_questions

    windows = windows_path(run)
    policy = session.overwrite_policy(force, queries)
    # The run is written again out of the windows, which are taken up.
    begun = is_begun(windows)
    check_outputs(policy, *(() if begun else (run,)), taken_up=(windows, *((run,) if begun else ())))
    check_answers(windows, policy)
    with session.open_library(whole=True) as opened:
        if chosen is not None:
            _report_unmeasured(opened.unmeasured(chosen))
        if unmatched := unmatched_paths(opened, chosen):
            echo_stderr(f"rag: {unmatched}")
        names = DocumentNames(opened, ids)
        names.say_ambiguous()
        choices = {"kind": kind, "where": plain(chosen), **names.choice}
        made_with = manifest(session, "search", opened, **choices)

        def find(question: BatchQuestion) -> dict[str, Any]:
            hits = opened.search(question.text, kind=kind, top_k=session.settings.search.top_k, where=chosen)
            threshold = session.settings.search.threshold
            shape = search_shape(question.text, hits, query_id=question.question_id, threshold=threshold)
            stale = opened.stale_files(hit.path for hit in hits)
            return {**shape, "results": names.named(with_states(shape["results"], stale))}

        counts = run_batch(queries, windows, made_with, "query_id", find, policy)
    asked = [entry for entry in read_questions(queries) if isinstance(entry, Question)]
    write_run(run, windows, [question.question_id for question in asked])
    report = {"run": run, "windows": windows, **plain(counts)}
    session.report(
        "rag.batch/1",
        report,
        [f"{counts.asked} searched, {counts.kept} kept, {counts.bad} bad: {run}, {windows}"],
    )
    return counts.exit_code
