"""Serve one client over standard input and output: the edge of `connection`.

Each session is followed as any viewer follows a conversation. When the client is gone this ends,
and the agents go on; the client, or another one, loads the sessions again.
"""

import os
import select
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path, PurePath

from siding.chat.face import (
    Conversation,
    Conversations,
    McpServer,
    OpenAsk,
    Reply,
    abilities_of,
)
from siding.chat.outcome import TooLate
from siding.chat.watching import Watch
from siding.faces.acp.blocks import Said
from siding.faces.acp.connection import Connection
from siding.faces.acp.ports import Opened, Row
from siding.ground.errors import NotFound, SidingError
from siding.ground.namedtuples import NamedTuple
from siding.record.place.project import Project, ensure_project, require_project
from siding.record.place.wiring import App
from siding.sandbox.request import SandboxRequest

BY = "editor"
_READ = 1 << 16
_LOOKS_EVERY_S = 0.5  # while the client waits for something
_LOOKS_SELDOM_S = 2.0
_READY_WITHIN_S = 60.0
_LINES_AT_ONCE = 256


class NewSessions(NamedTuple):
    """How a new session begins."""

    agent: str
    task: str | None = None
    new_task: str | None = None
    model: str = ""
    options: tuple[str, ...] = ()
    sandbox: SandboxRequest | None = None


class _Followed:
    """A conversation that a client has opened."""

    def __init__(self, talk: Conversation) -> None:
        self.talk = talk
        self.watch = Watch(talk.chat)
        self.since = time.monotonic()
        self.was_late = False


class HomeDesk:
    """The conversations of a home, as the connection needs them."""

    def __init__(self, app: App, new: NewSessions) -> None:
        self._app, self._new = app, new
        self.followed: dict[str, _Followed] = {}

    def begin(self, cwd: PurePath, servers: Sequence[McpServer]) -> Opened:
        project, _made = ensure_project(self._app._replace(cwd=Path(cwd)))
        self._let_go()
        new = self._new
        talk = Conversations(project, by=BY).begin(
            new.agent,
            task=new.task,
            new_task=new.new_task,
            model=new.model,
            options=new.options,
            sandbox=new.sandbox,
            servers=servers,
        )
        return self._opened(talk)

    def find(self, session: str, cwd: PurePath) -> Opened:
        task, _, chat = session.rpartition(".")
        project = self._project(cwd)
        if project is None or not task or task not in project.tasks.ids():
            raise NotFound(
                f"there is no session {session!r} in the project at {str(cwd)!r}",
                hint="`session/list` lists them",
            )
        return self._opened(Conversations(project, by=BY).find(chat, task=task))

    def give_servers(self, session: str, servers: Sequence[McpServer]) -> bool:
        return self.followed[session].talk.give_servers(servers)

    def leave(self, session: str) -> None:
        found = self.followed.pop(session, None)
        if found is not None:
            found.watch.close()

    def rows(self, cwd: PurePath | None) -> Sequence[Row]:
        project = self._project(cwd if cwd is not None else self._app.cwd)
        if project is None:
            return ()
        found = [_row(each) for each in Conversations(project).all()]
        return sorted(found, key=lambda row: row.updated, reverse=True)

    def hold(self, session: str) -> None:
        self._let_go()
        self.followed[session].talk.hold()

    def give(self, session: str, said: Said) -> str:
        self._let_go()
        return self.followed[session].talk.send(said.words, pictures=said.pictures)

    def drop(self, session: str, prompt: str) -> None:
        with suppress(TooLate):
            self.followed[session].talk.drop(prompt)

    def stop(self, session: str) -> None:
        talk = self.followed[session].talk
        if talk.chat.has_host():
            talk.stop(waits=False)

    def end(self, session: str) -> None:
        talk = self.followed[session].talk
        if talk.chat.has_host():
            talk.end()

    def set(self, session: str, kind: str, value: str) -> None:
        self._let_go()
        talk = self.followed[session].talk
        talk.set(**{kind: value})
        talk.hold()

    def answer(self, session: str, ask: OpenAsk, reply: Reply) -> None:
        self.followed[session].talk.reply(ask, reply)

    def picture(self, session: str, name: str) -> bytes | None:
        try:
            return (self.followed[session].talk.chat.files / name).read_bytes()
        except OSError:
            return None

    def has_host(self, session: str) -> bool:
        return self.followed[session].talk.chat.has_host()

    def _project(self, cwd: PurePath) -> Project | None:
        with suppress(SidingError):
            return require_project(self._app._replace(cwd=Path(cwd)))
        return None

    def _opened(self, talk: Conversation) -> Opened:
        session = _session_of(talk)
        self.leave(session)
        self.followed[session] = _Followed(talk)
        return Opened(
            session=session,
            task=talk.task.name,
            chat=talk.id,
            agent=talk.talk.agent,
            workspace=str(talk.workspace),
            root=str(_checkout(talk.project)),
        )

    def _let_go(self) -> None:
        """Let the process of a new host have no connection to the other ones."""
        for each in self.followed.values():
            each.watch.let_go()


def serve(app: App, new: NewSessions) -> int:
    """Serve the client at standard input and output until it is gone."""
    sys.stdout = sys.stderr  # what is printed is no message of the protocol
    desk = HomeDesk(app, new)
    connection = Connection(desk, abilities_of(new.agent))
    try:
        while True:
            _write(connection.to_send())
            _tell(desk, connection)
            _write(connection.to_send())
            if not _wait(desk, connection):
                return 0
    except BrokenPipeError:
        return 0


def _wait(desk: HomeDesk, connection: Connection) -> bool:
    """Wait until there may be something to do, and read what the client says; False at its end."""
    poller = select.poll()
    poller.register(0, select.POLLIN)
    for each in desk.followed.values():
        if each.watch.fileno() >= 0:
            poller.register(each.watch.fileno(), select.POLLIN)
    is_waited_for = any(each.is_waited_for for each in connection.sessions.values())
    seconds = _LOOKS_EVERY_S if is_waited_for else _LOOKS_SELDOM_S
    ready = poller.poll(seconds * 1000 if desk.followed else None)
    if 0 in {fd for fd, _ in ready}:
        data = os.read(0, _READ)
        connection.receive(data)
        return bool(data)
    return True


def _tell(desk: HomeDesk, connection: Connection) -> None:
    """Tell the client what is new in the stories."""
    for session in list(desk.followed):
        followed = desk.followed[session]
        followed.watch.connect()
        for number, line in enumerate(followed.watch.records(), start=1):
            connection.told(session, line)
            if number % _LINES_AT_ONCE == 0:
                _write(connection.to_send())  # a long story is not kept in memory
        connection.caught_up(session)
        now_s = time.monotonic()
        is_waited_for = connection.sessions[session].is_waited_for
        has_host = not is_waited_for or desk.has_host(session)
        connection.tick(session, has_host=has_host, now_s=now_s)
        if not followed.was_late and now_s > followed.since + _READY_WITHIN_S:
            followed.was_late = True
            connection.late(session)


def _write(data: bytes) -> None:
    while data:
        data = data[os.write(1, data) :]


def _checkout(project: Project) -> Path:
    """Return the checkout whose files the client names: the one that it works in."""
    checkout = project.checkout
    return project.paths.root if checkout is None else checkout.root


def _session_of(talk: Conversation) -> str:
    return f"{talk.task.id}.{talk.id}"


def _row(talk: Conversation) -> Row:
    changed = talk.chat.story.stat().st_mtime if talk.chat.story.exists() else 0.0
    updated = datetime.fromtimestamp(changed, UTC).isoformat(timespec="seconds")
    root = str(talk.project.paths.root)
    return Row(_session_of(talk), root, talk.chat.talk().title, updated)
