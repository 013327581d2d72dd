"""What synthetic webs have in common: rendering, and the stories of target videos.

A story is an occasion, which several videos share, and a detail, which sets one apart. A description states
it in one wording, and a query refers to it in another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from eval.tasks.query_templates import WORDING
from rag.web.catalogue import Catalogue, read_catalogue

if TYPE_CHECKING:
    from eval.workbench.corpus import Progress
    from eval.workbench.web import Upload, WebPlan


def render_web(
    folder: Path, plan: WebPlan, uploads: Sequence[Upload], progress: Progress | None
) -> Catalogue:
    """The web of `plan` with `uploads` beside its own, in `folder/web`; what is complete is kept.

    Raises `UsageError` for a folder with other files.
    """
    from eval.workbench.corpus import check_data_folder
    from eval.workbench.web_files import make_web

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
