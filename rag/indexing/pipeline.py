"""The work of one indexing run, under the writer's lock: plan, media, passages, upkeep."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from corpora.passages import Document, chunk, read_documents
from corpora.records import Passage, Problem
from corpora.scan import Scan
from corpora.video.reader import MediaReader
from corpora.video.records import Probe
from eval.workbench.marker import is_workbench
from indexers.asr import open_asr
from indexers.models.lookup import WORKBENCH_ONLY, real_encoder_hint
from indexers.ocr import ocr_line, open_ocr
from indexers.stages import Off
from rag.errors import FileProblem, LibraryError, UnreadableFile
from rag.indexing.backfill import backfill_measurements, unmeasured
from rag.indexing.encoders import SelectedEncoders, choose
from rag.indexing.measuring import Measuring, measure_prints, off_lines
from rag.indexing.media import MediaIndexer
from rag.indexing.missing import PRUNE_ALL, below, empty_folders, is_gone, prune_refusal
from rag.indexing.passages import encode_passages
from rag.indexing.planning import (
    Group,
    Plan,
    make_plan,
    row_of,
)
from rag.indexing.reembed import reembed_library
from rag.indexing.report import Progress, Prune, reason_of
from rag.indexing.stages import Stages
from rag.settings import Settings
from rag.store.layout import Layout
from rag.store.writing import Writer

PASSAGES_PER_CALL = 512
PASSAGE_BYTES_PER_SECOND = 1_000
"""How many bytes of passages count as one second of media on the progress bar: about equal work.

Of one run on two shared cores 550, with the bundled encoder at 640 x 360; by the forecast's figures,
for 720p and a ViT-B/32, 2,700.
"""


@dataclass
class Done:
    """What a run did, for the report and for the scan cache."""

    library_id: str = ""
    indexed: int = 0
    unchanged: int = 0
    filled: int = 0
    """Unchanged videos that were measured."""
    moved: int = 0
    missing: int = 0
    removed: int = 0
    clips: int = 0
    passages: int = 0
    video_seconds: float = 0.0
    problems: list[Problem] = field(default_factory=list)
    stages: list[str] = field(default_factory=list)
    left: set[str] = field(default_factory=set)
    """Paths that wait for another run: past the `limit`, or of a content that changed while it was read."""
    forgotten: list[str] = field(default_factory=list)
    """Paths that are no longer in the library."""


def work(
    folder: Path,
    found: Scan,
    roots: Sequence[str],
    settings: Settings,
    *,
    reembed: bool,
    prune: Prune,
    progress: Progress,
    limit: int | None,
) -> Done:
    """Do all that is to be done. Raises the errors of the library and of the models.

    Raises `LibraryError` before anything is changed where `prune` is refused.
    """
    if not found.files and not Layout(folder).exists():
        return Done(problems=list(found.problems))
    with Writer.open(folder) as writer:
        run = _Run(writer, folder, settings, progress, workbench=_all_workbench(roots, writer))
        plan = make_plan(found, roots, writer)
        if prune is True and (refusal := prune_refusal(writer.files(), plan.missing, plan.moved, roots)):
            raise LibraryError(refusal)
        run.done.problems += plan.problems
        for problem in plan.problems:
            progress.note(f"{problem.path}: {problem.reason}; {problem.action}")
        run.done.unchanged = plan.unchanged
        if limit is not None and len(plan.groups) > limit:
            run.done.left = {f.path for group in plan.groups[limit:] for f in group.files}
            del plan.groups[limit:]
        run.index(plan, reembed=reembed)
        run.drop(plan, roots, prune=prune)
        run.keep_problems(plan, found, roots)
        if plan.groups or plan.known or run.done.forgotten or reembed or run.done.filled:
            writer.maintain()
        run.done.library_id = writer.meta.library_id if writer.meta else ""
    return run.done


def _all_workbench(roots: Sequence[str], writer: Writer) -> bool:
    """Whether the roots of this run, and the files of earlier ones, all lie in Workbench corpora."""
    folders = {*roots, *(os.path.dirname(path) for path in writer.files())}
    return bool(folders) and all(map(is_workbench, folders))


@dataclass(frozen=True, slots=True)
class _Read:
    """A small passage file, read and not yet encoded."""

    group: Group
    passages: list[Passage]
    notes: list[str]


class _Run:
    def __init__(
        self, writer: Writer, folder: Path, settings: Settings, progress: Progress, *, workbench: bool
    ) -> None:
        self._writer = writer
        self._folder = folder
        self._settings = settings
        self._progress = progress
        self._workbench = workbench
        """Whether all that is indexed says that it is a Workbench corpus."""
        self._rows = writer.files()
        """What each path held when the run began; a run comes to each path once."""
        self._waiting: list[_Read] = []
        self._passed: dict[str, int] = {}
        """Bytes of each passage file at hand that the progress has been told of, by content."""
        self.done = Done()

    def index(self, plan: Plan, *, reembed: bool) -> None:
        """Encoders, then media, then passages, then paths of content that is there already."""
        if not (plan.groups or plan.known or reembed or self._unmeasured(plan)):
            return
        if reembed:
            lines, problems = reembed_library(
                self._writer, self._settings, self._progress, workbench=self._workbench
            )
            self.done.stages += lines
            self.done.problems += problems
        chosen = choose(self._writer, self._settings, workbench=self._workbench)
        self.done.stages.append(chosen.line)
        held = chosen.meta.image_encoder
        if held is not None and held.name == WORKBENCH_ONLY and not self._workbench:
            self._progress.note(real_encoder_hint())
        media = [group for group in plan.groups if group.first.kind != "passages"]
        words = [group for group in plan.groups if group.first.kind == "passages"]
        with MediaReader(self._settings.video.decoder, self._settings.video.stall_seconds) as reader:
            probes = self._probe(media, reader)
            total = sum(probe.duration for probe in probes.values())
            total += sum(group.first.size for group in words) / PASSAGE_BYTES_PER_SECOND
            older = self._unmeasured(plan)
            total += sum(self._writer.video(group.content_id).duration for group in older)
            self._progress.start(total, len(probes) + len(words) + len(older))
            if probes:
                stages = self._stages(chosen)
                indexer = MediaIndexer(
                    self._writer, self._folder, reader, stages, self._settings, self._progress
                )
                for group in media:
                    if group.content_id in probes:
                        self._media(group, probes[group.content_id], indexer)
            if older:
                self._fill(older, reader, chosen)
        for group in words:
            self._passages(group, chosen)
        self._settle(chosen)
        for group in plan.known:
            self._publish(group)
            self.done.moved += len(group.fresh)

    def _unmeasured(self, plan: Plan) -> list[Group]:
        return unmeasured(plan.held, self._writer.ready(), self._prints())

    def _prints(self) -> dict[str, str]:
        meta = self._writer.meta
        encoder = meta.image_encoder if meta is not None else None
        reads = ocr_line(self._settings.ocr).startswith("on-screen text: on")
        return measure_prints(self._settings.video, encoder, decodes=encoder is not None or reads)

    def _measuring(self, chosen: SelectedEncoders) -> Measuring:
        return Measuring(self._settings.video, self._prints(), chosen.open_image)

    def _fill(self, groups: Sequence[Group], reader: MediaReader, chosen: SelectedEncoders) -> None:
        line = f"measuring {len(groups)} videos that were indexed without their shots or sound"
        self.done.stages.append(line)
        self._progress.note(line)
        measuring = self._measuring(chosen)
        self.done.filled = backfill_measurements(
            groups, self._writer, reader, measuring, self._settings.video, self._progress, self._odd_beside
        )

    def drop(self, plan: Plan, roots: Sequence[str], *, prune: Prune) -> None:
        """Old paths of moved files go, except below an empty root; other missing ones only with `prune`.

        Without `all`, files below a folder that is now empty stay, with a problem that says so.
        """
        rows = self._writer.files()
        # Indexing may have taken hours: a disk may have been mounted meanwhile.
        missing = [path for path in plan.missing if path in rows and is_gone(path)]
        lost = set(missing)
        here = {row.content_id for path, row in rows.items() if path not in lost}
        empty = empty_folders(missing)
        unmounted = {path for root in roots for path in empty.get(root, ())}
        moved = [p for p in missing if rows[p].content_id in here and (prune == "all" or p not in unmounted)]
        gone = moved
        if prune:
            kept = set() if prune == "all" else self._keep_below_empty(empty, set(moved))
            gone = [path for path in missing if path not in kept]
        if gone:
            self._writer.remove_paths(gone)
            self.done.forgotten += gone
        self.done.removed = len(gone) - len(moved)
        self.done.missing = len(missing) - len(gone)
        self._writer.drop_unfinished()

    def _keep_below_empty(self, empty: Mapping[str, Sequence[str]], moved: set[str]) -> set[str]:
        """The missing paths below empty folders, apart from `moved`; each folder gets its line."""
        kept: set[str] = set()
        for folder, paths in sorted(empty.items()):
            lost = set(paths) - moved
            if lost:
                reason = f"empty, and {len(lost)} files of the library were below it"
                problem = Problem(folder, reason, f"kept; {PRUNE_ALL}")
                self.done.problems.append(problem)
                self._progress.note(f"{problem.path}: {problem.reason}; {problem.action}")
            kept |= lost
        return kept

    def keep_problems(self, plan: Plan, found: Scan, roots: Sequence[str]) -> None:
        """Note what the scan met, and forget what is no longer wrong below these roots."""
        held, stamps = self._writer.problems(), {f.path: f.stamp for f in found.files}
        still = set(self.done.problems)
        for problem in plan.problems:
            if problem not in still:
                continue
            stamp = stamps.get(problem.path, "")
            if held.get(problem.path) != (problem, stamp):
                self._writer.put_problem(problem, stamp)
        bad = {problem.path for problem in self.done.problems}
        for path in held.keys() - bad:
            if path in stamps or (path.startswith(below(roots)) and is_gone(path)):
                self._writer.clear_problem(path)
                self.done.forgotten.append(path)

    def _stages(self, chosen: SelectedEncoders) -> Stages:
        ocr, asr = open_ocr(self._settings.ocr), open_asr(self._settings.asr, self._settings.encoder)
        self.done.stages += [ocr.reason, asr.reason, *off_lines(self._settings.video, self._prints())]
        for line in self.done.stages:
            self._progress.note(line)
        return Stages(
            text=chosen.text,
            image=chosen.open_image(),
            ocr=None if isinstance(ocr, Off) else ocr,
            asr=None if isinstance(asr, Off) else asr,
            reuse_still_frames=self._settings.encoder.reuse_still_frames,
            measuring=self._measuring(chosen),
        )

    def _probe(self, groups: Sequence[Group], reader: MediaReader) -> dict[str, Probe]:
        probes: dict[str, Probe] = {}
        for group in groups:
            try:
                probes[group.content_id] = reader.probe(group.first.path)
            except FileProblem as problem:
                self._give_up(group, problem)
        return probes

    def _media(self, group: Group, probe: Probe, indexer: MediaIndexer) -> None:
        self._progress.file(group.first.path)
        self._publish(group)
        self._writer.flush()
        try:
            result = indexer.index(group.first, group.sidecars, group.content_id, probe)
            self._require_rest(group)
        except FileProblem as problem:
            self._give_up(group, problem)
            return
        self.done.indexed += 1
        self.done.moved += len(group.files) - 1
        self.done.clips += result.clips
        self.done.video_seconds += result.video.duration
        if result.note:
            self._odd(group, result.note, f"indexed {result.video.duration:.0f} s of it")

    def _passages(self, group: Group, chosen: SelectedEncoders) -> None:
        """A large file goes in part by part; small ones wait for company, because a batch is a batch."""
        self._progress.file(group.first.path)
        notes: list[str] = []
        try:
            passages = self._chunks(group.first.path, notes)
            part = list(itertools.islice(passages, PASSAGES_PER_CALL))
            if len(part) < PASSAGES_PER_CALL:
                self._require_rest(group)
                self._waiting.append(_Read(group, part, notes))
                if sum(len(read.passages) for read in self._waiting) >= PASSAGES_PER_CALL:
                    self._settle(chosen)
                return
            self._writer.begin_passages(group.content_id)
            count = 0
            while part:
                vectors = self._vectors([(group, passage) for passage in part], chosen)
                self._writer.add_passages(group.content_id, part, vectors)
                count += len(part)
                part = list(itertools.islice(passages, PASSAGES_PER_CALL))
            self._require_rest(group)
        except FileProblem as problem:
            self._give_up(group, problem)
            return
        self._count(group, count, notes)

    def _settle(self, chosen: SelectedEncoders) -> None:
        """Encode the passages of the small files that wait, all at once, and bring each file in."""
        vectors = self._vectors([(read.group, p) for read in self._waiting for p in read.passages], chosen)
        first = 0
        for read in self._waiting:
            last = first + len(read.passages)
            self._writer.begin_passages(read.group.content_id)
            self._writer.add_passages(read.group.content_id, read.passages, vectors[first:last])
            self._count(read.group, len(read.passages), read.notes)
            first = last
        self._waiting = []

    def _vectors(
        self, passages: Sequence[tuple[Group, Passage]], chosen: SelectedEncoders
    ) -> NDArray[np.float32]:
        def told(place: int) -> None:
            group, passage = passages[place]
            self._advance(group, len(passage.text.encode("utf-8", "replace")))

        return encode_passages(chosen.text, [passage for _, passage in passages], told)

    def _advance(self, group: Group, size: int) -> None:
        """So many more bytes of a passage file are done; never more than it has."""
        before = self._passed.get(group.content_id, 0)
        after = self._passed[group.content_id] = min(group.first.size, before + size)
        self._progress.advance((after - before) / PASSAGE_BYTES_PER_SECOND)

    def _count(self, group: Group, passages: int, notes: Sequence[str]) -> None:
        self._advance(group, group.first.size)
        self._publish(group)
        self.done.indexed += 1
        self.done.moved += len(group.files) - 1
        self.done.passages += passages
        if notes:
            self._odd(group, "; ".join(notes), f"indexed {passages} passages of it")

    def _require_rest(self, group: Group) -> None:
        """Raise `UnreadableFile` where the file that was read is no longer the one that was hashed."""
        found = group.first
        try:
            now = os.stat(found.path)
        except OSError:
            return  # gone, but it was read to its end
        if (now.st_size, now.st_mtime_ns) != (found.size, found.mtime_ns):
            self.done.left.update(f.path for f in group.files)
            raise UnreadableFile("it changed while it was read; run the same command again once it rests")

    def _chunks(self, path: str, notes: list[str]) -> Iterator[Passage]:
        """The passages of a file, each content once; what is wrong with single rows goes to `notes`."""
        seen: set[str] = set()
        for document in read_documents(path):
            if not isinstance(document, Document):
                notes.append(document.reason)
                continue
            for passage in chunk(document):
                if passage.passage_id not in seen:
                    seen.add(passage.passage_id)
                    yield passage

    def _publish(self, group: Group) -> None:
        """Say which paths hold this content; a path that held another one lets that go first."""
        rows = self._rows
        changed = [
            f.path for f in group.fresh if f.path in rows and rows[f.path].content_id != group.content_id
        ]
        if changed:
            self._writer.remove_paths(changed)
        for found in group.fresh:
            self._writer.put_file(row_of(found, group.content_id))
            self._writer.clear_problem(found.path)

    def _give_up(self, group: Group, problem: FileProblem) -> None:
        """Nothing of this content can be used: every path of it gets its line, and no row stays."""
        self._writer.remove_paths([f.path for f in group.files])
        reason = reason_of(problem, group.first.path)
        for found in group.files:
            # Without a stamp it is tried again, changed or not.
            self._say(Problem(found.path, reason), "" if found.path in self.done.left else found.stamp)

    def _odd(self, group: Group, reason: str, action: str) -> None:
        for found in group.files:
            self._say(Problem(found.path, reason, action), found.stamp)

    def _odd_beside(self, group: Group, reason: str, action: str) -> None:
        """As `_odd`, of a content that may have its line already: that one stays, with this behind it."""
        for found in group.files:
            had = next((problem for problem in self.done.problems if problem.path == found.path), None)
            if had is not None:
                if reason in had.reason:
                    continue
                self.done.problems.remove(had)
                self._say(Problem(found.path, f"{had.reason}; {reason}", had.action), found.stamp)
            else:
                self._say(Problem(found.path, reason, action), found.stamp)

    def _say(self, problem: Problem, stamp: str) -> None:
        self.done.problems.append(problem)
        self._writer.put_problem(problem, stamp)
        self._progress.note(f"{problem.path}: {problem.reason}; {problem.action}")
