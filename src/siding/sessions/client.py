"""Go on with a session in the client that it is of, in the directory in which it was held.

A session of an open task goes on in `siding run`, so that it is recorded, and one of Siding's own
agent in the run that this makes. Any other one is the client's own affair: this process becomes
the client.
"""

import os
import re
import sys
import tempfile
from datetime import datetime
from pathlib import Path
from shlex import join, quote
from typing import NoReturn

from siding.agents.table import AGENTS, OUR_FORM
from siding.agents.transcripts.homes import HOME, FoundTranscript
from siding.agents.transcripts.interchange import (
    MOST_BYTES,
    give_out,
    give_out_copy,
    is_changed_here,
)
from siding.ground.errors import NotFound, SidingError, UsageError
from siding.ground.files.durable import create_bytes, make_dirs
from siding.ground.files.regular import read_bytes
from siding.ground.namedtuples import NamedTuple
from siding.ground.process.attached import become
from siding.record.place.project import Project, find_project
from siding.record.place.selection import select
from siding.record.place.wiring import App
from siding.record.tasks.task import Task, TaskState
from siding.sessions.lookup import OWN, FoundSession, Scope, SessionFilter, person_home, sessions
from siding.sessions.sessions import new_session_id
from siding.sessions.shelf import store_of

# An id comes from a file that anybody may have written: it could be an option.
_ID = re.compile(r"[0-9A-Za-z][0-9A-Za-z_-]{7,63}")


class Opening(NamedTuple):
    """How a session goes on. `task` is the name of the task in which it does, "" for none.

    `argv` are the client's own words, or what follows those of `siding` (`run`).
    """

    argv: tuple[str, ...]
    cwd: Path
    task: str
    run: tuple[str, ...] = ()  # the words of `siding` before it, if it goes on in a run
    written: Path | None = None  # the file in the client's home that was made for it
    is_unwritten: bool = False  # there is no such file yet: `run` makes it

    @property
    def line(self) -> str:
        """The command for a shell."""
        if self.run:
            return join(("siding", *self.run, *self.argv))
        return f"cd {quote(str(self.cwd))} && {join(self.argv)}"


def opening_of(app: App, scope: Scope, found: FoundSession, *, write: bool = True) -> Opening:
    """Return how the session goes on. One that its client does not have is written for it.

    Without `write` nothing is: the command for such a one is ours, which writes it. Raises NotFound
    and UsageError if it cannot go on.
    """
    if found.client == OWN:
        return _own(app, found)
    resumes = next((each.resumes for each in AGENTS if each.name == found.client), ())
    if not resumes or _ID.fullmatch(found.id) is None:
        raise UsageError(
            f"it is not known how {found.client} goes on with session {found.id!r}",
            hint="`siding session show` shows it",
        )
    cwd = _directory(found)
    written = None
    if is_only_here(scope, found):
        if not write:
            ours = ("-C", str(cwd), "session", "open")
            return Opening(argv=(found.id,), cwd=cwd, task="", run=ours, is_unwritten=True)
        found = copied_to_client(app, scope, found)
        written = found.path
    opening = Opening(argv=(*resumes, found.id), cwd=cwd, task="", written=written)
    chosen = _task_at(app, cwd)
    if chosen is None:
        return opening
    words = ("-C", str(cwd), "run", "--task", chosen.id, "--cwd", str(cwd), "--")
    return opening._replace(task=chosen.name, run=words)


def go_on(app: App, opening: Opening) -> NoReturn:
    """Become the client, or the `siding run` in which it runs. Raises CannotStart."""
    argv = opening.argv
    if opening.run:
        argv = (sys.executable, "-m", "siding", *opening.run, *opening.argv)
    become(argv, env=app.env, cwd=opening.cwd)


def _own(app: App, found: FoundSession) -> Opening:
    cwd = _directory(found)
    task = _task_at(app, cwd)
    of_task = ("--task", task.id) if task is not None else ()
    run = ("-C", str(cwd), "agent", *of_task)
    name = "" if task is None else task.name
    return Opening(argv=("--resume", found.id), cwd=cwd, task=name, run=run)


def _directory(found: FoundSession) -> Path:
    if not found.cwd or not os.path.isabs(found.cwd):
        raise NotFound(
            f"session {found.id!r} does not say in which directory it was held",
            hint=f"go there and start {found.client} yourself; `siding session show` shows it",
        )
    place = Path(found.cwd)
    if not place.is_dir():
        hint = f"make it again; or `siding session export {found.id}` and go on elsewhere"
        if found.task:
            hint = f"`siding task reopen {found.task}` brings the task's workspace back"
        raise NotFound(f"the directory of the session is gone: {found.cwd!r}", hint=hint)
    return place


def _task_at(app: App, cwd: Path) -> Task | None:
    """Return the open task whose workspace holds the directory."""
    project = _project_at(app, cwd)
    task = None if project is None else project.task_around(cwd)
    if project is None or task is None:
        return None
    try:
        chosen = select(project, task)
    except SidingError:  # its record is gone or damaged; the session can go on all the same
        return None
    return None if chosen.status is TaskState.CLOSED else chosen


def _project_at(app: App, place: Path) -> Project | None:
    """Return the project of the directory, whichever one the person stands in."""
    try:
        return find_project(app._replace(cwd=place, project=""))
    except SidingError:
        return None


def is_only_here(scope: Scope, found: FoundSession) -> bool:
    """Tell whether the client does not have the conversation as it is now."""
    if not found.is_stored or scope.project is None:
        return False
    return found.source is None or is_changed_here(found.path)


def copied_to_client(app: App, scope: Scope, found: FoundSession) -> FoundSession:
    """Write a conversation that is only here into its client's home; return what is there now.

    A branch in our own form keeps its id. Any other one is a copy with a new id, of what a model
    would be sent. Raises NotFound if nobody knows where the client looks for it.
    """
    assert scope.project is not None
    store, form = store_of(scope.project), found.client
    keeps_id = form == OUR_FORM and found.source is None
    target = found.id if keeps_id else new_session_id(app)
    place = _place(app, found)
    with tempfile.TemporaryDirectory(prefix=".siding-copy-", dir=scope.project.layout.root) as made:
        beside = Path(made)
        if keeps_id:
            written = give_out(store, found.id, form, beside / "out")
        else:
            written = give_out_copy(store, found.id, target, form, beside)
        make_dirs(place)
        for path in reversed(written):  # the transcript comes last: then all of it is there
            there = place / path.relative_to(beside / "out")
            make_dirs(there.parent)
            create_bytes(there, read_bytes(path, limit=MOST_BYTES))
    source = FoundTranscript(client=form, path=there, size=0, mtime_ns=0)
    return found._replace(id=target, path=there, source=source, is_stored=False)


def _place(app: App, found: FoundSession) -> Path:
    """Return the directory in which the client looks for conversations of this one's directory."""
    home = HOME.of(found.client)
    if home is not None:
        root = home.root(app.env, person_home(app))
        now = datetime.fromisoformat(app.now())
        place = home.place(root, found.cwd, now, lambda: _beside(app, found))
        if place is not None:
            return place
    raise NotFound(
        f"nobody knows where {found.client} looks for session {found.id!r}",
        hint=f"`siding session export {found.id} --to {found.client} -o DIRECTORY` writes it "
        "(`siding session export --help`)",
    )


def _beside(app: App, found: FoundSession) -> Path | None:
    """Return where another conversation of the same directory lies."""
    everywhere = Scope(project=None, roots=None)
    others = sessions(app, everywhere, SessionFilter(client=found.client, hidden=True)).rows
    for each in others:
        if each.source is not None and each.cwd == found.cwd:
            return each.source.path.parent
    return None
