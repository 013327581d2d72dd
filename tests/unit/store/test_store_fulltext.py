"""Full text: words of many languages, queries that cannot fail, scores that depend on the rows alone."""

from collections.abc import Sequence
from pathlib import Path

import lance
import pytest

from corpora.records import Passage
from rag.retrieval.ranking import search_words
from rag.store.reading import Reader
from rag.store.records import Hit
from rag.store.writing import Writer
from tests.fakes.library_dump import maintained, table_health
from tests.fakes.store_material import META, TEXT, file_row, unit

FOUND = {
    "RUNS cafe": "He was running to the Café",
    "タワー": "東京タワーに行きました",
    "视频": "我喜欢看视频",
    "soldered": "The soldering iron is hot",
    "ПРИВЕТ": "Привет, мир! Городской транспорт",
    "what": "It is what it is",
    "โลก": "สวัสดีชาวโลก",
    search_words("de l'eau"): "Fermer l’eau, puis l'électricité",
    search_words("s'ouvre"): "La vanne s’ouvre ici",
}
"""Texts, by a query that finds them."""
TEXTS = tuple(FOUND.values())


def write(folder: Path, texts: Sequence[str], *, parts: int = 1, maintain: bool = True) -> None:
    with Writer.open(folder) as writer:
        writer.set_meta(META)
        for part in range(parts):
            rows = [Passage(f"p{i:05d}", "d", "", texts[i]) for i in range(part, len(texts), parts)]
            writer.put_passages(f"s{part}", rows, unit(part, len(rows), TEXT.dim))
            writer.put_file(file_row(f"/{part}.txt", f"s{part}", "passages"))
            writer.flush()
        if maintain:
            writer.maintain()


@pytest.fixture(scope="module")
def reader(tmp_path_factory) -> Reader:
    folder = tmp_path_factory.mktemp("texts") / "lib"
    write(folder, TEXTS)
    return Reader.open(folder)


@pytest.mark.parametrize(("row", "query"), [*enumerate(FOUND)])
def test_words_are_found_in_their_forms(reader: Reader, query: str, row: int) -> None:
    assert [hit.key for hit in reader.match_passages(query, 3)][:1] == [f"p{row:05d}"]


@pytest.mark.parametrize(
    "query", ["", '"', "(((", 'words:"iron', "iron~2^", "\0", "a\udcff iron", "'; DROP TABLE", "{}[]"]
)
def test_nothing_in_a_query_is_syntax(reader: Reader, query: str) -> None:
    keys = [hit.key for hit in reader.match_passages(query, 9)]
    assert ("p00003" in keys) == ("iron" in query)
    assert reader.match_evidence(query, 9) == []


def test_a_very_long_query_is_answered(reader: Reader) -> None:
    assert reader.match_passages("iron " * 20_000, 1)[0].key == "p00003"
    assert reader.match_passages("x" * 100_000, 1) == []


def test_equal_scores_are_ranked_by_id_at_every_depth(tmp_path) -> None:
    write(tmp_path / "lib", ["one lamp"] * 700, parts=3)
    with Reader.open(tmp_path / "lib") as reader:
        for k in (1, 7, 40, 299, 700, 999):
            hits = reader.match_passages("lamp", k)
            assert [hit.key for hit in hits] == [f"p{i:05d}" for i in range(min(k, 700))]


def test_unindexed_rows_are_found(tmp_path) -> None:
    write(tmp_path / "lib", TEXTS, maintain=False)
    with Reader.open(tmp_path / "lib") as reader:
        assert table_health(tmp_path / "lib")["passages"].unindexed == len(TEXTS)
        assert [hit.key for hit in reader.match_passages("runs", 1)] == ["p00000"]
        assert [hit.key for hit in reader.match_passages("视频", 1)] == ["p00002"]
    with Writer.open(tmp_path / "lib") as writer:
        writer.maintain()
    assert maintained(tmp_path / "lib")


def test_scores_do_not_depend_on_how_the_rows_came(tmp_path) -> None:
    texts = [f"lamp {'river ' * (i % 5)} word{i % 7} {'iron' if i % 11 else ''}" for i in range(200)]
    write(tmp_path / "whole", texts)
    write(tmp_path / "parts", texts, parts=7)
    write(tmp_path / "more", [*texts, *["lamp gone"] * 50], parts=5)
    with Writer.open(tmp_path / "more") as writer:
        writer.remove_paths([f"/{part}.txt" for part in range(5)])
        writer.maintain()
    write(tmp_path / "more", texts, parts=5)
    answers: list[list[Hit]] = []
    for name in ("whole", "parts", "more"):
        with Reader.open(tmp_path / name) as reader:
            answers.append(reader.match_passages("river iron word3", 150))
    assert answers[0]
    assert answers[0] == answers[1] == answers[2]


def test_maintaining_twice_builds_once(tmp_path) -> None:
    write(tmp_path / "lib", TEXTS)
    dataset = lance.dataset(str(tmp_path / "lib" / "tables" / "passages.lance"))
    with Writer.open(tmp_path / "lib") as writer:
        writer.maintain()
    again = lance.dataset(str(tmp_path / "lib" / "tables" / "passages.lance"))
    assert again.describe_indices()[0].segments[0].uuid == dataset.describe_indices()[0].segments[0].uuid
