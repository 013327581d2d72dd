"""The agents of the command line as the API offers them: their options, and the check of what is given."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from typing_extensions import TypedDict

from rag.server.problems import LONGEST_TEXT, VIDEO_ID

OptionType = Literal["text", "integer", "flag", "choice", "video"]
MOST_VALUES = 26
"""Of an option that may be repeated."""


@dataclass(frozen=True, slots=True)
class AgentOption:
    """One option of an agent; an argument of its command is one without a `flag`."""

    name: str
    flag: str
    type: OptionType
    help: str
    required: bool = False
    repeated: bool = False
    default: str | int | bool | None = None
    choices: tuple[str, ...] = ()
    minimum: int | None = None
    maximum: int | None = None

    def problem(self, value: object) -> str:
        """What is wrong with a value; empty where nothing is."""
        if self.repeated:
            if not isinstance(value, list) or len(value) > MOST_VALUES:
                return f"give a list of at most {MOST_VALUES}"
            return next((found for one in value if (found := self._problem(one))), "")
        return self._problem(value)

    def _problem(self, value: object) -> str:
        if self.type == "flag":
            return "" if isinstance(value, bool) else "give true or false"
        if self.type == "integer":
            low, high = self.minimum, self.maximum
            if not isinstance(value, int) or isinstance(value, bool):
                return "give a whole number"
            if (low is not None and value < low) or (high is not None and value > high):
                return f"give a number from {low} to {high}" if high is not None else f"give {low} or more"
            return ""
        if not isinstance(value, str) or len(value) > LONGEST_TEXT or "\0" in value:
            return f"give a text of at most {LONGEST_TEXT} characters"
        if self.type == "choice":
            return "" if value in self.choices else f"give one of {', '.join(self.choices)}"
        if self.type == "video":
            return "" if re.fullmatch(VIDEO_ID, value) else "give the id of a video"
        return "" if _is_text(value) else "it is not text"

    def words(self, value: Any) -> Iterator[str]:
        """The words of the command line for a value, but for those of an argument."""
        for one in value if self.repeated else (value,):
            if self.type != "flag":
                yield f"{self.flag}={one}"
            elif one:
                yield self.flag


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


class AgentsDocument(TypedDict):
    """`rag.agents/1`."""

    schema: Literal["rag.agents/1"]
    agents: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class AgentSpec:
    """One agent: its command, the name of its paper, what it does, and its options in order."""

    agent: str
    also: str
    """The name of the paper's system, by which it can be run too."""
    summary: str
    options: tuple[AgentOption, ...]

    def problems(self, arguments: Mapping[str, Any]) -> list[tuple[str, str]]:
        """Names of what is wrong in `arguments`, each with what to give."""
        known = {option.name: option for option in self.options}
        found = [
            (name, known[name].problem(value) if name in known else "this agent has no such option")
            for name, value in arguments.items()
        ]
        found += [
            (option.name, "it is required")
            for option in self.options
            if option.required and option.name not in arguments
        ]
        return [(name, reason) for name, reason in found if reason]

    def words(self, arguments: Mapping[str, Any]) -> list[str]:
        """The words behind `rag agent NAME` for arguments without a problem."""
        given = [(option, arguments[option.name]) for option in self.options if option.name in arguments]
        flags = [word for option, value in given if option.flag for word in option.words(value)]
        return [*flags, "--", *(str(value) for option, value in given if not option.flag)]

    def shape(self) -> dict[str, Any]:
        """As JSON, without the flags."""
        options = [{k: v for k, v in asdict(option).items() if k != "flag"} for option in self.options]
        return {"agent": self.agent, "also": self.also, "summary": self.summary, "options": options}


def agents_shape(agents: Sequence[AgentSpec]) -> dict[str, Any]:
    """`rag.agents/1`."""
    return {"schema": "rag.agents/1", "agents": [agent.shape() for agent in agents]}
