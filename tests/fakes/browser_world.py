"""A small frozen web on disk, reasoners with simple rules for its agents, and tasks over it."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpora.identity import content_hash
from corpora.records import Frames
from eval.runs.records import Sample
from eval.runs.runner import answer_query
from eval.task import Prepared
from eval.tasks.web_task import WebEnvironment, WebTask
from rag.agents.runtime.frame_source import FrameSource
from rag.reasoners.roles.answers import ChosenOption, OpenAnswer
from rag.reasoners.roles.judge import JudgeRequest, Verdict
from rag.reasoners.roles.questions import AnchorEvent, RewrittenQuestion
from rag.reasoners.roles.reading import Reading
from rag.reasoners.roles.searching import (
    Hypothesis,
    ImaginedQueries,
    ImagineRequest,
    Plan,
    PlanRequest,
    SelectedCandidates,
    SelectRequest,
    SubQuestion,
)
from rag.reasoners.roles.watching import (
    Located,
    LocatedWindow,
    LocateRequest,
    Observation,
    ObserveRequest,
    SummarizeRequest,
    VerifyRequest,
    VideoSummary,
    VideoVerdict,
)
from rag.records import Question
from rag.web import TranscriptLine, VideoEntry, Web, open_web, write_catalogue
from rag.web.catalogue import PageEntry
from tests.fakes.role_methods import RoleMethods

HOST = "https://videos.example/watch?v="
DURATION = 100.0
ASKED = Question("q", "Which word is the secret of the kettle video?")


def make_web(folder: Path, count: int = 12, *, page: str = "A kettle boils water.", **changes: str) -> Web:
    """`count` videos of 100 s; that of number 7 says "the secret is PLUM" at 40 s. All are about kettles.

    `page`: the text of the only page.
    `changes`: availability of a video by its id.
    """
    folder.mkdir(parents=True, exist_ok=True)
    entries = []
    for number in range(count):
        name = f"video{number:02d}"
        (folder / f"{name}.mp4").write_bytes(name.encode() * 50)
        said = [TranscriptLine(5.0, 7.0, f"welcome to part {number}")]
        if number == 7:
            said.append(TranscriptLine(40.0, 43.0, "the secret is PLUM"))
        entries.append(
            VideoEntry(
                name,
                f"{HOST}{name}",
                f"kettle video {number}",
                channel="Tea",
                upload_date=f"2020-01-{number + 1:02d}",
                duration=DURATION,
                transcript=tuple(said),
                file=f"{name}.mp4",
                content_id=content_hash(folder / f"{name}.mp4"),
                availability=changes.get(name, "ok"),
            )
        )
    pages = [PageEntry("p1", "https://pages.example/kettles", "Kettles", page)]
    write_catalogue(folder, entries, pages)
    return open_web(folder, dense=False)


def frame_source(seen: list[int] | None = None) -> FrameSource:
    """Takes pixels; the number of frames of each reading goes into `seen`."""

    def read(path: str, times: NDArray[np.float64], *, zoomed: bool = False) -> Frames:
        assert Path(path).is_file()
        side = 8 if zoomed else 4
        if seen is not None:
            seen.append(len(times))
        return Frames(np.asarray(times), np.zeros((len(times), side, side, 3), np.uint8))

    return FrameSource(library=None, read_frames=read)


class RuleReasoner(RoleMethods):
    """Takes video 7 for the likeliest, finds the line with "secret", and answers with the word after it."""

    def plan(self, request: PlanRequest) -> Plan:
        solved = any(video.status == "verified" for video in request.known)
        part = SubQuestion(text="the secret", status="solved" if solved else "missing")
        queries = () if solved else (f"kettle video {request.step}", "kettle")
        return Plan(thought="", sub_questions=(part,), focus=None if solved else 0, search_queries=queries)

    def select_candidates(self, request: SelectRequest) -> SelectedCandidates:
        ranked = sorted(
            range(len(request.candidates)), key=lambda i: (request.candidates[i].title != "kettle video 7", i)
        )
        return SelectedCandidates(selected=tuple(ranked[: request.top_k]), reason="titles")

    def locate(self, request: LocateRequest) -> Located:
        for text in request.view.texts:
            if "secret" in text.text:
                window = LocatedWindow(start=text.start - 5, end=text.end + 5, reason=text.text)
                return Located(relevant=True, windows=(window,), confidence=0.9)
        return Located(relevant=False, confidence=0.8, reason="no secret here")

    def observe(self, request: ObserveRequest) -> Observation:
        words = " ".join(text.text for text in request.view.texts)
        return Observation(caption=words or "nothing", needs_more_info=False)

    def summarize(self, request: SummarizeRequest) -> VideoSummary:
        words = " ".join(text.text for text in request.view.texts)
        return VideoSummary(relevant=bool(words), summary=words or "nothing")

    def rewrite_question(self, question: Question) -> RewrittenQuestion:
        return RewrittenQuestion(visual_query=question.text)

    def anchor_event(self, question: Question) -> AnchorEvent:
        return AnchorEvent(description=question.text)

    def answer_open(self, reading: Reading) -> OpenAnswer:
        texts = [(text.text, index) for index, window in enumerate(reading.windows) for text in window.texts]
        texts += [(read.passage.text, -1) for read in reading.passages]
        for text, index in texts:
            if "secret is" in text:
                word = text.partition("secret is")[2].split()[0]
                return OpenAnswer(
                    text=word, confidence=0.9, explanation=text, windows=(index,) if index >= 0 else ()
                )
        return OpenAnswer(text="", confidence=0.0, explanation="no secret was said")

    def answer_unaided(self, reading: Reading) -> OpenAnswer:
        return self.answer_open(reading)

    def answer_choice(self, _: Reading) -> ChosenOption:
        return ChosenOption(choice="A", confidence=0.5, explanation="the first one")

    def judge(self, request: JudgeRequest) -> Verdict:
        return Verdict(is_correct=request.prediction in request.ground_truths, rule="exact", score=1.0)


class RecallingReasoner(RoleMethods):
    """Searches for video 7, knows it by its secret, and finds the moment at 40 s."""

    def __init__(
        self, queries: Sequence[str] = ("kettle video 7", "kettle"), *, accepts: bool = True, **failures: Any
    ) -> None:
        super().__init__(**failures)
        self.queries, self.accepts = tuple(queries), accepts

    @property
    def verified(self) -> list[VerifyRequest]:
        return self.requests_of("verify_video")

    def imagine_queries(self, request: ImagineRequest) -> ImaginedQueries:
        guess = Hypothesis(kind="literal", guess="a recording of kettles")
        return ImaginedQueries(
            thought="kettles", hypotheses=(guess,), chosen=0, queries=self.queries[: request.count]
        )

    def verify_video(self, request: VerifyRequest) -> VideoVerdict:
        known = self.accepts and any("secret" in line.text for line in request.view.texts)
        return VideoVerdict(video_match=known, confidence=0.9, reason="the secret" if known else "no secret")

    def locate(self, request: LocateRequest) -> Located:
        times = request.view.times
        at = min(range(len(times)), key=lambda i: abs(times[i] - 40.0))
        return Located(relevant=True, frame=at, confidence=0.8, reason="the lid")


def prepare_records(
    task: WebTask[Any, Any], records: Mapping[str, Any], environment: WebEnvironment
) -> Prepared[WebEnvironment]:
    return Prepared(
        queries=[task.query_of(record) for record in records.values()],
        inputs={name: task.input_of(record) for name, record in records.items()},
        environment=environment,
        dataset={"rows.jsonl": "0" * 64},
        encoders={"text": "none", "image": "none", "reasoner": "rules"},
        gold=records,
    )


def environment_of(web: Any, reasoner: Any, library: Any = None, source: Any = None) -> WebEnvironment:
    """The fakes have what solvers and scorers of these tests use, and no more."""
    return WebEnvironment(web, reasoner, source or frame_source(), library)


def answers(
    task: WebTask[Any, Any], prepared: Prepared[WebEnvironment], name: str, ids: Iterable[str] = ()
) -> list[Sample]:
    """The samples of these queries, or all."""
    spec = task.solver(name)
    solver = spec.open(prepared.environment, 0)
    scorer = task.open_scorer(prepared)
    wanted = set(ids) or {query.query_id for query in prepared.queries}
    chosen = [query for query in prepared.queries if query.query_id in wanted]
    return [answer_query(prepared, spec, solver, scorer, query) for query in chosen]
