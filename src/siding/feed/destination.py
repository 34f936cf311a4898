"""Where an address leads: the project, and what is named in it, which is there."""

from shlex import quote

from siding.asking.lookup import get
from siding.feed.addresses import ASKS, WORKFLOWS, Address, is_chat_id, parsed
from siding.ground.namedtuples import NamedTuple
from siding.record.place.named_task import resolve
from siding.record.place.project import Project, named_project
from siding.record.place.wiring import App, home_hidden, home_is_hidden
from siding.record.recording.steps import step


class Destination(NamedTuple):
    """A place that is there. `command` shows it in a terminal."""

    address: Address  # with ids in the place of names
    project: Project
    command: str


def destination(app: App, text: str) -> Destination:
    """Return where an address leads.

    The project may be named as people call it, and the task by a part of its name, as for any
    command. Raises UsageError, and NotFound for what is not there.
    """
    named = parsed(text)
    if home_is_hidden(app):
        raise home_hidden()
    project = named_project(app._replace(project=named.project))
    address, words = _in_project(project, named)
    name = project.layout.root.name
    command = f"siding --project {quote(name)} {words}"
    return Destination(address._replace(project=name), project, command)


def _in_project(project: Project, named: Address) -> tuple[Address, str]:
    """Return the address with ids in it, and the words of a command that shows what it names."""
    match named.place:
        case "":
            return named, "task list"
        case place if place == ASKS and named.rest:
            found = get(project, named.rest)
            return named, f"decide show {found.session_id}"
        case place if place == ASKS:
            return named, "inbox --here"
        case place if place == WORKFLOWS and named.rest:
            from siding.workflows.store import RunFolders

            run = RunFolders.of(project).find(named.rest)
            return named._replace(rest=run.run_id), f"workflow show {run.run_id}"
        case place if place == WORKFLOWS:
            return named, "workflow list"
    task = resolve(project, named.place)
    if not named.rest:
        return named._replace(place=task.id), f"show -t {task.id}"
    if is_chat_id(named.rest):
        from siding.chat.store import Chats

        chat = Chats(project.task_layout(task.id)).find(named.rest)
        words = f"chat show -c {chat.id} -t {task.id}"
        return named._replace(place=task.id), words
    _task, one = step(project, task.id, named.rest)
    return named._replace(place=task.id, rest=str(one.number)), f"show {one.number} -t {task.id}"
