"""An agent without hooks is followed in what it writes: aider, as far as Siding sees it.

`aider_twin.py` says what it does. The real one is used as well, where it is installed: it takes
700 MB, so `run.py test` does not install it.
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from agents.models import ModelServer
from bwrap import bwrap_problem
from sandbox import SIDING, Sandbox
from siding.ground.process.broker import client

TWIN = Path(__file__).with_name("aider_twin.py")
FOLLOW = Path(client.__file__).with_name("follow.py")


@pytest.fixture
def task(sandbox: Sandbox) -> Sandbox:
    program = sandbox.directory / "bin" / "aider"
    program.parent.mkdir()
    program.write_text(f"#!{sys.executable}\n{TWIN.read_text()}")
    program.chmod(0o755)
    sandbox.env["PATH"] = f"{program.parent}:{sandbox.env['PATH']}"
    # As aider asks whether it may, at its first start in a repository.
    (sandbox.repo / ".git" / "info" / "exclude").write_text(".aider*\n")
    sandbox.siding("task", "start", "followed")
    return sandbox


def turns(task: Sandbox) -> list[tuple[str, str, list[str]]]:
    return [
        (step["message"], step["moment"], step["diff_stat"]["file_list"])
        for step in task.steps()
        if step.get("origin") == "turn"
    ]


def run_step(task: Sandbox) -> dict[str, Any]:
    return next(step for step in reversed(task.steps()) if step["kind"] == "run")


class Talk:
    """A run of aider that gets its prompts one after the other."""

    def __init__(self, task: Sandbox, *words: str, options: Sequence[str] = ()) -> None:
        self.process = subprocess.Popen(
            [*SIDING, "run", "--stdin", "pass", *options, "--", "aider", *words],
            cwd=task.repo,
            env=task.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def says(self, line: str, then: bytes = b"waits\n") -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{line}\n".encode())
        self.process.stdin.flush()
        assert self.process.stdout.readline() == then

    def ends(self) -> int:
        self.process.communicate(timeout=60)
        return self.process.returncode


@pytest.fixture
def talk(task: Sandbox) -> Iterator[Talk]:
    talk = Talk(task)
    yield talk
    talk.process.kill()
    talk.process.communicate()


def test_a_message_is_a_turn_and_undo_takes_its_commit_back(task: Sandbox) -> None:
    tip = task.git("rev-parse", "HEAD", cwd=task.workspace())
    task.siding("run", "--", "aider", "--message", "echo one >1.txt")
    (turn,) = turns(task)
    assert (turn[0], turn[1]) == ("echo one >1.txt", "stopped")
    assert "1.txt" in turn[2]
    assert task.git("rev-parse", "HEAD", cwd=task.workspace()) != tip
    assert run_step(task)["reported"]["prompts"] == 1
    task.siding("undo")
    assert task.git("rev-parse", "HEAD", cwd=task.workspace()) == tip
    assert not (task.workspace() / "1.txt").exists()


def until(task: Sandbox, count: int) -> None:
    """Wait until there are so many turns: each is seen a moment after it has ended."""
    deadline = time.monotonic() + 60
    while len(turns(task)) < count:
        assert time.monotonic() < deadline, turns(task)
        time.sleep(0.02)


def test_each_prompt_is_a_turn_when_it_waits_for_the_next(task: Sandbox, talk: Talk) -> None:
    talk.says("echo one >1.txt")
    until(task, 1)
    assert [turn[:2] for turn in turns(task)] == [("echo one >1.txt", "stopped")]
    talk.says("/add hello.txt")
    (task.workspace() / "mine.txt").write_text("a person's\n")
    time.sleep(0.3)  # longer than between two looks
    talk.says("echo two >2.txt")
    assert talk.ends() == 0
    assert [(asked, "mine.txt" in files) for asked, _moment, files in turns(task)] == [
        ("echo one >1.txt", False),
        ("echo two >2.txt", False),
    ]


def test_a_turn_in_which_it_asks_goes_on_and_is_taken_back_at_once(
    task: Sandbox, talk: Talk
) -> None:
    talk.says("confirm echo one >1.txt", then=b"may I?\n")
    until(task, 1)
    talk.says("y")
    until(task, 2)
    talk.says("echo two >2.txt")
    assert talk.ends() == 0
    asked = "confirm echo one >1.txt"
    told = [(prompt, files) for prompt, _moment, files in turns(task)]
    assert told == [(asked, []), (asked, ["1.txt"]), ("echo two >2.txt", ["2.txt"])]
    task.siding("undo")
    task.siding("undo")
    assert not (task.workspace() / "1.txt").exists()
    assert task.git("log", "--oneline", cwd=task.workspace()).count("\n") == 0  # the base alone


def test_what_was_said_before_is_not_read_again(task: Sandbox) -> None:
    history = task.workspace() / ".aider.chat.history.md"
    history.write_text("\n#### an old prompt  \n\nDone.\n")
    with history.open("ab") as file:
        file.truncate(100 << 20)
    task.siding("run", "--", "aider", "--message", "true")
    assert [turn[0] for turn in turns(task)] == ["true"]


def test_a_history_of_ones_own_is_followed(task: Sandbox) -> None:
    words = ["--chat-history-file", "talk.md", "--message", "echo one >1.txt"]
    task.siding("run", "--", "aider", *words)
    assert [turn[0] for turn in turns(task)] == ["echo one >1.txt"]
    (task.workspace() / ".aider.conf.yml").write_text("chat-history-file: there.md\n")
    said = task.siding("run", "--", "aider", "--message", "true").stderr.decode()
    assert "reported nothing (.aider.conf.yml says where its chat history is" in said + str(
        run_step(task)["notes"]
    )


def test_a_command_of_ones_own_at_each_prompt_is_kept(task: Sandbox) -> None:
    called = task.directory / "called"
    talk = Talk(task, "--notifications-command", f"echo >>{called}")
    talk.says("echo one >1.txt")
    talk.says("echo two >2.txt")
    talk.ends()
    assert called.read_text() == "\n\n"
    assert [turn[:2] for turn in turns(task)] == [
        ("echo one >1.txt", "prompt"),
        ("echo two >2.txt", "stopped"),
    ]


def test_its_commands_cannot_be_judged(task: Sandbox) -> None:
    (task.repo / ".siding").mkdir()
    (task.repo / ".siding" / "policy.yaml").write_text("version: 1\n")
    done = task.siding("run", "--judge", "require", "--", "aider", "--message", "x", status=2)
    assert b"cannot be: it has no hooks" in done.stderr
    task.siding("run", "--", "aider", "--message", "true")
    assert run_step(task)["reported"].get("judge", "off") == "off"


@pytest.mark.skipif(bool(bwrap_problem()), reason=str(bwrap_problem()))
@pytest.mark.skipif(not Path("/usr/bin/python3").exists(), reason="no Python of the system")
def test_in_a_sandbox(task: Sandbox) -> None:
    # A sandbox has neither the directory of the tests nor a Python of the home.
    program = task.workspace() / "bin" / "aider"
    program.parent.mkdir()
    program.write_text(f"#!/usr/bin/python3\n{TWIN.read_text()}")
    program.chmod(0o755)
    task.env["PATH"] = f"{program.parent}:{task.env['PATH']}"
    task.siding("run", "--sandbox", "--", "aider", "--message", "echo one >1.txt")
    assert [turn[:2] for turn in turns(task)] == [("echo one >1.txt", "stopped")]


class SlowBroker:
    """A broker that answers what a test says, and keeps it waiting until the agent has done more.

    `holds` is, by the number of the report, the file that has to be there before it is answered.
    """

    def __init__(self, directory: Path, holds: dict[int, Path]) -> None:
        self.path = directory / "broker"
        self.moments: list[str] = []
        self._holds = holds
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(str(self.path))
        self._socket.listen()
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                peer, _address = self._socket.accept()
                with peer, peer.makefile("rb") as lines:
                    self._answer(peer, json.loads(lines.readline())["payload"])

    def _answer(self, peer: socket.socket, payload: dict[str, str]) -> None:
        self.moments.append(" ".join([payload["moment"], *payload.get("text", "").split()]))
        awaited = self._holds.get(len(self.moments))
        while awaited is not None and not awaited.exists():
            time.sleep(0.01)
        peer.sendall(b'{"ok": true, "result": {"output": "", "status": 0}}\n')

    def until(self, *moments: str) -> None:
        """Wait until so many have come; they must be these."""
        deadline = time.monotonic() + 20
        while len(self.moments) < len(moments) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert self.moments == list(moments)

    def close(self) -> None:
        self._socket.close()


class TestASlowBroker:
    """What the agent does while a report is under way belongs to the turn in which it did it."""

    @pytest.fixture
    def place(self) -> Iterator[Path]:
        with tempfile.TemporaryDirectory() as made:  # the path of a socket must not be long
            yield Path(made)

    def turn(self, place: Path, name: str) -> str:
        """Return what an agent does in one turn, as words of a shell."""
        say = f"printf '\\n#### {name}\\n\\nDone.\\n' >>{place}/chat"
        return f'{say}; kill -USR1 "$SIDING_FOLLOWER"; touch {place}/{name}.done'

    def follow(self, place: Path, script: str) -> "subprocess.Popen[bytes]":
        line = [sys.executable, "-S", "-E", "-I", str(FOLLOW), "aider", str(place / "chat"), "--"]
        env = {**os.environ, client.VARIABLE: str(place / "broker")}
        return subprocess.Popen([*line, "sh", "-c", script], env=env)

    def test_that_hears_late_that_it_has_begun(self, place: Path) -> None:
        broker = SlowBroker(place, {1: place / "one.done"})
        agent = self.follow(place, f"{self.turn(place, 'one')}; exec sleep 60")
        try:
            broker.until("session", "prompt one", "stopped")
        finally:
            agent.terminate()
            agent.wait(20)
            broker.close()

    def test_that_records_a_turn_while_the_next_one_is_over(self, place: Path) -> None:
        broker = SlowBroker(place, {3: place / "two.done"})
        wait = f"while [ ! -e {place}/more ]; do sleep 0.01; done"
        turns = f"{self.turn(place, 'one')}; {wait}; {self.turn(place, 'two')}"
        agent = self.follow(place, f"{turns}; exec sleep 60")
        try:
            broker.until("session", "prompt one", "stopped")
            (place / "more").touch()
            broker.until("session", "prompt one", "stopped", "prompt two", "stopped")
        finally:
            agent.terminate()
            agent.wait(20)
            broker.close()


class TestTheProgramThatFollows:
    """It stands between a run and the agent, and nobody notices."""

    def status(self, *words: str) -> int:
        process = self.follow(*words)
        process.communicate(timeout=60)
        return process.returncode

    def follow(self, *words: str, **more: Any) -> "subprocess.Popen[bytes]":
        line = [sys.executable, "-S", "-E", "-I", str(FOLLOW), "aider", "/nowhere/chat", "--"]
        env = {name: value for name, value in os.environ.items() if name != client.VARIABLE}
        return subprocess.Popen([*line, *words], env=env, stdout=subprocess.PIPE, **more)

    def test_the_exit_status_is_the_agents(self) -> None:
        assert self.status("sh", "-c", "exit 37") == 37

    def test_so_is_the_signal_that_ended_it(self) -> None:
        assert self.status("sh", "-c", "kill -9 $$") == -signal.SIGKILL
        assert self.status("sh", "-c", "kill -TERM $$") == -signal.SIGTERM

    def test_a_signal_is_passed_on(self) -> None:
        script = "trap 'echo got it; exit 5' TERM; echo ready; while :; do sleep 0.01; done"
        process = self.follow("sh", "-c", script)
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        process.terminate()
        assert process.communicate(timeout=60)[0] == b"got it\n"
        assert process.returncode == 5

    def test_the_signals_of_a_terminal_are_the_agents(self) -> None:
        script = "trap 'echo interrupted; exit 6' INT; echo ready; while :; do sleep 0.01; done"
        process = self.follow("sh", "-c", script, start_new_session=True)
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        os.killpg(process.pid, signal.SIGINT)
        assert process.communicate(timeout=60)[0] == b"interrupted\n"
        assert process.returncode == 6

    def test_a_program_that_is_not_there_is_said(self) -> None:
        process = self.follow("no-such-program", stderr=subprocess.PIPE)
        assert process.communicate(timeout=60)[1] == (
            b"siding: no-such-program: No such file or directory\n"
        )
        assert process.returncode == 127


@pytest.mark.skipif(shutil.which("aider") is None, reason="no aider (pip: aider-chat)")
def test_the_real_one(sandbox: Sandbox) -> None:
    sandbox.siding("task", "start", "followed")
    edit = "2.txt\n```\n<<<<<<< SEARCH\n=======\ntwo\n>>>>>>> REPLACE\n```\n"
    server = ModelServer([[edit]], answers_all=True)
    sandbox.env |= {
        "OPENAI_API_BASE": f"{server.url}/v1",
        "OPENAI_API_KEY": "sk-of-a-test",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    }
    words = ["--model", "openai/a-model", "--edit-format", "diff", "--yes-always", "--no-stream"]
    quiet = ["--map-tokens", "0", "--no-show-model-warnings", "--no-check-update"]
    off = ["--analytics-disable", "--no-gitignore"]
    line = ["aider", *words, *quiet, *off, "--message", "Make 2.txt"]
    try:
        sandbox.siding("run", "--", *line, timeout=200)
    finally:
        server.close()
    (turn,) = turns(sandbox)
    assert turn[:2] == ("Make 2.txt", "stopped")
    assert "2.txt" in turn[2]
    assert "2.txt" in sandbox.git("show", "--stat", "HEAD", cwd=sandbox.workspace())
