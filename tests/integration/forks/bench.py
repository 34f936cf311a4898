"""A task to fork, and what is looked at in its forks."""

import os
import subprocess
from pathlib import Path

from integration.undo.desk import Desk, on_disk
from siding.forks.forks import Fork, ForkRequest, drop, fork
from siding.forks.state import ForkState, recorded
from siding.record.place.project import Project

CHANGES = """
    printf '*.log\\n' >.gitignore; echo i >a.log; echo committed >c; git add c .gitignore
    git commit -qm committed; echo staged >s; git add s; echo more >>s
    printf '\\000\\377\\r\\n' >bytes; chmod 600 hello.txt; printf '#!/bin/sh\\n' >run; chmod 755 run
    ln -s nowhere link; rm src/a.py; mkdir -p empty/inner
"""


def state(desk: Desk, step: str = "") -> ForkState:
    return recorded(desk.project, desk.project.tasks.load(desk.task.id), step)


def made(desk: Desk, at: ForkState, call: str = "", group: str = "g") -> Fork:
    return fork(desk.project, at, ForkRequest(group=group, call=call))


def dropped(project: Project, found: Fork) -> bool:
    """Drop a fork; return whether it differed."""
    return drop(project, found).differs


def contents(root: Path) -> dict[bytes, tuple[str, bytes]]:
    """Return all files, links and directories with their modes, without git's own."""
    return {p: each for p, each in on_disk(root, whole=True).items() if p != b".git"}


def git(desk: Desk, root: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", *words], cwd=root, env=desk.sandbox.env, capture_output=True, check=True
    )
    return done.stdout.decode("utf-8", "surrogateescape")


def git_says(desk: Desk, root: Path) -> list[str]:
    return [
        git(desk, root, "status", "--porcelain"),
        git(desk, root, "diff", "--cached"),
        git(desk, root, "rev-parse", "HEAD"),
        git(desk, root, "ls-files", "-s"),
    ]


def left_of_the_pool(desk: Desk) -> list[str]:
    """Return the worktrees that git knows of besides the task's, and what the pool has on disk."""
    known = os.listdir(desk.sandbox.repo / ".git/worktrees")
    forks = desk.project.layout.forks
    there = [name for name in known if name.startswith("slot-")]
    for directory in (forks.free_dir, forks.used_dir, forks.workspaces_dir, forks.locks_dir):
        there += [f"{directory.name}/{name}" for name in os.listdir(directory)]
    return there
