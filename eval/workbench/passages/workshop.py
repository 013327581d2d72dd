"""What is true of each hand tool and each thing of the garden, five sentences a kind."""

from __future__ import annotations

WORKSHOP = """
hammer
A head of about 450 grams drives most nails without tiring the wrist.
Never strike with the cheek of the head, because hardened steel can chip.
A loose head is tightened with a steel wedge, unless the shaft itself has split.
Swing from the elbow and let the weight of the head do the driving.
Safety glasses belong on the nose before the first blow.
screwdriver
A tip that fills the slot completely will not slip and scar the screw.
Do not use the blade as a chisel or a pry bar, since the tip snaps.
A magnetised tip helps in tight places, except near hard disks and watches.
Two sizes, 4 and 6 millimetres, fit nine out of ten household screws.
Push firmly while turning and the slot stays sharp for years.
pliers
A drop of machine oil on the pivot keeps the jaws moving freely.
Ordinary grips do not insulate, so switch the mains off first.
Wire thicker than 2 millimetres is bent in two goes, never in one.
The serrated jaws bruise soft brass unless a strip of leather is put between.
Turning nuts with the jaws rounds the corners and is a last resort.
handsaw
A blade with 8 teeth per inch cuts boards quickly, and one with 12 cuts them cleanly.
Start with a few short backward strokes so that the teeth find the line.
Keep the thumb clear of the line, because the blade jumps at the start.
Wet timber binds the blade, unless a little candle grease is rubbed on.
Hold the cut at roughly 45 degrees and saw with the whole length of the blade.
power drill
A slow speed suits metal, and about 1500 turns a minute suits soft timber.
Pull the plug or take out the battery before changing the bit.
Loose sleeves and long hair get caught in the chuck within a second.
Masonry needs the percussion switch, but tiles crack under it.
Let the bit cool after three deep holes, or its edge turns blue and dull.
soldering iron
A tip at 350 degrees melts the usual tin alloy in two seconds.
Wipe the tip on brass wool and tin it again, otherwise it turns black.
Fumes of flux irritate the lungs, so open a window or run an extractor.
The metal sleeve burns skin long after the mains have been switched off.
Lead-free alloy needs some 30 degrees more, except on very fine tracks.
tape measure
The hook at the end moves by its own thickness on purpose and is not broken.
Let the blade return slowly, because a fast one cuts fingers.
A stiff blade 25 millimetres wide stands out two metres before it buckles.
Grit in the case scratches the figures, so wipe the blade as it runs in.
For inside corners add the length of the case, which is printed on its base.
flashlight
Batteries taken out for the winter cannot leak and ruin the contacts.
A beam of 200 lumens is enough for indoors, while 600 dazzles everybody.
Do not look into the beam, since even a small diode harms the eye.
Old and new batteries must not be mixed, except rechargeable ones of one set.
Clean the contact spring twice a year with a rubber eraser.
flower pot
A drainage hole of about 12 millimetres saves the roots from rotting.
Unglazed clay cracks in frost, unless it is raised off the ground.
Soak new clay for an hour so that it does not drink from the soil.
Fill up to two fingers below the rim and no higher.
White crusts come from hard water and go off with vinegar.
trowel
A blade of 15 centimetres, stamped with a scale, tells the depth of each hole.
Do not lever out stones with the tip, because the neck bends.
Rinse off the soil and dry the blade, unless it is stainless.
A coat of linseed oil each winter keeps a wooden grip from splitting.
Sharpen the left and the right edge with a file and roots part easily.
rake
A head with 14 tines covers about 40 centimetres of ground.
Rest the tines downwards, because a foot on them brings up the shaft.
Pull with short strokes and a straight back to spare the shoulders.
Steel tines tear up moss, but plastic ones are kinder to lawns.
Bent tines are straightened with a tube pushed over them.
pruning shears
Branches thicker than 20 millimetres call for a lopper.
Wipe the blades with spirit between two plants so that no disease spreads.
Close the safety catch each time, since the spring opens the blades by itself.
Cut at a slant just above a bud, except on roses trained flat.
The blunt lower blade holds the stem and is not meant to be sharpened.
garden glove
A size too large slips, so measure round the palm: 20 centimetres is a medium.
Leather palms stop thorns, though not the spines of a cactus.
Turn the fingers out after use, or mould settles in the tips.
Do not wear any near rotating machines that may catch the cuff.
Knitted ones stand a 30 degree wash, but leather ones do not.
sponge
Two minutes in boiling water kill most of the germs inside.
Squeeze out all the liquid, because a wet core smells by the next day.
The green scouring side scratches enamel and non-stick coatings.
Replace the household one after three weeks, or earlier if it crumbles.
Natural ones last longer, unless bleach gets on them.
ball
A pressure of 0.6 bar makes for a lively bounce.
Moisten the needle before inflating, or the valve tears.
Keep away from thorn hedges and from roads with traffic.
Cold rubber loses bounce, so inflate a little more in winter.
One that is oval after an hour in the shade has a broken seam.
bicycle pump
A gauge that reads up to 8 bar does for all town tyres.
Fit the head straight, because a tilted one bends the valve stem.
The piston squeaks when dry and wants a drop of silicone grease.
French valves need the adapter, except with a double head.
Hold the wheel so that the valve is at the top and push with both arms.
"""
