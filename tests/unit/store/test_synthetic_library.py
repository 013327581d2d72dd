"""The generator of `benchmarks.large_library`, at its smallest."""

from benchmarks.large_library import evidence_queries, exact, vectors_of
from benchmarks.synthetic_library import build
from rag.store.reading import Reader
from tests.fakes.library_dump import dump


def test_two_makes_are_equal_and_the_exact_scan_finds_what_the_library_finds(tmp_path):
    for name in ("one", "other"):
        build(tmp_path / name, 0.5, count=12)
    build(tmp_path / "one", 0.5, count=12)

    assert list(dump(tmp_path / "one")) == list(dump(tmp_path / "other"))
    rows = evidence_queries(3)[0].rows
    nearest = exact(
        vectors_of(tmp_path / "one", "evidence"),
        "evidence_id",
        rows,
        {"all": lambda batch: batch["vector"].is_valid().to_numpy(False)},
    )
    with Reader.open(tmp_path / "one") as reader:
        assert (reader.stats().clips, reader.stats().evidence) == (60, 360)
        assert [[hit.key for hit in reader.search_evidence(row, 10)] for row in rows] == nearest["all"]
