"""What people do in this world, what it is like, and which things it takes.

A block is the activity, two remarks on it behind `* `, and behind `= ` the things that have a passage for
it; what is no kind of the world makes a distractor.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Activity:
    """`name` is a gerund phrase that follows "when"; `things` are names of kinds, or of what is no kind."""

    name: str
    remarks: tuple[str, str]
    things: tuple[str, ...]


_BLOCKS = """
repairing a circuit board
* Tiny joints forgive little haste.
* Good order on the bench saves half of the trouble.
= soldering iron, flashlight, desk lamp, pliers, screwdriver, mirror, toothbrush, computer mouse

building a bird house
* Six boards and a roof make a home for titmice.
* The hole decides which birds move in.
= hammer, handsaw, power drill, tape measure, paint can, pencil, banjo

painting a garden fence
* Dry weather and patience are half of the result.
* Each slat has four faces to cover.
= paint can, power drill, bucket, flower pot, rake, garden glove, pruning shears, sponge, sewing machine

fixing a bicycle
* Chains and brakes reward a calm mind.
* Small parts roll far on a concrete floor.
= screwdriver, pliers, flashlight, oil can, toothbrush, bicycle pump, skateboard

planting spring bulbs
* Autumn soil is still warm enough for roots.
* The depth is three times the size of the bulb.
= pruning shears, rake, watering can, vase, envelope, flower pot, trowel, garden glove, wheelbarrow

clearing autumn leaves
* A windless morning is the best time for it.
* Wet foliage makes paths treacherous.
= handsaw, bucket, mug, umbrella, envelope, trowel, rake, garden glove, pruning shears, wheelbarrow

tending a vegetable bed
* Ten minutes a day beat one long weekend.
* Weeds come out easiest after a shower.
= watering can, cutting board, carrot, tomato, flower pot, trowel, rake, pruning shears, wheelbarrow

baking a birthday cake
* The oven waits for nobody.
* Sponge and icing are made a day apart.
= saucepan, rolling pin, milk carton, egg, banana, ladle, accordion

cooking soup for guests
* A large pot makes the evening easy.
* The stock is started early in the afternoon.
= kettle, frying pan, saucepan, ladle, cutting board, carrot, tomato, flower pot

preparing a picnic
* What is forgotten stays at home.
* The basket is filled from heavy to light.
= milk carton, baby bottle, ladle, cutting board, plate, egg, bread loaf, tomato, tent

making breakfast
* The first meal sets the mood of the day.
* Half asleep, people drop things.
= cutting board, milk carton, kettle, frying pan, mug, toaster, egg, bread loaf

setting a festive table
* Guests see it before they taste anything.
* Start with the cloth and end with the flowers.
= ladle, plate, wine glass, bread loaf, pineapple, candle, vase, chandelier

washing up after dinner
* Greasy things go last.
* Two people finish in half of the time.
= baby bottle, frying pan, saucepan, rolling pin, plate, towel, sponge, blender

cleaning the bathroom
* Begin high and end with the floor.
* Lime is the chief opponent.
= shampoo bottle, bucket, toothbrush, towel, soap bar, toilet roll, razor, sponge

bathing a small dog
* A calm voice works better than force.
* The drain clogs unless hairs are caught.
= shampoo bottle, bucket, scissors, hairbrush, towel, soap bar, hair dryer, ball

looking after a baby
* Naps decide the plan of the day.
* Everything within reach ends up in the mouth.
= milk carton, baby bottle, banana, toy car, teddy bear, towel, harmonica

getting ready for work
* Ten minutes saved in the evening count double.
* Clothes laid out at night cause no doubts.
= shampoo bottle, banana, phone, headphones, toothbrush, hairbrush, hair dryer, razor, mirror, fountain
= pen

packing for a weekend trip
* A list keeps the bag light.
* Heavy things go near the wheels.
= shampoo bottle, baby bottle, book, teddy bear, umbrella, laptop, toothbrush, hairbrush, suitcase

camping in the woods
* Pitch camp well before dark.
* Damp creeps into everything overnight.
= flashlight, kettle, frying pan, trowel, toilet roll, bicycle pump, umbrella, tent

moving to a new flat
* Boxes from the last move are still in the loft.
* Friends help for soup and thanks.
= screwdriver, power drill, tape measure, saucepan, wine glass, toaster, picture frame, game controller,
= piano stool

decorating a living room
* Three colours are enough for one room.
* Step back to the door now and then.
= tape measure, paint can, remote control, cushion, candle, vase, picture frame, mirror, chandelier

staging a puppet show
* Children notice each slip of the hands.
* The curtain hides more than it shows.
= paint can, glue bottle, rolling pin, carrot, teddy bear, scissors, hairbrush, accordion

hosting a children's party
* Two hours are long enough.
* Calm games follow wild ones.
= ladle, rolling pin, plate, pineapple, toy car, game controller, ball, bicycle pump, harmonica

playing games on a rainy day
* Old favourites come out of the attic.
* The loser chooses the next round.
= remote control, book, toy car, teddy bear, game controller, headphones, ball, chess clock

doing homework
* Half an hour of quiet is worth two of noise.
* The hardest subject comes first.
= glue bottle, book, laptop, computer mouse, stapler, headphones, desk lamp, fountain pen

running a small office
* The post arrives at ten.
* Tidy desks make short days.
= screwdriver, kettle, toaster, laptop, computer mouse, stapler, calculator, envelope, typewriter

sorting old letters
* Stories hide in the dullest piles.
* Dates on stamps settle most doubts.
= picture frame, stapler, pencil, desk lamp, envelope, razor, typewriter

making paper lanterns
* Thin sheets tear at the folds.
* A wire loop keeps the shape.
= pliers, glue bottle, candle, stapler, scissors, toilet roll, hair dryer, fountain pen

building a model railway
* Hills are made from wire and plaster.
* A single bad joint stops the traffic.
= hammer, screwdriver, pliers, handsaw, soldering iron, oil can, glue bottle, toy car, razor, microscope

taking product photographs
* Soft light flatters shiny things.
* A plain background sells best.
= wine glass, toaster, tomato, pineapple, vase, game controller, computer mouse, phone, desk lamp, razor,
= typewriter

recording a podcast
* Carpets and curtains swallow echoes.
* Silence is recorded first.
= soldering iron, mug, cushion, laptop, computer mouse, phone, headphones, banjo

drawing a still life
* The eye rests on three things at most.
* Shadows tell the shape.
= cutting board, mug, plate, bread loaf, banana, pineapple, pencil, desk lamp, violin

running a market stall
* Early birds get the corner pitch.
* Change in coins is gone by nine.
= watering can, bread loaf, carrot, tomato, pineapple, umbrella, calculator, accordion

sorting out a garage
* Three heaps are made: stay, give, throw.
* Spiders have had years of peace.
= trowel, hammer, handsaw, soldering iron, flashlight, oil can, calculator, garden glove, rake, pruning
= shears, canoe paddle

putting up shelves
* A wall tells its secrets to knuckles.
* Level lines please the eye for years.
= hammer, power drill, tape measure, picture frame, mirror, pencil, hammock

restoring an old chair
* Old glue gives way to patience.
* Each scratch is a decision.
= hammer, pliers, handsaw, power drill, paint can, oil can, hair dryer, sponge, sewing machine

making scented gifts
* Lavender and orange please almost anybody.
* Small batches spoil less.
= saucepan, rolling pin, candle, vase, soap bar, hair dryer, cushion

wrapping birthday presents
* Corners are where it shows.
* The ribbon comes at the very end.
= wine glass, glue bottle, picture frame, scissors, soap bar, book, harmonica

cleaning a camper van
* Sand hides in each seam.
* Salt from winter roads must go.
= shampoo bottle, oil can, bucket, towel, soap bar, sponge, garden glove, bicycle pump, surfboard

holding a yard sale
* Prices end in a round figure.
* The best pieces go within an hour.
= bicycle pump, baby bottle, watering can, frying pan, toaster, remote control, toy car, game controller,
= flower pot, chess clock

getting through a power cut
* Neighbours meet on the stairs.
* The cellar is darker than one remembers.
= flashlight, remote control, book, candle, phone, toilet roll, hammock

teaching a science lesson
* Pupils believe what they have tried.
* A good trial fits into ten minutes.
= soldering iron, watering can, egg, carrot, laptop, pencil, calculator, ball, microscope

nursing a cold
* Rest does more than most pills.
* A window is opened each hour.
= milk carton, kettle, mug, remote control, cushion, teddy bear, headphones, toilet roll, hammock

practising stage magic
* The eye of the public follows the bigger motion.
* A trick is rehearsed fifty times.
= wine glass, egg, banana, umbrella, phone, envelope, mirror, ball, top hat

sewing a costume
* Measure twice and cut the cloth on a table.
* Pins have a way of hiding.
= calculator, tape measure, cushion, stapler, scissors, hairbrush, sewing machine, top hat

watching the stars
* City glow drowns the faint ones.
* Eyes need a while to get used to the dark.
= telescope, tent, violin, hammock, rowing boat, suitcase

crossing a lake
* The wind turns in the afternoon.
* A vest is worn by everybody.
= canoe paddle, rowing boat, fishing rod, surfboard, accordion, telescope

rehearsing with an orchestra
* The oboe gives the pitch.
* Breaks are short and full of coffee.
= violin, piano stool, accordion, harmonica, chess clock, banjo

furnishing a theatre lobby
* The public waits here in thin shoes.
* Fire exits stay free.
= chandelier, piano stool, top hat, typewriter, suitcase, fountain pen

spending a summer by the sea
* Salt gets into each hinge.
* Mornings are for swimming.
= surfboard, hammock, fishing rod, skateboard, rowing boat, blender

running a school laboratory
* Goggles hang by the door.
* Notes are made at once.
= microscope, blender, telescope, chess clock, fountain pen, sewing machine
"""


def activities() -> tuple[Activity, ...]:
    """All of them, in a fixed order."""
    return tuple(_activity(block.splitlines()) for block in _BLOCKS.strip().split("\n\n"))


def _activity(lines: list[str]) -> Activity:
    one, other = (line.removeprefix("* ") for line in lines if line.startswith("* "))
    named = " ".join(line.removeprefix("= ") for line in lines if line.startswith("= "))
    return Activity(lines[0], (one, other), tuple(named.removesuffix(",").split(", ")))
