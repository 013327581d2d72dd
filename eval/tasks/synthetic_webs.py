"""What the synthetic webs share: their making, and the words of stories.

A video of a web has an occasion, which several videos share, and a detail, which sets one apart. A
description states them, and a query refers to them by other words.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
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
OCCASIONS: Sequence[str] = WORDING["occasions"]
DETAILS: Sequence[str] = WORDING["details"]


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
