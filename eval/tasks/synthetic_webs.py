"""What the synthetic webs share: their making, and stories in two wordings.

A video of a web has an occasion, which several videos share, and a detail, which sets one apart. A
description states them in one wording, and a query refers to them in another.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag.web.catalogue import Catalogue, read_catalogue

if TYPE_CHECKING:
    from eval.workbench.web import Upload, WebPlan
    from rag.indexing.report import Progress

WORDING: Mapping[str, Any] = tomllib.loads(
    resources.files("eval.tasks").joinpath("wording.toml").read_text(encoding="utf-8")
)


def render_web(
    folder: Path, plan: WebPlan, uploads: Sequence[Upload], progress: Progress | None
) -> Catalogue:
    """The web of `plan` with `uploads` beside its own, in `folder/web`; what is complete is kept.

    Raises `UsageError` for a folder with other files.
    """
    from eval.workbench.corpus import check_data_folder
    from eval.workbench.web import make_web

    check_data_folder(folder, "web")
    make_web(folder / "web", plan, inserted=uploads, progress=progress)
    return read_catalogue(folder / "web")


@dataclass(frozen=True, slots=True)
class Paraphrase:
    """One fact in two wordings that share hardly a word."""

    plain: str
    other: str


OCCASIONS = tuple(Paraphrase(**each) for each in WORDING["occasions"])
DETAILS = tuple(Paraphrase(**each) for each in WORDING["details"])
