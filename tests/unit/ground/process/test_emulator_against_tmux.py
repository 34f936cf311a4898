"""The screen that is drawn is the one that tmux draws of the same output."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from siding.ground.process.command import WindowSize
from siding.ground.process.emulator import TextScreen
from terminal import Terminal

ROWS, COLUMNS = 24, 80
CURSES = """
import curses, time
def draw(window):
    window.border()
    for y in range(2, 20):
        window.addstr(y, 3, f"line {y} " + "日本語 ünï " * (y % 4))
    window.hline(21, 1, curses.ACS_HLINE, 40)
    window.refresh()
    pad = curses.newwin(8, 30, 5, 40)
    pad.box(); pad.addstr(1, 1, "a window"); pad.scrollok(True); pad.refresh()
    window.move(10, 5); window.deleteln(); window.insertln(); window.addstr("inserted")
    window.refresh()
    curses.curs_set(0)
    window.getch()
curses.wrapper(draw)
"""

Capture = Callable[[bytes], list[str]]


@pytest.fixture(scope="module")
def tmux(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Capture]:
    """Return a function that lets tmux draw output, and reads its screen."""
    if shutil.which("tmux") is None:
        pytest.skip("there is no tmux")
    directory = tmp_path_factory.mktemp("tmux")
    env = {**os.environ, "TMUX_TMPDIR": str(directory), "LC_ALL": "C.UTF-8", "TERM": "xterm"}
    env.pop("TMUX", None)

    def call(*words: str) -> str:
        done = subprocess.run(
            ["tmux", "-f", "/dev/null", *words], env=env, capture_output=True, check=True
        )
        return done.stdout.decode()

    size = ["-x", str(COLUMNS), "-y", str(ROWS)]
    fifo, done = directory / "fifo", directory / "done"
    os.mkfifo(fifo)
    # A screen for each output, one after the other: what is drawn next begins with a full reset.
    show = f"stty raw -echo; while :; do cat {fifo}; touch {done}; done"
    call("new-session", "-d", "-s", "screen", *size, show)
    call("set", "-g", "status", "off")
    call("resize-window", "-t", "screen", *size)
    count = 0

    def capture(data: bytes) -> list[str]:
        nonlocal count
        count += 1
        done.unlink(missing_ok=True)
        # The title tells when tmux has read everything before it.
        title = f"drawn-{count}"
        fifo.write_bytes(b"\x18\x1b[?1049l\x1bc\x1b[3J" + data + f"\x18\x1b]2;{title}\x07".encode())
        end = time.monotonic() + 30
        while call("display", "-p", "-t", "screen", "#{pane_title}").strip() != title:
            assert time.monotonic() < end
            time.sleep(0.01)
        while not done.exists():
            assert time.monotonic() < end
            time.sleep(0.01)
        lines = [line.rstrip() for line in call("capture-pane", "-p", "-t", "screen").split("\n")]
        return (lines + [""] * ROWS)[:ROWS]

    yield capture
    call("kill-server")


def drawn(data: bytes) -> list[str]:
    screen = TextScreen(WindowSize(rows=ROWS, columns=COLUMNS))
    screen.feed(data.decode("utf-8", "replace"))
    return screen.lines()


def as_letters(lines: list[str]) -> list[str]:
    """Return lines as tmux prints them: line-drawing characters as the letters that they are."""
    letters = str.maketrans("┌┐└┘─│├┤┬┴┼▒≤≥", "lkmjqxtuwvnayz")
    return [line.translate(letters) for line in lines]


def recorded(*argv: str, keys: Sequence[bytes] = (), cwd: Path) -> bytes:
    """Run a program in a terminal and type keys, one after the other; return what it printed."""
    if shutil.which(argv[0]) is None:
        pytest.skip(f"there is no {argv[0]}")
    env = {**os.environ, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8", "HOME": str(cwd)}
    terminal = Terminal(argv, cwd=cwd, env=env, rows=ROWS, columns=COLUMNS)
    try:
        terminal.until_quiet()
        for each in keys:
            terminal.type(each)
            terminal.until_quiet()
    finally:
        terminal.kill()
    return terminal.seen


def text(lines: int) -> str:
    return "".join(f"{n} {'wörd 日本 ' * (n % 12)}\tend {n}\n" for n in range(lines))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "text.txt").write_text(text(200), "utf-8")
    return tmp_path


def test_vim(tmux: Capture, file: Path) -> None:
    keys = [
        b":set nu hls | syn on\r",
        b"20dd",
        b"u\x06\x06\x02jjwcwchanged\x1b:split\r",
        b"/end 9\rddp>>:vsplit\r",
        b"10\x05\x19",
    ]
    data = recorded("vim", "-u", "NONE", "-N", "text.txt", keys=keys, cwd=file)
    assert b"\x1b[?1049h" in data
    assert drawn(data) == tmux(data)
    assert any("end 9" in line for line in drawn(data))


def test_less(tmux: Capture, file: Path) -> None:
    data = recorded("less", "text.txt", keys=[b"   ", b"bjjjkk", b"/end 9\r", b"10k"], cwd=file)
    assert drawn(data) == tmux(data)
    assert any("end 9" in line for line in drawn(data))


def test_top(tmux: Capture, file: Path) -> None:
    data = recorded("top", "-d", "60", keys=[b"c", b"V"], cwd=file)
    assert drawn(data) == tmux(data)
    assert any("PID" in line for line in drawn(data))


def test_a_curses_program(tmux: Capture, file: Path) -> None:
    data = recorded(sys.executable, "-c", CURSES, cwd=file)
    assert as_letters(drawn(data)) == tmux(data)
    assert any("─────" in line for line in drawn(data))


def test_a_shell(tmux: Capture, file: Path) -> None:
    keys = [b"seq 40; ls\r", b"echo one two\x01\x1bf\x0b\x19\x02\x02x\r"]
    data = recorded("bash", "--norc", "-i", keys=keys, cwd=file)
    assert drawn(data) == tmux(data)
    assert "40" in drawn(data)


@pytest.mark.parametrize(
    "output",
    [
        "\x1b[5;10r\x1b[10Hten\nmore\x1b[5Hfive\x1bMabove\x1b[7Hseven\x1b[2L\x1b[M\x1b[r",
        "\x1b[3;6r\x1b[?6h\x1b[2Hinside\x1b[9Hlast\x1b[?6l\x1b[2Houtside",
        "shell\r\n\x1b[?1049h\x1b[2J\x1b[5Hvim\x1b[?1049lshell again",
        "日本語\x1b[3Gx\x1b[3;80H日",
        "a\x1b[40b",
        "\x1b(0lqk\x1b(Bx\x1b)0\x0ex\x0fx",
        "e\u0301\x1b[80Ge\u0301e\u0301",
        "\x1b[4hab\x1b[1Gxy\x1b[4l\x1b[1Gz",
        "\x1b[?7l" + "y" * 100 + "z",
        "\x1b]0;title\x07a\x1bPq#0\x1b\\b\x1b_Gi=1\x1b\\c\x1b[>4;2m\x1b[?u\x1b=d",
        "broken \x1b[3",
        "broken \x1b]0;tit",
    ],
)
def test_what_random_sequences_seldom_meet(tmux: Capture, output: str) -> None:
    assert as_letters(drawn(output.encode())) == tmux(output.encode())


NUMBER = st.sampled_from(["", "0", "1", "2", "3", "5", "8", "20", "24", "30"])
WRITTEN = st.sampled_from(
    [
        *("a", "word ", "x" * 70, "y" * 81, "é", "e\u0301", "z" * 200),
        *("\r", "\n", "\r\n", "\b", "\t", "\x0e", "\x0f"),
        *("\x1bM", "\x1bD", "\x1bE", "\x1b7", "\x1b8", "\x1bH", "\x1b(0", "\x1b(B", "\x1b#8"),
        *("\x1b[?1049h", "\x1b[?7l", "\x1b[?7h", "\x1b[?6h", "\x1b[?6l"),
        *("\x1b[4h", "\x1b[4l", "\x1b[31;1m", "\x1b]0;title\x07", "\x1b[?25l", "\x1b[>4;2m"),
    ]
)
SEQUENCES = st.builds(
    lambda numbers, final: f"\x1b[{';'.join(numbers)}{final}",
    st.lists(NUMBER, max_size=2),
    st.sampled_from("ABCDEFGHJKLMPSXZ@dfg"),
)


@settings(
    max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(parts=st.lists(st.one_of(WRITTEN, SEQUENCES), max_size=25))
def test_any_sequences(tmux: Capture, parts: list[str]) -> None:
    data = "".join(parts).encode()
    assert as_letters(drawn(data)) == tmux(data), data
