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
from contextlib import suppress
from pathlib import Path
from typing import Any

from faults.chat.figures import Figures
from faults.chat.moments import Killer, Moment
from sandbox import SIDING, Sandbox
from siding.chat.conversations import wake
from siding.chat.requests import DropPrompt, EndTalk, GivePrompt, Request, SendAgain
from siding.chat.store import Chat
from siding.chat.talk import Waiting

HERE = Path(__file__).parent
PATIENCE_S = 400.0  # an agent of 0.5 GiB takes a minute to start on a busy machine
LOOK_S = 0.04


class Trials:
    """A conversation with an agent of one kind: one trial after the other."""

    steers = False

    def __init__(self, sandbox: Sandbox, kind: str) -> None:
        self._sandbox, self.kind = sandbox, kind
        self._place = sandbox.directory / "trial"
        self._place.mkdir()
        self._install()
        begun = sandbox.json("chat", kind, "--new", "trial", "--json", *self._options())
        self._task = begun["task"]
        self._workspace = sandbox.workspace(self._task)
        (place,) = sandbox.project.glob("tasks/*/chats/c1")
        self.chat = Chat(place)
        self.figures = Figures()
        self._number = 0
        self._since = 0  # where the story of this trial begins
        self.has_failed = False
        self._answered: set[str] = set()
        self._dropped: set[str] = set()  # prompts of which who has looked says that they were taken
        self._steer: Waiting | None = None  # is given as soon as something is asked
        self._steers_first = False
        self._again = 0
        self._until_open()

    def _install(self) -> None:
        sandbox, kind = self._sandbox, self.kind
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

    def host_killed(self, doing: int) -> str:
        """Kill the host at the n-th thing that it does; return which, "" if it does not so many."""
        return self.killed(Moment("host", doing=doing))

    def agent_killed(self, point: str) -> str:
        """Have the agent kill itself at a point; return that, "" if it does not come to it."""
        wanted = self._place / "kill"

        def meanwhile() -> None:
            wanted.write_text(point)

        self._trial(Moment(""), meanwhile)
        is_reached = not wanted.exists()
        wanted.unlink(missing_ok=True)
        return point if is_reached else ""

    def killed(self, moment: Moment) -> str:
        """Kill somebody at a moment; return whom, or at what; "" if it did not come to that."""
        return self._trial(moment, lambda: None)

    def _trial(self, moment: Moment, meanwhile: Callable[[], None]) -> str:
        self._number += 1
        n = self._number
        reached = self._place / "reached"
        reached.unlink(missing_ok=True)
        if moment.is_anew:
            self.end()
        self._since = self.chat.story.stat().st_size
        a, b, c, s = (
            Waiting(str(uuid.uuid4()), f"{word} {n}{letter}.")
            for word, letter in (("run", "a"), ("say", "b"), ("say", "c"), ("say", "s"))
        )
        self._steer, self._steers_first = s if self.steers else None, moment.steers_first
        meanwhile()
        viewer = self._viewer() if moment.victim == "viewer" else None
        named = {"a": a.prompt, "b": b.prompt, "s": s.prompt}
        killer = Killer(self.chat, moment, named, lambda: self._kill(moment.victim, viewer))
        killer.start()
        self._give(a)
        self._give(b)
        self._until_over(moment, killer)
        if viewer is not None:
            viewer.wait(PATIENCE_S)
            seen = (self._place / "seen").read_bytes()
            assert self.chat.story.read_bytes().startswith(seen), "a viewer saw what is not there"
        self._give(c)
        self._again = moment.again
        self._until(self._is_through)
        self._again = 0
        given = [a, b, c] if self._steer is not None or not self.steers else [a, b, s, c]
        self._check(given)
        self.figures.add(self._lines())
        return reached.read_text() if moment.doing and reached.exists() else killer.what

    def _until_over(self, moment: Moment, killer: Killer) -> None:
        """Wait until somebody was killed and the host is gone, or nothing is left to be done."""
        host = None if self.chat.has_host() else self._host(moment.doing)

        def is_over() -> bool:
            if host is not None and host.poll() is None:
                return False  # it is being started
            if self.chat.has_host() and not self._is_done():
                return False
            killer.nothing_is_left()
            return killer.is_over

        self._until(is_over)
        if host is not None:
            host.wait(PATIENCE_S)

    def _lines(self) -> list[dict[str, Any]]:
        """Return what the story has of this trial."""
        new = self.chat.story.read_bytes()[self._since :]
        return [json.loads(line) for line in new.splitlines() if line.endswith(b"}")]

    def _is_through(self) -> bool:
        """Have a host that nobody kills, as long as there is something to do."""
        is_done = self._is_done()
        if not is_done and not self.chat.has_host():
            doing, self._again = self._again, 0
            self._host(doing).wait(PATIENCE_S)
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

    def _kill(self, victim: str, viewer: "subprocess.Popen[bytes] | None") -> bool:
        if viewer is not None:
            viewer.kill()
            return True
        pids = {"host": self._pid_of_host, "agent": self._pid_of_agent}
        try:
            os.kill(pids[victim](), signal.SIGKILL)
        except (ProcessLookupError, ValueError, KeyError, OSError):
            return False
        return True

    def _pid_of_host(self) -> int:
        return int(json.loads(self.chat.lock.read_text())["pid"])

    def _pid_of_agent(self) -> int:
        run = self.chat.directory.parent.parent / "runs" / f"{self.chat.talk().run}.json"
        return int(json.loads(run.read_text())["command"]["pid"])

    # -- what people do ----------------------------------------------------------------------------

    def _give(self, prompt: Waiting, *, steers: bool = False) -> None:
        self._put(GivePrompt(prompt.prompt, prompt.text, steers=steers))

    def _put(self, request: Request) -> None:
        self.chat.requests.put(request, by="trial", at_ns=time.time_ns(), more=os.urandom(4).hex())
        wake(self.chat)

    def _is_done(self) -> bool:
        """Answer what is asked and what is unsure; tell whether all prompts are through."""
        talk = self.chat.talk()
        for ask in talk.asks if self.chat.has_host() else ():
            if ask.decision and ask.decision not in self._answered:
                self._answered.add(ask.decision)
                self._answer(ask.decision)
        if talk.unsure and self.chat.has_host() and not self.chat.requests.waiting():
            self._decide(talk.unsure[0])
            return False
        waits = talk.queue or talk.sent or talk.unsure or talk.asks or talk.is_running
        return not waits and not talk.steered and not self.chat.requests.waiting()

    def _answer(self, decision: str) -> None:
        """Answer from a process of its own; whoever answers says more before it, or behind it."""
        if self._steers_first:
            self._give_steer()
        words = ("decide", "answer", decision, "--choose", "1=run")
        self._sandbox.siding(*words, status=None)
        self._give_steer()

    def _give_steer(self) -> None:
        steer, self._steer = self._steer, None
        if steer is not None:
            self._give(steer, steers=True)

    def _decide(self, unsure: Waiting) -> None:
        """Decide as who looks at what the agent has done."""
        assert not self._is_proven(unsure), f"{unsure.text} is taken, as its record says"
        has = unsure.text in self._truth("took")
        if has:
            self._dropped.add(unsure.text)
        self._put(DropPrompt(unsure.prompt) if has else SendAgain(unsure.prompt))
        self._until(lambda: unsure not in self.chat.talk().unsure or not self.chat.has_host())

    def end(self) -> None:
        """End the agent, and look at what is left."""
        self._until_open()
        if self.chat.has_host():
            self._put(EndTalk())
        self._until(lambda: not self.chat.has_host())
        assert not (self.chat.directory / "sock").exists(), "a socket is left"
        self._until(lambda: not self._at_work())  # what a tool has begun may take its time

    def _at_work(self) -> list[str]:
        """Return the processes that work in the workspace: agents, and what they have started."""
        found = []
        for entry in Path("/proc").iterdir():
            with suppress(OSError):
                if entry.name.isdigit() and (entry / "cwd").readlink() == self._workspace:
                    found.append(entry.name)
        return found

    def leave(self) -> None:
        """Have nothing of it live, however a trial ended."""
        for victim in ("host", "agent"):
            self._kill(victim, None)

    def _until_open(self) -> None:
        self._until(lambda: not self.chat.has_host() or self.chat.talk().is_open)

    def _until(self, holds: Callable[[], object]) -> None:
        end = time.monotonic() + PATIENCE_S
        while not holds():
            if time.monotonic() > end:
                raise AssertionError("it does not go on")
            time.sleep(LOOK_S)

    # -- what is so --------------------------------------------------------------------------------

    def _truth(self, what: str) -> Counter[str]:
        truth = self._place / "truth"
        lines = truth.read_text().splitlines() if truth.exists() else []
        return Counter(about for said, about in map(json.loads, lines) if said == what)

    def _is_proven(self, prompt: Waiting) -> bool:
        home = Path(self._sandbox.env["HOME"])
        if self.kind == "siding-agent":
            records = self._sandbox.project.glob("sessions/*.jsonl")
            return any(prompt.prompt in each.read_text() for each in records)
        database = home / ".local/share/opencode/opencode.db"
        return self.kind == "opencode" and prompt.text.encode() in database.read_bytes()

    def _check(self, prompts: list[Waiting]) -> None:
        took, effects = self._truth("took"), self._effects()
        for each in prompts:
            proven = self._is_proven(each)
            assert took[each.text] or proven, f"{each.text} is lost"
            assert took[each.text] <= 1, f"{each.text} was given twice"
        self._check_answers(effects)
        assert not self.chat.requests.waiting(), "a request is left"

    def _check_answers(self, effects: Counter[str]) -> None:
        """Nothing is answered twice, nothing runs twice, and what runs was allowed."""
        answered = Counter(each["ask"] for each in self._lines() if each["event"] == "answered")
        assert max(answered.values(), default=0) <= 1, "a permission was answered twice"
        heard = self._truth("answered")
        assert max(heard.values(), default=0) <= 1, "the agent heard an answer twice"
        assert max(effects.values(), default=0) <= 1, "what was allowed ran twice"
        mine = f"{self._number}a"
        assert not effects[mine] or answered, "what nobody allowed ran"

    def _effects(self) -> Counter[str]:
        """Return what has run, as often as it has."""
        effects = self._place / "effects"
        return Counter(effects.read_text().split()) if effects.exists() else Counter()

    def check_all(self) -> None:
        """Look at the whole: the story has each number once, and nothing waits for a person."""
        self.end()
        numbers = [json.loads(line)["seq"] for line in self.chat.story.read_bytes().splitlines()]
        assert numbers == list(range(1, len(numbers) + 1)), "the story's numbers have a gap"
        waiting: list[Any] = self._sandbox.json("decide", "list", "--json")
        assert [each for each in waiting if each.get("state") == "open"] == [], "a question is left"
