"""Acts that need the terminal itself: an agent that talks, and the push of a pull request.

The screen is put aside while they work, as for attaching: what runs has the whole terminal.
"""

from collections.abc import Callable

from textual.app import App, SuspendNotSupported

from siding.applying.pull_request import (
    PreparedPullRequest,
    PullRequestRequest,
    prepare,
)
from siding.faces.plans.acts import shown_plan
from siding.faces.plans.again import request_of_retry
from siding.faces.plans.plan import ActRequest
from siding.faces.tui.places.task.reading import Opened
from siding.faces.tui.rows.lines import Pieces
from siding.faces.tui.rows.styles import TEXT
from siding.faces.tui.text import inert
from siding.ground.errors import SidingError, counted
from siding.running.apart import start_retry
from siding.running.run import StdinPlan, Terminal
from siding.undo.retry import PlannedRetry, plan_retry, retry

_BACK = "enter goes back to Siding "


def in_terminal(app: App[int], title: str, act: Callable[[], str]) -> str:
    """Put the screen aside, carry an act out in the terminal, and return what it said.

    A failure is said there and returned; the person sees the end of what was printed.
    """
    try:
        with app.suspend():
            return _shown(title, act)
    except SuspendNotSupported:
        return act()


def _shown(title: str, act: Callable[[], str]) -> str:
    print(f"siding: {inert(title)}", flush=True)
    try:
        said = act()
    except SidingError as error:
        said = f"{error.message}\n{error.hint}" if error.hint else error.message
    except KeyboardInterrupt:
        said = "interrupted"
    print(f"siding: {inert(said, lines=True)}", flush=True)
    try:
        input(_BACK)
    except (EOFError, KeyboardInterrupt):
        pass
    return said


def planned_again(opened: Opened, wish: ActRequest, digest: str) -> PlannedRetry:
    """Return what is done again, if it is still the plan that was shown. Raises Changed."""
    project, task = opened
    shown_plan(project, task.id, wish, digest)
    return plan_retry(project, request_of_retry(task.id, wish, at_terminal=True))


def run_again(opened: Opened, planned: PlannedRetry, *, force: bool) -> str:
    """Go back and run the command in the terminal; return how it ended."""
    terminal = Terminal(stdin=StdinPlan.TERMINAL, pty=True, out=1, err=2)
    done = retry(opened.project, planned, terminal, force=force)
    step = f"step {done.step.id}" if done.step is not None else "not recorded"
    return f"{step} · exit {done.exit_code}"


def run_apart(opened: Opened, wish: ActRequest) -> str:
    """Go back and run the command in the background, where it outlives the screen."""
    project, task = opened
    options = ["-t", task.id, *(["-f"] if wish.force else []), wish.step]
    again = ["--", *wish.argv] if wish.argv else []
    return start_retry(project.app, project.paths.root, [*options, *again])


def prepared(opened: Opened) -> PreparedPullRequest:
    """Return what would be pushed, and the text of the pull request."""
    return prepare(opened.project, PullRequestRequest(task=opened.task.id))


def lines_of_pull_request(found: PreparedPullRequest) -> list[Pieces]:
    """Return what would be pushed, as the person reads it before it is."""
    lines: list[Pieces] = [
        [(f"{inert(found.branch)} to {inert(found.remote)}, for {inert(found.base)}", "heading")],
        [(f"{counted(found.new_commits, 'commit')}, the last {found.commit[:12]}", TEXT)],
    ]
    if found.note:
        lines.append([(inert(found.note), "warn")])
    lines += [
        [(f"left out: {each.sha[:10]} {inert(each.subject)}", "warn")] for each in found.gone_back
    ]
    lines += [
        [("run later by other programs: ", "warn"), (inert(each.path), TEXT)]
        for each in found.traps
    ]
    lines += [[("", TEXT)], [(inert(found.title), "bold")]]
    return [*lines, *([(inert(line), TEXT)] for line in found.body.split("\n"))]
