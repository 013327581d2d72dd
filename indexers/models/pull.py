"""Downloads weights from the hub: the one module of the project that may use the network."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from corpora.errors import SettingsError
from corpora.identity import file_sha256
from corpora.outputs import OverwritePolicy, check_output_folder
from indexers.errors import ModelError, WeightsInvalid, WeightsMissing
from indexers.models.catalogue import Model, known_model
from indexers.models.lookup import check_folder, home_folder, readable_size
from indexers.settings import EncoderSettings

Progress = Callable[[str, int, int], None]
"""Called with a file's name, the bytes of it that are here, and its bytes in all (0: not known)."""

DEFAULT_ENDPOINT = "https://huggingface.co"
PARTIAL = ".partial"
WEIGHTS = (".safetensors", ".bin")
LOCK_FILE = "MODEL.json"
REFUSALS = {
    "OfflineModeIsEnabled": "HF_HUB_OFFLINE forbids the network: unset it for the pull",
    "GatedRepoError": "gated: accept its licence there, set HF_TOKEN, and pull again",
    "RepositoryNotFoundError": "no such repository, or not for you; check HF_ENDPOINT and HF_TOKEN",
    "RevisionNotFoundError": "no such commit; is there a newer version of this program?",
}
"""What the errors of the hub's library mean for who pulls."""
PROXY = "the proxy of the environment cannot be used: unset ALL_PROXY or name an HTTP proxy"
LOGIN = (
    "a page came that is not the hub's: check HF_ENDPOINT and the proxy, and whether this network wants a "
    "login in the browser"
)


class Lock(BaseModel):
    """What a pull writes beside the weights."""

    model_config = ConfigDict(frozen=True)

    name: str
    repo: str
    revision: str
    sha256: dict[str, str]
    """Path below the folder, with slashes, to hex digest."""


def pull(
    name: str,
    settings: EncoderSettings,
    progress: Progress | None = None,
    policy: OverwritePolicy | None = None,
    say: Callable[[str], None] = print,
) -> Path:
    """Download a model's files into `home_folder`, and return it.

    Only the files of the catalogue's patterns come, at the pinned commit, or
    where none is pinned at the commit that `main` names now. Each is checked
    against the published hash and the hub's own as soon as it is here, the small
    ones first; then commit and hashes are written to `MODEL.json`, and the folder
    appears under its name all at once. An interrupted pull continues where it
    stopped. While another process pulls the model, this one says so by `say` and waits for it.
    `HF_ENDPOINT`, `HF_TOKEN` and the proxies of the environment are honoured.

    Raises `WeightsMissing` where the hub cannot be reached or lacks the model,
    `WeightsInvalid` where a hash is wrong, `ModelError` where the disk is full, `SettingsError` where
    `HF_ENDPOINT` is no address, `UsageError` where the folder holds files that no pull has written
    (`corpora.outputs`).
    """
    model = known_model(name)
    home = home_folder(model, settings)
    if not model.repo:
        raise WeightsMissing(
            f"{name} cannot be pulled ({model.note}): put {' and '.join(model.files)} into {home}"
        )
    if not _endpoint().startswith(("http://", "https://")):
        raise SettingsError(f"HF_ENDPOINT is {_endpoint()!r}, no address of a hub such as {DEFAULT_ENDPOINT}")
    if _already_here(model, home):
        return home
    if not (home / LOCK_FILE).exists():
        check_output_folder(home, policy or OverwritePolicy())
    part = home.with_name(f".{home.name}.part")
    with _one_line(model, part), _one_pull(model, home, say):
        if _already_here(model, home):
            return home
        part.mkdir(exist_ok=True)
        revision, remotes = _list(model)
        digests = _fetch(model, revision, remotes, part, progress or (lambda *_: None))
        _clear(part, digests)
        check_folder(model, part)
        lock = Lock(name=model.name, repo=model.repo, revision=revision, sha256=digests)
        (part / LOCK_FILE).write_text(lock.model_dump_json(indent=2) + "\n", encoding="utf-8")
        shutil.rmtree(home, ignore_errors=True)
        part.rename(home)
    return home


def _already_here(model: Model, home: Path) -> bool:
    """Whether the folder has all files of a pull, byte for byte."""
    try:
        lock = Lock.model_validate_json((home / LOCK_FILE).read_bytes())
        check_folder(model, home)
        pulled = {**lock.sha256, **model.sha256}
        same = all(file_sha256(home / path) == digest for path, digest in pulled.items())
    except (OSError, ValidationError, WeightsInvalid):
        return False
    return same and model.revision in (None, lock.revision)


@contextmanager
def _one_pull(model: Model, home: Path, say: Callable[[str], None]) -> Iterator[None]:
    """One process at a time pulls a model; the kernel drops the lock of one that dies."""
    from filelock import FileLock, Timeout

    home.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(home.with_name(f".{home.name}.lock"))
    try:
        held = lock.acquire(blocking=False)
    except Timeout:
        say(f"{model.name}: another process pulls it; waiting for it")
        held = lock.acquire()
    with held:
        yield


def _where(model: Model) -> str:
    return f"{model.name}: {model.repo}@{model.revision or 'main'} at {_endpoint()}"


def _endpoint() -> str:
    return os.environ.get("HF_ENDPOINT", "").rstrip("/") or DEFAULT_ENDPOINT


def _list(model: Model) -> tuple[str, list[Any]]:
    """Commit and wanted files, those that hold weights last."""
    from huggingface_hub import HfApi

    found = HfApi(endpoint=_endpoint()).model_info(model.repo, revision=model.revision, files_metadata=True)
    wanted = [
        each
        for each in found.siblings or ()
        if any(fnmatchcase(each.rfilename, glob) for glob in model.files)
        and not {"..", "/"} & set(PurePosixPath(each.rfilename).parts)
    ]
    if not any(each.rfilename.endswith(WEIGHTS) for each in wanted):
        raise WeightsMissing(f"{_where(model)} has no safetensors; pickles are never loaded")
    wanted.sort(key=lambda each: (each.rfilename.endswith(WEIGHTS), each.size or 0))
    return str(found.sha), wanted


def _fetch(model: Model, revision: str, remotes: list[Any], part: Path, progress: Progress) -> dict[str, str]:
    """Every file, checked as soon as it is here; the SHA-256 by path. A wrong file is deleted."""
    here = sum(path.stat().st_size for path in part.rglob("*") if path.is_file())
    missing = (sum(each.size or 0 for each in remotes) or model.size) - here
    free = shutil.disk_usage(part).free
    if missing > free:
        raise ModelError(
            f"{model.name}: {part.parent}: no space left: {readable_size(missing)} are needed, "
            f"{readable_size(free)} are free"
        )
    digests = {}
    for each in remotes:
        target = part / each.rfilename
        found = file_sha256(target) if target.is_file() else ""
        if not found or _fault(model, each, found, target):
            # Named by its content: no other file goes on with it.
            content = each.lfs.sha256 if each.lfs else each.blob_id or f"{revision}/{each.rfilename}"
            held = part / PARTIAL / hashlib.sha256(content.encode()).hexdigest()
            held.parent.mkdir(exist_ok=True)
            _download(model, revision, each, held, progress)
            found = file_sha256(held)
            if fault := _fault(model, each, found, held):
                held.unlink()
                raise WeightsInvalid(f"{_where(model)}: {each.rfilename} is wrong: {fault}; it was deleted")
            target.parent.mkdir(parents=True, exist_ok=True)
            held.replace(target)
        digests[each.rfilename] = found
    return digests


def _download(model: Model, revision: str, each: Any, held: Path, progress: Progress) -> None:
    """Add to a file until it is whole. The hub's own downloads to a folder keep nothing of a broken one."""
    from huggingface_hub import hf_hub_url
    from huggingface_hub.file_download import http_get
    from huggingface_hub.utils import build_hf_headers, logging

    logging.set_verbosity_error()  # it reports each attempt
    url = hf_hub_url(model.repo, each.rfilename, revision=revision, endpoint=_endpoint())
    with held.open("ab" if each.size else "wb") as file:
        http_get(
            url,
            file,
            resume_size=file.tell(),
            headers=build_hf_headers() | {"Accept-Encoding": "identity"},
            expected_size=each.size,
            tqdm_class=partial(_Shown, partial(progress, each.rfilename)),
        )


class _Shown:
    """The part of a `tqdm` that downloads of the hub use."""

    def __init__(
        self, show: Callable[[int, int], None], *, total: int | None, initial: int, **_: Any
    ) -> None:
        self._show, self._total, self._done = show, total or 0, initial

    def update(self, more: int) -> None:
        """`more` bytes came."""
        self._done += more
        self._show(self._done, self._total)

    def __enter__(self) -> _Shown:
        return self

    def __exit__(self, *_: object) -> None:
        pass


def _fault(model: Model, each: Any, found: str, path: Path) -> str:
    """Why the file with that SHA-256 is not the published one; empty where it is."""
    if expected := model.sha256.get(each.rfilename) or (each.lfs and each.lfs.sha256):
        return "" if found == expected else f"sha256 {found}, published {expected}"
    if not each.blob_id:
        return ""
    data = path.read_bytes()
    blob = hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
    return "" if blob == each.blob_id else f"git blob {blob}, published {each.blob_id}"


def _clear(part: Path, wanted: Collection[str]) -> None:
    """Leave nothing in the folder but the model."""
    shutil.rmtree(part / PARTIAL, ignore_errors=True)
    for path in [path for path in part.rglob("*") if path.is_file()]:
        if path.relative_to(part).as_posix() not in wanted:
            path.unlink()


@contextmanager
def _one_line(model: Model, part: Path) -> Iterator[None]:
    """What can go wrong on the way, each as one line of ours."""
    kept = f"what came so far is kept in {part}"
    try:
        yield
    except Exception as error:
        said = str(error).partition("\n")[0] or type(error).__name__
        if advice := REFUSALS.get(type(error).__name__):
            raise WeightsMissing(f"{_where(model)}: {advice}") from error
        # By its version the hub's library speaks HTTP by one or the other.
        if type(error).__module__.partition(".")[0] in ("httpx", "httpx2", "huggingface_hub"):
            raise WeightsMissing(f"{_where(model)}: {said}: is this machine online? {kept}") from error
        if isinstance(error, ImportError):
            raise WeightsMissing(f"{_where(model)}: {PROXY} ({said})") from error
        if isinstance(error, ValueError):
            raise WeightsMissing(f"{_where(model)}: {LOGIN}") from error
        if isinstance(error, OSError):
            raise ModelError(f"{model.name}: {part.parent}: {said}; {kept}") from error
        raise
