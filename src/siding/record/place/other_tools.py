"""What other task tools left in a repository, or of it: asked where there is no project yet."""

import os
from pathlib import Path

from siding.ground.git.discovery import find_repository
from siding.ground.storage.layout import project_dir_name
from siding.record.place.wiring import App

BOARD, AIDE = (".tasks", ".worktrees/index.json"), (".aide",)
BAR = ".bar"  # the home of bar, below the person's


def left_by_another_tool(app: App, root: Path) -> str:
    """Return a hint if another tool kept tasks of the repository at `root`, else ""."""
    there = [name for name in (*BOARD, *AIDE) if os.path.lexists(root / name)]
    if there:
        named = " and ".join(there)
        return f"{named} {'is' if len(there) == 1 else 'are'} here: `siding import` brings that in"
    home = Path(app.env.get("HOME") or "/") / BAR
    if (home / "projects" / project_dir_name(root)).is_dir():
        return f"bar kept tasks of it, whose home is Siding's as it is: SIDING_HOME={home}"
    return ""


def left_here(app: App) -> str:
    """Return the same of the repository around the working directory; raises GitError for none."""
    return left_by_another_tool(app, find_repository(app.cwd).root)
