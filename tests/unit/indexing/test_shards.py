"""How contents are split into shards, what becomes of those whose workers die, and Ray without a cluster."""

import itertools
import socket
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar, Self

import pytest

from corpora.scan import FoundFile
from rag.errors import RagError, SettingsError
from rag.indexing import index, ray_workers
from rag.indexing.encoders import choose_encoders
from rag.indexing.planning import MEDIA_BYTES_A_SECOND, Group
from rag.indexing.ray_workers import RayPool
from rag.indexing.report import Progress
from rag.indexing.shards import Shard, split
from rag.settings import ClusterSettings, Settings, load_settings
from rag.store.layout import open_layout
from rag.store.reading import Reader
from tests.fakes.library_dump import dump
from tests.fakes.object_store import FakeStore

pytestmark = pytest.mark.usefixtures("tiny_text")


def group(name: str, seconds: int) -> Group:
    found = FoundFile(name, "video", seconds * MEDIA_BYTES_A_SECOND, 2, 3, (), name)
    return Group(name, (found,), (found,), ())


def test_parts_have_about_the_same_length_the_longest_first() -> None:
    groups = [group(str(n), length) for n, length in enumerate((60, 10, 20, 30, 29, 50))]
    parts = split(groups, 3)
    lengths = [sum(int(each.first.size / MEDIA_BYTES_A_SECOND) for each in part) for part in parts]
    assert lengths == [70, 70, 59]
    assert sorted(itertools.chain(*parts), key=lambda each: each.content_id) == groups
    assert len(split(groups[:2], 9)) == 2


def test_the_first_file_of_a_content_has_the_sidecars_of_all() -> None:
    one, other = (FoundFile(n, "video", 1, 2, 3, (f"{n}.srt",), n) for n in ("a", "b"))
    shard = Shard(Path("shard"), (Group("c", (one, other), (), ("a.srt", "b.srt", "elsewhere.srt")),))
    assert [found.sidecars for found in shard.files] == [("a.srt", "b.srt", "elsewhere.srt"), ("b.srt",)]


class InProcess:
    """As `RayPool`, in this process; the workers of a shard that has one of `deadly` die before its work."""

    workers = 2
    deadly: ClassVar[set[str]] = set()

    def __init__(self, settings: Settings, _: Progress) -> None:
        self._settings = settings

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing to end."""

    def choose(self) -> Any:
        return choose_encoders(self._settings).meta

    def run(self, work: Callable[..., Any], given: Sequence[Sequence[Any]]) -> Iterator[tuple[int, Any]]:
        for at, values in enumerate(given):
            dies = any(Path(found.path).name in self.deadly for found in values[0].files)
            yield at, None if dies else work(*values)


def settings_of(library: Path | str, **given: Any) -> Settings:
    flags = {"library": library, "ocr.mode": "off", "encoder.image": "none"}
    return load_settings(flags=flags | {name.replace("__", "."): value for name, value in given.items()})


def texts(folder: Path) -> Path:
    folder.mkdir()
    for n in range(5):
        (folder / f"{n}.md").write_text(f"# Bolts\n\nBolt {n} is too tight.\n" * (n + 1))
    return folder


def test_of_a_shard_whose_workers_die_each_file_is_tried_on_its_own(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("rag.indexing.shards.RayPool", InProcess)
    monkeypatch.setattr(InProcess, "deadly", {"3.md"})
    corpus, library = texts(tmp_path / "corpus"), tmp_path / "library"
    ray = settings_of(library, cluster__engine="ray")
    report = index([corpus], settings=ray)
    assert report.indexed == 4
    assert [(problem.path, problem.reason) for problem in report.problems] == [
        (str(corpus / "3.md"), "its worker died in each attempt")
    ]
    monkeypatch.setattr(InProcess, "deadly", set())
    assert (index([corpus], settings=ray).indexed, index([corpus], settings=ray).unchanged) == (1, 5)
    index([corpus], settings=settings_of(tmp_path / "plain"))
    assert list(dump(library)) == list(dump(tmp_path / "plain"))


def test_a_file_whose_workers_died_leaves_what_the_library_has(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("rag.indexing.shards.RayPool", InProcess)
    corpus, library = texts(tmp_path / "corpus"), tmp_path / "library"
    index([corpus], settings=settings_of(library))
    (corpus / "3.md").write_text("# Nuts\n\nA nut.\n")
    monkeypatch.setattr(InProcess, "deadly", {"3.md"})
    report = index([corpus], settings=settings_of(library, cluster__engine="ray"))
    assert len(report.problems) == 1
    with Reader.open(library) as reader:
        assert str(corpus / "3.md") in reader.files()


@pytest.mark.slow
def test_shards_go_by_way_of_the_store_where_the_library_is(tmp_path, monkeypatch, bucket: FakeStore) -> None:
    monkeypatch.setattr("rag.indexing.shards.RayPool", InProcess)
    storage = {f"storage__{name}": value for name, value in bucket.storage.model_dump().items()}
    corpus, library = texts(tmp_path / "corpus"), bucket.address("library")
    report = index([corpus], settings=settings_of(library.url, cluster__engine="ray", **storage))
    assert report.indexed == 5
    index([corpus], settings=settings_of(tmp_path / "plain"))
    assert list(dump(library)) == list(dump(tmp_path / "plain"))
    assert not open_layout(library).shards()


class FakeRay(ModuleType):
    """Ray with room for so many cores."""

    ended = False

    def init(self, **_: object) -> None: ...

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": 4.0}

    def shutdown(self) -> None:
        self.ended = True


@pytest.fixture
def ray(monkeypatch) -> FakeRay:
    """In place of the real one, in this process."""
    ray = FakeRay("ray")
    monkeypatch.setitem(sys.modules, "ray", ray)
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    return ray


def join(address: str) -> None:
    with RayPool(Settings(cluster=ClusterSettings(address=address)), Progress()):
        pass


def test_a_machine_without_room_for_a_worker_is_refused(ray: FakeRay) -> None:
    """Ray itself would wait for room without a word."""
    with pytest.raises(SettingsError, match=r"no room for a worker of 2 cores and 0.1 GPUs"):
        RayPool(Settings(cluster=ClusterSettings(worker_gpus=0.1)), Progress())
    assert ray.ended


@pytest.mark.usefixtures("ray")
def test_an_address_where_nothing_listens_is_refused_before_ray_asks_it() -> None:
    with socket.socket() as held:  # bound, and not listening
        held.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{held.getsockname()[1]}"
        with pytest.raises(RagError, match=rf"^{address}: no cluster of Ray .*; start one with: ray start"):
            join(address)


@pytest.fixture
def joining(tmp_path, monkeypatch) -> Path:
    """The module `ray` of the process that tries to join a cluster."""
    (tmp_path / "path").mkdir()
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "path"))
    return tmp_path / "path" / "ray.py"


@pytest.mark.usefixtures("ray")
@pytest.mark.parametrize("address", ["auto", "ray://127.0.0.1:1"])
def test_what_names_no_listener_is_left_to_ray(address: str, joining: Path) -> None:
    joining.write_text("from pathlib import Path\ndef init(**_): Path(__file__).with_name('asked').touch()\n")
    join(address)
    assert joining.with_name("asked").exists()


def test_an_error_of_ray_in_this_process_is_one_line(ray: FakeRay, monkeypatch) -> None:
    def fail(**_: object) -> None:
        raise ConnectionError("no node\nand more")

    monkeypatch.setattr(ray, "init", fail)
    with pytest.raises(RagError, match=r"^this machine: no cluster of Ray can be used there \(no node\)$"):
        join("")


@pytest.mark.usefixtures("ray")
@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (
            "import sys; print('a note'); print('a warning', file=sys.stderr); raise OSError('no node')",
            "no node",
        ),
        ("import os; os.abort()", "exit status -6"),
        ("import time; time.sleep(60)", "no answer in 0.5 s"),
    ],
)
def test_a_cluster_that_cannot_be_joined_is_one_line(
    code: str, reason: str, joining: Path, monkeypatch, capfd
) -> None:
    joining.write_text(f"def init(**_): {code}\n")
    monkeypatch.setattr(ray_workers, "JOIN_SECONDS", 0.5 if "sleep" in code else 30.0)
    with pytest.raises(RagError) as raised:
        join("ray://head:6379")
    assert str(raised.value).startswith(
        f"ray://head:6379: no cluster of Ray can be used there ({reason}); name its"
    )
    assert capfd.readouterr() == ("", "")


@pytest.mark.usefixtures("ray")
def test_a_cluster_is_tried_without_modules_of_the_working_folder(
    joining: Path, tmp_path, monkeypatch
) -> None:
    (tmp_path / "logging.py").write_text("open('imported', 'w').close()\n")
    monkeypatch.chdir(tmp_path)
    joining.write_text("def init(**_): pass\n")
    join("ray://head:6379")
    assert not (tmp_path / "imported").exists()
