"""`siding` at a real terminal: it opens the screen, and never leaves a broken one."""

import re
import shlex
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from drawn_terminal import DrawnTerminal
from sandbox import SIDING, Sandbox

Sit = Callable[..., DrawnTerminal]
ENTERED, LEFT = b"\x1b[?1049h", b"\x1b[?1049l"
MOUSE_ON, MOUSE_OFF = b"\x1b[?1003h", b"\x1b[?1003l"
_STYLES = re.compile(rb"\x1b\[([0-9;]*)m")
READY = b"wait"  # in the line at the foot, once the feed is there

# A place with one key that gives the terminal away.
GIVES_AWAY = """
import os, pathlib, sys
from siding.faces.tui.app import SidingApp
from siding.faces.tui.keys import Key
from siding.faces.tui.place import Place
from siding.record.place.wiring import open_app
from textual.widgets import Static

class Gives(Place):
    NAME = "gives"
    KEYS = (Key("attach", ("a",), "give the terminal away", "attach"),)
    def body(self):
        yield Static("A PLACE", id="said")
    def act_attach(self):
        self.port.hand_over(sys.argv[1], sys.argv[2], "r1")
    def on_click(self):
        self.query_one(Static).update("CLICKED")

app = open_app(env=dict(os.environ), cwd=pathlib.Path.cwd())
sys.exit(SidingApp(app, begin=Gives).run())
"""


@pytest.fixture
def sit_down(sandbox: Sandbox) -> Iterator[Sit]:
    """Put a person at a terminal, who starts Siding, or another program."""
    terminals: list[DrawnTerminal] = []
    begun = _home(sandbox) / "terminal/begun"  # else the first start is shown
    begun.parent.mkdir(parents=True)
    begun.touch()

    def sit(*argv: str, rows: int = 30, columns: int = 100, **env: str) -> DrawnTerminal:
        usual = {"TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
        terminal = DrawnTerminal(
            argv or SIDING,
            cwd=sandbox.repo,
            env={**sandbox.env, **usual, **env},
            rows=rows,
            columns=columns,
        )
        terminals.append(terminal)
        return terminal

    yield sit
    for terminal in terminals:
        terminal.kill()


def _home(sandbox: Sandbox) -> Path:
    return Path(sandbox.env["SIDING_HOME"])


def test_the_screen_is_left_by_a_key_and_by_signals_and_gives_the_terminal_back(
    sandbox: Sandbox, sit_down: Sit
) -> None:
    sandbox.siding("run", "--new", "fix", "--", "touch", "a")
    for number in (0, signal.SIGTERM, signal.SIGHUP):
        terminal = sit_down()
        terminal.wait_for(MOUSE_ON)
        before, mark, after = terminal.seen.partition(MOUSE_ON)
        assert ENTERED in before  # with the first frame, which says the same
        terminal.seen = ENTERED + mark + after
        terminal.wait_for(b"1 ready")
        if number:
            terminal.process.send_signal(number)
        else:
            terminal.type(b"q")
        assert terminal.finish() == (128 + number if number else 0)
        assert terminal.seen.rindex(LEFT) > terminal.seen.rindex(ENTERED)
        assert terminal.seen.rindex(MOUSE_OFF) > terminal.seen.rindex(MOUSE_ON)
    assert (_home(sandbox) / "terminal/frame").read_text().startswith("100\n")


def test_a_window_that_is_closed_ends_the_screen(sandbox: Sandbox, sit_down: Sit) -> None:
    sandbox.siding("run", "--new", "fix", "--", "touch", "a")
    # nohup: the signal that tells of the closed window is ignored.
    terminal = sit_down("sh", "-c", f"trap '' HUP; exec {' '.join(SIDING)}")
    terminal.wait_for(MOUSE_ON)
    terminal.wait_for(b"1 ready")
    terminal.close_window()
    assert terminal.process.wait(timeout=30) == 128 + signal.SIGHUP


def test_a_run_gets_the_terminal_and_keys_and_mouse_live_after_it(
    sandbox: Sandbox, sit_down: Sit
) -> None:
    echo = 'while read line; do echo "<$line>"; done'
    sandbox.siding("task", "start", "watched")
    sandbox.siding("run", "--detach", "--tty", "--", "sh", "-c", echo)
    (task,) = (path.name for path in sandbox.project.glob("tasks/*"))
    terminal = sit_down(sys.executable, "-c", GIVES_AWAY, sandbox.project.name, task)
    terminal.wait_for(b"A PLACE")
    for turn in range(2):
        terminal.type(b"a")
        terminal.wait_for(b"ctrl+] comes back")
        terminal.type(b"hello%d\r" % turn)
        terminal.wait_for(b"<hello%d>" % turn)
        # A late answer to the program, and what is typed behind the key, reach nobody.
        terminal.seen = b""
        terminal.type(b"\x1d\x1b]11;rgb:0000/0000/0000\x07aq")
        terminal.wait_for(MOUSE_ON)
        terminal.wait_for(b"back from run r1")
    terminal.type(b"\x1b[<0;3;1M\x1b[<0;3;1m")
    terminal.wait_for(b"CLICKED")
    terminal.type(b"q")
    assert terminal.finish() == 0
    sandbox.siding("stop", "--all", "--now")


def test_what_cannot_draw_gets_lines(sandbox: Sandbox, sit_down: Sit) -> None:
    sandbox.siding("run", "--new", "fix", "--", "touch", "a")
    for env in ({"TERM": "dumb"}, {"SIDING_PLAIN": "1"}):
        terminal = sit_down(**env)
        terminal.wait_for(b"plain mode is on")
        terminal.wait_for(b"choose> ")
        terminal.type(b"1\n")
        terminal.wait_for(b"step 0001: run touch a")
        terminal.type(b"p\n")
        terminal.wait_for(b"end of the patch")
        terminal.type(b"apply\n")
        terminal.wait_for(b"type apply again to do it> ")
        terminal.type(b"no\n")
        terminal.wait_for(b"nothing was done")
        terminal.type(b"q\n")
        assert terminal.finish() == 0
        assert b"\x1b" not in terminal.seen
    (_home(sandbox) / "config.yaml").write_text("terminal:\n  open: off\n")
    printed = sit_down()
    assert printed.finish() == 0
    assert b"ready to apply" in printed.seen
    assert ENTERED not in printed.seen


def test_in_any_terminal_without_colours_and_unicode(sandbox: Sandbox, sit_down: Sit) -> None:
    sandbox.siding("run", "--new", "größe", "--", "touch", "漢字")
    modes_around = f"stty -g; {shlex.join(SIDING)}; echo left $?; stty -g"
    for term in ("dumb", "linux", "xterm", "screen", "tmux-256color"):
        told = {"TERM": term, "NO_COLOR": "1", "LC_ALL": "C"}
        terminal = sit_down("sh", "-c", modes_around, columns=60, **told)
        terminal.wait_for(b"choose> " if term == "dumb" else MOUSE_ON)
        terminal.wait_for(b"gr??e")
        terminal.wait_for(b"1 ready")
        terminal.type(b"q\n" if term == "dumb" else b"q")
        assert terminal.finish() == 0
        assert terminal.seen.isascii(), (term, terminal.seen)
        assert not any(map(_has_colour, _STYLES.findall(terminal.seen))), (term, terminal.seen)
        words = terminal.seen.split()
        assert words[-2:] == [b"0", words[0]], (term, words[-9:])  # status, and modes


def _has_colour(style: bytes) -> bool:
    """Tell whether a sequence for styles sets a colour."""
    numbers = [int(each or 0) for each in style.split(b";")]
    return any(30 <= n <= 38 or 40 <= n <= 48 or 90 <= n <= 107 for n in numbers)


def test_in_a_run_the_day_is_printed(sandbox: Sandbox, sit_down: Sit) -> None:
    sandbox.siding("task", "start", "inner")
    terminal = sit_down(*SIDING, "run", "--", *SIDING)
    assert terminal.finish() == 0
    assert b"running" in terminal.seen
    assert ENTERED not in terminal.seen


def test_an_address_is_opened_where_it_leads(sandbox: Sandbox, sit_down: Sit) -> None:
    sandbox.siding("run", "--new", "fix", "--", "sh", "-c", "echo first > a; echo second > b")
    sandbox.siding("run", "--", "sh", "-c", "echo third > a")
    (row,) = sandbox.json("status", "--all", "--json")["feed"]["rows"]
    for behind, shown in {"": "+ third", "/1": "+ first", "/1#b:1": "b  hunk 1 of 1"}.items():
        terminal = sit_down(*SIDING, "open", f"{row['address']}{behind}")
        terminal.until_shown(shown, "1 ready")
        terminal.type(b"q")  # to home
        terminal.until_shown("READY", "fix")
        terminal.type(b"q")
        assert terminal.finish() == 0
        assert "READY" not in terminal.screen
    project, _slash, _task = row["address"].rpartition("/")
    home = sit_down(*SIDING, "open", project)
    home.until_shown("READY", "> 1 ")
    home.type(b"q")
    assert home.finish() == 0
    for argv, env, said in (
        ((row["address"], "--browser"), {}, b"siding --project"),
        ((row["address"],), {"SIDING_PLAIN": "1"}, b"siding --project"),
        ((f"{project}/none",), {}, b"none"),
        (("--browser", "fix"), {}, b"--browser is for an address"),
    ):
        printed = sit_down(*SIDING, "open", *argv, **env)
        printed.finish()
        assert said in printed.seen
        assert ENTERED not in printed.seen
