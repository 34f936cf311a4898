"""Viewers that are slow, late or killed: each has the same story, and the host waits for none."""

import os
import signal
import subprocess
import threading
from pathlib import Path
from typing import IO

from integration.chat.talks import Conversation
from sandbox import SIDING

_PIECES = 3000  # of 100 bytes: more than a pipe holds


class Viewer:
    """`siding chat show --follow --json`, and what was read of it."""

    def __init__(self, talk: Conversation) -> None:
        words = [*SIDING, "chat", "show", "--follow", "--json"]
        self.process = subprocess.Popen(
            words,
            cwd=talk.sandbox.repo,
            env=talk.sandbox.env,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        assert self.process.stdout is not None
        self.out: IO[bytes] = self.process.stdout
        self.seen = b""

    def read(self, most: int) -> None:
        self.seen += os.read(self.out.fileno(), most)

    def rest(self) -> bytes:
        """Read until the viewer ends, as the conversation has."""
        with self.out:
            self.seen += self.out.read()
        assert self.process.wait(60) == 0
        return self.seen


def test_slow_late_and_killed_viewers_have_one_story(talk: Conversation) -> None:
    talk.begin("say first")
    slow, killed = Viewer(talk), Viewer(talk)
    slow.read(1)  # and no more until the end: its pipe is full long before
    killed.read(100)
    line = "say " + "x" * 95
    talk.says("send", "-", stdin="\n".join([line] * _PIECES).encode())
    talk.turns(2)  # though one viewer reads nothing
    late = Viewer(talk)
    late.read(1)
    os.kill(killed.process.pid, signal.SIGKILL)
    with killed.out:
        killed.seen += killed.out.read()
    killed.process.wait(60)
    talk.says("send", "say last")
    talk.until_text("last")
    talk.end()

    found: dict[str, bytes] = {}
    threads = [
        threading.Thread(target=lambda n=name, v=viewer: found.update({n: v.rest()}))
        for name, viewer in (("slow", slow), ("late", late))
    ]
    for each in threads:
        each.start()
    for each in threads:
        each.join(60)
    (story,) = Path(talk.sandbox.project).glob("tasks/*/chats/c1/story.jsonl")
    whole = story.read_bytes()
    assert len(whole) > 100 * _PIECES
    assert found == {"slow": whole, "late": whole}
    assert whole.startswith(killed.seen)
