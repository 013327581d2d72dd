"""The tower while it learns: residual convolutions, then a readout that adds up vectors of what it sees.

The readout's sums start from the caption vectors themselves: an image vector begins as "what is in the
hand" + "what happens" + "what stands around", each weighted by how sure the tower is of it.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.nn import functional

from eval.workbench.wording import COLORS, LIGHTS, PROPS, SCENES
from indexers.bundled.encoder import DIM
from training.captions import ACTS, NONE

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["AGENT_OF", "GAP_OF", "Network", "Seen"]

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
    """What the tower makes of a batch of n pictures."""

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
    """(n, 68, h, w) logits: the kind that lies at each cell, used or not"""


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
    """Normalised pictures (n, 3, height, width) into `Seen`."""

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
        # What is in the hand: the map of what lies where, read at the place of the hand.
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
