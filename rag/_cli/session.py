"""The first step of every subcommand: from the shared options to settings and an open library."""

from __future__ import annotations

import logging
import os
import sys
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corpora.outputs import OverwritePolicy
from rag._cli.output import is_json
from rag.errors import LibraryError, QuestionError, UsageError
from rag.records import ShotFilter

if TYPE_CHECKING:
    from rag.library import Library
    from rag.records import SearchFilter
    from rag.settings import Settings


@dataclass(frozen=True)
class Session:
    """One run of one subcommand."""

    settings: Settings
    as_json: bool
    verbose: int
    named_library: str | None
    """The value of `--library`, repeated in the commands that are suggested."""

    def open_library(self) -> Library:
        """Raises `LibraryNotFound`, with the command that makes one."""
        from rag.library import Library

        return Library.open(settings=self.settings)

    def overwrite_policy(self, force: bool, *inputs: Path | None) -> OverwritePolicy:
        """What the outputs of this command must not replace; `inputs`: what it reads, None: not given."""
        return OverwritePolicy(force, tuple(path for path in inputs if path is not None), self._indexed)

    def _indexed(self) -> Iterable[str]:
        """Paths in the library; none where there is no library that can be read."""
        try:
            with self.open_library() as library:
                return library.indexed_paths()
        except LibraryError:
            return ()


def start(
    library: Path | None,
    config: Path | None,
    as_json: bool | None,
    verbose: int,
    seed: int | None,
    flags: Mapping[str, Any] | None = None,
) -> Session:
    """Resolve the settings; `flags` are dotted names, None where the option was not given."""
    _configure_logging(verbose)
    try:
        os.getcwd()
    except OSError as error:
        raise UsageError("the working folder no longer exists; change to one that does") from error
    from rag.settings import load_settings

    settings = load_settings(config, {"library": library, "seed": seed, **(flags or {})})
    return Session(settings, is_json(as_json), verbose, None if library is None else os.fsdecode(library))


def words(text: str) -> str:
    """A question as typed. Raises `QuestionError` where its bytes are not UTF-8."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise QuestionError("the question is not UTF-8 text; check the terminal's encoding") from error
    return text


def where(
    paths: Sequence[Path] | None = None,
    begin: float | None = None,
    end: float | None = None,
    shots: ShotFilter | None = None,
) -> SearchFilter | None:
    """The filter that `--path`, `--start`, `--end` and `shots` ask for; None without any."""
    if shots == ShotFilter():
        shots = None
    if not paths and begin is None and end is None and shots is None:
        return None
    from rag.records import SearchFilter

    if begin is not None and end is not None and not end > begin:
        raise UsageError(f"--end {end:g} is not after --start {begin:g}")
    return SearchFilter(
        paths=tuple(os.fsdecode(path) for path in paths or ()), start=begin, end=end, shots=shots
    )


def _configure_logging(verbose: int) -> None:
    """Log to stderr; warnings of libraries are shown with -v only."""
    level = logging.DEBUG if verbose > 1 else logging.INFO if verbose else logging.ERROR
    logging.basicConfig(level=level, stream=sys.stderr, format="%(name)s: %(message)s")
    if not verbose and not sys.warnoptions:
        warnings.simplefilter("ignore")
