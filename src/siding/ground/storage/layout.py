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


class TaskLayout(NamedTuple):
    """One task's directory."""

    root: Path

    @property
    def task_json(self) -> Path:
        return self.root / "task.json"

    @property
    def ledger_jsonl(self) -> Path:
        return self.root / "ledger.jsonl"

    @property
    def intents_dir(self) -> Path:
        """The acts that have begun and are not in the ledger yet, one file each."""
        return self.root / "intents"

    @property
    def running_json(self) -> Path:
        """The one act that an earlier version began and did not finish."""
        return self.root / "running.json"

    @property
    def runs_dir(self) -> Path:
        """The runs that live, one record each."""
        return self.root / "runs"

    @property
    def workspace_json(self) -> Path:
        """The entry of the workspace of a task of a group; other tasks have it in the registry."""
        return self.root / "workspace.json"

    @property
    def lease(self) -> Path:
        """The lock of whoever works with a fork: while it is held, no sweep takes the fork away."""
        return self.root / "lease"

    @property
    def asked_dir(self) -> Path:
        """Files for agents that are at work: a prompt, a schema; a directory for each attempt."""
        return self.root / "asked"

    @property
    def artifacts_dir(self) -> Path:
        return self.root / "artifacts"

    @property
    def agents_dir(self) -> Path:
        """What agents that were started without a run have reported, one file a conversation."""
        return self.root / "agents"

    @property
    def port(self) -> Path:
        """The number of the first port of the task's block."""
        return self.root / "port"

    @property
    def lock(self) -> Path:
        """The lock of whoever records or changes the task's state; no program runs under it."""
        return self.root / "lock"

    @property
    def sandbox_lock(self) -> Path:
        """The lock of the sandboxed run that works on a copy of the workspace's git directory."""
        return self.root / "sandbox.lock"

    @property
    def sandbox_dir(self) -> Path:
        """What git writes during sandboxed runs: objects, branches, a copy of the git directory."""
        return self.root / "sandbox"

    @property
    def sandboxed_json(self) -> Path:
        """Since when the task has had sandboxed runs; missing if it had none."""
        return self.root / "sandboxed.json"

    @property
    def traps_json(self) -> Path:
        """What sandboxed runs left where no snapshot looks; missing if there was none."""
        return self.root / "traps.json"

    @property
    def turn_lock(self) -> Path:
        """The lock of the agent of a workflow that has the workspace to itself, for its turn."""
        return self.root / "turn.lock"

    def artifact(self, step: int | str, suffix: str) -> Path:
        """Return ``artifacts/0001.patch`` for step 1 and ``patch`` (or ``.patch``).

        An act that has no number yet is named by its id.
        """
        stem = step if isinstance(step, str) else f"{step:04d}"
        return self.artifacts_dir / checked_name(f"{stem}.{suffix.removeprefix('.')}")


class ForkLayout(NamedTuple):
    """Where a project has its forks and views, and the worktrees that wait for the next ones."""

    root: Path

    @property
    def tasks_dir(self) -> Path:
        """The tasks of groups, one directory each, as in ``tasks/``."""
        return self.root / "tasks"

    @property
    def workspaces_dir(self) -> Path:
        """The worktrees of the pool: those that wait, and those that a fork or a view has."""
        return self.root / "workspaces"

    @property
    def free_dir(self) -> Path:
        """A document for each worktree that waits."""
        return self.root / "free"

    @property
    def used_dir(self) -> Path:
        """A document for each worktree that a fork or a view has."""
        return self.root / "used"

    @property
    def locks_dir(self) -> Path:
        """A lock for each worktree: of whoever makes, takes or returns it."""
        return self.root / "locks"

    @property
    def views_dir(self) -> Path:
        """A directory for each view: its document, its lock, and the leases of its readers."""
        return self.root / "views"

    def workspace(self, slot: str) -> Path:
        return self.workspaces_dir / checked_name(slot)

    def lock(self, slot: str) -> Path:
        return self.locks_dir / checked_name(slot)

    def view(self, name: str) -> Path:
        return self.views_dir / checked_name(name)


class ProjectLayout(NamedTuple):
    """One project's directory."""

    root: Path

    @property
    def project_json(self) -> Path:
        return self.root / "project.json"

    @property
    def config_yaml(self) -> Path:
        return self.root / "config.yaml"

    @property
    def agent_json(self) -> Path:
        """What the person has answered about the built-in agent, for this project."""
        return self.root / "agent.json"

    @property
    def state_json(self) -> Path:
        return self.root / "state.json"

    @property
    def events_jsonl(self) -> Path:
        return self.root / "events.jsonl"

    @property
    def worktrees_json(self) -> Path:
        return self.root / "worktrees.json"

    @property
    def snapshots_git(self) -> Path:
        return self.root / "snapshots.git"

    @property
    def freed_jsonl(self) -> Path:
        """The journal of freed snapshots."""
        return self.root / "freed.jsonl"

    @property
    def gc_json(self) -> Path:
        """When the project was freed last."""
        return self.root / "gc.json"

    @property
    def freed_head(self) -> Path:
        """The anchor of that journal, which does not lie beside it."""
        return self.snapshots_git / "freed-head"

    @property
    def tasks_dir(self) -> Path:
        return self.root / "tasks"

    @property
    def workspaces_dir(self) -> Path:
        return self.root / "workspaces"

    @property
    def trash_dir(self) -> Path:
        """Where removed things are kept until they are deleted for good.

        It is on the file system of the workspaces, so that moving there is a rename.
        """
        return self.root / "trash"

    @property
    def locks_dir(self) -> Path:
        return self.root / "locks"

    @property
    def decisions_dir(self) -> Path:
        return self.root / "decisions"

    @property
    def checkouts_dir(self) -> Path:
        """The turns of integrated agents in checkouts, one directory each."""
        return self.root / "checkouts"

    @property
    def workflow_runs_dir(self) -> Path:
        """The runs of workflows, one directory each."""
        return self.root / "workflow-runs"

    @property
    def terminals_dir(self) -> Path:
        """Which task each terminal is about, one file each."""
        return self.root / "terminals"

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


class Home(NamedTuple):
    """Siding's home: the data of all projects of one user."""

    root: Path

    @property
    def config_path(self) -> Path:
        return self.root / "config.yaml"

    @property
    def guard_json(self) -> Path:
        """What the person has answered about how agents run."""
        return self.root / "guard.json"

    @property
    def agent_json(self) -> Path:
        """What the person has answered about the built-in agent, for all projects."""
        return self.root / "agent.json"

    @property
    def projects_dir(self) -> Path:
        return self.root / "projects"

    @property
    def devices_dir(self) -> Path:
        """The paired devices, and the certificate of a dashboard that is served to them."""
        return self.root / "devices"

    @property
    def ports_dir(self) -> Path:
        """Which task has which block of ports, in all projects."""
        return self.root / "ports"

    @property
    def session_caches_dir(self) -> Path:
        """Caches of what is found in the homes of agents; they can be deleted at any time."""
        return self.root / "cache" / "sessions"

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
