"""Change the agent of a conversation: another one goes on, with the story so far as a text.

What is wanted is in the story before the present agent is ended, so a host that is killed between
the end of one and the start of the other goes on with the one that is wanted. The agent that left
keeps its own session; when it comes back it goes on with that, and is told what was said since.
"""

from collections.abc import Sequence
from pathlib import Path

from siding.agents.table import BY_NAME
from siding.agents.talking.port import TALKING, Hold
from siding.chat.alone import held_alone, writing
from siding.chat.conversations import ensure_host, put
from siding.chat.events import SwitchAsked
from siding.chat.handover import refuse_living, refuse_on_screen
from siding.chat.requests import SwitchTo
from siding.chat.store import Chat
from siding.chat.switching import carry_out, is_settled
from siding.chat.talk import Talk
from siding.ground.errors import UsageError
from siding.ground.process.lookup import Program, find_program
from siding.record.place.project import Project
from siding.record.tasks.task import Task


def switch(
    project: Project,
    task: Task,
    chat: Chat,
    agent: str,
    *,
    options: Sequence[str] = (),
    model: str = "",
    by: str,
    forced: bool = False,
) -> bool:
    """Have another agent go on when the turn has ended; tell whether it does so already.

    Raises UsageError, before anything is ended, if it cannot; and Lives.
    """
    talk = chat.talk()
    refuse_on_screen(chat)
    if agent == talk.agent and talk.switching is None:
        raise UsageError(
            f"{chat.id} is with {agent} already",
            hint="`siding chat switch` names another agent; `siding chat list` shows which it is",
        )
    wanted = SwitchTo(agent, _program(project, task, agent), tuple(options), model, forced)
    _refuse_cannot(project, task, talk, wanted)
    if not forced and chat.has_host():
        refuse_living(chat.id, talk.background)
    lock = held_alone(project, chat, "a change of its agent")
    if lock is not None:
        with lock:
            if is_settled(chat.talk()):
                with writing(project, chat) as story:
                    story.add(SwitchAsked(*wanted[:4], by, forced), now=True)
                carry_out(project, chat)
                return True
    put(project, chat, wanted, by=by)
    ensure_host(project, task, chat)
    return False


def _program(project: Project, task: Task, agent: str) -> tuple[str, ...]:
    """Return the program that starts an agent. Raises UsageError."""
    row = BY_NAME.get(agent)
    if row is None or TALKING.of(agent) is None:
        raise UsageError(
            f"{agent!r} cannot be held in a conversation",
            hint=f"these can: {', '.join(TALKING.agents)}",
        )
    where = _workspace(project, task)
    for each in row.programs:
        if isinstance(find_program((each,), project.app.env, where), Program):
            return (each,)
    raise UsageError(
        f"{agent} is not installed: there is no program {' or '.join(row.programs)} on the PATH",
        hint="`siding doctor` says which agents there are",
    )


def _workspace(project: Project, task: Task) -> Path:
    workspace = project.registry.of_task(task.id)
    if workspace is None:
        raise UsageError(f"task {task.name!r} has no workspace", hint="`siding worktree add`")
    return Path(workspace.path)


def _refuse_cannot(project: Project, task: Task, talk: Talk, wanted: SwitchTo) -> None:
    talking = TALKING.of(wanted.agent)
    assert talking is not None
    parked = talk.parked_of(wanted.agent)
    hold = Hold(
        program=wanted.program,
        cwd=_workspace(project, task),
        env=project.app.env,
        options=wanted.options or (() if parked is None else parked.options),
        model=wanted.model,
    )
    why_not = talking.opened(hold).why_not
    if why_not:
        raise UsageError(why_not)
