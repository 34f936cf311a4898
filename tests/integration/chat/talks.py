"""A conversation with the scripted Claude Code, as a person has it on the command line."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agents.talking.scripted_claude import put_in
from sandbox import Sandbox
from stories import Told


class Conversation(Told):
    """The newest conversation of the task at hand."""

    def __init__(self, sandbox: Sandbox) -> None:
        super().__init__(sandbox)
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
    def waiting(self) -> list[str]:
        """The texts of what waits, in its order."""
        prompts = self.sandbox.json("chat", "queue", "--json")["prompts"]
        return [each["text"] for each in prompts if each["state"] == "waits"]

    def until_text(self, said: str) -> None:
        self.until(lambda: said in self.text())

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
