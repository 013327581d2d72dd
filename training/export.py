"""A checkpoint into the package: batch normalisation folded, float16, with the constants of the text space.

Beside the weights goes the vocabulary: the wordings of the synthetic world, all that the tower knows.

`python -m training.export RUN [FILE]`
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from eval.workbench.catalogue import ACTIONS, KINDS, PROPS, SCENES, place_name, with_article
from indexers.bundled.encoder import VOCABULARY, WEIGHTS
from training.captions import NONE
from training.network import AGENT_OF, GAP_OF

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["export", "folded", "vocabulary"]

OBJECT_GAIN = 1.5
"""On the vectors of what is in the hand. On dev it finds objects by name more often (43.6 to about 46 % of
68 kinds), and nothing else less often by more than half a point."""


def folded(state: Mapping[str, Any]) -> dict[str, Any]:
    """The tensors as the tower has them: normalisation folded, sums of outputs written out; float32."""
    found: dict[str, Any] = {}
    for name, tensor in state.items():
        if name.endswith(".conv.weight"):
            block = name.removesuffix(".conv.weight")
            norm = {
                part: state[f"{block}.norm.{part}"]
                for part in ("weight", "bias", "running_mean", "running_var")
            }
            gain = norm["weight"] / torch.sqrt(norm["running_var"] + 1e-5)
            found[f"{block}.weight"] = tensor * gain[:, None, None, None]
            found[f"{block}.bias"] = norm["bias"] - norm["running_mean"] * gain
        elif ".norm." not in name:
            found[name] = tensor
    for part in ("weight", "bias"):
        gaps, agents, decor = (found.pop(f"{name}.{part}") for name in ("gaps", "agents", "decor"))
        found[f"acts.{part}"] = torch.cat([gaps[GAP_OF] + agents[AGENT_OF], gaps[-1:]])
        found[f"props.{part}"] = (decor[: len(PROPS), None] + decor[None, len(PROPS) :]).flatten(0, 1)
    return found


def vocabulary() -> dict[str, list[str]]:
    """The synthetic world's scenes, actions and objects in the training split's first wording."""
    actions = []
    for action in ACTIONS:
        place = f"the {place_name(action.places[0])}" if action.places else ""
        phrase = action.phrases["train"][0].replace("{o}", "something").replace("the {p}", place)
        actions.append(" ".join(phrase.split()))
    return {
        "scenes": [scene.phrases["train"][0] for scene in SCENES],
        "actions": actions,
        "objects": [with_article(kind.name) for kind in KINDS],
    }


def export(run: Path, file: Path = WEIGHTS) -> None:
    """Writes the averaged weights of a run's last checkpoint."""
    from safetensors.torch import save_file

    state = torch.load(run / "state.pt", weights_only=True)
    weights = folded(state["steady"])
    weights["sums.weight"][:, :NONE] *= OBJECT_GAIN
    tensors = {name: tensor.half().contiguous() for name, tensor in weights.items()}
    space = {f"text.{name}": tensor.float().contiguous() for name, tensor in state["space"].items()}
    waiting = file.with_suffix(".new")
    save_file({**tensors, **space}, waiting, {"step": str(state["step"])})
    waiting.chmod(0o644)
    waiting.replace(file)
    words = json.dumps(vocabulary(), indent=1)
    file.with_name(VOCABULARY.name).write_text(f"{words}\n", encoding="utf-8")


if __name__ == "__main__":
    export(Path(sys.argv[1]), *map(Path, sys.argv[2:3]))
