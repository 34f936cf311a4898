"""A conversation with the scripted Claude Code, as a person has it on the command line."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from agents.talking.scripted_claude import put_in
from sandbox import Sandbox
from stories import story_in

PATIENCE_S = 60.0


class Conversation:
    """The newest conversation of the task at hand."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        self.go = sandbox.directory / "go"  # until it is there a turn that waits does

    def begin(self, prompt: str, *more: str) -> None:
        self.sandbox.siding("chat", "claude", prompt, "--new", "talk", *more)

    def says(self, *words: str, status: int = 0, stdin: bytes | None = None) -> str:
        """Give a command about it; return all that it has printed."""
        done = self.sandbox.siding("chat", *words, status=status, stdin=stdin)
        return (done.stdout + done.stderr).decode()

    @property
    def busy(self) -> str:
        """A prompt whose turn lasts until `go` is there."""
        return f"say at work\nwait {self.go}"

    @property
    def story(self) -> list[dict[str, Any]]:
        return story_in(self.sandbox.project)

    @property
    def row(self) -> dict[str, Any]:
        found: list[dict[str, Any]] = self.sandbox.json("chat", "list", "--json")
        return found[-1]

    @property
    def waiting(self) -> list[str]:
        """The texts of what waits, in its order."""
        prompts = self.sandbox.json("chat", "queue", "--json")["prompts"]
        return [each["text"] for each in prompts if each["state"] == "waits"]

    def events(self, name: str) -> list[dict[str, Any]]:
        return [line for line in self.story if line["event"] == name]

    def text(self) -> str:
        return "".join(line["text"] for line in self.events("text"))

    def until(self, holds: Callable[[], object]) -> None:
        end = time.monotonic() + PATIENCE_S
        while not holds():
            assert time.monotonic() < end, json.dumps(self.story, indent=1)[-3000:]
            time.sleep(0.05)

    def until_text(self, said: str) -> None:
        self.until(lambda: said in self.text())

    def turns(self, number: int) -> None:
        self.until(lambda: len(self.events("turn-ended")) >= number)

    def end(self) -> None:
        self.go.touch()
        self.sandbox.siding("chat", "end", status=None)
        self.until(lambda: self.row["state"] in ("ended", "unsure"))


@contextmanager
def conversation(sandbox: Sandbox) -> Iterator[Conversation]:
    """A sandbox in which `claude` is the scripted one; what was begun is ended."""
    sandbox.env["PATH"] = put_in(sandbox.directory / "bin") + sandbox.env["PATH"]
    sandbox.env["CLAUDE_CONFIG_DIR"] = str(sandbox.directory / "claude")
    yield Conversation(sandbox)
    sandbox.siding("stop", "--all", "--now", status=None)


def killed(talk: Conversation) -> None:
    """Kill the host of a conversation, as if the machine had been switched off."""
    import os
    import signal

    (lock,) = Path(talk.sandbox.project).glob("tasks/*/chats/c1/lock")
    os.kill(json.loads(lock.read_text())["pid"], signal.SIGKILL)
