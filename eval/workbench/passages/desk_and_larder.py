"""What is true of each thing of the desk and each food, five sentences a kind."""

from __future__ import annotations

DESK_AND_LARDER = """
laptop
A charge between 20 and 80 percent is what the battery likes best.
Soft blankets block the vents, so a firm base is a must.
Liquid on the keys means off at once, battery out and upside down.
Close the lid from the middle, because a corner twists the hinge.
Below 5 degrees the battery weakens, unless the machine is asleep.
computer mouse
A pad of cloth and 1200 dots per inch give a steady pointer.
Glass tops confuse the sensor, except with a laser underneath.
Fluff round the lens makes the pointer jump.
Rest the forearm and not the wrist, or tendons ache within weeks.
Double clicks at a single press are the sign of a worn switch.
stapler
Twenty sheets are the limit for a staple of 6 millimetres.
Turn the anvil round and the legs bend outwards for a temporary hold.
Jammed legs are pulled with tweezers and never with fingernails.
Open the arm away from the face, since the spring throws staples.
Only the strip stamped 24/6 fits most models, whatever the colour.
scissors
Fabric blades cut no paper, because clay in the paper dulls them.
Pass them on with the grips first and the blades closed.
A half turn of the pivot screw cures blades that fold the cloth.
Left-handed ones are mirrored, so buying a pair with soft grips does not help.
Cutting sandpaper ten times takes off small burrs.
pencil
Grade HB writes, 2B shades and 4H draws fine lines.
A point of 20 degrees snaps, whereas one of 25 holds.
Dropping it on stone breaks the core in several places inside.
Turn while drawing and the point wears evenly.
Graphite conducts current, so dust has no place near a plug.
phone
Half a charge is right for a device stored for months.
Heat above 35 degrees ages the battery more than use does.
A swollen back means that the device is switched off and taken away.
Rice does not dry a wet one, but time and air do.
Backups are made before any repair, unless the screen is dead.
headphones
At 85 decibels eight hours a day are the limit.
Grab the plug and not the lead when pulling out.
Ear pads crumble after two years and are sold as spares.
On the road one ear stays free, because horns are meant to be heard.
Wind the lead in a figure of eight and it never twists.
desk lamp
A bulb of 450 lumens at 40 centimetres lights a sheet evenly.
Right-handed people put the light on the left, so that no shadow falls.
Let the bulb cool before it is changed, even a modern one.
The joint screws are tightened when the head sinks by itself.
Paper shades stay clear of bulbs above 25 watts.
calculator
Press the clear key twice, or an old figure stays in memory.
Solar cells want 50 lux, which a candle does not give.
Sticky keys are lifted by a thin card and cleaned with spirit.
The percent key works from right to left on older models.
Round at the very end and never in between.
envelope
The long format holds a sheet folded in three.
Moisten the flap with a damp finger, since tongues get cut.
Up to 20 grams travel at the basic rate.
Windows of film are torn out first, except the ones marked recyclable.
A sealed one opens over steam, but the fibres then warp.
egg
Seven minutes in boiling water give a waxy yolk.
A fresh one sinks flat, and one that floats is thrown away.
Prick the blunt end and the shell will not burst.
Wash hands after touching shells, because of salmonella.
Cold ones crack in hot water, unless a spoon lowers them in.
bread loaf
Rye keeps for a week, whereas wheat dries out in three days.
The refrigerator makes the crumb stale faster, except in hot weather.
Mould on one slice means that all of it goes.
Cut from the middle and press the halves together again.
Ten minutes at 180 degrees, slightly moistened, bring the crust back.
banana
Brown specks are sugar and no fault at all.
A wrapped stem slows ripening by two or three days.
Apples nearby speed it up, for they give off a gas.
Below 12 degrees the peel turns grey, though the flesh stays good.
Peels on the floor are as slippery as the stories tell.
carrot
Twist off the greens at once, because they draw out the juice.
In damp sand it keeps for four months.
A little fat helps the body with the vitamin.
Bitter ones lay next to apples or pears.
Peeling is not needed, except where the skin is woody.
tomato
Below 8 degrees the flavour goes and does not return.
A cross cut in the skin and 20 seconds in boiling water make peeling easy.
Green parts hold a poison and are cut out generously.
Place with the stalk end down and no juice presses through.
Acid attacks aluminium foil, so glass is the better cover.
pineapple
An inner leaf that comes off at a light pull tells ripeness.
The raw juice keeps jelly from setting, but boiled juice does not.
Cut the eyes out in a spiral and little flesh is lost.
Weigh it in the palm: a ripe one of 2 kilograms feels too heavy.
Too much of the raw flesh burns the tongue, unless salt is sprinkled on.
"""
