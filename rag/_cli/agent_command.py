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
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple, get_type_hints

from corpora.outputs import RECORDING_HEAD, OverwritePolicy, check_outputs, claim_appended
from rag._cli.agent_environment import Environment, WebEnvironment, open_web_environment, vision_status
from rag._cli.options import argument, option
from rag._cli.output import (
    echo_stderr,
    line_width,
    print_event,
    print_json,
    print_lines,
    run_as_job,
    stderr_width,
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
from rag.records import window_name

if TYPE_CHECKING:
    from rag.agents.runtime.trace import Step, Watch
    from rag.web import Faults

COLORS = dict.fromkeys(("plan:", "shown:"), "bold cyan") | {
    "look:": "bold",
    "confirmed:": "green",
    "missing:": "yellow",
    "problem:": "red",
}
"""The style of a line, by its first word."""


class Cited(NamedTuple):
    """What a run found, in the web or the library."""

    key: str
    """The key of its object in the JSON result."""
    url: str
    start: float | None
    """Seconds; None: the video as a whole."""
    end: float


@dataclass(kw_only=True)
class AgentCommand(ABC):
    """The options of every agent, and its run from them to an exit code."""

    trace: Annotated[Path | None, option("--trace FILE", "Write every step there, as JSON lines.")] = None
    record: Record = None
    replay: Replay = None
    force: Force = False
    events: Events = False
    session: Session

    package: ClassVar[str]
    """Name of the agent's package in `rag.agents`, whose module `view` shows its result."""

    @property
    @abstractmethod
    def request(self) -> Any:
        """What the agent is asked for. Raises `UsageError` or `QuestionError`."""

    @property
    @abstractmethod
    def settings(self) -> Any:
        """The agent's settings, a dataclass."""

    @abstractmethod
    def inputs(self) -> tuple[Path | None, ...]:
        """Paths that the command reads, which no output may replace."""

    @abstractmethod
    def open(self) -> AbstractContextManager[Any]:
        """Open what the agent works with."""

    @abstractmethod
    def status(self, environment: Any) -> Iterable[str]:
        """Lines before the first step."""

    @abstractmethod
    def run(self, environment: Any, watch: Watch) -> Any:
        """Run the agent; `watch` is called for every step."""

    def prepare(self) -> None:
        """Check the options. Raises `UsageError` or `QuestionError` before anything is opened."""
        _ = self.request, self.settings

    @cached_property
    def view(self) -> Any:
        """How its result is shown."""
        return import_module(f"rag.agents.{self.package}.view")

    def text(self, run: Any) -> Iterable[str]:
        """The result for people."""
        yield from self.view.result_lines(run, line_width())

    def cited(self, run: Any) -> Cited | None:  # noqa: ARG002 (for subclasses)
        """What the result cites, but for the citations of an answer."""
        return None

    @abstractmethod
    def cost(self, run: Any) -> str:
        """What the run used, in one line."""

    def execute(self) -> int:
        """The exit code: 0 where there is an answer, 1 where there is none."""
        if self.events:
            run_as_job()
        policy = self._check_outputs()
        self.prepare()
        from rag.agents.runtime.view import result_step, step_lines
        from rag.reasoners.wrappers import token_count_method
        from rag.web.trace import TraceFile

        steps: list[Step] = []
        with self.open() as environment:
            trace = None if self.trace is None else TraceFile(self.trace, policy)
            with open_display() as show:

                def watch(step: Step) -> None:
                    steps.append(step)
                    if trace is not None:
                        trace.write(step.line())
                    if self.events:
                        print_event("step", step=step.line())
                        return
                    for line in step_lines(step, stderr_width()):
                        show(line)

                for line in () if self.events else self.status(environment):
                    show(line)
                run = self.run(environment, watch)
                if trace is not None:
                    trace.write(result_step(steps, self.view.result_json(run)).line())
            self._print(environment, run, token_count_method(environment.counting, run.usage))
        return 0 if run.found else 1

    def _check_outputs(self) -> OverwritePolicy:
        """The policy for the outputs, checked before any work is done. Raises `UsageError`."""
        from rag.web.catalogue import PAGES, VIDEOS

        folders = [path for path in self.inputs() if path is not None and path.is_dir()]
        webs = [folder / name for folder in folders for name in (VIDEOS, PAGES)]
        policy = self.session.overwrite_policy(self.force, *self.inputs(), self.replay, *webs)
        check_outputs(policy, self.trace, taken_up=(self.record,))
        if self.record is not None:
            claim_appended(self.record, RECORDING_HEAD, policy)
        return policy

    def _print(self, environment: Environment, run: Any, counting: str) -> None:
        """The result on stdout."""
        cited = self.cited(run)
        path = environment.path_of(cited.url) if cited is not None else ""
        if self.session.as_json:
            shape = self.view.result_json(run)
            if cited is not None:
                shape[cited.key]["path"] = path or None
            print_json({**shape, "settings": asdict(self.settings), "tokens_counted_as": counting})
            return
        lines = [*self.text(run)]
        if cited is not None and path:
            # The address of a local file was made up for the web that it was searched in.
            lines = [line for line in lines if line.strip() != cited.url]
            lines.append(path if cited.start is None else window_name(path, cited.start, cited.end))
        print_lines([*lines, f"{self.cost(run)} ({counting})"])


@dataclass(kw_only=True)
class WebCommand(AgentCommand):
    """An agent over a web."""

    web: Annotated[Path | None, option("--web DIR", "A frozen web, made by 'rag web build'.")] = None
    corpus: Annotated[
        list[Path] | None,
        option(
            "--corpus PATH", "Videos that are the web; repeat for each. Without either, those of the library."
        ),
    ] = None
    faults: FaultRates = ""

    def inputs(self) -> tuple[Path | None, ...]:
        return (self.web, *(self.corpus or ()))

    def open(self) -> AbstractContextManager[WebEnvironment]:
        """Open the web, and the library where there is one."""
        return open_web_environment(self.session, self.web, self.corpus, self._faults)

    def status(self, environment: WebEnvironment) -> Iterable[str]:
        return (vision_status(environment.reasoner, environment.frame_source.library),)

    def prepare(self) -> None:
        super().prepare()
        _ = self._faults

    @abstractmethod
    def agent(self, environment: WebEnvironment) -> Callable[..., Any]:
        """The agent's function."""

    def run(self, environment: WebEnvironment, watch: Watch) -> Any:
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

    @cached_property
    def _faults(self) -> Faults:
        from rag.web import Faults

        return Faults.parse(self.faults, self.session.settings.seed)


@dataclass(kw_only=True)
class QuestionCommand(AgentCommand):
    """An agent that answers a question."""

    question: Annotated[str, argument("QUESTION", "May hold its options: '... (A) ... (B) ...'.")]
    option: Options = None
    must_choose: Annotated[
        bool, option("--must-choose", "Take one of the options even without evidence.")
    ] = False

    @cached_property
    def request(self) -> Any:
        """The question and its options, parsed."""
        from rag.questions import parse_distinct_question

        return parse_distinct_question(words(self.question), tuple(map(words, self.option or ())))

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
        first = next(iter(line.split()), "")
        console.print(Text(line, style=COLORS.get(first, "")), soft_wrap=True)

    with console.status("working"):
        yield show


def command(kind: type[AgentCommand]) -> Callable[..., int]:
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
