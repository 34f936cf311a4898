"""A process that makes forks and views, drops them and brings them back: the victim of the gates.

``fork_victim.py make|drop|back|view`` in the repository; prints ``done`` when it has. A failure is
one line, as on the command line.
"""

import os
import sys
from pathlib import Path

from siding.forks.bring_back import bring_back
from siding.forks.forks import ForkRequest, drop, fork, reopened
from siding.forks.parentage import forks_of
from siding.forks.state import recorded
from siding.forks.views import view
from siding.ground.errors import SidingError
from siding.record.place.named_task import resolve
from siding.record.place.project import Project, require_project
from siding.record.place.wiring import open_app


def work(project: Project, what: str) -> None:
    at = recorded(project, resolve(project, "T"))
    if what == "make":
        fork(project, at, ForkRequest(group="g", call="made")).close()
    elif what == "view":
        view(project, at, reader="victim").close()
    else:
        (task,) = forks_of(project)
        if what == "drop":
            drop(project, reopened(project, task))
        else:
            bring_back(project, task)


if __name__ == "__main__":
    try:
        work(require_project(open_app(env=os.environ, cwd=Path.cwd())), sys.argv[1])
    except (SidingError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        raise SystemExit(1) from None
    print("done", flush=True)
