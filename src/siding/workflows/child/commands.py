"""What a script may have done in workspaces: run a command, bring the change of a fork back."""

from typing import Any

from siding.workflows.child.calls import Calls
from siding.workflows.child.errors import CONFIG, WorkflowError
from siding.workflows.child.scheduler import Future, Scheduler


class Commands:
    """The functions `run` and `bring_back` of a script."""

    def __init__(self, scheduler: Scheduler, calls: Calls) -> None:
        self._scheduler = scheduler
        self._calls = calls

    def run(
        self,
        command: Any,
        *,
        fork: str | None = None,
        timeout: float | None = None,
        label: str | None = None,
    ) -> Future:
        """Run a shell command as a step, in the run's workspace or in a fork.

        Await ``{"exit": 0, "passed": True, "output": "…", "step": "0007"}``.
        """
        if not isinstance(command, str) or not command.strip():
            raise WorkflowError("run() takes a shell command", CONFIG)
        if timeout is not None and not timeout > 0:
            raise WorkflowError(f"run(timeout={timeout!r}): it is more than 0", CONFIG)
        given = {"fork": fork, "timeout": timeout, "label": label}
        asked = {name: value for name, value in given.items() if value is not None}
        return self._call("run", {"command": command, **asked})

    def bring_back(self, fork: Any) -> Future:
        """Bring what a fork has changed onto the run's workspace, as a step.

        Await ``{"step": "0008", "conflicts": [], "kept": []}``; with conflicts nothing was changed.
        `kept` are the files that hold what other programs wrote meanwhile.
        """
        if not isinstance(fork, str) or not fork:
            raise WorkflowError("bring_back() takes the id of a fork", CONFIG)
        return self._call("bring_back", {"fork": fork})

    def _call(self, kind: str, asked: dict[str, Any]) -> Future:
        lane = self._scheduler.lane
        return self._calls.call(kind, lane.take(), lane, asked)
