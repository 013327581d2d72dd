"""The pages of passages, in libraries of this schema and of the one before, which had no column for them."""

from __future__ import annotations

from pathlib import Path

import pytest

from corpora.records import Passage
from rag.indexing.merging import merge_libraries
from rag.settings import Settings
from rag.store.reading import Reader
from rag.store.writing import Writer
from tests.fakes.library_dump import dump
from tests.fakes.store_material import META, TEXT, add_source, file_row, fill, passages, unit, without_pages

OLD, NEW = 1, 3
"""Sources whose passages are on pages; the first is in a library of before."""
IDS = [passage.passage_id for n in (OLD, NEW) for passage in passages(n)]
PAGES = {passage.passage_id: passage.pages for passage in passages(NEW)}


@pytest.fixture
def old(tmp_path: Path) -> Path:
    fill(tmp_path / "old", videos=(1,), sources=(OLD,))
    return without_pages(tmp_path / "old")


def pages_in(*folders: Path, exact_rows: int | None = None) -> dict[str, tuple[int, ...]]:
    with Reader.open(*folders, **({} if exact_rows is None else {"exact_rows": exact_rows})) as reader:
        cold = reader.passages(IDS)
        assert reader.search_passages(unit(5000 + OLD, 4, TEXT.dim)[2], 1)[0].key == "p001-2"
        assert {hit.key for hit in reader.match_passages("lamp", 20)} == set(IDS)
        assert reader.passages(IDS) == cold
        return {passage.passage_id: passage.pages for passage in cold}


def expected() -> dict[str, tuple[int, ...]]:
    return {key: PAGES.get(key, ()) for key in IDS}


def test_pages_are_read_as_they_were_written(tmp_path: Path) -> None:
    fill(tmp_path / "lib", videos=(), sources=(OLD, NEW))
    assert pages_in(tmp_path / "lib") == {p.passage_id: p.pages for n in (OLD, NEW) for p in passages(n)}
    assert PAGES["p003-0"] == (1,)
    assert PAGES["p003-1"] == (2, 3)


def test_a_library_of_before_is_read_and_not_written(old: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in old.rglob("*") if path.is_file()}
    with Reader.open(old) as reader:
        assert [passage.pages for passage in reader.passages(IDS[:4])] == [()] * 4
    assert {path: path.stat().st_mtime_ns for path in before} == before


@pytest.mark.parametrize("exact_rows", [1, 200_000])
def test_a_writer_gives_it_the_column(old: Path, exact_rows: int) -> None:
    with Reader.open(old) as beside, Writer.open(old) as writer:
        add_source(writer, NEW)
        writer.maintain(exact_rows)
        assert [passage.pages for passage in beside.passages(IDS[:4])] == [()] * 4
    assert pages_in(old, exact_rows=exact_rows) == expected()
    with Writer.open(old) as writer:
        writer.check_files()
        writer.put_passages(f"source{OLD}", passages(OLD), unit(5000 + OLD, 4, TEXT.dim))
        writer.put_file(file_row("/corpus/texts/1.txt", f"source{OLD}", "passages"))
    with Reader.open(old) as reader:
        assert reader.passages(IDS[:4]) == passages(OLD)


def test_it_is_then_the_library_that_is_written_today(tmp_path: Path) -> None:
    for name in ("old", "new"):
        fill(tmp_path / name, videos=(1,), sources=(2,))
    without_pages(tmp_path / "old")
    Writer.open(tmp_path / "old").close()
    assert list(dump(tmp_path / "old")) == list(dump(tmp_path / "new"))


def test_it_is_merged_and_joined_with_one_of_today(old: Path, tmp_path: Path) -> None:
    fill(tmp_path / "new", videos=(), sources=(NEW,))
    assert pages_in(old, tmp_path / "new") == pages_in(tmp_path / "new", old) == expected()
    for name, both in (("a", [old, tmp_path / "new"]), ("b", [tmp_path / "new", old])):
        merge_libraries(both, tmp_path / name, settings=Settings())
        assert pages_in(tmp_path / name) == expected()
    assert list(dump(tmp_path / "a")) == list(dump(tmp_path / "b"))
    merge_libraries(tmp_path / "new", old, settings=Settings())
    assert pages_in(old) == expected()


def test_of_two_files_the_pages_are_those_of_the_one_that_is_cited(tmp_path: Path) -> None:
    with Writer.open(tmp_path / "lib") as writer:
        writer.set_meta(META)
        for source, path, pages in (("s1", "/b.pdf", (9,)), ("s2", "/a.pdf", (4, 5)), ("s3", "/c.txt", ())):
            shared = Passage("shared", "d", "", "lamp", pages)
            writer.put_passages(source, [shared], unit(1, 1, TEXT.dim))
            writer.put_file(file_row(path, source, "passages"))
    with Reader.open(tmp_path / "lib") as reader:
        (found,) = reader.passages(["shared"])
        assert (reader.passage_paths(["shared"]), found.pages) == (["/a.pdf"], (4, 5))
