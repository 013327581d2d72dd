"""Whatever the bytes: a reader gives valid records or one of our errors, and the same ones each time."""

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.passages import Document, chunk, read_documents
from corpora.records import Problem
from corpora.text_decoding import clean, decode
from corpora.video.sidecars import read_sidecar
from corpora.video.subtitles import parse_subtitles
from rag.errors import FileProblem

TABLES = b'id,text,title\n|"|,|\n|a|{|}|"text":|[|]'.split(b"|")
MARKS = b"<p>|</p|<!--|\0|\xff\xfe|\xef\xbb\xbf|%PDF-1.7\n|PAR1|# |---\n|\\|1|trailer".split(b"|")

anything = st.one_of(
    st.binary(max_size=400),
    st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass")),
    st.lists(st.sampled_from([*TABLES, *MARKS]), max_size=40).map(b"".join),
)


def outcome(path: Path) -> tuple[list[Document | Problem], str]:
    found: list[Document | Problem] = []
    try:
        found.extend(read_documents(path))
    except FileProblem as problem:
        return found, str(problem)
    return found, ""


@pytest.mark.parametrize("suffix", [".txt", ".md", ".html", ".csv", ".jsonl", ".parquet", ".pdf"])
@given(data=anything)
def test_readers_of_passages(suffix: str, data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"a{suffix}"
        path.write_bytes(data)
        found, trouble = outcome(path)
        assert outcome(path) == (found, trouble)
        assert not trouble or (trouble.startswith(f"{path}: ") and "\n" not in trouble)
    assert bool(trouble) is not any(isinstance(one, Document) for one in found)
    assert sum(isinstance(one, Problem) for one in found) <= 1
    for document in found:
        if isinstance(document, Document):
            assert document.text.strip() == document.text != ""
            assert "\n" not in document.title
            json.dumps([document.doc_id, document.title, document.text], ensure_ascii=False).encode()
            assert all(passage.text for passage in chunk(document))


times = st.builds("{:02}:{:02}:{:02},{:03}".format, *[st.integers(0, 99)] * 3, st.integers(0, 999))
pieces = st.lists(
    st.one_of(
        st.builds("{} --> {}\n".format, times, times),
        st.sampled_from(
            ["\n", "1\n", "text\n", "<v Ann>hi\n", "WEBVTT\n\n", "NOTE x\n", "-->\n", " \n", "[Events]\n"]
        ),
        st.builds("Dialogue: 0,{},{},D,,0,0,0,,said\n".format, times, times),
        st.text(max_size=20),
    ),
    max_size=30,
)


@given(pieces=pieces)
def test_subtitle_parsers(pieces: list[str]) -> None:
    text = clean("".join(pieces))
    for suffix in ("srt", "vtt", "ass"):
        parsed = parse_subtitles(f"a.{suffix}", text)
        assert parsed.skipped >= 0
        assert [(c.start, c.end) for c in parsed.cues] == sorted((c.start, c.end) for c in parsed.cues)
        for cue in parsed.cues:
            assert 0 <= cue.start < cue.end
            assert cue.lines
            assert all(line and "\n" not in line for line in cue.lines)


cue_lists = st.lists(
    st.tuples(
        st.integers(0, 359_000_000), st.integers(100, 10_000), st.text("abc Ä", min_size=1).map(str.strip)
    ),
    min_size=1,
    max_size=12,
)


@given(cues=cue_lists, encoding=st.sampled_from(["utf-8", "utf-16", "utf-8-sig", "utf-32"]))
def test_a_well_formed_file_is_read_whole(cues: list[tuple[int, int, str]], encoding: str) -> None:
    def clock(milliseconds: int) -> str:
        seconds, rest = divmod(milliseconds, 1000)
        return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02},{rest:03}"

    said = [(start, start + length, f"x{text}y") for start, length, text in cues]
    body = "\n\n".join(
        f"{i}\n{clock(start)} --> {clock(end)}\n{text}" for i, (start, end, text) in enumerate(said, start=1)
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.srt"
        path.write_bytes(body.encode(encoding))
        found = read_sidecar(str(path))
    expected = {(start / 1000, end / 1000, " ".join(text.split())) for start, end, text in said}
    assert {(text.start, text.end, text.text) for text in found.texts} == expected
    assert found.notes == ()


@given(st.binary(max_size=300))
def test_decoded_bytes_are_valid_text(data: bytes) -> None:
    text = decode(data)
    text.encode()
    assert not set(text) & {"\0", "\r", "\x0b", "\u2028"}
