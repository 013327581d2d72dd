"""Facts of where a thing stands, lies, hangs and travels, with their rival values.

A block is one particular: its name, then the tags of the things it does not suit; the statement;
behind `>` the sentences of a passage that say it; then each slot with its equally likely values.
`a:b` is a value that a passage words otherwise (`pushed:push`).
"""

from __future__ import annotations

__all__ = ["PLACES"]

PLACES = """
edge_gap
It should stand at least {n} centimetres from the edge of the table.
> Allow at least {n} centimetres between {the} and the edge of the table.
> Measure at least {n} centimetres from the edge of the table and put {the} there.
n = 5 / 10 / 15 / 20 / 25 / 30

compass
It should be put down with its {side} side facing {dir}.
> Put {the} down so that the {side} side is facing {dir}.
> The {side} side of {the} is the one to have facing {dir}.
side = longer / shorter
dir = north / south / east / west

cupboard
It belongs on the {level} shelf of a cupboard made of {wood}.
> Reserve the {level} shelf of a {wood} cupboard for {the}.
> A cupboard of {wood} with a free {level} shelf is where {the} should go.
level = top / bottom
wood = oak / pine / bamboo / steel

worker_side
It should lie on the {side} of the worker at a distance of {n} centimetres.
> Place {the} on the worker's {side} at a distance of {n} centimetres.
> A distance of {n} centimetres on the {side} of the worker suits {the} well.
side = left / right
n = 20 / 30 / 40 / 50 / 60

window_steps
It should stand {n} steps away from the nearest window.
> Count {n} steps from the nearest window and stand {the} there.
> The nearest window should be {n} steps away from {the}.
n = three / four / six / eight / ten

crate !B
It should be stored in a {way} position inside a {stuff} crate.
> For storage put {the} in a {way} position inside a {stuff} crate.
> A {stuff} crate with room for a {way} position is right for storing {the}.
way = horizontal / vertical
stuff = wicker / plastic / birch / metal

doorway
It should be set down on the {side} side of the doorway beside the {mark}.
> Beside the {mark} on the {side} side of the doorway is the spot where {the} should be set down.
> Use the {side} side of the doorway and set {the} down beside the {mark}.
side = inner / outer
mark = light switch / shoe bench / coat rail / meter cupboard

corner
It belongs in the {side} corner of the room under the {mark}.
> Find room for {the} under the {mark} in the {side} corner.
> The {side} corner of the room under the {mark} is the home of {the}.
side = near / far
mark = clock / stairs / calendar / thermometer

ring
It should stand inside a ring of {stuff} that is {n} centimetres wide.
> Make a ring of {stuff} that is {n} centimetres wide and stand {the} inside.
> Stand {the} inside a {stuff} ring measuring {n} centimetres.
stuff = chalk / rope / gravel / ribbon
n = 40 / 50 / 60 / 80 / 90

hanging_line !L !R !B
It should hang {n} centimetres {side} the line drawn on the wall.
> Hang {the} {n} centimetres {side} the line drawn on the wall.
> A nail {n} centimetres {side} the line on the wall is where {the} should hang.
side = above / below
n = 10 / 15 / 25 / 35

slab
It should be set on a {feel} slab of {stone}.
> Choose a {feel} slab of {stone} to set {the} on.
> Under {the} goes a {feel} slab of {stone}.
feel = rough / smooth
stone = slate / marble / granite / sandstone

mat
It should stand on a {size} mat woven from {stuff}.
> Weave or buy a {size} {stuff} mat and stand {the} on top.
> A {size} mat woven from {stuff} should lie beneath {the}.
size = thick / thin
stuff = jute / reed / straw / raffia

discs
It should be propped up on {n} discs of {stuff}.
> Prop {the} up on {n} {stuff} discs.
> Cut {n} discs of {stuff} and use them to prop {the} up.
n = three / four / five / six
stuff = cork / felt / copper / leather

deck
It should ride on the {level} deck of the {boat}.
> On a journey the {level} deck of the {boat} is the place for {the} to ride.
> Take {the} along on the {level} deck of the {boat}.
level = upper / lower
boat = ferry / bus / tram

satchel
It should be packed at the {level} of a {stuff} satchel.
> When packing a {stuff} satchel put {the} at the {level}.
> The {level} of a {stuff} satchel is where {the} should be packed.
level = top / bottom
stuff = canvas / leather / nylon / linen

dresser
It belongs in the {side} drawer of a dresser made of {wood}.
> Reserve the {side} drawer of a {wood} dresser for {the}.
> A dresser of {wood} has room for {the} in its {side} drawer.
side = left / right
wood = walnut / cherry / maple / ash

night_out !E
It should spend the night {side} the house under a {roof}.
> Let {the} spend the night {side} the house under a {roof}.
> Stretch a {roof} {side} the house and put {the} under it for the night.
side = inside / outside
roof = tarpaulin / net / canopy

leaning !L !R !B
It should lean on its {side} side against a {prop}.
> Let {the} lean against a {prop} on the {side} side.
> A {prop} serves as a prop for {the} to lean on with the {side} side.
side = left / right
prop = brick / log / boulder / barrel

cellar_spares
It should have {n} spares waiting at the {side} of the cellar.
> Store {n} spares for {the} at the {side} of the cellar.
> At the {side} of the cellar there should be {n} spares for {the}.
n = two / three / four / six
side = front / back

tether !F !B !L
It should be tethered to the {post} by a cord of {n} centimetres.
> Tether {the} to the {post} by a cord of {n} centimetres.
> Cut {n} centimetres of cord and use it to tether {the} to the {post}.
post = belt / railing / door knob
n = 40 / 60 / 90 / 120

windowsill
It should spend the first {n} hours on a {light} windowsill.
> A {light} windowsill suits {the} during the first {n} hours.
> For the first {n} hours find a {light} windowsill for {the}.
light = bright / dark
n = 3 / 5 / 7 / 9

wagon
It should be wheeled to the spot on a wagon with {n} {kind} wheels.
> Load {the} on a wagon with {n} {kind} wheels and wheel it to the spot.
> Have a wagon with {n} {kind} wheels ready to bring {the} to the spot.
n = two / three / four / six
kind = wide / narrow
"""
