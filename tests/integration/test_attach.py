"""Watching a run from another terminal, and typing into it."""

import ctypes
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bwrap import needs_bwrap
from sandbox import SIDING, Sandbox
from siding.ground.process.command import WindowSize
from siding.ground.process.control import frames
from siding.ground.process.control.client import Connection, HostGone, Refused
from siding.ground.process.control.frames import connect_to
from siding.ground.process.control.server import MOST_VIEWERS
from siding.ground.process.emulator import TextScreen
from terminal import Terminal

UNTIL_GO = "while [ ! -e go ]; do sleep .02; done"
ECHO = 'while read line; do echo "<$line>"; done'
LEAVE = b"\x1dd"  # Ctrl-] d

needs_vim = pytest.mark.skipif(shutil.which("vim") is None, reason="there is no vim")

Sit = Callable[..., Terminal]


@pytest.fixture
def task(sandbox: Sandbox) -> Iterator[Sandbox]:
    sandbox.siding("task", "start", "watched")
    yield sandbox
    sandbox.siding("stop", "--all", "--now")


@pytest.fixture
def sit_down(task: Sandbox) -> Iterator[Sit]:
    """Put a person at a terminal, who starts Siding there."""
    terminals: list[Terminal] = []

    def sit(*words: str, rows: int = 30, columns: int = 100) -> Terminal:
        argv = [*SIDING, *words]
        terminals.append(Terminal(argv, cwd=task.repo, env=task.env, rows=rows, columns=columns))
        return terminals[-1]

    yield sit
    for terminal in terminals:
        terminal.kill()


def background(task: Sandbox, *command: str, terminal: bool = True) -> None:
    task.siding("run", "--detach", *(["--tty"] if terminal else []), "--", *command)


def printed(task: Sandbox, text: bytes, run: str = "r1") -> bytes:
    """Wait until a run has printed `text`; return all that it printed."""
    end = time.monotonic() + 30
    while text not in (seen := task.siding("output", run, "--raw").stdout):
        assert time.monotonic() < end, seen
    return seen


def socket_of(task: Sandbox, run: str = "r1") -> Path:
    (found,) = task.project.glob(f"tasks/*/runs/{run}.sock")
    return found


# --- send


def test_lines_and_keys_reach_a_program_in_the_background(task: Sandbox) -> None:
    background(task, sys.executable, "-q")
    task.siding("send", "r1", "print(6 * 7)")
    printed(task, b"\n42")
    task.siding("send", "r1", "while True: pass", "--key", "enter")
    task.siding("send", "r1", "--key", "ctrl-c")
    printed(task, b"KeyboardInterrupt")
    task.siding("send", "r1", "--raw", "print('not ")
    task.siding("send", "r1", "--file", "-", stdin=b"yet')\r")
    printed(task, b"\nnot yet")
    task.siding("send", "r1", "raise SystemExit(3)")
    task.siding("output", "r1", "--follow")
    (step,) = task.steps()
    assert (step["exit_code"], step["output"]["streams"]) == (3, "pty")
    assert b"nothing runs" in task.siding("send", "r1", "too late", status=1).stderr


@needs_vim
def test_vim_is_driven_from_outside(task: Sandbox) -> None:
    background(task, "vim", "-u", "NONE", "-N", "hello.txt")
    printed(task, b"hello.txt")
    task.siding("send", "r1", "--raw", "oone", "--key", "enter", "--key", "escape")
    task.siding("send", "r1", "--key", "up", "--key", "D")
    task.siding("send", "r1", ":wq")
    task.siding("output", "r1", "--follow")
    assert (task.workspace() / "hello.txt").read_text() == "hello\n\n\n"


def test_what_cannot_be_typed_is_said(task: Sandbox) -> None:
    background(task, "sleep", "300", terminal=False)
    refused = task.siding("send", "r1", "hello", status=1).stderr
    assert b"run r1 has no terminal and no input" in refused
    assert b"--detach --tty" in refused
    assert b"there is no key 'hyper'" in task.siding("send", "r1", "-k", "hyper", status=2).stderr
    assert b"nothing to send" in task.siding("send", "r1", status=2).stderr
    assert b"no run 'web' lives" in task.siding("send", "web", "x", status=1).stderr


# --- attach


def test_a_run_is_watched_and_left_and_goes_on(task: Sandbox, sit_down: Sit) -> None:
    background(task, "sh", "-c", f"echo began; {ECHO}; exit 5")
    person = sit_down("attach", "r1")
    person.wait_for(b"ctrl-] d leaves it running")
    person.wait_for(b"began")
    person.type(b"first\r")
    person.wait_for(b"<first>")
    person.type(LEAVE)
    assert person.finish() == 0
    assert b"r1 goes on" in person.seen
    task.siding("send", "r1", "between")
    printed(task, b"<between>")
    again = sit_down("attach")
    again.wait_for(b"<between>")
    again.type(b"\x04")
    assert again.finish() == 5
    assert b"step 0001" in again.seen
    assert b"exit 5" in again.seen


def test_the_key_for_leaving_is_chosen_and_reaches_the_program_when_typed_twice(
    task: Sandbox, sit_down: Sit
) -> None:
    background(task, "sh", "-c", "stty -echo raw; echo on; dd bs=1 count=3 2>&- | od -An -tx1")
    printed(task, b"on")
    person = sit_down("attach", "--detach-key", "ctrl-a")
    person.wait_for(b"on")
    person.type(b"\x01\x01\x1d\x01x")
    person.wait_for(b"01 1d 01")
    assert person.finish() == 0
    refused = task.siding("attach", "--detach-key", "d", status=2).stderr
    assert b"cannot be the key for leaving" in refused


@needs_vim
def test_a_full_screen_program_is_drawn_for_whoever_comes_later(
    task: Sandbox, sit_down: Sit
) -> None:
    (task.workspace() / "hello.txt").write_text("the text\n" * 3)
    background(task, "vim", "-u", "NONE", "-N", "hello.txt")
    printed(task, b"the text")
    person = sit_down("attach", rows=20, columns=60)
    person.wait_for(b"\x1b[?1049h")
    person.wait_for(b"\x1b[20;1H")  # its last line is where this window's is
    person.type(b":q\r")
    assert person.finish() == 0
    before_the_note, told, _ = person.seen.rpartition("completed · exit 0".encode())
    assert told
    assert before_the_note.rfind(b"\x1b[?1049l") > before_the_note.rfind(b"\x1b[?1049h")


def test_the_size_is_that_of_whoever_acted_last(task: Sandbox, sit_down: Sit) -> None:
    background(task, "sh", "-c", "trap 'stty size' WINCH; while :; do read x && stty size; done")
    wide = sit_down("attach", rows=40, columns=120)
    wide.wait_for(b"40 120")
    small = sit_down("attach", rows=20, columns=60)
    small.wait_for(b"20 60")
    wide.wait_for(b"20 60")
    wide.seen = b""
    wide.type(b"\r")
    wide.wait_for(b"40 120")
    small.seen = b""
    wide.type(LEAVE)
    assert wide.finish() == 0
    small.wait_for(b"20 60")  # the next one's, as soon as the last one has left


BOX = """
import shutil, sys, time
first = "\\x1b[?1049h\\x1b[2J\\x1b[H" if sys.argv[1:] else ""
sys.stdout.write(first + "\\x1b[?25l\\x1b[?2004h\\x1b[3;9r")
sys.stdout.write("\\x1b[r" + "".join(f"line {number}\\r\\n" for number in range(40)))
for number in range(3000):
    columns = shutil.get_terminal_size().columns
    box = ["+" + "-" * (columns - 2) + "+", f"round\\x1b[1C{number}", "press\\x1b[1Ckeys now"]
    up = "" if not number else "\\x1b[2K\\x1b[1A\\x1b[2K\\x1b[1A\\x1b[2K\\r"
    sys.stdout.write(up + "\\r\\n".join(box))
    sys.stdout.flush()
    time.sleep(0.02)
"""


@pytest.mark.parametrize("alternate", [False, True])
def test_whoever_leaves_a_screen_has_a_clean_one_and_others_can_read_it(
    task: Sandbox, sit_down: Sit, alternate: bool
) -> None:
    """The line of the shell that follows is below what is there; so it was drawn by a terminal."""
    background(task, sys.executable, "-c", BOX, *(["alternate"] if alternate else []))
    person = sit_down("attach", "r1", rows=20, columns=60)
    person.wait_for(b"round\x1b[1C9")
    person.type(LEAVE)
    assert person.finish() == 0
    screen = TextScreen(WindowSize(rows=20, columns=60))
    screen.feed("$ siding attach r1\r\n" + person.seen.decode() + "$ next")
    lines = [line for line in screen.lines() if line]
    told = "siding: watched · r1 goes on · siding attach r1"
    assert lines[-2:] == [told, "$ next"]
    assert sum("round" in line for line in lines) == (0 if alternate else 1)
    assert (lines[0] == "$ siding attach r1") == alternate
    for mode in (b"\x1b[?25h", b"\x1b[?2004l", b"\x1b[r"):
        assert person.seen.rindex(mode) > person.seen.index(b"round"), mode

    time.sleep(2)  # so much was drawn that the beginning is not looked at
    for verb in ("show", "output"):
        shown = task.siding(verb, "r1").stdout.decode()
        assert shown.count("round ") == 1, shown
        assert "+" + "-" * 58 + "+\n" in shown, "the size is the one that the terminal has now"
    assert b"\x1b[1C" in task.siding("output", "r1", "--raw").stdout


def test_a_killed_viewer_disturbs_nobody(task: Sandbox, sit_down: Sit) -> None:
    background(task, "sh", "-c", ECHO)
    one, two = sit_down("attach"), sit_down("attach")
    one.wait_for(b"leaves it")
    two.wait_for(b"leaves it")
    one.type(b"both\r")
    one.wait_for(b"<both>")
    two.wait_for(b"<both>")
    one.process.send_signal(signal.SIGKILL)
    one.process.wait(30)
    two.type(b"still\r")
    two.wait_for(b"<still>")
    two.type(b"\x04")
    assert two.finish() == 0
    (step,) = task.steps()
    assert step["status"] == "completed"


def test_a_viewer_that_does_not_read_holds_nobody_up_and_is_skipped_forward(
    task: Sandbox, sit_down: Sit
) -> None:
    flood = "read x; head -c 8000000 /dev/zero | tr '\\0' x; echo; echo flooded; read y; echo done"
    background(task, "sh", "-c", flood)
    slow = Connection(socket_of(task), mode="attach")
    task.siding("send", "r1", "begin")
    printed(task, b"flooded")  # the run went on to there
    kinds = {frame.kind: frame for frame in slow.read()}
    while frames.SKIPPED not in kinds:
        kinds |= {frame.kind: frame for frame in slow.read()}
    assert frames.number(kinds[frames.SKIPPED].fields()["bytes"], most=1 << 40) > 1_000_000
    task.siding("send", "r1", "end")
    seen = b""
    while b"done" not in seen:
        seen += b"".join(frame.data for frame in slow.read() if frame.kind == frames.OUTPUT)
    slow.close()


def test_a_run_in_the_foreground_is_watched_from_another_terminal(
    task: Sandbox, sit_down: Sit
) -> None:
    owner = sit_down("run", "--", "sh", "-c", f"echo began; {ECHO}", rows=30, columns=100)
    owner.wait_for(b"began")
    guest = sit_down("attach", rows=20, columns=60)
    guest.wait_for(b"began")
    guest.type(b"from the guest\r")
    owner.wait_for(b"<from the guest>")
    owner.type(b"from the owner\r")
    guest.wait_for(b"<from the owner>")
    guest.type(LEAVE)
    assert guest.finish() == 0
    owner.type(b"\x04")
    assert owner.finish() == 0


def test_the_names_of_runs_are_completed(task: Sandbox) -> None:
    task.siding("run", "--detach", "--name", "web", "--", "sleep", "300")
    for verb in ("attach", "send", "stop", "output"):
        assert task.siding("__complete", verb, "").stdout == b"web\tr1 \xc2\xb7 sleep 300\n"


def test_who_only_looks_types_nothing(task: Sandbox, sit_down: Sit) -> None:
    background(task, "sh", "-c", f"echo began; stty size; {ECHO}")
    person = sit_down("attach", "--read-only", rows=20, columns=60)
    person.wait_for(b"only looking")
    person.wait_for(b"24 80")
    person.type(b"secretly\r")
    other = Connection(socket_of(task), mode="attach", read_only=True)
    other.type(b"secretly\r")  # a viewer of somebody else's may try
    other.close()
    task.siding("send", "r1", "openly")
    person.wait_for(b"<openly>")
    assert b"secretly" not in printed(task, b"<openly>")
    person.type(LEAVE)
    assert person.finish() == 0


def test_a_run_without_a_terminal_is_only_shown(task: Sandbox, sit_down: Sit) -> None:
    background(task, "sh", "-c", f"echo out; echo err >&2; {UNTIL_GO}; exit 4", terminal=False)
    printed(task, b"out")
    person = sit_down("attach")
    person.wait_for(b"what is typed goes nowhere")
    person.wait_for(b"out\r\n")
    person.wait_for(b"err\r\n")
    person.type(b"\x03")
    assert person.finish() == 0
    assert b"r1 goes on" in person.seen
    again = sit_down("attach")
    again.wait_for(b"out")
    (task.workspace() / "go").touch()
    assert again.finish() == 4


def test_attaching_needs_a_terminal_and_a_run(task: Sandbox, sit_down: Sit) -> None:
    assert b"needs a terminal on both sides" in task.siding("attach", status=2).stderr
    person = sit_down("attach")
    assert person.finish() == 1
    assert b"nothing runs in task 'watched'" in person.seen


def test_what_the_program_asked_before_is_not_answered_now(task: Sandbox, sit_down: Sit) -> None:
    asking = "printf '\\033[c\\033[6n\\033]11;?\\007began\\n'"
    background(task, "sh", "-c", f"{asking}; {ECHO}")
    printed(task, b"began")
    person = sit_down("attach")
    person.type(b"now\r")
    person.wait_for(b"<now>")
    for question in (b"\x1b[c", b"\x1b[6n", b"\x1b]11;?"):
        assert question not in person.seen
        assert question in task.siding("output", "r1", "--raw").stdout


def test_an_agent_that_talks_has_a_terminal_if_a_person_starts_it(
    task: Sandbox, sit_down: Sit
) -> None:
    tools = task.directory / "tools"
    tools.mkdir()
    (tools / "claude").write_text(f"#!/bin/sh\ntest -t 0 && echo talks; {ECHO}\n")
    (tools / "claude").chmod(0o755)
    task.env["PATH"] = f"{tools}:{task.env['PATH']}"
    task.siding("guard", "off")
    person = sit_down("run", "--detach", "--", "claude", rows=22, columns=66)
    assert person.finish() == 0
    assert b"siding attach r1" in person.seen
    printed(task, b"talks")
    task.siding("send", "r1", "stty size")
    printed(task, b"<stty size>")
    person = sit_down("run", "--detach", "--", "claude", "-p", "do it")
    assert person.finish() == 0
    assert b"siding output r2" in person.seen
    task.siding("run", "--detach", "--", "claude")  # not at a terminal
    assert b"talks" not in task.siding("output", "r3", "--follow").stdout


def test_a_run_does_not_watch_itself(task: Sandbox, sit_down: Sit) -> None:
    """What it shows would be shown again, for ever."""
    script = '"$@" attach; "$@" send r1 hello'
    person = sit_down("run", "--", "sh", "-c", script, "sh", *SIDING)
    assert person.finish() == 2
    assert person.seen.count(b"this is inside run r1") == 2


# --- the socket


def test_the_socket_is_for_this_user_and_goes_with_the_run(task: Sandbox) -> None:
    background(task, "sleep", "300")
    path = socket_of(task)
    assert path.stat().st_mode & 0o777 == 0o600
    task.siding("stop")
    assert not path.exists()


def test_a_run_without_a_record_has_a_socket_too(task: Sandbox, sit_down: Sit) -> None:
    task.siding("run", "--detach", "--tty", "--no-record", "--", "sh", "-c", f"{ECHO}; exit 6")
    person = sit_down("attach")
    person.type(b"hello\r")
    person.wait_for(b"<hello>")
    person.type(b"\x04")
    assert person.finish() == 6


def test_a_path_that_is_too_long_for_an_address(tmp_path: Path) -> None:
    long = Sandbox(tmp_path / "/".join(["directory"] * 12))
    assert len(os.fsencode(long.directory)) > 107
    long.siding("task", "start", "deep")
    background(long, "sh", "-c", ECHO)
    long.siding("send", "r1", "hello")
    printed(long, b"<hello>")
    long.siding("stop")


@pytest.mark.parametrize(
    "message",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        b"h\xff\xff\xff\xff",
        b"h\0\0\0\2{}",
        b"h\0\0\0\4nope",
        b"t\0\0\0\1x",
        b"h\0\0\0\7",  # and nothing more
        b"",
    ],
)
def test_a_peer_that_does_not_speak_the_protocol_disturbs_nobody(
    task: Sandbox, message: bytes
) -> None:
    background(task, "sh", "-c", ECHO)
    peers = [connect_to(socket_of(task)) for _ in range(40)]
    for peer in peers:
        try:
            peer.sendall(message)
        except OSError:
            pass  # it was sent away already
    task.siding("send", "r1", "hello")
    printed(task, b"<hello>")
    for peer in peers:
        peer.close()


def test_the_number_of_viewers_has_a_limit(task: Sandbox) -> None:
    background(task, "sh", "-c", ECHO)
    silent = connect_to(socket_of(task))
    viewers = [Connection(socket_of(task), mode="attach") for _ in range(MOST_VIEWERS)]
    assert silent.recv(1) == b"", "who says nothing makes room"
    silent.close()
    with pytest.raises(Refused, match="viewers are there already"):
        Connection(socket_of(task), mode="attach")
    viewers.pop().close()
    task.siding("send", "r1", "hello")
    printed(task, b"<hello>")
    for viewer in viewers:
        viewer.close()


def test_a_process_in_a_sandbox_is_not_served(task: Sandbox) -> None:
    """Landlock does not govern connecting: such a process is known by its no_new_privs."""
    background(task, "sh", "-c", ECHO)
    path = socket_of(task)
    child = os.fork()
    if child == 0:
        pr_set_no_new_privs = 38
        status = 1
        try:
            ctypes.CDLL(None).prctl(pr_set_no_new_privs, 1, 0, 0, 0)
            Connection(path, mode="send")
        except (HostGone, Refused):
            status = 0
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    task.siding("send", "r1", "hello")
    printed(task, b"<hello>")


@needs_bwrap
def test_the_socket_is_not_there_in_a_sandbox(task: Sandbox) -> None:
    background(task, "sh", "-c", ECHO)
    path = str(socket_of(task))
    look = 'test -e "$1" || test -d "${1%/*}" || echo hidden'
    assert task.siding("run", "--sandbox", "--", "sh", "-c", look, "sh", path).stdout == b"hidden\n"
    assert task.siding("run", "--", "sh", "-c", look, "sh", path).stdout == b""


def test_a_host_that_was_killed_ends_the_viewer(task: Sandbox, sit_down: Sit) -> None:
    background(task, "sh", "-c", f"echo began; {ECHO}")
    person = sit_down("attach")
    person.wait_for(b"began")
    (row,) = task.json("runs", "--format", "json")
    os.kill(row["host"], signal.SIGKILL)
    assert person.finish() == 1
    assert b"the host of r1 is gone" in person.seen


@needs_vim
def test_a_viewer_that_is_told_to_end_leaves_its_terminal_in_order(task: Sandbox) -> None:
    background(task, "vim", "-u", "NONE", "-N", "hello.txt")
    printed(task, b"hello")
    script = '"$@"; echo; stty -a; echo "shell goes on"'
    argv = ["sh", "-c", script, "sh", *SIDING, "attach", "r1"]
    person = Terminal(argv, cwd=task.repo, env=task.env)
    try:
        person.wait_for(b"hello")
        found = subprocess.run(
            ["pgrep", "-s", str(person.process.pid), "-f", "siding attach"],
            capture_output=True,
            check=False,
        )
        pids = [int(each) for each in found.stdout.split() if int(each) != person.process.pid]
        os.kill(pids[-1], signal.SIGTERM)
        assert person.finish() == 0
    finally:
        person.kill()
    settings = person.seen.rpartition(b"speed")[2].replace(b"\r\n", b" ")
    assert b"shell goes on" in settings
    for usual in (b" isig", b" icanon", b" echo ", b" opost"):
        assert usual in settings
    assert person.seen.rfind(b"\x1b[?1049l") > person.seen.rfind(b"\x1b[?1049h")


def test_the_list_of_runs_has_no_line_of_a_program_that_draws(task: Sandbox) -> None:
    # What stands behind the last blank is held back for a while: it may be half of a secret.
    draw = r"printf '\033[2J\033[5;5Hthe menu \n'; touch drawn; sleep 300"
    task.siding("run", "--detach", "--tty", "--", "sh", "-c", draw)
    while not (task.workspace() / "drawn").exists():
        time.sleep(0.01)
    while not (shown := task.json("runs", "--format", "json")[0]["last_line"]):
        time.sleep(0.01)
    assert shown == "(a screen: siding attach)"
    background(task, "sh", "-c", r"printf '?\033[1Cfor\033[2Cshortcuts\n'; sleep 300")
    while not (shown := task.json("runs", "--format", "json")[1]["last_line"]):
        time.sleep(0.01)
    assert shown == "? for  shortcuts"
    task.siding("stop", "--all")
