"""Read what is said about a place: its project, its task, and the newest conversation there."""

import os
import uuid
from pathlib import Path

from siding import __version__
from siding.chat.store import Chat, Chats
from siding.chat.story import StoryReader
from siding.chat.talk import Talk
from siding.ground.errors import NoActiveTask, SidingError
from siding.ground.git.errors import NotARepository
from siding.ground.storage.fields import text
from siding.record.place.project import Project, find_project, named_project
from siding.record.place.quantities import parsed
from siding.record.place.selection import select
from siding.record.place.task_workspace import workspace_of
from siding.record.place.wiring import App
from siding.record.runs.reported import read_reported
from siding.record.tasks.task import Task
from siding.statusline.document import Facts, TokenUse, Worktree
from siding.statusline.place import Place
from siding.statusline.settings import LineSettings, files_of, settings_here

# Not a secret: it makes the same id of the same place.
_SESSIONS = uuid.UUID("6f0f1f0e-7a51-4d0e-9f0a-3a52c4d7e0b1")


def place_here(app: App, named: str | None) -> Place:
    """Return what the line is about for a command: the task that is named, else the terminal's.

    Without one it is about the project, without a project about none. Raises NotFound.
    """
    try:
        project = find_project(app)
    except NotARepository:
        project = None
    if project is None:
        return Place()
    name = project.layout.root.name
    try:
        return Place(project=name, task=str(select(project, named).id))
    except NoActiveTask:
        return Place(project=name)


def settings_at(app: App, place: Place) -> LineSettings:
    """Return the settings that count. Raises SidingError and OSError.

    Without a project they are those of Siding's home: all projects are shown then.
    """
    return settings_here(app, _project(app, place))


def files_at(app: App, place: Place) -> tuple[Path, ...]:
    """Return the files that these settings are read from. Raises SidingError."""
    return files_of(app, _project(app, place))


def facts_at(app: App, place: Place) -> Facts:
    """Return what is known at a place. Raises SidingError and OSError."""
    project = _project(app, place)
    if project is None or not place.task:
        return _without_task(app, project, place)
    return _of_task(project, select(project, place.task), place)


def _project(app: App, place: Place) -> Project | None:
    if not place.project:
        return None
    # What is wrong with a project is said by who opens it.
    return named_project(app._replace(project=place.project, warn=_nobody))


def _without_task(app: App, project: Project | None, place: Place) -> Facts:
    root = app.cwd if project is None else project.paths.root
    return Facts(
        session_id=str(uuid.uuid5(_SESSIONS, str(root))),
        cwd=str(root),
        project_dir=str(root),
        version=__version__,
        siding=place.siding,
    )


def _of_task(project: Project, task: Task, place: Place) -> Facts:
    workspace = workspace_of(project, task)
    root = str(project.paths.root)
    is_there = workspace is not None and os.path.isdir(workspace.path)
    cwd = workspace.path if workspace is not None and is_there else root
    facts = Facts(
        session_id=str(uuid.uuid5(_SESSIONS, f"{root}\0{task.id}")),
        session_name=task.name,
        cwd=cwd,
        project_dir=root,
        version=__version__,
        began_s=_seconds(task.created_at),
        lines_added=place.lines_added,
        lines_removed=place.lines_removed,
        worktree=None
        if workspace is None
        else Worktree(workspace.name, workspace.path, task.branch, root, task.base_ref),
        siding={**place.siding, "task": str(task.id), "task_name": task.name},
    )
    chats = Chats(project.task_layout(task.id)).all()
    return _with_conversation(facts, project, task, chats[-1]) if chats else facts


def _with_conversation(facts: Facts, project: Project, task: Task, chat: Chat) -> Facts:
    try:
        talk = chat.present()
    except (SidingError, OSError):  # the feed says that it cannot be read
        return facts
    spent = talk.spent_in_all
    return facts._replace(
        session_id=talk.session or facts.session_id,
        session_name=talk.title or facts.session_name,
        transcript_path=_transcript(project, task, talk),
        model=talk.model,
        mode=talk.mode,
        effort=talk.effort,
        agent=talk.agent,
        dollars=round(spent.dollars, 6),
        began_s=_begun(chat) or facts.began_s,
        input_tokens=spent.input + spent.cached,
        output_tokens=spent.output,
        window=talk.window,
        use=use_of(talk),
        siding={**facts.siding, "chat": chat.id, "standing": talk.standing.value},
    )


def use_of(talk: Talk) -> TokenUse | None:
    """Return the tokens of the newest request; None before there was one.

    An agent says how full the window is, and what the whole turn has used: what was sent is
    divided into new and cached tokens as those of the turn are.
    """
    if not talk.context:
        return None
    sent = talk.input_tokens + talk.cached_tokens
    cached = round(talk.context * talk.cached_tokens / sent) if sent else 0
    return TokenUse(
        input_tokens=talk.context - cached,
        output_tokens=talk.output_tokens,
        cache_read_input_tokens=cached,
    )


def _transcript(project: Project, task: Task, talk: Talk) -> str:
    if not talk.run:
        return ""
    found = read_reported(project.task_layout(task.id), talk.run)
    return "" if found is None else found.transcript


def _begun(chat: Chat) -> float | None:
    """Return when a conversation began: its first line says so."""
    try:
        reader = StoryReader(chat.story)
    except FileNotFoundError:
        return None
    try:
        first = next(iter(reader.records()), None)
    finally:
        reader.close()
    return None if first is None else _seconds(text(first.get("at")))


def _seconds(moment: str) -> float | None:
    found = parsed(moment)
    return None if found is None else found.timestamp()


def cwd_of(facts: Facts, app: App) -> Path:
    """Return the directory that the command runs in: one that is there."""
    for each in (facts.cwd, facts.project_dir, str(app.cwd)):
        if each and os.path.isdir(each):
            return Path(each)
    return Path("/")


def env_of(app: App, facts: Facts, *, columns: int, rows: int) -> dict[str, str]:
    """Return the environment of the command: that of the terminal, its size, and the project.

    Scripts for another program's line ask for the project by that program's name for it.
    """
    return {
        **app.env,
        "COLUMNS": str(columns),
        "LINES": str(rows),
        "CLAUDE_PROJECT_DIR": facts.project_dir,
        "SIDING_PROJECT_DIR": facts.project_dir,
    }


def _nobody(sentence: str) -> None:
    del sentence
