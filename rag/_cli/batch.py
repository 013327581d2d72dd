"""Batches of questions, for `rag ask --questions` and `rag search --queries`."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Annotated, Any, Literal

from corpora.outputs import OverwritePolicy, atomic_file
from rag._cli.options import option
from rag._cli.output import echo_stderr
from rag._cli.session import Session
from rag.errors import (
    DiskError,
    LibraryError,
    ModelError,
    RagError,
    ReasonerUnreachable,
    StoreError,
    UsageError,
)

if TYPE_CHECKING:
    from eval.batches import BatchQuestion
    from rag.library import Library

IdKind = Literal["path", "stem", "hash"]
Ids = Annotated[
    IdKind,
    option(
        "--ids", "For many queries: name documents by path, by file name without suffix, or by content hash."
    ),
]
NAMED = 3
"""Names of several files that a line on stderr has; the others are counted."""
_CONTENT_ID = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class Counts:
    """What a batch came to."""

    asked: int
    """Questions answered in this run."""
    kept: int
    """Questions that an earlier run had answered."""
    bad: int
    """Lines without a question, and questions that could not be answered."""

    @property
    def exit_code(self) -> int:
        """0 success, 1 failure, 3 partial success."""
        if not self.bad:
            return 0
        return 3 if self.asked or self.kept else 1


def manifest(session: Session, command: str, library: Library, **choices: Any) -> dict[str, Any]:
    """What answers depend on: the version, what is indexed, the settings but for the library's path, the
    flags."""
    from rag import __version__

    settings = session.settings.model_dump(mode="json", exclude={"library"})
    return {
        "schema": "rag.batch/1",
        "command": command,
        "version": __version__,
        "library": library.library_id,
        "contents": library.contents,
        **choices,
        "settings": settings,
    }


@dataclass(frozen=True, slots=True)
class DocumentNames:
    """Names of documents in TREC runs and batch outputs.

    `path` and `stem` are of the first file that holds the content. A row of a file with an id of its own
    keeps it: under a path all rows of the file would be one document.
    """

    library: Library
    ids: IdKind = "hash"

    @property
    def choice(self) -> dict[str, str]:
        """Entry of the manifest; empty for the default, so that earlier batches can be continued."""
        return {} if self.ids == "hash" else {"ids": self.ids}

    def named(self, results: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Results or citations, each with its `document`; as they are under `hash`."""
        if self.ids == "hash":
            return [dict(each) for each in results]
        return [{**each, "document": self._name(each)} for each in results]

    def _name(self, result: Mapping[str, Any]) -> str:
        reader = self.library.engine.reader
        path = str(result["path"])
        if result["kind"] == "passage":
            (passage,) = reader.passages([result["passage_id"]])
            if not _CONTENT_ID.fullmatch(passage.doc_id):
                return passage.doc_id
        else:
            path = reader.video(result["video_id"]).path  # an answer may cite another copy
        return path if self.ids == "path" else PurePath(path).stem

    def say_ambiguous(self) -> None:
        """Say on stderr which names several videos, or several files of text, have in common."""
        if self.ids != "stem":
            return
        reader = self.library.engine.reader
        shared: dict[str, list[str]] = {}
        for paths in ([video.path for video in reader.videos()], reader.passage_files()):
            by_stem: dict[str, list[str]] = defaultdict(list)
            for path in paths:
                by_stem[PurePath(path).stem].append(path)
            shared |= {stem: same for stem, same in by_stem.items() if len(same) > 1}
        if shared:
            named = [f"{stem} ({', '.join(same)})" for stem, same in sorted(shared.items())[:NAMED]]
            more = f"; and {len(shared) - NAMED} more" if len(shared) > NAMED else ""
            echo_stderr(
                f"rag: --ids stem: {len(shared)} names belong to several files, which count as one document: "
                f"{'; '.join(named)}{more}; --ids path keeps them apart"
            )


def run_batch(
    questions: Path,
    out: Path,
    made_with: Mapping[str, Any],
    id_key: str,
    answer: Callable[[BatchQuestion], dict[str, Any]],
    policy: OverwritePolicy,
) -> Counts:
    """Answer what is not answered yet, line by line; bad lines are reported on stderr and skipped.

    `answer` gives the JSON shape of one question. A `RagError` of one question
    skips only that one, unless it would fail every question.
    """
    from eval.batches import BadLine, Output, read_questions

    entries = list(read_questions(questions))
    bad = [entry for entry in entries if isinstance(entry, BadLine)]
    good = [entry for entry in entries if not isinstance(entry, BadLine)]
    name = os.fsdecode(questions)
    for line in bad:
        echo_stderr(f"{name}:{line.line}: {line.reason}; skipped")
    asked = failed = 0
    with Output(out, made_with, id_key, policy) as output:
        todo = output.check(good)
        kept = len(good) - len(todo)
        for question in todo:
            try:
                shape = answer(question)
            except (DiskError, LibraryError, ModelError, ReasonerUnreachable, StoreError) as error:
                if not kept + asked:
                    raise
                echo_stderr(f"rag: {error}")
                echo_stderr(f"{name}: stopped after {kept + asked} of {len(good)}; run it again to continue")
                failed = len(todo) - asked
                break
            except RagError as error:
                echo_stderr(f"{name}:{question.line}: {error}; skipped")
                failed += 1
                continue
            output.append(question, shape)
            asked += 1
    return Counts(asked, kept, len(bad) + failed)


def windows_path(run: Path) -> Path:
    """The file for the windows of a TREC run: `OUT.windows.jsonl` beside `OUT.trec`."""
    stem = run.name.removesuffix(".trec")
    return run.with_name(f"{stem}.windows.jsonl")


def write_run(run: Path, windows: Path, order: Iterable[str]) -> None:
    """Write the TREC run from the whole lines of the windows file, atomically, queries in the given order."""
    import json

    from eval.resumable import map_os_errors, whole_lines
    from eval.trec import run_lines

    ids = list(order)
    position = {query_id: index for index, query_id in enumerate(ids)}
    found: dict[str, list[tuple[str, float]]] = {}
    for number, line in enumerate(whole_lines(windows).splitlines(), 1):
        try:
            entry = json.loads(line)
            found[entry["query_id"]] = _documents(entry["results"])
        except (ValueError, KeyError, TypeError) as error:
            raise UsageError(
                f"{windows}: its line {number} is not of this command; move it away, or name another --run"
            ) from error
    with (
        map_os_errors(run),
        atomic_file(run) as draft,
        draft.open("w", encoding="utf-8", newline="\n") as stream,
    ):
        for query_id in sorted(found, key=position.__getitem__):
            stream.writelines(f"{line}\n" for line in run_lines(query_id, found[query_id], "rag"))


def _documents(results: Sequence[Mapping[str, Any]]) -> list[tuple[str, float]]:
    """Documents in the order of their best hit, with scores that never rise."""
    found = [
        result.get("document") or result["video_id" if result["kind"] == "video" else "doc_id"]
        for result in results
    ]
    return list(zip(found, accumulate((result["score"] for result in results), min), strict=True))
