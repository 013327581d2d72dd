"""`rag index --stage-only` on several machines and `--commit-staged` on one: the library of a plain run."""

from __future__ import annotations

import os
import shutil
import threading
from pathlib import Path

import pytest

from corpora.fetching import PREFIX
from corpora.settings import ScanSettings
from rag._cli.main import main
from rag.errors import EncoderMismatch, UsageError
from rag.indexing import IndexReport, index
from rag.indexing.report import Silent
from rag.settings import ClusterSettings, Settings, load_settings
from rag.store.layout import Layout
from rag.store.lock import WriterLock
from rag.store.reading import Reader
from rag.store.records import DEVICES
from tests.fakes.library_dump import dump
from tests.fakes.object_store import FakeStore
from tests.fakes.synthetic import write_video


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    write_video(folder / "a.mp4", 4)
    write_video(folder / "b.mp4", 3, fps=5)
    (folder / "b.srt").write_text("1\n00:00:01,000 --> 00:00:02,000\nTighten the bolt.\n")
    for place in ("c", "deep/d"):
        (folder / place).parent.mkdir(exist_ok=True)
        shutil.copy(folder / "a.mp4", folder / f"{place}.mp4")
    (folder / "empty.mp4").write_bytes(b"")
    (folder / "bad.mp4").write_bytes(b"no video" * 99)
    for n in range(3):
        (folder / f"{n}.md").write_text(f"# Bolts\n\nBolt {n} is too tight.\n")
    return folder


def settings_of(folder: Path, shard: str = "") -> Settings:
    return load_settings(
        flags={"library": folder, "ocr.mode": "off", "encoder.image": "none", "scan.shard": shard}
    )


def stage(corpus: Path, folder: Path, shard: str = "") -> IndexReport:
    return index([corpus], settings=settings_of(folder, shard), stage_only=True)


@pytest.mark.slow
def test_shards_that_are_staged_and_committed_are_a_plain_run(corpus: Path, tmp_path: Path) -> None:
    """Both at once, so that one makes the library; one of them again, and under a held lock."""
    plain = index([corpus], settings=settings_of(tmp_path / "plain"))
    library = tmp_path / "library"
    reports: list[IndexReport] = []
    workers = [
        threading.Thread(target=lambda shard=shard: reports.append(stage(corpus, library, shard)))
        for shard in ("1/2", "2/2")
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(reports) == 2
    (reads,) = (line for line in plain.stages if line.startswith("reads: "))
    assert any(reads in report.stages for report in reports)
    with WriterLock(Layout(library).lock):
        again = stage(corpus, library, "1/2")
        whole = stage(corpus, library)
    assert again.staged
    assert again.exit_code in {0, 3}
    assert whole.staged == 6
    report = index([], settings=settings_of(library), commit_staged=True)
    assert (report.indexed, report.moved, report.exit_code) == (5, 2, 3)
    assert report.problems == plain.problems
    assert list(dump(library)) == list(dump(tmp_path / "plain"))
    assert not [name for _, _, names in os.walk(Layout(library).staging) for name in names]
    after = index([corpus], settings=settings_of(library))
    assert (after.indexed, after.unchanged, after.problems) == (
        0,
        plain.files_found - len(plain.problems),
        plain.problems,
    )


def test_a_dry_run_knows_what_is_staged(corpus: Path, tmp_path: Path) -> None:
    library = tmp_path / "library"

    def planned(stage_only: bool = True) -> tuple[int, int]:
        plan = index([corpus], settings=settings_of(library), stage_only=stage_only, dry_run=True)
        assert plan.forecast is not None
        return plan.staged, plan.forecast.new_files

    assert planned() == (0, 5)
    half = stage(corpus, library, "1/2").staged
    there = sorted(library.rglob("*"))
    staged, new = planned()
    assert half == staged > 0 < new < 5
    assert planned(stage_only=False) == (staged, new)
    assert sorted(library.rglob("*")) == there
    assert stage(corpus, library).staged == planned()[0]
    assert planned()[1] == 0


def test_what_a_killed_worker_left_in_the_temporary_folder_is_removed(corpus: Path, tmp_path: Path) -> None:
    class Watching(Silent):
        def file(self, path: str) -> None:  # noqa: ARG002 (of the protocol)
            seen.update(scratch.iterdir())

    scratch, seen = tmp_path / "scratch", set[Path]()
    killed = scratch / f"{PREFIX}killed"
    killed.mkdir(parents=True)
    (killed / "lock").touch()
    settings = settings_of(tmp_path / "library")
    storage = settings.storage.model_copy(update={"scratch": scratch})
    settings = settings.model_copy(update={"storage": storage})
    index([corpus / "0.md"], settings=settings, stage_only=True, progress=Watching())
    assert len(seen - {killed}) == 1, "it has its own there"
    assert list(scratch.iterdir()) == []


def test_a_plain_run_commits_what_is_staged(corpus: Path, tmp_path: Path) -> None:
    library = tmp_path / "library"
    index([corpus / "0.md", corpus / "1.md"], settings=settings_of(library), stage_only=True)
    report = index([corpus / "0.md", corpus / "2.md"], settings=settings_of(library))
    assert (report.indexed, report.unchanged) == (3, 0)
    assert not Layout(library).has_staged()
    index([corpus / "bad.mp4"], settings=settings_of(library), stage_only=True)
    report = index([corpus / "0.md", corpus / "2.md"], settings=settings_of(library))
    assert (report.indexed, report.unchanged) == (0, 2)
    assert not Layout(library).has_staged()


def test_what_is_staged_for_other_encoders_is_left_and_named(corpus: Path, tmp_path: Path) -> None:
    library, named = tmp_path / "library", "1 staged contents were made with other encoders or settings"
    stage(corpus / "0.md", library)
    (made_for,) = Layout(library).staging.iterdir()
    made_for.rename(made_for.with_name("0" * 24))
    plan = index([corpus / "0.md"], settings=settings_of(library), dry_run=True)
    assert (plan.staged, plan.forecast and plan.forecast.new_files) == (0, 1)
    for report in (
        index([corpus / "0.md"], settings=settings_of(library)),
        index([], settings=settings_of(library), commit_staged=True),
    ):
        assert [line.startswith(named) for line in report.stages].count(True) == 1
    assert Layout(library).has_staged()


def test_what_was_staged_and_is_bad_or_changed_since_is_not_counted_as_unchanged(tmp_path: Path) -> None:
    texts, library = tmp_path / "texts", tmp_path / "library"
    texts.mkdir()
    (texts / "bad.pdf").write_bytes(b"no document" * 9)
    (texts / "0.md").write_text("# Bolts\n\nA bolt.\n")
    stage(texts, library)
    (texts / "0.md").write_text("# Nuts\n\nA nut.\n")
    report = index([texts], settings=settings_of(library))
    assert (report.unchanged, report.files_found, report.exit_code) == (0, 2, 3)
    again = index([texts], settings=settings_of(library))
    assert (again.indexed, again.unchanged, again.exit_code) == (0, 1, 3)


@pytest.mark.slow
@pytest.mark.parametrize("staged", [False, True])
def test_contents_outlive_files_that_swap_names(tmp_path: Path, staged: bool) -> None:
    """Two swap theirs; a third one gives its name to a new file."""
    corpus, library = tmp_path / "corpus", tmp_path / "library"
    corpus.mkdir()
    for n in range(3):
        (corpus / f"{n}.md").write_text(f"# Bolts\n\nBolt {n} is tight.\n")
        write_video(corpus / f"{n}.mp4", 2 + n, fps=1)
    index([corpus], settings=settings_of(library))
    for kind in ("md", "mp4"):
        for old, new in (("0", "x"), ("1", "0"), ("x", "1"), ("2", "3")):
            (corpus / f"{old}.{kind}").rename(corpus / f"{new}.{kind}")
    (corpus / "2.md").write_text("# Nuts\n\nA nut.\n")
    write_video(corpus / "2.mp4", 6, fps=1)
    if staged:
        stage(corpus, library)
    report = index([] if staged else [corpus], settings=settings_of(library), commit_staged=staged)
    assert (report.indexed, report.moved) == (2, 6)
    index([corpus], settings=settings_of(tmp_path / "afresh"))
    assert list(dump(library)) == list(dump(tmp_path / "afresh"))


@pytest.mark.slow
def test_runs_on_other_processors_are_refused_or_named(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One after the other: nothing of the first is staged any more."""
    library = tmp_path / "library"
    plain = index([corpus / "0.md"], settings=settings_of(library), stage_only=True)
    assert main(["ask", "Is the bolt tight?", "--library", str(library)]) == 0
    assert "all its contents are staged; to add them: rag index --commit" in capsys.readouterr().err
    index([], settings=settings_of(library), commit_staged=True)
    monkeypatch.setattr("rag.indexing.encoders.describe_device", lambda _: "another")
    with pytest.raises(EncoderMismatch, match=r"encodes on another, .* or allow this with cluster"):
        index([corpus / "1.md"], settings=settings_of(library), stage_only=True)
    report = index([corpus / "1.md"], settings=settings_of(library))
    assert any("encodes on another" in line for line in report.stages)
    again = index([corpus / "2.md"], settings=settings_of(library), stage_only=True)
    assert (plain.staged, again.staged) == (1, 1)
    with Reader.open(library) as reader:
        assert reader.meta is not None
        devices = reader.meta.settings[DEVICES]
    assert "another" in devices
    assert len(devices) == 2


def test_options_of_other_runs_are_refused(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(UsageError, match="--stage-only excludes --prune"):
        index([corpus], settings=settings_of(tmp_path / "l"), stage_only=True, prune=True)
    command = ["index", str(corpus), "--library", str(tmp_path / "l"), "--stage-only"]
    assert main([*command, "--engine", "ray"]) == 2
    assert "--stage-only excludes --engine ray; " in capsys.readouterr().err
    with pytest.raises(UsageError, match="--commit-staged excludes PATH"):
        index([corpus], settings=settings_of(tmp_path / "l"), commit_staged=True)
    with pytest.raises(UsageError, match="--commit-staged excludes --dry-run"):
        index([], settings=settings_of(tmp_path / "l"), commit_staged=True, dry_run=True)


def test_a_run_that_stages_does_so_here_whatever_engine_is_set(corpus: Path, tmp_path: Path) -> None:
    ray = settings_of(tmp_path / "l").model_copy(update={"cluster": ClusterSettings(engine="ray")})
    assert index([corpus / "0.md"], settings=ray, stage_only=True).staged == 1


@pytest.mark.slow
def test_a_library_on_a_store_is_written_by_groups(corpus: Path, bucket: FakeStore, tmp_path: Path) -> None:
    """By a plain run and by shares: the same rows, nothing left staged."""
    index([corpus], settings=settings_of(tmp_path / "plain"))
    storage = {f"storage.{name}": value for name, value in bucket.storage.model_dump().items()}

    def stored(name: str) -> Settings:
        given = {"library": f"{bucket.url}/{name}", "ocr.mode": "off", "encoder.image": "none"}
        return load_settings(flags={**given, **storage, "cluster.group": 4})

    report = index([corpus], settings=stored("whole"))
    assert (report.indexed, report.exit_code) == (5, 3)
    assert list(dump(bucket.address("whole"))) == list(dump(tmp_path / "plain"))
    for share in ("1/2", "2/2"):
        scan = ScanSettings(shard=share)
        index([corpus], settings=stored("shares").model_copy(update={"scan": scan}), stage_only=True)
    report = index([], settings=stored("shares"), commit_staged=True)
    assert report.indexed == 5
    assert list(dump(bucket.address("shares"))) == list(dump(tmp_path / "plain"))
    assert not [found.key for found in bucket.open().list() if "/staging/" in found.key]


def test_a_forecast_by_number_of_workers(corpus: Path, tmp_path: Path) -> None:
    """No cluster is contacted. The longest video bounds what workers can gain."""
    settings = load_settings(flags={"library": tmp_path / "l", "ocr.mode": "off", "cluster.engine": "ray"})
    report = index([corpus], settings=settings, dry_run=True)
    (line,) = (line for line in report.stages if line.startswith("time by number of workers"))
    assert "1: 0.1 min, 4: 0.1 min" in line
