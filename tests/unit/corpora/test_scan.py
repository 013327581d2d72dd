"""Walking a corpus: files by names, globs, first bytes and hashes, what is taken, what belongs together."""

import hashlib
import os
import time
import unicodedata
from pathlib import Path

import pytest

from corpora.file_names import output_stem, words_of_name
from corpora.formats import document_format
from corpora.globs import Globs
from corpora.identity import content_hash
from corpora.kinds import SAVE_AS, kind_of, kind_of_head, line_on_subtitles, lines_on_ignored
from corpora.outputs import LIBRARY_HEAD
from corpora.passages import read_documents
from corpora.scan import Scan, Shard, scan
from rag.errors import UnreadableFile
from tests.fakes.documents import write_pdf


def put(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x")


def names(found: Scan, root: Path) -> list[str]:
    return [os.path.relpath(file.path, root) for file in found.files]


def test_files_are_sorted_typed_and_unknown_ones_counted(tmp_path) -> None:
    put(tmp_path, "b.MP4", "a/z.mkv", "a.mp3", "notes.txt", "table.csv", "x.bin", "Makefile", "package.json")
    found = scan(tmp_path)
    assert [file.path for file in found.files] == sorted(file.path for file in found.files)
    assert {Path(file.path).name: file.kind for file in found.files} == {
        "a.mp3": "audio",
        "z.mkv": "video",
        "b.MP4": "video",
        "notes.txt": "passages",
        "table.csv": "passages",
    }
    assert len(found.ignored) == 3
    assert found.problems == ()


def test_of_unread_files_those_that_fit_the_globs_are_named(tmp_path) -> None:
    put(tmp_path, "a.mp4", "a.srt", "notes.docx.bak", "x.bin", "sub/y.bin", "lone.srt")
    assert scan(tmp_path, include=["*.mp4"]).ignored == ()
    assert scan(tmp_path, include=["*.mp4", "sub/*"]).ignored == (str(tmp_path / "sub" / "y.bin"),)
    assert len(scan(tmp_path).ignored) == 3


def test_subtitles_of_a_folder_of_their_own(tmp_path) -> None:
    put(tmp_path, "data/a.mp4", "data/b.mp4", "data/b.srt", "subs/a.en.srt", "subs/b.srt", "subs/other.srt")
    put(tmp_path, "subs/a.info.json")
    subtitles = [tmp_path / "subs"]
    expected = {"a.mp4": ["subs/a.en.srt"], "b.mp4": ["data/b.srt"]}
    for roots in (tmp_path, tmp_path / "data", [tmp_path / "data" / name for name in expected]):
        found = scan(roots, subtitles=subtitles)
        assert {
            Path(file.path).name: [os.path.relpath(each, tmp_path) for each in file.sidecars]
            for file in found.files
            if file.kind == "video"
        } == expected
        alone = [name for name in names(found, tmp_path) if name.startswith("subs")]
        assert alone == (["subs/b.srt", "subs/other.srt"] if roots == tmp_path else [])
        left = [os.path.relpath(path, tmp_path) for path in found.ignored]
        assert left == (["subs/a.info.json"] if roots == tmp_path else [])
    assert (
        scan(tmp_path / "data").files[0].stamp != scan(tmp_path / "data", subtitles=subtitles).files[0].stamp
    )
    with pytest.raises(UnreadableFile, match=r"scan\.subtitles: .*/none: no such file or folder"):
        scan(tmp_path, subtitles=[tmp_path / "none"])


def test_hidden_names_are_left_out(tmp_path) -> None:
    put(tmp_path, ".rag/a.mp4", ".git/b.txt", "._video.mp4", ".hidden.txt", "seen.txt", "sub/.x/y.mp4")
    found = scan(tmp_path)
    assert names(found, tmp_path) == ["seen.txt"]
    assert found.ignored == ()
    assert names(scan(tmp_path / ".rag"), tmp_path) == [".rag/a.mp4"], "a root is walked"


def test_include_and_exclude_go_by_the_path_below_the_root(tmp_path) -> None:
    put(tmp_path, "talks/a.mp4", "talks/2024/b.mp4", "talks/2024/b.srt", "drafts/c.mp4", "d.txt")
    assert names(scan(tmp_path, include=["talks/*.mp4"]), tmp_path) == ["talks/a.mp4"]
    assert names(scan(tmp_path, include=["*.mp4"], exclude=["drafts"]), tmp_path) == [
        "talks/2024/b.mp4",
        "talks/a.mp4",
    ]
    assert scan(tmp_path, include=["**/2024/*"]).files[0].sidecars == (str(tmp_path / "talks/2024/b.srt"),)
    assert scan(tmp_path, include=["**/2024/*"], exclude=["*.srt"]).files[0].sidecars == ()


def test_a_file_with_a_problem_is_found(tmp_path) -> None:
    put(tmp_path, "a.txt", "odd.xyz")
    (tmp_path / "empty.md").touch()
    (tmp_path / "gone.mp4").symlink_to(tmp_path / "nowhere")
    found = scan([tmp_path, tmp_path / "odd.xyz"])
    assert (len(found.files), found.found, len(found.problems)) == (1, 3, 3)


def test_paths_are_absolute_and_links_in_the_root_kept(tmp_path, monkeypatch) -> None:
    put(tmp_path, "real/a.mp4")
    (tmp_path / "link").symlink_to("real")
    monkeypatch.chdir(tmp_path)
    assert [file.path for file in scan("link/../link").files] == [str(tmp_path / "link/a.mp4")]


def test_links_to_files_outside_are_not_followed(tmp_path) -> None:
    put(tmp_path, "root/a.mp4", "root/sub/b.txt", "other/secret.txt", "other/secret.srt")
    (tmp_path / "root/link.txt").symlink_to("../other/secret.txt")
    (tmp_path / "root/a.srt").symlink_to("../other/secret.srt")
    (tmp_path / "root/alias.txt").symlink_to("sub/b.txt")
    found = scan(tmp_path / "root", within=[tmp_path / "root"])
    assert names(found, tmp_path / "root") == ["a.mp4", "alias.txt", "sub/b.txt"]
    assert found.files[0].sidecars == ()
    assert [problem.path for problem in found.problems] == [str(tmp_path / "root/link.txt")]
    assert len(scan(tmp_path / "root").files) == 4
    assert scan(tmp_path / "root/a.mp4", within=[tmp_path / "roo"]).files == ()


def test_each_file_is_in_one_shard_with_its_sidecars(tmp_path) -> None:
    put(tmp_path, *(f"day {n % 3}/{n}.mp4" for n in range(30)), *(f"day {n % 3}/{n}.srt" for n in range(30)))
    shards = [scan(tmp_path, shard=Shard(number, 4)) for number in (1, 2, 3, 4)]
    assert sorted(file.path for found in shards for file in found.files) == [
        file.path for file in scan(tmp_path).files
    ]
    assert all(3 <= len(found.files) <= 12 for found in shards)
    assert all(found.ignored == () for found in shards)
    assert all(file.sidecars == (f"{file.path[:-4]}.srt",) for found in shards for file in found.files)


@pytest.mark.parametrize("text", ["", "3", "0/3", "4/3", "1/0", "-1/3", "1/3/5", "a/b", "1/" + "9" * 5000])
def test_what_is_no_shard_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="K from 1 to N"):
        Shard.parse(text)


@pytest.mark.parametrize(
    ("sidecar", "belongs"),
    [
        *((f"video.{rest}", True) for rest in ("srt", "pt-BR.forced.vtt", "mp4.en.ass", "mp4.info.json")),
        *((f"video.{rest}.srt", True) for rest in ("en.2", "en (1)", "Latin American Spanish")),
        *((name, True) for name in ("VIDEO.SRT", "video (de).srt", "Video - Français.ass")),
        *((name, False) for name in ("video.2024.srt", "video2.srt", "video_end.srt")),
        *((name, False) for name in ("video.trailers.srt", "info.json")),
    ],
)
def test_sidecars_are_matched_by_name(tmp_path, sidecar: str, belongs: bool) -> None:
    put(tmp_path, "video.mp4", sidecar)
    found = scan(tmp_path)
    files = {os.path.basename(file.path): file for file in found.files}
    assert files["video.mp4"].sidecars == ((str(tmp_path / sidecar),) if belongs else ())
    assert found.belonging == ({str(tmp_path / sidecar): str(tmp_path / "video.mp4")} if belongs else {})
    alone = not belongs and sidecar != "info.json"
    assert [files[sidecar].kind] == ["passages"] if alone else sidecar not in files


def test_of_names_that_differ_in_case_the_sidecar_of_the_same_case_is_taken(tmp_path) -> None:
    put(tmp_path, "a.mp4", "A.mp4", "A.srt")
    found = {Path(file.path).name: len(file.sidecars) for file in scan(tmp_path).files}
    assert found == {"a.mp4": 0, "A.mp4": 1}


def test_video_and_sound_of_one_name_share_nothing_but_two_videos_do(tmp_path) -> None:
    put(tmp_path, "a.mp4", "a.mp3", "a.srt", "b.mp4", "b.webm", "b.srt", "c.mp3", "c.srt")
    found = {Path(file.path).name: len(file.sidecars) for file in scan(tmp_path).files}
    assert found == {"a.mp4": 1, "a.mp3": 0, "b.mp4": 1, "b.webm": 1, "c.mp3": 1}


def test_the_stamp_changes_with_the_file_and_with_its_sidecars(tmp_path) -> None:
    put(tmp_path, "video.mp4", "video.srt")

    def stamp() -> str:
        return scan(tmp_path).files[0].stamp

    stamps = [stamp()]
    assert stamp() == stamps[0]
    (tmp_path / "video.srt").write_text("edited")
    stamps.append(stamp())
    os.utime(tmp_path / "video.mp4", ns=(1, 1))
    stamps.append(stamp())
    put(tmp_path, "video.en.vtt")
    stamps.append(stamp())
    (tmp_path / "video.srt").unlink()
    stamps.append(stamp())
    assert len(set(stamps)) == 5


def test_typescript_is_no_transport_stream(tmp_path) -> None:
    (tmp_path / "app.ts").write_text("export const größe = 1;\n" * 90)
    (tmp_path / "video.ts").write_bytes((b"G\x40\x00\x10\x00" + b"\xff" * 183) * 10)
    found = scan(tmp_path)
    assert names(found, tmp_path) == ["video.ts"]
    assert found.ignored == (str(tmp_path / "app.ts"),)


def test_names_are_kept_as_the_file_system_has_them(tmp_path) -> None:
    odd = [b"bad\xff.mp4", b"-dash.mp4", b"new\nline.mp4", b"%03d.mp4", b"[a]*?.mp4", "😀.mp4".encode()]
    for name in odd:
        (tmp_path / os.fsdecode(name)).write_bytes(b"x")
    found = scan(tmp_path)
    assert sorted(os.fsencode(Path(file.path).name) for file in found.files) == sorted(odd)
    assert found.problems == ()


def test_folders_that_are_libraries_are_left_out(tmp_path) -> None:
    put(tmp_path, "a.mp4", f"deep/library/{LIBRARY_HEAD}", "deep/library/tables/b.md", "library/c.mp4")
    found = scan(tmp_path)
    assert names(found, tmp_path) == ["a.mp4", "library/c.mp4"]
    assert (found.ignored, found.problems) == ((), ())
    assert names(scan(tmp_path / "deep/library"), tmp_path) == ["deep/library/tables/b.md"], (
        "a root is walked"
    )
    put(tmp_path, f"other/{LIBRARY_HEAD}", "other/d.mp4", "mine/tables/e.mp4")
    assert names(scan(tmp_path), tmp_path) == ["a.mp4", "library/c.mp4", "mine/tables/e.mp4", "other/d.mp4"]


def test_subtitles_that_are_read_as_documents_are_named() -> None:
    owned = "to give them to a video, name them like it: talk.mp4 with talk.srt or talk.en.srt"
    assert line_on_subtitles(["/c/a.txt", "/c/a.info.json"]) == ()
    assert line_on_subtitles(["/c/Talk.srt", "/c/a.doc"]) == (
        f"/c/Talk.srt: subtitles without a video, read as a document; {owned}",
    )
    assert line_on_subtitles(["/c/Talk.srt", "/c/B.VTT"]) == (
        f"2 files of subtitles are read as documents, such as /c/B.VTT; {owned}",
    )
    assert lines_on_ignored(["/c/a.doc", "/c/a.info.json"]) == (
        "/c/a.doc: .doc files are not read; save it as PDF or HTML",
    )


def test_subtitles_of_a_video_that_is_not_taken_are_no_document(tmp_path) -> None:
    put(tmp_path, "a.mp4", "a.mp3", "a.srt", "b.srt")
    assert names(scan(tmp_path, exclude=["a.*p*"]), tmp_path) == ["b.srt"]
    assert names(scan(tmp_path, include=["*.srt"]), tmp_path) == ["b.srt"]
    (sound,) = scan(tmp_path, include=["*.mp3"]).files
    assert sound.sidecars == (str(tmp_path / "a.srt"),)
    shards = [scan(tmp_path, shard=Shard(number, 7)) for number in range(1, 8)]
    assert sorted(name for found in shards for name in names(found, tmp_path)) == ["a.mp3", "a.mp4", "b.srt"]
    assert all(found.found + found.other_shards == 3 for found in shards)


def test_subtitles_that_are_named_are_a_document_unless_they_belong_to_a_video(tmp_path) -> None:
    put(tmp_path, "a.mp4", "a.en.srt", "b.srt")
    found = scan([tmp_path / "a.en.srt", tmp_path / "b.srt"])
    assert names(found, tmp_path) == ["b.srt"]
    assert [problem.reason for problem in found.problems] == ["belongs to a.mp4 beside it"]
    both = scan([tmp_path / "a.en.srt", tmp_path / "a.mp4"])
    assert (names(both, tmp_path), both.problems) == (["a.mp4"], ())
    assert both.belonging == {str(tmp_path / "a.en.srt"): str(tmp_path / "a.mp4")}


def test_subtitles_belong_to_no_photograph_and_to_no_video_that_cannot_be_read(tmp_path) -> None:
    put(tmp_path, "a.jpg", "a.info.json", "a.srt", "b.jpg", "b.vtt", "c.en.srt", "c.mp3", "d.srt")
    (tmp_path / "b.mp4").write_bytes(b"")
    (tmp_path / "c.mp4").symlink_to("nowhere.mp4")
    found = scan(tmp_path)
    assert names(found, tmp_path) == ["a.jpg", "a.srt", "b.jpg", "b.vtt", "c.en.srt", "c.mp3", "d.srt"]
    assert found.files[0].sidecars == (str(tmp_path / "a.info.json"),)
    assert found.ignored == ()


def test_a_file_is_known_by_its_first_bytes_whatever_its_name(tmp_path) -> None:
    path = write_pdf(tmp_path / "scan.txt", ["Oil every link."])
    assert kind_of_head(path.read_bytes()) == "passages"
    (document,) = read_documents(path)
    assert document.text == "Oil every link."


def test_what_is_to_be_saved_as_another_kind_has_no_reader() -> None:
    assert not [suffix for suffix in SAVE_AS if document_format(suffix) or kind_of(f"a{suffix}")]


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        *[("*.mp4", "x/y/a.mp4", True), ("*.mp4", "a.MP4", False), ("x/*.mp4", "x/y/a.mp4", False)],
        *[("x/*.mp4", "w/x/a.mp4", False), ("/x", "x/a.mp4", True)],
        *[("**/x/*.mp4", "v/w/x/a.mp4", True), ("x/**", "x/y/a.mp4", True)],
        *[("x/**/a.mp4", "x/1/2/a.mp4", True), ("**/x/**/y/*.mp4", "x/1/x/y/2/y/a.mp4", True)],
        *[("drafts/", "old/drafts/a.mp4", True), ("a?.mp4", "a/.mp4", False)],
        *[("[!ab].mp4", "b.mp4", False), ("a[[]b].mp4", "a[b].mp4", True), ("*", "\udcff.mp4", True)],
        ("", "a.mp4", False),
    ],
)
def test_globs(pattern: str, path: str, fits: bool) -> None:
    assert Globs([pattern]).match(path) is fits


def test_a_hostile_pattern_costs_no_time() -> None:
    start = time.process_time()
    path = "/".join(["a" * 200] * 50)
    for pattern in ("**/" * 50 + "a*a*a*a*a*a*b", "**/a*/" * 25 + "b"):
        assert not Globs([pattern]).match(path)
    assert time.process_time() - start < 1


@pytest.mark.parametrize("size", [0, 1, 2**20 + 17])
def test_the_hash_is_blake2b_over_all_bytes(tmp_path, size: int) -> None:
    data = (bytes(range(251)) * (size // 251 + 1))[:size]
    path = tmp_path / "f"
    path.write_bytes(data)
    assert content_hash(path) == hashlib.blake2b(data, digest_size=16).hexdigest()


def test_what_is_no_file_is_refused_at_once(tmp_path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path, reason in (
        (tmp_path / "pipe", "not a plain file"),
        (tmp_path, "not a plain file"),
        (tmp_path / "gone", "no such file"),
    ):
        with pytest.raises(UnreadableFile, match=reason) as raised:
            content_hash(path)
        assert str(raised.value).startswith(str(path))


@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize(
    "title", ["Über Größe Käserei Führung", "हिन्दी में खाना", "தமிழ் மொழி", "ที่นี่ ภาษาไทย", "Việt Nam", "m̄ p̂"]
)
def test_a_word_keeps_its_marks(title: str, form: str) -> None:
    stem = unicodedata.normalize(form, title.replace(" ", "_"))
    assert " ".join(words_of_name(stem)) == unicodedata.normalize("NFC", title)
    assert output_stem(stem) == unicodedata.normalize("NFC", title.replace(" ", "_"))


def test_marks_on_no_letter_are_no_words() -> None:
    assert words_of_name("❤\ufe0f cats 1\ufe0f\u20e3 \u0301") == ["cats", "1"]
