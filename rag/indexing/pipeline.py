"""One indexing run under the writer's lock: plan, encoders, media, passages, removal, maintenance."""

from __future__ import annotations

import os
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace

from corpora.manifest import recommended_encoder
from corpora.scan import Scan
from corpora.video.reader import MediaReader
from corpora.video.records import Probe
from indexers.asr import Asr, open_asr
from indexers.models.catalogue import is_specialised
from indexers.models.lookup import specialised_encoder_warning
from indexers.ocr import Ocr, ocr_line, open_ocr
from rag.errors import FileProblem, LibraryError
from rag.indexing.calibrating import calibrate_scores
from rag.indexing.decoding import interleave, open_readers
from rag.indexing.encoders import SelectedEncoders, enlarging_line, select_encoders, stored_side
from rag.indexing.measuring import (
    Measuring,
    backfill_measurements,
    measure_fingerprints,
    off_lines,
    unmeasured,
)
from rag.indexing.media import MediaContext, MediaResult, index_media
from rag.indexing.outcomes import FileOutcomes, IndexingStats
from rag.indexing.passages import PASSAGE_BYTES_PER_SECOND, PassageIndexer
from rag.indexing.planning import Group, Plan, make_plan, prune_refusal, remove_missing
from rag.indexing.reembed import reembed_library
from rag.indexing.report import Progress, Prune
from rag.indexing.stages import Stages
from rag.settings import Settings
from rag.store.layout import Location, open_layout
from rag.store.writing import Writer


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
) -> IndexingStats:
    """Index what the scan found. Raises the errors of the library and of the models.

    Raises `LibraryError` before anything is changed where `prune` is refused.
    """
    if not scan.files and not open_layout(folder).exists():
        return IndexingStats(problems=list(scan.problems))
    with Writer.open(folder) as writer:
        outcomes = FileOutcomes(writer, progress)
        stats = outcomes.stats
        recommended = recommended_encoder({*roots, *(os.path.dirname(path) for path in writer.files())})
        plan = make_plan(scan, roots, writer)
        if prune is True and (refusal := prune_refusal(writer.files(), plan.missing, plan.moved, roots)):
            raise LibraryError(refusal)
        outcomes.report(plan.problems)
        stats.unchanged = plan.unchanged
        if limit is not None and len(plan.groups) > limit:
            stats.deferred = {f.path for group in plan.groups[limit:] for f in group.files}
            del plan.groups[limit:]
        if reembed:
            lines, problems = reembed_library(writer, settings, progress, recommended=recommended)
            stats.stages += lines
            stats.problems += problems
        fingerprints = _measure_fingerprints(writer, settings)
        outdated = unmeasured(plan.ready, writer.stage_fingerprints(), fingerprints)
        if plan.groups or plan.known or reembed or outdated:
            _index_contents(writer, plan, outdated, settings, outcomes, progress, recommended=recommended)
        stats.forgotten += remove_missing(writer, plan.missing, roots, outcomes, prune=prune)
        outcomes.keep_scan_problems(plan.problems, scan, roots)
        if plan.groups or plan.known or stats.forgotten or reembed or stats.backfilled:
            writer.maintain()
        if line := calibrate_scores(writer, settings):
            stats.stages.append(line)
        stats.library_id = writer.meta.library_id if writer.meta else ""
    return stats


def _measure_fingerprints(writer: Writer, settings: Settings) -> dict[str, str]:
    """Of the stages `shots` and `sound`, by the library's image encoder."""
    encoder = writer.meta.image_encoder if writer.meta is not None else None
    reads_text = ocr_line(settings.ocr).startswith("on-screen text: on")
    return measure_fingerprints(settings.video, encoder, decodes=encoder is not None or reads_text)


def _index_contents(
    writer: Writer,
    plan: Plan,
    outdated: Sequence[Group],
    settings: Settings,
    outcomes: FileOutcomes,
    progress: Progress,
    *,
    recommended: str | None,
) -> None:
    """Encoders, then media, then measurements, then passages, then new paths of known content."""
    stats = outcomes.stats
    encoders = select_encoders(writer, settings, recommended=recommended)
    stats.stages.append(encoders.line)
    video = settings.video.model_copy(update={"short_side": stored_side(encoders.meta)})
    image = encoders.meta.image_encoder
    if image is not None and image.name != recommended and is_specialised(image.name):
        progress.note(specialised_encoder_warning(image.name))
    measuring = Measuring(settings.video, _measure_fingerprints(writer, settings), encoders.open_image)
    media = [group for group in plan.groups if group.first.kind != "passages"]
    documents = [group for group in plan.groups if group.first.kind == "passages"]
    with open_readers(settings.video, image.backend if image else "") as readers:
        probes = _probe(media, readers[0], outcomes)
        seconds = sum(probe.duration for probe in probes.values())
        seconds += sum(group.first.size for group in documents) / PASSAGE_BYTES_PER_SECOND
        seconds += sum(writer.video(group.content_id).duration for group in outdated)
        progress.start(seconds, len(probes) + len(documents) + len(outdated))
        if probes:
            stages = _open_stages(settings, encoders, measuring, outcomes, progress)
            context = MediaContext(writer, writer.cache, readers[0], stages, video, progress)
            _index_media_files(media, probes, context, readers, outcomes)
        if outdated:
            line = f"measuring {len(outdated)} videos that were indexed without their shots or sound"
            stats.stages.append(line)
            progress.note(line)
            stats.backfilled = backfill_measurements(
                outdated, writer, readers, measuring, video, progress, outcomes.append_problem
            )
    passages = PassageIndexer(writer, encoders.text, outcomes, progress)
    for group in documents:
        passages.add(group)
    passages.flush()
    for group in plan.known:
        outcomes.publish(group)
    stats.moved += plan.arrived


def _open_stages(
    settings: Settings,
    encoders: SelectedEncoders,
    measuring: Measuring,
    outcomes: FileOutcomes,
    progress: Progress,
) -> Stages:
    ocr, asr = open_ocr(settings.ocr), open_asr(settings.asr, settings.encoder)
    image = encoders.open_image()
    lines = outcomes.stats.stages
    lines += [ocr.reason, asr.reason, *off_lines(settings.video, measuring.fingerprints)]
    if line := enlarging_line(image, encoders.meta):
        lines.append(line)
    for line in lines:
        progress.note(line)
    return Stages(
        text=encoders.text,
        image=image,
        ocr=ocr if isinstance(ocr, Ocr) else None,
        asr=asr if isinstance(asr, Asr) else None,
        reuse_still_frames=settings.encoder.reuse_still_frames,
        measuring=measuring,
    )


def _probe(groups: Sequence[Group], reader: MediaReader, outcomes: FileOutcomes) -> dict[str, Probe]:
    probes: dict[str, Probe] = {}
    for group in groups:
        try:
            probes[group.content_id] = reader.probe(group.first.path)
        except FileProblem as problem:
            outcomes.skip_file(group, problem)
    return probes


def _index_media_files(
    groups: Sequence[Group],
    probes: Mapping[str, Probe],
    context: MediaContext,
    readers: Sequence[MediaReader],
    outcomes: FileOutcomes,
) -> None:
    def steps(group: Group, reader: MediaReader) -> Generator[None, None, MediaResult]:
        context.progress.file(group.first.path)
        outcomes.publish(group)
        context.writer.flush()
        result = yield from index_media(
            replace(context, reader=reader),
            group.first,
            group.sidecars,
            group.content_id,
            probes[group.content_id],
        )
        outcomes.require_unchanged(group)
        return result

    readable = [group for group in groups if group.content_id in probes]
    with closing(interleave(readable, readers, steps)) as done:
        for group, result in done:
            if isinstance(result, FileProblem):
                outcomes.skip_file(group, result)
                continue
            seconds = result.video.duration
            outcomes.count_indexed(group, clips=result.clips, seconds=seconds)
            if result.note:
                outcomes.record_partial(group, result.note, f"indexed {seconds:.0f} s of it")
