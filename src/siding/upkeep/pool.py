"""Worktrees of forks that killed processes left half-made."""

import os
from collections.abc import Callable, Iterator
from functools import partial

from siding.forks.sweep import half_made, mend
from siding.record.place.project import Project


def pool_problems(project: Project) -> Iterator[tuple[str, str, Callable[[], str]]]:
    """Yield what is wrong with the pool: a sentence, what is done about it, and what does it."""
    forks = project.layout.forks
    linked = project.paths.common_dir / "worktrees"
    names = [
        name
        for name in half_made(project)
        if os.path.lexists(forks.workspace(name)) or os.path.lexists(linked / name)
    ]
    if names:
        yield (
            f"{len(names)} worktrees for forks were left half-made: {', '.join(sorted(names)[:5])}",
            "they are moved into the trash",
            partial(_mend, project),
        )


def _mend(project: Project) -> str:
    return f"moved {mend(project)} into the trash"
