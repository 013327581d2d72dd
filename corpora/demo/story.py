"""What the demo's six films show and say: plain data, so that one can read the answers in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["FILMS", "Film", "Said", "Scene", "Theme"]

Theme = Literal["workshop", "kitchen", "garden"]


@dataclass(frozen=True, slots=True)
class Scene:
    seconds: float
    thing: str
    """Name of the object drawn in motion (`THINGS` of `corpora.demo.filming`)."""
    heading: str
    lines: tuple[str, ...] = ()
    """Readable text on the card below the heading."""


@dataclass(frozen=True, slots=True)
class Said:
    """Half-open [start, end) in seconds."""

    start: float
    end: float
    text: str


@dataclass(frozen=True, slots=True)
class Film:
    name: str
    """File name with its suffix."""
    title: str
    theme: Theme
    scenes: tuple[Scene, ...]
    said: tuple[Said, ...] = ()
    words: Literal["none", "srt", "vtt", "ass", "embedded"] = "none"
    """Where the narration is kept."""
    info: bool = False
    """Whether an `.info.json` with description, tags and chapters lies beside it."""
    description: str = ""
    tags: tuple[str, ...] = ()


FILMS: tuple[Film, ...] = (
    Film(
        "workshop_torque_wrench.mp4",
        "Tightening wheel nuts with a torque wrench",
        "workshop",
        (
            Scene(4, "wrench", "Torque wrench", ("wheel nuts, step by step",)),
            Scene(7, "wrench", "1  Set the scale"),
            Scene(8, "wheel", "2  Tighten in a star"),
            Scene(7, "wrench", "3  Stop at the click"),
            Scene(6, "wheel", "4  Check again"),
        ),
        (
            Said(0.5, 3.8, "Today we tighten the wheel nuts of a car with a torque wrench."),
            Said(4.2, 7.4, "Turn the handle until the scale of the torque wrench reads 110 newton metres."),
            Said(7.6, 10.8, "Lock the handle, so that the setting cannot slip."),
            Said(
                11.2, 14.6, "Tighten the five nuts in a star pattern, never one after the other in a circle."
            ),
            Said(14.8, 18.8, "The star pattern pulls the wheel flat against the hub."),
            Said(19.2, 22.2, "When the wrench clicks, stop pulling at once."),
            Said(22.4, 25.6, "A second click would tighten the nut beyond 110 newton metres."),
            Said(26.2, 31.0, "Check all five nuts again after the first 50 kilometres."),
        ),
        "srt",
    ),
    Film(
        "workshop_soldering_iron.mp4",
        "A clean joint with the soldering iron",
        "workshop",
        (
            Scene(4, "iron", "Soldering iron", ("one clean joint",)),
            Scene(7, "iron", "1  Heat the iron"),
            Scene(8, "board", "2  Heat pad and wire"),
            Scene(6, "board", "3  Feed the solder"),
            Scene(5, "iron", "4  Clean the tip"),
        ),
        (
            Said(0.5, 3.6, "This is how to make a clean joint with a soldering iron."),
            Said(4.2, 7.2, "Set the soldering iron to 350 degrees Celsius for leaded solder."),
            Said(7.4, 10.6, "Wait until a touch of solder melts on the tip within one second."),
            Said(11.2, 15.0, "Hold the tip against the copper pad and the wire together for two seconds."),
            Said(15.2, 18.6, "The joint must be hot before the solder comes, or it turns out dull and weak."),
            Said(
                19.2, 24.4, "Feed the solder into the joint and not onto the tip, until it looks like a cone."
            ),
            Said(25.2, 29.4, "Wipe the tip in brass wool, which cools it less than a wet sponge."),
        ),
        "embedded",
    ),
    Film(
        "kitchen_french_press.mp4",
        "Coffee with a French press",
        "kitchen",
        (
            Scene(4, "press", "French press", ("a pot for two",)),
            Scene(7, "scales", "1  Weigh the coffee"),
            Scene(7, "kettle", "2  Pour the water"),
            Scene(7, "press", "3  Let it steep"),
            Scene(7, "press", "4  Press down"),
        ),
        (
            Said(0.5, 3.6, "Let us make coffee in a French press."),
            Said(4.2, 7.4, "Weigh 30 grams of coffee for half a litre of water."),
            Said(7.6, 10.6, "Put the coffee into the warm glass of the French press."),
            Said(11.2, 14.4, "Pour the water at 94 degrees, half a minute after it has boiled."),
            Said(14.6, 17.6, "Stir once with a wooden spoon, for metal may crack the glass."),
            Said(18.2, 24.4, "Put the lid on and let the coffee steep for four minutes."),
            Said(25.2, 28.4, "Press the plunger down slowly, it should take twenty seconds."),
            Said(28.6, 31.6, "Pour it out at once, or it grows bitter in the glass."),
        ),
        "srt",
        info=True,
        description="A pot of coffee for two, step by step.",
        tags=("coffee", "french press", "kitchen", "how-to"),
    ),
    Film(
        "garden_tomato_plants.mp4",
        "Tomato plants",
        "garden",
        (
            Scene(4, "tomato", "Tomato plants", ("the year on four cards",)),
            Scene(7, "tomato", "Planting", ("Keep 60 cm between plants", "Bury the stem 10 cm deep")),
            Scene(7, "can", "Watering", ("2 litres each, every 3 days", "Never wet the leaves")),
            Scene(7, "shears", "Pruning", ("Pinch out side shoots weekly", "Leave 5 trusses per plant")),
            Scene(6, "tomato", "Harvest", ("Pick when fully red", "Store at 15 degrees")),
        ),
    ),
    Film(
        "kitchen_sourdough_bread.mp4",
        "Baking a sourdough loaf",
        "kitchen",
        (
            Scene(4, "loaf", "Sourdough loaf", ("from bowl to crust",)),
            Scene(6, "scales", "1  Mix the dough"),
            Scene(7, "loaf", "2  Fold and rest"),
            Scene(8, "oven", "3  Bake with a lid"),
        ),
        (
            Said(0.5, 3.6, "A sourdough loaf needs flour, water, salt and time."),
            Said(4.2, 9.6, "Mix 500 grams of flour with 350 grams of water and 10 grams of salt."),
            Said(10.2, 13.4, "Fold the dough every thirty minutes, four times in all."),
            Said(13.6, 16.6, "Then let it rest in the fridge overnight, for twelve hours."),
            Said(
                17.2, 20.6, "Bake it in a hot iron pot at 240 degrees, with the lid on, for twenty minutes."
            ),
            Said(20.8, 24.6, "Take the lid off and bake another 25 minutes, until the crust is dark brown."),
        ),
        "vtt",
    ),
    Film(
        "garden_drip_irrigation.mp4",
        "A drip line for the vegetable bed",
        "garden",
        (
            Scene(4, "drip", "Drip irrigation", ("for a vegetable bed",)),
            Scene(7, "drip", "1  Lay the hose"),
            Scene(7, "drip", "2  Set the drippers"),
            Scene(6, "drip", "3  Run it at dawn"),
        ),
        (
            Said(0.5, 3.6, "A drip line waters the roots and leaves the paths dry."),
            Said(4.2, 10.4, "Lay the hose along the row, five centimetres from the stems."),
            Said(11.2, 14.2, "Press one dripper into the hose every 30 centimetres."),
            Said(14.4, 17.6, "Each dripper gives two litres an hour."),
            Said(18.2, 23.4, "Run the drip line for 40 minutes at dawn, when little of the water dries up."),
        ),
        "ass",
    ),
)
