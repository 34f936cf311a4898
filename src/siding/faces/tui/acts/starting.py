"""Start commands from the terminal: each in a process of its own, which goes on when this ends.

A process with threads cannot be forked, so the command line does it. Nothing is asked there: what
the policy would ask is refused, with its reason.
"""

import shlex
from collections.abc import Sequence
from pathlib import Path

from siding.agents.table import talks
from siding.ground.errors import UsageError
from siding.record.place.project import Project
from siding.record.place.wiring import App
from siding.running.apart import start_retry, start_run
from siding.undo.retry import RetryRequest, plan_retry, send_again


def start_task(app: App, directory: Path, line: str) -> str:
    """Run a command line in a new task of the repository in a directory; say what runs."""
    argv = words_of(line)
    return what_runs(start_run(app, directory, ["--new", *_terminal(argv)], argv))


def next_run(project: Project, task_id: str, line: str) -> str:
    """Run a command line in a task; say what runs."""
    argv = words_of(line)
    options = ["-t", task_id, *_terminal(argv)]
    return what_runs(start_run(project.app, project.paths.root, options, argv))


def retry_in_background(project: Project, task_id: str) -> str:
    """Go back to before the newest run or prompt and do it again; say what runs."""
    planned = plan_retry(project, RetryRequest(task=task_id, at_terminal=True))
    if planned.sends_to:
        is_told = send_again(project, planned)
        waits = "" if is_told else "; it has not begun on it yet"
        return f"sent to {planned.sends_to}: {planned.prompt}{waits}"
    options = ["-t", task_id, *_terminal(planned.run.argv), planned.step.id]
    return what_runs(start_retry(project.app, project.paths.root, options))


def words_of(line: str) -> list[str]:
    """Return the words of a command line. Raises UsageError where quotes do not end."""
    try:
        found = shlex.split(line)
    except ValueError as error:
        raise UsageError(f"the command cannot be read: {error}", hint="close the quotes") from None
    if not found:
        raise UsageError("no command was typed", hint="such as: claude -p 'fix the parser'")
    return found


def as_line(argv: Sequence[str]) -> str:
    """Return a command as a person types it; "" for none."""
    return shlex.join(argv) + " " if argv else ""


def _terminal(argv: Sequence[str]) -> list[str]:
    """Return the option for an agent that talks with a person: a terminal of its own."""
    return ["--tty"] if talks(argv) else []


def what_runs(told: str) -> str:
    """Return the first line that says what runs, of what a start in the background has said."""
    lines = [line for line in told.splitlines() if "runs in the background" in line]
    found = lines or told.splitlines()
    return found[0].removeprefix("siding: ") if found else "it runs in the background"
