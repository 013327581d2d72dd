"""Cues put together into sentences, with their times."""

from hypothesis import given
from hypothesis import strategies as st

from corpora.records import Clip, Evidence, Passage
from localization.windows import Window
from rag.cues import joined_cues
from rag.reasoners.embedded.rewriting import anchor_event, rewrite_question
from rag.reasoners.embedded.sentences import sentences_of
from rag.reasoners.roles.reading import Reading, ReadPassage, ReadWindow
from rag.records import Question
from rag.words import split_sentences


def cue(start: float, end: float, text: str) -> Evidence:
    return Evidence("v", start, end, "subtitle", text)


def reading(*passages: Passage, heading: str = "", title: str = "") -> Reading:
    question = Question("q", "When should I flip a pancake?")
    texts = (Evidence("v", 0.0, 30.0, "tag", heading),) if heading else ()
    window = ReadWindow(
        "v.mp4", title, Clip("v:00000", "v", 0.0, 30.0), Window("v", 0.0, 8.0, 1.0), 1.0, texts
    )
    read = tuple(ReadPassage(passage, "p.md", 1.0, None) for passage in passages)
    return Reading(question, rewrite_question(question), anchor_event(question), (window,), read)


def test_a_title_and_tags_are_never_quoted_and_a_description_may_be() -> None:
    for title in ("decord flipping a pancake", "How to flip. A pancake."):
        bare = title.rstrip(".")
        assert sentences_of(reading(heading=bare, title=title)) == []
        heading = (
            f"{bare}. Flip it when bubbles stay open. Serve warm with syrup. cooking, flat pan cakes, food"
        )
        assert [s.text for s in sentences_of(reading(heading=heading, title=title))] == [
            "Flip it when bubbles stay open.",
            "Serve warm with syrup.",
        ]


def test_a_heading_is_no_part_of_the_sentence_below_it() -> None:
    text = (
        "Mirror\nThe primary mirror is gold. It is\nvery cold.\n\nThe Shield\n\nFive layers keep it cool.\n"
        "Torque: 110 Nm\n\n- Two eggs\n- Some milk"
    )
    sentences = sentences_of(reading(Passage("p", "d", "Webb", text)))
    assert [(s.title, s.text) for s in sentences] == [
        ("Webb: Mirror", "The primary mirror is gold."),
        ("Webb: Mirror", "It is very cold."),
        ("Webb: The Shield", "Five layers keep it cool."),
        ("Webb: The Shield", "Torque: 110 Nm"),
        ("Webb: The Shield", "Two eggs"),
        ("Webb: The Shield", "Some milk"),
    ]


def test_a_row_of_a_table_is_compared_below_the_heads_of_its_columns() -> None:
    table = "| metal | rpm |\n|-|-|\n| steel | 600 |\n| brass\\|zinc | 900 |"
    text = f"Speeds\n\n{table}\n\nThe machine stops.\n1. Close it.\n\n| Body | wood |"
    sentences = sentences_of(reading(Passage("p", "d", "", text)))
    assert [(s.text, s.context) for s in sentences] == [
        ("steel | 600", "metal steel, rpm 600"),
        ("brass\\|zinc | 900", "metal brass|zinc, rpm 900"),
        ("The machine stops.", "The machine stops."),
        ("Close it.", "Close it."),
        ("Body | wood", "Body, wood"),
    ]


def test_a_question_is_no_sentence_but_said_before_its_answer() -> None:
    table = "| Tool | Price |\n|-|-|\n| Saw | ? |"
    text = f"What does it cost?\n\n{table}\n\nIs it loose, and why? It is worn. متى؟ الثامنة."
    assert [(s.text, s.context) for s in sentences_of(reading(Passage("p", "d", "", text)))] == [
        ("Saw | ?", "Tool Saw, Price ?"),
        ("It is worn.", "Is it loose, and why? It is worn."),
        ("الثامنة.", "متى؟ الثامنة."),
    ]


def test_a_line_that_a_wrapped_sentence_begins_with_is_no_heading() -> None:
    text = "The pump runs at a temperature\nof forty degrees.\nA shift fills 900 bottles."
    (first, second) = sentences_of(reading(Passage("p", "d", "", text)))
    assert (first.title, first.text) == ("", "The pump runs at a temperature of forty degrees.")
    assert second.text == "A shift fills 900 bottles."


def test_short_lines_without_prose_below_are_sentences_not_headings() -> None:
    for text in ("Red paint", "Red paint\n\nBlue paint", "The mirror of the\nWebb telescope is gold."):
        sentences = sentences_of(reading(Passage("p", "d", "", text)))
        paragraphs = [" ".join(paragraph.split()) for paragraph in text.split("\n\n")]
        assert [(s.title, s.text) for s in sentences] == [("", paragraph) for paragraph in paragraphs]


def test_a_sentence_runs_over_cues_but_not_over_silence_and_two_may_share_one() -> None:
    cues = [
        cue(0, 3, "The mirror is made of eighteen"),
        cue(3, 6, "segments of beryllium. Gold covers"),
        cue(6, 9, "all of them."),
        cue(9, 10, "And"),
        cue(19, 20, "so on"),
    ]
    assert joined_cues(cues) == [
        ("The mirror is made of eighteen segments of beryllium.", 0, 6),
        ("Gold covers all of them.", 3, 9),
        ("And", 9, 10),
        ("so on", 19, 20),
    ]


def test_rolling_captions_add_only_what_is_new() -> None:
    cues = [
        cue(0, 2, "we clean the chain"),
        cue(2, 4, "we clean the chain with a brush"),
        cue(4, 6, "with a brush and a rag."),
        cue(6, 7, "with a brush and a rag."),
    ]
    assert [text for text, _, _ in joined_cues(cues)] == ["we clean the chain with a brush and a rag."]


def test_speech_without_punctuation_is_cut_where_a_cue_begins() -> None:
    cues = [cue(i, i + 1, f"word{i} " + "and so on " * 3) for i in range(60)]
    sentences = joined_cues(cues)
    assert len(sentences) > 3
    assert all(len(text.split()) <= 45 for text, _, _ in sentences)
    assert all(text.startswith("word") for text, _, _ in sentences)
    assert (sentences[0][1], sentences[-1][2]) == (0, 60)


def test_a_long_sentence_that_ends_is_whole() -> None:
    cues = [cue(i, i + 1, f"part{i} of one thing that is") for i in range(11)]
    cues.append(cue(11, 12, "said. And more."))
    (first, start, end), (second, _, _) = joined_cues(cues)
    assert len(first.split()) == 67
    assert first.endswith("that is said.")
    assert (start, end) == (0, 12)
    assert second == "And more."
    endless = " ".join(f"word{at}" for at in range(100))
    assert [len(text.split()) for text, _, _ in joined_cues([cue(0, 9, endless)])] == [45, 45, 10]


def test_a_sentence_ends_at_the_stop_of_its_script() -> None:
    assert split_sentences("图书馆九点开门。馆长是李明！真的？！是") == [
        "图书馆九点开门。",
        "馆长是李明！",
        "真的？！",
        "是",
    ]
    assert split_sentences("「行こう。」と言った。次へ") == ["「行こう。」と言った。", "次へ"]
    assert split_sentences("यह है। वह है।") == ["यह है।", "वह है।"]
    assert split_sentences("کیا ہے؟ یہ ہے۔ وہ") == ["کیا ہے؟", "یہ ہے۔", "وہ"]


def test_abbreviations_and_decimals_end_nothing() -> None:
    assert split_sentences("Dr. Rossi paid 3.50 dollars. He left!  Why? “Gone.”") == [
        "Dr. Rossi paid 3.50 dollars.",
        "He left!",
        "Why?",
        "“Gone.”",
    ]
    assert split_sentences(
        "Am 31. Dezember 2019 waren es 12. Der Rest kam am 3. Mai. He was 71. Then he left."
    ) == ["Am 31. Dezember 2019 waren es 12.", "Der Rest kam am 3. Mai.", "He was 71.", "Then he left."]
    said = ["Der Verein Rosenau e. V. tagt um 9 Uhr.", "At 7 a.m. We go 8 m. Plan b. The u. a. Bad Ems."]
    assert split_sentences(" ".join(said)) == [
        said[0],
        "At 7 a.m.",
        "We go 8 m.",
        "Plan b.",
        "The u. a. Bad Ems.",
    ]


@given(st.lists(st.text("ab .?", max_size=30), max_size=12))
def test_no_word_is_lost_or_made(texts: list[str]) -> None:
    cues = [cue(2.0 * i, 2.0 * i + 2, f"{i}x {text}") for i, text in enumerate(texts)]
    words = " ".join(text for text, _, _ in joined_cues(cues)).split()
    assert words == " ".join(evidence.text for evidence in cues).split()
    assert all(start < end for _, start, end in joined_cues(cues))
