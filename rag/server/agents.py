"""The agents of the command line as the API offers them: their options, and the check of what is given."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, ValidationError, create_model
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

    def field(self) -> tuple[Any, Any]:
        """What a value may be, as a field of a pydantic model."""
        kinds: dict[OptionType, Any] = {
            "text": Annotated[str, Field(max_length=LONGEST_TEXT, pattern=r"^[^\x00]*$")],
            "integer": Annotated[int, Field(ge=self.minimum, le=self.maximum)],
            "flag": bool,
            "choice": Literal[self.choices],
            "video": Annotated[str, Field(pattern=VIDEO_ID)],
        }
        kind = kinds[self.type]
        if self.repeated:
            kind = Annotated[list[kind], Field(max_length=MOST_VALUES)]  # type: ignore[valid-type]  # a value
        return kind, ... if self.required else None

    def words(self, value: Any) -> Iterator[str]:
        """The words of the command line for a value, but for those of an argument."""
        for one in value if self.repeated else (value,):
            if self.type != "flag":
                yield f"{self.flag}={one}"
            elif one:
                yield self.flag


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
        fields: dict[str, Any] = {option.name: option.field() for option in self.options}
        model = create_model(self.agent, __config__=ConfigDict(extra="forbid", strict=True), **fields)
        try:
            model.model_validate(dict(arguments))
        except ValidationError as error:
            return [(str(row["loc"][0]), row["msg"]) for row in error.errors()]
        return []

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
