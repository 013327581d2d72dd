"""The one boundary where errors of the storage libraries become errors of ours.

Lance says everything in words, inside OSError, ValueError or RuntimeError;
what the words mean is decided here and nowhere else.
"""

from __future__ import annotations

import errno
import logging
import os
import shlex
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager

from corpora.errors import os_reason
from corpora.objects import is_failure, is_url, store_failure
from rag.errors import LibraryBusy, LibraryCorrupt, LibraryError, LibraryFull, LibraryReadOnly, RagError
from rag.store.schema import COLUMNS

log = logging.getLogger(__name__)

FULL_WORDS = (
    "no space left",
    "storagefull",
    "disk quota exceeded",
    "os error 28",
    "os error 27",
    "file too large",
)
READ_ONLY_WORDS = ("permission denied", "read-only file system", "os error 13", "os error 30")
GONE_WORDS = ("not found", "no such file", "os error 2)")
# A filter that Lance refuses is a bug of ours, not damage.
OUR_FAULT_WORDS = ("sql filter", "schema mismatch")
CONFLICT_WORDS = ("incompatible transaction", "commit conflict", "already exists")
REPAIR = "to mend it: rag doctor --repair"
FULL_ERRNO = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
READ_ONLY_ERRNO = {errno.EACCES, errno.EPERM, errno.EROFS}


class TableGone(LibraryCorrupt):
    """A file of a table is missing: cleaned away under a pinned reader, or truly lost."""


def read_errors(folder: os.PathLike[str], table: str) -> AbstractContextManager[None]:
    """Map errors met while reading `table` of the library in `folder`."""
    return _mapped_errors(folder, table, "read")


def write_errors(folder: os.PathLike[str], table: str = "") -> AbstractContextManager[None]:
    """Map errors met while writing `table`, or a file of the library where `table` is empty."""
    return _mapped_errors(folder, table, "written")


@contextmanager
def _mapped_errors(folder: os.PathLike[str], table: str, done: str) -> Iterator[None]:
    try:
        yield
    except RagError:
        raise
    except (OSError, ValueError, RuntimeError, LookupError) as error:
        raise _mapped(error, folder, table, done) from error
    except BaseException as error:
        # A damaged file can make the Rust side panic, which arrives as a BaseException of its own.
        if type(error).__name__ not in {"PanicException", "RustPanic"}:
            raise
        raise _damaged(error, folder, table) from error


def require_columns(folder: os.PathLike[str], table: str, held: Iterable[str]) -> None:
    """Raise `LibraryCorrupt` where a table lacks its first column: a wiped manifest reads as empty."""
    columns = COLUMNS.get(table) or COLUMNS[table.partition("_")[0]]
    if (key := columns.partition(":")[0]) not in held:
        raise corrupt(folder, table, f"column {key} is missing")


def _mapped(error: Exception, folder: os.PathLike[str], table: str, done: str) -> Exception:
    words = str(error).lower()
    gone = "404 not found" in words and "nosuchbucket" not in words
    if is_url(folder) and is_failure(str(error)) and not gone:
        return store_failure(folder, str(error))
    if "failed to create temp dir" in words:
        return LibraryError(f"{folder}: there is no temporary folder; set TMPDIR to one that can be written")
    code = getattr(error, "errno", None)
    if code in FULL_ERRNO or any(part in words for part in FULL_WORDS):
        return LibraryFull(
            f"{folder}: the disk is full; free some space and run the same command again, nothing is lost"
        )
    if code in READ_ONLY_ERRNO or any(part in words for part in READ_ONLY_WORDS):
        return LibraryReadOnly(f"{folder}: the library cannot be {done}; check the folder's permissions")
    if not table and isinstance(error, OSError):
        reason = os_reason(error)
        return LibraryReadOnly(f"{folder}: no library can be kept here ({reason}); name another --library")
    if any(part in words for part in CONFLICT_WORDS):
        return LibraryBusy(
            f"{folder}: another writer has changed table {table} meanwhile, and nothing was written over "
            "that; run the same command again"
        )
    if not table or any(part in words for part in OUR_FAULT_WORDS):
        return error
    return _damaged(error, folder, table)


def _damaged(error: BaseException, folder: os.PathLike[str], table: str) -> LibraryCorrupt:
    """The words of Lance go to the log alone."""
    log.info("%s: table %s: %s", folder, table, error)
    words = str(error).lower()
    file = "a file of an index" if "_indices/" in words else "a file"
    if any(part in words for part in GONE_WORDS):
        return corrupt(folder, table, f"{file} is gone", TableGone)
    return corrupt(folder, table, f"{file} is damaged")


def corrupt(
    folder: os.PathLike[str], table: str, why: str, kind: type[LibraryCorrupt] = LibraryCorrupt
) -> LibraryCorrupt:
    """What cannot be read, and what to do about it, on one line."""
    remedy = f"{REPAIR} --library {shlex.quote(os.fspath(folder))}"
    return kind(f"{folder}: table {table} cannot be read ({why}); {remedy}")
