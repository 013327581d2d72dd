"""The relevance scale of a library: measured when its clips change, stored in it, used by its searches."""

from pathlib import Path

import pytest

from indexers.errors import WeightsMissing
from rag.indexing import calibrating
from rag.indexing.calibrating import calibrate_scores
from rag.records import SearchFilter
from rag.retrieval import Retriever
from rag.settings import Settings
from rag.store.reading import Reader
from rag.store.records import SCORE_MEASURES, EncoderRef
from rag.store.writing import Writer
from tests.fakes.answer_world import BagOfWords, ImageWords, build_library

pytestmark = pytest.mark.slow

SETTINGS = Settings()
VIDEOS = {
    "bench": [(0.0, 26.0, "lamp", ""), (26.0, 29.0, "drill", ""), (29.0, 60.0, "lamp", "")],
    "kitchen": [(0.0, 12.0, "knife", ""), (12.0, 36.0, "kettle", "")],
}


class Opened:
    """In place of the registry, which knows no fake encoder."""

    def __init__(self) -> None:
        self.tower = ImageWords()
        self.tower.weights = ""
        self.times = 0
        self.missing = False

    def __call__(self, *_: object) -> ImageWords:
        self.times += 1
        if self.missing:
            raise WeightsMissing("image-words: no such folder")
        return self.tower


@pytest.fixture
def opened(monkeypatch) -> Opened:
    found = Opened()
    monkeypatch.setattr(calibrating, "open_text_tower", found)
    return found


@pytest.fixture
def library(tmp_path, opened: Opened) -> Path:
    return build_library(tmp_path / "library", VIDEOS, {}, opened.tower)


def relevance(folder: Path, query: str, where: SearchFilter | None = None) -> list[float]:
    with Reader.open(folder) as reader:
        retriever = Retriever(reader, ImageWords(), BagOfWords(), SETTINGS)
        return [clip.relevance for clip in retriever.find_clips(query, query, 5, where or SearchFilter())]


@pytest.mark.usefixtures("opened")
def test_an_event_of_three_seconds_is_relevant_on_the_librarys_own_scale(library: Path) -> None:
    shown, absent = "A video that shows a drill.", "A video that shows a hammer."
    assert max(relevance(library, shown)) < 0.9
    with Writer.open(library) as writer:
        assert calibrate_scores(writer, SETTINGS) == ""
        held = writer.meta.calibration if writer.meta is not None else None
    assert held.version == SCORE_MEASURES
    assert held.image.sizes == (1, 4)
    assert max(relevance(library, shown)) > 0.99
    assert max(relevance(library, absent)) < 0.3
    assert max(relevance(library, shown, SearchFilter(videos=frozenset({"kitchen"})))) < 0.3


def test_it_is_measured_once_for_the_same_clips(library: Path, opened: Opened) -> None:
    with Writer.open(library) as writer:
        calibrate_scores(writer, SETTINGS)
        first = writer.meta and writer.meta.calibration
        calibrate_scores(writer, SETTINGS)
        assert opened.times == 1
        writer.remove_paths(["/videos/kitchen.mp4"])
        writer.flush()
        calibrate_scores(writer, SETTINGS)
        assert opened.times == 2
        assert writer.meta.calibration != first
        writer.switch_encoder(EncoderRef("other", "other-1", 3)).commit()
        assert writer.meta.calibration is None


def test_without_the_weights_the_old_scale_stays_and_a_line_says_so(library: Path, opened: Opened) -> None:
    opened.missing = True
    with Writer.open(library) as writer:
        line = calibrate_scores(writer, SETTINGS)
        assert writer.meta.calibration is None
    assert "no such folder" in line
