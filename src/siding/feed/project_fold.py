"""The facts of one project and its part of the feed, read again only where something changed.

A task at rest costs two looks at files and two listings of directories when anything may have
changed, and nothing if only other things did. What can change though no file says so, because a
process ends, is read at each look: tasks with something that runs, and open questions.
"""

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from siding.asking.views import InboxEntry
from siding.feed.asks import Question, questions, untrusted_hooks
from siding.feed.chat_facts import ChatFacts, Known
from siding.feed.project_part import Made, Names, Part, ProjectFacts, part_of
from siding.feed.task_facts import NOTHING, Present, PresentReader, TaskFacts
from siding.feed.task_work import TaskWork, WorkCache, counted
from siding.feed.workflow_facts import WorkflowFacts
from siding.ground.errors import SidingError
from siding.ground.ids import TaskId, is_fork
from siding.ground.namedtuples import NamedTuple
from siding.record.place.project import Project
from siding.record.recording.line_base import line_base
from siding.record.tasks.registry import Workspace

if TYPE_CHECKING:
    from siding.feed.workflow_runs import WorkflowRuns

# The parts of a project that hints can name, besides single tasks.
TASKS, UNWATCHED, FORKS, WORKSPACES = "tasks", "unwatched tasks", "forks", "workspaces"
QUESTIONS, WORKFLOWS, HOOKS = "questions", "workflows", "hooks"
PARTS = frozenset((TASKS, FORKS, WORKSPACES, QUESTIONS, WORKFLOWS, HOOKS))
_SAVED_AFTER = 50  # changed entries of the cache; it is written after the first look, too


class Wanted(NamedTuple):
    """Two snapshots of a task whose difference is not counted yet."""

    last_at: str
    task: TaskId
    since: str
    tip: str


class ProjectFold:
    """One project, with what is known of it; only one task of it if that is said."""

    def __init__(self, project: Project, only: TaskId | None = None) -> None:
        self.project = project
        self._only = only
        self.tasks: dict[TaskId, TaskFacts] = {}  # forks only while something goes on in them
        self.unreadable: set[TaskId] = set()
        self.flows: list[WorkflowFacts] = []
        self._made: Made = {}
        self._listed: frozenset[TaskId] = frozenset()
        self._cache = WorkCache(project)
        self._present = PresentReader(project)
        self._runs: WorkflowRuns | None = None  # most projects have none
        self._workspaces: dict[TaskId, Workspace] = {}
        self._questions: list[Question] = []
        self._hooks: InboxEntry | None = None
        self._problems: dict[str, tuple[str, ...]] = {}  # by the part or the task they are of
        self._dirty: set[str] = set(PARTS)
        self._dirty_tasks: set[TaskId] = set()
        self._talks: Known = {}
        self._uncountable: set[tuple[str, str]] = set()
        self._part: tuple[Names, Part] | None = None
        self._directories: set[Path] | None = None
        self._is_saved = False

    def touch(self, *parts: str) -> None:
        """Note that these parts may have changed."""
        self._dirty.update(parts)

    def touch_task(self, task_id: TaskId) -> None:
        """Note that a task may have changed. One that is not known yet is looked for."""
        if task_id in self.tasks or task_id in self.unreadable:
            self._dirty_tasks.add(task_id)
        else:
            self._dirty.add(FORKS if is_fork(task_id) else TASKS)

    def touch_all(self) -> None:
        """Note that everything may have changed."""
        self._dirty.update(PARTS)
        self._dirty_tasks.update(self.tasks, self.unreadable)

    def reopen(self, project: Project) -> None:
        """Take the project as it was opened again: its settings may be others."""
        self.project = project
        self._cache.project = self._present.project = project
        if self._runs is not None:
            self._runs.project = project

    def directories(self) -> set[Path]:
        """Return the directories whose entries matter, as they are there."""
        if self._directories is None:
            self._directories = {each for each in self._that_matter() if each.is_dir()}
        return self._directories

    def _that_matter(self) -> set[Path]:
        layout = self.project.layout
        found = {layout.root, layout.tasks_dir, layout.decisions_dir, layout.decisions_dir / "open"}
        for task_id in self.tasks:
            if self._is_watched(task_id):  # the others are looked at by `events.jsonl`
                task = self.project.task_layout(task_id)
                found.update((task.root, task.intents_dir, task.runs_dir, task.chats_dir))
        for task_id in self._listed - self.tasks.keys():  # damaged, or being made just now
            found.add(self.project.task_layout(task_id).root)
        found.add(layout.forks.used_dir)
        found.add(layout.workflow_runs_dir)
        if self._runs is not None:
            found.update(layout.workflow_runs_dir / run_id for run_id in self._runs.watched)
        if self._hooks_dir is not None:
            found.add(self._hooks_dir)
            found.add(self._hooks_dir.parent)
        return found

    def reads_hooks_of(self, path: str) -> bool:
        """Tell whether a path outside of the home is that of the hooks of the repository."""
        hooks = self._hooks_dir
        return hooks is not None and Path(path) in (hooks, hooks / "config.yaml")

    def living(self) -> set[int]:
        """Return the processes whose end no file tells."""
        found: set[int] = set()
        for facts in self.tasks.values():
            found.update(facts.acting)
            found.update(each.host for each in facts.chats)
            for each in facts.live:
                found.update((each.run.host.pid, each.run.keeper.pid))
            found.update(process.pid for row in facts.left for process in row.processes)
        if self._runs is not None:
            found.update(self._runs.living())
        return found - {0}

    @property
    def _hooks_dir(self) -> Path | None:
        main = self.project.paths.main_worktree
        return None if main is None else main / ".siding"

    def read(self, now: float) -> None:
        """Read again what may have changed."""
        dirty, self._dirty = self._dirty, set()
        tasks, self._dirty_tasks = self._dirty_tasks, set()
        tasks.update(each for each, facts in self.tasks.items() if facts.is_restless)
        flows_live = any(each.is_live for each in self.flows)
        if not (dirty or tasks or self._questions or flows_live):
            return
        self._part = self._directories = None
        if WORKSPACES in dirty:
            self._try(WORKSPACES, lambda: self._read_workspaces(tasks))
        if TASKS in dirty or UNWATCHED in dirty:
            self._try(TASKS, lambda: self._list(tasks, all_of_them=TASKS in dirty))
        if FORKS in dirty or flows_live:
            self._try(FORKS, lambda: self._list_forks(tasks))
        for task_id in sorted(tasks):
            self._try(task_id, partial(self._read_task, task_id))
        if QUESTIONS in dirty or self._questions:
            self._try(QUESTIONS, self._read_questions)
        if WORKFLOWS in dirty or (self._runs is not None and (tasks or flows_live)):
            self._try(WORKFLOWS, lambda: self._read_flows(now))
        if HOOKS in dirty:
            self._try(HOOKS, self._read_hooks)

    def wanted(self) -> list[Wanted]:
        """Return what has to be counted for the tasks with something to apply."""
        found = []
        for task_id, facts in self.tasks.items():
            work = facts.work
            if facts.figures is not None or not (facts.unapplied and facts.is_open):
                continue
            since = self._since(facts.workspace, work)
            if since and work.tip and (since, work.tip) not in self._uncountable:
                found.append(Wanted(str(facts.row["last_at"]), task_id, since, work.tip))
        return found

    def count(self, wanted: Wanted) -> None:
        """Count what an apply of a task would bring. Starts git once."""
        workspace = self.tasks[wanted.task].workspace
        figures = None
        if workspace is not None:
            figures = counted(self.project, workspace, wanted.since, wanted.tip)
        if figures is None:
            self._uncountable.add((wanted.since, wanted.tip))
            return
        self._cache.note_figures(wanted.task, wanted.since, wanted.tip, figures)
        self.tasks[wanted.task] = self.tasks[wanted.task]._replace(figures=figures)
        self._part = None

    def part(self, names: Names, now: float) -> Part:
        """Return what the project adds to the feed."""
        if self._part is not None:
            known_names, part = self._part
            if known_names == names and not 0 < part.holds_until <= now:
                return part
        part = part_of(names, self._all(), now, self._made)
        self._part = (names, part)
        return part

    def save(self) -> None:
        """Write the cache after the first look, and then after many changes only."""
        if not self._is_saved or self._cache.unsaved >= _SAVED_AFTER:
            self._cache.keep(others=self._only is not None)
            self._is_saved = True

    def _all(self) -> ProjectFacts:
        return ProjectFacts(
            tasks=self.tasks,
            flows=self.flows,
            questions=self._questions,
            hooks=self._hooks,
            problems=tuple(
                each for _part, found in sorted(self._problems.items()) for each in found
            ),
        )

    def _try(self, part: str, read: Callable[[], Iterable[str] | None]) -> None:
        """Read a part; what cannot be read gives a sentence and hides no other part."""
        try:
            self._problems[part] = tuple(read() or ())
        except (SidingError, OSError) as error:
            said = error.message if isinstance(error, SidingError) else str(error)
            self._problems[part] = (said,)

    def _read_workspaces(self, tasks: set[TaskId]) -> None:
        before, now = self._workspaces, self.project.workspaces.entered()
        self._workspaces = now
        tasks.update(each for each in self.tasks if before.get(each) != now.get(each))

    def _workspace(self, task_id: TaskId, work: TaskWork) -> Workspace | None:
        """Return the workspace of a task; one that the registry lacks only if it matters."""
        found = self._workspaces.get(task_id)
        if found is not None or not work.unapplied:
            return found
        return self.project.workspaces.of_task(task_id)

    def _list(self, tasks: set[TaskId], *, all_of_them: bool) -> None:
        """Look which tasks there are; have those read that are new, or may have changed."""
        ids = frozenset(self.project.tasks.ids() if self._only is None else (self._only,))
        ids = frozenset(each for each in ids if not is_fork(each))
        known = {each for each in self.tasks if not is_fork(each)} | self.unreadable
        for gone in known - ids:
            self._forget(gone)
        self._cache.forget_others(ids)
        tasks.difference_update(known - ids)
        if all_of_them:
            tasks.update(ids)
        else:
            tasks.update(ids - known)
            closed = (each for each in ids & known if not self._is_watched(each))
            tasks.update(each for each in closed if self._cache.has_changed(each))
        self._listed = ids

    def _is_watched(self, task_id: TaskId) -> bool:
        """Tell whether the directories of a task are among those that matter."""
        facts = self.tasks.get(task_id)
        return facts is None or facts.is_open or facts.is_restless

    def _list_forks(self, tasks: set[TaskId]) -> None:
        at_work = {each for each in self.project.ids_at_work() if is_fork(each)}
        if self._only is not None:
            at_work &= {self._only}
        for gone in [each for each in self.tasks if is_fork(each) and each not in at_work]:
            self._forget(gone)
            tasks.discard(gone)
        tasks.update(at_work)

    def _forget(self, task_id: TaskId) -> None:
        self.tasks.pop(task_id, None)
        self.unreadable.discard(task_id)
        self._problems.pop(task_id, None)

    def _read_task(self, task_id: TaskId) -> tuple[str, ...]:
        """Read a task again; return sentences about what cannot be read of it."""
        try:
            found = self._facts(task_id)
        except (LookupError, TypeError):  # the cache is damaged
            self._cache.forget(task_id)
            found = self._facts(task_id)
        before = self.tasks.get(task_id)
        if found is None:
            is_there = not is_fork(task_id) and self._cache.is_there(task_id)
            self._forget(task_id)
            if not is_there:
                return ()
            self.unreadable.add(task_id)
            return (f"task {task_id} cannot be read; `siding doctor` says why",)
        facts, present = found
        self.unreadable.discard(task_id)
        self.tasks[task_id] = before if before == facts else facts
        problems = (present.problem, *(each.problem for each in facts.chats))
        return tuple(each for each in problems if each)

    def _facts(self, task_id: TaskId) -> tuple[TaskFacts, Present] | None:
        """Return what there is to know of a task; None if it cannot be read.

        What goes on is read before the ledger: what ends in between is found there.
        """
        of_fork = is_fork(task_id)
        name = self._cache.name_of(task_id)
        chats = self._chats(task_id, name)
        present = self._present.read(task_id, name, chats)
        if of_fork and present == NOTHING and not any(each.host for each in chats):
            return None
        entry = self._cache.fork_entry(task_id) if of_fork else self._cache.entry(task_id)
        if entry is None:
            return None
        if (present is not NOTHING or chats) and entry["row"]["name"] != name:
            return self._facts(task_id)  # now its name is known
        work = self._cache.work(task_id, entry)
        workspace = self._workspace(task_id, work)
        facts = TaskFacts(
            id=task_id,
            row=entry["row"],
            work=work,
            live=present.live,
            cut_off=present.cut_off,
            left=present.left,
            acting=present.acting,
            workspace=workspace,
            chats=chats,
        )
        if work.unapplied and work.tip:
            since = self._since(workspace, work)
            facts = facts._replace(figures=self._cache.figures(task_id, since, work.tip))
        return facts, present

    def _chats(self, task_id: TaskId, name: str) -> tuple[ChatFacts, ...]:
        if not os.path.isdir(f"{self._task_directory(task_id)}/chats"):
            return ()
        from siding.feed.chats import chats_of

        return chats_of(self.project, task_id, name, self._talks)

    def _task_directory(self, task_id: TaskId) -> str:
        layout = self.project.layout
        tasks = layout.forks.tasks_dir if is_fork(task_id) else layout.tasks_dir
        return f"{tasks}/{task_id}"

    def _since(self, workspace: Workspace | None, work: TaskWork) -> str:
        """Return the snapshot that what is not applied is counted from; "" if it is unknown."""
        if workspace is None or not workspace.base_snapshot:
            return ""
        if work.since:
            return work.since
        with suppress(SidingError):
            return line_base(self.project, workspace).snapshot
        return ""

    def _read_questions(self) -> list[str]:
        self._questions, problems = questions(self.project)
        return problems

    def _read_flows(self, now: float) -> None:
        if not self.project.layout.workflow_runs_dir.is_dir():
            self.flows = []
            return
        from siding.feed.workflow_runs import OpenTask, WorkflowRuns

        if self._runs is None:
            self._runs = WorkflowRuns(self.project)
        tasks: dict[str, OpenTask] = {
            each: OpenTask(facts.name, str(facts.row["last_at"]))
            for each, facts in self.tasks.items()
            if facts.is_open
        }
        self.flows = self._runs.look(tasks, now)

    def _read_hooks(self) -> None:
        self._hooks = None
        self._hooks = untrusted_hooks(self.project)
