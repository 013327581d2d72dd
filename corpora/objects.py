"""Object stores, `s3://`, `gs://` and `az://`, behind the calls the product needs.

Credentials come from the environment or the machine's role, as each provider's own tools read them; no
setting holds one.
"""

from __future__ import annotations

import os
import re
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

from corpora.errors import RagError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from corpora.settings import StorageSettings

SCHEMES = ("s3://", "gs://", "az://")
CHUNK = 8 * 2**20
"""Bytes read at once of an object that is copied."""
READ_ATTEMPTS = 6
"""Most times that Lance sends a request that reads, whatever its options: a listing six, a range four."""
PROBES = ".probes"
"""Objects below this path are of `ObjectStore.require_conditional_writes`; a killed one leaves its own."""
INSTALL = "install it with: pip install -e '.[storage]' (in the checkout)"


class StoreError(RagError):
    """An object store that refuses, fails or cannot be reached; the message names the address."""


class Refused(StoreError):
    """A conditional write whose condition does not hold: the object is there already, or has changed."""


class Unaddressable(StoreError):
    """A listing stopped at a key that the client cannot name: with an empty part, `.` or `..` as one, or a
    control character."""

    def __init__(self, where: str, key: str) -> None:
        super().__init__(
            f"{where}: the key {key!r} has an empty part, '.' or '..' as one, or a control character, by "
            "which no object can be read; rename the object"
        )
        self.key = key
        """The key in its bucket."""


class ConditionsIgnored(StoreError):
    """A store that ignores the conditions of conditional writes: no library can be kept on it."""


def is_url(path: str | os.PathLike[str]) -> bool:
    """Whether a path names an object store and not a file.

    Raises `UsageError` for an address of another kind: as a path it would be a folder named like one.
    """
    text = os.fspath(path)
    if text.startswith(SCHEMES):
        return True
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", text):
        raise UsageError(f"{text}: no such kind of address; there are {', '.join(SCHEMES)}")
    kind, colon, rest = text.partition(":")
    if f"{kind}://" in SCHEMES and colon and rest.startswith("/"):
        raise UsageError(f"{text}: an address begins with {kind}://; a folder of that name is ./{text}")
    return False


@dataclass(frozen=True, slots=True)
class StoredObject:
    """An object as its store describes it."""

    key: str
    """Below the address of the store that listed it."""
    size: int
    etag: str
    """Changes with the content; it is no hash of it. Empty where the store gives none."""
    modified: datetime
    """The time of change, by the store's clock."""

    @property
    def modified_ns(self) -> int:
        """Nanoseconds since 1970; stores count seconds or milliseconds."""
        return (self.modified - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1) * 1000


@dataclass(frozen=True, slots=True)
class StoreAddress:
    """The address of a store with the settings by which it is reached; a path-like, shown as its address."""

    url: str
    """Without a slash at its end."""
    settings: StorageSettings

    def __fspath__(self) -> str:
        return self.url

    def __str__(self) -> str:
        return self.url


class ObjectStore:
    """The objects below one address; made by `open_store`. Safe to share between threads."""

    def __init__(
        self, url: str, reads: Any, writes: Any, options: dict[str, str], reading: dict[str, str]
    ) -> None:
        """`reads`, `writes`: clients of the store."""
        self.url = url
        """Without a slash at its end."""
        self.options = options
        """The options of the same store for LanceDB's `storage_options`."""
        self.reading_options = options | reading
        """The same for whoever only reads: a store that no longer answers is noticed earlier."""
        self._reads, self._writes = reads, writes

    def list(self, prefix: str = "") -> Iterator[StoredObject]:
        """Every object whose key begins with the path `prefix`, in no particular order. Raises
        `Unaddressable`."""
        with store_errors(self.url):
            for batch in self._reads.list(prefix or None, chunk_size=1000):
                yield from map(_described, batch)

    def list_addressable(
        self, prefix: str, skip: Callable[[Unaddressable], object]
    ) -> Iterator[StoredObject]:
        """List without folders in which a key stops a listing; `skip` is called with that key."""
        folders: tuple[str, ...] = ()
        try:
            found: Iterable[StoredObject] = list(self.list(prefix))
        except Unaddressable:
            try:
                found, folders = self._folder(prefix)
            except Unaddressable as error:
                skip(error)
                return
        yield from found
        for folder in folders:
            yield from self.list_addressable(folder, skip)

    def list_folder(self, prefix: str = "") -> Iterator[StoredObject]:
        """List without what is in folders below `prefix`."""
        yield from self._folder(prefix)[0]

    def folders(self, prefix: str = "") -> tuple[str, ...]:
        """The last part of every path below the path `prefix` that has objects below it, sorted."""
        return tuple(sorted(path.rpartition("/")[2] for path in self._folder(prefix)[1]))

    def _folder(self, prefix: str) -> tuple[tuple[StoredObject, ...], tuple[str, ...]]:
        """The objects in a path, and the paths one level below it that have some."""
        with store_errors(self.url):
            found = self._reads.list_with_delimiter(prefix or None)
        return (
            tuple(map(_described, found["objects"])),
            tuple(path.rstrip("/") for path in found["common_prefixes"]),
        )

    def head(self, key: str) -> StoredObject | None:
        """Look an object up; None where there is no such object."""
        with store_errors(f"{self.url}/{key}"):
            try:
                return _described(self._reads.head(key))
            except FileNotFoundError:
                return None

    def read(self, key: str) -> tuple[bytes, StoredObject] | None:
        """Content and description of one state of an object; None where there is none."""
        with store_errors(f"{self.url}/{key}"):
            try:
                result = self._reads.get(key)
            except FileNotFoundError as error:
                if re.search(NO_BUCKET, str(error)):
                    raise store_failure(self.url, str(error)) from error
                return None
            return bytes(result.bytes()), _described(result.meta)

    def parts(self, key: str) -> tuple[StoredObject, Iterator[bytes]]:
        """One state of an object, in parts of `CHUNK` bytes. Raises `StoreError` without one, and the parts
        raise `Refused` once the object is another."""
        found = self.head(key)
        if found is None:
            raise StoreError(f"{self.url}/{key}: no such object")
        starts = range(0, found.size, CHUNK)
        return found, (self.read_range(key, at, min(CHUNK, found.size - at), found.etag) for at in starts)

    def read_range(self, key: str, start: int, length: int, etag: str) -> bytes:
        """`length` bytes from `start` of that very state. Raises `Refused` where the object has changed."""
        options: dict[str, Any] = {"range": (start, start + length)}
        if etag:
            options["if_match"] = etag
        with store_errors(f"{self.url}/{key}"):
            return bytes(self._reads.get(key, options=options).bytes())

    def create(self, key: str, content: bytes) -> str:
        """Write an object that is not there; returns its ETag. Raises `Refused` where it is there already."""
        return self._put(key, content, "create")

    def replace(self, key: str, content: bytes, etag: str) -> str:
        """Write over that very state; returns the new ETag. Raises `Refused` where the object has changed."""
        return self._put(key, content, {"e_tag": etag})

    def put(self, key: str, content: bytes | Path) -> str:
        """Write an object, whatever is there; returns its ETag."""
        return self._put(key, content, "overwrite")

    def require_conditional_writes(self) -> None:
        """Raises `ConditionsIgnored` for a store that ignores the conditions of `create` and `replace`.

        There, of two writers at once one would lose rows without an error. Writes, and deletes, one object
        below `PROBES`.
        """
        key = f"{PROBES}/{uuid.uuid4().hex}"
        first = self.put(key, b"1")
        try:
            self.put(key, b"2")
            stale: tuple[Any, ...] = ("create", {"e_tag": first})
            for mode in stale:
                try:
                    self._put(key, b"3", mode)
                except Refused:
                    continue
                raise ConditionsIgnored(
                    f"{self.url}: this store ignores conditional writes (If-None-Match, If-Match), so that "
                    "two writers would lose rows; name a store that honours them"
                )
        finally:
            self.delete([key])

    def _put(self, key: str, content: bytes | Path, mode: Any) -> str:
        with store_errors(f"{self.url}/{key}"):
            # Conditions hold for single requests alone: a content in several parts could not be refused.
            result = self._writes.put(key, content, mode=mode, use_multipart=False)
            return result["e_tag"] or ""

    def delete(self, keys: Iterable[str]) -> None:
        """Delete objects; those that are not there are skipped."""
        for key in keys:
            with store_errors(f"{self.url}/{key}"):
                try:
                    self._writes.delete(key)
                except FileNotFoundError:
                    continue


def _described(meta: Any) -> StoredObject:
    return StoredObject(meta["path"], meta["size"], meta["e_tag"] or "", meta["last_modified"])


@contextmanager
def store_errors(where: str) -> Iterator[None]:
    """Raise what a store says as a `StoreError` of one line that names the address `where`."""
    from obstore.exceptions import AlreadyExistsError, BaseError, PreconditionError

    try:
        yield
    except (AlreadyExistsError, PreconditionError) as error:
        raise Refused(f"{where}: it is there already, or has changed meanwhile") from error
    except FileNotFoundError as error:
        raise StoreError(f"{where}: no such object") from error
    except (BaseError, OSError) as error:
        if stopped := _UNADDRESSABLE.search(str(error)):
            raise Unaddressable(where, stopped[1]) from error
        raise store_failure(where, str(error)) from error


_UNADDRESSABLE = re.compile(
    r'object with invalid path: .*?Path "(.*)"(?: contained|: Encountered)', re.DOTALL
)
NO_BUCKET = r"NoSuchBucket|ContainerNotFound|bucket does not exist"
FAILURES = (
    (
        r"169\.254\.1[67]|metadata\.google",
        "no credentials are in the environment, and this machine has no role by which it may read; set those "
        "of the store, such as AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
    ),
    (
        r" http://.*builder error",
        "the store's endpoint is not encrypted; to allow that, set storage.allow_http = true",
    ),
    (
        r"configured region|AuthorizationHeaderMalformed|PermanentRedirect|IllegalLocationConstraint",
        "the bucket is in another region or at another endpoint; check storage.region and storage.endpoint",
    ),
    (NO_BUCKET, "there is no such bucket; check the address"),
    (
        r"\b40[13] |AccessDenied|InvalidAccessKey|SignatureDoesNotMatch|[Cc]redential",
        "access is refused; check the credentials in the environment and what they allow",
    ),
    (
        r"\b(429|5\d\d) |SlowDown|Throttl|TooManyRequests",
        "the store is too busy or fails, after all retries; run the same command again, nothing is lost",
    ),
    (
        r"error sending request|HTTP error|[Cc]onnection|timed out|[Tt]imeout|dns error",
        "the store is not reached; check the network and storage.endpoint, then run the same command again",
    ),
)
"""Patterns in what the client says, and what is wrong, with what to do."""
_CLIENT = re.compile(r"Generic \w+ error|Error performing|error sending request|Server returned non-2xx")


def is_failure(words: str) -> bool:
    """Whether this is what the client of an object store says, as LanceDB passes it on."""
    return _CLIENT.search(words) is not None


def store_failure(where: str | os.PathLike[str], words: str) -> StoreError:
    """The error of the address `where`: one line on what failed and what to do, out of the words of the
    client of an object store."""
    remedy = "check the address, the credentials in the environment and [storage]"
    for pattern, line in FAILURES:
        if re.search(pattern, words):
            what, _, remedy = line.partition("; ")
            return StoreError(f"{where}: {what} ({_reason(words)}); {remedy}")
    return StoreError(f"{where}: {_reason(words)}; {remedy}")


_REPLY = re.compile(r"<Code>(.*?)</Code>(?:.*?<Message>(.*?)</Message>)?", re.DOTALL)


def _reason(words: str) -> str:
    """What the store replied, else what the client says, without debugging text, Lance's own places, and
    queries of addresses, which may hold a signature."""
    text = re.sub(r"(https?://[^\s?]*)\?\S*", r"\1", words.split("\n\nDebug source", maxsplit=1)[0])
    text = re.sub(r"(External error|LanceError\(IO\)|Generic N/A error): |, \S+\.rs:[0-9:]+", "", text)
    if reply := _REPLY.search(text):
        text = ": ".join(part for part in reply.groups() if part)
    return " ".join(text.split())[:300]


def open_store(url: str, settings: StorageSettings) -> ObjectStore:
    """The store at `s3://bucket/prefix`, `gs://...`, `az://...`; nothing is contacted yet.

    Raises `UsageError` for an address without a bucket, and where the package for stores is missing.
    """
    # "s3://" is "s3:" where blanks and slashes at its end were left out.
    scheme, rest = url.partition(":")[0], url.partition("://")[2].rstrip("/")
    address = f"{scheme}://{rest}"
    try:
        import obstore  # noqa: F401 (only to see whether it is there)
    except ImportError as error:
        raise UsageError(f"{address}: reading object stores needs the package obstore; {INSTALL}") from error
    if not rest.partition("/")[0]:
        raise UsageError(f"{address}: an address names a bucket, as in {scheme}://bucket/folder")
    return ObjectStore(address, *_clients(address, settings), *_lance_options(address, settings))


def _clients(url: str, settings: StorageSettings) -> tuple[Any, Any]:
    """For reading and for writing. What is written has the time limit as a whole, for its answer comes after
    it, and twice that with its resends; what is read may take any time while some of it arrives."""
    from obstore.store import from_url

    limit = timedelta(seconds=settings.timeout_seconds)
    silence = limit / READ_ATTEMPTS
    common = {"allow_http": settings.allow_http, "connect_timeout": min(timedelta(seconds=10), silence)}
    for_writing = {"timeout": limit}, 2 * limit
    for_reading = {"timeout": timedelta(days=30), "read_timeout": silence}, limit - silence
    with store_errors(url):
        reads, writes = (
            from_url(
                url,
                config=cast(Any, _options(url, settings)),
                client_options=cast(Any, common | client),
                retry_config={"max_retries": settings.retries, "retry_timeout": resends},
            )
            for client, resends in (for_reading, for_writing)
        )
    return reads, writes


def _lance_options(url: str, settings: StorageSettings) -> tuple[dict[str, str], dict[str, str]]:
    """The options for writing, and those that differ for reading."""
    silence = settings.timeout_seconds / READ_ATTEMPTS
    for_writing = {
        **_options(url, settings),
        "allow_http": str(settings.allow_http).lower(),
        "timeout": _milliseconds(settings.timeout_seconds),
        "client_max_retries": str(settings.retries),
        "client_retry_timeout": f"{2 * settings.timeout_seconds:.0f}",
        # Another layer of resends, of all that was sent again in vain.
        "lance_aimd_max_retries": "0",
    }
    for_reading = {
        "connect_timeout": _milliseconds(min(10, silence)),
        "read_timeout": _milliseconds(silence),
        "client_retry_timeout": f"{int(silence)}",
    }
    return for_writing, for_reading


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1000:.0f}ms"


@lru_cache(maxsize=64)
def _bucket(address: str, settings: StorageSettings) -> ObjectStore:
    return open_store(address, settings)


def locate(address: str, settings: StorageSettings) -> tuple[ObjectStore, str]:
    """The bucket of an address, opened once a process, and the key there; "" for the bucket itself.

    Keys are taken as they are, with `%`, blanks and all. Raises as `open_store`.
    """
    scheme, _, rest = address.partition("://")
    bucket, _, key = rest.partition("/")
    return _bucket(f"{scheme}://{bucket}", settings), key.rstrip("/")


FEW = 64
"""Objects of one folder that are asked for one by one; more are known by listing the folder."""
AT_ONCE = 16
"""Requests."""


def object_states(
    addresses: Iterable[str], storage: StorageSettings
) -> dict[str, StoredObject | StoreError | None]:
    """What each address has: None for no object, and the error where that cannot be seen."""
    from concurrent.futures import ThreadPoolExecutor

    folders: dict[str, list[str]] = {}
    for address in dict.fromkeys(addresses):
        folders.setdefault(address.rpartition("/")[0], []).append(address)
    states: dict[str, StoredObject | StoreError | None] = {}
    down: dict[str, StoreError | None] = {}
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for folder, inside in folders.items():
            bucket = folder.split("/")[2]
            if bucket not in down:
                down[bucket] = _unanswered(inside[0], storage)
            if (error := down[bucket]) is not None:
                states |= dict.fromkeys(inside, error)
                continue
            there = _listed(folder, storage) if len(inside) > FEW else None
            if there is not None:
                states |= {address: there.get(address) for address in inside}
            else:
                states |= zip(inside, pool.map(lambda each: _state(each, storage), inside), strict=True)
    return states


def _listed(folder: str, storage: StorageSettings) -> dict[str, StoredObject] | None:
    """The objects of a folder by their addresses; None where a key in it stops the listing."""
    try:
        store, key = locate(folder, storage)
        return {f"{store.url}/{found.key}": found for found in store.list_folder(key)}
    except Unaddressable:
        return None


def _state(address: str, storage: StorageSettings) -> StoredObject | StoreError | None:
    try:
        store, key = locate(address, storage)
        return store.head(key)
    except StoreError as error:
        return error


def _unanswered(address: str, storage: StorageSettings) -> StoreError | None:
    """What keeps a bucket from answering at all: neither for one object nor for what is beside it."""
    state = _state(address, storage)
    if not isinstance(state, StoreError):
        return None
    try:
        store, key = locate(address, storage)
        next(store.list(os.path.dirname(key)), None)
    except Unaddressable:
        return None
    except StoreError:
        return state
    return None


def _options(url: str, settings: StorageSettings) -> dict[str, str]:
    scheme = url.partition("://")[0]
    prefix = {"s3": "aws", "gs": "google", "az": "azure"}[scheme]
    options = {}
    if settings.endpoint:
        options[f"{prefix}_endpoint"] = settings.endpoint
    if settings.region and scheme == "s3":
        options["aws_region"] = settings.region
    return options
