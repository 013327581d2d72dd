"""Libraries that answer every question alike, for tests of the command line."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Self

from corpora.records import Clip, Evidence, Passage, Problem
from localization.windows import LocalizedWindow
from rag.errors import QuestionError, ReasonerUnreachable
from rag.library import Check
from rag.records import Answer, PassageCitation, PassageHit, Question, VideoCitation, VideoHit
from rag.store.records import FileState, Removed, Stats

EVIDENCE = (Evidence("v1", 3, 4, "asr", "switch the lamp on"),)

STATS = Stats(
    files=2,
    videos=1,
    taken_out=0,
    video_hours=0.5,
    clips=4,
    evidence=3,
    passages=2,
    documents=1,
    problems=1,
    bytes=5000,
)


class FixedLibrary:
    """Answers every question alike, and keeps what it was asked."""

    library_id = "lib-1"
    contents = "0123456789abcdef"
    left_out = ()
    engine = SimpleNamespace(reader=SimpleNamespace(meta=None, taken_out=frozenset, copies=lambda _: []))

    def __init__(self) -> None:
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.stale: dict[str, FileState] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None: ...

    def search(self, query: str, **given: Any) -> list[VideoHit | PassageHit]:
        self.asked.append((query, given))
        return [
            VideoHit("a.mp4", "v 1", 1, 6, Clip("c", "v 1", 0, 30), 0.5, EVIDENCE),
            PassageHit("b.csv", Passage("p1", "d1", "Lamps", "Light."), 0.5),
            PassageHit("b.csv", Passage("p2", "d1", "Lamps", "More."), 0.4),
        ]

    def ask(self, text: str, *, options: Sequence[str] = (), question_id: str = "", **given: Any) -> Answer:
        self.asked.append((text, {"options": options, **given}))
        if text == "too long":
            raise QuestionError("the question is too long")
        if text == "server":
            raise ReasonerUnreachable("no answer from the server")
        question = Question(question_id or "made", text, tuple(options))
        citation = VideoCitation("a.mp4", "v1", 1, 6, 0.5, EVIDENCE)
        return Answer(question, None, "a lamp", 0.9, "", True, (citation,))

    def video_id(self, name: str) -> str:
        return name.partition(".")[0]

    def path_of(self, video_id: str, name: str = "") -> str:  # noqa: ARG002 (as of `Library`)
        return f"b/{video_id}.mp4"

    def stale_files(self, paths: Iterable[str]) -> dict[str, FileState]:
        return {path: state for path in paths if (state := self.stale.get(path)) is not None}

    def localize(self, video: str, query: str, **given: Any) -> list[LocalizedWindow]:
        self.asked.append((f"{video} {query}", given))
        return [LocalizedWindow("v1", 1, 6, 0.25, 0.4)]

    def indexed_paths(self) -> list[str]:
        return ["a.mp4", "b.csv"]

    def is_source(self, path: Path) -> bool:
        return str(path) in self.indexed_paths()

    def unmeasured(self, where: object) -> None:  # noqa: ARG002 (as of `Library`)
        return None

    def resolve(self, citation: str) -> PassageCitation | VideoCitation:
        return PassageCitation("n.md", citation, "Lamps", "A lamp\x1b\ngives light.", 1.0)

    def stats(self) -> Stats:
        return STATS

    def problems(self) -> list[Problem]:
        return [Problem("bad\n.mp4", "not a video")]

    def doctor(self) -> list[Check]:
        return [Check("tables", True, "fine"), Check("indexed files", False, "1 is gone")]

    def share_of(self, paths: Sequence[str]) -> tuple[int, int]:
        return len(paths), 2 * len(paths)

    def remove(self, paths: Sequence[str]) -> Removed:
        return Removed(tuple(path for path in paths if path.endswith(".mp4")))


class OneVideoLibrary(FixedLibrary):
    """Has one video, whose file is at a path."""

    def __init__(self, path: Path, duration: float = 60.0) -> None:
        self.path, self.duration = path, duration
        reader = SimpleNamespace(meta=None, taken_out=frozenset, copies=self.copies)
        self.engine = SimpleNamespace(reader=reader)

    def video_id(self, name: str) -> str:
        return name

    def copies(self, paths: Iterable[str]) -> list[tuple[str, list[Any]]]:
        return [
            (path, [SimpleNamespace(content_id="v1", path=path)]) for path in paths if path == str(self.path)
        ]

    def indexed_file(self, video_id: str, name: str = "") -> str:  # noqa: ARG002 (as of `Library`)
        return str(self.path)

    def resolve(self, citation: str) -> VideoCitation:
        start, end = map(float, citation.rpartition("@")[2].split("-"))
        evidence = (Evidence("v1", 2, 3, "ocr", "Workshop"),)
        return VideoCitation(str(self.path), "v1", start, min(end, self.duration), 1.0, evidence)
