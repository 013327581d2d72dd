"""The options that subcommands share, and the step from them to settings and an open library."""

from __future__ import annotations

import contextlib
import functools
import inspect
import logging
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from corpora.objects import is_url
from corpora.outputs import OverwritePolicy
from rag._cli.options import argument, option
from rag._cli.output import echo_stderr, is_json, print_json, print_lines
from rag.errors import LibraryError, LibraryNotFound, QuestionError, StoreError, UnreadableFile, UsageError
from rag.records import SearchFilter, ShotFilter, VideoCitation, rounded_down

if TYPE_CHECKING:
    from rag.library import Library as OpenedLibrary
    from rag.settings import Settings


def given_path(text: str) -> Path | str:
    """A path of the command line; the address of an object store stays text: a path eats one of its slashes.

    An empty one is refused: it would stand for the working folder.
    """
    if not text:
        raise typer.BadParameter("a path is empty; a shell variable may be unset")
    return text if is_url(text) else Path(text)


def given_seconds(text: str) -> float:
    """A time of the command line: seconds, or as a clock shows it."""
    from rag.store.lookup import seconds

    try:
        given = seconds(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is no time; give seconds, or 01:02:03") from None
    if not given >= 0:
        raise typer.BadParameter(f"{text!r} is no time of a video, which begins at 0")
    return given


_LIBRARY_HELP = (
    "Library folder, or an address like s3://bucket/library. "
    "Default: $RAG_LIBRARY, else .rag in the current folder or the nearest parent."
)
Library = Annotated[
    list[Path] | None, option("--library DIR", _LIBRARY_HELP, parser=given_path, show_default=False)
]
Libraries = Annotated[
    list[Path] | None,
    option(
        "--library DIR",
        f"{_LIBRARY_HELP} May be repeated: several are searched as one.",
        parser=given_path,
        show_default=False,
    ),
]
Config = Annotated[
    Path | None,
    option("--config FILE", "Settings file. Default: rag.toml in the current folder, if it exists."),
]
Force = Annotated[
    bool,
    option(
        "--force",
        "Replace an output that exists. Inputs, indexed files and files of a library are never replaced.",
    ),
]
Json = Annotated[
    bool | None,
    option(
        "--json/--text",
        "Output format. Default: text on a terminal, JSON into a pipe or a file.",
        show_default=False,
    ),
]
IndexedVideo = Annotated[
    Path,
    argument(
        "VIDEO",
        "An indexed video: its path or the end of it, its id or the start of it; or a copy of its file.",
        parser=given_path,
    ),
]
Verbose = Annotated[
    int, option("-v --verbose", "Log more on stderr; twice for debug output.", count=True, show_default=False)
]
Host = Annotated[str, option("--host HOST", "Where to listen; by default only for this machine.")]
Port = Annotated[int, option("--port N", "0 takes a free one.", min=0, max=65535)]
AllowIndex = Annotated[
    list[Path] | None,
    option(
        "--allow-index ROOT",
        "Allow indexing of what is below this folder; may be repeated.",
        parser=given_path,
        show_default=False,
    ),
]
TopK = Annotated[
    int | None, option("--top-k N", "Number of results to retrieve. Default: 5.", min=1, max=1000)
]
Threshold = Annotated[
    float | None,
    option("--threshold X", "Confidence below which nothing matches. Default: 0.3.", min=0.0, max=1.0),
]
PathGlobs = Annotated[
    list[Path] | None,
    option(
        "--path GLOB",
        "Only files and folders that match, by the last parts of their path; may be repeated.",
        parser=given_path,
    ),
]
Start = Annotated[
    float | None,
    option("--start TIME", "Search videos from this time on: seconds, or 01:02:03.", parser=given_seconds),
]
End = Annotated[
    float | None, option("--end TIME", "Search videos up to this time: as --start.", parser=given_seconds)
]
Options = Annotated[
    list[str] | None, option("-o --option TEXT", "An option, in order A, B, ...; may be repeated.")
]
Data = Annotated[
    Path | None,
    option("--data DIR", "The benchmark's data. Default: a folder of its name here.", parser=given_path),
]


@dataclass(frozen=True)
class Session:
    """One run of one subcommand."""

    settings: Settings
    as_json: bool
    verbose: int
    libraries: tuple[str, ...]
    """The values of `--library`, repeated in the commands that are suggested."""
    config: Path | None = None
    """The value of `--config`."""

    def print(self, shape: Mapping[str, Any], lines: Iterable[str]) -> None:
        """The result on stdout: as one JSON document, or as lines of text."""
        if self.as_json:
            print_json(shape)
        else:
            print_lines(lines)

    def report(self, schema: str, report: Any, lines: Iterable[str]) -> None:
        """Print a report; its JSON document has the report's own fields (`report_shape`)."""
        from rag.rendering.shapes import report_shape

        self.print(report_shape(schema, report), lines)

    def open_library(self, *, whole: bool = False) -> OpenedLibrary:
        """Several are opened as one, without those whose stores fail.

        `whole`: all or none, for answers in a file, which later runs keep.
        Raises `LibraryNotFound`, with the command that makes one, and `StoreError`.
        """
        library = self._open()
        for line in library.left_out:
            if whole:
                raise StoreError(line)
            echo_stderr(f"rag: left out: {line}")
        if taken_out := len(library.engine.reader.taken_out()):
            from rag.rendering.terminal import taken_out_line

            echo_stderr(f"rag: {taken_out_line(taken_out)}")
        return library

    def _open(self) -> OpenedLibrary:
        from rag.library import Library as OpenedLibrary

        return OpenedLibrary.open(None, *self.libraries[1:], settings=self.settings)

    def overwrite_policy(self, force: bool, *inputs: Path | None) -> OverwritePolicy:
        """What the outputs of this command must not replace; `inputs`: what it reads, None: not given."""
        return OverwritePolicy(force, tuple(path for path in inputs if path is not None), self._is_indexed)

    def _is_indexed(self, output: Path) -> bool:
        """Whether the library was made from a file. Raises `UsageError` where the library cannot be read."""
        try:
            with self._open() as library:
                return library.is_source(output)
        except LibraryNotFound:
            return False
        except LibraryError as error:
            raise UsageError(
                f"{output}: exists, and may be indexed in a library that cannot be read; name a new file "
                f"({error})"
            ) from error


def start(
    library: Sequence[Path | str] | None,
    config: Path | None,
    as_json: bool | None,
    verbose: int,
    flags: Mapping[str, Any] | None = None,
    *,
    several: bool = False,
) -> Session:
    """Resolve the settings; `flags` are dotted names, None where the option was not given.

    Raises `UsageError` for more than one library, without `several`.
    """
    if library is not None and len(library) > 1 and not several:
        raise UsageError("this command takes one --library; rag library merge makes one of several")
    _configure_logging(verbose)
    try:
        os.getcwd()
    except OSError as error:
        raise UsageError("the working folder no longer exists; change to one that does") from error
    from rag.settings import load_settings

    first = library[0] if library else None
    settings = load_settings(config, {"library": first, **(flags or {})})
    return Session(settings, is_json(as_json), verbose, tuple(map(os.fsdecode, library or ())), config)


def _shared(
    library: Library = None, config: Config = None, as_json: Json = None, verbose: Verbose = 0
) -> None:
    """The options from which `start` makes a session, in the order of the help."""


def with_session(
    flags: Mapping[str, str] | None = None, without: Sequence[str] = (), *, several: bool = False
) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Give a command the shared options, last in its help, and their `Session` as its first argument.

    `flags`: dotted names of settings, with the parameter of the command that sets each. `without`: shared
    options that the command does not have. `several`: whether it takes several libraries as one; of a command
    that does not, a second `--library` is a `UsageError`.
    """

    def decorate(command: Callable[..., int]) -> Callable[..., int]:
        own = list(inspect.signature(command, eval_str=True).parameters.values())[1:]
        shared = inspect.signature(_shared, eval_str=True).parameters
        extra = [
            parameter.replace(
                kind=inspect.Parameter.KEYWORD_ONLY,
                annotation=Libraries if several and name == "library" else parameter.annotation,
            )
            for name, parameter in shared.items()
            if name not in without
        ]

        @functools.wraps(command)
        def run(**options: Any) -> int:
            values = {
                name: parameter.default if name in without else options.pop(name)
                for name, parameter in shared.items()
            }
            given = {setting: options[name] for setting, name in (flags or {}).items()}
            # An option that may be repeated is an empty list where it was not given.
            given = {setting: None if value == [] else value for setting, value in given.items()}
            return command(start(**values, flags=given, several=several), **options)

        run.__signature__ = inspect.Signature([*own, *extra])  # type: ignore[attr-defined]  # read by `inspect`
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in (*own, *extra)}
        ours = {} if "library" in without else {"library": "library"}
        run.settings = ours | dict(flags or {})  # type: ignore[attr-defined]  # for the page of settings
        return run

    return decorate


def with_indexed_file(library: OpenedLibrary, cited: VideoCitation) -> VideoCitation:
    """A citation, with a path of its video where the file is the one that was indexed, its own before others,
    if one can be read.

    Raises `StaleFile` where it was changed since.
    """
    with contextlib.suppress(UnreadableFile):
        return replace(cited, path=library.indexed_file(cited.video_id, cited.path))
    return cited


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

    if begin is not None and end is not None and not end > begin:
        raise UsageError(f"--end {end:g} is not after --start {begin:g}")
    return SearchFilter(
        paths=tuple(os.fsdecode(path) for path in paths or ()), start=begin, end=end, shots=shots
    )


def weak_hits_line(searched: str, hits: str, best: float, least: float) -> str:
    """A ranking always has a first hit; here `rag ask` would answer that nothing matches."""
    return (
        f"rag: nothing in the {searched} matches this query: the most relevant of these {hits} has relevance "
        f"{rounded_down(best):.2f}, below {least:.2f}; they are only the nearest"
    )


def unmatched_paths(library: OpenedLibrary, chosen: SearchFilter | None) -> str:
    """What to say of `--path` where no file of the library matches; else empty."""
    from rag.store.filters import path_matches

    if chosen is None or not chosen.paths or path_matches(tuple(library.indexed_paths()), chosen.paths):
        return ""
    return f"no file of the library matches {', '.join(chosen.paths)}"


def _configure_logging(verbose: int) -> None:
    """Log to stderr; warnings of libraries are shown with -v only."""
    level = logging.DEBUG if verbose > 1 else logging.INFO if verbose else logging.ERROR
    logging.basicConfig(level=level, stream=sys.stderr, format="%(name)s: %(message)s")
    if not verbose and not sys.warnoptions:
        warnings.simplefilter("ignore")
