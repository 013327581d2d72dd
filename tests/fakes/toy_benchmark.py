"""A task of random numbers: real queries, solvers with seeds, no data and no models."""

import hashlib
import os
import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpora.records import Frames
from eval.runs.records import (
    LETTERS,
    ClipScore,
    ClipWindow,
    Output,
    PassageScore,
    Query,
    Score,
    TaskInput,
    UnusableRow,
)
from eval.runs.runner import Done, run_solver
from eval.task import Footage, Prepared, ProgressCallback, Scorer, SolverSpec, Task
from rag.errors import RagError
from rag.reasoners.roles.questions import AnchorEvent
from rag.records import ScoreCurve
from rag.settings import Settings

FAMILIES = ("local-1hop", "local-2hop", "temporal-1hop", "temporal-2hop")
CLIP_SECONDS = 30.0

SKILL = {
    "no-localization": 0.3,
    "localized": 0.6,
    "video-split": 0.45,
    "localized@10": 0.5,
    "random": 1 / 6,
    "graphrag": 0.2,
    "videorag-jeong": 0.25,
    "videorag-ren": 0.3,
    "videorag-ren-localized+metaclip": 0.8,
}
"""How often each system is right."""


def stable_random(*parts: object) -> random.Random:
    digest = hashlib.blake2b("/".join(str(part) for part in parts).encode(), digest_size=8).digest()
    return random.Random(int.from_bytes(digest, "big"))


def make_queries(count: int) -> tuple[Query, ...]:
    return tuple(_query(number) for number in range(count))


def _query(number: int) -> Query:
    chance = stable_random("query", number)
    family = FAMILIES[number % 4]
    two_hop = family.endswith("2hop")
    clip = chance.randrange(12)
    start = round(chance.uniform(0, 26), 3)
    end = round(start + chance.uniform(1.5, 4), 3)
    order = tuple(chance.sample(range(6), 6))
    passages = tuple(f"p{3 * number + place // 2}" for place in order) if two_hop else ()
    return Query(
        query_id=f"q{number:03d}",
        text=f"What is the object of event {number}?",
        options=tuple(f"thing {number}-{place}" for place in order),
        answer=LETTERS[order.index(5)],
        family=family,
        video=f"clip{clip:02d}",
        cluster=f"clip{clip:02d}",
        window=(start, end),
        order=order,
        passage=f"p{3 * number + 2}" if two_hop else None,
        option_passages=passages,
        seen=(start, round(start + 1, 3)),
        position="after" if family.startswith("temporal") else "within",
    )


@dataclass(frozen=True)
class ToyInput(TaskInput):
    """The toy's solvers are random numbers around the right answer: they are oracles, and are given it."""

    query: Query | None = None


@dataclass(frozen=True)
class ToyScore(Score):
    understood: bool | None = None


class ToyScorer:
    def __init__(self, judge: str) -> None:
        self.judge = judge

    @property
    def settings(self) -> Mapping[str, Any]:
        return {"judge": self.judge}

    def score(self, query: Query, output: Output) -> ToyScore:
        found = any(clip.clip_id == query.video for clip in output.clips)
        fact = stable_random(self.judge, query.query_id).random() < 0.5
        return ToyScore(output.choice == query.answer, understood=fact if found else None)


@dataclass(frozen=True)
class Player:
    """Right as often as its skill says, with windows and rankings to match."""

    name: str
    seed: int
    delay: float = 0.0
    failures: Mapping[str, RagError] = field(default_factory=dict)

    @property
    def settings(self) -> Mapping[str, Any]:
        return {"skill": round(SKILL[self.name], 6)}

    def solve(self, asked: ToyInput) -> Output:
        time.sleep(self.delay)
        query = asked.query
        if error := self.failures.get(query.query_id):
            raise error
        chance = stable_random(self.name, self.seed, query.query_id)
        right = chance.random() < SKILL[self.name]
        shown = LETTERS[: len(query.options)]
        wrong = [letter for letter in shown if letter != query.answer]
        choice: str | None = query.answer if right else chance.choice(wrong)
        failed = chance.random() < 0.02
        scores = [chance.random() + (2 if letter == choice else 0) for letter in shown]
        total = sum(scores)
        if self.name == "random":
            return Output(choice=choice, scores=(1 / 6,) * 6, confidence=1 / 6)
        return Output(
            choice=None if failed else choice,
            scores=tuple(score / total for score in scores),
            confidence=max(scores) / total,
            parse_failure=failed,
            evidence={"caption": f"seen by {self.name}", "weights": [chance.random()]},
            tokens={"prompt": 100 + sum(query.order[:1])},
            **self._retrieved(query, chance),
        )

    def localize(self, asked: ToyInput, clip_id: str) -> tuple[float, float] | None:  # noqa: ARG002 (the signature is the protocol's)
        start = asked.query.window[0]
        return None if self.name in ("no-localization", "random") else (start, start + 5.0)

    def _retrieved(self, query: Query, chance: random.Random) -> dict[str, Any]:
        gold = query.video
        others = [f"clip{number:02d}" for number in range(12) if f"clip{number:02d}" != gold]
        names = chance.sample(others, 4)
        if found := chance.random() < 0.8:
            names.insert(chance.randrange(3), gold)
        clips = tuple(ClipScore(name, 1.0 / (rank + 1)) for rank, name in enumerate(names))
        retrieved: dict[str, Any] = {"clips": clips}
        if query.passage is not None:
            kept = [name for name in query.option_passages if name is not None]
            kept = kept if chance.random() < 0.9 else [name for name in kept if name != query.passage]
            retrieved["passages"] = tuple(
                PassageScore(name, chance.random(), i) for i, name in enumerate(kept)
            )
        if self.name != "no-localization":
            start = min(25.0, max(0.0, query.window[0] + chance.uniform(-4, 2)))
            retrieved["windows"] = tuple(
                ClipWindow(name, start, start + 5.0, 0.5) if name == gold else ClipWindow(name, 3.0, 8.0, 0.3)
                for name in names
            )
            if found:
                retrieved["frames_read"] = {gold: tuple(start + 0.5 * step for step in range(10))}
        elif found:
            retrieved["frames_read"] = {gold: tuple(1.0 + 2.0 * step for step in range(15))}
        return retrieved


def _given(query: Query, asked: TaskInput) -> ToyInput:
    return ToyInput(asked.query_id, asked.text, asked.options, query=query)


class ToyTask(Task[None]):
    """`TOY_DELAY` (seconds a query) in the environment makes it slow enough to be killed."""

    name = "toy"
    about = "random numbers"
    score_type = ToyScore
    judge = "coin"

    def __init__(
        self, data: Path | None = None, count: int = 40, failures: Mapping[str, RagError] | None = None
    ) -> None:
        """`failures`: what a solver raises, by query id."""
        self.folder = data
        self.failures = failures or {}
        self.queries = make_queries(count)
        self.dataset: Mapping[str, str] = {"queries.jsonl": "abc", "videos.jsonl": "def"}
        self.skipped: Mapping[str, str] = {}
        self.unusable: Sequence[UnusableRow] = ()
        self.prepared_with: list[Settings] = []

    @property
    def solvers(self) -> Mapping[str, SolverSpec[None]]:
        return {
            name: SolverSpec(f"right in {skill:.0%} of cases", partial(self._open, name), _given)
            for name, skill in SKILL.items()
        }

    def _open(self, name: str, _: None, seed: int) -> Any:
        return Player(name, seed, float(os.environ.get("TOY_DELAY", "0")), self.failures)

    def prepare(self, settings: Settings, progress: ProgressCallback | None = None) -> Prepared[None]:  # noqa: ARG002 (the signature is the protocol's)
        self.prepared_with.append(settings)
        dataset = self.dataset
        if self.folder is not None:
            content = (self.folder / "queries.jsonl").read_bytes()
            dataset = {"queries.jsonl": hashlib.sha256(content).hexdigest()}
        inputs = {each.query_id: TaskInput(each.query_id, each.text, each.options) for each in self.queries}
        return Prepared(
            self.queries,
            inputs,
            None,
            dataset,
            {"image": "none"},
            skipped=self.skipped,
            unusable=self.unusable,
        )

    def open_scorer(self, prepared: Prepared[None]) -> Scorer:  # noqa: ARG002 (the signature is the protocol's)
        return ToyScorer(self.judge)

    def footage(self, prepared: Prepared[None], name: str) -> Footage:  # noqa: ARG002 (of Task)
        return Footage(ToyLibrary(), name, 0.0, CLIP_SECONDS)


class ToyLibrary:
    """One picture, and a score that has its top in the middle."""

    def __init__(self) -> None:
        asked = SimpleNamespace(run=lambda *_: AnchorEvent(description="the thing of the event"))
        retriever = SimpleNamespace(score_curve=self._curve)
        self.engine = SimpleNamespace(
            reasoner=asked, new_retriever=lambda: retriever, read_frames=self._read_frames
        )

    def path_of(self, video_id: str) -> str:
        return f"{video_id}.mp4"

    def _curve(self, video_id: str, words: str) -> ScoreCurve:  # noqa: ARG002 (of a retriever)
        times = np.arange(0, CLIP_SECONDS, 0.5)
        return ScoreCurve("frames", times, np.exp(-((times - 15) ** 2) / 8))

    def _read_frames(self, path: str, times: NDArray[np.float64]) -> Frames:  # noqa: ARG002 (of an engine)
        return Frames(times, np.full((len(times), 36, 64, 3), 70, np.uint8))


def open_toy(data: Path | None = None) -> ToyTask:
    return ToyTask(data)


def run_task(task: Task[Any], name: str, seed: int, folder: Path, **how: Any) -> Done:
    """One solver of a task, under the default settings."""
    return run_solver(task, task.prepare(Settings()), name, seed, folder, **how)
