"""The prose and tables of the synthetic world, TOML files in `eval/workbench/data`."""

from __future__ import annotations

import tomllib
from importlib import resources
from typing import Any


def read_data(name: str) -> dict[str, Any]:
    """The tables of `data/NAME.toml`, in the order written."""
    file = resources.files("eval.workbench").joinpath("data", f"{name}.toml")
    return tomllib.loads(file.read_text(encoding="utf-8"))
