"""A call fails, a write is short, the disk is full, a signal comes (P4, P5, P6, P20)."""

import os
import subprocess
from pathlib import Path

import pytest

import left_to_prove

from .acts import ACTS
from .arena import Command, depth, resolve
from .commands import GATE, act, changed, filled
from .harness import changes, sweep
from .product import siding

pytestmark = GATE

FAILING = ("run", "checkpoint", "task start", "task close", "task update", "doctor")
READS = {
    "status": ("status",),
    "log": ("log",),
    "show": ("show", "1"),
    "diff of a step": ("diff", "--step", "1"),
    "diff": ("diff",),
    "task list": ("task", "list"),
    "task show": ("task", "show"),
    "verify": ("verify",),
    "worktree list": ("worktree", "list"),
    "worktree status": ("worktree", "status"),
    "worktree events": ("worktree", "events"),
    "doctor --check": ("doctor", "--check"),
    "trust --show": ("trust", "--show"),
}
ACTS_TOO = {**READS, "checkpoint": ("checkpoint",)}
# A look at the workspace builds its tree in a directory of its own; the board keeps a cache.
SCRATCH = ("/peeks", "/cache")


def scratch(call: str) -> bool:
    """Flushes of what is only a help on the way: an index is made again from its tree, and what
    comes into a store is flushed with its pack, not where it was collected."""
    return any(place in call for place in ("/index.lock", "/incoming", "/peeks/", "/cache/"))


@pytest.mark.parametrize("name", FAILING)
def test_one_call_fails(name: str) -> None:
    modes = ("err:EIO", "err:ENOSPC", "err:EDQUOT", "err:EMFILE", "err:EACCES")
    it = ACTS[name]
    sweep(it.setup, it.command(), it.check, modes=modes, budget=1, best_effort=scratch)


@pytest.mark.parametrize("name", ["run", "task start", "worktree remove", "first run"])
def test_the_disk_is_full_from_one_call_on(name: str) -> None:
    it = ACTS[name]
    sweep(it.setup, it.command(), it.check, modes=("full",), budget=1)


@pytest.mark.parametrize("name", ["run", "task update"])
def test_a_short_write_goes_unnoticed(name: str) -> None:
    it = ACTS[name]
    sweep(it.setup, it.command(), it.check, modes=("short",), budget=1)


@pytest.mark.parametrize("name", ["run", "task start", "task close", "run in a terminal"])
def test_a_signal_at_any_call(name: str) -> None:
    """The first process is the command itself: it may finish or give up, but never fall over."""
    it = ACTS[name]
    victim = siding(*it.words)
    sweep(
        it.setup,
        victim,
        lambda case, _promises: it.check(case, []),
        modes=("sigint", "sigterm", "sighup"),  # each of them for one of the commands
        budget=depth(1, prove=2),
    )


def test_the_output_that_could_not_be_written_is_never_called_whole() -> None:
    """The last bytes of an artifact fail: the step says so, or a later command joins them."""
    it = ACTS["run"]
    sweep(
        it.setup,
        it.command(),
        it.check,
        modes=("err:EIO", "err:ENOSPC"),
        budget=depth(2, prove=4),
        within=("home/projects",),
        best_effort=scratch,
    )


def readers(*names: str) -> Command:
    """Reading commands (all of them by default), one after the other."""
    chosen = [ACTS_TOO[name] for name in names or READS]
    script = "\n".join(f'"$@" {" ".join(words)} || exit 1' for words in chosen)
    program = siding()
    return program._replace(argv=("sh", "-c", f"{script}\necho done", "sh", *program.argv))


def test_reading_changes_nothing() -> None:
    calls = [
        call for call in changes(changed, readers()) if not any(place in call for place in SCRATCH)
    ]
    # A shared lock is tried, never waited for, to tell whether somebody works in a task.
    assert [call for call in calls if not call.startswith(("flock(", "fsync("))] == []


def test_reading_works_on_a_full_disk() -> None:
    """Not a look at the workspace as it is now (`diff`, `worktree status`): it builds its tree."""
    plain = readers(*(name for name in READS if name not in ("diff", "worktree status")))
    sweep(changed, plain, lambda case, _promises: reads_all(case), modes=("full",), budget=1)


def test_reading_from_a_disk_that_answers_eio() -> None:
    """One open or read fails: a command goes on without, or says so; it never falls over."""
    sweep(
        changed,
        readers(),
        lambda case, _promises: reads_all(case),
        modes=("err:EIO",),
        budget=depth(1, prove=6),
        reads=True,
        best_effort=lambda _call: True,
    )


SHOWN = {
    "status": "unrecorded  1 file changed",
    "worktree status": "not recorded yet: 1 file",
    "diff": "+++ b/unseen",
}
LOOKS = tuple(SHOWN) if left_to_prove.ALL else ("status",)  # each is a look at the workspace


def test_what_git_could_not_list_for_a_moment_is_shown_and_recorded() -> None:
    """git takes a directory that fails while it is read for one that ends there."""
    plain = readers(*LOOKS, "checkpoint")
    sweep(
        changed,
        plain,
        shows_unseen,
        modes=("err:EIO",),
        budget=depth(1, prove=12),
        reads=True,
        among=lambda call: call.startswith("getdents64(") and "/workspaces/" in call,
    )


def shows_unseen(case: Path, promises: list[str]) -> None:
    printed = "\n".join(promises)
    # A number of a call is another call at times, as git and our own look work side by side.
    if "cannot be told" not in printed:
        assert [each for each in LOOKS if SHOWN[each] not in printed] == []
    assert "unseen" in act(case, "show", "2").stdout


def reads_all(case: Path) -> None:
    for words in READS.values():
        act(case, *words)


@pytest.mark.parametrize(
    "words", [("log",), ("diff", "--step", "1"), ("task", "list"), ("status",)]
)
def test_a_reader_that_goes_away_is_no_error(tmp_path: Path, words: tuple[str, ...]) -> None:
    filled(tmp_path)
    done = closed_stdout(tmp_path, siding(*words))
    assert done.returncode in (0, 141), done
    assert done.stderr == b""


def test_a_command_whose_screen_goes_away_is_recorded(tmp_path: Path) -> None:
    filled(tmp_path)
    closed_stdout(tmp_path, siding("run", "--", "sh", "-c", "echo out; echo more >> file"))
    assert "more" in act(tmp_path, "diff", "--step", "2").stdout
    assert "out" in act(tmp_path, "show", "2").stdout


def closed_stdout(case: Path, command: Command) -> "subprocess.CompletedProcess[bytes]":
    """Runs a command whose standard output nobody reads any more."""
    argv, env, cwd = resolve(command, case)
    read_end, write_end = os.pipe()
    os.close(read_end)
    try:
        return subprocess.run(
            argv,
            cwd=cwd,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=write_end,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
        )
    finally:
        os.close(write_end)
