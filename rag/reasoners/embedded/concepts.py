"""What a tower can name by itself: wordings to hold frames against where no question says what to see.

The bundled tower knows the Workbench world alone, so its words are that world's; any other tower is
given everyday words. Either list is what can be said, and nothing beyond it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True, slots=True)
class Concepts:
    """Each list is held against a frame by itself."""

    scenes: tuple[str, ...]
    actions: tuple[str, ...]
    things: tuple[str, ...]


_EVERYDAY = Concepts(
    scenes=(
        *("a street", "a kitchen", "a living room", "an office", "a garden", "a workshop", "a shop"),
        *("a stage", "a stadium", "a forest", "a beach", "a mountain", "a road", "a classroom", "a studio"),
        *("a restaurant", "an airport", "a hospital", "a computer screen", "a slide with text"),
    ),
    actions=(
        *("talking to the camera", "walking", "running", "cooking", "eating", "driving", "dancing"),
        *("playing music", "playing a game", "reading", "writing", "drawing", "building something"),
        *("repairing something", "cleaning", "swimming", "climbing", "shaking hands", "an interview"),
    ),
    things=(
        *("a man", "a woman", "a child", "a crowd", "a dog", "a cat", "a horse", "a bird", "a car"),
        *("a bicycle", "a train", "an aeroplane", "a boat", "a ball", "a phone", "a computer", "a book"),
        *("a cup", "a bottle", "a knife", "food on a plate", "a tree", "flowers", "a house", "a bridge"),
        *("a guitar", "a map", "a chart", "a clock", "a hat", "a bag", "a chair", "a table", "tools"),
    ),
)


@cache
def concepts_of(tower: str) -> Concepts:
    """By the name of a tower."""
    if tower != "bundled":
        return _EVERYDAY
    from eval.workbench.catalogue import KINDS, with_article
    from eval.workbench.wording import ACTIONS, SCENES, place_name

    actions = []
    for action in ACTIONS:
        place = f"the {place_name(action.places[0])}" if action.places else ""
        phrase = action.phrases["train"][0].replace("{o}", "something").replace("the {p}", place)
        actions.append(" ".join(phrase.split()))
    return Concepts(
        scenes=tuple(scene.phrases["train"][0] for scene in SCENES),
        actions=tuple(actions),
        things=tuple(with_article(kind.name) for kind in KINDS),
    )
