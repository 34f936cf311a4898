"""A run of a workflow in a task, as a process of its own: the victim of `test_workflow_disk`.

    workflow_task_victim.py DIRECTORY

Works in the repository on the run that was made last, with the script, the agents and the promises
of `workflow_victim`, which PYTHONPATH has to find. A failure is one line, as on the command line.
"""

import os
import sys
from collections.abc import Callable
from pathlib import Path

from faults.workflow_victim import SCRIPT, Workers
from siding.ground.errors import SidingError
from siding.record.place.project import Project, require_project
from siding.record.place.wiring import open_app
from siding.workflows.acts.request import ResumeRequest
from siding.workflows.acts.run import WorkflowRequest, carry_out, prepare, prepare_again
from siding.workflows.acts.scripts import inline
from siding.workflows.events import Event, Logged, RunDone
from siding.workflows.state import RunState
from siding.workflows.store import RunFolder


def begin(project: Project, lanes: int) -> RunFolder:
    """Make a run; nothing of it is done yet."""
    return prepare(project, WorkflowRequest(found=inline(SCRIPT), args=lanes)).folder


def run(project: Project, directory: Path, say: Callable[[str], None]) -> RunDone:
    """Work on the run until it ends. Raises SidingError and OSError."""

    def listen(event: Event, _state: RunState) -> None:
        if isinstance(event, Logged) and event.message.startswith("given "):
            say(event.message)

    prepared = prepare_again(project, "last", ResumeRequest())
    return carry_out(project, prepared, lambda *_: Workers(directory, 1), listen)


def main(directory: Path) -> int:
    """Work on it as a command does; return the exit status."""
    project = require_project(open_app(env=os.environ, cwd=Path.cwd()))
    done = run(project, directory, lambda text: print(text, flush=True))
    if done.status == "completed":
        print("ended well", flush=True)
        return 0
    print(f"ended {done.kind}: {done.error}", flush=True)
    return 1


if __name__ == "__main__":
    try:
        sys.exit(main(Path(sys.argv[1])))
    except (SidingError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        raise SystemExit(1) from None
