"""Host a conversation and be killed at the n-th thing that the host does.

    python host.py HOME-DIRECTORY TASK CHAT MOMENT PLACE

MOMENT counts what the host does; at 0 it is not killed. Before it is killed it writes what it was
about to do, or had done, to PLACE. Each line of the story is three moments: before it, when half of
it is written, and behind it.
"""

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import Any

import siding.asking.question
import siding.chat.conversations
import siding.chat.story
import siding.chat.waiter
from siding.chat.host import Host
from siding.chat.requests import Requests
from siding.chat.store import Chat
from siding.chat.turns import TurnRecorder
from siding.chat.writer import StoryWriter
from siding.ground.ids import TaskId
from siding.record.place.project import require_project
from siding.record.place.wiring import open_app
from siding.running.hosting import Hosted


class Moments:
    """Counts, and kills."""

    def __init__(self, wanted: int, place: Path) -> None:
        self._left = wanted
        self._place = place
        self._lock = Lock()
        self.is_host = False

    def come(self) -> bool:
        """Count a moment; return whether it is the one, for those who kill themselves."""
        if not self.is_host:
            return False
        with self._lock:
            self._left -= 1
            return self._left == 0

    def kill(self, what: str) -> None:
        self._place.write_text(what)
        os.kill(os.getpid(), signal.SIGKILL)

    def around(self, owner: Any, name: str) -> None:
        """Have a moment before and one behind a function."""
        inner: Callable[..., Any] = getattr(owner, name)

        def counted(*arguments: Any, **more: Any) -> Any:
            about = self._about(arguments)
            if self.come():
                self.kill(f"before {name}{about}")
            found = inner(*arguments, **more)
            if self.come():
                self.kill(f"behind {name}{about}")
            return found

        setattr(owner, name, counted)

    def torn(self, owner: Any, name: str) -> None:
        """Have a moment when half of the bytes are written."""
        inner: Callable[..., Any] = getattr(owner, name)

        def counted(fd: int, data: bytes) -> Any:
            if self.come():
                os.write(fd, data[: len(data) // 2])
                self.kill(f"half of {data[:60]!r}")
            return inner(fd, data)

        setattr(owner, name, counted)

    def _about(self, arguments: tuple[Any, ...]) -> str:
        named = [type(each).__name__ for each in arguments if hasattr(each, "_fields")]
        return f" {named[0]}" if named else ""


def main(task: str, chat: str, moment: str, place: str) -> None:
    project = require_project(open_app(env=dict(os.environ), cwd=Path.cwd()))
    moments = Moments(int(moment), Path(place))
    moments.around(StoryWriter, "_write")
    moments.torn(siding.chat.story, "write_all")
    moments.around(siding.chat.story, "flush")
    for owner, name in (
        (Requests, "done"),
        (Hosted, "send"),
        (Hosted, "end_input"),
        (TurnRecorder, "_begin"),
        (TurnRecorder, "_end"),
        (siding.chat.waiter, "ask"),
        (siding.chat.waiter, "answer_of"),
        (Host, "_settle"),
        (Host, "_close"),
        (Chat, "forget_prompt"),
    ):
        moments.around(owner, name)
    conversations: Any = siding.chat.conversations
    hold = conversations.hold

    def held(*arguments: Any) -> None:
        moments.is_host = True
        hold(*arguments)

    conversations.hold = held
    conversations.ensure_host(project, project.tasks.load(TaskId(task)), Chat(Path(chat)))


if __name__ == "__main__":
    main(*sys.argv[1:])
