"""Photographs beside videos: seen and read by the default models, and cited without times."""

import json
import shutil
from pathlib import Path

import pytest
from PIL import Image, ImageDraw
from skimage import data

from tests.fakes.command import run_rag
from tests.fakes.synthetic import write_video

SIGN = "HARBOUR FESTIVAL 1987"


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A cat and a coffee cup as scikit-image has them, a poster that is stored lying, and a broken file."""
    made = tmp_path_factory.mktemp("photographs")
    corpus = made / "corpus"
    corpus.mkdir()
    Image.fromarray(data.chelsea()).save(corpus / "DSC_1.jpg")
    Image.fromarray(data.coffee()).save(corpus / "DSC_2.webp")
    poster = Image.new("RGB", (900, 500), (30, 60, 90))
    ImageDraw.Draw(poster).text((60, 200), SIGN, fill="white", font_size=64)
    turned = Image.Exif()
    turned[0x0112] = 6
    poster.rotate(90, expand=True).save(corpus / "DSC_3.jpg", exif=turned)
    Image.fromarray(data.astronaut()).save(corpus / "DSC_9.png")
    with (corpus / "DSC_9.png").open("ab") as file:
        file.write(b"what a program appended")
    (corpus / "DSC_4.jpg").write_bytes(b"no photograph")
    (corpus / "DSC_5.nef").write_bytes(b"MM\0*")
    shutil.copy(Path(__file__).parents[1] / "fakes" / "poster.heic", corpus / "DSC_6.heic")
    (corpus / "DSC_7.heic").write_bytes(b"0000ftypheic")
    Image.fromarray(data.rocket()).save(corpus / "DSC_8.avif")
    write_video(corpus / "clip.mp4", 2)
    Image.fromarray(data.coffee()).save(corpus / "clip.jpg")
    (made / "report.json").write_text(run_rag(made, "index", "corpus", "--library", "lib", "--json").stdout)
    return made


def test_what_is_no_photograph_is_named_and_a_cover_ignored(folder: Path) -> None:
    report = json.loads((folder / "report.json").read_text())
    assert [Path(each["path"]).name for each in report["problems"]] == ["DSC_4.jpg", "DSC_7.heic"]
    assert any("DSC_5.nef" in line and "JPEG" in line for line in report["unread"])
    assert str(folder / "corpus" / "clip.jpg") in report["ignored_files"]
    assert report["indexed"] == 7


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("a cat", "DSC_1.jpg"),
        ("espresso in a cup", "DSC_2.webp"),
        (SIGN.lower(), "DSC_3.jpg"),
        ("lighthouse tours", "DSC_6.heic"),
        ("a missile", "DSC_8.avif"),
    ],
)
def test_a_photograph_is_found_by_what_is_seen_and_read(folder: Path, query: str, name: str) -> None:
    found = json.loads(run_rag(folder, "search", query, "--library", "lib", "--json").stdout)
    first = found["results"][0]
    assert (Path(first["path"]).name, first["citation"]) == (name, first["video_id"])


def test_a_photograph_is_cited_and_shown_without_times(folder: Path) -> None:
    answer = json.loads(run_rag(folder, "ask", "When is the harbour festival?", "--library", "lib").stdout)
    (cited, *_) = answer["citations"]
    assert Path(cited["path"]).name == "DSC_3.jpg"
    assert "1987" in answer["answer"]["text"]
    assert " s:" not in answer["answer"]["explanation"]
    shown = run_rag(folder, "show", cited["path"], "--library", "lib", "--out", "sheet.png")
    assert shown.returncode == 0
    assert (folder / "sheet.png").is_file()
    exported = run_rag(folder, "export", cited["path"], "--library", "lib", "--out", "cut.edl")
    assert (exported.returncode, "is a photograph" in exported.stderr) == (2, True)
