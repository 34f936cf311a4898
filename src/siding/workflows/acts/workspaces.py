"""Commands that a script runs as steps, and forks whose change it brings back."""

import asyncio
from collections.abc import Mapping
from typing import Any

from siding.forks.bring_back import ForkConflict, bring_back
from siding.forks.parentage import Parentage
from siding.ground.errors import SidingError
from siding.ground.ids import TaskId
from siding.record.place.project import Project
from siding.record.tasks.task import Task
from siding.running.hosting import Printed, RunEvent
from siding.running.request import RunRequest
from siding.sandbox.request import SandboxRequest
from siding.workflows.agents.hop import hosted
from siding.workflows.engine.ports import CommandCall, Refused

_KEPT = 20_000  # characters of the end of what a command prints


class TaskWorkspaces:
    """The workspace of a run's task, and the forks that were made of it."""

    def __init__(self, project: Project, task: Task, *, sandbox: bool = False) -> None:
        self._project = project
        self._task = task
        self._sandbox = sandbox

    async def run(self, call: CommandCall) -> Mapping[str, Any]:
        printed = _Printed()
        try:
            task = self._fork(call.fork).id if call.fork else self._task.id
            run = await hosted(
                self._project,
                self._request(call, task),
                stdin="",
                observe=printed.observe,
                ask=None,
                idle_s=lambda: 0.0,
                most_idle_s=None,
            )
        except SidingError as error:
            raise Refused(error.message) from None
        if run.cancelled:
            raise asyncio.CancelledError
        result = run.result
        step = "" if result.step is None else result.step.id
        if result.outcome is None:
            raise Refused(result.ruling.reason or f"{call.command!r} was not started")
        return {
            "exit": result.exit_code,
            "passed": result.exit_code == 0,
            "output": self._project.redaction.text(printed.text()),
            "step": step,
        }

    async def bring_back(self, fork: str) -> Mapping[str, Any]:
        try:
            done = await asyncio.to_thread(bring_back, self._project, self._fork(fork))
        except SidingError as error:
            raise Refused(error.message) from None
        if isinstance(done, ForkConflict):
            return {"step": "", "conflicts": [each.name for each in done.paths], "kept": []}
        step = "" if done.step is None else done.step.id
        return {"step": step, "conflicts": [], "kept": [*done.kept]}

    def _request(self, call: CommandCall, task: TaskId) -> RunRequest:
        return RunRequest(
            argv=("sh", "-c", call.command),
            task=task,
            timeout_s=call.timeout_s,
            cwd=".",
            name=call.label,
            sandbox=SandboxRequest(sandbox=True if self._sandbox else None),
        )

    def _fork(self, named: str) -> Task:
        """Return a fork of the run's task. Raises Refused for any other task."""
        try:
            task = self._project.tasks.load(TaskId(named))
        except SidingError as error:
            raise Refused(error.message) from None
        parentage = Parentage.of(task)
        if parentage is None or parentage.parent != self._task.id:
            raise Refused(f"{named!r} is no fork of this run's task")
        return task


class _Printed:
    """The end of what a command prints, both streams as they came."""

    def __init__(self) -> None:
        self._data = bytearray()

    def observe(self, event: RunEvent) -> None:
        if isinstance(event, Printed):
            self._data += event.data
            if len(self._data) > 8 * _KEPT:
                del self._data[: -4 * _KEPT]

    def text(self) -> str:
        return bytes(self._data).decode("utf-8", "replace")[-_KEPT:]
