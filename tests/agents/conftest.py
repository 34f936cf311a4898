"""Real agents, with homes of their own and a model server of the tests'."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from agents.models import Answer, ModelServer
from sandbox import SIDING, Sandbox

# Where `run.py test` installs them.
INSTALLED = Path(__file__).parents[2] / ".venv" / "agents" / "node_modules" / ".bin"


def program(name: str) -> str | None:
    """Return the path of an agent's program, None if it is not installed."""
    return shutil.which(name, path=os.pathsep.join([str(INSTALLED), os.environ.get("PATH", "")]))


class ClaudeAtWork:
    """Claude Code in a task, and the model that answers it."""

    def __init__(self, task: Sandbox, executable: str) -> None:
        self.task = task
        self.model: ModelServer | None = None
        self._configured = task.directory / "claude"
        self.task.env |= {
            "PATH": os.pathsep.join([str(Path(executable).parent), task.env["PATH"]]),
            "CLAUDE_CONFIG_DIR": str(self._configured),
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "ANTHROPIC_API_KEY": "sk-ant-of-a-test",
        }

    def says(self, *script: Answer) -> ModelServer:
        """Have the model answer so, from now on."""
        if self.model is not None:
            self.model.close()
        self.model = ModelServer(script)
        self.task.env["ANTHROPIC_BASE_URL"] = self.model.url
        return self.model

    def configure(self, settings: dict[str, Any]) -> Path:
        """Write the person's own settings of Claude Code."""
        self._configured.mkdir(exist_ok=True)
        path = self._configured / "settings.json"
        path.write_text(json.dumps(settings))
        return path

    def prompt(self, prompt: str, *more: str, options: Sequence[str] = ()) -> str:
        """Have one prompt answered; return what was printed."""
        words = ["-p", prompt, "--allowedTools", "Bash Write Edit Read", *more]
        done = self.task.siding("run", *options, "--", "claude", *words, timeout=100)
        return done.stdout.decode()

    def talk(self, *options: str) -> "Conversation":
        """Begin a conversation of several prompts in one run."""
        return Conversation(self, options)

    @property
    def turns(self) -> list[dict[str, Any]]:
        """The steps of the task that are turns, oldest first."""
        return [step for step in self.task.steps() if step.get("origin") == "turn"]

    @property
    def run(self) -> dict[str, Any]:
        """The newest step that is a run."""
        return [step for step in self.task.steps() if step["kind"] == "run"][-1]

    def close(self) -> None:
        if self.model is not None:
            self.model.close()


class Conversation:
    """One run of Claude Code that gets its prompts one after the other, as a program gives them."""

    def __init__(self, claude: ClaudeAtWork, options: Sequence[str]) -> None:
        stream = ["--input-format", "stream-json", "--output-format", "stream-json", "--verbose"]
        words = ["claude", "-p", *stream, "--allowedTools", "Bash Write Edit Read"]
        self._process = subprocess.Popen(
            [*SIDING, "run", "--stdin", "pass", *options, "--", *words],
            cwd=claude.task.repo,
            env=claude.task.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def says(self, prompt: str) -> dict[str, Any]:
        """Give a prompt and return the result of the turn."""
        self.types(prompt)
        return self.until("result")

    def types(self, prompt: str) -> None:
        content = [{"type": "text", "text": prompt}]
        self.writes({"type": "user", "message": {"role": "user", "content": content}})

    def writes(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()

    def until(self, kind: str) -> dict[str, Any]:
        """Read what it prints until a message of this kind; return that."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            message = json.loads(line)
            if message.get("type") == kind:
                assert isinstance(message, dict)
                return message
        raise AssertionError(f"it has ended without {kind}")

    def ends(self) -> int:
        """End its input and wait for it; return the exit status."""
        self._process.communicate(timeout=60)
        return self._process.returncode

    def kill(self) -> None:
        self._process.kill()
        self._process.communicate()


@pytest.fixture
def claude(sandbox: Sandbox) -> Iterator[ClaudeAtWork]:
    """Claude Code in a new task. The tests with it are skipped where it is not installed."""
    executable = program("claude")
    if executable is None:
        pytest.skip("Claude Code is not installed (npm: @anthropic-ai/claude-code)")
    sandbox.siding("task", "start", "talked")
    found = ClaudeAtWork(sandbox, executable)
    try:
        yield found
    finally:
        found.close()
