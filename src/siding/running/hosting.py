"""Runs that a program hosts in threads of its own, many at once, without signals.

    hosted = host(project, RunRequest(argv=("pytest", "-q")), observe=print)
    hosted.send(b"input")
    result = hosted.wait()

A run that is hosted so is recorded like any other, and other commands see it: `siding runs`,
`output`, `attach`, `send` and `stop` work on it. When the program dies, the keeper of each run ends
what the run started, and the next command in the task records it.
"""

from collections.abc import Callable
from threading import Thread
from typing import TYPE_CHECKING

from siding.ground.namedtuples import NamedTuple
from siding.ground.process.command import StdinPlan
from siding.ground.process.promise import Promise
from siding.ground.process.requests import InputClosed, Requests
from siding.guard.ruling import Asker
from siding.record.place.project import Project
from siding.record.runs.run import Run
from siding.record.tasks.task import Task
from siding.running.request import RunRequest, RunResult, Terminal
from siding.running.run import run

if TYPE_CHECKING:
    from concurrent.futures import Future

__all__ = ["Began", "Hosted", "InputClosed", "NotStarted", "Printed", "RunEvent", "host"]


class Began(NamedTuple):
    """The command of a run was started."""

    task: Task
    run: Run


class Printed(NamedTuple):
    """The command printed something. With a terminal of its own all is standard output."""

    data: bytes
    is_stderr: bool


RunEvent = Began | Printed
Observer = Callable[[RunEvent], None]


class Hosted:
    """A run whose host is a thread of this process. Its methods may be called in any thread.

    `result` has the result of the run, or the error that refused it.
    """

    def __init__(
        self,
        project: Project,
        request: RunRequest,
        *,
        pty: bool,
        observe: Observer,
        ask: Asker | None,
    ) -> None:
        self.result: Promise[RunResult] = Promise()
        self._began: Promise[Began] = Promise()
        self._requests = Requests(lambda data, is_stderr: observe(Printed(data, is_stderr)))
        self._project = project
        self._request = request
        self._observe = observe
        self._ask = ask
        self._terminal = Terminal(StdinPlan.FED, pty, None, None, self._requests)
        self._thread = Thread(target=self._host, name=f"siding: {request.argv[0]}")
        self._thread.start()

    def began(self, timeout_s: float | None = None) -> Began:
        """Wait until the command runs. Raises what refused the run, and TimeoutError."""
        return self._began.wait(timeout_s)

    def send(self, data: bytes) -> None:
        """Give the command input; wait while it has much unread. Raises InputClosed."""
        self._requests.type(data)

    def end_input(self) -> None:
        """Let the command read the end of its input."""
        self._requests.end_input()

    def interrupt(self) -> None:
        """Send the command SIGINT, as Ctrl-C does. What it makes of it is its own affair."""
        self._requests.interrupt()

    def cancel(self, *, now: bool = False) -> None:
        """End everything that the run started: SIGTERM, two seconds, SIGKILL; `now` at once.

        A run whose command was not started yet raises Cancelled and leaves no step.
        """
        self._requests.stop(now=now)

    def wait(self, timeout_s: float | None = None) -> RunResult:
        """Wait until the run is recorded. Raises what refused it, and TimeoutError."""
        result = self.result.wait(timeout_s)
        self._thread.join()
        return result

    def future(self) -> "Future[RunResult]":
        """Return the result as a future, which `asyncio.wrap_future` makes one to await."""
        from concurrent.futures import Future

        found: Future[RunResult] = Future()

        def pass_on(result: Promise[RunResult]) -> None:
            if result.error is not None:
                found.set_exception(result.error)
            else:
                found.set_result(result.wait())

        self.result.when_kept(pass_on)
        return found

    def _host(self) -> None:
        try:
            result = run(
                self._project,
                self._request,
                self._terminal,
                on_running=self._on_running,
                ask=self._ask,
            )
        except BaseException as error:  # noqa: BLE001 - whoever waits gets it
            self._requests.over()
            self._began.fail(error)
            self.result.fail(error)
            return
        self._requests.over()  # nobody did when the command was not started
        self._began.fail(NotStarted(result))  # where it did not begin
        self.result.keep(result)

    def _on_running(self, task: Task, run: Run) -> None:
        began = Began(task, run)
        self._began.keep(began)
        self._observe(began)


class NotStarted(Exception):
    """The command was not started: the policy or a hook stopped it. `result` says why."""

    def __init__(self, result: RunResult) -> None:
        super().__init__(result.step.status if result.step is not None else "not started")
        self.result = result


def host(
    project: Project,
    request: RunRequest,
    *,
    pty: bool = False,
    observe: Observer = lambda _event: None,
    ask: Asker | None = None,
) -> Hosted:
    """Start a run in a thread of this process and return at once.

    With `pty` the command gets a terminal of its own, else pipes; its input is what `send` gives
    it. `observe` is called in the thread of the run, which waits for it: it must be fast and must
    not raise. `ask` puts the policy's questions to a person; without it they count as refused.
    """
    own = Project(project.app, project.layout, project.paths)  # its stores are of one thread
    return Hosted(own, request, pty=pty, observe=observe, ask=ask)
