"""Contents into rows of a library: the encoders and readers of one process."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import closing
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from corpora.objects import is_url
from corpora.passages.scanned_text import TextLine
from corpora.video.reader import MediaReader
from corpora.video.records import Probe
from indexers.asr import Asr, asr_line, open_asr
from indexers.models.catalogue import is_packaged, is_specialised
from indexers.models.lookup import readable_size, recommended_model, specialised_encoder_warning
from indexers.ocr import Ocr, open_ocr, reads_text
from indexers.protocol import Disabled, ImageEncoder, TextTower
from indexers.registry import open_text_tower
from rag.errors import FileProblem, UnfetchedFile
from rag.indexing.copies import LocalGroup, local_groups
from rag.indexing.decoding import interleave, open_readers
from rag.indexing.encoders import (
    SelectedEncoders,
    device_here,
    enlarging_line,
    other_devices,
    select_encoders,
    settings_of_library,
    stored_side,
)
from rag.indexing.measuring import Measuring, backfill_measurements, measure_fingerprints, off_lines
from rag.indexing.media import MediaContext, MediaResult, index_media
from rag.indexing.outcomes import Done, FileOutcomes, require_unchanged
from rag.indexing.passages import PassageIndexer, document_seconds
from rag.indexing.planning import Group, estimated_seconds
from rag.indexing.report import Progress
from rag.indexing.stages import Stages
from rag.settings import Settings
from rag.store.records import EncoderRef
from rag.store.writing import Writer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def stage_fingerprints(settings: Settings, encoder: EncoderRef | None) -> dict[str, str]:
    """Of the stages `shots` and `sound`, for a library's image encoder."""
    decodes = encoder is not None or reads_text(settings.ocr)
    return measure_fingerprints(settings.video, encoder, decodes=decodes)


def pinned_settings(settings: Settings) -> Settings:
    """The settings with what `auto` means on this machine for text on the screen and speech.

    Raises as opening those with `on` does.
    """
    read = reads_text(settings.ocr)
    transcribes = asr_line(settings.asr, settings.encoder).startswith("speech: on")
    ocr = settings.ocr.model_copy(update={"mode": "on" if read else "off"})
    asr = settings.asr.model_copy(update={"mode": "on" if transcribes else "off"})
    return settings.model_copy(update={"ocr": ocr, "asr": asr})


class ContentIndexer:
    """Indexes contents. Models are loaded when the first content needs them."""

    def __init__(
        self,
        settings: Settings,
        encoders: SelectedEncoders,
        readers: Sequence[MediaReader],
        logs: Path,
        progress: Progress,
    ) -> None:
        """`logs`: folder of the logs by which a killed run goes on within a video."""
        image = encoders.meta.image_encoder
        self.measuring = Measuring(settings.video, stage_fingerprints(settings, image), self._open_tower)
        self.lines: list[str] = []
        """One line for each stage of media, once it is opened."""
        self.video = settings.video.model_copy(update={"short_side": stored_side(encoders.meta)})
        self._settings = settings
        self._encoders = encoders
        self._readers = readers
        self._logs = logs
        self._progress = progress

    def _open_tower(self) -> TextTower | None:
        """None for a specialised encoder, which does not know the words for styles."""
        meta = self._encoders.meta
        if meta.image_encoder is None or is_specialised(meta.image_encoder.name):
            return None
        return open_text_tower(meta.image_encoder.name, settings_of_library(meta, self._settings).encoder)

    def _probe(self, groups: Iterable[Group], outcomes: FileOutcomes) -> dict[str, Probe]:
        """What the headers of videos say, by content; those that have none that can be read are skipped.

        Objects are probed when they are fetched.
        """
        probes: dict[str, Probe] = {}
        for group in groups:
            if is_url(group.first.path):
                continue
            try:
                probes[group.content_id] = self._readers[0].probe(group.first.path)
            except FileProblem as problem:
                outcomes.skip_file(group, problem)
        return probes

    def _index_media(
        self, groups: Sequence[Group], probes: Mapping[str, Probe], outcomes: FileOutcomes
    ) -> None:
        """Index videos: objects, and those of this machine that have a probe."""
        if not groups:
            return
        stages, begun = self.stages, set[str]()

        def steps(local: LocalGroup, reader: MediaReader) -> Generator[None, None, MediaResult]:
            copy, first = local.require(), local.group.first
            try:
                self._progress.file(first.path)
                if copy.content_id in begun:
                    # Two objects of one content that could not be compared before: the next run does.
                    raise UnfetchedFile(
                        f"{first.path}: it has the content of another one; run the command again"
                    )
                begun.add(copy.content_id)
                probe = probes.get(copy.content_id) or reader.probe(copy.path)
                writer = outcomes.begin_video(local.group)
                context = MediaContext(
                    writer,
                    self._logs,
                    reader,
                    stages,
                    self.video,
                    self._progress,
                    lambda result: outcomes.keep_problem(local.group, _done(result)),
                    self._settings.scan.exclude,
                )
                result = yield from index_media(context, first, copy, probe)
                require_unchanged(first)
            finally:
                copy.discard()
            if is_url(first.path):
                self._progress.advance(estimated_seconds(first) - result.video.duration)
            return result

        with (
            closing(local_groups(groups, self._settings.storage)) as there,
            closing(interleave(there, self._readers, steps)) as done,
        ):
            for local, result in done:
                if isinstance(result, FileProblem):
                    outcomes.skip_file(local.group, local.problem_of(result))
                    continue
                outcomes.finish(local.group, _done(result))

    def _index_documents(self, groups: Iterable[Group], outcomes: FileOutcomes) -> None:
        """Index the documents of `groups`."""
        read_lines = self._read_lines if reads_text(self._settings.ocr) else None
        passages = PassageIndexer(
            self._encoders.text, self._readers[0], outcomes, self._progress, read_lines=read_lines
        )
        with closing(local_groups(groups, self._settings.storage)) as there:
            for local in there:
                passages.add(local)
                local.discard()
        passages.flush()

    def index(
        self, groups: Iterable[Group], outcomes: FileOutcomes, *, others: int = 0, other_seconds: float = 0.0
    ) -> None:
        """Index contents of all kinds. `others`: files that the progress counts too, and their seconds."""
        groups = list(groups)
        media = [group for group in groups if group.is_media]
        documents = [group for group in groups if not group.is_media]
        probes = self._probe(media, outcomes)
        media = [group for group in media if is_url(group.first.path) or group.content_id in probes]
        seconds = other_seconds + sum(probe.duration for probe in probes.values())
        seconds += sum(estimated_seconds(group.first) for group in media if is_url(group.first.path))
        self._progress.start(seconds, len(media) + len(documents) + others)
        reading = sum(document_seconds(group.first.path, group.first.size) for group in documents)
        self._progress.start_documents(len(documents), reading)
        self._index_media(media, probes, outcomes)
        self._index_documents(documents, outcomes)

    def _read_lines(self, image: NDArray[np.uint8]) -> Sequence[TextLine] | None:
        ocr = self._ocr
        return ocr.read_page(image) if isinstance(ocr, Ocr) else None

    @cached_property
    def _ocr(self) -> Ocr | Disabled:
        return open_ocr(self._settings.ocr)

    @cached_property
    def stages(self) -> Stages:
        """Of media; their models are loaded now."""
        settings = self._settings
        ocr, asr = self._ocr, open_asr(settings.asr, settings.encoder)
        image = self._encoders.open_image()
        self.lines.append(reads_line(image, ocr, asr, settings.asr.model))
        self.lines += [each.reason for each in (ocr, asr) if isinstance(each, Disabled)]
        self.lines += off_lines(settings.video, self.measuring.fingerprints)
        if self._encoders.new and (line := better_line(image)):
            self.lines.append(line)
        if line := enlarging_line(image, self._encoders.meta):
            self.lines.append(line)
        for line in self.lines:
            self._progress.note(line)
        return Stages(
            text=self._encoders.text,
            image=image,
            ocr=ocr if isinstance(ocr, Ocr) else None,
            asr=asr if isinstance(asr, Asr) else None,
            reuse_still_frames=settings.encoder.reuse_still_frames,
            measuring=self.measuring,
        )


def index_contents(
    writer: Writer,
    groups: Sequence[Group],
    outdated: Sequence[Group],
    settings: Settings,
    outcomes: FileOutcomes,
    progress: Progress,
    *,
    recommended: str | None,
) -> None:
    """Encoders, then media, then measurements, then passages."""
    stats = outcomes.stats
    encoders = select_encoders(writer, settings, recommended=recommended)
    if encoders.meta.image_encoder is None and encoders.line not in stats.stages:
        stats.stages.append(encoders.line)
    if groups:
        device = device_here(encoders.meta)
        if line := other_devices(encoders.meta, device):
            outcomes.note(line)
        writer.put_devices({device})
    image = encoders.meta.image_encoder
    warn_of_specialised(image, recommended, progress)
    with open_readers(settings.video, image.backend if image else "", settings.reading) as readers:
        contents = ContentIndexer(settings, encoders, readers, writer.cache, progress)
        left = sum(writer.video(group.content_id).duration for group in outdated)
        if groups or outdated:
            contents.index(groups, outcomes, others=len(outdated), other_seconds=left)
        stats.stages += contents.lines
        if outdated:
            line = f"measuring shots and sound of videos indexed before: {len(outdated)}"
            outcomes.note(line)
            measuring, video = contents.measuring, contents.video
            with closing(local_groups(outdated, settings.storage)) as there:
                stats.backfilled = backfill_measurements(
                    there, writer, readers, measuring, video, progress, outcomes.append_problem
                )


def reads_line(
    image: ImageEncoder | None, ocr: Ocr | Disabled, asr: Asr | Disabled, speech_model: str
) -> str:
    """What a run reads of media: `reads: text, images (efficientnet-lite2), text on screen, speech (X)`."""
    senses = ["text"]
    if image is not None:
        senses.append(f"images ({image.name})")
    if not isinstance(ocr, Disabled):
        senses.append("text on screen")
    if not isinstance(asr, Disabled):
        senses.append(f"speech ({speech_model})")
    return f"reads: {', '.join(senses)}"


def better_line(image: ImageEncoder | None) -> str:
    """What sees more than the encoder that comes with the installation, and how to get it; empty beside
    others. Said once, where a library is made."""
    if image is None or not is_packaged(image.name):
        return ""
    best = recommended_model("image encoder")
    size = readable_size(best.size)
    return f"sees more: rag models pull {best.name} ({size}), then rag index FOLDER --reembed"


def _done(result: MediaResult) -> Done:
    seconds = result.video.duration
    action = f"indexed {max(seconds - result.lost, 0.0):.0f} s of it" if result.note else ""
    return Done(result.clips, 0, seconds, result.note, action)


def warn_of_specialised(encoder: EncoderRef | None, recommended: str | None, progress: Progress) -> None:
    """Note an encoder that knows other images than those of a corpus that does not recommend it."""
    if encoder is not None and encoder.name != recommended and is_specialised(encoder.name):
        progress.note(specialised_encoder_warning(encoder.name))
