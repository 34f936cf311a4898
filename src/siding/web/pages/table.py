"""The addresses of all pages, and of the pieces that pages fetch later."""

from collections.abc import Callable

from siding.web.ask import Ask
from siding.web.pages import board, decisions, disk, events, sessions, step, task
from siding.web.rendering import Page

Handler = Callable[[Ask], Page | str]

PAGES: dict[str, Handler] = {
    "/": board.board,
    "/tasks/{task}": task.task,
    "/tasks/{task}/changes": step.changes,
    "/tasks/{task}/steps/{step}": step.step,
    "/decisions": decisions.listed,
    "/decisions/{decision}": decisions.one,
    "/inbox": decisions.inbox,
    "/phases": decisions.phases,
    "/sessions": sessions.listed,
    "/sessions/{session}": sessions.one,
    "/events": events.newest,
    "/disk": disk.use,
}
PIECES: dict[str, Handler] = {
    "/totals": board.totals,
    "/new-task": board.new_task,
    "/tasks/{task}/plan": task.plan,
    "/tasks/{task}/changes/files": step.files,
    "/tasks/{task}/changes/rows": step.rows,
    "/tasks/{task}/steps/{step}/output": step.output,
    "/tasks/{task}/steps/{step}/files": step.files,
    "/tasks/{task}/steps/{step}/rows": step.rows,
}
