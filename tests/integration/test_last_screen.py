"""The last screen of a program that draws on its terminal is what `siding show` prints."""

import shutil
import sys
import time
from collections.abc import Callable, Iterator

import pytest

from sandbox import SIDING, Sandbox
from terminal import Terminal

needs_vim = pytest.mark.skipif(shutil.which("vim") is None, reason="there is no vim")

Sit = Callable[..., Terminal]


@pytest.fixture
def task(sandbox: Sandbox) -> Iterator[Sandbox]:
    sandbox.siding("task", "start", "drawn")
    yield sandbox
    sandbox.siding("stop", "--all", "--now")


@pytest.fixture
def run_at_terminal(task: Sandbox) -> Iterator[Sit]:
    """Run a command in a terminal, as a person does."""
    terminals: list[Terminal] = []

    def run(*command: str, rows: int = 20, columns: int = 70) -> Terminal:
        argv = [*SIDING, "run", "--", *command]
        terminals.append(Terminal(argv, cwd=task.repo, env=task.env, rows=rows, columns=columns))
        return terminals[-1]

    yield run
    for terminal in terminals:
        terminal.kill()


def screen_of(task: Sandbox, *words: str) -> list[str]:
    """Return the lines that `siding show` has of a run's terminal."""
    shown = task.siding("show", *words).stdout.decode()
    _before, told, screen = shown.partition("--- terminal (")
    assert told, shown
    return screen.partition("\n--- patch")[0].splitlines()


@needs_vim
def test_an_editor_that_was_left(task: Sandbox, run_at_terminal: Sit) -> None:
    person = run_at_terminal("vim", "-u", "NONE", "-N", "hello.txt")
    person.wait_for(b"hello")
    person.type(b"osecond line\x1b:set nu\r")
    person.wait_for(b":set nu")
    person.type(b":wq\r")
    assert person.finish() == 0
    head, *lines = screen_of(task)
    assert head.endswith("its last screen")
    assert lines[:3] == ["  1 hello", "  2 second line", "~"]
    assert "".join(lines[2:19]) == "~" * 17
    assert lines[19].startswith('"hello.txt" 2L')
    assert "--full shows all" in lines[20]
    (step,) = task.steps()
    assert (step["output"]["rows"], step["output"]["columns"]) == (20, 70)
    assert b"\\x1b[" not in task.siding("show").stdout
    assert b"\\x1b[?1049h" in task.siding("show", "--full").stdout
    assert b"\x1b[?1049h" in task.siding("show", "--raw").stdout


def drawn_so_far(task: Sandbox, run: str) -> list[str]:
    shown = task.siding("show", run).stdout
    return screen_of(task, run) if b"--- terminal (" in shown else []


def has_drawn(lines: list[str]) -> bool:
    return len(lines) > 2 and lines[-2].startswith('"hello.txt" 1L') and bool(lines[1])


@needs_vim
def test_an_editor_that_runs(task: Sandbox) -> None:
    task.siding("run", "--detach", "--tty", "--", "vim", "-u", "NONE", "-N", "hello.txt")
    end = time.monotonic() + 60
    # On a busy machine all of these are seen apart: nothing yet, what vim has read, what it draws.
    while not has_drawn(lines := drawn_so_far(task, "r1")):
        assert time.monotonic() < end, lines
    assert lines[1:3] == ["hello", "~"]
    assert len(lines) == 26


def test_a_program_that_draws_without_the_other_screen(task: Sandbox, run_at_terminal: Sit) -> None:
    """As agents do: lines, the last of which are drawn over again and again."""
    script = (
        "import sys\n"
        "for n in range(30): print('line', n)\n"
        "for n in range(50):\n"
        "    sys.stdout.write(f'\\x1b[2K\\rworking {n}\\n\\x1b[2K> prompt\\x1b[1A')\n"
        "sys.stdout.write('\\n\\n')\n"
    )
    person = run_at_terminal(sys.executable, "-c", script)
    assert person.finish() == 0
    lines = screen_of(task)
    assert lines[1:31] == [f"line {n}" for n in range(30)]
    assert lines[31:33] == ["working 49", "> prompt"]


@pytest.mark.parametrize("columns", [40, 200])
def test_the_screen_has_the_size_of_the_terminal(
    task: Sandbox, run_at_terminal: Sit, columns: int
) -> None:
    person = run_at_terminal("sh", "-c", "printf '\\033[2J\\033[H%0120d\\n' 1", columns=columns)
    assert person.finish() == 0
    lines = screen_of(task)
    assert len(lines[1]) == min(columns, 120)


def test_output_that_is_lines_is_printed_as_ever(task: Sandbox, run_at_terminal: Sit) -> None:
    said = "printf 'a\\033[31mred\\033[0m\\rover\\033[K\\n\\033[2Kb\\n'"
    person = run_at_terminal("sh", "-c", said)
    assert person.finish() == 0
    lines = screen_of(task)
    assert "last screen" not in lines[0]
    assert lines[1:] == [r"a\x1b[31mred\x1b[0m\x0dover\x1b[K".replace(r"\x0d", r"\r"), r"\x1b[2Kb"]
    task.siding("run", "--", "sh", "-c", "printf '\\033[2J\\033[Hpiped'")
    shown = task.siding("show").stdout
    assert rb"\x1b[2J\x1b[Hpiped" in shown


def test_what_a_screen_says_is_inert(task: Sandbox, run_at_terminal: Sit) -> None:
    person = run_at_terminal("sh", "-c", "printf '\\033[2J\\033[Ha\\342\\200\\256b\\302\\233c'")
    assert person.finish() == 0
    assert screen_of(task)[1] == r"a\u202eb" or screen_of(task)[1].startswith("a")
    assert "\u202e" not in task.siding("show").stdout.decode()
