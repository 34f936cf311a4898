"""Going on with a found session: which command, where, recorded or not; and the picker."""

import os
import re
import signal
from pathlib import Path

import pytest

from client_homes import bytes_below, put, session_id
from sandbox import SIDING, Sandbox
from terminal import Terminal

COMMANDS = {
    "claude": "claude --resume {}",
    "codex": "codex resume {}",
    "gemini": "gemini --resume {}",
}


def home_of(sandbox: Sandbox) -> Path:
    return sandbox.directory / "home"


def stand_ins(sandbox: Sandbox) -> None:
    """Put programs on the PATH that say how they were started."""
    place = sandbox.directory / "programs"
    place.mkdir()
    for name in COMMANDS:
        program = place / name
        program.write_text(
            f'#!/bin/sh\necho "started {name} $* in $(pwd) run ${{SIDING_RUN_ID:-none}}."\n',
            encoding="utf-8",
        )
        program.chmod(0o755)
    sandbox.env["PATH"] = os.pathsep.join([str(place), sandbox.env["PATH"]])


@pytest.mark.parametrize("client", list(COMMANDS))
def test_the_clients_own_command_goes_on_where_the_session_was(
    client: str, sandbox: Sandbox
) -> None:
    stand_ins(sandbox)
    place = sandbox.repo / "src"
    put(home_of(sandbox), client, 1, cwd=str(place))
    command = COMMANDS[client].format(session_id(1))
    shown = sandbox.siding("session", "open", session_id(1)[:8], "--print").stdout.decode()
    assert shown == f"cd {place} && {command}\n"
    done = sandbox.siding("session", "open", session_id(1), cwd=sandbox.directory)
    assert f"started {command} in {place} run none." in done.stdout.decode()
    assert b"not recorded" in done.stderr


def test_a_session_of_an_open_task_goes_on_in_a_run(sandbox: Sandbox) -> None:
    stand_ins(sandbox)
    task = sandbox.json("task", "start", "mend it", "--format", "json")["id"]
    workspace = sandbox.siding("path", task).stdout.decode().strip()
    put(home_of(sandbox), "codex", 1, cwd=f"{workspace}/src")
    command = f"codex resume {session_id(1)}"
    done = sandbox.siding("session", "open", session_id(1), cwd=sandbox.directory)
    assert f"resume {session_id(1)} in {workspace}/src run r" in done.stdout.decode()
    assert b"in siding run, task mend it" in done.stderr
    (step,) = sandbox.steps(task)
    assert step["cmd"] == command.split()
    sandbox.siding("task", "close", task, "--keep")
    again = sandbox.siding("session", "open", session_id(1), "--print").stdout.decode()
    assert again == f"cd {workspace}/src && {command}\n"


def test_a_directory_that_is_gone_is_said_with_what_to_do(sandbox: Sandbox) -> None:
    put(home_of(sandbox), "claude", 1, cwd=str(sandbox.repo / "gone"))
    refused = sandbox.siding("session", "open", session_id(1), status=1)
    assert b"is gone" in refused.stderr
    assert b"make it again" in refused.stderr


def test_an_id_that_could_be_an_option_starts_nothing(sandbox: Sandbox) -> None:
    path = put(home_of(sandbox), "claude", 1, cwd=str(sandbox.repo), prompt="odd")
    path.rename(path.with_name("--dangerously-skip.jsonl"))
    (row,) = sandbox.json("session", "list", "--format", "json")
    assert row["id"] == "--dangerously-skip"
    sandbox.siding("session", "open", "--print", "--", "--dangerously-skip", status=2)


def test_without_a_terminal_the_sessions_are_listed(sandbox: Sandbox) -> None:
    put(home_of(sandbox), "claude", 1, cwd=str(sandbox.repo), prompt="the quagga")
    assert b"the quagga" in sandbox.siding("session").stdout


def test_on_a_terminal_one_is_chosen_by_typing(sandbox: Sandbox) -> None:
    stand_ins(sandbox)
    for number, prompt in enumerate(("zebra", "Größe der 牛", "giraffe")):
        put(home_of(sandbox), "claude", number, cwd=str(sandbox.repo), prompt=prompt)
    before = bytes_below(home_of(sandbox))
    terminal = Terminal([*SIDING, "session"], cwd=sandbox.repo, env=sandbox.env)
    terminal.wait_for(b"(3)")
    terminal.type("größe".encode())
    terminal.wait_for(b"(1)")
    terminal.type(b"\r")
    terminal.wait_for(f"started claude --resume {session_id(1)}".encode())
    assert terminal.finish() == 0
    assert bytes_below(home_of(sandbox)) == before


@pytest.mark.parametrize("key", [b"\x1b", b"\x03"])
def test_leaving_starts_nothing_and_gives_the_terminal_back(key: bytes, sandbox: Sandbox) -> None:
    stand_ins(sandbox)
    put(home_of(sandbox), "claude", 1, cwd=str(sandbox.repo), prompt="zebra")
    script = f"{' '.join(SIDING)} session; stty -a"
    terminal = Terminal(["sh", "-c", script], cwd=sandbox.repo, env=sandbox.env)
    terminal.wait_for(b"(1)")
    terminal.type(key)
    terminal.wait_for(b"speed")
    terminal.finish()
    assert b"started" not in terminal.seen
    assert b"echo" in terminal.seen
    assert not [each for each in (b"-icanon", b"-isig", b"-echo ") if each in terminal.seen]
    assert terminal.seen.count(b"\x1b[?1049h") == terminal.seen.count(b"\x1b[?1049l") == 1


def test_an_arrow_in_two_pieces_moves(sandbox: Sandbox) -> None:
    stand_ins(sandbox)
    for number in range(2):
        put(home_of(sandbox), "claude", number, cwd=str(sandbox.repo), prompt=f"zebra {number}")
    terminal = Terminal([*SIDING, "session"], cwd=sandbox.repo, env=sandbox.env)
    terminal.wait_for(b"(2)")
    first = terminal.seen.rfind(b"> ")
    terminal.type(b"\x1b")
    terminal.type(b"[B")
    while terminal.seen.rfind(b"> ") == first:
        terminal.until_quiet()
    terminal.type(b"\r")
    assert terminal.finish() == 0
    (started,) = re.findall(rb"started claude --resume (\S+) ", terminal.seen)
    listed = sandbox.json("session", "list", "--format", "json")
    assert started.decode() == listed[1]["id"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT])
def test_a_signal_that_ends_it_gives_the_terminal_back(number: int, sandbox: Sandbox) -> None:
    put(home_of(sandbox), "claude", 1, cwd=str(sandbox.repo), prompt="zebra")
    script = f"trap : HUP; {' '.join(SIDING)} session & echo pid $!.; fg; echo was $?; stty -a"
    terminal = Terminal(["bash", "-mc", script], cwd=sandbox.repo, env=sandbox.env)
    terminal.wait_for(b"(1)")
    found = re.search(rb"pid (\d+)\.", terminal.seen)
    assert found is not None
    os.kill(int(found[1]), number)
    terminal.wait_for(b"speed")
    terminal.finish()
    assert f"was {128 + number}".encode() in terminal.seen
    assert not [each for each in (b"-icanon", b"-isig", b"-echo ") if each in terminal.seen]
    assert terminal.seen.count(b"\x1b[?1049h") == terminal.seen.count(b"\x1b[?1049l") == 1
