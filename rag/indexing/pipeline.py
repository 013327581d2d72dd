"""One indexing run, in order: plan, read, sense, write, commit.

- **Plan** (`planning`): which contents are new or changed, which paths moved, and which are gone.
- **Read** (`copies`, `clips`): the file of a content on this machine, decoded or parsed in a subprocess.
- **Sense** (`stages`): what encoders and readers make of its clips, its audio and its text.
- **Write** (`media`, `passages`): rows, which no reader of the library sees yet.
- **Commit** (`outcomes`, `missing`): each content with its paths, then what is gone, then the indexes.

With the workers of a cluster, contents are read to committed in shards, by the same code, and the shards are
merged (`shards`).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from corpora.fetching import LocalCopy
from corpora.objects import is_url
from corpora.passages.page_layout import TextLine
from corpora.records import Evidence, Video
from corpora.scan import Scan
from corpora.video.reader import MediaReader
from corpora.video.records import Probe
from corpora.video.subtitles import side_by_side
from indexers.models.catalogue import is_specialised
from indexers.models.lookup import specialised_encoder_warning
from indexers.ocr import Ocr, open_ocr, reads_text
from indexers.protocol import Disabled
from indexers.soundtrack import SoundMeter
from rag.errors import FileProblem, LibraryError, UnfetchedFile
from rag.indexing.calibrating import calibrate_scores, is_calibrated
from rag.indexing.clips import open_reader
from rag.indexing.copies import local_groups
from rag.indexing.encoders import SelectedEncoders, select_encoders, stored_encoders, stored_side
from rag.indexing.interrupts import ended_by_interrupts, uninterrupted
from rag.indexing.media import (
    FrameIndexer,
    ProgressLog,
    beyond_subtitles,
    describe,
    last_end,
    late_cues,
    remove_old_logs,
    rename_videos,
    texts_of_video,
)
from rag.indexing.missing import prune_refusal, remove_missing
from rag.indexing.outcomes import Done, FileOutcomes, changed_problems, require_unchanged
from rag.indexing.passages import PassageIndexer, document_seconds
from rag.indexing.planning import (
    Group,
    Plan,
    StoredRows,
    estimated_seconds,
    limits_of,
    make_plan,
    work_seconds,
)
from rag.indexing.reembedding import reembed_videos
from rag.indexing.report import IndexReport, Progress, Prune
from rag.indexing.shards import Shard, ShardedRun
from rag.indexing.stages import Stages, lost_sound, measure_sound, open_stages, shots_of, stage_fingerprints
from rag.settings import Settings
from rag.store.layout import Location, open_layout
from rag.store.maintenance import index_faults, require_whole
from rag.store.reading import Reader
from rag.store.records import EXCLUDED, Meta
from rag.store.sidecars import sidecar_hash
from rag.store.writing import Writer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rag.store.snapshot import Snapshot


def run_indexing(
    folder: Location,
    scan: Scan,
    roots: Sequence[str],
    settings: Settings,
    *,
    reembed: bool,
    prune: Prune,
    progress: Progress,
    limit: int | None,
    report: IndexReport,
) -> None:
    """Index what the scan found, and add it to `report`. Raises the errors of the library and of the models.

    Raises `LibraryError` where `prune` is refused; only what a killed run left has been merged then.
    """
    # The library of a shard without files is made, so that a merge of all shards finds it.
    if not (scan.files or scan.other_shards or open_layout(folder).exists()):
        report.problems += scan.problems
        return
    if not reembed and (seen := plan_without_work(folder, scan, roots, settings, prune=prune)):
        report.unchanged, report.missing = len(seen.unchanged), len(seen.missing)
        report.problems += seen.problems
        return
    with Writer.open(folder) as writer:
        made_again = writer.check_files(settings.search.exact_rows)
        outcomes = FileOutcomes(writer, progress, report, settings.storage, limits_of(settings))
        for line in (*made_again, *_links(scan)):
            outcomes.note(line)
        shards = ShardedRun(writer, settings, outcomes, progress, index_shard)
        earlier = shards.take_up()

        # Plan
        plan = make_plan(scan, roots, StoredRows.of_writer(writer), settings, hash_later=shards.wanted)
        if prune is True and (refusal := prune_refusal(writer.files(), plan.missing, plan.moved, roots)):
            raise LibraryError(refusal)
        outcomes.report(plan.problems)
        report.unchanged = len(plan.unchanged - earlier)
        groups = plan.groups[:limit]

        # Read, sense, write and commit each content
        # First: a moved file's content would go with its earlier name where another file has that now.
        outcomes.publish(*plan.known)
        report.moved += plan.arrived
        if reembed:
            reembed_videos(writer, settings, outcomes, progress)
        if shards.wanted and groups:
            shards.index(groups)
        here = [] if shards.wanted else groups
        if here or plan.known or reembed:
            index_contents(writer, here, settings, outcomes, progress)

        # Commit what is gone, and the indexes
        gone = remove_missing(writer, plan.missing, roots, outcomes, settings.storage, prune=prune)
        if ended := plan.ended(writer.files()):
            writer.remove_paths(ended)
        if renamed := writer.renamed():
            rename_videos(writer, renamed, select_encoders(writer, settings).open_text)
        outcomes.keep_scan_problems(plan, scan, roots)
        if groups or plan.known or earlier or gone or ended or renamed or reembed:
            writer.maintain(settings.search.exact_rows)
        if line := calibrate_scores(writer, settings):
            report.stages.append(line)
        remove_old_logs(writer.cache)


def plan_without_work(
    folder: Location, scan: Scan, roots: Sequence[str], settings: Settings, *, prune: Prune
) -> Plan | None:
    """The plan of a run that would change nothing; None where there may be work. Raises as `stored_encoders`
    for settings that are not those of the library.

    The library is read as by a question, without its lock and without LanceDB, which takes a second to
    import; of the files only sidecars are read.
    """
    layout = open_layout(folder)
    if not layout.exists() or not layout.is_closed() or layout.shards():
        return None

    def look(s: Snapshot) -> Plan | None:
        if s.meta is not None:
            stored_encoders(s.meta, settings)
        held = StoredRows.of(s)
        plan = make_plan(scan, roots, held, settings, lambda _: "")
        storage, found = settings.storage, set(plan.problems)
        work = (
            *(plan.groups, plan.known, plan.moved, plan.ended(held.files), plan.missing if prune else ()),
            *changed_problems(plan, scan, roots, found, held.problems, storage),
            [v for v, row in s.video_rows.items() if os.fsdecode(row["path"]) not in s.paths(v)],
        )
        if any(work) or not is_calibrated(s):
            return None
        for name, table in s.tables.items():
            require_whole(s.layout, name, table)
            if index_faults(s.layout, name, table):
                return None
        return plan

    with Reader.open(folder) as reader:
        return reader.ask(look)


def index_shard(shard: Shard, meta: Meta, settings: Settings, progress: Progress) -> list[str]:
    """Index a shard into its library, with the encoders of `meta`.

    Called again, it continues where it was. Returns one line for each stage. Raises the errors of the library
    and of the models.
    """
    with Writer.open(shard.library) as writer:
        writer.set_meta(meta)
        outcomes = FileOutcomes(writer, progress, IndexReport(), settings.storage, limits_of(settings))
        scan = Scan(shard.files, (), ())
        plan = make_plan(scan, [], StoredRows.of_writer(writer), settings)
        outcomes.report(plan.problems)
        outcomes.publish(*plan.known)
        index_contents(writer, plan.groups, settings, outcomes, progress, is_shard=True)
        outcomes.keep_scan_problems(plan, scan, [])
    return outcomes.result.stages


def index_contents(
    writer: Writer,
    groups: Sequence[Group],
    settings: Settings,
    outcomes: FileOutcomes,
    progress: Progress,
    *,
    is_shard: bool = False,
) -> None:
    """Read, sense, write and commit `groups`. `is_shard`: the run has begun the progress, by the sizes of the
    files, and shows the lines of stages."""
    stages = outcomes.result.stages
    encoders = select_encoders(writer, settings)
    image = encoders.meta.image_encoder
    if image is None and encoders.line not in stages:
        stages.append(encoders.line)
    if image is not None and is_specialised(image.name) and not is_shard:
        progress.note(specialised_encoder_warning(image.name))
    if groups:
        with open_reader(settings) as reader:
            contents = ContentIndexer(writer, settings, encoders, reader, outcomes, progress, is_shard)
            contents.index(groups)
        stages += contents.lines


class ContentIndexer:
    """Reads, senses, writes and commits contents. Models are loaded when the first content needs them."""

    def __init__(
        self,
        writer: Writer,
        settings: Settings,
        encoders: SelectedEncoders,
        reader: MediaReader,
        outcomes: FileOutcomes,
        progress: Progress,
        is_shard: bool = False,
    ) -> None:
        """`is_shard`: as of `index_contents`."""
        self.measures = stage_fingerprints(settings, encoders.meta.image_encoder)
        self.video_settings = settings.video.model_copy(update={"short_side": stored_side(encoders.meta)})
        self.lines: list[str] = []
        """One line for each stage of media, once it is opened."""
        self._writer = writer
        self._settings = settings
        self._encoders = encoders
        self._reader = reader
        self._outcomes = outcomes
        self._progress = progress
        self._is_shard = is_shard
        self._begun: set[str] = set()
        self._logs: list[Path] = []
        """Progress logs of videos that are written and not committed."""

    def index(self, groups: Sequence[Group]) -> None:
        """Videos, then documents."""
        before = self._outcomes.result.indexed
        media = [group for group in groups if group.is_media]
        documents = [group for group in groups if not group.is_media]
        probes = self._probe(media)
        remote = [group for group in media if is_url(group.first.path)]
        media = [group for group in media if is_url(group.first.path) or group.content_id in probes]
        if not self._is_shard:
            seconds = sum(work_seconds(probe.duration) for probe in probes.values())
            seconds += sum(work_seconds(estimated_seconds(group.first)) for group in remote)
            seconds += sum(document_seconds(group.first) for group in documents)
            self._progress.start(seconds, len(media) + len(documents))
        try:
            if media:
                self._index_media(media, probes)
            if documents:
                self._index_documents(documents)
        except KeyboardInterrupt as interrupt:
            with ended_by_interrupts():
                self._writer.drop_unfinished()
                self._commit(at_once=True)
            done = self._outcomes.result.indexed - before
            raise KeyboardInterrupt(f"{done} of {len(groups)} new files are kept") from interrupt
        self._commit(at_once=True)

    def _probe(self, groups: Iterable[Group]) -> dict[str, Probe]:
        """What the headers of videos say, by content; those that have none that can be read are skipped.

        Objects are probed when they are fetched.
        """
        probes: dict[str, Probe] = {}
        for group in groups:
            if is_url(group.first.path):
                continue
            try:
                probes[group.content_id] = self._reader.probe(group.first.path)
            except FileProblem as problem:
                self._outcomes.skip_file(group, problem)
        return probes

    def _index_media(self, groups: Sequence[Group], probes: Mapping[str, Probe]) -> None:
        """Index videos: objects, and those of this machine that have a probe."""
        with closing(local_groups(groups, self._settings.storage)) as there:
            for local in there:
                try:
                    with local.opened() as copy:
                        self._index_video(local.group, copy, probes)
                except FileProblem as problem:
                    self._outcomes.skip_file(local.group, problem)
                else:
                    self._commit()

    def _index_video(self, group: Group, copy: LocalCopy, probes: Mapping[str, Probe]) -> None:
        """Index one video, and write it with its paths. Raises `FileProblem` where nothing of it can be
        used.

        Killed at any instant and called again, it continues after the last clip of its log and ends with the
        same rows.
        """
        writer, reader, stages, first = self._writer, self._reader, self.stages, group.first
        self._progress.file(first.path)
        if copy.content_id in self._begun:
            # Two objects of one content that could not be compared before: the next run does.
            raise UnfetchedFile(f"{first.path}: it has the content of another one; run the command again")
        self._begun.add(copy.content_id)

        # Read. The hash comes before: subtitles that are edited meanwhile are read again by the next run.
        sidecars_read = sidecar_hash(copy.sidecars)
        probe = probes.get(copy.content_id) or reader.probe(copy.path)
        sidecars = reader.sidecars(copy.sidecars, (file.path for file in group.files))
        texts = [*side_by_side([sidecars.texts, reader.texts(copy.path)]), *probe.chapters]
        video = describe(first, copy.content_id, probe, sidecars)

        # Sense: frames clip by clip, then what is of the whole video.
        made = stages.fingerprints()
        log = ProgressLog(writer.cache, video.video_id, f"{made['frames']} {made['ocr']} {made['shots']}")
        end = min(last_end(texts), probe.duration)
        frames = FrameIndexer(reader, stages, self.video_settings, self._progress, video, end, log)
        if probe.stream >= 0 and stages.needs_frames:
            frames.decode(copy.path)
        else:
            frames.store_times(copy.path, probe)
        video = replace(video, duration=frames.duration, damage=frames.damage, decoder=frames.decoder)
        clips = frames.sensed
        evidence = [*texts_of_video(texts, video), *(text for clip in clips for text in clip.texts)]
        track, problem, lost = None, "", ""
        if probe.audio:
            spoken, meter, problem = self._index_audio(copy.path, video)
            evidence += beyond_subtitles(spoken, evidence)
            track = meter.track(video.video_id, video.duration)
            lost = lost_sound(track) if track is not None else ""
        require_unchanged(first)

        shots = shots_of(video, [clip.figures for clip in clips if clip.figures is not None])
        vectors = stages.text.encode_text([span.text for span in evidence])
        # What is cut off of a damaged file is no fault of its subtitles.
        late = "" if frames.damage else late_cues(texts, video.duration)
        reason = "; ".join(note for note in (frames.damage, problem, lost, *sidecars.notes, late) if note)
        action = f"indexed {max(video.duration - frames.lost, 0.0):.0f} s of it" if reason else ""

        # Write
        exclude = list(self._settings.scan.exclude)
        by = {**made, "sidecars": sidecars_read, **({EXCLUDED: exclude} if exclude else {})}
        with uninterrupted():
            rows = [clip.frames for clip in clips]
            writer.put_video(video, by, rows, evidence, vectors, shots=shots, sound=track)
            self._logs.append(log.path)
            self._outcomes.finish(group, Done(len(clips), 0, video.duration, reason, action))
        by_size = self._is_shard or is_url(first.path)
        expected = estimated_seconds(first) if by_size else probe.duration
        self._progress.advance(work_seconds(expected) - video.duration)

    def _commit(self, *, at_once: bool = False) -> None:
        """Commit what was written, if that is due; logs of videos that are committed go."""
        with uninterrupted():
            if at_once:
                self._writer.flush()
            if at_once or self._writer.flush_if_due():
                for log in self._logs:
                    log.unlink(missing_ok=True)
                self._logs = []

    def _index_audio(self, path: str, video: Video) -> tuple[list[Evidence], SoundMeter, str]:
        """Speech, the measured sound, and what went wrong."""
        stages, reader = self.stages, self._reader
        meter = SoundMeter()
        if stages.asr is not None:
            passed = meter.feed_through(reader.audio(path, gaps=True))
            return list(stages.transcribe(passed, video.video_id)), meter, ""
        return [], meter, measure_sound(meter, reader, path)

    def _index_documents(self, groups: Iterable[Group]) -> None:
        read_lines = self._read_lines if reads_text(self._settings.ocr) else None
        passages = PassageIndexer(
            self._writer,
            self._encoders.open_text(),
            self._reader,
            self._outcomes,
            self._progress,
            read_lines=read_lines,
        )
        with closing(local_groups(groups, self._settings.storage)) as there:
            for local in there:
                passages.add(local)

    def _read_lines(self, image: NDArray[np.uint8]) -> Sequence[TextLine] | None:
        ocr = self._ocr
        return ocr.read_page(image) if isinstance(ocr, Ocr) else None

    @cached_property
    def _ocr(self) -> Ocr | Disabled:
        return open_ocr(self._settings.ocr)

    @cached_property
    def stages(self) -> Stages:
        """The stages of media. Their models are loaded now, and named in `lines`."""
        stages, self.lines = open_stages(self._settings, self._encoders, self._ocr, self.measures)
        for line in () if self._is_shard else self.lines:
            self._progress.note(line)
        return stages


def _links(scan: Scan) -> Iterator[str]:
    """One line on the links that lead out of the folders given; none without such links."""
    if scan.outside:
        links, first = len(scan.outside), scan.outside[0]
        yield (
            f"{links} of the files are links out of the folders given, such as {first}; "
            "scan.within bounds where links may lead"
        )
