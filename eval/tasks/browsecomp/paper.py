"""The figures that the Video-Browser paper printed (tables 1 to 3, figure 3), with their place in it.

They were measured on 210 questions over the open web with other models. They
stand beside ours to be looked at, never to be compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

MARK = "paper, other data"


@dataclass(frozen=True, slots=True)
class Printed:
    """Percent; tokens a question."""

    accuracy: float
    calibration_error: float | None = None
    tokens: int | None = None
    context: int | None = None
    levels: tuple[float, float, float] | None = None


MAIN_RESULTS: Mapping[str, Printed] = {
    "tool-free": Printed(19.52, 79.18, levels=(31.20, 3.23, 0.0)),
    "text-search": Printed(23.81, 31.45, levels=(37.60, 4.84, 0.0)),
    "video-browser": Printed(26.19, 44.60, levels=(37.60, 11.29, 4.35)),
}
"""Table 1: the best of each group (gemini-2.5-pro without and with search, VideoBrowser with GPT-5.1)."""

PARADIGMS: Mapping[str, Printed] = {
    "direct": Printed(19.05, 50.80, 78_229, 76_955),
    "summarization": Printed(18.57, 51.34, 75_728, 919),
    "pyramidal": Printed(26.19, 38.10, 32_627, 11_198),
}
"""Table 2, with GPT-5.1."""

ABLATIONS: Mapping[str, Printed] = {
    "full": Printed(12.86, 68.23, 19_505, 5_649),
    "wo-stage1": Printed(9.52, 66.64, 16_846, 6_068),
    "wo-stage2": Printed(12.38, 69.50, 44_961, 42_401),
    "wo-stage3": Printed(10.48, 67.52, 18_330, 4_198),
    "transcript-only": Printed(7.14, 52.49, 15_606, 5_155),
    "visual-only": Printed(12.38, 37.31, 8_353, 3_901),
}
"""Table 3."""

SCALED: Mapping[str, Mapping[int, float]] = {
    "videos": {1: 10.0, 5: 14.8},
    "loops": {5: 19.0},
    "frames": {4: 10.5, 64: 15.7},
}
"""Figure 3: the values that section 5.5 gives in words."""
