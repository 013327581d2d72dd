"""What happens in a video, taken apart: the nine parts of an event structure (EgoFact, C.2.1)."""

from __future__ import annotations

from dataclasses import dataclass

CAMERA_WEARER = "camera wearer"


@dataclass(frozen=True, slots=True)
class EventParts:
    """Who does what to what, where, and with what; an event is these and its time."""

    rewritten: str
    """"the camera wearer plugs the kettle into the wall socket"."""
    agent: str
    action: str
    patient: str
    """The object as `rewritten` names it, without its article; empty where the event has none."""
    patient_canonical: str
    patient_location: str | None
    patient_destination: str | None
    instrument: str | None
    event_location: str | None
