"""What planted uploads are called and what they tell; none of it says what is used in the film.

A story is told in a description, and a question refers to it in other words: it
has an occasion, which several uploads share, and a detail, which sets one apart.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Told:
    """One thing said in two ways that share hardly a word."""

    plain: str
    other: str


OCCASIONS: tuple[Told, ...] = (
    Told("Filmed the morning after my sister's wedding", "on the day after a sibling had got married"),
    Told("Recorded while we waited for the plumber", "during the wait for somebody to mend the pipes"),
    Told("Shot on the first day of my holidays", "at the very start of some time off work"),
    Told("Made during the big power cut", "when there was no electricity for hours"),
    Told("Filmed on the day the first snow fell", "when winter showed itself for the first time"),
    Told("Recorded the evening before we moved house", "on the last night before going to live elsewhere"),
    Told("Shot while the kids were at school", "while the children were away at their lessons"),
    Told("Filmed right after I quit my job", "just after somebody had handed in their notice"),
    Told("Made on grandfather's ninetieth birthday", "on the day an old man in the family turned ninety"),
    Told("Recorded with my arm in a cast", "by somebody with a broken limb"),
)
DETAILS: tuple[Told, ...] = (
    Told("the dog slept through all of it", "with a pet dozing the whole time"),
    Told("my neighbour had borrowed the good camera", "with the better camera lent to someone next door"),
    Told("not a drop of coffee left in the house", "with nothing hot and strong left to drink"),
    Told("the radio was far too loud", "with noisy music from a receiver"),
    Told("the internet was down as well", "without any connection to the network"),
    Told("all because of a bet I lost", "as the price of a wager"),
    Told("thirty degrees and no wind", "in summer heat"),
    Told("my brother kept interrupting", "with a relative who would not stop disturbing"),
)
SERIES: tuple[str, ...] = (
    "Weekday chores, part {n}",
    "One camera, one day ({n})",
    "Odd jobs no. {n}",
    "Getting things done, week {n}",
    "Hands at work {n}",
    "Nothing special, day {n}",
    "A slow day, take {n}",
    "To-do list {n}",
)


@dataclass(frozen=True, slots=True)
class Spoken:
    """A line that somebody says in passing, and what can be asked of it."""

    line: str
    """`{word}` is the answer."""
    asked: str
    words: tuple[str, ...]


SPOKEN: tuple[Spoken, ...] = (
    Spoken(
        "The best advice on this I ever had came from my old friend {word}.",
        "who does the speaker say gave the best advice?",
        ("Beatrix", "Ignatius", "Petronella", "Casimir", "Wilhelmina", "Barnaby", "Ottilie", "Fergus"),
    ),
    Spoken(
        "When I am done here I will take the train to {word}.",
        "where does the speaker say they will take the train to?",
        ("Utrecht", "Trondheim", "Salamanca", "Debrecen", "Galway", "Tampere", "Bologna", "Coimbra"),
    ),
    Spoken(
        "Tonight we are having {word} for dinner.",
        "what does the speaker say there will be for dinner?",
        (
            "dumplings",
            "lentil soup",
            "mushroom risotto",
            "fish pie",
            "pancakes",
            "goulash",
            "ramen",
            "paella",
        ),
    ),
    Spoken(
        "My first car was painted {word}, you could see it for miles.",
        "in which colour does the speaker say the first car was painted?",
        ("turquoise", "beige", "crimson", "olive", "lilac", "maroon", "mustard", "silver"),
    ),
)
