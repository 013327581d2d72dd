"""The pages of passages."""

from __future__ import annotations

from pathlib import Path

from corpora.records import Passage
from rag.indexing.merging import merge_libraries
from rag.settings import Settings
from rag.store.reading import Reader
from rag.store.writing import Writer
from tests.fakes.store_material import META, TEXT, file_row, fill, passages, unit

OLD, NEW = 1, 3
"""Sources whose passages are on pages."""
IDS = [passage.passage_id for n in (OLD, NEW) for passage in passages(n)]
EXPECTED = {passage.passage_id: passage.pages for n in (OLD, NEW) for passage in passages(n)}


def pages_in(*folders: Path) -> dict[str, tuple[int, ...]]:
    with Reader.open(*folders) as reader:
        cold = reader.passages(IDS)
        assert reader.search_passages(unit(5000 + OLD, 4, TEXT.dim)[2], 1)[0].key == "p001-2"
        assert {hit.key for hit in reader.match_passages("lamp", 20)} == set(IDS)
        assert reader.passages(IDS) == cold
        return {passage.passage_id: passage.pages for passage in cold}


def test_pages_are_read_as_they_were_written(tmp_path: Path) -> None:
    fill(tmp_path / "lib", videos=(), sources=(OLD, NEW))
    assert pages_in(tmp_path / "lib") == EXPECTED
    assert EXPECTED["p003-0"] == (1,)
    assert EXPECTED["p003-1"] == (2, 3)


def test_pages_are_merged_and_joined(tmp_path: Path) -> None:
    for name, source in (("old", OLD), ("new", NEW)):
        fill(tmp_path / name, videos=(), sources=(source,))
    merge_libraries([tmp_path / "old", tmp_path / "new"], tmp_path / "both", settings=Settings())
    assert pages_in(tmp_path / "both") == pages_in(tmp_path / "old", tmp_path / "new") == EXPECTED


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
