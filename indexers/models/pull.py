"""Downloads weights from the hub: the one module of the project that may use the network."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from corpora.identity import file_sha256
from corpora.outputs import OverwritePolicy, check_output_folder
from indexers.errors import ModelError, WeightsInvalid, WeightsMissing
from indexers.models.catalogue import Model, known_model
from indexers.models.lookup import check_folder, home_folder
from indexers.models.verify import LOCK_FILE, Lock, read_lock, verify, write_lock
from indexers.settings import EncoderSettings

Progress = Callable[[str, int, int], None]
"""Called with a file's name, the bytes of it that are here, and its bytes in all."""

DEFAULT_ENDPOINT = "https://huggingface.co"
PARTIAL = ".partial"


@dataclass(frozen=True, slots=True)
class _Remote:
    """One file of a repository at one commit."""

    path: str
    size: int
    sha256: str
    """What the hub says of a large file; empty for a small one."""
    blob: str
    """Git's own hash of a small file."""


def pull(
    name: str,
    settings: EncoderSettings,
    progress: Progress | None = None,
    policy: OverwritePolicy | None = None,
) -> Path:
    """Download a model's files into `home_folder`, and return it.

    Only the files of the catalogue's patterns come, at the pinned commit, or
    where none is pinned at the commit that `main` names now. Each is checked
    against the hub's own hash and the published one; then commit and hashes are
    written to `MODEL.json`, and the folder appears under its name all at once.
    An interrupted pull goes on where it stopped. `HF_ENDPOINT` and `HF_TOKEN`
    are honoured.

    Raises `WeightsMissing` where the hub cannot be reached or lacks the model,
    `WeightsInvalid` where a hash is wrong, `ModelError` where the disk is full, `UsageError` where the
    folder holds files that no pull has written (`corpora.outputs`).
    """
    model = known_model(name)
    home = home_folder(model, settings)
    if not model.repo:
        raise WeightsMissing(
            f"{name} is not on the hub: put {' and '.join(model.files)} into {home}; {model.note}"
        )
    if _already_here(model, home, settings):
        return home
    if not (home / LOCK_FILE).exists():
        check_output_folder(home, policy or OverwritePolicy())
    part = home.with_name(f".{home.name}.part")
    with _one_line(model, part):
        part.mkdir(parents=True, exist_ok=True)
        revision, remotes = _list(model)
        _fetch(model, revision, remotes, part, progress or (lambda *_: None))
        lock = _settle(model, revision, remotes, part)
        check_folder(model, part)
        write_lock(part, lock)
        _put_in_place(part, home)
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


def _hub() -> Any:
    """huggingface_hub without telemetry, and over plain HTTP: the transfer that resumes and is tested."""
    import huggingface_hub
    from huggingface_hub import constants

    constants.HF_HUB_DISABLE_TELEMETRY = True
    constants.HF_HUB_DISABLE_XET = True
    huggingface_hub.logging.set_verbosity_error()
    return huggingface_hub


def _endpoint() -> str:
    return os.environ.get("HF_ENDPOINT", "").rstrip("/") or DEFAULT_ENDPOINT


def _list(model: Model) -> tuple[str, tuple[_Remote, ...]]:
    """Commit and wanted files; weights as safetensors, or the one pickle the catalogue names."""
    api = _hub().HfApi(endpoint=_endpoint())
    info = api.model_info(model.repo, revision=model.revision, files_metadata=True)
    every = [
        _Remote(
            each.rfilename,
            int(each.size or 0),
            str(each.lfs.sha256) if each.lfs is not None else "",
            str(each.blob_id or ""),
        )
        for each in info.siblings
    ]
    every = [each for each in every if not {"..", "/"} & set(PurePosixPath(each.path).parts)]
    wanted = [each for each in every if any(fnmatchcase(each.path, glob) for glob in model.files)]
    if not any(each.path.endswith((".safetensors", ".bin")) for each in wanted):
        spare = [each for each in every if model.pickle and each.path == model.pickle]
        if not spare:
            raise WeightsMissing(
                f"{model.name}: {model.repo} holds no safetensors at commit {info.sha[:12]}; "
                "pickles are never loaded"
            )
        wanted += spare
    return str(info.sha), tuple(sorted(wanted, key=lambda each: each.size))


def _fetch(model: Model, revision: str, remotes: tuple[_Remote, ...], part: Path, progress: Progress) -> None:
    missing = sum(each.size for each in remotes) - sum(
        path.stat().st_size for path in part.rglob("*") if path.is_file()
    )
    if missing > shutil.disk_usage(part).free:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    for each in remotes:
        target = part / each.path
        progress(each.path, 0, each.size)
        if not target.is_file() or target.stat().st_size != each.size:
            _download(model, revision, each, part, progress)
        progress(each.path, each.size, each.size)


def _download(model: Model, revision: str, each: _Remote, part: Path, progress: Progress) -> None:
    """One file, through a partial one that a later pull goes on with.

    `hf_hub_download` would start every file again (huggingface_hub 2 gives its temporary files names of
    their own), which for gigabytes on a bad line never ends; its parts are public and do resume.
    """
    hub = _hub()
    from huggingface_hub.file_download import http_get

    url = hub.hf_hub_url(model.repo, each.path, revision=revision, endpoint=_endpoint())
    found = hub.get_hf_file_metadata(url, endpoint=_endpoint())
    headers = hub.utils.build_hf_headers()
    if urlsplit(found.location).netloc != urlsplit(url).netloc:
        # The storage's address carries its own signature; the token is for the hub alone.
        headers.pop("authorization", None)
    partial = part / PARTIAL / (each.sha256 or each.blob or "unnamed")
    partial.parent.mkdir(exist_ok=True)
    with partial.open("ab") as file:
        http_get(
            found.location,
            file,
            resume_size=partial.stat().st_size,
            headers=headers,
            expected_size=each.size,
            displayed_filename=each.path,
            tqdm_class=_meter(each, progress),
        )
    (part / each.path).parent.mkdir(parents=True, exist_ok=True)
    partial.replace(part / each.path)


def _meter(each: _Remote, progress: Progress) -> type[Any]:
    """The part of a tqdm bar that the hub library uses: draws nothing and passes the bytes on."""

    class Meter:
        def __init__(self, *_: Any, initial: int = 0, **__: Any) -> None:
            self.here = initial

        def update(self, n: float = 1) -> None:
            self.here += int(n)
            progress(each.path, self.here, each.size)

        def __enter__(self) -> Meter:
            return self

        def __exit__(self, *_: object) -> None:
            self.close()

        def close(self) -> None:
            """There is nothing to close."""

    return Meter


def _settle(model: Model, revision: str, remotes: tuple[_Remote, ...], part: Path) -> Lock:
    """Hold every file to its hashes, turn a pickle into safetensors, and leave nothing else in the folder."""
    digests: dict[str, str] = {}
    for each in remotes:
        digests[each.path] = _checked(model, part, each)
    shutil.rmtree(part / PARTIAL, ignore_errors=True)
    converted = ""
    if model.pickle in digests:
        converted = f"{model.pickle} sha256:{digests.pop(model.pickle)}"
        _convert(model, part / model.pickle, part / "model.safetensors")
        (part / model.pickle).unlink()
        digests["model.safetensors"] = file_sha256(part / "model.safetensors")
    for path in [path for path in part.rglob("*") if path.is_file()]:
        if path.relative_to(part).as_posix() not in digests:
            path.unlink()
    return Lock(name=model.name, repo=model.repo, revision=revision, sha256=digests, converted_from=converted)


def _checked(model: Model, part: Path, each: _Remote) -> str:
    """The file's SHA-256; a file with a wrong one is deleted, so that the next pull downloads it again."""
    path = part / each.path
    found = file_sha256(path)
    published = model.sha256.get(each.path, "")
    wrong = ""
    if published and found != published:
        wrong = f"sha256 {found}, published {published}"
    elif each.sha256 and found != each.sha256:
        wrong = f"sha256 {found}, the hub promised {each.sha256}"
    elif not each.sha256 and each.blob and _git_blob(path) != each.blob:
        wrong = f"not the file that the hub promised (git blob {each.blob})"
    elif each.path == model.pickle and not published:
        wrong = "a pickle without a published hash"
    if wrong:
        path.unlink()
        raise WeightsInvalid(
            f"{model.name}: {each.path} from {_endpoint()} is wrong: {wrong}; it was deleted"
        )
    return found


def _git_blob(path: Path) -> str:
    """Git's object name of a file: SHA-1 over `blob <size>\\0` and the bytes."""
    data = path.read_bytes()
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


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


def _put_in_place(part: Path, home: Path) -> None:
    if not home.exists():
        part.rename(home)
        return
    old = home.with_name(f".{home.name}.old")
    shutil.rmtree(old, ignore_errors=True)
    home.rename(old)
    part.rename(home)
    shutil.rmtree(old, ignore_errors=True)


@contextmanager
def _one_line(model: Model, part: Path) -> Iterator[None]:
    """What can go wrong on the way, each as one line of ours."""
    import httpx2
    from huggingface_hub import errors

    where = f"{model.repo} at {_endpoint()}"
    kept = f"what came so far is kept in {part}"
    try:
        yield
    except errors.GatedRepoError as error:
        raise WeightsMissing(
            f"{model.name}: {where} is gated: accept its licence there, set HF_TOKEN, and pull again"
        ) from error
    except errors.RevisionNotFoundError as error:
        raise WeightsMissing(f"{model.name}: {where} has no commit {model.revision}") from error
    except errors.RepositoryNotFoundError as error:
        raise WeightsMissing(
            f"{model.name}: no such repository, or not for you: {where}; check HF_ENDPOINT and HF_TOKEN"
        ) from error
    except errors.OfflineModeIsEnabled as error:
        raise WeightsMissing(
            f"{model.name}: HF_HUB_OFFLINE forbids the network: unset it for the pull, or put the files into "
            f"{part.with_name(part.name.removeprefix('.').removesuffix('.part'))} yourself"
        ) from error
    except errors.HfHubHTTPError as error:
        raise WeightsMissing(f"{model.name}: {where} answered {_first_line(error)}; {kept}") from error
    except (errors.LocalEntryNotFoundError, httpx2.HTTPError, ConnectionError, TimeoutError) as error:
        fault = _first_line(error)
        raise WeightsMissing(
            f"{model.name}: {where} cannot be reached ({fault}): is this machine online? {kept}"
        ) from error
    except OSError as error:
        full = error.errno == errno.ENOSPC
        fault = f"no space left, {model.size / 1e9:.1f} GB are needed" if full else _first_line(error)
        raise ModelError(f"{model.name}: {part.parent}: {fault}") from error


def _first_line(error: BaseException) -> str:
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
