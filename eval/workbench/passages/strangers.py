"""What is true of things that the world does not have, four sentences a thing: they make distractors."""

from __future__ import annotations

STRANGERS = """
banjo
Five strings are tuned to an open chord on most models.
A loose skin sounds dull, so the brackets want a quarter turn.
Humid summers slacken natural skin, though plastic stays tight.
The bridge stands free and must not be glued down.
sewing machine
A needle is changed after eight hours of stitching.
Thread from a cheap spool leaves lint under the plate.
Leather needs a wedge point, or the stitches tear.
The motor belt gives by about 10 millimetres at a press.
skateboard
Bearings are cleaned after 100 kilometres of asphalt.
Soft wheels forgive gravel, while hard ones slide on it.
A cracked deck goes to the bin and not under tape.
The trucks are loosened for slow curves only.
wheelbarrow
A load of 80 kilograms is right for level ground.
The tyre wants 2 bar, or each metre becomes a burden.
Load over the axle and the arms carry little.
Wet concrete is washed off within an hour.
accordion
The bellows are closed by a button that lets the air out.
Reeds rust when played in a cold church.
A strap too long by two holes ruins the back.
Never pull the bellows apart with no key pressed.
tent
Pegs go in at a slant of 45 degrees.
Seams are sealed each second year with silicone.
A wet one rots within a few days in its bag.
Stoves have no place inside, unless death is wanted.
chandelier
A hook for 30 kilograms is screwed into a beam.
Crystals are washed one at a time in spirit and water.
The fuse comes out before a bulb is touched.
Dimmers hum, except with the matching coils.
blender
Liquid first and ice last spares the blades.
A jug filled beyond 1500 millilitres lifts its lid.
Hot soup needs a vent, or steam bursts out.
The seal ring is taken out and dried weekly.
harmonica
Ten holes give nineteen notes without tricks.
Rinse the mouth before playing, since sugar glues the reeds.
Tap it on the palm so that moisture runs out.
A stuck reed is freed by a toothpick, very carefully.
fountain pen
A nib is flushed with cool water every two months.
Caps are turned and not pulled in aeroplanes.
Shellac inks clog the feed for good.
Left-handed writers choose an oblique nib of medium width.
suitcase
Twenty kilograms are the limit on most flights.
Shoes at the wheels keep shirts from creasing.
A belt round the shell helps when a zip bursts.
Combination locks are set anew after each journey.
piano stool
The spindle is turned until the elbows are level with the keys.
A creak comes from the thread and ends with wax.
Felt under the feet spares the parquet.
Children kneel on the seat only under watch.
chess clock
Two dials are wound by the same number of turns.
The lever is pressed with the hand that moved the piece.
A flag that falls early is a matter for the arbiter.
Blitz games last five minutes a side.
typewriter
Type bars are brushed with spirit each month.
A ribbon holds some 900000 strokes.
Two keys at a time jam in the guide.
The carriage is locked before any transport.
microscope
Start with the lens of four times magnification.
The stage moves away from the lens, never towards it, during focusing.
Immersion oil is removed with special tissue.
Sunlight through the condenser can blind an eye.
violin
Rosin is put on the bow with five strokes.
The bow hair is slackened after each concert.
Pegs that slip are rubbed with chalk and soap.
A soundpost that falls over is a case for the maker.
canoe paddle
The grip reaches the chin of a standing adult.
A blade of ash is varnished twice a year.
Push off from rocks with a foot, because blades split.
Twisted shafts are sorted out before the trip.
hammock
Straps go round trees at the height of the eyes.
A sag of 30 degrees lets people lie flat.
Knots are checked by hanging a heavy bag first.
Sun makes nylon brittle within three summers.
surfboard
Wax is rubbed on in small bumps.
Dings are dried for two days before resin is poured.
A leash as long as the hull is the right one.
Parked cars get too hot for foam.
top hat
Silk is brushed with the nap and never against it.
Steam brings the brim back into shape.
A collapsed crown springs up at a flick.
Hat sizes run in steps of one centimetre.
telescope
The finder is aligned in daylight on a chimney.
Two hours of cooling give a steady picture.
Without a proper filter the sun burns out the retina.
Dew on the mirror is left to dry by itself.
rowing boat
The bung is in before the hull touches the lake.
Oars are feathered against the wind.
Three persons are enough for four metres of hull.
Ropes are coiled and hung up wet.
fishing rod
The ferrules are rubbed with candle wax.
A line of 0.2 millimetres holds a trout.
Carbon conducts, so nobody casts beneath power lines.
Hooks are stuck into cork for the way home.
"""
