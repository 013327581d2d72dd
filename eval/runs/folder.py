"""A run folder on disk: started, resumed, read.

manifest.json     what the run depends on (`identity`), and who made each stretch of it (`sessions`)
queries.jsonl     the queries with their gold, in the order asked
samples.jsonl     one line a query, complete before the next is started
unusable.jsonl    rows of the data that are no query, or only in part, with the reason; absent without any
submission.jsonl  what a benchmark's server takes, of tasks that have one (`Task.files`)
results.json      figures with n and interval; its presence says that the run is complete
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from corpora.errors import file_error
from corpora.outputs import OverwritePolicy, atomic_write_text, check_output_folder
from eval.resumable import (
    LineWriter,
    differences,
    first_few,
    map_os_errors,
    open_locked,
    truncate_partial_line,
    whole_lines,
)
from eval.runs.records import (
    Query,
    Sample,
    UnusableRow,
    canonical,
    check_sample,
    read_whole_records,
    record_line,
    skip_reason,
)
from rag.errors import UsageError

SCHEMA = "rag.eval.run/1"

PACKAGES = (
    *("av", "faiss-cpu", "lancedb", "numpy", "onnxruntime", "pillow", "pyarrow"),
    *("sentence-transformers", "tokenizers", "torch", "transformers"),
)
"""Those whose version can move an answer or a figure."""


def known_identity(benchmark: str, system: str, seed: int, limit: int | None) -> dict[str, Any]:
    """The part of an identity that is known before any data are read or a system is opened."""
    from rag import __version__

    return {"benchmark": benchmark, "system": system, "seed": seed, "limit": limit, "version": __version__}


def session_of() -> dict[str, Any]:
    """Commit, packages and machine; no name of the machine or of its user."""
    return {
        "commit": _commit(Path(__file__).parents[2]),
        "packages": {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}},
        "machine": {"system": platform.platform(), "cores": os.cpu_count()},
    }


def _commit(root: Path) -> str | None:
    """The commit of a checkout, `+` behind it where tracked files differ; None elsewhere."""
    if shutil.which("git") is None or not (root / ".git").exists():
        return None
    commit = _git(root, "rev-parse", "HEAD")
    if commit is None:
        return None
    changed = _git(root, "status", "--porcelain", "--untracked-files=no")
    return f"{commit}+" if changed else commit


def _git(root: Path, *words: str) -> str | None:
    done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


RUNS = Path("runs")
LEVELS = 2
"""How deep below a folder runs are looked for: `runs/SYSTEM-seed0` and `runs/BENCHMARK/SYSTEM-seed0`."""


def plain_name(name: str) -> str:
    """The name with nothing in it that a path could not hold."""
    return re.sub(r"[^\w.-]+", "_", name)


def folder_name(system: str, seed: int) -> str:
    """`localized-seed0`."""
    return f"{plain_name(system)}-seed{seed}"


def default_place(benchmark: str) -> Path:
    """`runs/egofact-workbench`: where the runs on a benchmark go by default."""
    return RUNS / plain_name(benchmark)


def run_folders(places: Sequence[Path]) -> list[Path]:
    """The run folders among `places`, and in place of a folder that holds runs those runs, by name.

    Runs are in such a folder or one folder deeper. What has no manifest is no run; a place that is none
    and holds none is given back as it is, for its reader to refuse. Each folder is named once.
    """
    found: list[Path] = []
    for place in places:
        below = [] if (place / "manifest.json").exists() else list(_runs_below(place, LEVELS))
        found += below or [place]
    return list(dict.fromkeys(found))


def _runs_below(place: Path, levels: int) -> Iterator[Path]:
    """Folders of data have a manifest too, but no samples."""
    if not levels or not place.is_dir():
        return
    for folder in sorted(place.iterdir()):
        if (folder / "manifest.json").is_file() and (folder / "samples.jsonl").is_file():
            yield folder
        else:
            yield from _runs_below(folder, levels - 1)


def require_same_run(folder: Path, benchmark: str, system: str, seed: int, limit: int | None) -> None:
    """Raises `UsageError` where `folder` holds a run of something else; nothing is opened for it.

    Settings, data and encoders are compared when the run is opened: they are not known before. A larger
    limit goes on with the run.
    """
    path = folder / "manifest.json"
    try:
        identity = json.loads(path.read_text(encoding="utf-8"))["identity"]
    except (OSError, ValueError, RecursionError, KeyError, TypeError):
        return  # nothing there yet, or nothing that can be read: reported when the run is opened
    if not isinstance(identity, dict):
        return
    known = known_identity(benchmark, system, seed, limit)
    if _extends(identity.get("limit"), limit):
        del known["limit"]
    changed = first_few(
        change for name, value in known.items() for change in differences(name, identity.get(name), value)
    )
    if changed:
        raise UsageError(
            f"{folder}: it was made otherwise: {changed}; name another folder with --out, or delete this "
            "one to start over"
        )


def _extends(there: object, here: int | None) -> bool:
    """Whether a run of the first `there` queries begins one of the first `here`; None: of all."""
    return isinstance(there, int) and (here is None or there < here)


IDENTITY = {"benchmark", "system", "seed", "settings", "dataset", "encoders", "queries"}
"""What every run says of itself."""
OPENED = {"factory", "data", "sessions"}
"""How it was opened, and by whom."""


@dataclass(frozen=True, slots=True)
class Run:
    """A run as it was read; `samples` answer the first of `queries`, all of them where it is complete."""

    folder: Path
    manifest: Mapping[str, Any]
    queries: tuple[Query, ...]
    samples: tuple[Sample, ...]

    @property
    def identity(self) -> Mapping[str, Any]:
        """What a run must have equal to be resumed."""
        identity: Mapping[str, Any] = self.manifest["identity"]
        return identity

    @property
    def complete(self) -> bool:
        """Whether every query has a sample."""
        return len(self.samples) == len(self.queries)


def queries_text(queries: Iterable[Query]) -> str:
    """Queries as JSON lines."""
    return "".join(record_line(query) for query in queries)


def read_run_folder(folder: Path) -> Run:
    """Raises `UsageError` where the folder holds no run, or one that was changed by hand."""
    manifest = _read_manifest(folder)
    queries_path = folder / "queries.jsonl"
    try:
        found = hashlib.sha256(queries_path.read_bytes()).hexdigest()
    except OSError as error:
        raise file_error(queries_path, error, "read") from error
    if found != manifest["identity"]["queries"]:
        raise UsageError(
            f"{queries_path}: not the queries of this run; their hash differs from the manifest's"
        )
    queries = list(read_whole_records(queries_path, Query))
    samples = _answers(folder, queries)
    return Run(folder, manifest, tuple(queries), tuple(samples))


def _read_manifest(folder: Path) -> dict[str, Any]:
    path = folder / "manifest.json"
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        what = "no run" if folder.is_dir() else "no such folder, so no run"
        raise UsageError(
            f"{folder}: {what} of 'rag eval run'; name a folder that it made, as runs/BENCHMARK"
        ) from error
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"{path}: cannot be read: {error}") from error
    if not isinstance(manifest, dict) or manifest.get("schema") != SCHEMA or not _is_whole(manifest):
        raise UsageError(f"{path}: no manifest of schema {SCHEMA}")
    return manifest


def _is_whole(manifest: Mapping[str, Any]) -> bool:
    """Whether all is there that a reader of runs relies on."""
    identity = manifest.get("identity")
    return isinstance(identity, dict) and identity.keys() >= IDENTITY and manifest.keys() >= OPENED


def _answers(folder: Path, queries: Sequence[Query]) -> list[Sample]:
    """The samples in the order of the queries; a later one takes the place of a skipped one.

    Each must answer the query that is due, and in a way that a system could have.
    """
    path = folder / "samples.jsonl"
    found: list[Sample] = []
    places: dict[str, int] = {}
    for number, sample in enumerate(read_whole_records(path, Sample), 1):
        place = places.get(sample.query_id, len(found))
        due = queries[len(found)].query_id if len(found) < len(queries) else "no more"
        if place < len(found):
            if not skip_reason(found[place]):
                raise UsageError(f"{path}:{number}: answers {sample.query_id!r} where {due!r} is due")
            found[place] = sample
        elif sample.query_id != due:
            raise UsageError(f"{path}:{number}: answers {sample.query_id!r} where {due!r} is due")
        else:
            places[due] = place
            found.append(sample)
        try:
            check_sample(queries[place], sample)
            record_line(sample)
        except ValueError as error:
            raise UsageError(f"{path}:{number}: changed since it was written: {error}") from error
    return found


def write_unusable(folder: Path, rows: Sequence[UnusableRow]) -> None:
    """`unusable.jsonl`, where there are such rows."""
    path = folder / "unusable.jsonl"
    with map_os_errors(folder):
        if rows:
            atomic_write_text(path, "".join(json.dumps(asdict(row)) + "\n" for row in rows))
        else:
            path.unlink(missing_ok=True)


def read_unusable(folder: Path) -> list[UnusableRow]:
    """The rows of the data that no query was made of. Raises `UsageError` for a file changed by hand."""
    path = folder / "unusable.jsonl"
    try:
        lines = whole_lines(path).splitlines() if path.exists() else []
        return [UnusableRow(**json.loads(line)) for line in lines]
    except (OSError, ValueError, TypeError) as error:
        raise UsageError(f"{path}: cannot be read: {error}") from error


def require_run_folder(folder: Path, policy: OverwritePolicy) -> None:
    """Raises `UsageError` where `folder` is neither new or empty nor a run's: its manifest says what run."""
    if not (folder / "manifest.json").exists():
        check_output_folder(folder, policy)


def rewrite_samples(run: Run, samples: Sequence[Sample], scorer: Mapping[str, Any]) -> None:
    """Replace the samples of a complete run by others of the same outputs, and its `scorer`.

    Raises `UsageError` where another process writes the run.
    """
    with map_os_errors(run.folder), open_locked(run.folder / "samples.jsonl", run.folder):
        (run.folder / "results.json").unlink(missing_ok=True)
        atomic_write_text(run.folder / "samples.jsonl", "".join(map(record_line, samples)))
        identity = {**run.identity, "scorer": canonical(scorer)}
        shape = {**run.manifest, "identity": identity}
        atomic_write_text(run.folder / "manifest.json", json.dumps(shape, indent=2) + "\n")


class RunWriter(LineWriter):
    """A run being made; a context manager that locks the folder against a second writer.

    `samples` are those that an earlier session left, in the order of the queries. A sample that takes the
    place of a skipped one is appended to the file, until `finish`.
    """

    kind = "folder"

    def __init__(
        self,
        folder: Path,
        identity: Mapping[str, Any],
        queries: Sequence[Query],
        opened_as: Mapping[str, str | None],
        policy: OverwritePolicy | None = None,
    ) -> None:
        """`opened_as`: what `open_task` was given, so that a sample can be shown again."""
        super().__init__(folder / "samples.jsonl", folder)
        self._policy = policy or OverwritePolicy()
        self.folder = folder
        self.samples: list[Sample] = []
        self._identity = dict(identity)
        self._queries = queries
        self._places = {query.query_id: place for place, query in enumerate(queries)}
        self._opened_as = dict(opened_as)

    def due(self, skipped: Mapping[str, str]) -> list[Query]:
        """The queries without a sample, and those that were skipped for another reason than now."""
        held = {sample.query_id: skip_reason(sample) for sample in self.samples}
        return [
            query
            for query in self._queries
            if query.query_id not in held
            or (held[query.query_id] and held[query.query_id] != skipped.get(query.query_id))
        ]

    def finish(self) -> None:
        """Put the samples in the order of the queries; nothing is appended afterwards."""
        path, text = self.folder / "samples.jsonl", "".join(map(record_line, self.samples))
        with map_os_errors(self.folder):
            if path.read_bytes() != text.encode():
                atomic_write_text(path, text)

    def append(self, sample: Sample) -> None:
        """Write the next sample."""
        place = self._places[sample.query_id]
        if place > len(self.samples) or (place < len(self.samples) and not skip_reason(self.samples[place])):
            raise ValueError(f"{sample.query_id} is not the next query of the run")
        with map_os_errors(self.folder):
            self._append(record_line(sample))
        self.samples[place : place + 1] = [sample]

    def _claim(self) -> None:
        require_run_folder(self.folder, self._policy)
        self.folder.mkdir(parents=True, exist_ok=True)

    def _resume(self) -> None:
        session = session_of()
        if (self.folder / "manifest.json").exists():
            manifest = self._read_done()
        elif self._path.stat().st_size:
            self._refuse("samples.jsonl exists without manifest.json")
        else:
            # The manifest first: a folder that has it is ours, whatever else is missing.
            manifest = self._write_manifest([session])
        atomic_write_text(self.folder / "queries.jsonl", queries_text(self._queries))
        if len(self.samples) < len(self._queries) and manifest["sessions"][-1] != session:
            self._write_manifest([*manifest["sessions"], session])

    def _read_done(self) -> Mapping[str, Any]:
        """Read the samples of earlier sessions; gives the manifest."""
        manifest = _read_manifest(self.folder)
        there = manifest["identity"]
        extended = self._extended(there)
        self._require_same(
            change
            for key, value in self._identity.items()
            if not (extended and key in ("limit", "queries"))
            for change in differences(key, there.get(key), value)
        )
        truncate_partial_line(self._path)
        self.samples = _answers(self.folder, self._queries)
        return self._write_manifest(manifest["sessions"]) if extended else manifest

    def _extended(self, there: Mapping[str, Any]) -> bool:
        """Whether the run in the folder asked the first of these queries, by a smaller limit."""
        limit = there.get("limit")
        if not _extends(limit, self._identity["limit"]):
            return False
        first = queries_text(self._queries[:limit])
        return hashlib.sha256(first.encode()).hexdigest() == there.get("queries")

    def _write_manifest(self, sessions: list[Any]) -> Mapping[str, Any]:
        shape = {"schema": SCHEMA, "identity": self._identity, **self._opened_as, "sessions": sessions}
        atomic_write_text(self.folder / "manifest.json", json.dumps(shape, indent=2) + "\n")
        return shape
