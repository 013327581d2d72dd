"""`browsecomp-workbench` on disk: a web with planted uploads, the questions, and those that were dropped.

web/               as `eval.workbench.web_files` writes it
questions.jsonl    the questions that passed every check
dropped.jsonl      the others, each with the reason
manifest.json      arguments and hashes; written last
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corpora.outputs import atomic_write_text
from eval.tasks.browsecomp.files import file_hash, write_questions
from eval.tasks.browsecomp.records import BrowseQuestion
from eval.tasks.browsecomp.solvers import VideoBrowserSolver, query_of
from eval.tasks.browsecomp.systems import CONTROLS, settings_of
from eval.tasks.browsecomp.workbench.drafting import draft
from eval.tasks.browsecomp.workbench.target_insertion import PlantingPlan, plant
from eval.workbench.video import Render
from eval.workbench.web import WebPlan
from rag.errors import RagError
from rag.web.catalogue import Catalogue, VideoEntry, read_catalogue

if TYPE_CHECKING:
    from eval.workbench.corpus import Progress
    from rag.reasoners.roles import Reasoner
    from rag.web import MockWeb

MANIFEST = "manifest.json"


TEST_SEED = 23
"""Of the web that is reported. Rules of the embedded reasoner were tried on the web of seed 11."""


@dataclass(frozen=True, slots=True)
class BrowseShape:
    """How large a benchmark is; the same shape, the same bytes."""

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
    planting: PlantingPlan = field(default=PlantingPlan())
    reads_screen: bool = True
    """Whether text on the screen is read while indexing (OCR): a fifth of the questions ask for it."""


FULL = BrowseShape()
MINI = BrowseShape(
    WebPlan(seed=11, videos=3, minutes=(0.5,), reuploads=0.3, mirrors=0.3, noise=6, render=Render(360, 5)),
    PlantingPlan(videos=4, minutes=1.0, chained=3),
    reads_screen=False,
)


def build_browsecomp(
    folder: Path,
    shape: BrowseShape,
    open_reasoner: Any,
    *,
    workers: int = 2,
    progress: Progress | None = None,
) -> None:
    """Draw the web, draft the questions, and keep those that pass. Killed, the same call goes on.

    `open_reasoner`: called with nothing, gives the reasoner that the controls are asked with; it needs no
    library. Raises `UsageError` or `RagError`.
    """
    from eval.workbench.corpus import check_data_folder
    from eval.workbench.web_files import make_web
    from rag.web import open_web

    planted = plant(shape.web, shape.planting)
    uploads = [upload for each in planted for upload in each.uploads]
    place = folder / "web"
    check_data_folder(folder, "web")
    make_web(place, shape.web, inserted=uploads, workers=workers, progress=progress)
    catalogue = read_catalogue(place)
    drafts = [
        _with_contents(question, catalogue) for question in draft(planted, shape.web.split, shape.web.seed)
    ]
    reasoner: Reasoner = open_reasoner()
    reasons = check_questions(drafts, open_web(place), reasoner)
    kept = [question for question in drafts if question.question_id not in reasons]
    if not kept:
        raise RagError(f"{folder}: none of {len(drafts)} drafted questions passed the checks")
    write_questions(folder / "questions.jsonl", kept)
    lines = (
        json.dumps({"reason": reasons[question.question_id], **asdict(question)}) + "\n"
        for question in drafts
        if question.question_id in reasons
    )
    atomic_write_text(folder / "dropped.jsonl", "".join(lines))
    manifest = {
        "benchmark": "browsecomp-workbench",
        "shape": asdict(shape),
        "drafted": len(drafts),
        "kept": len(kept),
        "dropped": _counted(reasons.values()),
        "controls": list(CONTROLS),
        "reasoner": reasoner.fingerprint,
        "hashes": {
            name: file_hash(folder / name) for name in ("questions.jsonl", "web/web.jsonl", "web/pages.jsonl")
        },
    }
    atomic_write_text(folder / MANIFEST, json.dumps(manifest, indent=1) + "\n")


def check_questions(drafts: Sequence[BrowseQuestion], web: MockWeb, reasoner: Reasoner) -> dict[str, str]:
    """Why a question must go, by id: its truth stands in metadata, it is asked twice, its way is not the
    only one, or a control that sees no video answers it (section 3.4)."""
    from rag.agents.runtime.frame_source import FrameSource

    reasons: dict[str, str] = {}
    texts: set[str] = set()
    by_url = {entry.url: entry for entry in web.catalogue.videos}
    for question in drafts:
        reason = _untold(question, by_url, web.catalogue)
        if question.text in texts:
            reason = reason or "another question has the same words"
        texts.add(question.text)
        if reason:
            reasons[question.question_id] = reason
    known = {question.question_id: question for question in drafts}
    blind = FrameSource(library=None, read_frames=None)
    for name in CONTROLS:
        control = VideoBrowserSolver(name, settings_of(name), known, web, reasoner, blind)
        for question in drafts:
            if question.question_id not in reasons and control.answer(query_of(question)).correct:
                reasons[question.question_id] = f"{name} answers it without any video"
    return reasons


def _untold(question: BrowseQuestion, by_url: Mapping[str, VideoEntry], catalogue: Catalogue) -> str:
    """Why the metadata give it away, or do not lead to one film alone; empty where all is well."""
    for source in question.evidence:
        entry = by_url[source.urls[0]]
        if entry.availability != "ok":
            return "a video of its chain is not to be had"
        same = [
            other
            for other in catalogue.videos
            if (other.channel, other.upload_date) == (entry.channel, entry.upload_date)
            or (other.channel, other.title) == (entry.channel, entry.title)
        ]
        if len(same) > 1:
            return "channel and day, or channel and title, fit several uploads"
        for url in source.urls:
            if _named(question.answers[0], by_url[url].text):
                return "the metadata of a video of its chain hold the answer"
    return ""


def _named(answer: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(answer)}(?!\w)", text, re.IGNORECASE) is not None


def _with_contents(question: BrowseQuestion, catalogue: Catalogue) -> BrowseQuestion:
    """The content ids of its films, and every other upload that shows one of them."""
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


def _counted(reasons: Any) -> dict[str, int]:
    found: dict[str, int] = {}
    for reason in reasons:
        found[reason] = found.get(reason, 0) + 1
    return dict(sorted(found.items()))
