"""What is true of each can, bottle and piece of cookware, five sentences a kind."""

from __future__ import annotations

VESSELS = """
paint can
Stir from the bottom up for three minutes, since pigment sinks.
One litre covers about 10 square metres in one coat.
Press the lid back with a mallet, never with a hammer that dents the rim.
A skin on the surface is lifted off whole and must not be stirred in.
Do not pour leftovers down the drain, but let them dry out in sand.
oil can
Two drops on a bearing are better than a puddle below.
Wipe the spout after use so that dust does not clog the opening.
Rags soaked with linseed oil may ignite by themselves and belong in a metal pail.
Vegetable oil gums up hinges, so machine oil is the one to fill in.
A bent spout reaches corners, unless it has been flattened at the tip.
glue bottle
Squeeze out a bead of 3 millimetres and spread it with a card.
Clear the nozzle with a pin, because a dried plug bursts out suddenly.
White glue sets in 20 minutes, but full strength takes a day.
Frost spoils the contents, and lumps are the sign of that.
Solvent types call for an open window and no flame nearby.
shampoo bottle
A portion the size of a hazelnut is plenty for short hair.
Close the cap before standing in the shower, or water thins the rest.
The contents sting in the eyes, except for those made for infants.
Upside down the last 20 millilitres run to the cap by themselves.
A slippery floor after a spill is rinsed at once with cold water.
milk carton
Opened ones last three days in the refrigerator, at 7 degrees or less.
Shut the flap tightly, since the contents take on the smell of onions.
Sour contents are still good for pancakes, unless there is mould.
Rinse the empty one and flatten it before it goes to recycling.
The date on the gable is a date of quality and no deadline.
baby bottle
Boil the teat for five minutes before it is used for the first time.
Test a drop on the wrist, because a microwave heats unevenly.
Formula that has stood for two hours is thrown away.
Replace a teat with cracks at once, even if it is nearly new.
Glass ones stand heat better, though they break on tiles.
watering can
Ten litres weigh ten kilograms, so two half loads spare the back.
The rose points upwards for seedlings and comes off for shrubs.
Drain the spout before a frost, or the seam splits.
Water at noon burns no leaves but mostly goes up as vapour.
Clogged holes open again after a night in vinegar.
bucket
Fill to three quarters at most, or every step spills a little.
Small children can drown in very shallow water, so never walk off from a full one.
A handle with a wooden grip does not cut into the palm.
Lift with bent knees when the load is over 10 kilograms.
Rinse out lye completely before acid cleaners are put in.
kettle
Half a litre boils in about two minutes at 2000 watts.
Do not fill above the line, because boiling water leaps out of the spout.
Lime comes off with citric acid, which must not boil in it.
Empty the rest in the evening, except where the water is very soft.
The base stays dry at all times, for there are contacts in it.
frying pan
A drop of water that dances tells that 180 degrees are reached.
Cast iron is not washed with soap but rubbed out with salt.
Burning fat is smothered with a lid and never doused with water.
Plastic turners go with coatings, and metal ones with bare steel.
Let the metal cool by itself, since cold water warps the base.
saucepan
A base of 6 millimetres spreads the heat evenly.
Turn the handle inwards so that no child pulls it down.
Burnt crusts come loose when water with soda simmers for 10 minutes.
Milk rises in seconds, so somebody should stand by.
Acid dishes pit aluminium, though stainless steel does not mind them.
ladle
One scoop is about 120 millilitres, or half a bowl.
Rest it on a saucer between two servings, because drips stain the cloth.
Nylon ones melt at 200 degrees and must not lean in a hot pot.
The hook at the end hangs over the rim, unless the pot is shallow.
Dip slowly from the edge and the herbs stay at the bottom.
rolling pin
Flour the surface thinly, for too much makes dough tough.
Roll from the middle outwards and give the dough a quarter turn.
Two strips of 5 millimetres at the sides make an even sheet.
Do not soak the wood, because the bearings rust and the grain rises.
A cooled marble one suits butter dough, but sticks to yeast dough.
cutting board
A wet cloth beneath keeps the whole from sliding.
Raw chicken gets a board of its own, so that salads stay safe.
Grooves deeper than 2 millimetres are planed off.
Oil the wood with three coats of linseed and wipe off the excess.
Bamboo is hard on knives, although it dries faster than beech.
mug
A capacity of 300 millilitres is the usual one.
Tea stains vanish with a teaspoon of soda on a wet finger.
A gold rim sparks in the microwave and may set it on fire.
Hairline cracks harbour germs, so a cracked one becomes a pen holder.
Preheat with hot water and the drink stays warm ten minutes longer.
plate
A warm one, at 60 degrees, keeps food from cooling for a quarter of an hour.
Stack no more than 12, with a napkin between the glazes.
Carry with the thumb on the rim and never on the surface.
Glaze with a metal edge does not go into the microwave.
Knife marks are removed with a paste of soda, unless the glaze is broken.
wine glass
Fill to the widest point and no further, which is about 150 millilitres.
Hold by the stem, since a warm palm changes the taste.
Twisting bowl and foot against each other while drying snaps the stem.
Hot water first and cold water next makes thin crystal burst.
Lint-free linen polishes best over a little steam.
toaster
Level four browns a slice in about two and a half minutes.
Pull the plug before fishing out a stuck slice, and use no metal.
Empty the crumb drawer each week, because crumbs catch fire.
Frozen slices take one minute more, unless there is a defrost key.
Curtains and wall cupboards stay half a metre clear of the slots.
"""
