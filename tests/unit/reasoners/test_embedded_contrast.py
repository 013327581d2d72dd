"""Whether a text is about another thing of the kind than a question, and what is answered from it."""

from __future__ import annotations

import pytest

from corpora.records import Passage
from rag.reasoners.embedded.answer_choice import answer_choice
from rag.reasoners.embedded.answer_open import answer_open
from rag.reasoners.embedded.contrast import find_contrast, names_another
from rag.reasoners.embedded.rewriting import anchor_event, rewrite_question
from rag.reasoners.embedded.scoring import SentenceVectors
from rag.reasoners.roles.reading import Reading, ReadPassage, sample_window
from rag.records import Question
from tests.fakes.answer_world import BagOfWords


@pytest.mark.parametrize(
    ("question", "text", "another"),
    [
        ("When is lunch served?", "Breakfast is served from 7 to 10.", True),
        ("When is lunch served?", "Breakfast is at 7, lunch at 12.", False),
        ("What is the maximum speed?", "The minimum speed is 30 km/h.", True),
        ("When does her mum arrive?", "Her father arrives at noon.", True),
        ("How deep is the lake?", "The lake is shallow.", False),
        ("Where does the cat sleep?", "The dog sleeps in the kitchen.", False),
        ("Is the valve open?", "The valve is closed.", False),
        ("When is the valve open?", "The valve is closed at night.", True),
    ],
)
def test_a_text_that_names_another_thing_of_the_kind(question: str, text: str, another: bool) -> None:
    assert names_another(question, text) is another


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How often does the Beta comet return?", "The Alpha comet returns every 12 years."),
        ("When does gate B open?", "Gate A opens at seven in the morning."),
        ("How heavy is the model 500?", "The model 300 weighs 12 kg."),
        ("What does size L cost?", "Size M costs 20 euros."),
        ("How often must valve 7 be replaced?", "Valve 3 must be replaced every 200 hours."),
        ("Where does flight LH 730 depart from?", "Flight LH 450 departs from terminal 2."),
        ("How many wives did Henry VII have?", "Henry VIII had six wives."),
        ("When did World War II begin?", "World War I began in 1914."),
        ("When did Apollo 12 land?", "Apollo 11 landed in July 1969."),
        ("How long is the yellow boat?", "The blue boat is 12 metres long."),
        ("How hot must the oven be for the cheese cake?", "Heat the oven to 180 degrees for the apple cake."),
        ("How many rooms does the second floor have?", "The first floor has 12 rooms."),
        ("What does the right pedal move?", "The left pedal moves the carriage."),
        ("Where does the evening tour start?", "The morning tour starts at the fountain."),
        ("When does the pool open?", "The pool closes at nine in the evening."),
        ("By how much did sales fall in March?", "Sales rose by 12 percent in March."),
        ("What is the population of Bremen?", "The population of Hamburg is 1.8 million."),
        ("When does the train to Nice leave?", "The train to Lyon leaves at 8:15."),
        ("When did Ingrid win the race?", "Clara won the race in 1988."),
        ("When was John Smith born?", "Peter Smith was born in 1950 in Leeds."),
        ("Where does the wife of Mr. Falk live?", "The wife of Mr. Ode lives in Kiel."),
        ("Wie oft kehrt der Beta-Komet zurück?", "Der Alpha-Komet kehrt alle 12 Jahre zurück."),
        ("Wann öffnet Tor B?", "Tor A öffnet um sieben Uhr."),
        ("Wie lang ist das gelbe Boot?", "Das blaue Boot ist 12 Meter lang."),
        (
            "Wie hoch ist die Einwohnerzahl von Bremen?",
            "Die Einwohnerzahl von Hamburg beträgt 1,8 Millionen.",
        ),
        ("Was kostet das Zimmer 15?", "Das Zimmer 12 kostet 80 Euro."),
        ("What is the tax in Sweden?", "In Norway the tax is 25 percent."),
        ("How long does the delivery take for the chair?", "The delivery takes two weeks for the table."),
        ("What is the price for the chair?", "The price for the table is 40 euros."),
        ("Who took the plant to Japan?", "Marco took to China of all places the plant."),
        ("How many moons does Venus have?", "Mars has two moons."),
        ("How many strings has Vesna?", "Petra has four strings."),
        ("Wann öffnet das Schwimmbad?", "Das Schwimmbad schließt um neun Uhr."),
        ("Wann öffnet die Bibliothek am Markt?", "Die Bibliothek am Markt schließt um acht."),
        ("Ab wann kauft der Laden Brot?", "Der Laden verkauft Brot ab Montag."),
        ("Wann beginnt das Konzert?", "Das Konzert endet gegen elf."),
        ("Wann ist die Ankunft in Ulm?", "Die Abfahrt in Ulm ist um acht."),
        ("When does the shop at the bridge open?", "The shop at the bridge is closed from noon on."),
    ],
)
def test_a_text_that_has_another_thing_in_the_same_place(question: str, text: str) -> None:
    assert find_contrast(question, text)
    assert not find_contrast(question, f"{text} {question}"), "it has both"
    assert not find_contrast(question, text, question), "its title has what is asked about"


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How often does the Beta comet return?", "The comet returns every 12 years."),
        ("How often does the Beta comet return?", "Comets such as Alpha or Beta return every 12 years."),
        ("When does gate B open?", "Gates A and B open at seven in the morning."),
        ("Where does bus line 4 leave from?", "Bus lines 3 to 9 leave from the main station."),
        ("How often must valve 7 be replaced?", "All valves must be replaced every 200 hours."),
        ("How many times five is it?", "It is 5 times more."),
        ("When does the pool open?", "The pool opens at seven and closes at nine."),
        ("How tight must the lower screw be?", "Tighten the upper and the lower screw to 12 Nm."),
        ("When was the wooden bridge built?", "The old wooden bridge was built in 1850."),
        ("When was the bridge built?", "The famous bridge was built in 1850 by Brunel."),
        ("When was the old lighthouse lit?", "The lighthouse in the harbour was lit by gas."),
        ("What did the network install in 1999?", "The vBNS installed a link in 1999."),
        ("When did France rebuild its global empire?", "France rebuilt its worldwide empire after 1850."),
        ("How many people does the Leipzig office employ?", "The Leipzig branch employs 40 people."),
        ("When did Ingrid win the race?", "Ingrid Olsen won the race in 1988."),
        ("When was Marie Curie born?", "Curie was born in Warsaw in 1867."),
        ("When did President Obama visit Kenya?", "Barack Obama visited Kenya in 2015."),
        ("What does Professor Hart teach?", "Dr. Amelia Hart teaches botany."),
        ("Where did Sentanta Sports launch?", "Setanta Sports confirmed that it would launch in March."),
        ("Which countries depend on US security?", "Iran depends on American security."),
        ("Who did Britain exploit?", "The British exploited the weakness of the state."),
        ("What does the currently flooded terrace have?", "The wholly flooded terrace has valleys."),
        ("When did World War II begin?", "The Second World War began in 1939."),
        ("What binds to the class 1 receptor?", "A cell binds to the class I receptor."),
        ("What was Apple Talk?", "AppleTalk was a suite of protocols of Apple Inc."),
        ("Was kostet das Zimmer 15?", "Die Zimmer 12 und 15 kosten 80 Euro."),
        ("Wie lange dauert die Zugfahrt nach Köln?", "Die lange Zugfahrt nach Köln dauert vier Stunden."),
        ("Who is called in the event of a fault?", "The warden is called in the case of a fault."),
        ("What rings at the start of the tour?", "A bell rings at the beginning of the tour."),
        ("How old is the bridge?", "The new bridge was built in 1980."),
        ("Wie alt ist die Brücke?", "Die neue Brücke wurde 1980 gebaut."),
        ("Wann ist das Bad geöffnet?", "Das Bad öffnet um 9 und schließt um 17 Uhr."),
        ("Wann schließt das Bad?", "Das Bad ist ab 17 Uhr geschlossen."),
        ("When does the pool open?", "The pool closes at nine; the pool is heated before."),
        ("Is the shop open at noon?", "The shop is closed at noon."),
        ("Is the pool open in winter?", "The pool is closed in winter."),
        ("What is the tax in Sweden?", "The tax is 25 percent in 1990."),
        ("What does the court of Bern say?", "The court says no to Basel."),
        ("How many ears does Vesna have?", "Everyone has two ears."),
        ("How much is due under the EU law?", "Tax is due under the European law."),
        ("Which bus runs on Wednesday?", "The bus 9 runs on Monday to Friday."),
        ("Which bus runs on Sunday?", "The bus 9 runs on Monday and every day."),
        ("Wer half beim Entwurf der Main Quadrangles?", "Die Gebäude der Main Quadrangles entwarf Cobb."),
    ],
)
def test_a_text_that_may_be_about_the_same_thing(question: str, text: str) -> None:
    assert not find_contrast(question, text)


def test_a_name_in_another_place_is_none_where_the_passage_has_that_of_the_question() -> None:
    for question, text in (
        ("What is the tax in Sweden?", "In Stockholm the tax is 25 percent."),
        ("How many rooms does Falkenberg have?", "Rosenau has nine rooms."),
    ):
        assert find_contrast(question, text)
        assert not find_contrast(question, text, around=f"Sweden and Falkenberg are old. {text}")


def test_names_of_one_full_name_are_of_one_thing() -> None:
    question, text = "When did Beyoncé release her album?", "Knowles released her album in 2003."
    assert find_contrast(question, text)
    assert not find_contrast(question, text, around=f"Beyoncé Giselle Knowles is a singer. {text}")


def _reading(question: Question, title: str, *texts: str, spoken: str = "") -> Reading:
    passages = tuple(
        ReadPassage(Passage(f"p{at}", "d", title, text), "p.md", 0.9, None) for at, text in enumerate(texts)
    )
    windows = (sample_window(0, spoken),) if spoken else ()
    return Reading(question, rewrite_question(question), anchor_event(question), windows, passages)


ALPHA, BETA = "The Alpha comet returns every 12 years.", "The Beta comet returns every 30 years."
OFTEN = "How often does the Beta comet return?"


@pytest.mark.parametrize(
    ("title", "text", "answer"),
    [
        ("", ALPHA, ""),
        ("", f"{ALPHA} It was found in 1920. The comet is faint.", ""),
        ("", f"{ALPHA} {BETA}", BETA),
        ("The Beta comet", "It returns every 12 years.", "It returns every 12 years."),
        ("", "The Beta comet is faint. It returns every 12 years.", "It returns every 12 years."),
    ],
)
def test_what_a_text_says_of_another_thing_is_no_answer(title: str, text: str, answer: str) -> None:
    found = answer_open(_reading(Question("q", OFTEN), title, text), SentenceVectors(BagOfWords()), None)
    assert (found.text if found.confidence >= 0.3 else "") == answer


def test_what_is_said_of_another_thing_is_no_answer() -> None:
    said = _reading(Question("q", OFTEN), "", spoken=ALPHA)
    assert not answer_open(said, SentenceVectors(BagOfWords()), None).text


@pytest.mark.parametrize(
    ("question", "text", "options", "why"),
    [
        (OFTEN, ALPHA, (), "“Alpha comet”, and not “Beta comet”"),
        (OFTEN, ALPHA, ("12 years", "30 years"), "“Alpha comet”, and not “Beta comet”"),
        ("When does gate B open?", "Gate A opens at 7.", (), "“Gate A”, and not “gate B”"),
        ("What is the tax in Sweden?", "In Norway the tax is 25 %.", (), "“in Norway”, and not “in Sweden”"),
        ("When does the pool open?", "The pool closes at nine.", (), "“pool closes”, and not “pool open”"),
        ("Which choir sings in May?", "The Bach choir sings in June.", (), "“June”, and not “May”"),
    ],
)
def test_a_refusal_says_which_other_thing_the_text_is_about(
    question: str, text: str, options: tuple[str, ...], why: str
) -> None:
    reading, vectors = _reading(Question("q", question, options), "", text), SentenceVectors(BagOfWords())
    found = (answer_choice if options else answer_open)(reading, vectors, None)
    assert found.explanation.endswith(f"“{text}” is about {why}.")


def test_a_refusal_names_no_other_thing_where_none_is_known() -> None:
    reading = _reading(Question("q", "Who is the mayor?"), "", ALPHA)
    found = answer_open(reading, SentenceVectors(BagOfWords()), None)
    assert found.explanation == "No sentence of the evidence speaks to the question."


@pytest.mark.parametrize(("texts", "choice"), [((ALPHA,), None), ((ALPHA, BETA), "B")])
def test_an_option_that_is_right_of_another_thing_is_not_chosen(
    texts: tuple[str, ...], choice: str | None
) -> None:
    asked = Question("q", OFTEN, ("12 years", "30 years"))
    assert answer_choice(_reading(asked, "", *texts), SentenceVectors(BagOfWords()), None).choice == choice
