"""A conversation with `siding agent` whose processes are killed, and what has to hold of it."""

import json
import os
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from sandbox import Sandbox, alive

# Each turn reads a file and changes it. Prompts that got no answer come with the next one.
SCRIPT = r"""
answers:
  - match: (?s).*turn (\d+)
    steps:
      - text: I look.
        tools:
          - Read: {file_path: ran}
          - Bash: {command: "echo {1} >>ran"}
      - text: Turn {1} is done.
"""
EVENTS = 8  # lines of the stream that a turn has: init, three blocks, two results, text, result
CUT_OFF = "[Cut off before it had a result."
_PATIENCE_S = 120.0

Line = dict[str, Any]


def begun(sandbox: Sandbox) -> Sandbox:
    """Return the sandbox with a task in which the conversation can be held."""
    (sandbox.repo / "ran").write_text("0\n")
    sandbox.git("add", "-A")
    sandbox.git("commit", "-qm", "ran")
    (sandbox.directory / "script.yaml").write_text(SCRIPT)
    sandbox.siding("task", "start", "killed")
    return sandbox


def words(sandbox: Sandbox, *more: str, program: Sequence[str] = ("siding", "agent")) -> list[str]:
    """Return the command that talks over streams of JSON."""
    stream = ("-p", "--input-format", "stream-json", "--output-format", "stream-json")
    allowed = ("--allowed-tools", "Bash")
    model = f"scripted:{sandbox.directory / 'script.yaml'}"
    return [*program, *stream, *allowed, "--model", model, *more]


def prompt(turn: int) -> bytes:
    """Return the line that says a prompt."""
    message = {"role": "user", "content": f"turn {turn}"}
    return json.dumps({"type": "user", "message": message}).encode() + b"\n"


class Process:
    """`siding agent` as a process of its own, in a run of its own."""

    def __init__(self, sandbox: Sandbox, *more: str) -> None:
        self._home = sandbox.env["SIDING_HOME"]
        self._errors = (sandbox.directory / "errors").open("w+b")
        self._process = subprocess.Popen(
            words(sandbox, *more),
            cwd=sandbox.repo,
            env=sandbox.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            start_new_session=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()  # the run's keeper ends the rest
        self._process.wait()
        self._closed()

    def say(self, turn: int) -> Iterator[Line]:
        """Say a prompt; yield what is printed, up to the turn's result."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(prompt(turn))
        self._process.stdin.flush()
        for printed in self._process.stdout:
            line: Line = json.loads(printed)
            yield line
            if line["type"] == "result":
                return
        self._errors.seek(0)
        raise AssertionError(f"it ended too early: {self._errors.read().decode()}")

    def kill(self, *, whole: bool) -> None:
        """Kill the agent alone, or the command that a person has started. Wait for both ends."""
        agents = list(_agents(self._home))
        assert agents, "there is no process of the agent"
        for pid in [self._process.pid] if whole else agents:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        status = self._process.wait(timeout=_PATIENCE_S)
        assert status == (-signal.SIGKILL if whole else 128 + signal.SIGKILL)
        until = time.monotonic() + _PATIENCE_S
        while any(map(alive, agents)):
            assert time.monotonic() < until, "the agent outlives its run"
            time.sleep(0.01)

    def end(self) -> None:
        """End the conversation in order."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        assert self._process.wait(timeout=_PATIENCE_S) == 0

    def _closed(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        self._process.stdout.close()
        self._errors.close()


def _agents(home: str) -> Iterator[int]:
    """Yield the agents of the test's home; the keeper of a run starts them, so no children."""
    wanted = f"SIDING_HOME={home}".encode()
    for directory in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            program = (directory / "cmdline").read_bytes().split(b"\0")[1:2]
            environment = (directory / "environ").read_bytes().split(b"\0")
            if program and program[0].endswith(b"/siding-agent") and wanted in environment:
                yield int(directory.name)


def stored(sandbox: Sandbox) -> bytes:
    """Return the whole lines of the conversation's transcript.

    One whose first line was torn holds nothing: the next prompt begins another conversation.
    """
    found = [path for path in sandbox.project.glob("sessions/**/*.jsonl") if path.is_file()]
    wholes = [data[: data.rfind(b"\n") + 1] for data in map(Path.read_bytes, found)]
    (whole,) = [each for each in wholes if each] or [b""]
    return whole


def blocks(lines: bytes, kind: str) -> list[Line]:
    """Return the blocks of a kind (`tool_use`, `tool_result`) that a transcript has."""
    records = [line for line in map(_record, lines.splitlines()) if line is not None]
    contents = [record["message"]["content"] for record in records if "message" in record]
    return [
        block
        for content in contents
        if not isinstance(content, str)
        for block in content
        if block["type"] == kind
    ]


def _record(line: bytes) -> Line | None:
    try:
        found: Line = json.loads(line)
    except ValueError:
        return None  # a part of a line, of a write that was cut off
    return found


def printed_is_stored(printed: Sequence[Line], lines: bytes) -> None:
    """Check that the prompt and all calls that a client has seen are on the disk."""
    seen = {
        block["id"]
        for line in printed
        if line["type"] == "assistant"
        for block in line["message"]["content"]
        if block["type"] == "tool_use"
    }
    assert seen <= {each["id"] for each in blocks(lines, "tool_use")}


def holds(sandbox: Sandbox, lines: bytes, *, kills: int, torn: int = 0) -> None:
    """Check a conversation that has been gone on with after so many kills.

    Each call has one result; no more than one turn of each kill is cut off; each tool that changes
    something ran once if it has a result, and at most once if it was cut off. No more lines than
    `torn` are no whole ones.
    """
    assert sum(_record(line) is None for line in lines.splitlines()) <= torn
    calls = {each["id"]: each for each in blocks(lines, "tool_use")}
    results = {each["tool_use_id"]: each for each in blocks(lines, "tool_result")}
    assert len(calls) == len(blocks(lines, "tool_use"))
    assert len(results) == len(blocks(lines, "tool_result"))
    assert calls.keys() == results.keys()
    cut = {name for name, each in results.items() if CUT_OFF in str(each["content"])}
    assert len(cut) <= 2 * kills
    said = [name for name, each in calls.items() if each["name"] == "Bash"]
    asked = {name: calls[name]["input"]["command"].split()[1] for name in said}
    ran = Counter((sandbox.workspace() / "ran").read_text().split()[1:])
    assert set(ran) <= set(asked.values())
    assert len(asked) == len(set(asked.values()))
    for name, number in asked.items():
        assert ran[number] == 1 or (name in cut and ran[number] == 0), (number, ran, cut)
