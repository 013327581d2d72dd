"""The base of every reply: what comes from a language model is outside data."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Reply(BaseModel):
    """Unknown keys are refused, and nothing is changed once it is read."""

    model_config = ConfigDict(extra="forbid", frozen=True)
