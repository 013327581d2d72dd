"""Libraries with a damaged file, and what questions, searches, `rag index` and `rag doctor` make of them.

    python -m benchmarks.damage_library --times 100 [--seed 0] [--sources-gone 0.2] [--hindered 0.2]

A small library is made once. Each trial copies it and damages one file that is chosen at random: a byte is
flipped, the file is cut or removed; or the schema number is an older or a newer one. Then `rag doctor` must
find it; a question, a search and an unchanged `rag index` must answer as before or end with one line; and
`rag index`, or `rag doctor --repair` and `rag index`, must lead back to the same dump. Where the sources are
gone, nothing may be lost that could be read, without being said.

Of the trials a share is hindered instead: `rag index` of a changed corpus, or a repair, on a file system of
its own that fills up at some write; a library on a read-only file system; a file or folder of it without
permission, for another user; a clock that jumps at each look. What fails ends with one line, and once the
cause is gone the same command leads to the rows of an undisturbed run. Prints outcomes by damage.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock

from benchmarks.options import option_parser
from rag.errors import LibraryTooNew, RagError
from rag.indexing import index
from rag.library import Library
from rag.settings import load_settings
from rag.store.repair import Repair, repair
from tests.fakes.library_dump import dump
from tests.fakes.synthetic import write_video
from tests.fakes.tiny_models import save_clip
from tests.fakes.tiny_text import write_tiny_text

QUERIES = ("torque wrench", "oil the chain", "two drops of oil")
NOT_DAMAGED = {"writer.lock", "readers.lock"}
"""Empty files."""
UNFELT = "without effect"
BOUND = 3
"""Rows above which tables get index files here."""


def flip(path: Path, chance: random.Random) -> str:
    """One bit or more of one byte."""
    content = bytearray(path.read_bytes())
    at = chance.randrange(len(content))
    content[at] ^= chance.randrange(1, 256)
    path.write_bytes(content)
    return f"byte {at}"


def cut(path: Path, chance: random.Random) -> str:
    """The end of a file."""
    size = chance.randrange(path.stat().st_size)
    os.truncate(path, size)
    return f"to {size} bytes"


def remove(path: Path, _: random.Random) -> str:
    """The whole of it."""
    path.unlink()
    return ""


def schema(number: int) -> Callable[[Path, random.Random], str]:
    """Another number of the schema, as another version of this program would leave it."""

    def write(path: Path, _: random.Random) -> str:
        import lancedb

        table = lancedb.connect(path / "tables").open_table("meta")
        table.update(where="key = 'schema'", values={"value": str(number)})
        return f"schema {number}"

    return write


NOBODY = 65534
"""A user without privileges."""
JUMP_SECONDS = 20 * 365 * 86400.0

DAMAGES: dict[str, tuple[float, Callable[[Path, random.Random], str]]] = {
    "flipped": (0.6, flip),
    "cut": (0.17, cut),
    "missing": (0.17, remove),
    "older schema": (0.03, schema(1)),
    "newer schema": (0.03, schema(99)),
}


@dataclass
class Result:
    """What a series of damages showed."""

    outcomes: Counter[tuple[str, str]] = field(default_factory=Counter)
    unfelt: Counter[str] = field(default_factory=Counter)
    """Folders of damaged files that `rag doctor` says nothing of, and that changed no answer and no row."""
    faults: list[str] = field(default_factory=list)

    def lines(self) -> Iterator[str]:
        """A table."""
        kinds = sorted({kind for kind, _ in self.outcomes})
        names = sorted({name for _, name in self.outcomes})
        yield f"| damage | {' | '.join(names)} |"
        yield f"| --- |{' ---: |' * len(names)}"
        for kind in kinds:
            yield f"| {kind} | {' | '.join(str(self.outcomes[kind, name]) for name in names)} |"
        yield f"{UNFELT}: {', '.join(f'{folder} {n}' for folder, n in self.unfelt.most_common())}"
        yield f"{len(self.faults)} faults"


class Bench:
    """A corpus, its library, and the answers of that."""

    def __init__(self, folder: Path) -> None:
        self.corpus = folder / "corpus"
        self.corpus.mkdir(parents=True)
        write_video(self.corpus / "long.mp4", 34, fps=4, subtitles=[(1, 4, "The torque wrench clicks.")])
        write_video(self.corpus / "sound.mp4", 6, fps=4, audio=True)
        (self.corpus / "sound.srt").write_text("1\n00:00:01,000 --> 00:00:03,000\nOil the chain.\n")
        (self.corpus / "notes.md").write_text("# Chain\n\nUse two drops of oil.\n")
        (self.corpus / "more.md").write_text("# Wrench\n\nSet it to 25 Nm.\n")
        self.other = shutil.copytree(self.corpus, folder / "other corpus")
        (self.other / "sound.srt").write_text("1\n00:00:01,000 --> 00:00:03,000\nTin the tip.\n")
        (self.other / "more.md").write_text("# Solder\n\nIt melts at 217 degrees.\n")
        self.library = folder / "library"
        flags = {
            "library": self.library,
            "encoder.text": str(write_tiny_text(folder / "tiny-text")),
            "encoder.image": f"hf:{save_clip(folder / 'tiny-clip')}",
            "encoder.backend": "torch-fp32",
            "encoder.batch": 4,
            "ocr.mode": "off",
            "search.exact_rows": BOUND,
            "video.decoders": 1,
        }
        self.settings = load_settings(flags=flags)
        index([self.corpus], settings=self.settings)
        # Once more, so that nothing is left to do.
        index([self.corpus], settings=self.settings)
        for path in folder.rglob("*.safetensors"):
            path.chmod(0o644)  # another user reads them, too
        self.kept = folder / "kept"
        shutil.copytree(self.library, self.kept)
        self.rows = list(dump(self.library))
        self.expected = self.answers()
        with self.changed():
            self.index()
            self.index()
            self.rows_changed = list(dump(self.library))

    def start(self) -> Path:
        """The library as it was."""
        shutil.rmtree(self.library)
        shutil.copytree(self.kept, self.library)
        return self.library

    @contextlib.contextmanager
    def changed(self) -> Iterator[None]:
        """The corpus with other subtitles, and another document."""
        _swap(self.corpus, self.other)
        try:
            yield
        finally:
            _swap(self.corpus, self.other)

    @contextlib.contextmanager
    def mounted(self) -> Iterator[Callable[[str], object]]:
        """The library as it was, on a file system of its own; gives what mounts that with other options."""

        def mount(options: str) -> None:
            subprocess.run(["mount", "-o", f"remount,{options}", str(self.library)], check=True)

        shutil.rmtree(self.library)
        self.library.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", str(self.library)], check=True)
        try:
            shutil.copytree(self.kept, self.library, dirs_exist_ok=True)
            yield mount
        finally:
            subprocess.run(["umount", "-l", str(self.library)], check=True)
            shutil.copytree(self.kept, self.library, dirs_exist_ok=True)

    def answers(self) -> list[str]:
        """What questions and searches find."""
        with Library.open(settings=self.settings) as library:
            found = [json.dumps([str(hit) for hit in library.search(text)]) for text in QUERIES]
            answer = library.ask(QUERIES[1])
            return [*found, json.dumps([answer.text, [str(each) for each in answer.citations]])]

    def index(self) -> None:
        """An unchanged run."""
        index([self.corpus], settings=self.settings)

    def broken(self) -> list[str]:
        """What `rag doctor --full` finds."""
        try:
            with Library.open(settings=self.settings) as library:
                return [check.name for check in library.doctor(full=True) if check.ok is False]
        except RagError as error:
            return [_one_line(error)]


def _swap(one: Path, other: Path) -> None:
    aside = one.with_name("aside")
    one.rename(aside)
    other.rename(one)
    aside.rename(other)


def _one_line(error: RagError) -> str:
    if "\n" in str(error):
        raise AssertionError(f"more than a line: {error}") from error
    return str(error)


class Damager:
    """Damages libraries and judges what follows."""

    def __init__(self, bench: Bench, seed: int, sources_gone: float, hindered: float) -> None:
        self._bench = bench
        self._random = random.Random(seed)
        self._gone = sources_gone
        self._hindered = hindered
        self.result = Result()

    def trial(self, number: int) -> None:
        """One damage."""
        chance, bench = self._random, self._bench
        library = bench.start()
        if chance.random() < self._hindered:
            kind, hinder = chance.choice([*self._hindrances().items()])
            self._count(f"{number}: {kind}", kind, hinder)
            return
        (kind,) = chance.choices([*DAMAGES], [weight for weight, _ in DAMAGES.values()])
        files = sorted(p for p in library.rglob("*") if p.is_file() and p.name not in NOT_DAMAGED)
        path = library if "schema" in kind else chance.choice(files)
        what = DAMAGES[kind][1](path, chance)
        gone = chance.random() < self._gone and "schema" not in kind
        name = f"{number}: {kind} {path.relative_to(library)} {what}{', sources gone' if gone else ''}"
        outcome = self._count(name, kind, lambda: self._judge(kind, gone=gone))
        if outcome == UNFELT and path != library:
            parts = path.relative_to(library).parts
            self.result.unfelt[
                "/".join(part for part in parts[:-1] if ".lance" not in part) or path.name
            ] += 1

    def _count(self, name: str, kind: str, judge: Callable[[], str]) -> str:
        try:
            outcome = judge()
        except RagError as error:
            outcome = f"fault: {type(error).__name__}: {error}"
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            outcome = f"fault: {traceback.format_exc(limit=-4)}"
        if outcome.startswith("fault"):
            self.result.faults.append(f"{name}: {outcome}")
            print(self.result.faults[-1], flush=True)
            outcome = "fault"
        self.result.outcomes[kind, outcome] += 1
        return outcome

    def _hindrances(self) -> dict[str, Callable[[], str]]:
        """What can be played on this machine: mounts and other users only by root."""
        found = {"clock jumps": self._clock}
        if os.geteuid() == 0:
            found |= {"disk full": self._full, "no permission": self._forbidden}
            found |= {"full in a repair": self._full_repair, "read-only": self._read_only}
        return found

    def _tried(self, *commands: Callable[[], object]) -> list[str]:
        """The lines by which commands failed."""
        said = []
        for command in commands:
            try:
                command()
            except RagError as error:
                said.append(_one_line(error))
        return said

    def _recovered(self, rows: Sequence[str], said: Sequence[str]) -> str:
        """After the cause is gone and the command was run again."""
        bench = self._bench
        if left := bench.broken():
            return f"fault: broken after {said}: {left}"
        if [*dump(bench.library)] != rows:
            return f"fault: another dump after {said}"
        return "one line, then whole" if said else UNFELT

    def _room(self, most: int) -> str:
        """A size at which the file system is full after `most` more pages or fewer, more often after few."""
        held = os.statvfs(self._bench.library)
        pages = held.f_blocks - held.f_bfree + int(most * self._random.random() ** 2)
        return f"size={held.f_frsize * pages}"

    def _full(self) -> str:
        bench = self._bench
        with bench.mounted() as mount, bench.changed():
            mount(self._room(60))
            said = self._tried(bench.index)
            self._tried(bench.answers, bench.broken)
            mount("size=1g")
            bench.index()
            return self._recovered(bench.rows_changed, said)

    def _full_repair(self) -> str:
        bench, chance = self._bench, self._random
        with bench.mounted() as mount:
            files = [p for p in bench.library.rglob("*") if p.is_file() and p.name not in NOT_DAMAGED]
            chance.choice((flip, cut, remove))(chance.choice(sorted(files)), chance)
            mount(self._room(20))
            said = self._tried(self._repair, bench.index)
            mount("size=1g")
            self._repair()
            bench.index()
            return self._recovered(bench.rows, said)

    def _repair(self) -> None:
        repair(self._bench.library, confirm=lambda _: True, exact_rows=BOUND)

    def _read_only(self) -> str:
        """Questions are answered as before; what would write says that it cannot."""
        bench = self._bench
        with bench.mounted() as mount:
            mount("ro")
            if bench.answers() != bench.expected:
                return "fault: another answer"
            with bench.changed():
                said = self._tried(bench.index, self._repair, bench.broken)
            mount("rw")
            bench.index()
            return self._recovered(bench.rows, said) if said else "fault: nothing said"

    def _forbidden(self) -> str:
        """A file or folder that another user, whose the library is, cannot read or write."""
        bench, chance = self._bench, self._random
        for path in (bench.library, *bench.library.rglob("*")):
            os.chown(path, NOBODY, NOBODY)
        path = chance.choice(sorted(bench.library.rglob("*")))
        mode, path_mode = path.stat().st_mode, chance.choice((0o000, 0o444))
        path.chmod(path_mode)
        os.seteuid(NOBODY)
        try:
            broken = bench.broken()
            said = self._tried(bench.index)
            try:
                if bench.answers() != bench.expected:
                    return "fault: another answer"
            except RagError as error:
                said.append(_one_line(error))
                if not broken:
                    return f"fault: {path} {path_mode:o}: doctor finds nothing where a question says {error}"
        finally:
            os.seteuid(0)
            path.chmod(mode)
        bench.index()
        return self._recovered(bench.rows, said)

    def _clock(self) -> str:
        """Backward and forward by up to 20 years, at each look; that of the kernel, which names times of
        files, goes on."""
        bench, chance, now, now_ns = self._bench, self._random, time.time, time.time_ns

        def jump() -> float:
            return chance.uniform(-JUMP_SECONDS, JUMP_SECONDS)

        with (
            mock.patch("time.time", side_effect=lambda: now() + jump()),
            mock.patch("time.time_ns", side_effect=lambda: now_ns() + int(jump() * 1e9)),
            bench.changed(),
        ):
            bench.index()
            said = self._tried(bench.answers)
            if bench.broken() or said:
                return f"fault: {said} {bench.broken()}"
        with bench.changed():
            bench.index()
            return self._recovered(bench.rows_changed, said)

    def _judge(self, kind: str, *, gone: bool) -> str:
        bench = self._bench
        broken = bench.broken()
        said = ""
        try:
            if bench.answers() != bench.expected:
                return "fault: another answer, silently"
        except LibraryTooNew as error:
            return "refused" if kind == "newer schema" else f"fault: {error}"
        except RagError as error:
            said = _one_line(error)
        if said and not broken:
            return f"fault: doctor finds nothing where a question says {said}"
        if gone:
            return self._without_sources(damaged=bool(broken))
        outcome = "made again by rag index" if broken else UNFELT
        (reason,) = self._tried(bench.index) or ("",)
        if reason and not broken:
            return f"fault: doctor finds nothing where rag index says {reason}"
        if reason or (broken and bench.broken()):
            self._repair()
            bench.index()
            outcome = "repaired"
        if left := bench.broken():
            return f"fault: broken after {outcome}: {left}"
        if [*dump(bench.library)] != bench.rows:
            return f"fault: another dump after {outcome}"
        return outcome if bench.answers() == bench.expected else f"fault: another answer after {outcome}"

    def _without_sources(self, *, damaged: bool) -> str:
        """Nothing is indexed again: what was there and is not there afterwards must have been said."""
        bench = self._bench
        hidden = bench.corpus.with_name("hidden")
        bench.corpus.rename(hidden)
        try:
            done: Repair = repair(bench.library, confirm=lambda _: True, exact_rows=BOUND)
            if left := [name for name in bench.broken() if name not in {"indexed files"}]:
                return f"fault: broken after the repair: {left}"
            lost = {*bench.rows} - {*dump(bench.library)}
            if lost and not (done.damaged or done.lost or done.measured_again):
                return f"fault: {len(lost)} rows are lost, and nothing is said: {sorted(lost)[0][:200]}"
            if bench.answers() == bench.expected:
                return "sources gone: whole"
            return "sources gone: said" if done.damaged or done.lost else "fault: another answer"
        except RagError as error:
            _one_line(error)
            return "sources gone: one line" if damaged else f"fault: {error}"
        finally:
            hidden.rename(bench.corpus)


def damage_runs(
    folder: Path, times: int, *, seed: int = 0, sources_gone: float = 0.2, hindered: float = 0.2
) -> Result:
    """Damage `times` copies of one library in `folder`; a share of `hindered` is hindered instead."""
    damager = Damager(Bench(folder), seed, sources_gone, hindered)
    with contextlib.suppress(KeyboardInterrupt):  # what was seen until then is printed
        for number in range(times):
            damager.trial(number)
    return damager.result


def main() -> None:
    """Print the table; the exit status is 1 where anything was wrong."""
    parser = option_parser(__doc__)
    parser.add_argument("--times", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--sources-gone", type=float, default=0.2)
    parser.add_argument("--hindered", type=float, default=0.2)
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    begun = time.process_time()
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)  # another user looks into it, too
        shares = {"sources_gone": given.sources_gone, "hindered": given.hindered}
        result = damage_runs(Path(name), given.times, seed=given.seed, **shares)
    for line in result.lines():
        print(line)
    print(f"{time.process_time() - begun:.0f} s of CPU, without that of decoders")
    raise SystemExit(1 if result.faults else 0)


if __name__ == "__main__":
    main()
