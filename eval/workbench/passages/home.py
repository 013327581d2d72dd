"""What is true of each household thing, five sentences a kind."""

from __future__ import annotations

HOME = """
remote control
Two fresh cells last about 18 months of ordinary evenings.
Take the cells out before the summer, or acid eats the springs.
Infrared does not pass through a glass door, whereas radio does.
Sticky keys come free with a swab and a trace of spirit.
Point at the receiver from less than seven metres.
cushion
Shake the filling up daily, for feathers clump under weight.
A cover with a zip is washed at 40 degrees, inside out.
Foam that crumbles is replaced, since its dust irritates the lungs.
Direct sun fades velvet, though wool stands it for a summer.
Sparks from a fireplace burn holes into polyester at once.
book
Turn pages by the upper corner, because thumbs soil the margin.
Paper feels well at 18 degrees and dislikes cellars.
A spine opened by force breaks, so open a new volume in ten steps.
Marks in ink are for good, but a soft pencil may be erased.
Damp pages are dried standing up, with blotting paper after each 20 leaves.
candle
Trim the wick to 6 millimetres and the flame will not smoke.
Burn for an hour at the first go so that the wax melts to the rim.
Never walk out of a room with an open flame in it.
Draughts make the wax run down, unless a glass chimney is put on.
Stumps are melted in a water bath and not over a bare flame.
toy car
Axles run freely again with a speck of graphite.
Wheels under 4 centimetres are a danger for children below three.
Friction motors are drawn back 20 centimetres and no further.
Chipped paint on old models may hold lead, so do not let anyone chew it.
Carpets eat up speed, whereas linoleum makes a fine track.
teddy bear
Button eyes are tugged hard once a month to see that the thread holds.
A night in the freezer at 18 degrees below zero kills mites.
Old mohair is vacuumed through a stocking and not washed.
Seams are closed with a ladder stitch of 3 millimetres.
One with a growler must not get wet inside, since the voice is of cardboard.
vase
Change the water every second day and cut the stems anew.
A wide neck needs a grid of sticky tape to keep stems upright.
Unglazed bottoms leak and stain wood, so a saucer goes beneath.
Rings of lime dissolve in vinegar left for 30 minutes.
Tall ones are weighted with pebbles, except on a steady floor.
game controller
A full charge lasts about 12 hours of play.
Drifting sticks are often cured by compressed air and a new calibration.
Sweaty palms wear the rubber, and talc makes it worse.
Wrap the lead loosely, since a sharp bend breaks the wire at the plug.
Two pads on one channel disturb each other, unless they are paired anew.
picture frame
Two hooks hold straighter than one from 60 centimetres of width.
Lift by both sides and never by the upper edge, which pulls the corners apart.
Acid-free card keeps prints from turning brown.
Glass is cleaned with the cloth sprayed and not with the pane sprayed.
Sunlight bleaches watercolours within two years, though oils last.
umbrella
Let it dry half open, because a closed one rots at the ribs.
Eight ribs of fibreglass survive gusts that bend steel.
In a thunderstorm on open ground a metal shaft is a hazard.
Turn into the wind before opening, unless the canopy is vented.
A tiny hole is closed from the inside with a patch of nylon.
toothbrush
Bristles that splay after three months clean no more.
Rinse for ten seconds and stand it with the bristles up.
Press with no more than the weight of an orange, or gums recede.
Caps for travel breed germs, except those with holes.
Used ones are fine for grouting and other narrow gaps.
hairbrush
Comb out loose hairs each week with the tail of a comb.
Start at the tips and work up, or knots tighten.
Boar bristles are not soaked, since the wooden body swells.
A bath of shampoo for ten minutes loosens grease.
Share with nobody while lice are about.
towel
Washing at 60 degrees once in four days keeps the smell off.
Softener lays a film on the loops, so that they take up less.
Spread out wide to dry, for folds stay wet till morning.
New ones shed lint and are washed twice on their own.
Pulled loops are snipped off and never pulled further.
soap bar
A dish with slots lets the underside dry between two uses.
One of 100 grams lasts a person about four weeks.
A piece on wet tiles is the commonest cause of bathroom falls.
Hard water leaves a grey scum, unless a little soda is added.
Let a new one cure in air for six weeks and it lasts longer.
hair dryer
Keep 20 centimetres from the head and move all the time.
Never use near a filled tub, not even when switched off.
Lint in the rear grille makes the heating coil glow.
The cool key at the end sets the shape for hours.
A cord that is wound round the body breaks within two years.
toilet roll
Three sheets are enough for most purposes and spare the drain.
Hung with the loose end outside, one hand can tear it.
Damp cellars make the layers stick, so keep the film on.
Wet wipes look alike but must not be flushed.
The cardboard core goes to paper recycling, unless it is soaked.
razor
A blade serves for five to seven shaves and then tugs.
Rinse under running water after each stroke, or stubble clogs the gap.
Wiping the edge with a towel blunts it and may cut the finger.
Shave along the growth first, and against it only on tough skin.
Blades go into a tin before they are thrown into the rubbish.
mirror
Two hooks, each good for 10 kilograms, are the least for a large one.
Vinegar on the edges creeps behind the silver and makes black spots.
A film of washing liquid keeps the surface from misting for a day.
Sun on a curved one can set curtains on fire.
Carry on edge and never flat, since glass breaks under its own weight.
"""
