"""The screen inside tmux, inside GNU screen, and over a local sshd, as a person sees it there."""

import re
import shlex
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from drawn_terminal import DrawnTerminal
from integration.terminals.sshd import Sshd
from sandbox import SIDING, Sandbox
from tmux import Tmux

OF_SIXTEEN = re.compile(r"\x1b\[(?:[0-9]+;)*[39][0-7](?:;[0-9]+)*m")
OF_MORE = re.compile(r"\x1b\[[0-9;]*[34]8;[25];")
PATIENCE_S = 60.0


@pytest.fixture
def day(sandbox: Sandbox) -> Sandbox:
    """A home with a task to apply, in which the first start was seen."""
    sandbox.siding("run", "--new", "fix", "--", "sh", "-c", "echo one > a; echo two >> hello.txt")
    begun = Path(sandbox.env["SIDING_HOME"]) / "terminal/begun"
    begun.parent.mkdir(parents=True, exist_ok=True)
    begun.touch()
    return sandbox


def until_no_screen_is_open(day: Sandbox) -> None:
    """Wait until no process shows a screen: each has a file in the home as long as it does."""
    screens, end = Path(day.env["SIDING_HOME"]) / "screens", time.monotonic() + PATIENCE_S
    while left := [*screens.iterdir()]:
        assert time.monotonic() < end, left
        time.sleep(0.05)


def test_in_tmux(day: Sandbox, tmp_path: Path) -> None:
    with Tmux(tmp_path, cwd=day.repo, env=day.env) as tmux:
        tmux.type("echo before")
        tmux.press("Enter")
        tmux.start(*SIDING)
        tmux.until_shown("READY TO APPLY", "1 ready")
        assert tmux.told("alternate_on") == "1"
        assert tmux.told("mouse_any_flag") == "1"
        assert OF_MORE.search(tmux.coloured)
        tmux.press("Enter")
        tmux.until_shown("FILES 0/2 viewed", "+ two")
        tmux.resize(24, 62)
        tmux.until(
            lambda: max(map(len, tmux.screen.splitlines())) <= 62 and "? keys" in tmux.screen
        )
        tmux.resize(40, 160)
        tmux.until_shown("FILES 0/2 viewed", "+ two")
        tmux.press("C-z")
        tmux.until_shown("Stopped")
        assert tmux.told("alternate_on") == "0"
        tmux.start("fg")
        tmux.until_shown("FILES 0/2 viewed", "+ two")
        tmux.press("q", "q")
        tmux.until(lambda: tmux.told("alternate_on") == "0")
        assert tmux.told("mouse_any_flag") == "0"
        tmux.until_shown("before")
        assert "READY" not in tmux.screen
        tmux.type("echo $((6*7))")
        tmux.press("Enter")
        tmux.until_shown("42")


def test_in_gnu_screen(day: Sandbox, tmp_path: Path) -> None:
    if shutil.which("screen") is None:
        pytest.skip("there is no GNU screen")
    sockets, rules = tmp_path / "sockets", tmp_path / "screenrc"
    sockets.mkdir(mode=0o700)
    rules.write_text("startup_message off\naltscreen on\n")
    env = {**day.env, "SCREENDIR": str(sockets), "PS1": "$ "}
    first = DrawnTerminal(
        ["screen", "-c", str(rules), "-S", "tests", "sh", "-i"], cwd=day.repo, env=env
    )
    second = None
    try:
        first.until_shown("$")
        begun = len(first.seen)
        first.type(f"{shlex.join(SIDING)}\r".encode())
        first.until_shown("READY TO APPLY", "1 ready")
        assert OF_MORE.search(first.seen[begun:].decode())
        first.type(b"\r")
        first.until_shown("FILES 0/2 viewed", "+ two")
        first.type(b"\x01d")  # leaves GNU screen, in which the screen of Siding stays
        assert first.finish() == 0
        second = DrawnTerminal(
            ["screen", "-r", "tests"], cwd=day.repo, env=env, rows=24, columns=62
        )
        second.until_shown(">a  +1 -0  new", "+ two", "? keys", "1 ready")
        second.type(b"q")
        second.until_shown("READY TO APPLY")
        second.type(b"q")
        second.until(lambda: "$" in second.screen and "READY" not in second.screen)
        second.type(b"echo $((6*7))\r")
        second.until_shown("42")
        second.type(f"{shlex.join(SIDING)}\r".encode())
        second.until_shown("READY TO APPLY", "1 ready")
    finally:
        words = ["screen", "-S", "tests", "-X", "quit"]
        subprocess.run(words, env=env, capture_output=True, check=False)
        for each in (first, second):
            if each is not None:
                each.kill()
    until_no_screen_is_open(day)  # its terminal is gone, and it is


def test_over_ssh(day: Sandbox, tmp_path: Path) -> None:
    with Sshd(tmp_path) as sshd:
        client = sshd.client(SIDING, cwd=day.repo, env=day.env)
        client_env = {**day.env, "TERM": "xterm-256color"}
        terminal = DrawnTerminal(client, cwd=day.repo, env=client_env)
        terminal.until_shown("READY TO APPLY", "1 ready")
        assert OF_MORE.search(terminal.seen.decode())
        terminal.type(b"\r")
        terminal.until_shown("FILES 0/2 viewed", "+ two")
        terminal.type(b"qq")
        assert terminal.finish() == 0
        assert terminal.seen.rindex(b"\x1b[?1049l") > terminal.seen.rindex(b"\x1b[?1049h")
        assert terminal.screen.strip() == ""

        terminal = DrawnTerminal(client, cwd=day.repo, env={**client_env, "TERM": "linux"})
        terminal.until_shown("READY TO APPLY", "1 ready")
        # After the first frame, which is drawn without colours.
        terminal.until(lambda: OF_SIXTEEN.search(terminal.seen.decode()) is not None)
        assert not OF_MORE.search(terminal.seen.decode())
        go = tmp_path / "go"
        terminal.type(b"N")
        terminal.until_shown("new task in")
        line = f"sh -c 'while [ ! -e {go} ]; do sleep 0.1; done; echo late > late'"
        terminal.type(f"{line}\r".encode())
        terminal.until_shown("1 run")
        terminal.kill()  # the connection is gone, and no word was said
        until_no_screen_is_open(day)
        go.touch()
        end = time.monotonic() + PATIENCE_S
        while [row["state"] for row in rows(day)] != ["ready", "ready"]:
            assert time.monotonic() < end, rows(day)
            time.sleep(0.1)
        assert b"+late" in day.siding("diff").stdout


def rows(day: Sandbox) -> list[dict[str, Any]]:
    found = day.json("status", "--all", "--json")["feed"]["rows"]
    assert isinstance(found, list)
    return found
