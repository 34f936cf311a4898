"""The paths of all files in Siding's home. This module is pure: it never touches the disk.

`FORMAT.md` shows the tree. Names that come from outside (task ids, lock names) are checked before
they become part of a path.
"""

import os
from pathlib import Path

from siding.ground.hashing import sha256_hex
from siding.ground.ids import is_fork
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.errors import UnsafeName

_LONGEST_NAME_BYTES = 200  # leaves room for suffixes within the usual limit of 255


class Below:
    """A path below the root of a layout, as a field of it: a function for each would be a hundred
    to load at every start."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __get__(self, layout: "_Layout", owner: type) -> Path:
        return layout.root / self._path


class _Layout(NamedTuple):
    root: Path


class TaskLayout(_Layout):
    """One task's directory."""

    __slots__ = ()

    task_json = Below("task.json")
    ledger_jsonl = Below("ledger.jsonl")
    # The acts that have begun and are not in the ledger yet, one file each.
    intents_dir = Below("intents")
    # The one act that an earlier version began and did not finish.
    running_json = Below("running.json")
    runs_dir = Below("runs")  # the runs that live, one record each
    # The entry of the workspace of a task of a group; other tasks have it in the registry.
    workspace_json = Below("workspace.json")
    # The lock of whoever works with a fork: while it is held, no sweep takes the fork away.
    lease = Below("lease")
    # Files for agents that are at work: a prompt, a schema; a directory for each attempt.
    asked_dir = Below("asked")
    artifacts_dir = Below("artifacts")
    # What agents that were started without a run have reported, one file a conversation.
    agents_dir = Below("agents")
    port = Below("port")  # the number of the first port of the task's block
    # The lock of whoever records or changes the task's state; no program runs under it.
    lock = Below("lock")
    # The lock of the sandboxed run that works on a copy of the workspace's git directory.
    sandbox_lock = Below("sandbox.lock")
    # What git writes during sandboxed runs: objects, branches, a copy of the git directory.
    sandbox_dir = Below("sandbox")
    # Since when the task has had sandboxed runs; missing if it had none.
    sandboxed_json = Below("sandboxed.json")
    # What sandboxed runs left where no snapshot looks; missing if there was none.
    traps_json = Below("traps.json")
    # The lock of the agent of a workflow that has the workspace to itself, for its turn.
    turn_lock = Below("turn.lock")
    # The newest search for the step that broke something, and the lock of whoever searches.
    bisect_json = Below("bisect.json")
    bisect_lock = Below("bisect.lock")
    comments_dir = Below("comments")  # on lines of the task's change, with the texts they were in
    looks_dir = Below("looks")  # what a person has read of the task's change, and when last
    chats_dir = Below("chats")  # conversations that a host holds, with what waits for their agents

    def artifact(self, step: int | str, suffix: str) -> Path:
        """Return ``artifacts/0001.patch`` for step 1 and ``patch`` (or ``.patch``).

        An act that has no number yet is named by its id.
        """
        stem = step if isinstance(step, str) else f"{step:04d}"
        return self.artifacts_dir / checked_name(f"{stem}.{suffix.removeprefix('.')}")


class ForkLayout(_Layout):
    """Where a project has its forks and views, and the worktrees that wait for the next ones."""

    __slots__ = ()

    tasks_dir = Below("tasks")  # the tasks of groups, one directory each, as in ``tasks/``
    # The worktrees of the pool: those that wait, and those that a fork or a view has.
    workspaces_dir = Below("workspaces")
    free_dir = Below("free")  # a document for each worktree that waits
    used_dir = Below("used")  # a document for each worktree that a fork or a view has
    locks_dir = Below("locks")  # a lock for each worktree: of whoever makes, takes or returns it
    # A directory for each view: its document, its lock, and the leases of its readers.
    views_dir = Below("views")

    def workspace(self, slot: str) -> Path:
        return self.workspaces_dir / checked_name(slot)

    def lock(self, slot: str) -> Path:
        return self.locks_dir / checked_name(slot)

    def view(self, name: str) -> Path:
        return self.views_dir / checked_name(name)


class ProjectLayout(_Layout):
    """One project's directory."""

    __slots__ = ()

    project_json = Below("project.json")
    config_yaml = Below("config.yaml")
    # What the person has answered about the built-in agent, for this project.
    agent_json = Below("agent.json")
    state_json = Below("state.json")
    events_jsonl = Below("events.jsonl")
    worktrees_json = Below("worktrees.json")
    snapshots_git = Below("snapshots.git")
    freed_jsonl = Below("freed.jsonl")  # the journal of freed snapshots
    gc_json = Below("gc.json")  # when the project was freed last
    # The anchor of that journal, which does not lie beside it.
    freed_head = Below("snapshots.git/freed-head")
    tasks_dir = Below("tasks")
    workspaces_dir = Below("workspaces")
    # Where removed things are kept until they are deleted for good.  It is on the file system of
    # the workspaces, so that moving there is a rename.
    trash_dir = Below("trash")
    locks_dir = Below("locks")
    decisions_dir = Below("decisions")
    effects_dir = Below("decisions/effects")  # of the commands that people are asked about
    trials_dir = Below("trials")  # copies of workspaces in which such commands are tried
    # The turns of integrated agents in checkouts, one directory each.
    checkouts_dir = Below("checkouts")
    workflow_runs_dir = Below("workflow-runs")  # the runs of workflows, one directory each
    terminals_dir = Below("terminals")  # which task each terminal is about, one file each

    def terminal(self, leader: int) -> Path:
        """Return the file of the terminal whose session this process leads."""
        return self.terminals_dir / f"{leader}.json"

    @property
    def forks(self) -> ForkLayout:
        return ForkLayout(self.root / "forks")

    def task(self, task_id: str) -> TaskLayout:
        tasks = self.forks.tasks_dir if is_fork(task_id) else self.tasks_dir
        return TaskLayout(root=tasks / checked_name(task_id))

    def workspace(self, task_id: str) -> Path:
        return self.workspaces_dir / checked_name(task_id)

    def lock(self, name: str) -> Path:
        return self.locks_dir / checked_name(name)


class Home(_Layout):
    """Siding's home: the data of all projects of one user."""

    __slots__ = ()

    config_path = Below("config.yaml")
    guard_json = Below("guard.json")  # what the person has answered about how agents run
    # What the person has answered about the built-in agent, for all projects.
    agent_json = Below("agent.json")
    projects_dir = Below("projects")
    # The paired devices, and the certificate of a dashboard that is served to them.
    devices_dir = Below("devices")
    feed_dir = Below("feed")  # the lock and the socket of the feed's hub; what a person has seen
    screens_dir = Below("screens")  # the screens that are open, and whether somebody looks at them
    terminal_dir = Below("terminal")  # the last frame of the screen, and what it has asked once
    told_dir = Below("told")  # of what a person was told that waits still
    ports_dir = Below("ports")  # which task has which block of ports, in all projects
    # Caches of what is found in the homes of agents; they can be deleted at any time.
    session_caches_dir = Below("cache/sessions")

    def project(self, name: str) -> ProjectLayout:
        """Return the layout of the project directory of this name (see `project_dir_name`)."""
        return ProjectLayout(root=self.projects_dir / checked_name(name))


def checked_name(name: str) -> str:
    """Return the name if it is one entry of a directory; raise `UnsafeName` for any other."""
    if name in {"", ".", ".."} or "/" in name or "\0" in name:
        raise UnsafeName(f"{name!r} cannot be the name of a file or directory")
    return name


def project_dir_name(repo_root: Path, width: int = 4) -> str:
    """Return ``<name>-<hash>`` for a repository, where the hash has `width` hex digits.

    `repo_root` is the repository's real path; its bytes are hashed. The caller increases `width` on
    a collision. The name is the directory's, with ``_`` for characters that cannot be shown, cut at
    200 bytes.
    """
    digest = sha256_hex(os.fsencode(repo_root))[:width]
    shown = "".join(letter if letter.isprintable() else "_" for letter in repo_root.name)
    short = shown.encode("utf-8")[:_LONGEST_NAME_BYTES].decode("utf-8", "ignore")
    return f"{short or 'root'}-{digest}"
