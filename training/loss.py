"""What the tower is asked to do: name what it sees, and lie nearest to the captions that fit."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.nn import functional

from training.captions import IDLE, NONE
from training.network import Seen

if TYPE_CHECKING:
    from training.banks import Banks

__all__ = ["WEIGHTS", "Losses"]

WEIGHTS = {
    "name_object": 1.5,
    "name_act": 1.0,
    "name_scene": 0.2,
    "name_light": 0.1,
    "name_props": 0.15,
    "held": 1.0,
    "map": 1.5,
    "lying": 0.2,
    "where": 0.3,
    "full": 0.5,
    "act": 1.0,
    "object": 1.0,
    "described": 0.3,
    "scene": 0.2,
    "light": 0.1,
    "prop": 0.3,
}
BANKED = ("full", "act", "object", "described", "scene", "light", "prop")


class Losses(nn.Module):
    """Cross-entropies against heads and banks, each bank with a learned temperature."""

    def __init__(self, banks: Banks) -> None:
        super().__init__()
        for name in ("objects", "acts", "scenes", "lights", "props", "full", "full_at"):
            self.register_buffer(name, torch.from_numpy(getattr(banks, name)))
        self.scales = nn.ParameterDict({name: nn.Parameter(torch.tensor(3.0)) for name in BANKED})

    def forward(
        self, seen: Seen, labels: Any, described: Any, spots: Any, laid: Any, size: Any
    ) -> dict[str, Any]:
        """A scalar for each of `WEIGHTS`.

        Of the first n pictures: `labels` (n, 6), `described` (n, 384), unit rows of the text space, and
        `spots` (n, 8, 3), as `Pool.spots` has them; of the m collages after them `laid` (m, 6, 3), likewise.
        `size` (2,): width and height of the pictures.
        """
        told = len(labels)
        spread = seen.map[told:]
        seen = Seen(*(getattr(seen, part.name)[:told] for part in fields(Seen)))
        objects, acts, scenes, lights = labels[:, 0], labels[:, 1], labels[:, 2], labels[:, 3]
        shown = torch.zeros_like(seen.props).scatter_(1, labels[:, 4:6], 1.0)
        held = objects != NONE
        vector = seen.vector
        found = {
            "name_object": functional.cross_entropy(seen.objects, objects),
            "name_act": functional.cross_entropy(seen.acts, acts),
            "name_scene": functional.cross_entropy(seen.scenes, scenes),
            "name_light": functional.cross_entropy(seen.lights, lights),
            "name_props": functional.binary_cross_entropy_with_logits(seen.props, shown, reduction="none")
            .sum(1)
            .mean(),
            "act": functional.cross_entropy(self._against("act", vector, _drawn(self.acts)), acts),
            "object": functional.cross_entropy(
                self._against("object", vector[held], _drawn(self.objects)), objects[held]
            ),
            "scene": functional.cross_entropy(self._against("scene", vector, _drawn(self.scenes)), scenes),
            "light": functional.cross_entropy(self._against("light", vector, _drawn(self.lights)), lights),
            "prop": _several(self._against("prop", vector, _drawn(self.props)), shown),
        }
        alike = described @ described.T > 0.999
        found["described"] = _several(self._against("described", vector, described), alike.float())
        wording = int(torch.randint(self.full_at.shape[2], ()))
        rows = self.full_at[acts[held].clamp(max=IDLE - 1), objects[held], wording]
        same = (rows[:, None] == rows[None, :]).float()
        found |= _placed(seen, spots, size)
        if len(laid):
            at, kinds, _ = _read(spread, laid, size)
            found["map"] = functional.cross_entropy(at.flatten(0, 1), kinds.flatten())
        found["full"] = _several(self._against("full", vector[held], self.full[rows]), same)
        return found

    def _against(self, name: str, vector: Any, bank: Any) -> Any:
        return vector @ bank.T * self.scales[name].exp().clamp(max=60.0)


def _placed(seen: Seen, spots: Any, size: Any) -> dict[str, Any]:
    """The kind at the cell where each thing's middle lies, and the cell of the thing in use.

    Clutter may be covered, so its labels are smoothed.
    """
    at, kinds, place = _read(seen.map, spots, size)
    used, lying = kinds[:, 0] >= 0, kinds[:, 1:] >= 0
    return {
        "held": functional.cross_entropy(at[:, 0][used], kinds[:, 0][used]),
        "lying": functional.cross_entropy(at[:, 1:][lying], kinds[:, 1:][lying], label_smoothing=0.1),
        "where": functional.cross_entropy(seen.hold[used], place[:, 0][used]),
    }


def _read(things: Any, spots: Any, size: Any) -> tuple[Any, Any, Any]:
    """Of the map (n, kinds, h, w) the logits at the cell of each spot, the spots' kinds, and their cells."""
    _, count, height, width = things.shape
    # The middle of cell j is at pixel 16 j: every convolution with a stride pads on the left.
    cells = (spots[:, :, 1:] * size / 16).round().long().clamp(min=0)
    cells = torch.minimum(cells, torch.tensor([width, height]) - 1)
    place = cells[:, :, 1] * width + cells[:, :, 0]
    at = things.flatten(2).transpose(1, 2).gather(1, place[:, :, None].expand(-1, -1, count))
    return at, spots[:, :, 0].long(), place


def _drawn(bank: Any) -> Any:
    """One wording for every row, rendered again at every step."""
    wording = torch.randint(bank.shape[0], (bank.shape[1],))
    return bank[wording, torch.arange(bank.shape[1])]


def _several(logits: Any, right: Any) -> Any:
    """Cross-entropy where a row may have several right answers, each with an equal share."""
    share = right / right.sum(1, keepdim=True)
    return -(share * functional.log_softmax(logits, dim=1)).sum(1).mean()
