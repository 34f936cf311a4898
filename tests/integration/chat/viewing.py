"""Viewers of a conversation, each a process of its own, and how their output is read."""

import fcntl
import os
import re
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO

from integration.chat.talks import Conversation
from sandbox import SIDING

_PIPE_BYTES = 4096  # so that who is not read is soon made to wait
_NUMBER = re.compile(rb'"seq":([0-9]+)')
# The same viewer as a Python program, which prints what it is given as the story has it.
_FACE = """
import sys
from siding.chat.face import conversations_at
from siding.ground.storage.writes import encode_line
for event in conversations_at(".").find(task="talk").follow(since=int(sys.argv[1])):
    sys.stdout.buffer.write(encode_line(event) + b"\\n")
    sys.stdout.buffer.flush()
"""


class Viewer:
    """`siding chat show --follow --json`, or the Python face, and what was read of it."""

    def __init__(self, talk: Conversation, *, after: int = 0, is_face: bool = False) -> None:
        command = [*SIDING, "chat", "show", "--follow", "--json", "--after", str(after)]
        face = [sys.executable, "-c", _FACE, str(after)]
        self.process = subprocess.Popen(
            face if is_face else command,
            cwd=talk.sandbox.repo,
            env=talk.sandbox.env,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        assert self.process.stdout is not None
        self.out: IO[bytes] = self.process.stdout
        if hasattr(fcntl, "F_SETPIPE_SZ"):
            fcntl.fcntl(self.out, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
        self.seen = bytearray()

    def read(self, most: int) -> int:
        data = os.read(self.out.fileno(), most)
        self.seen += data
        return len(data)

    def signal(self, number: int) -> None:
        os.kill(self.process.pid, number)

    def rest(self) -> bytes:
        """Read until the viewer ends, as the conversation has."""
        with self.out:
            self.seen += self.out.read()
        assert self.process.wait(60) == 0
        return bytes(self.seen)

    def killed(self) -> bytes:
        """Kill it, and return the whole lines that were read of it."""
        self.signal(signal.SIGKILL)
        with self.out:
            self.seen += self.out.read()
        self.process.wait(60)
        return bytes(self.seen[: self.seen.rfind(b"\n") + 1])


class Reading:
    """Reads viewers while the test goes on. `result` waits for all that was read."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1)
        self._found = self._pool.submit(self.read_all)

    def read_all(self) -> bytes:
        raise RuntimeError("a reading says how it reads")

    def result(self) -> bytes:
        with self._pool:
            return self._found.result(90)


class Slowly(Reading):
    """Reads one viewer a little at a time until `hurries` is set, and then as fast as it can.

    `peak` is the most memory that the viewer has had, in bytes.
    """

    def __init__(self, viewer: Viewer, hurries: threading.Event) -> None:
        self._viewer, self._hurries = viewer, hurries
        self.peak = 0
        super().__init__()

    def read_all(self) -> bytes:
        pid = self._viewer.process.pid
        while not self._hurries.wait(0.02):
            self._viewer.read(1024)
        while self._viewer.read(1 << 20):
            self.peak = max(self.peak, peak_of(pid))
        return self._viewer.rest()


class KilledAgain(Reading):
    """Reads a viewer that is killed so many times, at other moments each, and goes on each time
    from the number that it had."""

    def __init__(self, talk: Conversation, times: int) -> None:
        self._talk, self._times = talk, times
        self.was_killed = threading.Event()  # as often as it is to be
        super().__init__()

    def read_all(self) -> bytes:
        story = b""
        for time in range(self._times):
            viewer = self._viewer(story, time)
            viewer.read(1)
            patience = threading.Timer(0.013 * time, viewer.signal, [signal.SIGKILL])
            patience.start()
            while viewer.read(1 << 16):
                pass
            patience.join()
            story += viewer.killed()
        self.was_killed.set()
        return story + self._viewer(story, self._times).rest()

    def _viewer(self, story: bytes, time: int) -> Viewer:
        numbers = _NUMBER.findall(story[story.rfind(b"\n", 0, -1) + 1 :])
        after = int(numbers[0]) if numbers else 0
        return Viewer(self._talk, after=after, is_face=time % 2 == 1)


def peak_of(pid: int) -> int:
    """Return the most memory that a process has had, in bytes; 0 where no one says it."""
    try:
        text = Path(f"/proc/{pid}/status").read_text("ascii")
    except OSError:
        return 0
    found = re.search(r"^VmHWM:\s*(\d+) kB", text, re.MULTILINE)
    return int(found[1]) << 10 if found else 0
