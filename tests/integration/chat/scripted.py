"""A conversation with agents without a model: `claude`, and `siding-agent` in its place."""

import json
import os
import signal
import sys
from pathlib import Path

from agents.talking import scripted_claude
from sandbox import Sandbox
from stories import Told

AGENTS = ("claude", "siding-agent")


class Talked(Told):
    """The newest conversation of the task `talk`, with two agents that do as they are told."""

    def __init__(
        self,
        sandbox: Sandbox,
        program_of: str = scripted_claude.__file__,
        programs: Path | None = None,
    ) -> None:
        super().__init__(sandbox)
        programs = programs or sandbox.directory / "programs"
        programs.mkdir(exist_ok=True)
        for name in AGENTS:
            program = programs / name
            words = f'"{sys.executable}" -S -E "{program_of}"'
            program.write_text(f'#!/bin/sh\nexec {words} "$@"\n')
            program.chmod(0o755)
        sandbox.env["PATH"] = os.pathsep.join([str(programs), sandbox.env["PATH"]])

    def siding(self, *words: str, status: int = 0) -> str:
        """Run Siding; return what it said, to whichever stream."""
        done = self.sandbox.siding(*words, status=status)
        return (done.stdout + done.stderr).decode()

    def send(self, prompt: str) -> None:
        self.siding("chat", "send", prompt)

    def taken(self) -> list[tuple[str, str]]:
        """Return the prompts that were taken, each with the agent that took it."""
        agent, texts, found = "", {}, []
        for line in self.story:
            if line["event"] in ("began", "switched"):
                agent = line["agent"]
            elif line["event"] == "queued":
                texts[line["prompt"]] = line["text"]
            elif line["event"] in ("prompt-taken", "proven"):
                found.append((agent, texts[line["prompt"]]))
        return found

    def lets(self, number: int = 1) -> None:
        """Answer so many asks, one after the other, with yes."""
        answered: set[str] = set()
        while len(answered) < number:
            self.until(lambda: len(self.events("put")) > len(answered))
            put = self.events("put")[len(answered)]["decision"]
            self.siding("decide", "answer", put, "--choose", "1=run")
            answered.add(put)

    @property
    def directory(self) -> Path:
        (found,) = self.sandbox.directory.glob("siding/projects/*/tasks/*/chats/c1")
        return found

    def kill_holder(self, number: int = signal.SIGKILL) -> None:
        """Send a signal to the process that holds the conversation."""
        note = json.loads((self.directory / "lock").read_text())
        os.kill(note["pid"], number)

    def end(self) -> None:
        self.siding("chat", "end")
        self.until(lambda: self.row["state"] == "ended")
