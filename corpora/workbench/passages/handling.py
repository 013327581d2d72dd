"""Facts of how a thing is gripped, moved, tried and passed on; the format is that of `places`."""

from __future__ import annotations

__all__ = ["HANDLING"]

HANDLING = """
fingers
It should be steadied with {n} fingers of the {side} hand.
> Use {n} fingers of the {side} hand to steady {the}.
> The {side} hand should steady {the} with {n} fingers.
side = left / right
n = two / three / four

carry_height
It should be carried at the height of the {part}.
> Lift {the} to the height of the {part} whenever you carry it.
> The height of the {part} is best for carrying {the}.
part = hips / chest / knees / shoulders

distance_speed
It should be moved {pace} over stretches of {n} metres.
> Move {the} {pace} and in stretches of {n} metres.
> Stretches of {n} metres are enough when you move {the} {pace}.
pace = slowly / quickly
n = 2 / 3 / 5 / 8

sliding !L !F
It should be {way} across the bench on a sheet of {stuff}.
> Whenever {the} must cross the bench you should {way} it on a sheet of {stuff}.
> Lay down a sheet of {stuff} and {way} {the} across the bench on it.
way = pushed:push / pulled:pull
stuff = felt / vinyl / cardboard / parchment

rotation
It should be rotated {n} degrees {way} after each use.
> After each use rotate {the} {n} degrees {way}.
> Rotate {the} {way} by {n} degrees after each use.
n = 30 / 45 / 60 / 90 / 120
way = clockwise / counterclockwise

knuckles
It should be tapped {n} times with the knuckles.
> Tap {the} {n} times with your knuckles and listen to the sound.
> With your knuckles give {the} a tap {n} times.
n = three / four / five / seven / nine

scale
It should be weighed {when} the job with a tolerance of {n} grams.
> Weigh {the} {when} the job and grant a tolerance of {n} grams.
> Put {the} on the scale {when} the job with a tolerance of {n} grams.
when = before / after
n = 5 / 10 / 20 / 40

nudging !E !B !F
It should be nudged {how} {n} times to see whether it wobbles.
> Nudge {the} {how} {n} times and look for a wobble.
> Look for a wobble when you nudge {the} {how} for {n} times.
how = gently / forcefully
n = two / three / five / six

thumb
It should be pressed with the thumb on its {side} side for {n} seconds.
> Press your thumb on the {side} side of {the} for {n} seconds.
> For {n} seconds press {the} on the {side} side with your thumb.
side = upper / lower
n = 4 / 6 / 9 / 12

other_hand
It should be swapped to the other hand at intervals of {n} seconds.
> Swap {the} to your other hand at intervals of {n} seconds.
> At intervals of {n} seconds {the} should be swapped to the other hand.
n = 15 / 20 / 30 / 45 / 60

posture
It should be used in a {pose} posture for spells of {n} minutes.
> Take up a {pose} posture and use {the} for spells of {n} minutes.
> Spells of {n} minutes in a {pose} posture suit {the}.
pose = kneeling / standing / seated / crouching
n = 5 / 8 / 12 / 18

counting
It should be released after a slow count to {n}.
> Count slowly to {n} and then release {the}.
> After a slow count to {n} you should release {the}.
n = five / eight / twelve / fifteen / twenty

cameras
It should be photographed from {n} angles {when} the session.
> Photograph {the} from {n} angles {when} the session.
> A set of photographs from {n} angles should show {the} {when} the session.
n = two / three / four / five
when = before / after

tolerance
It should be gauged {when} assembly to within {n} millimetres.
> Gauge {the} {when} assembly to within {n} millimetres.
> To within {n} millimetres is how closely you gauge {the} {when} assembly.
when = before / after
n = 2 / 3 / 4 / 6

guests
It {p} be shown to the {who} who drop by.
> {p} show {the} to the {who} who drop by.
> When the {who} drop by {the} {=p} be shown to them.
p = should:do / should not:do not
who = neighbours / cousins / children

lending
It {p} be lent to a {who} for the weekend.
> {p} lend {the} to a {who} for the weekend.
> For the weekend {the} {=p} be lent even to a {who}.
p = should:do / should not:do not
who = colleague / schoolmate / landlord

locking
It {p} be locked away during the {meal} break.
> {p} lock {the} away during the {meal} break.
> During the {meal} break {the} {=p} be locked away.
p = should:do / should not:do not
meal = lunch / morning / evening

owner
It {p} bear the {what} of its owner.
> {p} let {the} bear the {what} of the owner.
> Many people say that {the} {=p} bear the {what} of the owner.
p = should:do / should not:do not
what = initials / address / signature

upside !L !E !B
It {p} be turned upside down while the {event} lasts.
> {p} turn {the} upside down during the {event}.
> The {event} is when {the} {=p} be turned upside down.
p = should:do / should not:do not
event = rehearsal / coffee round / tidying up

draught
It {p} be placed in the draught of a {source}.
> {p} place {the} in the draught of a {source}.
> In the draught of a {source} {the} {=p} be placed.
p = should:do / should not:do not
source = chimney / staircase / ventilator

height_change !R
It should be {way} by {n} centimetres as the job gets going.
> As the job gets going {the} should be {way} by {n} centimetres.
> Have {the} {way} by {n} centimetres when the job gets going.
way = raised / lowered
n = 4 / 6 / 8 / 12

retirement !F
It should be retired after {n} uses and given to a {who}.
> Retire {the} after {n} uses and give it to a {who}.
> Give {the} to a {who} when it retires after {n} uses.
n = 50 / 80 / 120 / 200
who = school / museum / charity / scout club

hire
It should be hired out for {n} coins from {day} onwards.
> Hire {the} out for {n} coins from {day} onwards.
> From {day} onwards a fair price to hire {the} is {n} coins.
n = three / five / seven / nine
day = Tuesday / Thursday / Saturday
"""
