"""The demo's documents: short how-to passages about the things in its films, and about others."""

from __future__ import annotations

__all__ = ["CORPUS", "NOTES"]

NOTES: dict[str, str] = {
    "torque_wrench_storage.md": """# Storing a torque wrench

Before you put a torque wrench away, wind its scale down to the **lowest setting**. The spring inside \
stays under load otherwise, and the wrench then clicks too early the next time.

Keep it in its case, dry and lying flat. Have it calibrated every 12 months or after 5,000 clicks, \
whichever comes first.
""",
    "wheel_nut_torques.txt": """Wheel nut torques

Small cars want 90 to 110 newton metres on each wheel nut, vans 140 to 180. A steel rim on an M12 bolt \
is tightened to 110 newton metres.

Threads are tightened dry. Oil on a thread cuts the friction, so that the same reading stretches the \
bolt by a third more.
""",
    "solder_alloys.md": """# Solder alloys

## Leaded
Solder of 60 % tin and 40 % lead melts at 188 degrees Celsius and flows easily.

## Lead-free
Tin with silver and copper melts at 217 degrees, so the iron is set about 30 degrees hotter. The joint \
looks dull even when it is good.
""",
    "soldering_safety.txt": """Soldering safely

Fumes of flux irritate the lungs: work beside an open window or under a fan with a carbon filter.

Wash your hands after handling leaded solder, and never eat at the bench.
""",
    "coffee_grind.md": """# Which grind for which coffee maker

A **French press** wants a coarse grind, with grains like sea salt. Finer powder slips through its metal \
mesh and makes the cup muddy.

An espresso machine wants a fine grind, close to flour. A paper filter takes a medium grind, like sand.
""",
    "french_press_cleaning.txt": """Cleaning a French press

Take the plunger apart once a week: the coffee oils behind the mesh turn rancid.

Soak the mesh for ten minutes in hot water with one spoon of baking soda. Do not use steel wool on the \
glass.
""",
    "tomato_blight.md": """# Late blight on tomatoes

Brown spots on wet leaves are late blight. It spreads in warm rain, between 15 and 25 degrees.

Cut off spotted leaves at once and put them into the bin, not on the compost. A roof over the plants \
prevents more blight than any spray.
""",
    "pruning_shears_care.txt": """Care of pruning shears

Bypass shears cut green wood like scissors; anvil shears crush it and are for dead wood.

Sharpen only the bevelled side of the blade, at an angle of 20 degrees, and wipe it with alcohol between \
two plants.
""",
    "sourdough_starter.md": """# Feeding a sourdough starter

Feed the starter with equal weights of flour and water, once a day at room temperature or once a week \
in the fridge.

It is ready to bake with when a spoonful of it floats on water.
""",
    "bread_storage.txt": """Keeping bread

Bread keeps best in a cloth bag at room temperature. In the fridge it goes stale three times as fast.

Sliced bread can be frozen for three months.
""",
    "drip_line_winter.md": """# The drip line in winter

Open the end caps of a drip line before the first frost and let the water run out. Water that freezes \
in the drippers splits them.

The filter at the tap is rinsed twice a season.
""",
    "compost.html": """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>A compost heap that works</title>
<style>body { font-family: serif }</style></head>
<body><nav>home | garden | kitchen</nav><h1>A compost heap that works</h1>
<p>Mix two parts of brown matter, such as leaves and straw, with one part of green, such as grass.</p>
<p>A good heap reaches 60 degrees in its middle, hot enough to kill the seeds of weeds. Turn it after
three weeks.</p>
<script>console.log("not for readers")</script></body></html>
""",
}

CORPUS: tuple[tuple[str, str, str], ...] = (
    (
        "multimeter",
        "Measuring with a multimeter",
        "Set the multimeter to the ohm range only when the circuit is without power. A good fuse reads "
        "less than one ohm.",
    ),
    (
        "feeler-gauge",
        "Spark plug gap",
        "A feeler gauge sets the gap of a spark plug. Most engines want 0.8 millimetres; bend only the "
        "outer electrode.",
    ),
    (
        "chisel",
        "Sharpening a chisel",
        "Hone a chisel at 30 degrees on a wet stone of grit 1000, then polish it at grit 6000.",
    ),
    (
        "cast-iron",
        "Seasoning a cast-iron pan",
        "Rub a thin film of linseed oil into the cast-iron pan and heat it upside down for one hour at "
        "230 degrees. No soap is needed afterwards.",
    ),
    (
        "pasta",
        "Salting pasta water",
        "Use ten grams of salt for each litre of pasta water, and keep a cup of it for the sauce.",
    ),
    (
        "kettle",
        "Descaling a kettle",
        "Fill the kettle with one part of vinegar and two parts of water, boil it and wait half an hour.",
    ),
    (
        "roses",
        "Pruning roses",
        "Prune roses in early spring, when the forsythia flowers, five millimetres above an outward bud.",
    ),
    (
        "rain-barrel",
        "A rain barrel",
        "A roof of 50 square metres fills a barrel of 200 litres with only 5 millimetres of rain.",
    ),
)
"""(id, title, text) of the lines of `corpus.jsonl`."""
