"""What runs that have ended left running: which of it lives, and whether it stands in the way."""

from collections.abc import Iterable, Sequence
from shlex import join

from siding.ground.ids import TaskId
from siding.ground.namedtuples import NamedTuple
from siding.ground.process.command import ProcessInfo, ProcessStatus
from siding.ground.process.ender import Key, LeftTree, age_s, may_signal
from siding.ground.process.identity import boot_id
from siding.ground.process.pauser import is_possible
from siding.ground.process.procfs_details import command_line
from siding.ground.storage.layout import TaskLayout
from siding.record.place.project import Project
from siding.record.place.redaction import Redaction
from siding.record.runs.left import LeftFiles, LeftMark, LeftRunning, shortened
from siding.record.runs.run import ProcessMark, Run
from siding.record.runs.store import Runs


class LeftProcess(NamedTuple):
    """A process that was left running and lives. `command` is without secrets, and shortened."""

    pid: int
    started: int
    command: str
    age_s: int

    @property
    def named(self) -> str:
        return f"process {self.pid} ({self.command})"


class StillThere(NamedTuple):
    """A run that has ended, and what it left running and lives."""

    run: LeftRunning
    processes: tuple[LeftProcess, ...]


def left_in(project: Project, task_id: TaskId) -> list[StillThere]:
    """Return what runs of a task left running and lives, the oldest run first."""
    runs = Runs(project.task_layout(task_id))
    return [
        StillThere(left, described(project, left, found))
        for left, tree in trees_in(project, task_id)
        # The document of a run that is being recorded is there already.
        if not runs.is_there(left.id) and (found := tree.everyone())
    ]


def in_the_way(project: Project, task_id: TaskId) -> list[StillThere]:
    """Return what was left running and would work on in a workspace that is taken away.

    What this command runs in does not count, nor does what belongs to another user: nobody could
    end it from here.
    """
    return _counting(project, trees_in(project, task_id))


def to_pause(project: Project, task_id: TaskId) -> list[StillThere]:
    """Return what was left running and has to be paused while files are moved under it.

    A command that runs in it would pause what it needs itself: then that goes on. Nothing is paused
    where the system cannot do so.
    """
    if not is_possible():
        return []
    trees = trees_in(project, task_id)
    return _counting(project, [each for each in trees if not each[1].is_around_us()])


def _counting(project: Project, trees: Iterable[tuple[LeftRunning, LeftTree]]) -> list[StillThere]:
    found = []
    for left, tree in trees:
        living = [status for status in tree.living() if may_signal(status)]
        if living:
            found.append(StillThere(left, described(project, left, living)))
    return found


def trees_in(project: Project, task_id: TaskId) -> list[tuple[LeftRunning, LeftTree]]:
    """Return the documents of a task that count, each with the tree of its processes."""
    files, boot = LeftFiles(project.task_layout(task_id)), boot_id()
    numbers = files.numbers()
    if not numbers:
        return []
    read = [left for left in map(files.read, numbers) if left is not None and left.boot == boot]
    others = hosts_of(live_runs(project)) if read else ()
    return [(left, tree_of(left, others)) for left in read]


def tree_of(left: LeftRunning, others: Iterable[Key] = ()) -> LeftTree:
    marks = [(each.mark.pid, each.mark.started) for each in left.processes]
    return LeftTree(marks, left.token, tuple(others))


def forget_what_ended(layout: TaskLayout) -> None:
    """Remove the documents of which nothing lives any more. The caller holds the task's lock."""
    files = LeftFiles(layout)
    for number in files.numbers():
        left = files.read(number)
        if left is None:
            continue
        tree = tree_of(left)
        if left.boot != boot_id() or not (tree.has_mark() or not tree.is_over()):
            files.remove(number)


def write_down_left(
    project: Project,
    layout: TaskLayout,
    run: Run,
    processes: Sequence[ProcessInfo],
    redaction: Redaction,
) -> None:
    """Write down what a run has left running. Its host calls this while the run still lives."""
    beside = [each for each in live_runs(project) if each.token != run.token]
    tree = LeftTree([(each.pid, each.started) for each in processes], run.token, hosts_of(beside))
    living = tree.living()
    if not living:
        return
    marks = [
        LeftMark(
            ProcessMark(status.pid, status.started),
            shortened(redaction.words(command_line(status.pid)) or [status.name]),
        )
        for status in living
    ]
    LeftFiles(layout).write(
        LeftRunning(
            number=run.number,
            started_at=run.started_at,
            ended_at=project.app.now(),
            cmd=run.cmd,
            name=run.name,
            token=run.token,
            boot=run.boot,
            processes=tuple(marks),
        )
    )


def hosts_of(live: Iterable[Run]) -> list[Key]:
    """Return the processes that runs consist of, from the top: host, keeper and command.

    A program that hosts runs is left out: it is no run itself, and may be what was left running.
    """
    found = []
    for run in live:
        tops = (run.keeper, run.command) if run.in_program else (run.host, run.keeper, run.command)
        found += [(mark.pid, mark.started) for mark in tops if mark.pid]
    return found


def live_runs(project: Project) -> list[Run]:
    """Return what lives in the whole project: a run can have started runs of other tasks."""
    return [
        run
        for task_id in project.ids_at_work()
        for run in Runs(project.task_layout(task_id)).live()
        if run.boot == boot_id()
    ]


def described(
    project: Project, left: LeftRunning, found: Iterable[ProcessStatus]
) -> tuple[LeftProcess, ...]:
    """Return processes with what they were started with, as far as a person may read it."""
    noted = {each.mark: each.argv for each in left.processes}
    described = []
    for status in found:
        words = noted.get(ProcessMark(status.pid, status.started))
        if words is None:
            words = shortened(project.redaction.words(command_line(status.pid)))
        command = join(words) or status.name
        described.append(LeftProcess(status.pid, status.started, command, age_s(status)))
    return tuple(described)
