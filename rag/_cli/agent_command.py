"""What the commands of the agents share: their options, declared once, and the order of events of a run.

A command is a class: its fields are its own options, its docstring is its help. `command` makes a function
for the command line of it.
"""

from __future__ import annotations

import dataclasses
import inspect
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Generic,
    NamedTuple,
    Protocol,
    TypeVar,
    get_type_hints,
)

from rag._cli.agent_environment import (
    Environment,
    WebEnvironment,
    agent_outputs,
    citation,
    open_web_environment,
    vision_status,
    write_page,
)
from rag._cli.options import argument, option
from rag._cli.output import (
    echo_stderr,
    line_width,
    print_event,
    print_json,
    print_lines,
    stderr_width,
    take_interrupts,
    width,
)
from rag._cli.session import (
    RECORDING,
    Events,
    FaultRates,
    Force,
    Options,
    Record,
    Replay,
    Session,
    with_session,
    words,
)

if TYPE_CHECKING:
    from rag.agents.runtime.trace import Step, Watch
    from rag.records import Question as ParsedQuestion
    from rag.records import Usage
    from rag.web import Faults

Question = Annotated[str, argument("QUESTION", "May hold its options: '... (A) ... (B) ...'.")]
MustChoose = Annotated[bool, option("--must-choose", "Take one of the options even without evidence.")]


class AgentRun(Protocol):
    """The result of a run."""

    @property
    def usage(self) -> Usage:
        """Tokens and calls of the run."""

    @property
    def found(self) -> bool:
        """Whether there is an answer."""


class Cited(NamedTuple):
    """The interval that a run found."""

    key: str
    """Of its object in the JSON result."""
    url: str
    start: float | None
    """None: the video as a whole."""
    end: float


BRIGHT = {"plan:": "bold cyan", "look:": "bold", "shown:": "bold cyan"}
COLORS = {"belief": "blue", "confirmed:": "green", "missing:": "yellow", "problem:": "red"}

Run = TypeVar("Run", bound=AgentRun)
Env = TypeVar("Env", bound=Environment)


@dataclass(kw_only=True)
class AgentCommand(ABC, Generic[Run, Env]):
    """The options of every agent, and its run from them to an exit code."""

    trace: Annotated[Path | None, option("--trace FILE", "Write every step there, as JSON lines.")] = None
    html: Annotated[Path | None, option("--html FILE", "Write a page with the frames, in one file.")] = None
    record: Record = None
    replay: Replay = None
    force: Force = False
    events: Events = False
    session: Session

    @property
    @abstractmethod
    def input(self) -> tuple[Path | None, ...]:
        """Paths that the command reads, which no output may replace."""

    @cached_property
    @abstractmethod
    def request(self) -> Any:
        """What the agent is asked for. Raises `UsageError` or `QuestionError`."""

    def prepare(self) -> None:
        """Check the options. Raises `UsageError` or `QuestionError` before anything is opened."""
        _ = self.request

    @abstractmethod
    def open(self) -> AbstractContextManager[Env]:
        """Open what the agent works with."""

    @abstractmethod
    def status(self, environment: Env) -> Iterable[str]:
        """Lines before the first step."""

    @abstractmethod
    def run(self, environment: Env, watch: Watch) -> Run:
        """Run the agent; `watch` is called for every step."""

    @property
    @abstractmethod
    def settings(self) -> Any:
        """The agent's settings, a dataclass."""

    package: ClassVar[str]
    """Name of the agent's package in `rag.agents`."""

    @cached_property
    def view(self) -> Any:
        """How its result is shown: the agent's module with `result_json` and `result_blocks`."""
        return import_module(f"rag.agents.{self.package}.view")

    @property
    @abstractmethod
    def heading(self) -> str:
        """The heading of the page."""

    def text(self, run: Run) -> Iterable[str]:
        """The result for people, by `result_lines` of the agent's view."""
        yield from self.view.result_lines(run, line_width())

    def cited(self, run: Run) -> Cited | None:  # noqa: ARG002 (for subclasses)
        """The interval that the result cites; None without one."""
        return None

    def cost(self, run: Run) -> str:  # noqa: ARG002 (for subclasses)
        """What the run used, in one line; empty where it is not printed."""
        return ""

    def execute(self) -> int:
        """The exit code: 0 where there is an answer, 1 where there is none, 3 where the page could not be
        written."""
        if self.events:
            take_interrupts()
        policy = agent_outputs(
            self.session, self.force, self.trace, self.html, self.record, *self.input, self.replay
        )
        self.prepare()
        from rag.agents.runtime.page import render_page
        from rag.agents.runtime.trace import TraceWriter
        from rag.agents.runtime.view import result_step, step_blocks, step_lines
        from rag.reasoners.wrappers import token_count_method

        steps: list[Step] = []
        with self.open() as environment:
            with TraceWriter(self.trace, policy) as writer, open_display() as show:

                def watch(step: Step) -> None:
                    steps.append(step)
                    writer.write(step)
                    if self.events:
                        print_event("step", step=step.line())
                        return
                    for line in step_lines(step, stderr_width()):
                        show(line)

                for line in () if self.events else self.status(environment):
                    show(line)
                run = self.run(environment, watch)
                writer.write(result_step(steps, self.view.result_json(run)))
            counting = token_count_method(environment.counting, run.usage)
            self._print(environment, run, counting)

            def page() -> str:
                result = [*self.view.result_blocks(run), f"{self.cost(run)} ({counting})".strip()]
                shown = map(step_blocks, steps)
                return render_page(self.heading, result, shown, environment.frames, found=run.found)

            written = write_page(self.html, policy, page)
        return written if run.found else 1

    def _print(self, environment: Env, run: Run, counting: str) -> None:
        cited = self.cited(run)
        path = "" if cited is None else environment.path_of(cited.url)
        if self.session.as_json:
            shape = self.view.result_json(run)
            if cited is not None:
                shape[cited.key]["path"] = path or None
            print_json({**shape, "settings": asdict(self.settings), "tokens_counted_as": counting})
            return
        print_lines(self.text(run))
        if cited is not None and path:
            print_lines([path if cited.start is None else citation(path, cited.start, cited.end)])
        if cost := self.cost(run):
            print_lines([cost + (f" ({counting})" if counting else "")])


@dataclass(kw_only=True)
class WebCommand(AgentCommand[Run, WebEnvironment]):
    """An agent over a web."""

    web: Annotated[Path | None, option("--web DIR", "A frozen web, made by 'rag web build'.")] = None
    corpus: Annotated[
        list[Path] | None,
        option(
            "--corpus PATH", "Videos that are the web; repeat for each. Without either, those of the library."
        ),
    ] = None
    faults: FaultRates = ""

    @property
    def input(self) -> tuple[Path | None, ...]:
        return (self.web, *(self.corpus or ()))

    def open(self) -> AbstractContextManager[WebEnvironment]:
        """Open the web, and the library where there is one."""
        return open_web_environment(self.session, self.web, self.corpus, self._faults())

    def status(self, environment: WebEnvironment) -> Iterable[str]:
        return (vision_status(environment.reasoner, environment.library),)

    def prepare(self) -> None:
        super().prepare()
        self._faults()

    @abstractmethod
    def agent(self, environment: WebEnvironment) -> Callable[..., Run]:
        """The agent's function."""

    def run(self, environment: WebEnvironment, watch: Watch) -> Run:
        """Wait between retries only where the web's delays are real."""
        return self.agent(environment)(
            self.request,
            environment.web,
            environment.reasoner,
            environment.frame_source,
            self.settings,
            watch=watch,
            wait=time.sleep if environment.web.real_time else None,
        )

    def _faults(self) -> Faults:
        from rag.web import Faults

        return Faults.parse(self.faults, self.session.settings.seed)


@dataclass(kw_only=True)
class QuestionCommand(AgentCommand[Run, Env]):
    """An agent that answers a question."""

    question: Question
    option: Options = None
    must_choose: MustChoose = False

    @cached_property
    def request(self) -> ParsedQuestion:
        """The question and its options, parsed."""
        from rag.questions import parse_distinct_question

        return parse_distinct_question(words(self.question), tuple(map(words, self.option or ())))

    @property
    def heading(self) -> str:
        return self.request.text

    def text(self, run: Any) -> Iterable[str]:
        """The answer as `rag ask` prints it."""
        from rag.rendering.terminal import answer_lines

        return answer_lines(run.answer, width=width(), libraries=self.session.libraries)


@contextmanager
def open_display() -> Iterator[Callable[[str], None]]:
    """A function that prints a line on stderr: on a terminal in colour, with a moving mark while the agent
    works; else plain. Text from files is never markup."""
    if not sys.stderr.isatty():
        yield echo_stderr
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(stderr=True, highlight=False)

    def show(line: str) -> None:
        words = line.split(maxsplit=1)
        style = COLORS.get(words[0], "") if line.startswith("  ") and words else ""
        style = style or (BRIGHT.get(words[0], "") if words else "")
        console.print(Text(line, style=style), soft_wrap=True)

    with console.status("working"):
        yield show


def command(kind: type[AgentCommand[Any, Any]]) -> Callable[..., int]:
    """The function of a command: a keyword parameter for each field, the class's own fields first."""
    hints = get_type_hints(kind, include_extras=True)
    options = dataclasses.fields(kind)
    ordered = sorted(options, key=lambda option: (option.name != "session", _depth(kind, option.name)))
    parameters = [
        inspect.Parameter(
            option.name,
            inspect.Parameter.KEYWORD_ONLY,
            annotation=hints[option.name],
            default=inspect.Parameter.empty if option.default is dataclasses.MISSING else option.default,
        )
        for option in ordered
    ]

    def run(session: Session, **values: Any) -> int:
        return kind(session=session, **values).execute()

    run.__doc__ = kind.__doc__
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # read by `inspect`
    return with_session(RECORDING)(run)


def _depth(kind: type, name: str) -> int:
    """How far up the bases a field is declared; 0 for the class itself."""
    return next(at for at, base in enumerate(kind.__mro__) if name in vars(base).get("__annotations__", ()))
