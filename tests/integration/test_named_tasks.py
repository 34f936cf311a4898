"""A task is found by any part of its name that fits no other; a person chooses among several."""

import contextlib
import json
import re
import shlex
import socket
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from sandbox import Sandbox
from terminal import Terminal


@pytest.fixture
def board(sandbox: Sandbox) -> Sandbox:
    for name in ("Fix the Parser", "parse faster", "Speed up the lexer"):
        sandbox.siding("task", "start", name)
    return sandbox


def path_of(sandbox: Sandbox, named: str) -> Path:
    return Path(sandbox.siding("path", named).stdout.decode().strip())


def test_a_part_of_the_name_is_enough_for_any_command(board: Sandbox) -> None:
    there = board.workspace("Fix the Parser")
    assert path_of(board, "parser") == there
    assert path_of(board, "THE P") == there
    assert b"Fix the Parser" in board.siding("log", "-t", "fix").stderr
    assert b"Fix the Parser" in board.siding("switch", "parser").stderr
    board.siding("task", "close", "lexer")
    # A closed task does not stand in the way of an open one.
    board.siding("task", "start", "the lexer again")
    assert path_of(board, "lexer") == board.workspace("the lexer again")


def test_several_are_listed_and_nothing_is_done(board: Sandbox) -> None:
    said = board.siding("task", "close", "pars", status=2).stderr
    assert b"'pars' could be any of several tasks: " in said
    assert b"'Fix the Parser' (" in said
    assert b"'parse faster' (" in said
    listed = json.loads(board.siding("task", "list", "--format", "json").stdout)
    assert len(listed) == 3


def test_at_a_terminal_one_of_several_is_chosen(board: Sandbox) -> None:
    seen = Terminal([*board.program, "path", "pars"], cwd=board.repo, env=board.env)
    seen.wait_for(b"which task is 'pars' (a number)? ")
    lines = seen.seen.decode().splitlines()
    number = next(line.split()[0] for line in lines if "Fix the Parser" in line)
    seen.type(f"{number}\r".encode())
    assert seen.finish() == 0
    assert str(board.workspace("Fix the Parser")).encode() in seen.seen


def test_the_task_before_is_a_dash_wherever_a_task_is_named(board: Sandbox) -> None:
    script = (
        "siding switch parser; siding switch lexer; siding path -; siding -q diff -t - --stat; "
        "siding -q switch -; siding path; exit\r"
    )
    seen = Terminal(["sh"], cwd=board.repo, env={**board.env, "PS1": ""})
    seen.type(script.encode())
    assert seen.finish() == 0
    assert seen.seen.count(str(board.workspace("Fix the Parser")).encode() + b"\r\n") == 2


@pytest.mark.parametrize("act", ["path", "status --short", "__complete show ''"])
def test_only_what_was_typed_is_asked_about(board: Sandbox, act: str) -> None:
    """A variable speaks for scripts and prompts: a question there would stop a shell."""
    command = f"{shlex.join(board.program)} {act}; echo ended"
    env = {**board.env, "SIDING_TASK": "pars"}
    seen = Terminal(["sh", "-c", command], cwd=board.repo, env=env)
    seen.wait_for(b"ended", seconds=20)
    assert seen.finish() == 0
    assert b"(a number)?" not in seen.seen


def test_a_dashboard_asks_nobody_at_its_terminal(board: Sandbox) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    page = Terminal([*board.program, "ui", "--port", port], cwd=board.repo, env=board.env)
    address = re.search(rb"http://\S+", page.wait_for(b"http://"))
    assert address is not None
    base, _, token = address[0].decode().partition("?")
    url = f"{base.rstrip('/')}/api/v1/tasks/pars?{token}"
    with contextlib.suppress(urllib.error.HTTPError):
        urllib.request.urlopen(url, timeout=20)
    assert b"(a number)?" not in page.seen
    page.type(b"\x03")
    page.finish()


def test_what_is_typed_twice_is_asked_once(board: Sandbox) -> None:
    seen = Terminal(
        [*board.program, "task", "update", "pars", "-m", "x"], cwd=board.repo, env=board.env
    )
    seen.wait_for(b"(a number)? ")
    seen.type(b"1\r")
    assert seen.finish() == 0
    assert seen.seen.count(b"(a number)?") == 1
