"""What synthetic webs have in common: rendering, and the stories of target videos.

A story is an occasion, which several videos share, and a detail, which sets one apart. A description states
it in one wording, and a query refers to it in another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

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


OCCASIONS: tuple[Paraphrase, ...] = (
    Paraphrase("Filmed the morning after my sister's wedding", "on the day after a sibling had got married"),
    Paraphrase("Recorded while we waited for the plumber", "during the wait for somebody to mend the pipes"),
    Paraphrase("Shot on the first day of my holidays", "at the very start of some time off work"),
    Paraphrase("Made during the big power cut", "when there was no electricity for hours"),
    Paraphrase("Filmed on the day the first snow fell", "when winter showed itself for the first time"),
    Paraphrase(
        "Recorded the evening before we moved house", "on the last night before going to live elsewhere"
    ),
    Paraphrase("Shot while the kids were at school", "while the children were away at their lessons"),
    Paraphrase("Filmed right after I quit my job", "just after somebody had handed in their notice"),
    Paraphrase(
        "Made on grandfather's ninetieth birthday", "on the day an old man in the family turned ninety"
    ),
    Paraphrase("Recorded with my arm in a cast", "by somebody with a broken limb"),
)
DETAILS: tuple[Paraphrase, ...] = (
    Paraphrase("the dog slept through all of it", "with a pet dozing the whole time"),
    Paraphrase(
        "my neighbour had borrowed the good camera", "with the better camera lent to someone next door"
    ),
    Paraphrase("not a drop of coffee left in the house", "with nothing hot and strong left to drink"),
    Paraphrase("the radio was far too loud", "with noisy music from a receiver"),
    Paraphrase("the internet was down as well", "without any connection to the network"),
    Paraphrase("all because of a bet I lost", "as the price of a wager"),
    Paraphrase("thirty degrees and no wind", "in summer heat"),
    Paraphrase("my brother kept interrupting", "with a relative who would not stop disturbing"),
)
