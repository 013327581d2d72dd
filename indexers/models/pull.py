"""Downloads weights from the hub: the one module of the project that may use the network."""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from pydantic import BaseModel, Field, ValidationError

from corpora.errors import SettingsError, os_reason
from corpora.identity import file_sha256
from corpora.outputs import OverwritePolicy, check_output_folder
from indexers.errors import ModelError, WeightsInvalid, WeightsMissing
from indexers.models.catalogue import Model, known_model
from indexers.models.lookup import check_folder, home_folder, readable_size
from indexers.models.verify import LOCK_FILE, Lock, read_lock, verify, write_lock
from indexers.settings import EncoderSettings

if TYPE_CHECKING:
    import httpx2

Progress = Callable[[str, int, int], None]
"""Called with a file's name, the bytes of it that are here, and its bytes in all (0: not known)."""

DEFAULT_ENDPOINT = "https://huggingface.co"
PARTIAL = ".partial"
WEIGHTS = (".safetensors", ".bin")
REFUSALS = {
    "GatedRepo": "gated: accept its licence there, set HF_TOKEN, and pull again",
    "RepoNotFound": "no such repository, or not for you; check HF_ENDPOINT and HF_TOKEN",
    "RevisionNotFound": "no such commit; is there a newer version of this program?",
}
"""What the hub's error codes mean for who pulls."""
IDLE_ATTEMPTS = 5
"""A pull gives up after so many attempts in a row without a byte; it waits 26 s between them in all."""


class _Remote(BaseModel):
    """One file of a repository at one commit, as the hub lists it; mirrors leave out all but the path."""

    path: str = Field(alias="rfilename")
    size: int | None = None
    blob: str | None = Field(None, alias="blobId")
    """Git's own hash of a small file."""
    lfs: dict[str, Any] | None = None

    @property
    def sha256(self) -> str:
        """What the hub promises of a large file; empty for a small one."""
        return str((self.lfs or {}).get("sha256", ""))


class _Listing(BaseModel):
    sha: str
    """The commit."""
    siblings: list[_Remote]


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
    appears under its name all at once. An interrupted pull goes on where it
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
            f"{name} is not on the hub: put {' and '.join(model.files)} into {home}; {model.note}"
        )
    _require_endpoint()
    if _already_here(model, home, settings):
        return home
    if not (home / LOCK_FILE).exists():
        check_output_folder(home, policy or OverwritePolicy())
    part = home.with_name(f".{home.name}.part")
    with _one_line(model, part), _one_pull(model, home, say), _client(model) as client:
        if _already_here(model, home, settings):
            return home
        part.mkdir(exist_ok=True)
        revision, remotes = _list(client, model)
        digests = _fetch(client, model, revision, remotes, part, progress or (lambda *_: None))
        lock = _settle(model, revision, digests, part)
        check_folder(model, part)
        write_lock(part, lock)
        shutil.rmtree(home, ignore_errors=True)
        part.rename(home)
    return home


def _already_here(model: Model, home: Path, settings: EncoderSettings) -> bool:
    try:
        lock = read_lock(home)
        if lock is None or (model.revision or lock.revision) != lock.revision:
            return False
        found = verify(model.name, settings)
    except (WeightsMissing, WeightsInvalid):
        return False
    return found.folder == home and found.ok


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


def _require_endpoint() -> None:
    """Raises `SettingsError` where `HF_ENDPOINT` is no address of a server."""
    import httpx2

    with suppress(httpx2.InvalidURL):
        address = httpx2.URL(_endpoint())
        if address.scheme in ("http", "https") and address.host:
            return
    raise SettingsError(f"HF_ENDPOINT is {_endpoint()!r}, no address of a hub such as {DEFAULT_ENDPOINT}")


def _client(model: Model) -> httpx2.Client:
    """With the proxies of the environment; a redirect to another host goes without the token."""
    import httpx2
    from huggingface_hub import get_token

    if os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE"):
        raise WeightsMissing(f"{model.name}: HF_HUB_OFFLINE forbids the network: unset it for the pull")
    token = get_token()
    headers = {"Accept-Encoding": "identity"} | ({"Authorization": f"Bearer {token}"} if token else {})
    try:
        return httpx2.Client(headers=headers, follow_redirects=True, timeout=30)
    except (ImportError, ValueError, httpx2.InvalidURL) as error:
        raise WeightsMissing(
            f"{model.name}: the proxy in ALL_PROXY, HTTPS_PROXY or HTTP_PROXY cannot be used: unset it or "
            f"name an HTTP proxy ({error})"
        ) from error


def _require_content(model: Model, answer: httpx2.Response) -> None:
    """Raise unless the answer may be what was asked for: with the reason, where the hub gives one."""
    code = "RepoNotFound" if answer.status_code in (401, 404) else ""
    code = answer.headers.get("X-Error-Code", code)
    if code in REFUSALS:
        raise WeightsMissing(f"{_where(model)}: {REFUSALS[code]}")
    answer.raise_for_status()
    if answer.headers.get("Content-Type", "").startswith("text/html"):
        raise _not_the_hub(model)


def _not_the_hub(model: Model) -> WeightsMissing:
    return WeightsMissing(
        f"{_where(model)}: a page came that is not the hub's: check HF_ENDPOINT and the proxy, and whether "
        "this network wants a login in the browser"
    )


def _list(client: httpx2.Client, model: Model) -> tuple[str, list[_Remote]]:
    """Commit and wanted files, those that hold weights last; these are safetensors, or the one pickle that
    the catalogue names."""
    url = f"{_endpoint()}/api/models/{model.repo}/revision/{model.revision or 'main'}"
    answer = client.get(url, params={"blobs": "true"})
    _require_content(model, answer)
    try:
        found = _Listing.model_validate_json(answer.content)
    except ValidationError as error:
        raise _not_the_hub(model) from error
    every = [each for each in found.siblings if not {"..", "/"} & set(PurePosixPath(each.path).parts)]
    wanted = [each for each in every if any(fnmatchcase(each.path, glob) for glob in model.files)]
    if not any(each.path.endswith(WEIGHTS) for each in wanted):
        spare = [each for each in every if each.path == model.pickle and each.path in model.sha256]
        if not spare:
            raise WeightsMissing(f"{_where(model)} has no safetensors; pickles are never loaded")
        wanted += spare
    for each in wanted:
        if each.sha256 and (fault := _fault(model, each, each.sha256)):
            raise WeightsInvalid(f"{_where(model)}: {each.path} is wrong: {fault}; it was not downloaded")
    return found.sha, sorted(wanted, key=lambda each: (each.path.endswith(WEIGHTS), each.size or 0))


def _fetch(
    client: httpx2.Client, model: Model, revision: str, remotes: list[_Remote], part: Path, progress: Progress
) -> dict[str, str]:
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
        target = part / each.path
        found = file_sha256(target) if target.is_file() else ""
        if not found or _fault(model, each, found, target):
            # Named by its content, or where the hub does not say by its place: no other file goes on with it.
            content = each.sha256 or each.blob or f"{revision}/{each.path}"
            partial = part / PARTIAL / hashlib.sha256(content.encode()).hexdigest()
            partial.parent.mkdir(exist_ok=True)
            url = f"{_endpoint()}/{model.repo}/resolve/{revision}/{quote(each.path)}"
            _download(client, model, url, each, partial, progress)
            found = file_sha256(partial)
            if fault := _fault(model, each, found, partial):
                partial.unlink()
                raise WeightsInvalid(f"{_where(model)}: {each.path} is wrong: {fault}; it was deleted")
            target.parent.mkdir(parents=True, exist_ok=True)
            partial.replace(target)
        digests[each.path] = found
    return digests


def _download(
    client: httpx2.Client, model: Model, url: str, each: _Remote, partial: Path, progress: Progress
) -> None:
    """Add to the partial file until it is whole, however often the line breaks: what came is kept."""
    import httpx2

    with partial.open("ab" if each.size else "wb") as file:
        most, idle = file.tell(), 0
        while not each.size or file.tell() < each.size:
            headers = {"Range": f"bytes={file.tell()}-"} if file.tell() else {}
            try:
                with client.stream("GET", url, headers=headers) as answer:
                    _require_content(model, answer)
                    if answer.status_code != 206:
                        file.truncate(file.seek(0))
                    total = each.size or file.tell() + int(answer.headers.get("Content-Length", 0))
                    for chunk in answer.iter_raw():
                        file.write(chunk)
                        progress(each.path, file.tell(), total)
                if file.tell() >= total:
                    return
                raise httpx2.RemoteProtocolError(f"{each.path} ended after {file.tell()} of {total} bytes")
            except httpx2.HTTPError as error:
                status = error.response.status_code if isinstance(error, httpx2.HTTPStatusError) else 500
                idle = 0 if file.tell() > most else idle + 1
                if idle == IDLE_ATTEMPTS or (status < 500 and status not in (408, 429)):
                    raise
                most = max(most, file.tell())
            time.sleep(2**idle - 1)


def _fault(model: Model, each: _Remote, found: str, path: Path | None = None) -> str:
    """Why the file with that SHA-256 is not the published one; empty where it is."""
    if expected := model.sha256.get(each.path) or each.sha256:
        return "" if found == expected else f"sha256 {found}, published {expected}"
    if not each.blob or path is None:
        return ""
    data = path.read_bytes()
    blob = hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
    return "" if blob == each.blob else f"git blob {blob}, published {each.blob}"


def _settle(model: Model, revision: str, digests: dict[str, str], part: Path) -> Lock:
    """Turn a pickle into safetensors, and leave nothing in the folder but the model."""
    shutil.rmtree(part / PARTIAL, ignore_errors=True)
    converted = ""
    if model.pickle in digests:
        converted = f"{model.pickle} sha256:{digests.pop(model.pickle)}"
        _convert(model, part / model.pickle, part / "model.safetensors")
        digests["model.safetensors"] = file_sha256(part / "model.safetensors")
    for path in [path for path in part.rglob("*") if path.is_file()]:
        if path.relative_to(part).as_posix() not in digests:
            path.unlink()
    return Lock(name=model.name, repo=model.repo, revision=revision, sha256=digests, converted_from=converted)


def _convert(model: Model, source: Path, target: Path) -> None:
    """Read a checked pickle with torch's restricted unpickler, which builds tensors only, as safetensors."""
    import pickle

    import torch
    from safetensors.torch import save_file

    try:
        state = torch.load(source, map_location="cpu", weights_only=True)
        tensors = {key: value.contiguous().clone() for key, value in state.items()}
    except (pickle.UnpicklingError, RuntimeError, AttributeError) as error:
        raise WeightsInvalid(f"{model.name}: {source} cannot be turned into safetensors") from error
    save_file(tensors, target, metadata={"format": "pt"})


@contextmanager
def _one_line(model: Model, part: Path) -> Iterator[None]:
    """What can go wrong on the way, each as one line of ours."""
    import httpx2

    kept = f"what came so far is kept in {part}"
    try:
        yield
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        fault = str(error).partition("\n")[0] or type(error).__name__
        raise WeightsMissing(f"{_where(model)}: {fault}: is this machine online? {kept}") from error
    except OSError as error:
        raise ModelError(f"{model.name}: {part.parent}: {os_reason(error)}; {kept}") from error
