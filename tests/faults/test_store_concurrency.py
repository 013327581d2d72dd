"""A reader beside a writer: never blocked, never shown half of anything."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from rag.store.reading import Reader
from tests.fakes.store_material import TEXT, fill, unit, video

ROOT = Path(__file__).parents[2]

WRITE = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from rag.store.writing import Writer
from tests.fakes.store_material import META, add_source, add_video, video_path
with Writer.open(Path(sys.argv[1])) as writer:
    writer.set_meta(META)
    print("started", flush=True)
    n = 1
    while True:
        n = n % 6 + 1
        writer.remove_paths([video_path(n), f"/corpus/texts/{n}.txt"])
        add_video(writer, n)
        add_source(writer, n)
        writer.flush()
        if n % 3 == 0:
            writer.maintain()
"""


def test_a_reader_beside_a_writer_sees_whole_videos_only(tmp_path: Path) -> None:
    fill(tmp_path / "lib", videos=range(1, 10), sources=range(1, 7))
    untouched = {video(n, 2).video_id for n in (7, 8, 9)}
    command = [sys.executable, "-c", WRITE, str(tmp_path / "lib"), str(ROOT)]
    looks = 0
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        try:
            assert child.stdout is not None
            assert child.stdout.readline() == "started\n"
            until = time.monotonic() + 3
            while time.monotonic() < until:
                with Reader.open(tmp_path / "lib") as reader:
                    seen = look(reader)
                    assert untouched <= seen, "what the writer leaves alone is always there"
                    time.sleep(0.02)
                    assert untouched <= look(reader)
                    looks += 1
            assert child.poll() is None, "the writer must be at work to the end"
        finally:
            child.kill()
    assert looks


def look(reader: Reader) -> set[str]:
    """The videos seen, each of them whole; one removed or added while tables were pinned may be missing."""
    videos = reader.videos()
    for found in videos:
        assert len(reader.clips(found.video_id)) == 2
        assert len(reader.evidence(found.video_id, 0.0, 1e9)) == 3
    ready = {found.video_id for found in videos}
    hits = reader.search_clips(unit(1, 16), 99)
    assert sorted({hit.key[:32] for hit in hits}) == sorted(ready)
    assert len(hits) == 2 * len(ready)
    assert len(reader.frames([hit.key for hit in hits])) == len(hits)
    words = reader.match_evidence("number", 99)
    assert {hit.key[:32] for hit in words} == ready
    assert len(words) == 3 * len(ready)
    dense = reader.search_passages(unit(1, TEXT.dim), 99)
    assert len(dense) % 4 == 0
    assert {hit.key for hit in reader.match_passages("lamp", 99)} == {hit.key for hit in dense}
    return ready
