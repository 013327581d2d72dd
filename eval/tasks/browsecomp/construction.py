"""`browsecomp-workbench` on disk: a web with target videos, the questions, and those that were dropped.

web/               as `eval.workbench.web` writes it
questions.jsonl    the questions that passed every check
dropped.jsonl      the others, each with the reason
manifest.json      arguments and hashes; written last

A target video is some minutes long, has a channel and a day of its own, states a story in its description,
and says one thing in passing. Some say, or show on a card, under which name the work continues: that
leads to another target video.
"""

from __future__ import annotations

import datetime
import json
import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from corpora.outputs import atomic_write_text
from eval.tasks.browsecomp.dataset import BrowseQuestion, input_of, query_of
from eval.tasks.browsecomp.scorer import BrowseScorer
from eval.tasks.browsecomp.solvers import CONTROLS, VARIANTS, VideoBrowserSolver
from eval.tasks.published import read_records, write_manifest, write_records
from eval.tasks.synthetic_webs import DETAILS, OCCASIONS, WORDING, render_web
from eval.tasks.web_task import AgentEnvironment
from eval.workbench.long_videos import Card, LongVideo
from eval.workbench.recording import LATER, recorded_fields
from eval.workbench.seeds import stream
from eval.workbench.sound import spoken_seconds
from eval.workbench.video import Line, Render
from eval.workbench.web import CHANNELS, RELOADERS, Upload, UploadMetadata, WebPlan, new_video, video_name
from rag.agents.runtime.frame_source import FrameSource
from rag.errors import RagError
from rag.reasoners.embedded import EmbeddedReasoner
from rag.web import Web, open_web
from rag.web.catalogue import Catalogue, VideoEntry

if TYPE_CHECKING:
    from indexers.settings import EncoderSettings
    from rag.indexing.report import Progress
    from rag.reasoners.protocol import Reasoner

QUESTIONS = "questions.jsonl"
DRAFTED = Path(__file__).with_name("workbench")
TEST_SEED = 23
"""Of the web that is reported. Rules of the embedded reasoner were tuned on the web of seed 11."""
FIRST_NUMBER = 1_000_000
FIRST_DAY, DAYS = datetime.date(2015, 1, 5), 3400
MIRROR_SHARE = 0.2
CARD_SECONDS = 5.0
WORDS = WORDING["browsing"]


@dataclass(frozen=True, slots=True)
class TargetPlan:
    """How many target videos, and how many of them point to another."""

    videos: int = 28
    minutes: float = 3.5
    chained: int = 24
    """Videos that state where the work continues."""


@dataclass(frozen=True, slots=True)
class BrowseShape:
    """Size of a benchmark; the same shape, the same bytes."""

    web: WebPlan = field(
        default=WebPlan(
            seed=TEST_SEED,
            videos=24,
            reuploads=0.15,
            mirrors=0.15,
            noise=60,
            render=Render(height=360, fps=6),
        )
    )
    targets: TargetPlan = field(default=TargetPlan())
    reads_screen: bool = True
    """Whether text on the screen is read while indexing (OCR): a fifth of the questions ask for it."""
    drafted: str = field(default="questions.jsonl", metadata=LATER)
    """File of the questions, before they are checked."""

    @property
    def drafts(self) -> tuple[BrowseQuestion, ...]:
        """The questions, of which nothing that was rendered is known."""
        return tuple(read_records(DRAFTED / self.drafted, BrowseQuestion))


FULL = BrowseShape()
MINI = BrowseShape(
    WebPlan(seed=11, videos=3, minutes=(0.5,), reuploads=0.3, mirrors=0.3, noise=6, render=Render(360, 5)),
    TargetPlan(videos=4, minutes=1.0, chained=3),
    reads_screen=False,
    drafted="mini.jsonl",
)


def build_browsecomp(
    folder: Path, shape: BrowseShape, encoder: EncoderSettings, *, progress: Progress | None = None
) -> None:
    """Render the web, and keep the drafted questions that pass; resumed by the same call.

    The controls run with the embedded reasoner over `encoder`'s text encoder, whatever reasoner is
    configured. Commit 34c03511 has what the questions were drafted with. Raises `UsageError` or `RagError`.
    """
    from indexers.registry import open_query_encoder

    catalogue = render_web(folder, shape.web, plan_targets(shape.web, shape.targets), progress)
    drafts = [_with_contents(question, catalogue) for question in shape.drafts]
    reasoner = EmbeddedReasoner(open_query_encoder(encoder.text, encoder))
    reasons = check_questions(drafts, open_web(folder / "web"), reasoner)
    kept = [question for question in drafts if question.question_id not in reasons]
    if not kept:
        raise RagError(f"{folder}: none of {len(drafts)} drafted questions passed the checks")
    write_records(folder / QUESTIONS, kept)
    dropped = [question for question in drafts if question.question_id in reasons]
    lines = ({"reason": reasons[question.question_id], **asdict(question)} for question in dropped)
    atomic_write_text(folder / "dropped.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    write_manifest(
        folder,
        (QUESTIONS, "web/web.jsonl", "web/pages.jsonl"),
        benchmark="browsecomp-workbench",
        shape=recorded_fields(shape),
        drafted=len(drafts),
        kept=len(kept),
        dropped=dict(sorted(Counter(reasons.values()).items())),
        controls=list(CONTROLS),
        reasoner=reasoner.fingerprint,
    )


def check_questions(drafts: Sequence[BrowseQuestion], web: Web, reasoner: Reasoner) -> dict[str, str]:
    """Why a question is dropped, by id: metadata hold its answer, it is a duplicate, it does not lead to one
    video alone, or a control without video answers it (section 3.4)."""
    reasons: dict[str, str] = {}
    texts: set[str] = set()
    by_url = {entry.url: entry for entry in web.catalogue.videos}
    for question in drafts:
        reason = _metadata_problem(question, by_url, web.catalogue)
        if question.text in texts:
            reason = reason or "another question has the same words"
        texts.add(question.text)
        if reason:
            reasons[question.question_id] = reason
    scorer = BrowseScorer(reasoner, {question.question_id: question for question in drafts})
    blind = AgentEnvironment(web, reasoner, FrameSource(library=None, read_frames=None))
    for name in CONTROLS:
        control = VideoBrowserSolver(VARIANTS.parse(name), blind)
        for question in drafts:
            if question.question_id in reasons:
                continue
            output = control.solve(input_of(question))
            if scorer.score(query_of(question), output).correct:
                reasons[question.question_id] = f"{name} answers it without any video"
    return reasons


def _metadata_problem(
    question: BrowseQuestion, by_url: Mapping[str, VideoEntry], catalogue: Catalogue
) -> str:
    """Why the metadata hold the answer, or do not lead to one video alone; empty where neither is so."""
    for source in question.evidence:
        entry = by_url[source.urls[0]]
        if entry.availability != "ok":
            return "a video of its chain is unavailable"
        same = [
            other
            for other in catalogue.videos
            if (other.channel, other.upload_date) == (entry.channel, entry.upload_date)
            or (other.channel, other.title) == (entry.channel, entry.title)
        ]
        if len(same) > 1:
            return "channel and day, or channel and title, fit several uploads"
        answer = re.compile(rf"(?<!\w){re.escape(question.answers[0])}(?!\w)", re.IGNORECASE)
        if any(answer.search(by_url[url].text) for url in source.urls):
            return "the metadata of a video of its chain hold the answer"
    return ""


def _with_contents(question: BrowseQuestion, catalogue: Catalogue) -> BrowseQuestion:
    """The content ids of its videos, and every other upload that shows one of them."""
    by_url = {entry.url: entry for entry in catalogue.videos}
    sources = []
    for source in question.sources:
        entry = by_url[source.urls[0]]
        shown = [
            other.url
            for other in catalogue.videos
            if other.url not in source.urls
            and (other.content_id == entry.content_id or other.alias_of == entry.id)
        ]
        sources.append(replace(source, video_id=entry.content_id, urls=(*source.urls, *shown)))
    return replace(question, sources=tuple(sources))


def plan_targets(plan: WebPlan, targets: TargetPlan) -> tuple[Upload, ...]:
    """The videos that questions are about, with their mirrors; the same plans, the same uploads."""
    rng = stream("browsecomp planting", plan.seed, plan.split)
    metadata = list(_metadata(rng, targets))
    stories = [(occasion, detail) for occasion in OCCASIONS for detail in DETAILS]
    rng.shuffle(stories)
    found: list[Upload] = []
    for number, (words, day) in enumerate(metadata):
        target = (number + targets.videos // 3) % targets.videos if number < targets.chained else None
        onward = None if target is None else metadata[target][0]
        story = stories[number % len(stories)]
        text = f"{story[0]}, {story[1]}. {words.description}"
        upload = (replace(words, description=text), day)
        found += _target(rng, plan, targets.minutes, number, upload, onward)
    return tuple(found)


def _metadata(rng: random.Random, targets: TargetPlan) -> Iterator[tuple[UploadMetadata, datetime.date]]:
    """Channel, title and day: on no day do two uploads of one channel come out."""
    channels = list(CHANNELS)
    rng.shuffle(channels)
    numbers = rng.sample(range(101, 999), targets.videos)
    days = rng.sample(range(DAYS), targets.videos)
    few = max(1, targets.videos // 4)
    for at in range(targets.videos):
        # Four videos of one channel rank close to each other in every search for it.
        channel = channels[at % min(few, len(channels))]
        words = UploadMetadata(
            title=rng.choice(WORDS["series"]).format(n=numbers[at]),
            description="Camera on my head, as always.",
            channel=channel.name,
            tags=tuple(rng.sample(WORDS["tags"], 2)),
        )
        yield words, FIRST_DAY + datetime.timedelta(days[at])


def _target(
    rng: random.Random,
    plan: WebPlan,
    minutes: float,
    number: int,
    metadata: tuple[UploadMetadata, datetime.date],
    onward: UploadMetadata | None,
) -> Iterator[Upload]:
    video = new_video(plan, FIRST_NUMBER + number, minutes).video()
    lines = list(video.lines)
    spoken = WORDS["spoken"][number % len(WORDS["spoken"])]
    lines.append(_free_line(rng, video, lines, spoken["line"].format(word=rng.choice(spoken["words"]))))
    cards: tuple[Card, ...] = ()
    if onward is not None and number % 2:
        cards = (_free_card(rng, video, f"Goes on: {onward.channel}, {onward.title}"),)
    elif onward is not None:
        text = f"The second half of this is on the channel {onward.channel}, called {onward.title}."
        lines.append(_free_line(rng, video, lines, text))
    upload = Upload(
        id=video_name(plan.seed, plan.split, "browsecomp", number),
        metadata=metadata[0],
        upload_date=metadata[1],
        video=new_video(plan, FIRST_NUMBER + number, minutes, cards=cards),
        lines=tuple(sorted(lines, key=lambda line: line.start)),
    )
    yield upload
    if rng.random() < MIRROR_SHARE:
        yield _mirror(rng, plan, number, upload)


def _mirror(rng: random.Random, plan: WebPlan, number: int, upload: Upload) -> Upload:
    words = upload.metadata
    return replace(
        upload,
        id=video_name(plan.seed, plan.split, "browsecomp mirror", number),
        metadata=UploadMetadata(
            f"{words.title} (reupload)", f"All credit to {words.channel}.", rng.choice(RELOADERS), ("viral",)
        ),
        upload_date=upload.upload_date + datetime.timedelta(rng.randint(20, 300)),
        alias_of=upload.id,
    )


def _free_line(rng: random.Random, video: LongVideo, lines: Sequence[Line], text: str) -> Line:
    """At a time without speech; after the last line where there is none."""
    length = spoken_seconds(text)
    for _ in range(400):
        start = round(rng.uniform(2.0, video.duration - length - 1.0), 2)
        if all(line.end <= start or line.start >= start + length for line in lines):
            return Line(start, round(start + length, 2), text)
    last = max(lines, key=lambda line: line.end)
    return Line(round(last.end + 0.1, 2), round(last.end + 0.1 + length, 2), text)


def _free_card(rng: random.Random, video: LongVideo, text: str) -> Card:
    """At a time without another card."""
    for _ in range(400):
        start = float(rng.randint(6, int(video.duration - CARD_SECONDS - 1)))
        end = start + CARD_SECONDS
        inside = any(part.start + 1 <= start and end <= part.end - 1 for part in video.parts)
        if inside and all(card.end + 1 <= start or card.start >= end + 1 for card in video.cards):
            return Card(start, end, text)
    raise AssertionError("a video of minutes has five seconds without a card")
