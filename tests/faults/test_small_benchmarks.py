"""A small share of `benchmarks.fuzz_media` and of `benchmarks.kill_index`."""

from benchmarks.fuzz_media import all_seeds, fuzz, read_file
from benchmarks.kill_index import kill_runs
from corpora.video.reader import MediaReader


def test_every_file_is_read_before_it_is_changed(tmp_path) -> None:
    seeds = all_seeds()
    assert seeds.keys() > {".mp4", ".mkv", ".mp3", ".srt", ".pdf", ".parquet", ".toml"}
    with MediaReader() as reader:
        for kind, data in seeds.items():
            path = tmp_path / f"seed{kind}"
            path.write_bytes(data)
            assert read_file(reader, path, kind), kind


def test_mutated_files_are_read_or_refused_and_open_no_others() -> None:
    rows = fuzz(len(all_seeds()), seed=0)
    assert {row.files for row in rows.values()} == {1}
    assert [text for row in rows.values() for text in row.tracebacks] == []
    assert [kind for kind, row in rows.items() if row.opened] == []
    assert sum(row.read for row in rows.values()) >= len(rows) / 3
    assert max(row.memory for row in rows.values()) < 2 * 2**30


KILLS = 4


def test_killed_at_stages_and_run_again_is_undisturbed(tmp_path) -> None:
    result, stages = kill_runs(tmp_path, KILLS)
    assert result.messages == []
    assert result.kills.total() == KILLS
    assert {"embed", "store measurements", "commit", "upsert videos", "remove"} <= stages
    assert set(result.kills) <= stages
    assert len(result.kills) >= KILLS // 2
