"""Questions with options about long videos: 30 to 60 minutes, synthetic or from tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corpora.outputs import atomic_write_text
from eval.metrics.scored import Measure, Scored, correct, number, restricted, sample_field, tokens
from eval.metrics.tables import estimate
from eval.reports.described import load_report
from eval.reports.drawing import draw_bars
from eval.reports.spec import Row, Section
from eval.reports.tables import Column
from eval.runs.records import Output, Query, Score
from eval.task import (
    ExactScorer,
    Footage,
    Prepared,
    ProgressCallback,
    SolverSpec,
    Task,
    task_opener,
    task_settings,
)
from eval.tasks.libraries import fingerprints, render_corpus
from eval.tasks.longvideo.baselines import LongVideoEnvironment
from eval.tasks.longvideo.published import (
    LongQuestion,
    PublishedQuestions,
    input_of,
    query_of,
    read_published,
    write_subtitles,
)
from eval.tasks.longvideo.solvers import PAPER, SOLVERS, at_frames
from eval.tasks.published import read_records, record_lines, text_hash
from eval.tasks.videos import find_videos, index_videos, with_subtitles
from eval.workbench.jobs import CorpusPlan
from eval.workbench.video import Render
from rag.errors import UsageError

if TYPE_CHECKING:
    from rag.settings import Settings

OURS, UNIFORM = "video-detective", "uniform"
POLICIES = {"anchor": "anchor", "next best": "retry", "neighbour": "neighbour", "gap": "gap"}
"""The policy of an observation, by the name that the table shows."""

Looks = Sequence[Mapping[str, Any]]


def _tokens_of(kind: str) -> Measure:
    return restricted(lambda scored: scored.sample.tokens.get(kind), lambda one: bool(one.sample.tokens))


def _of_moment(name: str) -> Measure:
    """A boolean field, of the questions that one moment decides: not of counts, nor without known times."""
    return restricted(
        number(name),
        lambda one: bool(one.sample.tokens) and one.query.family != "count" and one.query.has_window,
    )


def _of_looks(counted: Callable[[Looks], int]) -> Column:
    """A count over the observations of a question, of the systems that make them."""

    def measure(scored: Scored) -> float | None:
        looks = sample_field(scored, "looks")
        return float(counted(looks)) if isinstance(looks, list) else None

    return Column(measure, decimals=1)


def _under(policy: str) -> Column:
    return _of_looks(lambda looks: sum(look["policy"] == policy for look in looks))


MEASURES: Mapping[str, Measure | Column] = {
    "tokens": Column(lambda one: tokens(one) if one.sample.tokens else None),
    "prompt tokens": Column(_tokens_of("prompt")),
    "image tokens": Column(_tokens_of("image")),
    "calls": Column(restricted(number("calls"), lambda one: bool(one.sample.tokens))),
    "moment shown": _of_moment("gold_shown"),
    "words read": _of_moment("gold_read"),
    "observations": _of_looks(len),
    **{name: _under(policy) for name, policy in POLICIES.items()},
    "confirmed": _of_looks(lambda looks: sum(len(look["confirmed"]) for look in looks)),
    "uniform frames": restricted(
        lambda scored: float(bool(sample_field(scored, "fallback"))),
        lambda one: isinstance(sample_field(one, "looks"), list),
    ),
}


def _draw_backbones(section: Section, path: Path, title: str) -> list[str]:
    """Direct inference and VideoDetective (the paper's preset, else ours) of the same model and frames."""
    held: dict[str, dict[str, Row]] = {}
    for row in section.rows:
        frames, model = row.settings.get("frames"), row.settings.get("reasoner")
        held.setdefault(f"{model}, {frames} frames", {})[row.system.partition("@")[0]] = row
    found = {
        name: (rows.get(UNIFORM), rows.get(OURS + PAPER) or rows.get(OURS)) for name, rows in held.items()
    }
    pairs = {name: (direct, ours) for name, (direct, ours) in found.items() if direct and ours}
    if not pairs:
        return []
    series = {
        "direct inference": [estimate(correct, direct.samples) for direct, _ in pairs.values()],
        "VideoDetective": [estimate(correct, ours.samples) for _, ours in pairs.values()],
    }
    return draw_bars(path, title, [(list(pairs), {"": series})], label="% right")


REPORT = load_report("eval.tasks.longvideo", MEASURES, figures={"figure2_backbones": _draw_backbones})


SLACK = 1e-6
"""Seconds by which a frame may precede the gold window."""


@dataclass(frozen=True, slots=True)
class SyntheticVideos:
    """Videos of the Workbench world, and the questions about what happens in them."""

    plan: CorpusPlan
    questions: Path
    """JSON lines. A short event among hundreds (`needle`), which of four comes first or last (`order`),
    how often (`count`), why something is as it is (`cause`), what is read (`text`) or said (`spoken`)."""
    reads_screen: bool = True
    """Whether text on the screen is read while indexing (OCR)."""


# The library samples two frames a second. Commit 34c03511 has what the questions were made with.
_PLAN = CorpusPlan(seed=7, split="test", clips=0, render=Render(360, fps=4))
_QUESTIONS = Path(__file__).with_name("workbench")
FULL = SyntheticVideos(
    replace(_PLAN, long_minutes=(30.0,) * 10 + (45.0, 60.0)), _QUESTIONS / "questions.jsonl"
)
MINI = SyntheticVideos(replace(_PLAN, long_minutes=(4.0, 4.0)), _QUESTIONS / "mini.jsonl", reads_screen=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class LongVideoScore(Score):
    """The verdict, and whether the deciding moment was among what was shown."""

    gold_shown: bool
    """A frame of the gold window was among those that the answer was given from."""
    gold_read: bool
    """Words of the gold window were."""


@dataclass(frozen=True)
class LongVideoScorer(ExactScorer):
    """Exact match of letters; needs no judge."""

    windows: Mapping[str, Sequence[tuple[float, float]]] = field(default_factory=dict)
    """Windows of the queries that have several, by id."""

    def score(self, query: Query, output: Output) -> Score:
        """Compare one output with the gold letter and window."""
        correct = output.choice == query.answer
        words: Sequence[tuple[float, float]] | None = output.evidence.get("words")
        if words is None:
            return Score(correct)
        gold = self.windows.get(query.query_id, (query.window,))
        times = output.frames_read.get(query.video, ())
        return LongVideoScore(
            correct=correct,
            gold_shown=any(start - SLACK <= time < end for start, end in gold for time in times),
            gold_read=any(first < end and last > start for start, end in gold for first, last in words),
        )


class LongVideoTask(Task[LongVideoEnvironment]):
    """`shape`: of the videos that are rendered; None for published questions. Of these, `duration` takes
    one class, and `files` those of some files; without `subtitles` these are no evidence.

    In `folder`: the rendered `corpus`, or published files with their videos; the `library`; and, of synthetic
    questions, `questions.jsonl` to read.
    """

    report = REPORT
    score_type = LongVideoScore
    solvers = SOLVERS

    def __init__(
        self,
        name: str,
        about: str,
        folder: Path | None,
        shape: SyntheticVideos | None,
        *,
        duration: str = "",
        subtitles: bool = True,
        files: str = "*",
    ) -> None:
        self.name, self.about, self.folder, self.shape = name, about, folder, shape
        self.duration, self.subtitles, self.file_pattern = duration, subtitles, files

    def solver(self, name: str) -> SolverSpec[LongVideoEnvironment]:
        return at_frames(name) or super().solver(name)

    def prepare(
        self, settings: Settings, progress: ProgressCallback | None = None
    ) -> Prepared[LongVideoEnvironment]:
        folder, shape = self.folder, self.shape
        if folder is None:
            raise UsageError(
                f"{self.name} needs --data DIR, the folder with published questions and their videos"
            )
        fixed: dict[str, Any] = {} if self.subtitles else {"search.subtitles": False}
        if shape is not None:
            fixed = {"asr.mode": "off", "ocr.mode": "on" if shape.reads_screen else "off"}
        chosen = task_settings(self.name, settings, folder / "library", fixed, synthetic=shape is not None)
        if shape is None:
            published = read_published(folder, self.duration, self.file_pattern)
        else:
            built = read_records(shape.questions, LongQuestion)
            published = PublishedQuestions({question.question_id: question for question in built})
            render_corpus(folder, shape.plan, progress)
            atomic_write_text(folder / "questions.jsonl", record_lines(built))
        questions = published.questions
        queries = [query_of(question) for question in questions]
        place = folder if shape is None else folder / "corpus/videos"
        names = {query.video: published.videos.get(query.video, (query.video,)) for query in queries}
        found = find_videos(place, names, published.tasks)
        if shape is None:
            write_subtitles(folder, published.subtitles, found)
            chosen = with_subtitles(chosen, folder, found)
        videos = index_videos(found, chosen, progress)
        environment = LongVideoEnvironment(videos.library, videos.paths)
        lines = record_lines(questions) + _window_lines(published.windows)
        return Prepared(
            queries=queries,
            inputs={question.question_id: input_of(question) for question in questions},
            environment=environment,
            dataset={published.benchmark or "questions": text_hash(lines)},
            encoders=fingerprints(environment.library, complete=shape is not None),
            skipped=videos.skipped_queries(queries),
            gold=published.windows,
            unusable=published.unusable,
        )

    def open_scorer(self, prepared: Prepared[LongVideoEnvironment]) -> LongVideoScorer:
        return LongVideoScorer(prepared.gold)

    def footage(self, prepared: Prepared[LongVideoEnvironment], name: str) -> Footage | None:
        return prepared.environment.footage(name)


def _window_lines(windows: Mapping[str, Sequence[tuple[float, float]]]) -> str:
    """The windows beyond the first, which is the question's own."""
    return "".join(f"{name} {list(held)}\n" for name, held in windows.items() if len(held) > 1)


open_workbench = task_opener(
    LongVideoTask, "longvideo-workbench", "312 questions over 12 synthetic videos of 30 to 60 minutes", FULL
)
open_mini = task_opener(
    LongVideoTask, "longvideo-workbench-mini", "24 questions over two short videos, for trying out", MINI
)


def open_folder(
    data: Path | None = None, duration: str = "", subtitles: str = "on", files: str = "*"
) -> LongVideoTask:
    """Published questions with videos. `duration`: a class of the questions; `subtitles`: `on` or `off`;
    `files`: names of the files of questions, all by default."""
    if subtitles not in ("on", "off"):
        raise UsageError(f"longvideo: subtitles is on or off, not {subtitles!r}")
    chosen = [duration, *["without-subtitles"] * (subtitles == "off"), *[files] * (files != "*")]
    name = "-".join(["longvideo", *filter(None, chosen)])
    about = (
        "VideoMME, LVBench, MLVU, LongVideoBench, EgoSchema, NExT-GQA as published, with videos: --data DIR; "
        "longvideo:duration=long,subtitles=off,files=test* takes a class of length, no subtitles, some files"
    )
    return LongVideoTask(name, about, data, None, duration=duration, subtitles=subtitles == "on", files=files)
