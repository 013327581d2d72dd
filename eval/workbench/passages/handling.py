"""How a thing is held, tried, marked and passed on; the format is that of `places`."""

from __future__ import annotations

HANDLING = """
== guard {x} against loss
* Things get lost where many people come and go.
* Guards need a clear plan.

ring
# stand {x} inside a ring
It should stand inside a ring of {stuff} that is {n} centimetres wide.
> Make a ring of {stuff} that is {n} centimetres wide and stand {the} inside.
> Stand {the} inside a {stuff} ring measuring {n} centimetres.
stuff = chalk / rope / gravel / ribbon
n = 40 / 50 / 60 / 80 / 90

team
# have {x} guarded by people of a group
It should be guarded by {n} people from the {end} group.
> Ask {n} people from the {end} group to guard {the}.
> Have {the} guarded by {n} people from the {end} group.
n = two / three / four / five
end = first / last

tether !F !B !L
# tether {x} with a cord
It should be tethered to the {post} by a cord of {n} centimetres.
> Tether {the} to the {post} by a cord of {n} centimetres.
> Cut {n} centimetres of cord and use it to tether {the} to the {post}.
post = belt / railing / door knob
n = 40 / 60 / 90 / 120

locking
# decide whether to lock {x} away during the break
It {p} be locked away during the {meal} break.
> {p} lock {the} away during the {meal} break.
> During the {meal} break {the} {=p} be locked away.
p = should:do / should not:do not
meal = lunch / morning / evening

== hold {x} in the hand
* A relaxed hand holds longer.
* Fingers tire sooner than arms.

fingers
# steady {x} with the fingers
It should be steadied with {n} fingers of the {side} hand.
> Use {n} fingers of the {side} hand to steady {the}.
> The {side} hand should steady {the} with {n} fingers.
side = left / right
n = two / three / four

other_hand
# swap {x} to the other hand
It should be swapped to the other hand at intervals of {n} seconds.
> Swap {the} to your other hand at intervals of {n} seconds.
> At intervals of {n} seconds {the} should be swapped to the other hand.
n = 15 / 20 / 30 / 45 / 60

counting
# release {x} after a slow count
It should be released after a slow count to {n}.
> Count slowly to {n} and then release {the}.
> After a slow count to {n} you should release {the}.
n = five / eight / twelve / fifteen / twenty

== test {x} by touch
* Touch reveals what the eye does not see.
* Warm fingers feel best.

thumb
# press {x} with the thumb
It should be pressed with the thumb on its {side} side for {n} seconds.
> Press your thumb on the {side} side of {the} for {n} seconds.
> For {n} seconds press {the} on the {side} side with your thumb.
side = upper / lower
n = 4 / 6 / 9 / 12

knuckles
# tap {x} with the knuckles
It should be tapped {n} times with the knuckles.
> Tap {the} {n} times with your knuckles and listen to the sound.
> With your knuckles give {the} a tap {n} times.
n = three / four / five / seven / nine

nudging !E !B !F
# nudge {x} and look for a wobble
It should be nudged {how} {n} times to see whether it wobbles.
> Nudge {the} {how} {n} times and look for a wobble.
> Look for a wobble when you nudge {the} {how} for {n} times.
how = gently / forcefully
n = two / three / five / six

== use {x} in short spells
* Short spells keep the mind awake.
* Fatigue creeps in unnoticed.

posture
# use {x} in a chosen posture
It should be used in a {pose} posture for spells of {n} minutes.
> Take up a {pose} posture and use {the} for spells of {n} minutes.
> Spells of {n} minutes in a {pose} posture suit {the}.
pose = kneeling / standing / seated / crouching
n = 5 / 8 / 12 / 18

break
# put {x} aside for a pause after use
It should be put aside for a pause after {n} minutes of use.
> After {n} minutes of use put {the} aside for a pause.
> A pause is due after {n} minutes of use so put {the} aside.
n = 15 / 20 / 35 / 50

== carry {x} from place to place
* Most accidents happen on the way.
* Free the path before carrying anything.

carry_height
# carry {x} at a chosen height
It should be carried at the height of the {part}.
> Lift {the} to the height of the {part} whenever you carry it.
> The height of the {part} is best for carrying {the}.
part = hips / chest / knees / shoulders

distance_speed
# move {x} in stretches of some metres
It should be moved {pace} over stretches of {n} metres.
> Move {the} {pace} and in stretches of {n} metres.
> Stretches of {n} metres are enough when you move {the} {pace}.
pace = slowly / quickly
n = 2 / 3 / 5 / 8

sliding !L !F
# slide {x} across the bench on a sheet
It should be {way} across the bench on a sheet of {stuff}.
> Whenever {the} must cross the bench you should {way} it on a sheet of {stuff}.
> Lay down a sheet of {stuff} and {way} {the} across the bench on it.
way = pushed:push / pulled:pull
stuff = felt / vinyl / cardboard / parchment

== weigh and gauge {x}
* Figures beat guesses.
* Scales and gauges are set to zero first.

scale
# weigh {x} to within some grams
It should be weighed {when} the job with a tolerance of {n} grams.
> Weigh {the} {when} the job and grant a tolerance of {n} grams.
> Put {the} on the scale {when} the job with a tolerance of {n} grams.
when = before / after
n = 5 / 10 / 20 / 40

tolerance
# gauge {x} to within millimetres
It should be gauged {when} assembly to within {n} millimetres.
> Gauge {the} {when} assembly to within {n} millimetres.
> To within {n} millimetres is how closely you gauge {the} {when} assembly.
when = before / after
n = 2 / 3 / 4 / 6

== photograph {x}
* Pictures settle disputes.
* A steady camera matters more than a dear one.

cameras
# take pictures of {x} from several angles
It should be photographed from {n} angles {when} the session.
> Photograph {the} from {n} angles {when} the session.
> A set of photographs from {n} angles should show {the} {when} the session.
n = two / three / four / five
when = before / after

backdrop
# photograph {x} against a backdrop
It should be photographed against a {colour} backdrop with {n} exposures.
> Take {n} exposures of {the} against a {colour} backdrop.
> Against a {colour} backdrop photograph {the} with {n} exposures.
colour = grey / black / green / pink
n = six / eight / nine / twelve

== share {x} with other people
* Good rules make good friends.
* Visitors and borrowers mean well.

guests
# decide whether to show {x} to those who drop by
It {p} be shown to the {who} who drop by.
> {p} show {the} to the {who} who drop by.
> When the {who} drop by {the} {=p} be shown to them.
p = should:do / should not:do not
who = neighbours / cousins / children

lending
# decide whether to lend {x} for the weekend
It {p} be lent to a {who} for the weekend.
> {p} lend {the} to a {who} for the weekend.
> For the weekend {the} {=p} be lent even to a {who}.
p = should:do / should not:do not
who = colleague / schoolmate / landlord

hire
# hire {x} out for coins
It should be hired out for {n} coins from {day} onwards.
> Hire {the} out for {n} coins from {day} onwards.
> From {day} onwards a fair price to hire {the} is {n} coins.
n = three / five / seven / nine
day = Tuesday / Thursday / Saturday

== put a mark on {x}
* A mark prevents mix-ups.
* Clean and dry surfaces take marks best.

owner
# decide whether {x} should bear a mark of the owner
It {p} bear the {what} of its owner.
> {p} let {the} bear the {what} of the owner.
> Many people say that {the} {=p} bear the {what} of the owner.
p = should:do / should not:do not
what = initials / address / signature

label
# fix a coloured label to {x}
It should carry a {colour} label on its {side}.
> Stick a {colour} label on the {side} of {the}.
> A {colour} label belongs on the {side} of {the}.
colour = pink / green / white / turquoise
side = front / back

dots !F
# mark {x} with dots of ink
It should be marked with {n} dots of {colour} ink.
> Mark {the} with {n} dots of {colour} ink.
> Take {colour} ink and mark {the} with {n} dots.
n = two / three / four / five
colour = blue / green / violet / silver
"""
