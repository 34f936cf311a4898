"""One conversation, killed again and again, and what its agent has really done."""

import json
import os
import signal
import subprocess
import sys
import time
import uuid
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from sandbox import SIDING, Sandbox
from siding.chat.conversations import wake
from siding.chat.requests import DropPrompt, EndTalk, GivePrompt, Request, SendAgain
from siding.chat.state import Waiting
from siding.chat.store import Chat

HERE = Path(__file__).parent
PATIENCE_S = 90.0
LOOK_S = 0.01


class Trials:
    """A conversation with an agent of one kind. Each trial leaves it without a host."""

    _asks = "run"  # begins a prompt in whose turn something is asked

    def __init__(self, sandbox: Sandbox, kind: str) -> None:
        self._sandbox, self._kind = sandbox, kind
        self._place = sandbox.directory / "trial"
        self._place.mkdir()
        self._install()
        begun = sandbox.json("chat", kind, "--new", "trial", "--json", *self._options())
        self._task = begun["task"]
        (place,) = sandbox.project.glob("tasks/*/chats/c1")
        self.chat = Chat(place)
        self.unsure = 0
        self._number = 0
        self._answered: set[str] = set()
        self._end()

    def _install(self) -> None:
        sandbox, kind = self._sandbox, self._kind
        program = sandbox.directory / "bin" / kind
        program.parent.mkdir(exist_ok=True)
        agent = f'exec "{sys.executable}" -S -E "{HERE / "agent.py"}" {kind} "$@"'
        program.write_text(f"#!/bin/sh\n{agent}\n")
        program.chmod(0o755)
        sandbox.env["PATH"] = f"{program.parent}{os.pathsep}{sandbox.env['PATH']}"
        sandbox.env["SIDING_TRIAL"] = str(self._place)

    def _options(self) -> Sequence[str]:
        """Return the flags with which the conversation begins."""
        return ()

    # -- a trial -----------------------------------------------------------------------------------

    def host_killed(self, moment: int) -> str:
        """Kill the host at a moment; return which one it was, "" if there is no such moment."""
        return self._trial(moment=moment)

    def agent_killed(self, point: str) -> str:
        return self._trial(point=point)

    def killed_after(self, victim: str, seconds: float) -> str:
        return self._trial(victim=victim, seconds=seconds)

    def _trial(
        self, *, moment: int = 0, point: str = "", victim: str = "", seconds: float = 0.0
    ) -> str:
        self._number += 1
        n = self._number
        reached = self._place / "reached"
        reached.unlink(missing_ok=True)
        prompts = [self._give(f"{self._asks} {n}a."), self._give(f"say {n}b.")]
        if point:
            (self._place / "kill").write_text(point)
        viewer = self._viewer() if victim == "viewer" else None
        host = self._host(moment)
        kill_at = time.monotonic() + seconds if victim else None
        what = ""

        def is_over() -> bool:
            nonlocal kill_at, what
            if kill_at is not None and time.monotonic() > kill_at:
                kill_at, what = None, self._kill(victim, viewer)
            if host.poll() is None:
                return False  # it is being started
            return not self.chat.has_host() or (self._is_done() and kill_at is None)

        self._until(is_over)
        host.wait(PATIENCE_S)
        if viewer is not None:
            viewer.wait(PATIENCE_S)
            seen = (self._place / "seen").read_bytes()
            assert self.chat.story.read_bytes().startswith(seen)
        what = reached.read_text() if reached.exists() else what
        if point and not (self._place / "kill").exists():
            what = point
        (self._place / "kill").unlink(missing_ok=True)
        prompts.append(self._give(f"say {n}c."))
        self._until(self._is_through)
        self._end()
        self._check(prompts)
        return what

    def _is_through(self) -> bool:
        """Have a host that nobody kills, as long as there is something to do."""
        is_done = self._is_done()
        if not is_done and not self.chat.has_host():
            self._host(0).wait(PATIENCE_S)
        return is_done

    def _host(self, moment: int) -> "subprocess.Popen[bytes]":
        words = [str(HERE / "host.py"), self._task, str(self.chat.directory), str(moment)]
        return subprocess.Popen(
            [sys.executable, *words, str(self._place / "reached")],
            cwd=self._sandbox.repo,
            env=dict(self._sandbox.env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def _viewer(self) -> "subprocess.Popen[bytes]":
        with (self._place / "seen").open("wb") as seen:
            return subprocess.Popen(
                [*SIDING, "chat", "show", "--follow", "--json"],
                cwd=self._sandbox.repo,
                env=dict(self._sandbox.env),
                stdin=subprocess.DEVNULL,
                stdout=seen,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )

    def _kill(self, victim: str, viewer: "subprocess.Popen[bytes] | None") -> str:
        if viewer is not None:
            viewer.kill()
            return victim
        pids = {"host": self._pid_of_host, "agent": self._pid_of_agent}
        try:
            os.kill(pids[victim](), signal.SIGKILL)
        except (ProcessLookupError, ValueError, KeyError, OSError):
            return ""
        return victim

    def _pid_of_host(self) -> int:
        return int(json.loads(self.chat.lock.read_text())["pid"])

    def _pid_of_agent(self) -> int:
        run = self.chat.directory.parent.parent / "runs" / f"{self.chat.talk().run}.json"
        return int(json.loads(run.read_text())["command"]["pid"])

    # -- what people do ----------------------------------------------------------------------------

    def _give(self, words: str) -> Waiting:
        prompt = str(uuid.uuid4())
        self._put(GivePrompt(prompt, words))
        return Waiting(prompt, words)

    def _put(self, request: Request) -> None:
        self.chat.requests.put(request, by="trial", at_ns=time.time_ns(), more=os.urandom(4).hex())
        wake(self.chat)

    def _is_done(self) -> bool:
        """Answer what is asked and what is unsure; tell whether all prompts are through."""
        talk = self.chat.talk()
        for ask in talk.asks if self.chat.has_host() else ():
            if ask.decision and ask.decision not in self._answered:
                self._answered.add(ask.decision)
                words = ("decide", "answer", ask.decision, "--choose", "1=run")
                self._sandbox.siding(*words, status=None)
        if talk.unsure and self.chat.has_host() and not self.chat.requests.waiting():
            self._decide(talk.unsure[0])
            return False
        waits = talk.queue or talk.sent or talk.unsure or talk.asks or talk.is_running
        return not waits and not self.chat.requests.waiting()

    def _decide(self, unsure: Waiting) -> None:
        """Decide as who looks at what the agent has done."""
        assert not self._is_proven(unsure), f"{unsure.text} is taken, as its record says"
        self.unsure += 1
        has = unsure.text in self._truth("took")
        self._put(DropPrompt(unsure.prompt) if has else SendAgain(unsure.prompt))
        self._until(lambda: unsure not in self.chat.talk().unsure or not self.chat.has_host())

    def _end(self) -> None:
        self._until(lambda: not self.chat.has_host() or self.chat.talk().is_open)
        if self.chat.has_host():
            self._put(EndTalk())
        self._until(lambda: not self.chat.has_host())

    def _until(self, holds: Callable[[], object]) -> None:
        end = time.monotonic() + PATIENCE_S
        while not holds():
            assert time.monotonic() < end, self.chat.story.read_bytes()[-4000:].decode()
            time.sleep(LOOK_S)

    # -- what is so --------------------------------------------------------------------------------

    def _truth(self, what: str) -> Counter[str]:
        truth = self._place / "truth"
        lines = truth.read_text().splitlines() if truth.exists() else []
        return Counter(about for said, about in map(json.loads, lines) if said == what)

    def _is_proven(self, prompt: Waiting) -> bool:
        home = Path(self._sandbox.env["HOME"])
        if self._kind == "siding-agent":
            records = self._sandbox.project.glob("sessions/*.jsonl")
            return any(prompt.prompt in each.read_text() for each in records)
        database = home / ".local/share/opencode/opencode.db"
        return self._kind == "opencode" and prompt.text.encode() in database.read_bytes()

    def _check(self, prompts: list[Waiting]) -> None:
        took, answered = self._truth("took"), self._truth("answered")
        for each in prompts:
            proven = self._is_proven(each)
            assert took[each.text] or proven, f"{each.text} is lost"
            assert took[each.text] <= 1, f"{each.text} was given twice"
        effects = Counter((self._place / "effects").read_text().split()) if answered else Counter()
        assert max(answered.values(), default=0) <= 1
        assert max(effects.values(), default=0) <= 1
        assert not (self.chat.directory / "sock").exists()
        assert not self.chat.requests.waiting()

    def check_all(self) -> None:
        """Look at the whole: the story has each number once, and nothing waits for a person."""
        numbers = [json.loads(line)["seq"] for line in self.chat.story.read_bytes().splitlines()]
        assert numbers == list(range(1, len(numbers) + 1))
        waiting: list[Any] = self._sandbox.json("decide", "list", "--json")
        assert [each for each in waiting if each.get("state") == "open"] == []
