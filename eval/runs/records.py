"""Records of the evaluation: what a solver sees and gives, the gold, the score, and the sample of both.

A solver turns a `TaskInput` into an `Output`; a scorer holds the output against
the `Query`, which has the gold, and gives a `Score`. Output and score together
are a `Sample`, one line of `samples.jsonl`. All measures are functions of query
and sample. Times are seconds on the clip's own clock, intervals half-open
[start, end).
"""

from __future__ import annotations

import dataclasses
import json
import math
import string
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from corpora.errors import file_error
from eval.resumable import whole_lines
from rag.errors import UsageError

if TYPE_CHECKING:
    from rag.records import Usage


LETTERS = string.ascii_uppercase
"""The labels of options, as in `rag ask`."""


class ClipScore(NamedTuple):
    """A retrieved clip with its score."""

    clip_id: str
    score: float


def ranked_clips(clip_ids: Iterable[str]) -> tuple[ClipScore, ...]:
    """Clips, best first, with the inverse of their rank for a score."""
    return tuple(ClipScore(clip_id, 1.0 / rank) for rank, clip_id in enumerate(clip_ids, start=1))


class PassageScore(NamedTuple):
    """A retrieved passage with its score."""

    passage_id: str
    score: float
    option: int | None = None
    """Index of the option it was retrieved for; None where it was retrieved for the whole question."""


class ClipWindow(NamedTuple):
    """A window [start, end) in seconds of a clip, with its score."""

    clip_id: str
    start: float
    end: float
    score: float


@dataclass(frozen=True, slots=True)
class TaskInput:
    """All that a solver sees of a query. A task with more to see inherits from it."""

    query_id: str
    text: str
    options: tuple[str, ...] = ()
    """As they are shown; empty for an open question."""
    video: str = ""
    """The one that it asks about, where the task says it; an oracle is given the right one."""


@dataclass(frozen=True, slots=True)
class Query:
    """One question with its gold: for scorers, measures and reports, never for solvers."""

    query_id: str
    text: str
    options: tuple[str, ...]
    """Shuffled, as they are shown; empty for an open query."""
    answer: str
    """Letter of the right one among the shuffled options; of an open query, its right answer."""
    family: str
    video: str
    """Gold clip."""
    cluster: str
    """The video that the gold clip was cut from: intervals are clustered by it."""
    window: tuple[float, float]
    """The gold event; (0, 0) where it is unknown."""
    order: tuple[int, ...] = ()
    """Shuffled option i was at `order[i]` before shuffling; empty where that is unknown."""
    passage: str | None = None
    """Gold passage; None for one hop."""
    option_passages: tuple[str | None, ...] = ()
    truth: tuple[str, ...] = ()
    """What each shuffled option is: `true`, `counterfact`, `fact-distractor`, ..."""
    seen: tuple[float, float] | None = None
    """When the deciding object shows in use; None where that is not known."""
    anchor: tuple[float, float] | None = None
    """The event that a temporal query names; None for a local one."""
    position: str = "within"
    """Where the gold event is relative to the anchor: `before`, `after`, or `within`."""

    @property
    def has_window(self) -> bool:
        """Whether it is known when the gold event is."""
        return self.window[1] > self.window[0]


@dataclass(frozen=True, slots=True)
class UnusableRow:
    """A row of published data that no query can be made of, or only one without what the reason names."""

    place: str
    """`FILE:LINE`, or the file and the number of the row."""
    reason: str


@dataclass(frozen=True, slots=True)
class Output:
    """What a solver made of one input. Floats are rounded to 6 decimals when written."""

    choice: str | None = None
    """Letter among the options; None where the solver gave none, and for an open question."""
    scores: tuple[float, ...] = ()
    """Probability of each option; empty where the solver has none."""
    confidence: float = 0.0
    """Probability in [0, 1] that the answer is right."""
    clips: tuple[ClipScore, ...] = ()
    """Retrieved, best first; empty for a solver that retrieves none."""
    passages: tuple[PassageScore, ...] = ()
    """Retrieved, in any order; ranked by score when measured."""
    windows: tuple[ClipWindow, ...] = ()
    """The windows read of retrieved clips; empty for a solver that localizes none."""
    frames_read: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    """Times of the frames that were read, by clip; of them those of the gold clip are written."""
    evidence: Mapping[str, Any] = field(default_factory=dict)
    """JSON, small: the answer of an open question, candidates, captions, rewritten queries."""
    tokens: Mapping[str, int] = field(default_factory=dict)
    """By kind; their sum is what the query cost (`token_counts`)."""
    parse_failure: bool = False
    """A language model's reply could not be read, after repair; the choice then is None or a fallback."""


def token_counts(usage: Usage) -> dict[str, int]:
    """`Output.tokens` of a usage, which sum to all of its tokens: prompts are without their images."""
    return {
        "prompt": usage.prompt_tokens - usage.image_tokens,
        "completion": usage.completion_tokens,
        "image": usage.image_tokens,
    }


@dataclass(frozen=True, slots=True)
class Score:
    """The verdict on one output. A task with more to say inherits from it.

    A field that `Sample` has too (`understood`) is written there, any other into
    the sample's `evidence`; one that equals its default is not written.
    """

    correct: bool
    unjudged: str = ""
    """Why the output could not be judged; it then counts in no measure. Empty where it was. Begins with
    `NO_GOLD` where the benchmark keeps the gold."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Output and score of one query: a line of `samples.jsonl`."""

    query_id: str
    family: str
    video: str
    """Gold clip."""
    cluster: str
    choice: str | None
    correct: bool
    unshuffled_choice: str | None
    """Letter of the choice before shuffling; None where the order is unknown."""
    scores: tuple[float, ...] = ()
    confidence: float = 0.0
    clips: tuple[ClipScore, ...] = ()
    passages: tuple[PassageScore, ...] = ()
    windows: tuple[ClipWindow, ...] = ()
    gold_window_found: tuple[float, float] | None = None
    """The window localized inside the gold clip, whether or not that clip was retrieved."""
    gold_frames: tuple[float, ...] = ()
    """Times of the frames that were read of the gold clip."""
    understood: bool | None = None
    """Judged: what was read of the gold clip names the event asked for; None: not judged."""
    evidence: Mapping[str, Any] = field(default_factory=dict)
    """The output's, and the score's own fields."""
    tokens: Mapping[str, int] = field(default_factory=dict)
    parse_failure: bool = False
    usage: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Counts of a language model's calls by role; not written where none was called."""


_SHARED = {each.name for each in fields(Output)} & {each.name for each in fields(Sample)} - {"evidence"}
_IN_SAMPLE = {each.name for each in fields(Sample)}


def make_sample(
    query: Query, output: Output, score: Score, window: tuple[float, float] | None = None
) -> Sample:
    """`window`: what the solver localized in the gold clip, unless the score says it.

    Raises `ValueError` for a letter that no option has.
    """
    place = None if output.choice is None else option_index(query, output.choice)
    verdict = {each.name: getattr(score, each.name) for each in fields(score) if _says(score, each)}
    verdict.setdefault("gold_window_found", window)
    return Sample(
        query_id=query.query_id,
        family=query.family,
        video=query.video,
        cluster=query.cluster,
        unshuffled_choice=LETTERS[query.order[place]] if place is not None and query.order else None,
        gold_frames=tuple(output.frames_read.get(query.video, ())),
        evidence={
            **output.evidence,
            **{name: value for name, value in verdict.items() if name not in _IN_SAMPLE},
        },
        **{name: getattr(output, name) for name in _SHARED},
        **{name: value for name, value in verdict.items() if name in _IN_SAMPLE},
    )


VIDEO_MISSING, VIDEO_UNREADABLE = "video missing", "video unreadable"
"""How the reason of a skipped query begins; `: ` and the video's name follow."""
NO_GOLD = "no gold"
"""How `Score.unjudged` begins where the benchmark's own server scores the answers."""


def skipped_sample(query: Query, reason: str) -> Sample:
    """Make the sample of a query that was not asked; it counts in no measure."""
    return make_sample(query, Output(evidence={"skipped": reason}), Score(correct=False))


def skip_reason(sample: Sample) -> str:
    """Why the query was not asked; empty where it was."""
    return str(sample.evidence.get("skipped", ""))


def without_gold(sample: Sample) -> bool:
    """Whether the benchmark keeps the gold of the query."""
    return str(sample.evidence.get("unjudged", "")).startswith(NO_GOLD)


def split_reason(reason: str) -> tuple[str, str]:
    """Kind and details of a `kind: details`, as samples are skipped and rows unusable for."""
    kind, _, details = reason.partition(": ")
    return kind, details


def reason_counts(reasons: Iterable[str]) -> dict[str, int]:
    """How often each kind of reason; the most frequent first."""
    counts = Counter(split_reason(reason)[0] for reason in reasons if reason)
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def output_of(sample: Sample, kind: type[Score]) -> Output:
    """The output that a stored sample was made of, to be scored again; `kind`: what it was scored as."""
    own = {each.name for each in fields(kind)}
    return Output(
        frames_read={sample.video: sample.gold_frames} if sample.gold_frames else {},
        evidence={key: value for key, value in sample.evidence.items() if key not in own},
        **{name: getattr(sample, name) for name in _SHARED},
    )


def _says(score: Score, each: Any) -> bool:
    default = each.default if each.default_factory is MISSING else each.default_factory()
    return default is MISSING or getattr(score, each.name) != default


def option_index(query: Query | TaskInput, letter: str) -> int:
    """Raises `ValueError` for a letter that no option has."""
    place = LETTERS.find(letter) if len(letter) == 1 else -1
    if not 0 <= place < len(query.options):
        raise ValueError(f"query {query.query_id} has no option {letter!r}")
    return place


Record = TypeVar("Record", Query, Sample)

DECIMALS = 6


def canonical(value: Any) -> Any:
    """Records, mappings and sequences as JSON, floats rounded. Raises `ValueError` for NaN and infinities."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {each.name: canonical(getattr(value, each.name)) for each in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): canonical(value[key]) for key in sorted(value, key=str)}
    if isinstance(value, str | bool | int) or value is None:
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{value} cannot be written")
        return round(float(value), DECIMALS) + 0.0
    if isinstance(value, Sequence):
        return [canonical(inner) for inner in value]
    raise ValueError(f"no JSON for {type(value).__name__}")


def record_line(record: Query | Sample) -> str:
    """One line of canonical JSON."""
    shape = canonical(record)
    if isinstance(record, Sample) and not record.usage:
        del shape["usage"]
    return json.dumps(shape, ensure_ascii=True, allow_nan=False) + "\n"


def read_whole_records(path: Path, kind: type[Record]) -> Iterator[Record]:
    """Read the records of all whole lines: a killed run may have cut the last one off.

    Raises `UsageError` naming the line that holds no such record.
    """
    from pydantic import TypeAdapter, ValidationError

    try:
        path.stat()  # a missing file is no empty one
        lines = whole_lines(path).splitlines()
    except OSError as error:
        raise file_error(path, error, "read") from error
    adapter = TypeAdapter(kind)
    for number, line in enumerate(lines, 1):
        try:
            yield adapter.validate_json(line)
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(str(part) for part in first["loc"]) or "it"
            raise UsageError(
                f"{path}:{number}: no {kind.__name__.lower()}: {place}: {first['msg']}"
            ) from error


def check_sample(query: Query, sample: Sample) -> None:
    """Raises `ValueError` where a sample contradicts its query or itself.

    Whether the answer to an open question is right was judged: there is no letter to compare.
    """
    shown = option_index(query, sample.choice) if sample.choice is not None else None
    unshuffled = LETTERS[query.order[shown]] if shown is not None and query.order else None
    judged = bool(query.options) and not sample.evidence.get("unjudged")
    claims = {
        "query_id": (sample.query_id, query.query_id),
        "family": (sample.family, query.family),
        "video": (sample.video, query.video),
        "cluster": (sample.cluster, query.cluster),
        "correct": (sample.correct, sample.choice == query.answer if judged else sample.correct),
        "unshuffled_choice": (sample.unshuffled_choice, unshuffled),
    }
    for name, (stated, expected) in claims.items():
        if stated != expected:
            raise ValueError(f"query {query.query_id}: {name} is {stated!r}, expected {expected!r}")
    if sample.scores and len(sample.scores) != len(query.options):
        raise ValueError(
            f"query {query.query_id}: {len(sample.scores)} scores of {len(query.options)} options"
        )
    if not 0.0 <= sample.confidence <= 1.0:
        raise ValueError(f"query {query.query_id}: confidence {sample.confidence}")
