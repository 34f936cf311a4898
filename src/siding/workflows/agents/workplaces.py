"""Where an agent works: the task's workspace, a view of it, or a fork whose change comes back.

""        the workspace, which is shared
turn      the workspace, one agent at a time, also if several workflows ask for it
read      a view of the present state, which nobody may write
worktree  a fork of the present state; what it has changed is brought back onto the task

For one attempt it gets files there: a prompt that is no argument, a schema.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from siding.forks.bring_back import ForkConflict, bring_back
from siding.forks.forks import Fork, ForkInUse, ForkRequest, drop, fork, reopened
from siding.forks.parentage import Parentage, forks_of
from siding.forks.state import recorded
from siding.forks.views import View, view
from siding.ground.errors import SidingError
from siding.ground.files.durable import create_bytes
from siding.ground.ids import TaskId
from siding.ground.storage.fields import said
from siding.ground.storage.locks import FileLock, Holder, LockBusy
from siding.record.place.project import Project
from siding.record.place.task_workspace import NoWorkspace
from siding.record.recording.snapshots import TaskSnapshots
from siding.record.snapshots.scratch import scratch
from siding.record.tasks.names import name_after_command
from siding.workflows.agents.hop import in_thread
from siding.workflows.engine.ports import AgentCall, AgentUnavailable, Attempt
from siding.workflows.outcome import Dead, DeadReason, Done, Outcome

KNOWN = ("", "turn", "read", "worktree")
_LOOK_AGAIN_S = 0.1
Made = TypeVar("Made")


@contextmanager
def asked_files(directory: Path, files: Mapping[str, str]) -> Iterator[None]:
    """Have the files in the directory, which goes afterwards; none at all without files.

    If this process is killed first, `siding gc` finds that nobody holds the directory any more.
    """
    if not files:
        yield
        return
    with scratch(directory):
        for name, content in files.items():
            create_bytes(directory / name, content.encode("utf-8", "surrogateescape"))
        yield


class NoPlace(Exception):
    """The view or the fork could not be made."""


class Workplace:
    """Where one attempt works. `judged` is told how the attempt came out, and says what it led to.

    `view` is the directory in the place of the workspace, None for the workspace itself.
    """

    view: Path | None = None
    fork = ""
    reads_only = False

    def __init__(self, task: TaskId) -> None:
        self.task = task

    async def judged(self, outcome: Outcome) -> Outcome:
        return outcome


class Workplaces:
    """Gives out the places of one task. `group` is the workflow run that its forks belong to."""

    def __init__(self, project: Project, task: TaskId, group: str) -> None:
        self._project = project
        self._task = task
        self._group = group
        self._turn = asyncio.Lock()

    @asynccontextmanager
    async def of(self, call: AgentCall, attempt: Attempt) -> AsyncIterator[Workplace]:
        """Yield the place of an attempt. Raises AgentUnavailable, NoPlace."""
        match call.isolation:
            case "":
                yield Workplace(self._task)
            case "turn":
                async with self._turn, self._turn_of_task():
                    yield Workplace(self._task)
            case "read":
                async with self._viewed(call) as viewed:
                    yield viewed
            case "worktree":
                async with self._forked(call, attempt) as forked:
                    yield forked
            case other:
                there = ", ".join(KNOWN[1:])
                raise AgentUnavailable(f"there is no isolation {other!r}; there is {there}")

    @asynccontextmanager
    async def _turn_of_task(self) -> AsyncIterator[None]:
        """Wait until no other process has its turn, and have one."""
        app = self._project.app
        lock = FileLock(self._project.task_layout(self._task).turn_lock)
        holder = Holder(pid=app.pid, since=app.now(), what="the turn of an agent of a workflow")
        while True:
            try:
                await in_thread(partial(lock.acquire, timeout_s=0, holder=holder), FileLock.release)
                break
            except LockBusy:
                await asyncio.sleep(_LOOK_AGAIN_S)  # a wait in the kernel could not be cancelled
        try:
            yield
        finally:
            lock.release()

    @asynccontextmanager
    async def _viewed(self, call: AgentCall) -> AsyncIterator[Workplace]:
        project = self._own_project()

        def begin() -> View:
            state = recorded(project, project.tasks.load(self._task))
            return view(project, state, reader=f"agent {call.name}")

        found = await _made(begin, View.close)
        try:
            yield _Viewed(self._task, found)
        finally:
            await in_thread(found.close)

    @asynccontextmanager
    async def _forked(self, call: AgentCall, attempt: Attempt) -> AsyncIterator[Workplace]:
        project = self._own_project()
        begin = partial(self._begin, project, call, attempt)
        found = await _made(begin, partial(drop, project))
        place = _Forked(project, found, brings_back=call.bring_back)
        try:
            yield place
        finally:
            await in_thread(place.leave)

    def _begin(self, project: Project, call: AgentCall, attempt: Attempt) -> Fork:
        if attempt.session:  # it is gone on with where it was
            for task in forks_of(project, parent=self._task, group=self._group):
                parentage = Parentage.of(task)
                if parentage is None or parentage.call != call.path:
                    continue
                try:
                    return reopened(project, task)
                except (ForkInUse, NoWorkspace):
                    continue
        state = recorded(project, project.tasks.load(self._task))
        name = name_after_command([call.name]).lstrip("-") or "agent"
        return fork(project, state, ForkRequest(group=self._group, call=call.path, name=name))

    def _own_project(self) -> Project:
        """Return the project with stores of its own: they are of one thread."""
        return Project(self._project.app, self._project.layout, self._project.paths)


async def _made(make: Callable[[], Made], undo: Callable[[Made], object]) -> Made:
    try:
        return await in_thread(make, undo)
    except SidingError as error:
        raise NoPlace(error.message) from error


class _Viewed(Workplace):
    """A reader that has written gets no result: others read the same view."""

    reads_only = True

    def __init__(self, task: TaskId, found: View) -> None:
        super().__init__(task)
        self.view = found.path
        self._view = found

    async def judged(self, outcome: Outcome) -> Outcome:
        returned = await in_thread(self._view.close)
        if not returned.written or not isinstance(outcome, Done):
            return outcome
        wrote = ", ".join(returned.written[:5])
        return Dead(
            reason=DeadReason.WORKTREE_FAILED,
            detail=f"it reads a view, and somebody has written there: {wrote}",
            used=outcome.used,
            work=outcome.work,
        )


class _Forked(Workplace):
    """What an agent without a result has changed stays with the fork's own steps."""

    def __init__(self, project: Project, found: Fork, *, brings_back: bool) -> None:
        super().__init__(found.id)
        self._brings_back = brings_back
        self.fork = found.id
        self._project = project
        self._fork = found
        self._stays = False

    async def judged(self, outcome: Outcome) -> Outcome:
        if not isinstance(outcome, Done):
            return outcome
        if not self._brings_back:
            self._stays = True
            changed = await in_thread(self._changed)
            return outcome._replace(extra={**outcome.extra, "changed": changed})
        try:
            led_to = await in_thread(self._bring_back)
        except SidingError as error:
            self._stays = True
            led_to = {"refused": error.message}
        return outcome._replace(extra={**outcome.extra, "brought_back": led_to})

    def _changed(self) -> Mapping[str, int]:
        """Return the figures of all that was changed in the fork."""
        project = self._project
        parentage = Parentage.of(self._fork.task)
        last = project.ledger(self._fork.id).last()
        if parentage is None or last is None or not last.snapshot:
            return {}
        stat = TaskSnapshots(project, self._fork.workspace).diff_stat(parentage.base, last.snapshot)
        return {"files": stat.files, "additions": stat.additions, "deletions": stat.deletions}

    def _bring_back(self) -> Mapping[str, Any]:
        found = bring_back(self._project, self._project.tasks.load(self._fork.id))
        if isinstance(found, ForkConflict):
            self._stays = True
            return {"conflict": [each.name for each in found.paths], "fork": self.fork}
        left = [list(each) for each in found.left]
        step = found.step.id if found.step is not None else ""
        return said(step=step, left=left, missed=list(found.missed), kept=list(found.kept))

    def leave(self) -> None:
        """Give the workspace back, if nobody has to look at it."""
        if self._stays:
            self._fork.close()
            return
        try:
            drop(self._project, self._fork)
        except SidingError:
            self._fork.close()  # what lives in it keeps it; a sweep comes later
