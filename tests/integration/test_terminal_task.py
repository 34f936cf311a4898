"""Each terminal keeps the task it is about, whatever another terminal switches to."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sandbox import SIDING, Sandbox
from terminal import Terminal

Open = Callable[..., "Shell"]
_SEQUENCE = re.compile(rb"\x1b\[[0-9;?]*[a-zA-Z]")


class Shell:
    """A shell in a terminal of its own, in which somebody types."""

    def __init__(self, sandbox: Sandbox, *, cwd: Path | None = None) -> None:
        env = {**sandbox.env, "PS1": "", "SIDING_PROGRAM": " ".join(SIDING)}
        self.terminal = Terminal(["sh", "-i"], cwd=cwd or sandbox.repo, env=env, columns=200)
        self._asked = 0
        self.type('siding() { $SIDING_PROGRAM "$@"; }; stty -echo')

    def type(self, line: str) -> str:
        """Type a line; return what it printed, without colours, when it has ended."""
        self._asked += 1
        before = len(self.terminal.seen)
        # Spelled in two pieces, so that the echo of what is typed is not taken for the answer.
        self.terminal.type(f"{line}; echo EN''D{self._asked}.\n".encode())
        seen = self.terminal.wait_for(f"END{self._asked}.".encode())[before:]
        return _SEQUENCE.sub(b"", seen).decode().replace("\r", "")

    def task(self) -> str:
        """Return the name of the task that commands typed here are about."""
        found = re.search(r'"task_name": "([^"]*)"', self.type("siding status --format json"))
        assert found is not None, self.terminal.seen
        return found[1]


@pytest.fixture
def shell(sandbox: Sandbox) -> Iterator[Open]:
    opened: list[Shell] = []

    def open_one(**options: Path) -> Shell:
        opened.append(Shell(sandbox, **options))
        return opened[-1]

    yield open_one
    for each in opened:
        each.terminal.kill()


def bindings(sandbox: Sandbox) -> list[Path]:
    return sorted(sandbox.project.glob("terminals/*.json"))


def test_two_terminals_each_keep_their_task(sandbox: Sandbox, shell: Open) -> None:
    one, two = shell(), shell()
    one.type("siding task start one")
    two.type("siding task start two; siding run --no-tty -- sh -c 'echo 2 >two.txt'")
    assert one.task() == "one"
    assert two.task() == "two"
    assert "one" in one.type("siding run --no-tty -- sh -c 'echo 1 >one.txt'")
    said = one.type("siding apply")
    assert "closed task" in said
    assert "· one" in said
    assert (sandbox.repo / "one.txt").exists()
    assert not (sandbox.repo / "two.txt").exists()
    assert two.task() == "two"


def test_a_terminal_whose_task_is_closed_does_not_go_on_in_that_of_another(
    sandbox: Sandbox, shell: Open
) -> None:
    one, two = shell(), shell()
    one.type("siding task start one")
    two.type("siding task start two; siding run --no-tty -- sh -c 'echo 2 >two.txt'")
    one.type("siding task close --force one")
    said = one.type("siding rollback --base")
    assert "task 'one', which this terminal was about, is closed" in said
    assert "siding switch two" in said, "the only task that is open"
    assert len(sandbox.json("log", "-t", "two", "--format", "json")) == 1
    assert "one" in one.type("siding undo"), "what the terminal did last is taken back"
    assert one.task() == "one"
    assert two.task() == "two"
    one.type("siding task close --force one")
    one.type("siding task start three --no-workspace; siding task close --force three")
    assert "siding switch two" in one.type("siding status")
    two.type("siding task start four --no-workspace")
    assert "siding switch TASK" in one.type("siding status"), "of two that are open"


def test_a_run_of_its_own_binds_the_terminal_and_names_the_way_back(shell: Open) -> None:
    one = shell()
    assert "goes back" not in one.type("siding run --no-tty -- true"), "there was none before"
    assert "`siding switch -` goes back to 'true'" in one.type(
        "siding run --new second --no-tty -- true"
    )
    assert one.task() == "second"
    assert "goes back to 'second'" in one.type("siding run --new third --detach -- true")
    assert one.task() == "third", "also where it goes on in the background"
    one.type("siding switch -")
    assert one.task() == "second"
    one.type("siding task close --force second")
    assert "goes back" not in one.type("siding run --no-tty -- true"), "what is closed is over"


def test_switch_binds_lists_and_goes_back(sandbox: Sandbox, shell: Open) -> None:
    sandbox.siding("task", "start", "one", "--no-workspace")
    sandbox.siding("task", "start", "two", "--no-workspace")
    here = shell()
    assert here.task() == "two", "a terminal that is not bound is about the active task"
    assert "this terminal is about" in here.type("siding switch one")
    assert here.task() == "one"
    assert "* " in here.type("siding task list | grep one")
    here.type("siding task switch two")
    assert here.task() == "two"
    here.type("siding switch -")
    assert here.task() == "one"
    here.type("siding switch -")
    assert here.task() == "two"
    picked = here.type("echo 2 | siding switch")
    assert "which task (a number)?" in picked
    assert here.task() == "one"
    assert "nothing was chosen" in here.type("siding switch </dev/null")
    assert "no number 9" in here.type("echo 9 | siding switch")
    assert "is closed" in here.type("siding task close --force two; siding switch two")


def test_what_names_the_task_in_which_order(sandbox: Sandbox, shell: Open) -> None:
    for name in ("active", "stood-in", "named", "bound"):
        sandbox.siding("task", "start", name)
    sandbox.siding("task", "switch", "active")
    here = shell(cwd=sandbox.workspace("stood-in"))
    assert here.task() == "stood-in"
    here.type("export SIDING_TASK=named")
    assert here.task() == "named"
    here.type("siding switch bound")
    assert here.task() == "bound"
    assert "you stand in the workspace of 'stood-in'" in here.type("siding log")
    asked = here.type("siding status --format json -t active")
    assert '"task_name": "active"' in asked
    inside = "siding run --no-tty -t stood-in -- sh -c '$SIDING_PROGRAM checkpoint -m inside'"
    assert "stood-in · step 0001 · inside" in here.type(inside)
    moved = "siding run --no-tty -t stood-in -- sh -c '$SIDING_PROGRAM switch active'"
    assert "part of a run of task" in here.type(moved)
    assert here.task() == "bound"


def test_a_variable_that_names_no_task_is_an_error(sandbox: Sandbox) -> None:
    sandbox.siding("task", "start", "one", "--no-workspace")
    sandbox.env["SIDING_TASK"] = "nothing"
    done = sandbox.siding("status", status=1)
    assert b"SIDING_TASK names 'nothing'" in done.stderr
    sandbox.env["SIDING_TASK"] = "one"
    sandbox.siding("status")


def test_without_a_terminal_nothing_is_bound(sandbox: Sandbox) -> None:
    sandbox.siding("task", "start", "one", "--no-workspace")
    done = sandbox.siding("switch", "one")
    assert b"active task: " in done.stderr
    assert not bindings(sandbox)
    assert b"about no other task before" in sandbox.siding("switch", "-", status=2).stderr


def test_a_binding_of_another_session_or_boot_does_not_count_and_is_swept(
    sandbox: Sandbox, shell: Open
) -> None:
    here = shell()
    here.type("siding task start one --no-workspace; siding task start two --no-workspace")
    here.type("siding switch one")
    (path,) = bindings(sandbox)
    document = json.loads(path.read_text())
    for changed in ({"boot": "another"}, {"started": document["started"] - 1}):
        sandbox.siding("task", "switch", "two")
        path.write_text(json.dumps({**document, **changed}))
        assert here.task() == "two", changed
    gone = path.with_name("999999999.json")
    gone.write_text(json.dumps({**document, "started": 5}))
    here.type("siding switch one")
    assert bindings(sandbox) == [path]
    path.write_text("{")
    assert "which task this terminal is about is not known" in here.type("siding status")


def test_each_line_about_a_task_names_it(sandbox: Sandbox) -> None:
    sandbox.siding("task", "start", "shop")
    for words in (
        ("run", "--", "sh", "-c", "echo 1 >a"),
        ("checkpoint", "-m", "here"),
        ("undo",),
        ("redo",),
        ("rollback", "--base"),
        ("rollback", "--base"),
        ("undo",),
        ("retry",),
        ("sync",),
        ("apply",),
    ):
        done = sandbox.siding(*words, status=None)
        assert b"shop" in done.stderr, (words, done.stderr)


def test_going_into_a_workspace_takes_the_terminal_along(sandbox: Sandbox, shell: Open) -> None:
    here = shell()
    here.type("siding task start one; siding task start two")
    here.type('cd "$(siding path --switch one)"')
    assert here.task() == "one"
    here.type('cd "$(siding path two)"')
    assert here.task() == "one"
