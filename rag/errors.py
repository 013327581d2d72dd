"""Every error that users can get, as one tree below `RagError` (drawn in docs/reference/api.md).

The message of each is one line that says what is wrong and what to do next.
The command line prints it on stderr and exits with `exit_code`; anything
outside this tree is a bug and keeps its traceback.
"""

from __future__ import annotations

from typing import Any

from corpora.errors import ChangedFile as ChangedFile
from corpora.errors import DamagedFile as DamagedFile
from corpora.errors import DiskError as DiskError
from corpora.errors import FileProblem as FileProblem
from corpora.errors import OverLimit as OverLimit
from corpora.errors import RagError as RagError
from corpora.errors import ScratchFull as ScratchFull
from corpora.errors import SettingsError as SettingsError
from corpora.errors import StaleFile as StaleFile
from corpora.errors import StalledFile as StalledFile
from corpora.errors import UnfetchedFile as UnfetchedFile
from corpora.errors import UnreadableFile as UnreadableFile
from corpora.errors import UnsupportedFile as UnsupportedFile
from corpora.errors import UsageError as UsageError
from corpora.objects import Refused as Refused
from corpora.objects import StoreError as StoreError
from indexers.errors import DeviceFull as DeviceFull
from indexers.errors import ExtraMissing as ExtraMissing
from indexers.errors import ModelError as ModelError
from indexers.errors import WeightsInvalid as WeightsInvalid
from indexers.errors import WeightsMissing as WeightsMissing


class QuestionError(UsageError):
    """The question, its options or its filter cannot be used as given."""


class WorkerLost(FileProblem):
    """The workers that took it died: nothing is known of the file itself."""

    lasting = False


class LibraryError(RagError):
    """The library on disk cannot be used as asked."""


class LibraryNotFound(LibraryError):
    """There is no library in the folder."""


class LibraryBusy(LibraryError):
    """Another writer has the library locked."""


class LibraryReadOnly(LibraryError):
    """The library cannot be written, or not even read."""


class LibraryFull(LibraryError):
    """The disk is full."""


class LibraryTooNew(LibraryError):
    """The library was written by a newer version."""


class LibraryCorrupt(LibraryError):
    """A table of the library cannot be read."""


class EncoderMismatch(LibraryError):
    """The library was made with another encoder."""


class ReasonerError(RagError):
    """The language model behind a role failed."""


class RoleUnknown(ReasonerError):
    """The reasoner has no rule for the role."""


class ReasonerUnreachable(ReasonerError):
    """The server of the language model does not answer."""


class RequestRefused(ReasonerError):
    """The server of the language model refuses the request itself, in every form that it was sent."""


class Unanswered(ReasonerError):
    """The model gave no usable answer to this question; it may to the next one."""

    usage: Any = None
    """The `Usage` of its calls, where whoever raised the error counted them."""


class ReplyInvalid(Unanswered):
    """The model's reply does not parse, after the permitted repairs."""


class PromptTooLarge(Unanswered):
    """The prompt is longer than the model's context, or has more images than it takes, even when reduced.

    `context_tokens`, `max_images`: the limits that the model names, where it does.
    """

    def __init__(
        self, message: str, context_tokens: int | None = None, max_images: int | None = None
    ) -> None:
        super().__init__(message)
        self.context_tokens = context_tokens
        self.max_images = max_images


class BudgetSpent(Unanswered):
    """The limit on calls is reached."""


class WebError(RagError):
    """A web of videos and pages failed to answer."""


class WebUnusable(WebError):
    """The folder contains no web, or one that cannot be read."""


class LiveWebRefused(WebError):
    """The live web was asked for, which is not supported; exit 2."""

    exit_code = 2


class PageGone(WebError):
    """A dead link, or a URL that the web does not have."""


class AccessRefused(WebError):
    """The page is restricted by age, region or privacy."""


class NoTranscript(WebError):
    """The video has no transcript."""


class NoMedia(WebError):
    """The page has no video."""
