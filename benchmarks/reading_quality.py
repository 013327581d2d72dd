"""How often the embedded reasoner quotes the answer of a real text, and how well it knows.

    python -m benchmarks.reading_quality FILE... [--libraries 6] [--questions 60] [--into FOLDER]

FILE: a set that `benchmarks.reading_sets` reads. An article is a library of its own, indexed with
the default text encoder, every second one with its title; sets of very short or very long articles (reviews,
comments) are mixed into libraries of 40 paragraphs. Each library is asked `--questions` of its own questions,
a fifth as many that only other libraries of the set are asked ("foreign"), and as many of those that SQuAD
2.0 marks as impossible. A quotation is right where it holds one of the answers, as SQuAD
normalizes them. An answer that the threshold refuses counts as wrong and has no confidence. Intervals
resample libraries.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from benchmarks.options import option_parser
from benchmarks.reading_sets import Asked, ReadingLibrary, holds, reading_libraries
from eval.metrics.calibration import expected_calibration_error
from eval.metrics.intervals import Estimate, cluster_interval
from eval.metrics.scored import Scored
from eval.reports.drawing import draw_reliability
from eval.reports.spec import Row
from eval.reports.tables import markdown_table, percent_range
from eval.runs.records import Query, Sample
from indexers.protocol import TextEncoder
from indexers.registry import open_query_encoder, open_text_encoder
from rag.answering import answer_question
from rag.questions import parse_question
from rag.reasoners.embedded import EmbeddedReasoner
from rag.retrieval import Retriever
from rag.settings import Settings
from rag.store.reading import Reader
from rag.store.records import EncoderRef, FileRow, Meta
from rag.store.writing import Writer
from rag.words import split_sentences


@contextmanager
def opened(library: ReadingLibrary, encoder: TextEncoder) -> Iterator[Retriever]:
    """The library indexed in a temporary folder."""
    encoder.encode_text([asked.text for asked in library.asked])
    encoder.encode_text([sentence for one in library.passages for sentence in split_sentences(one.text)])
    with tempfile.TemporaryDirectory() as folder:
        with Writer.open(Path(folder) / "library") as writer:
            writer.set_meta(Meta(None, EncoderRef(encoder.name, encoder.fingerprint, encoder.dim)))
            texts = [f"{passage.title}\n{passage.text}" for passage in library.passages]
            passages = open_text_encoder(encoder.name, Settings().encoder)
            writer.put_passages("set", library.passages, passages.encode_text(texts))
            writer.put_file(FileRow("/passages.csv", "set", "passages", 1, 1, 1, "1"))
            writer.maintain()
        with Reader.open(Path(folder) / "library") as reader:
            yield Retriever(reader, None, encoder, Settings())


def measure(library: ReadingLibrary, encoder: TextEncoder) -> list[Scored]:
    """Every question asked."""
    scored = []
    with opened(library, encoder) as retriever:
        reasoner = EmbeddedReasoner(encoder)
        for number, asked in enumerate(library.asked):
            question = parse_question(asked.text)
            answer = answer_question(question, retriever, reasoner, retriever.settings)
            correct = answer.matched and holds(answer.text, asked.answers)
            scored.append(
                outcome(library.name, number, asked, answer.confidence, correct, matched=answer.matched)
            )
    return scored


def outcome(
    library: str, number: int, asked: Asked, confidence: float, correct: bool, *, matched: bool
) -> Scored:
    """A question of a library; `Sample.choice` is A where it was answered, None where not."""
    query = Query(f"{library}-{number}", asked.text, (), "", asked.kind, "", library, (0.0, 0.0))
    choice = "A" if matched else None
    sample = Sample(
        *(query.query_id, asked.kind, "", library, choice, matched and correct, None), confidence=confidence
    )
    return Scored(query, sample, None, None, False, False)


def share(scored: Sequence[Scored], *, answered: bool) -> Estimate | None:
    """The share of questions that are answered, or answered right."""
    values = [float(one.sample.choice is not None if answered else one.sample.correct) for one in scored]
    return cluster_interval(values, [one.query.cluster for one in scored])


HEAD = (
    *("set", "libraries", "questions", "right", "answered", "calibration error", "foreign answered"),
    "impossible answered",
)


def report(name: str, scored: Sequence[Scored]) -> list[str]:
    """One line of a table: shares in percent with their intervals."""
    own, foreign, impossible = (
        [one for one in scored if one.query.family == kind] for kind in ("own", "foreign", "impossible")
    )
    figures = (
        share(own, answered=False),
        share(own, answered=True),
        expected_calibration_error(_answered(scored)),
        share(foreign, answered=True),
        share(impossible, answered=True),
    )
    counts = (len({one.query.cluster for one in own}), len(own))
    return [name, *map(str, counts), *map(percent_range, figures)]


def _answered(scored: Sequence[Scored]) -> list[Scored]:
    """The library's own questions that are answered."""
    return [one for one in scored if one.query.family == "own" and one.sample.choice is not None]


def main() -> None:
    """Print one line a set; `--into`: the reliability diagram of the answered questions too."""
    parser = option_parser(__doc__)
    parser.add_argument("files", nargs="+", type=Path, help="each may end with its articles, as `:0-24`")
    parser.add_argument("--libraries", type=int, default=6)
    parser.add_argument("--questions", type=int, default=60)
    parser.add_argument("--into", type=Path, help="folder for reliability.png")
    chosen = parser.parse_args()
    encoder = open_query_encoder(Settings().encoder.text, Settings().encoder)
    tables = {
        path.stem: [
            scored
            for library in reading_libraries(path, chosen.libraries, chosen.questions)
            for scored in measure(library, encoder)
        ]
        for path in chosen.files
    }
    print_table(tables)
    if chosen.into is not None:
        draw(tables, chosen.into)


def print_table(tables: Mapping[str, Sequence[Scored]]) -> None:
    """One line a set."""
    print(markdown_table(HEAD, [report(name, scored) for name, scored in tables.items()]), end="")


def draw(tables: Mapping[str, Sequence[Scored]], folder: Path) -> None:
    """`reliability.png`: share right by confidence of each set's own questions that are answered."""
    rows = ((name, tuple(_answered(scored))) for name, scored in tables.items())
    folder.mkdir(parents=True, exist_ok=True)
    draw_reliability([Row(name, name, {}, row, ()) for name, row in rows if row], folder)


if __name__ == "__main__":
    main()
