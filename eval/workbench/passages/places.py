"""Where a thing stands, lies, hangs and travels: topics, and what may be said of a thing under each.

A topic is a block of `== ` what one does with {x}, for the opening, and two remarks behind `* `. The blocks
after it are its particulars: a name, then the tags of things of which it is not said; behind `# ` what one
does, for the title; the statement; behind `> ` the sentences of a passage that say it; then each slot with
its equally likely values. `a:b` is a value that a passage words otherwise (`pushed:push`).
"""

from __future__ import annotations

PLACES = """
== place {x} on the table beside the worker
* Elbows sweep more off a table than the wind does.
* The table is cleared before anything is placed on it.

edge_gap
# keep {x} some way from the edge of the table
It should stand at least {n} centimetres from the edge of the table.
> Allow at least {n} centimetres between {the} and the edge of the table.
> Measure at least {n} centimetres from the edge of the table and put {the} there.
n = 5 / 10 / 15 / 20 / 25 / 30

worker_side
# lay {x} at a distance from the worker
It should lie on the {side} of the worker at a distance of {n} centimetres.
> Place {the} on the worker's {side} at a distance of {n} centimetres.
> A distance of {n} centimetres on the {side} of the worker suits {the} well.
side = left / right
n = 20 / 30 / 40 / 50 / 60

== stand {x} by a window
* Windows give light, and sun, and sometimes a knock.
* Sit down by the window yourself to judge the light.

window_steps
# stand {x} some steps from the nearest window
It should stand {n} steps away from the nearest window.
> Count {n} steps from the nearest window and stand {the} there.
> The nearest window should be {n} steps away from {the}.
n = three / four / six / eight / ten

windowsill
# keep {x} on a windowsill at first
It should spend the first {n} hours on a {light} windowsill.
> A {light} windowsill suits {the} during the first {n} hours.
> For the first {n} hours find a {light} windowsill for {the}.
light = bright / dark
n = 3 / 5 / 7 / 9

== turn {x} the right way round
* Which way round a thing faces is decided beforehand.
* Turning takes a moment and saves confusion.

compass
# face {x} to a point of the compass
It should be put down with its {side} side facing {dir}.
> Put {the} down so that the {side} side is facing {dir}.
> The {side} side of {the} is the one to have facing {dir}.
side = longer / shorter
dir = north / south / east / west

rotation
# rotate {x} by degrees after each use
It should be rotated {n} degrees {way} after each use.
> After each use rotate {the} {n} degrees {way}.
> Rotate {the} {way} by {n} degrees after each use.
n = 30 / 45 / 60 / 90 / 120
way = clockwise / counterclockwise

upside !L !E !B
# decide whether to turn {x} upside down
It {p} be turned upside down during the {event}.
> {p} turn {the} upside down as long as the {event} lasts.
> The {event} is when {the} {=p} be turned upside down.
p = should:do / should not:do not
event = rehearsal / coffee round / tidying up

== store {x} in a cupboard or dresser
* Furniture with doors and drawers keeps off dust and eyes.
* Shelves and drawers are lined with paper.

cupboard
# shelve {x} in a cupboard
It belongs on the {level} shelf of a cupboard made of {wood}.
> Reserve the {level} shelf of a {wood} cupboard for {the}.
> A cupboard of {wood} with a free {level} shelf is where {the} should go.
level = top / bottom
wood = oak / pine / bamboo / steel

dresser
# put {x} in a dresser drawer
It belongs in the {side} drawer of a dresser made of {wood}.
> Reserve the {side} drawer of a {wood} dresser for {the}.
> A dresser of {wood} has room for {the} in its {side} drawer.
side = left / right
wood = walnut / cherry / maple / ash

== pack {x} for transport
* Bad packing does more harm than a bad road.
* Luggage is packed by the person who unpacks.

crate !B
# store {x} in a crate
It should be stored in a {way} position inside a {stuff} crate.
> For storage put {the} in a {way} position inside a {stuff} crate.
> A {stuff} crate with room for a {way} position is right for storing {the}.
way = horizontal / vertical
stuff = wicker / plastic / birch / metal

padding
# let {x} travel in a padded case
It should travel in a case padded with {n} centimetres of {stuff}.
> Pad the travelling case of {the} with {n} centimetres of {stuff}.
> A case padded with {n} centimetres of {stuff} is how {the} should travel.
n = 3 / 4 / 6 / 8
stuff = straw / sawdust / wool / moss

satchel
# pack {x} in a satchel
It should be packed at the {level} of a {stuff} satchel.
> When packing a {stuff} satchel put {the} at the {level}.
> The {level} of a {stuff} satchel is where {the} should be packed.
level = top / bottom
stuff = canvas / leather / nylon / linen

== bring {x} into the house
* A house has more thresholds than one thinks.
* Doors and corridors are measured first.

doorway
# set {x} down beside the doorway
It should be set down on the {side} side of the doorway beside the {mark}.
> Beside the {mark} on the {side} side of the doorway is the spot where {the} should be set down.
> Use the {side} side of the doorway and set {the} down beside the {mark}.
side = inner / outer
mark = light switch / shoe bench / coat rail / meter cupboard

doors
# bring {x} in through the right door
It should be brought in {order} and through the {door} door.
> Bring {the} in {order} and use the {door} door.
> Use the {door} door and bring {the} in {order}.
order = first / last
door = side / cellar / balcony

corner
# give {x} a corner of the room
It belongs in the {side} corner of the room under the {mark}.
> Find room for {the} under the {mark} in the {side} corner.
> The {side} corner of the room under the {mark} is the home of {the}.
side = near / far
mark = clock / stairs / calendar / thermometer

== hang {x} at the right height
* Height is a matter of eyes and arms.
* Hooks and nails are tried with a tug.

hanging_line !L !R !B
# hang {x} by the line on the wall
It should hang {n} centimetres {side} the line drawn on the wall.
> Hang {the} {n} centimetres {side} the line drawn on the wall.
> A nail {n} centimetres {side} the line on the wall is where {the} should hang.
side = above / below
n = 10 / 15 / 25 / 35

height_change !R
# raise or lower {x}
It should be {way} by {n} centimetres as the job gets going.
> As the job gets going {the} should be {way} by {n} centimetres.
> Have {the} {way} by {n} centimetres when the job gets going.
way = raised / lowered
n = 4 / 6 / 8 / 12

== set {x} on a slab, mat or discs
* A firm base stops rattling and spares the surface.
* The base is wiped first.

slab
# set {x} on a slab
It should be set on a {feel} slab of {stone}.
> Choose a {feel} slab of {stone} to set {the} on.
> Under {the} goes a {feel} slab of {stone}.
feel = rough / smooth
stone = slate / marble / granite / sandstone

mat
# stand {x} on a woven mat
It should stand on a {size} mat woven from {stuff}.
> Weave or buy a {size} {stuff} mat and stand {the} on top.
> A {size} mat woven from {stuff} should lie beneath {the}.
size = thick / thin
stuff = jute / reed / straw / raffia

discs
# prop {x} up on discs
It should be propped up on {n} discs of {stuff}.
> Prop {the} up on {n} {stuff} discs.
> Cut {n} discs of {stuff} and use them to prop {the} up.
n = three / four / five / six
stuff = cork / felt / copper / leather

== take {x} along on a journey
* Travel shakes everything.
* Tickets and timetables come into it too.

deck
# take {x} along on deck
It should ride on the {level} deck of the {boat}.
> On a journey the {level} deck of the {boat} is the place for {the} to ride.
> Take {the} along on the {level} deck of the {boat}.
level = upper / lower
boat = ferry / bus / tram

wagon
# wheel {x} along on a wagon
It should be wheeled to the spot on a wagon with {n} {kind} wheels.
> Load {the} on a wagon with {n} {kind} wheels and wheel it to the spot.
> Have a wagon with {n} {kind} wheels ready to bring {the} to the spot.
n = two / three / four / six
kind = wide / narrow

== put {x} up for the night
* Nights are long and full of dew.
* Sleep comes easier when things have their shelter.

night_out !E
# let {x} spend the night under a roof
It should spend the night {side} the house under a {roof}.
> Let {the} spend the night {side} the house under a {roof}.
> Stretch a {roof} {side} the house and put {the} under it for the night.
side = inside / outside
roof = tarpaulin / net / canopy

cover
# decide whether to cover {x} with a sheet overnight
It {p} be covered with a {stuff} sheet overnight.
> {p} cover {the} with a {stuff} sheet overnight.
> Overnight {the} {=p} be covered with a {stuff} sheet.
p = should:do / should not:do not
stuff = muslin / linen / velvet

curfew
# put {x} back in the usual place by the hour
It should be back in its usual place by {n} o'clock.
> See to it that you put {the} back in the usual place by {n} o'clock.
> By {n} o'clock {the} should be back in the place that is usual.
n = five / six / seven / eight / nine

== hold {x} in place with a weight or a prop
* What slides about gets in the way.
* A firm hold needs weight or friction.

leaning !L !R !B
# lean {x} on a prop
It should lean on its {side} side against a {prop}.
> Let {the} lean against a {prop} on the {side} side.
> A {prop} serves {the} to lean on with the {side} side.
side = left / right
prop = brick / log / boulder / barrel

sack
# hold {x} in place with a sack
It should be held in place by a {weight} sack of {stuff}.
> Let a {weight} sack of {stuff} hold {the} in place.
> Hold {the} in place by means of a {weight} sack of {stuff}.
weight = heavy / light
stuff = sand / rice / beans

load !F !B
# load {x} with grams on one part
It should be loaded with {n} grams on its {side} part.
> Load {the} with {n} grams on the {side} part.
> On the {side} part of {the} goes a load of {n} grams.
n = 50 / 80 / 150 / 300
side = left / right
"""
