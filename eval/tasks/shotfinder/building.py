"""`shotfinder-workbench` on disk: a web of short films, and the shots that are looked for in it.

web/             as `eval.workbench.web_files` writes it
queries.jsonl    the queries, with their truth
manifest.json    arguments, counts and hashes; written last
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

from corpora.outputs import atomic_write_text
from eval.tasks.shotfinder.files import write_shot_queries
from eval.tasks.shotfinder.records import Place, ShotQuery
from eval.tasks.shotfinder.workbench.drafting import draft_queries
from eval.tasks.shotfinder.workbench.families import ShotShape, plan_families
from eval.tasks.shotfinder.workbench.uploads import uploads_of
from eval.workbench.web import WebPlan
from rag.errors import RagError
from rag.web.catalogue import Catalogue, read_catalogue

if TYPE_CHECKING:
    from eval.workbench.corpus import Progress

MANIFEST = "manifest.json"


def build_shotfinder(
    folder: Path, shape: ShotShape, *, workers: int = 2, progress: Progress | None = None
) -> None:
    """Draw the web and write the queries. Killed, the same call goes on.

    Raises `UsageError` or `RagError`.
    """
    from eval.workbench.corpus import check_data_folder
    from eval.workbench.web_files import make_web

    families = [(family, uploads_of(shape, family)) for family in plan_families(shape)]
    uploads = [upload for _, pairs in families for _, upload in pairs]
    place = folder / "web"
    check_data_folder(folder, "web")
    make_web(place, web_plan(shape), inserted=uploads, workers=workers, progress=progress)
    catalogue = read_catalogue(place)
    queries = [_with_contents(query, catalogue) for query in draft_queries(shape, families)]
    texts = Counter((query.description, query.constraint) for query in queries)
    if max(texts.values()) > 1:
        raise RagError(f"{folder}: two queries have the same words; take another seed")
    write_shot_queries(folder / "queries.jsonl", queries)
    manifest = {
        "benchmark": "shotfinder-workbench",
        "shape": asdict(shape),
        "queries": dict(Counter(query.task for query in queries)),
        "values": dict(sorted(Counter(f"{query.task} {query.value}" for query in queries).items())),
        "hashes": {name: file_hash(folder / name) for name in ("queries.jsonl", "web/web.jsonl")},
    }
    atomic_write_text(folder / MANIFEST, json.dumps(manifest, indent=1) + "\n")


def web_plan(shape: ShotShape) -> WebPlan:
    """What stands around the families: uploads that have nothing to do with anything here."""
    return WebPlan(seed=shape.seed, split=shape.split, videos=0, noise=shape.noise, render=shape.render)


def file_hash(path: Path) -> str:
    """SHA-256 over the bytes, 64 hex digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _with_contents(query: ShotQuery, catalogue: Catalogue) -> ShotQuery:
    """Content ids in place of file names."""
    ids = {entry.url: entry.content_id for entry in catalogue.videos}

    def held(place: Place) -> Place:
        return replace(place, video_id=ids[place.urls[0]])

    return replace(query, gold=held(query.gold), twins=tuple(held(twin) for twin in query.twins))
