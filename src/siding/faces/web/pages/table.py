"""The addresses of all pages, and of the pieces that pages fetch later."""

from collections.abc import Callable

from siding.faces.web.ask import Ask
from siding.faces.web.pages import board, decisions, disk, events, sessions, step, task, workflows
from siding.faces.web.rendering import Page

Handler = Callable[[Ask], Page | str]

PAGES: dict[str, Handler] = {
    "/": board.board,
    "/tasks/{task}": task.task,
    "/tasks/{task}/changes": step.changes,
    "/tasks/{task}/steps/{step}": step.step,
    "/decisions": decisions.listed,
    "/decisions/{decision}": decisions.one,
    "/workflows": workflows.listed,
    "/workflows/{run}": workflows.one,
    "/workflows/{run}/agents/{agent}": workflows.agent,
    "/inbox": decisions.inbox,
    "/phases": decisions.phases,
    "/sessions": sessions.listed,
    "/sessions/{session}": sessions.one,
    "/events": events.newest,
    "/disk": disk.use,
}
# Pages that are made once for all browsers. The live stream changes the page of a run in place, and
# one that was made a moment earlier would undo that.
SHARED = frozenset(path for path in PAGES if not path.startswith("/workflows"))
PIECES: dict[str, Handler] = {
    "/totals": board.totals,
    "/new-task": board.new_task,
    "/tasks/{task}/plan": task.plan,
    "/workflow-script": workflows.script,
    "/workflows/{run}/act": workflows.act,
    "/workflows/{run}/script": workflows.script_of_run,
    "/tasks/{task}/changes/files": step.files,
    "/tasks/{task}/changes/rows": step.rows,
    "/tasks/{task}/steps/{step}/output": step.output,
    "/tasks/{task}/steps/{step}/files": step.files,
    "/tasks/{task}/steps/{step}/rows": step.rows,
}
