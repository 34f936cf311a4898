"""The effort of the agent in a task's newest conversation: read, and changed. In a thread."""

from siding.chat.abilities import abilities_of
from siding.chat.requests import Change
from siding.chat.settings import change
from siding.chat.store import Chat, Chats
from siding.faces.tui.effort.model import Panel, Position, level_of, opened
from siding.feed.addresses import Address
from siding.ground.errors import SidingError, UsageError
from siding.record.place.project import Project, named_project
from siding.record.place.selection import select
from siding.record.place.wiring import App
from siding.record.recording.steps import Task

_BY = "terminal"


def read_effort(app: App, address: Address) -> Panel:
    """Return the panel for a task. Raises NotFound if there is none, or no conversation in it."""
    _project, task, chat = _found(app, address)
    talk = chat.present()
    can = abilities_of(talk.agent)
    panel = opened(
        talk.effort,
        about=f"{talk.agent} · {task.name}",
        variable=can.effort_variable,
        override=app.env.get(can.effort_variable, "") if can.effort_variable else "",
    )
    if can.efforts:
        return panel
    return panel._replace(refusal=f"The effort of {talk.agent} cannot be set in a conversation.")


def set_effort(app: App, address: Address, level: Position) -> str:
    """Change the effort; return what holds now, in a sentence. Raises UsageError."""
    project, task, chat = _found(app, address)
    before = chat.present()
    variable = abilities_of(before.agent).effort_variable
    done = change(project, task, chat, Change(effort=level.value), by=_BY)
    if done.trouble:
        raise SidingError(
            f"{before.agent} has not changed its effort: {done.trouble}",
            hint=f"what holds: {done.talk.effort or 'as its model is used to'}",
        )
    said = f"{before.agent}: effort {level}"
    override = app.env.get(variable, "") if variable else ""
    if override and level_of(override) is not level:
        return f"{said} is asked for, and {variable}={override} goes before it"
    if done.is_read_back and done.talk.effort != level:
        return f"{said} was asked for; it says {done.talk.effort or 'nothing of it'}"
    if done.is_read_back:
        return f"{said}, as it says itself"
    if done.has_agent:
        return f"{said}: it is told, and has not said what holds"
    return f"{said} from the next prompt on"


def _found(app: App, address: Address) -> tuple[Project, Task, Chat]:
    if not address.project or not address.place:
        raise UsageError("no task is chosen", hint="go to a row of a task first")
    project = named_project(app._replace(project=address.project))
    task = select(project, address.place)
    return project, task, Chats(project.task_layout(task.id)).find("")
