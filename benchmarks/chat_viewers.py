"""What viewers of a conversation cost its host, and themselves, while an agent says much.

One is read as it goes on, one at 1 kB a second, one is stopped, one begins late, and one is killed
again and again and goes on from the number that it had. All have the story of the file, to the
byte. Read at 1 kB a second to its end a story of this size takes more than an hour: that viewer is
read so while the agent speaks and `SLOW_S` longer, and then as fast as it goes.
"""

import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.bench import Bench, Goal, Row
from benchmarks.measure import Sample, Timing
from siding.chat.store import Chat
from siding.ground.storage.locks import FileLock

PIECES = 40_000  # of a text: 4 MB of story
QUICK_PIECES = 5_000
HOST_MB = 64
VIEWER_MB = 32
SLOW_S = 5
KILLS = 5
_READ = 1 << 16
_NUMBER = re.compile(rb'"seq":([0-9]+)')


class Viewer(threading.Thread):
    """`siding chat show --follow --json` in a process, read by a thread. `peak_mb` is its most."""

    def __init__(self, name: str, argv: list[str], cwd: Path, env: dict[str, str]) -> None:
        super().__init__(name=name, daemon=True)
        self.peak_mb = 0.0
        self.seen = b""
        self._argv, self._cwd, self._env = argv, cwd, env
        self.process = self._begun(0)
        self.start()

    def _begun(self, after: int) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            [*self._argv, "--after", str(after)],
            cwd=self._cwd,
            env=self._env,
            stdout=subprocess.PIPE,
        )

    def read(self, most: int = _READ) -> bool:
        assert self.process.stdout is not None
        self.peak_mb = max(self.peak_mb, peak_of(self.process.pid))
        data = os.read(self.process.stdout.fileno(), most)
        self.seen += data
        return bool(data)

    def run(self) -> None:
        while self.read():
            pass
        self.process.wait()


class Slow(Viewer):
    """One of which 1 kB is read a second, until it may hurry."""

    hurries = threading.Event()

    def run(self) -> None:
        while not self.hurries.wait(1):
            self.read(1000)
        super().run()


class Killed(Viewer):
    """One that is killed, at another moment each time, and begun again."""

    def run(self) -> None:
        for kill in range(KILLS):
            begun = self.seen
            self.read()
            timer = threading.Timer(0.05 + 0.13 * kill, self.process.kill)
            timer.start()
            while self.read():
                pass
            timer.join()
            self.process.wait()
            self.seen = begun + self.seen[len(begun) : self.seen.rfind(b"\n") + 1]
            last = _NUMBER.findall(self.seen[self.seen.rfind(b"\n", 0, -1) + 1 :])
            self.process = self._begun(int(last[0]) if last else 0)
        super().run()


def watched(
    bench: Bench,
    workspace: Path,
    env: dict[str, str],
    *,
    begin: Callable[[], tuple[Chat, Callable[[str], float]]],
    end: Callable[[Chat], None],
) -> Iterator[Row]:
    """Measure a host without viewers, and one with all of them. `begin` returns a conversation,
    and what gives it a prompt and returns how many seconds its turn took."""
    if not Path("/proc/self/status").exists():
        bench.say("memory is read from /proc, which this system does not have")
        return
    prompt = f"{QUICK_PIECES if bench.quick else PIECES} -"
    alone, turn = begin()
    floor = Sample(turn(prompt) * 1e3, 0.0, peak_of(_host_of(alone)))
    end(alone)

    chat, turn = begin()
    argv = [str(bench.siding), "chat", "show", "--follow", "--json", "-c", chat.id]
    slow = Slow("at 1 kB a second", argv, workspace, env)
    stopped = Viewer("stopped", argv, workspace, env)
    viewers = [Viewer("as it goes on", argv, workspace, env), slow, stopped]
    viewers.append(Killed("killed and begun again", argv, workspace, env))
    stopped.process.send_signal(signal.SIGSTOP)
    ours = Sample(turn(prompt) * 1e3, 0.0, peak_of(_host_of(chat)))
    viewers.append(Viewer("late", argv, workspace, env))
    time.sleep(SLOW_S)
    slow.hurries.set()
    stopped.process.send_signal(signal.SIGCONT)
    end(chat)
    for each in viewers:
        each.join()
    story = chat.story.read_bytes()
    for each in viewers:
        if each.seen != story:
            raise RuntimeError(f"the viewer that is {each.name} has another story")
    size = len(story)
    peaks = ", ".join(f"{each.name} {each.peak_mb:.0f}" for each in viewers)
    yield Row(
        "watched",
        f"the host, {size / 1e6:.1f} MB said",
        size,
        Timing((ours,)),
        Timing((floor,)),
        "without viewers",
        HOST_MB,
        Goal.MEMORY,
        f"peak {ours.rss_mb:.0f} MB with {len(viewers)} viewers, {floor.rss_mb:.0f} without",
    )
    most = max(each.peak_mb for each in viewers)
    yield Row(
        "viewers",
        f"a viewer of {size / 1e6:.1f} MB",
        size,
        Timing((ours._replace(rss_mb=most),)),
        Timing((floor,)),
        "the host without",
        VIEWER_MB,
        Goal.MEMORY,
        f"peak in MB: {peaks}; all have the story of the file, to the byte",
    )


def peak_of(pid: int) -> float:
    """Return the most memory that a process has had, in MB; 0 for one that is gone."""
    try:
        text = Path(f"/proc/{pid}/status").read_text("ascii")
    except OSError:
        return 0.0
    found = re.search(r"^VmHWM:\s*(\d+) kB", text, re.MULTILINE)
    return int(found[1]) / 1024 if found else 0.0


def _host_of(chat: Chat) -> int:
    holder = FileLock(chat.lock).holder()
    assert holder is not None
    return holder.pid
