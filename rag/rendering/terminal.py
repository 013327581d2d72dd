"""Text for a terminal: answers with their citations, hits, tables.

Everything shown passes `visible`: titles, names and recognized text come from files and may contain
control sequences. Lines are plain `str`.
"""

from __future__ import annotations

import re
import shlex
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence

from corpora.escaping import visible
from corpora.passages.tables import without_bars
from corpora.records import Evidence, Passage, Problem, Shot, cited_title, clock, kind_name
from localization.windows import LocalizedWindow
from rag.citations import quotations
from rag.records import (
    Answer,
    Citation,
    PassageCitation,
    PassageHit,
    ScoredOption,
    Verdict,
    VideoCitation,
    VideoHit,
    doubt,
    is_still,
    lead,
    rounded_down,
    span_name,
    verdict_of,
    window_name,
)
from rag.rendering.shapes import matches_first
from rag.store.records import FileState

STATES: Mapping[FileState, str] = {
    "missing": "the file is gone since it was indexed",
    "changed": "the file, or its subtitles or .info.json, has changed since it was indexed",
    "unreadable": "the file cannot be read now",
}
"""What is said of a file that is not as it was indexed."""
_EIGHTHS = " ▏▎▍▌▋▊▉█"


HEADING_END = re.compile(r"(?<=[^\s.!?:;,…])[ \t]*\n\s*\n")
"""The end of a paragraph without a mark of punctuation."""


def excerpt(text: str, width: int) -> str:
    """The words of `text` on one line, with a dash after a heading and tables as of `without_bars`; at most
    `width` characters, cut with an ellipsis."""
    line = visible(" ".join(HEADING_END.sub(" — ", without_bars(text).strip()).split()))
    return line if len(line) <= width else line[: max(1, width - 1)].rstrip() + "…"


def excerpt_with(quotations: Sequence[str], text: str, width: int) -> str:
    """Cut as `excerpt`, from the first of `quotations` on where it would be cut off.

    Lines of `text` may end within a quotation.
    """
    text = without_bars(text)
    for quotation in filter(None, map(str.split, quotations)):
        if found := re.search(r"\s+".join(map(re.escape, quotation)), text):
            return excerpt(text if found.end() <= width else f"… {text[found.start() :]}", width)
    return excerpt(text, width)


def span(start: float, end: float) -> str:
    """`12.5-17.5 s (00:12-00:17)`."""
    return f"{span_name(start, end)} s ({clock(start)}-{clock(end)})"


def located(path: str, start: float, end: float) -> str:
    """A window of a file on one line; a photograph without times."""
    return visible(path) if is_still(start, end) else f"{visible(path)}  {span(start, end)}"


def evidence_name(item: Evidence) -> str:
    """`ocr 00:12`; of a photograph the kind alone."""
    return (
        kind_name(item.kind, item.track)
        if is_still(item.start, item.end)
        else f"{kind_name(item.kind, item.track)} {clock(item.start)}"
    )


def duration(seconds: float) -> str:
    """`0.4 s`, `12 s`, `3 min 20 s`, `2 h 05 min`."""
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def byte_count(size: float) -> str:
    """Decimal units, as `ls --si` and disk makers count: `512 B`, `1.2 MB`."""
    for unit in ("B", "kB", "MB", "GB"):
        if size < 999.5:
            return f"{size:.0f} B" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} TB"


def counted(count: int, noun: str) -> str:
    """`1 file`, `2 files`, `2 searches`."""
    plural = f"{noun}es" if noun.endswith("ch") else f"{noun}s"
    return f"{count} {noun if count == 1 else plural}"


def taken_out_line(count: int) -> str:
    """What a repair took out of a library, and how it comes back."""
    them = "it" if count == 1 else "them"
    files = counted(count, "file")
    return f"{files} taken out by a repair, and not searched; 'rag index FOLDER' indexes {them} again"


def counted_each(**counts: int) -> str:
    """`1 search, 2 videos`, of counts by their nouns."""
    return ", ".join(counted(count, noun) for noun, count in counts.items())


def bar(fraction: float, width: int = 20) -> str:
    """A bar of exactly `width` cells, in eighths of a cell; `fraction` in [0, 1]."""
    eighths = round(min(1.0, max(0.0, fraction)) * width * 8)
    full, rest = divmod(eighths, 8)
    return ("█" * full + (_EIGHTHS[rest] if rest else "")).ljust(width)


def show_command(citation: Citation, libraries: Sequence[str] = ()) -> str:
    """The command that shows a citation, quoted for a POSIX shell.

    A path with characters that cannot be shown, and a URL of a web, is named by its id.
    """
    match citation:
        case VideoCitation():
            plain = visible(citation.path) == citation.path and not _on_a_web(citation)
            name = citation.path if plain else citation.video_id
            what = window_name(name, citation.start, citation.end)
        case PassageCitation():
            what = citation.passage_id
    words = ["rag", "show"]
    for library in libraries:
        if visible(library) == library:
            words += ["--library", library]
    if what.startswith("-"):
        words.append("--")
    return shlex.join([*words, what])


def problem_line(problem: Problem) -> str:
    """`path: what is wrong; what was done`."""
    return f"{visible(problem.path)}: {visible(problem.reason)}; {visible(problem.action)}"


def answer_lines(
    answer: Answer,
    *,
    width: int = 80,
    libraries: Sequence[str] = (),
    stale: Mapping[str, FileState] | None = None,
) -> Iterator[str]:
    """Answer, its confidence, options with bars, explanation, citations and how to look at them.

    `stale`: of `Library.stale_files`, for the citations.
    """
    chosen = lead(answer.verdict)
    chosen += f"{answer.choice}. " if answer.choice else ""
    yield from _wrapped(f"{chosen}{answer.text}", width)
    if answer.matched:
        yield f"confidence {rounded_down(answer.confidence):.2f}  {bar(answer.confidence).rstrip()}".rstrip()
    if answer.options:
        yield ""
        yield from _option_lines(answer.options, answer.choice, width)
    if answer.explanation:
        yield ""
        yield from _wrapped(answer.explanation, width)
    quoted = quotations(answer.text, answer.explanation, answer.choice)
    for number, citation in enumerate(answer.citations, 1):
        yield ""
        yield from citation_lines(citation, quoted, number=number, width=width, libraries=libraries)
        if stale and (state := stale.get(citation.path)) is not None:
            yield f"    {STATES[state]}"


def _option_lines(options: Sequence[ScoredOption], choice: str | None, width: int) -> Iterator[str]:
    room = max(10, min(40, width - 34))
    texts = [excerpt(option.text, room) for option in options]
    longest = max(len(text) for text in texts)
    for option, text in zip(options, texts, strict=True):
        mark = ">" if option.label == choice else " "
        score = f"{bar(option.score)}  {rounded_down(option.score):.2f}"
        yield f"{mark} {option.label}. {text.ljust(longest)}  {score}"


def citation_lines(
    citation: Citation,
    quotations: Sequence[str] = (),
    *,
    number: int,
    width: int = 80,
    libraries: Sequence[str] = (),
) -> Iterator[str]:
    """A citation with its evidence, of a passage where it holds one of `quotations`, and the command that
    shows it."""
    match citation:
        case VideoCitation():
            yield f"[{number}] {located(citation.path, citation.start, citation.end)}"
            yield from _evidence_lines(citation.evidence, width)
        case PassageCitation():
            yield f"[{number}] {_passage_name(citation, citation.path)}"
            yield f"    “{excerpt_with(quotations, citation.text, max(20, 3 * (width - 6)))}”"
    if libraries or not _on_a_web(citation):
        yield f"    {show_command(citation, libraries)}"


def _on_a_web(citation: Citation) -> bool:
    """Whether its path is a URL: then only a named library may contain it."""
    return "://" in citation.path


def _passage_name(passage: Passage | PassageCitation, path: str) -> str:
    title = cited_title(passage.title, passage.pages, path)
    return f"{visible(title)}  ({visible(path)})" if title else visible(path)


def _evidence_lines(evidence: Iterable[Evidence], width: int) -> Iterator[str]:
    for item in evidence:
        head = f"    {evidence_name(item)}  "
        yield f"{head}“{excerpt(item.text, max(20, width - len(head) - 2))}”"


def hit_lines(
    hits: Sequence[VideoHit | PassageHit],
    *,
    width: int = 80,
    shots: Sequence[Shot | None] = (),
    threshold: float | None = None,
    stale: Mapping[str, FileState] | None = None,
) -> Iterator[str]:
    """Hits with their relevance and evidence. `shots`: that of each hit, where there was a filter on shots.

    `stale`: of `Library.stale_files`, for the hits. `threshold`: least relevance of a match; hits below it
    come last. None: there was no query, so that hits have no relevance. A last line says what orders them
    where it is not their relevance.
    """
    if not hits:
        yield "nothing found"
    nearest = [threshold is not None and hit.relevance < threshold for hit in hits]
    order = matches_first(hits, threshold)
    for place, index in enumerate(order):
        hit = hits[index]
        if nearest[index] and place == nearest.count(False) > 0:
            yield f"only the nearest, with a relevance below {threshold:.2f}:"
        tail = "" if threshold is None else f"  relevance {rounded_down(hit.relevance):.2f}"
        match hit:
            case VideoHit():
                yield f"{place + 1:2d}. {located(hit.path, hit.start, hit.end)}{tail}"
                if shots and (shot := shots[index]) is not None:
                    made = f", {shot.style}"
                    yield f"    shot {span(shot.start, shot.end)}: {shot.tone}{made}"
                yield from _evidence_lines(hit.evidence, width)
            case PassageHit():
                yield f"{place + 1:2d}. {_passage_name(hit.passage, hit.path)}{tail}"
                yield f"    “{excerpt(hit.passage.text, max(20, 2 * (width - 6)))}”"
        if stale and (state := stale.get(hit.path)) is not None:
            yield f"    {STATES[state]}"
    best = max((hit.relevance for hit in hits), default=-1.0)
    if threshold is not None:
        yield from doubt(verdict_of(best, threshold))
    shown = [rounded_down(hits[index].relevance) for index in order]
    if threshold is not None and shown != sorted(shown, reverse=True):
        yield "In order of all rankings together; the relevance is that of each hit by itself."


def copy_lines(paths: Iterable[str]) -> Iterator[str]:
    """A line for each of the other files with the content of one."""
    return (f"also at {visible(path)}" for path in paths)


def window_lines(windows: Sequence[LocalizedWindow], verdict: Verdict) -> Iterator[str]:
    """Windows with their relevance, one line each. Their scores order them within one video and mean nothing
    beside those of another."""
    if not windows:
        yield "nothing found"
    for number, window in enumerate(windows, 1):
        yield (
            f"{number:2d}. {span(window.start, window.end)}  relevance {rounded_down(window.relevance):.2f}"
        )
    yield from doubt(verdict, "window")


def table_lines(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Columns aligned left, the last one unpadded; every cell made visible."""
    shown = [[visible(cell) for cell in row] for row in rows]
    widths = [max(len(cell) for cell in column) for column in zip(*shown, strict=True)]
    for row in shown:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        yield "  ".join(cells).rstrip()


def _wrapped(text: str, width: int) -> Iterator[str]:
    for paragraph in re.split(r"\n+", text.strip()):
        yield from textwrap.wrap(visible(" ".join(paragraph.split())), width) or [""]
