"""Every error a user can meet, as one tree.

RagError
├── UsageError               wrong words or settings; exit 2
│   ├── SettingsError        a setting is unknown or out of range
│   └── QuestionError        an empty question, too many options, ...
├── FileProblem              one file cannot be used; the rest goes on
│   ├── UnreadableFile       it cannot be opened, or is no file at all
│   ├── UnsupportedFile      no reader knows this kind of file
│   ├── DamagedFile          it opened, and then held nothing usable
│   └── StalledFile          its reader made no progress for too long, or died
├── LibraryError             the library on disk
│   ├── LibraryNotFound      there is none here
│   ├── LibraryBusy          another writer holds it
│   ├── LibraryReadOnly      it cannot be written, or not even read
│   ├── LibraryFull          the disk is full
│   ├── LibraryTooNew        it was written by a newer version
│   ├── LibraryCorrupt       a table cannot be read
│   └── EncoderMismatch      it was made with another encoder
├── ModelError               model weights
│   ├── WeightsMissing       not on this machine
│   ├── WeightsInvalid       there, but not what they should be
│   └── ExtraMissing         the optional package that runs the model is not installed
├── ReasonerError            the language model behind a role
│   ├── ReasonerUnreachable  no answer from the server
│   ├── ReplyInvalid         its reply does not parse, after bounded repair
│   └── BudgetSpent          calls, tokens or seconds ran out
├── ReplayUnknown            the recording that is replayed holds no such exchange; no agent lives with it
└── WebError                 a web of videos and pages
    ├── WebUnusable          no web in the folder, or one that cannot be read
    ├── LiveWebRefused       the live web was asked for; exit 2
    ├── PageGone             a dead link, or an address that the web does not have
    ├── AccessRefused        a gate of age, region or privacy
    ├── NoTranscript         nobody wrote down what is said
    ├── NoMedia              a page without a video
    ├── DownloadTruncated    the file ended early; trying again may help
    ├── RateLimited          too many calls; trying again later helps
    └── WebTimeout           no answer in time; trying again may help

The message of each is one line that says what is wrong and what to do next.
The command line prints it on stderr and exits with `exit_code`; anything
outside this tree is a bug and keeps its traceback.
"""

from __future__ import annotations

from corpora.errors import (
    DamagedFile,
    FileProblem,
    RagError,
    SettingsError,
    StalledFile,
    UnreadableFile,
    UnsupportedFile,
    UsageError,
)
from indexers.errors import ExtraMissing, ModelError, WeightsInvalid, WeightsMissing

__all__ = [
    "AccessRefused",
    "BudgetSpent",
    "DamagedFile",
    "DownloadTruncated",
    "EncoderMismatch",
    "ExtraMissing",
    "FileProblem",
    "LibraryBusy",
    "LibraryCorrupt",
    "LibraryError",
    "LibraryFull",
    "LibraryNotFound",
    "LibraryReadOnly",
    "LibraryTooNew",
    "LiveWebRefused",
    "ModelError",
    "NoMedia",
    "NoTranscript",
    "PageGone",
    "QuestionError",
    "RagError",
    "RateLimited",
    "ReasonerError",
    "ReasonerUnreachable",
    "ReplayUnknown",
    "ReplyInvalid",
    "SettingsError",
    "StalledFile",
    "UnreadableFile",
    "UnsupportedFile",
    "UsageError",
    "WebError",
    "WebTimeout",
    "WebUnusable",
    "WeightsInvalid",
    "WeightsMissing",
]


class QuestionError(UsageError): ...


class LibraryError(RagError): ...


class LibraryNotFound(LibraryError): ...


class LibraryBusy(LibraryError): ...


class LibraryReadOnly(LibraryError): ...


class LibraryFull(LibraryError): ...


class LibraryTooNew(LibraryError): ...


class LibraryCorrupt(LibraryError): ...


class EncoderMismatch(LibraryError): ...


class ReasonerError(RagError): ...


class ReasonerUnreachable(ReasonerError): ...


class ReplyInvalid(ReasonerError): ...


class ReplayUnknown(RagError): ...


class BudgetSpent(ReasonerError): ...


class WebError(RagError): ...


class WebUnusable(WebError): ...


class LiveWebRefused(WebError):
    exit_code = 2


class PageGone(WebError): ...


class AccessRefused(WebError): ...


class NoTranscript(WebError): ...


class NoMedia(WebError): ...


class DownloadTruncated(WebError):
    """`received`: bytes that came."""

    def __init__(self, message: str, received: int = 0) -> None:
        super().__init__(message)
        self.received = received


class RateLimited(WebError):
    """`retry_after`: seconds after which the web asks to be asked again."""

    def __init__(self, message: str, retry_after: float = 0.0) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class WebTimeout(WebError): ...
