"""The tower during training: residual convolutions, a readout that sums vectors of what it sees, the losses.

The readout's sums start from the caption vectors themselves: an image vector begins as "what is in the
hand" + "what happens" + "what is around", each weighted by how sure the tower is of it. The losses: to
name what is visible, and to be nearest to the captions that fit.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.nn import functional

from eval.workbench.catalogue import COLORS, LIGHTS, PROPS, SCENES
from indexers.bundled.encoder import DIM
from training.captions import ACTS, IDLE, NONE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from training.captions import Banks


WIDTHS = (48, 96, 224)
HEADS = 8
HEAD_WIDTH = 48
HIDDEN = 384

AGENTS = sorted({act.agent for act in ACTS})
GAPS = sorted({(act.action_id, act.place or "") for act in ACTS})
AGENT_OF = [AGENTS.index(act.agent) for act in ACTS]
GAP_OF = [GAPS.index((act.action_id, act.place or "")) for act in ACTS]
"""An act is an agent and a gap: what is done where, whoever does it. Numbers of both, by act."""


@dataclass
class Seen:
    """What the tower makes of a batch of n images."""

    vector: Any
    """(n, 384), unit rows"""
    objects: Any
    """(n, 69) logits: kinds, then none"""
    acts: Any
    """(n, 149) logits: acts, then idle"""
    scenes: Any
    """(n, 8) logits"""
    lights: Any
    """(n, 3) logits"""
    props: Any
    """(n, 192) logits, each for itself"""
    hold: Any
    """(n, h w) logits: where the thing in use is"""
    map: Any
    """(n, 68, h, w) logits: the kind that is at each cell, used or not"""


def _conv(entering: int, leaving: int, size: int, stride: int, *, act: bool = True) -> nn.Sequential:
    parts: OrderedDict[str, nn.Module] = OrderedDict(
        conv=nn.Conv2d(entering, leaving, size, stride, size // 2, bias=False), norm=nn.BatchNorm2d(leaving)
    )
    if act:
        parts["act"] = nn.ReLU(inplace=True)
    return nn.Sequential(parts)


class _Residual(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.first = _conv(width, width, 3, 1)
        self.second = _conv(width, width, 3, 1, act=False)
        nn.init.zeros_(self.second.norm.weight)

    def forward(self, x: Any) -> Any:
        return functional.relu(x + self.second(self.first(x)))


class Network(nn.Module):
    """Normalised images (n, 3, height, width) into `Seen`."""

    def __init__(self, prototypes: dict[str, NDArray[Any]]) -> None:
        """`prototypes`: unit rows of "objects" (68), "acts" (149), "scenes" (8), "lights", "props" (192)."""
        super().__init__()
        low, middle, high = WIDTHS
        self.stem = _conv(3, low, 7, 4)
        self.low = nn.Sequential(_Residual(low))
        self.to_middle = _conv(low, middle, 3, 2)
        self.middle = nn.Sequential(_Residual(middle), _Residual(middle))
        self.to_high = _conv(middle, high, 3, 2)
        self.high = nn.Sequential(_Residual(high), _Residual(high))
        self.things = nn.Conv2d(high, NONE, 1)
        self.hold = nn.Conv2d(high, 1, 1)
        self.look = nn.Conv2d(high, HEADS, 1)
        self.value = nn.Conv2d(high, HEADS * HEAD_WIDTH, 1)
        self.hidden = nn.Linear(HEADS * HEAD_WIDTH + high, HIDDEN)
        self.objects = nn.Linear(HIDDEN, NONE + 1)
        self.gaps = nn.Linear(HIDDEN, len(GAPS) + 1)
        self.agents = nn.Linear(HIDDEN, len(AGENTS))
        self.scenes = nn.Linear(HIDDEN, len(SCENES))
        self.lights = nn.Linear(HIDDEN, len(LIGHTS))
        self.decor = nn.Conv2d(high, len(PROPS) + len(COLORS), 1)
        nn.init.constant_(self.decor.bias, -4.5)
        nn.init.zeros_(self.hold.weight)
        rows = [prototypes["objects"], prototypes["objects"][:1] * 0, prototypes["acts"]]
        rows += [
            prototypes[name] * share for name, share in (("scenes", 0.5), ("lights", 0.3), ("props", 0.5))
        ]
        self.sums = nn.Linear(sum(len(part) for part in rows), DIM, bias=False)
        self.sums.weight.data = torch.cat([torch.from_numpy(part) for part in rows]).T.contiguous()
        self.rest = nn.Linear(HIDDEN, DIM)
        nn.init.normal_(self.rest.weight, std=0.002)
        nn.init.zeros_(self.rest.bias)

    def forward(self, x: Any) -> Seen:
        """Logits and embeddings of frames, float32 (n, 3, height, width)."""
        x = self.low(self.stem(x))
        x = self.middle(self.to_middle(x))
        x = self.high(self.to_high(x))
        # A red wall clock is a wall clock and red at one and the same cell.
        decor = self.decor(x).flatten(2)
        pairs = decor[:, : len(PROPS), None] + decor[:, None, len(PROPS) :]
        props = torch.logsumexp(pairs.flatten(1, 2), dim=2)
        weights = self.look(x).flatten(2).softmax(dim=2)
        values = self.value(x).flatten(2).unflatten(1, (HEADS, HEAD_WIDTH))
        pooled = (values * weights.unsqueeze(2)).sum(dim=3).flatten(1)
        hidden = functional.relu(self.hidden(torch.cat([pooled, x.mean(dim=(2, 3))], dim=1)))
        # What is in the hand: the map of what is where, read at the place of the hand.
        things = self.things(x)
        hold = self.hold(x).flatten(1)
        held = (things.flatten(2) * hold.softmax(dim=1).unsqueeze(1)).sum(dim=2)
        objects = self.objects(hidden) + functional.pad(held, (0, 1))
        gaps = self.gaps(hidden)
        acts = torch.cat([gaps[:, GAP_OF] + self.agents(hidden)[:, AGENT_OF], gaps[:, -1:]], dim=1)
        scenes, lights = self.scenes(hidden), self.lights(hidden)
        shares = [objects.softmax(1), acts.softmax(1), scenes.softmax(1), lights.softmax(1), props.sigmoid()]
        vector = self.sums(torch.cat(shares, dim=1)) + self.rest(hidden)
        return Seen(functional.normalize(vector, dim=1), objects, acts, scenes, lights, props, hold, things)


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

        Of the first n images: `labels` (n, 6), `described` (n, 384), unit rows of the text space, and
        `spots` (n, 8, 3), as `Pool.spots` has them; of the m collages after them `laid` (m, 6, 3), likewise.
        `size` (2,): width and height of the images.
        """
        stories = len(labels)
        spread = seen.map[stories:]
        seen = Seen(*(getattr(seen, part.name)[:stories] for part in fields(Seen)))
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
            "act": functional.cross_entropy(self._against("act", vector, _sampled(self.acts)), acts),
            "object": functional.cross_entropy(
                self._against("object", vector[held], _sampled(self.objects)), objects[held]
            ),
            "scene": functional.cross_entropy(self._against("scene", vector, _sampled(self.scenes)), scenes),
            "light": functional.cross_entropy(self._against("light", vector, _sampled(self.lights)), lights),
            "prop": _several(self._against("prop", vector, _sampled(self.props)), shown),
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
    """The kind at the cell where each object's middle is, and the cell of the thing in use.

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


def _sampled(bank: Any) -> Any:
    """One wording for every row, rendered again at every step."""
    wording = torch.randint(bank.shape[0], (bank.shape[1],))
    return bank[wording, torch.arange(bank.shape[1])]


def _several(logits: Any, right: Any) -> Any:
    """Cross-entropy where a row may have several right answers, each with an equal share."""
    share = right / right.sum(1, keepdim=True)
    return -(share * functional.log_softmax(logits, dim=1)).sum(1).mean()
