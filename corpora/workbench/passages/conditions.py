"""Facts of time, weather, covering and care; the format is that of `places`."""

from __future__ import annotations

__all__ = ["CONDITIONS"]

CONDITIONS = """
rest
It should rest undisturbed for {n} minutes before anyone picks it up again.
> Allow {the} to rest undisturbed for {n} minutes before it is picked up again.
> Before {the} is picked up again a rest of {n} undisturbed minutes is due.
n = 5 / 10 / 20 / 30 / 45

doors
It should be brought in {order} and through the {door} door.
> Bring {the} in {order} and use the {door} door.
> Use the {door} door and bring {the} in {order}.
order = first / last
door = side / cellar / balcony

logbook
It should be inspected every {n} days and entered in a {colour} logbook.
> Inspect {the} every {n} days and write the result in a {colour} logbook.
> In a {colour} logbook note how {the} looked when inspected every {n} days.
n = 4 / 6 / 9 / 14
colour = green / blue / grey / purple

weekday
It deserves a thorough look each {day} {when} lunch.
> Each {day} {when} lunch take a thorough look at {the}.
> The time for a thorough look at {the} is {day} {when} lunch.
day = Monday / Wednesday / Friday / Sunday
when = before / after

airing
It should be aired by {time} for {n} hours on the balcony.
> Air {the} on the balcony by {time} for {n} hours.
> By {time} {the} should have {n} hours of airing on the balcony.
time = day / night
n = 2 / 3 / 4 / 6

season !F
It should be replaced each {season} at a cost of {n} coins.
> Each {season} spend {n} coins to replace {the}.
> Put {n} coins aside to replace {the} each {season}.
season = spring / summer / autumn / winter
n = 12 / 15 / 25 / 40

acclimatize
It should spend {n} minutes in a {air} room beforehand.
> Take {the} to a {air} room for {n} minutes beforehand.
> Beforehand a {air} room should hold {the} for {n} minutes.
n = 10 / 15 / 25 / 40
air = warm / cold

break
It should be put aside for a pause after {n} minutes of use.
> After {n} minutes of use put {the} aside for a pause.
> A pause is due after {n} minutes of use so put {the} aside.
n = 15 / 20 / 35 / 50

curfew
It should be back in its usual place by {n} o'clock.
> See to it that {the} should be back in the usual place by {n} o'clock.
> By {n} o'clock put {the} back in the usual place.
n = five / six / seven / eight / nine

damage_check
It should be examined for scratches at {time}.
> Examine {the} for scratches at {time}.
> The light at {time} is the one to examine {the} for scratches.
time = dawn / noon / dusk / midnight

cover
It {p} be covered with a {stuff} sheet overnight.
> {p} cover {the} with a {stuff} sheet overnight.
> Overnight {the} {=p} be covered with a {stuff} sheet.
p = should:do / should not:do not
stuff = muslin / linen / velvet

layers
It should be wrapped in {n} layers of {stuff}.
> Wrap {the} in {n} layers of {stuff}.
> Cut {n} layers of {stuff} and wrap {the} in them.
n = two / three / four / five
stuff = newspaper / tissue / burlap / cellophane

padding
It should travel in a case padded with {n} centimetres of {stuff}.
> Pad the travelling case of {the} with {n} centimetres of {stuff}.
> A case padded with {n} centimetres of {stuff} is how {the} should travel.
n = 3 / 4 / 6 / 8
stuff = straw / sawdust / wool / moss

knot
It should be tied up with {colour} string in a {firm} knot.
> Tie {the} up with {colour} string and make a {firm} knot.
> With {colour} string make a {firm} knot to tie {the} up.
colour = green / blue / white / black
firm = loose / tight

label
It should carry a {colour} label on its {side}.
> Stick a {colour} label on the {side} of {the}.
> A {colour} label belongs on the {side} of {the}.
colour = pink / green / white / turquoise
side = front / back

dots !F
It should be marked with {n} dots of {colour} ink.
> Mark {the} with {n} dots of {colour} ink.
> Take {colour} ink and mark {the} with {n} dots.
n = two / three / four / five
colour = blue / green / violet / silver

wiping !F
It should be wiped with a {wet} cloth of {stuff}.
> Wipe {the} with a {wet} {stuff} cloth.
> A {wet} cloth of {stuff} is used to wipe {the}.
wet = dry / damp
stuff = flannel / linen / muslin

dusting
It should be dusted every {n} days starting from the {end}.
> Every {n} days dust {the} starting from the {end}.
> Starting from the {end} give {the} a dusting every {n} days.
n = 3 / 5 / 7 / 10
end = top / bottom

puffs
It should be blown free of crumbs with {n} puffs from {side}.
> Blow crumbs off {the} with {n} puffs from {side}.
> With {n} puffs from {side} blow the crumbs off {the}.
n = two / three / four / six
side = above / below

rubbing !F !P
It should be rubbed in {size} circles with a scrap of {stuff}.
> Take a scrap of {stuff} and rub {the} in {size} circles.
> Rub {the} in {size} circles with a scrap of {stuff}.
size = wide / narrow
stuff = chamois / silk / flannel

fumes
It should be kept {n} metres away from {what}.
> Keep {the} {n} metres away from {what}.
> Let {n} metres separate {the} from {what} that drifts away.
n = 2 / 3 / 5 / 8
what = smoke / steam / perfume

room_heat
It should be kept in a room heated to {n} degrees.
> Have the room heated to {n} degrees where {the} is kept.
> A room heated to {n} degrees is a good one for {the}.
n = 14 / 16 / 18 / 20 / 22

humidity
It does best at a humidity of {n} percent.
> A humidity of {n} percent is best for {the}.
> Aim at a humidity of {n} percent for the sake of {the}.
n = 35 / 40 / 50 / 55 / 65

sound
It should be put in a {sound} hall with a {machine} running.
> Put {the} in a {sound} hall where a {machine} is running.
> A {sound} hall with a {machine} running is the right one for {the}.
sound = quiet / noisy
machine = fan / fountain / generator

load !F !B
It should be loaded with {n} grams on its {side} part.
> Load {the} with {n} grams on the {side} part.
> On the {side} part of {the} goes a load of {n} grams.
n = 50 / 80 / 150 / 300
side = left / right

sack
It should be held in place by a {weight} sack of {stuff}.
> Let a {weight} sack of {stuff} hold {the} in place.
> Hold {the} in place by means of a {weight} sack of {stuff}.
weight = heavy / light
stuff = sand / rice / beans

market !F
It should be bought {age} at a market within {n} kilometres.
> Buy {the} {age} at a market within {n} kilometres.
> Within {n} kilometres there is surely a market to buy {the} {age}.
age = new / old
n = 6 / 12 / 20 / 30

team
It should be guarded by {n} people from the {end} group.
> Ask {n} people from the {end} group to guard {the}.
> Have {the} guarded by {n} people from the {end} group.
n = two / three / four / five
end = first / last

whistle
It should be announced with a {sound} whistle lasting {n} seconds.
> Announce {the} with a {sound} whistle lasting {n} seconds.
> Before you show {the} give a {sound} whistle lasting {n} seconds.
sound = loud / quiet
n = 2 / 3 / 5 / 7

sorting
It should be sorted under the letter {letter} in the {tone} column of the list.
> Sort {the} under the letter {letter} in the {tone} column of the list.
> In the {tone} column of the list sort {the} under the letter {letter}.
letter = K / M / R / T
tone = left / right
"""
