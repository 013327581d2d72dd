"""Time, climate and care; the format is that of `places`."""

from __future__ import annotations

CONDITIONS = """
== give {x} the right climate
* Climate works slowly but surely.
* A thermometer and a hygrometer cost little.

room_heat
# heat the room for {x}
It should be kept in a room heated to {n} degrees.
> Have the room heated to {n} degrees where {the} is kept.
> A room heated to {n} degrees is a good one for {the}.
n = 14 / 16 / 18 / 20 / 22

humidity
# choose the humidity for {x}
It does best at a humidity of {n} percent.
> A humidity of {n} percent is best for {the}.
> Aim at a humidity of {n} percent for the sake of {the}.
n = 35 / 40 / 50 / 55 / 65

acclimatize
# keep {x} in a chosen room beforehand
It should spend {n} minutes in a {air} room beforehand.
> Take {the} to a {air} room for {n} minutes beforehand.
> Beforehand a {air} room should hold {the} for {n} minutes.
n = 10 / 15 / 25 / 40
air = warm / cold

== air {x} and mind draughts and fumes
* Air is cheap and often forgotten.
* Stale air leaves a smell.

airing
# air {x} on the balcony for hours
It should be aired by {time} for {n} hours on the balcony.
> Air {the} on the balcony by {time} for {n} hours.
> By {time} {the} should have {n} hours of airing on the balcony.
time = day / night
n = 2 / 3 / 4 / 6

draught
# decide whether to place {x} in a draught
It {p} be placed in the draught of a {source}.
> {p} place {the} in the draught of a {source}.
> In the draught of a {source} {the} {=p} be placed.
p = should:do / should not:do not
source = chimney / staircase / ventilator

fumes
# keep {x} away from fumes by some metres
It should be kept {n} metres away from {what}.
> Keep {the} {n} metres away from {what}.
> Let {n} metres separate {the} from {what} that drifts away.
n = 2 / 3 / 5 / 8
what = smoke / steam / perfume

== inspect {x} regularly
* Faults found early are cheap.
* An inspection needs good light and no hurry.

logbook
# inspect {x} and keep a logbook
It should be inspected every {n} days and entered in a {colour} logbook.
> Inspect {the} every {n} days and write the result in a {colour} logbook.
> In a {colour} logbook note how {the} looked when inspected every {n} days.
n = 4 / 6 / 9 / 14
colour = green / blue / grey / purple

weekday
# take a thorough look at {x} around lunch
It deserves a thorough look each {day} {when} lunch.
> Each {day} {when} lunch take a thorough look at {the}.
> The time for a thorough look at {the} is {day} {when} lunch.
day = Monday / Wednesday / Friday / Sunday
when = before / after

damage_check
# examine {x} for scratches
It should be examined for scratches at {time}.
> Examine {the} for scratches at {time}.
> The light at {time} is the one to examine {the} for scratches.
time = dawn / noon / dusk / midnight

== wrap {x} up
* Wrapping is quickly learnt.
* The parcel is turned while it is wrapped.

layers
# wrap {x} in layers
It should be wrapped in {n} layers of {stuff}.
> Wrap {the} in {n} layers of {stuff}.
> Cut {n} layers of {stuff} and wrap {the} in them.
n = two / three / four / five
stuff = newspaper / tissue / burlap / cellophane

knot
# tie {x} up with string and a knot
It should be tied up with {colour} string in a {firm} knot.
> Tie {the} up with {colour} string and make a {firm} knot.
> With {colour} string make a {firm} knot to tie {the} up.
colour = green / blue / white / black
firm = loose / tight

== wipe and rub {x} clean
* Gentle pressure cleans as well as hard rubbing.
* Cloths are washed apart from clothes.

wiping !F
# wipe {x} with a chosen cloth
It should be wiped with a {wet} cloth of {stuff}.
> Wipe {the} with a {wet} {stuff} cloth.
> A {wet} cloth of {stuff} is used to wipe {the}.
wet = dry / damp
stuff = flannel / linen / muslin

rubbing !F !P
# rub {x} in circles
It should be rubbed in {size} circles with a scrap of {stuff}.
> Take a scrap of {stuff} and rub {the} in {size} circles.
> Rub {the} in {size} circles with a scrap of {stuff}.
size = wide / narrow
stuff = chamois / silk / flannel

== get the dust off {x}
* Dust returns however often one removes it.
* Dust is easiest to see in low sun.

dusting
# dust {x} every few days
It should be dusted every {n} days starting from the {end}.
> Every {n} days dust {the} starting from the {end}.
> Starting from the {end} give {the} a dusting every {n} days.
n = 3 / 5 / 7 / 10
end = top / bottom

puffs
# blow {x} free of crumbs with puffs
It should be blown free of crumbs with {n} puffs from {side}.
> Blow crumbs off {the} with {n} puffs from {side}.
> With {n} puffs from {side} blow the crumbs off {the}.
n = two / three / four / six
side = above / below

== mind the noise around {x}
* Sound carries further than expected.
* Ears get used to almost any noise.

sound
# put {x} in a hall with a chosen sound
It should be put in a {sound} hall with a {machine} running.
> Put {the} in a {sound} hall where a {machine} is running.
> A {sound} hall with a {machine} running is the right one for {the}.
sound = quiet / noisy
machine = fan / fountain / generator

whistle
# announce {x} with a whistle
It should be announced with a {sound} whistle lasting {n} seconds.
> Announce {the} with a {sound} whistle lasting {n} seconds.
> Before you show {the} give a {sound} whistle lasting {n} seconds.
sound = loud / quiet
n = 2 / 3 / 5 / 7

== enter {x} in a list or register
* Lists outlive memory.
* Neat writing is half of a good list.

sorting
# sort {x} under a letter of the list
It should be sorted under the letter {letter} in the {tone} column of the list.
> Sort {the} under the letter {letter} in the {tone} column of the list.
> In the {tone} column of the list sort {the} under the letter {letter}.
letter = K / M / R / T
tone = left / right

register
# enter {x} on a page of the register
It should be entered on page {n} of the {colour} register.
> Enter {the} on page {n} of the {colour} register.
> Page {n} of the {colour} register is the one on which to enter {the}.
n = 12 / 23 / 37 / 48
colour = green / blue / grey / brown

== let {x} rest for a while
* Rest comes before work.
* Impatience spoils what time would mend.

rest
# let {x} rest undisturbed for minutes
It should rest undisturbed for {n} minutes before anyone picks it up again.
> Allow {the} to rest undisturbed for {n} minutes before it is picked up again.
> Before {the} is picked up again a rest of {n} undisturbed minutes is due.
n = 5 / 10 / 20 / 30 / 45

settling
# let {x} settle on a tray
It should settle on a {air} tray of {stuff}.
> Let {the} settle on a {air} tray of {stuff}.
> Fetch a {air} tray of {stuff} on which to let {the} settle.
air = warm / cold
stuff = pewter / porcelain / enamel / bamboo

== find a replacement for {x}
* Nothing lasts for good.
* A replacement is found before it is needed.

cellar_spares
# store spares for {x} in the cellar
It should have {n} spares waiting at the {side} of the cellar.
> Store {n} spares for {the} at the {side} of the cellar.
> At the {side} of the cellar there should be {n} spares for {the}.
n = two / three / four / six
side = front / back

season !F
# replace {x} each season
It should be replaced each {season} at a cost of {n} coins.
> Each {season} spend {n} coins to replace {the}.
> Put {n} coins aside to replace {the} each {season}.
season = spring / summer / autumn / winter
n = 12 / 15 / 25 / 40

market !F
# buy {x} at a market
It should be bought {age} at a market within {n} kilometres.
> Buy {the} {age} at a market within {n} kilometres.
> Within {n} kilometres there is surely a market to buy {the} {age}.
age = new / old
n = 6 / 12 / 20 / 30

retirement !F
# retire {x} after many uses
It should be retired after {n} uses and given to a {who}.
> Retire {the} after {n} uses and give it to a {who}.
> Give {the} to a {who} when it retires after {n} uses.
n = 50 / 80 / 120 / 200
who = school / museum / charity / scout club
"""
