"""Hold a real agent with its talker: bytes both ways, and a wait for what happens."""

import json
import os
import selectors
import signal
import subprocess
import time
import uuid
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from sandbox import alive
from siding.agents.talking.port import (
    Answer,
    Asked,
    Event,
    Hold,
    Opened,
    Opening,
    Part,
    TimedTalker,
    TurnEnded,
)

GENEROUS_S = 90.0  # for anything that an agent does
_MARK = "SIDING_TEST_HOLDS"  # is in the environment of all that an agent starts


class Driven:
    """An agent's process and its talker.

    Each event is looked at once: what `until` returns, and all before it, is behind the next wait.
    """

    def __init__(self, opening: Opening, hold: Hold, env: Mapping[str, str]) -> None:
        assert not opening.why_not, opening.why_not
        for name, contents in opening.files.items():
            path = Path(hold.directory, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(contents, encoding="utf-8")
        self.talker = opening.talker
        self.events: list[Event] = []
        self.heard = bytearray()  # what the agent has printed: a recording
        self.told = bytearray()
        self.opened_as = Opened(session="")
        self.texts: dict[str, str] = {}  # the prompts, by id
        self._at = 0
        self._mark = uuid.uuid4().hex
        self._problems = Path(hold.directory, "stderr")
        self._problems.parent.mkdir(parents=True, exist_ok=True)
        with self._problems.open("wb") as problems:
            self.process = subprocess.Popen(
                opening.argv,
                cwd=hold.cwd,
                env={**env, **hold.env, **opening.env, _MARK: self._mark},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=problems,
                start_new_session=True,
            )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._in, self._out = self.process.stdin.fileno(), self.process.stdout.fileno()
        os.set_blocking(self._in, False)
        self._waiting = b""
        self._spoken = time.monotonic()  # when the last bytes went either way
        self._ended = False
        self._ready = selectors.DefaultSelector()
        self._ready.register(self._out, selectors.EVENT_READ)

    # -- What is said to it ------------------------------------------------------------------------

    def prompt(self, *parts: Part) -> str:
        """Send a prompt; return its id. It is written before this returns."""
        return self._say(self.talker.prompt, parts)

    def steer(self, *parts: Part) -> str:
        return self._say(self.talker.steer, parts)

    def _say(self, say: Callable[..., None], parts: tuple[Part, ...]) -> str:
        prompt_id = str(uuid.uuid4())
        self.texts[prompt_id] = "".join(part for part in parts if isinstance(part, str))
        say(prompt_id, parts)
        self.flush()
        return prompt_id

    def flush(self) -> None:
        """Write what the talker has to send."""
        until = time.monotonic() + GENEROUS_S
        while self._send() and time.monotonic() < until:
            self._step(0.01)

    # -- What happens ------------------------------------------------------------------------------

    def until(
        self,
        kind: Any,
        where: Callable[[Any], bool] = lambda _event: True,
        *,
        timeout_s: float = GENEROUS_S,
    ) -> Any:
        """Wait for the next event of this kind, or of one of these kinds; return it."""
        ends = time.monotonic() + timeout_s
        while True:
            while self._at < len(self.events):
                event = self.events[self._at]
                self._at += 1
                if isinstance(event, kind) and where(event):
                    return event
            if self._ended or time.monotonic() > ends:
                raise AssertionError(self._what_is_there(str(kind)))
            self._step(0.2)

    def opened(self) -> Opened:
        opened = self.until(Opened)
        assert isinstance(opened, Opened)
        self.opened_as = opened
        return opened

    def turn(self) -> list[Event]:
        """Wait for the end of a turn; return what happened until then, and was not looked at."""
        begins = self._at
        self.until(TurnEnded)
        return self.events[begins : self._at]

    def allowed_turn(self) -> list[Event]:
        """Wait for the end of a turn; whatever is asked meanwhile is allowed."""
        begins = self._at
        while isinstance(found := self.until(Asked | TurnEnded), Asked):
            self.talker.answer(found.ask, Answer(allows=True))
        return self.events[begins : self._at]

    def pump(self, seconds: float) -> None:
        """Go on for so long, whatever happens."""
        ends = time.monotonic() + seconds
        while not self._ended and time.monotonic() < ends:
            self._step(min(0.05, max(0.0, ends - time.monotonic())))

    def pump_until(self, is_so: Callable[[], bool], *, timeout_s: float = GENEROUS_S) -> None:
        """Go on until something outside of the agent is so: a file is there, a model is asked."""
        ends = time.monotonic() + timeout_s
        while not is_so():
            if self._ended or time.monotonic() > ends:
                raise AssertionError(self._what_is_there("what was waited for"))
            self._step(0.02)

    def _step(self, wait_s: float) -> None:
        self._send()
        self.events += self.talker.receive(b"")  # what an act of ours has brought about
        self._tell_quiet()
        for _key, _events in self._ready.select(wait_s):
            data = os.read(self._out, 1 << 16)
            if not data:
                self._ended = True
                self._ready.unregister(self._out)
                return
            self.heard += data
            self._spoken = time.monotonic()
            self.events += self.talker.receive(data)
        self._send()

    def _tell_quiet(self) -> None:
        """Tell a talker that waits for it that its agent has said nothing for a while."""
        talker = self.talker
        if not isinstance(talker, TimedTalker) or talker.quiet_s is None:
            return
        if time.monotonic() - self._spoken > talker.quiet_s:
            self._spoken = time.monotonic()
            self.events += talker.quiet()

    def _send(self) -> bool:
        """Write what can be written; return whether something is left."""
        new = self.talker.to_send()
        self.told += new
        if new:
            self._spoken = time.monotonic()
        self._waiting += new
        with suppress(BlockingIOError):
            while self._waiting:
                try:
                    written = os.write(self._in, self._waiting)
                except BrokenPipeError:
                    self._waiting = b""
                    break
                self._waiting = self._waiting[written:]
        return bool(self._waiting)

    def _what_is_there(self, wanted: str) -> str:
        shown = "\n".join(str(each)[:400] for each in self.events[-30:])
        problems = self._problems.read_text(encoding="utf-8", errors="replace")[-2000:]
        state = f"it has ended with {self.process.poll()}" if self._ended else "it lives"
        return f"no {wanted}; {state}\n{shown}\n{problems}\n{bytes(self.heard[-2000:])!r}"

    # -- Its end -----------------------------------------------------------------------------------

    def kill(self) -> None:
        """End it at once, with all that it has started."""
        self.process.kill()
        self.process.wait()
        self._let_go()

    def close(self, grace_s: float = 20.0) -> int:
        """End its input, wait, and end what is left; return its exit status."""
        assert self.process.stdin is not None
        with suppress(OSError):
            self.process.stdin.close()
        ends = time.monotonic() + grace_s
        while self.process.poll() is None and time.monotonic() < ends:
            if not self._ended:
                for _key, _events in self._ready.select(0.05):
                    data = os.read(self._out, 1 << 16)
                    self.heard += data
                    if not data:
                        self._ended = True
                        self._ready.unregister(self._out)
            else:
                time.sleep(0.02)
        if self.process.poll() is None:
            self.process.kill()
        status = self.process.wait()
        self._let_go()
        return status

    def _let_go(self) -> None:
        for pid in self.left():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._ready.close()
        for pipe in (self.process.stdin, self.process.stdout):
            with suppress(OSError):
                if pipe is not None:
                    pipe.close()

    def left(self) -> list[int]:
        """The processes that it has started, its own among them, that live."""
        mark = f"{_MARK}={self._mark}".encode()
        found = []
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            with suppress(OSError):
                if mark in (entry / "environ").read_bytes() and alive(int(entry.name)):
                    found.append(int(entry.name))
        return found


def said(request: Mapping[str, Any]) -> str:
    """Return what a request to the model says, to look for words in it."""
    return json.dumps(request, ensure_ascii=False)
