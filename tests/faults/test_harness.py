"""Every gate passes the toy store that keeps the rules and catches the bug it is there for."""

import json
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from . import arena, toy_store, tracer
from .arena import (
    Arena,
    Check,
    Command,
    GateBroken,
    GateFailed,
    Report,
    Setup,
    depth,
    in_workers,
    python,
    sample,
)
from .copies import adopt
from .damage import KINDS, survives_damage
from .hammer import hammer
from .harness import ERRORS, KILLS, changes, sweep
from .powercut import powercut
from .tracer import RUN, Call, Tracer

pytestmark = pytest.mark.skipif(
    tracer.unsupported_reason() is not None, reason=str(tracer.unsupported_reason())
)

OLD = ["old-1", "old-2"]


def toy(bug: str, verb: str, *names: str) -> Command:
    script = toy_store.__file__
    return Command(argv=(sys.executable, "-I", "-S", script, bug, verb, *names))


def empty(_case: Path) -> None:
    pass


def filled(case: Path) -> None:
    for name in OLD:
        toy_store.Store(case, "none").add(name)


def keeps_promises(bug: str, *, old: Sequence[str] = OLD, exactly: bool = False) -> Check:
    """Old and promised names are there, the count is readable, and one more name can be added.

    A count that lags behind is fine after a death (`recover` mends it), but not `exactly`.
    """

    def check(case: Path, promises: list[str]) -> None:
        store = toy_store.Store(case, bug)
        names = store.names()
        assert names[: len(old)] == old
        missing = set(promises) - set(names)
        assert not missing, f"promised and gone: {missing}"
        assert (len(names) if exactly else len(old)) <= store.counted() <= len(names)
        store.add("more")
        assert store.names()[-1] == "more"

    return check


def gate(bug: str, *modes: str) -> Callable[[], Report]:
    def call() -> Report:
        return sweep(
            filled,
            toy(bug, "add", "new-1", "new-2"),
            keeps_promises(bug, exactly=modes == ("stop",)),
            modes=modes,
            budget=18 if bug == "none" else 400,
            rival=toy(bug, "add", "rival"),
            recover=toy(bug, "recover"),
        )

    return call


def cut(bug: str, fs: str) -> Callable[[], Report]:
    def call() -> Report:
        victim = toy(bug, "add", "new-1", "new-2")
        return powercut(empty, victim, keeps_promises(bug, old=[]), fs=fs, budget=60)

    return call


def pound(bug: str) -> Callable[[], Report]:
    def call() -> Report:
        return hammer(
            filled,
            lambda number: toy(bug, "add", *(f"{number}-{turn}" for turn in range(150))),
            keeps_promises(bug, exactly=True),
            rounds=2,
            kill=0,
            stop=0.3,
            reader=lambda case: reads_whole_names(toy_store.Store(case, "none")),
        )

    return call


def reads_whole_names(store: toy_store.Store) -> None:
    assert store.names()[:2] == OLD
    assert store.counted() >= len(OLD)


ERRORS_AND_FULL = (*ERRORS, "full")
RIGHT = {
    "kill and torn": gate("none", *KILLS),
    "short": gate("none", "short"),
    "errors": gate("none", *ERRORS_AND_FULL),
    "signals": gate("none", "sigterm", "sighup"),
    "rival": gate("none", "stop"),
    "nested": gate("none", "nested"),
    "power cut, strict": cut("none", "strict"),
    "power cut, ordered": cut("none", "ordered"),
    "hammer": pound("none"),
}
WRONG = {
    "no fsync": cut("no fsync", "ordered"),
    "no directory fsync": cut("no directory fsync", "strict"),
    "in-place rewrite": gate("in-place rewrite", "kill"),
    "in-place rewrite, full disk": gate("in-place rewrite", "full"),
    "promise first": gate("promise first", "kill"),
    "swallowed errors": gate("swallowed errors", "err:ENOSPC"),
    "retried fsync": gate("retried fsync", "err:EIO"),
    "lock file": gate("lock file", "kill"),
    "short write ignored": gate("short write ignored", "short"),
    "torn line left open": gate("torn line left open", "torn"),
    "no lock": gate("no lock", "stop"),
    "no lock, hammer": pound("no lock"),
    "recovery in place": gate("recovery in place", "nested"),
    "traceback": gate("traceback", "err:EIO"),
}


@pytest.mark.parametrize("name", RIGHT)
def test_the_right_store_passes(name: str) -> None:
    assert RIGHT[name]().cases > 0


@pytest.mark.parametrize("name", WRONG)
def test_each_planted_bug_is_caught(name: str) -> None:
    with pytest.raises(GateFailed):
        WRONG[name]()


def test_a_kill_alone_cannot_see_a_missing_fsync() -> None:
    """Why there is a power cut gate at all."""
    assert gate("no fsync", "kill")().cases > 0


def test_a_failure_names_the_call_and_the_path() -> None:
    with pytest.raises(GateFailed, match=r"kill@\d+ at write\(count, 2\)\n.*ValueError"):
        gate("in-place rewrite", "kill")()


@pytest.mark.parametrize(
    ("setup", "victim", "check"),
    [
        (filled, toy("none", "list"), keeps_promises("none")),
        (filled, python("raise SystemExit(3)"), keeps_promises("none")),
        (lambda case: case.rmdir(), toy("none", "add", "x"), keeps_promises("none")),
        (filled, toy("none", "add", "x"), lambda *_: pytest.skip("no")),
        (filled, toy("none", "add", "x"), lambda *_: 1 / 0),
    ],
    ids=["no case", "control exits 3", "setup fails", "check skips", "check fails at once"],
)
def test_a_gate_that_proves_nothing_is_broken(setup: Setup, victim: Command, check: Check) -> None:
    with pytest.raises(GateBroken):
        sweep(setup, victim, check, budget=4)


def test_an_unknown_mode_is_broken() -> None:
    for modes in (("kil",), ("err:EWHAT",), ("stop",), ("nested",)):
        with pytest.raises(GateBroken, match="unknown mode"):
            sweep(filled, toy("none", "add", "x"), keeps_promises("none"), modes=modes)


def test_changes_lists_what_a_command_does() -> None:
    assert changes(filled, toy("none", "list")) == []
    assert "fsync(log)" in changes(filled, toy("none", "add", "x"))


def test_damage_gate() -> None:
    def tolerant(case: Path, _kind: str, _before: bytes) -> None:
        if (case / "log").is_file() and not (case / "log").is_symlink():
            toy_store.Store(case, "none").names()

    def naive(case: Path, _kind: str, _before: bytes) -> None:
        assert (case / "log").read_text("utf-8")

    assert survives_damage(filled, "log", tolerant).cases >= len(KINDS) - 1
    with pytest.raises(GateFailed) as caught:
        survives_damage(
            filled, "log", naive, kinds=["bad UTF-8", "directory", "empty", "symlink to /dev/zero"]
        )
    assert len(caught.value.failures) == 4


def test_sample_is_even_seeded_and_bounded() -> None:
    items = range(1000)
    chosen = sample(items, 10, 7)
    assert chosen == sample(items, 10, 7) != sample(items, 10, 8)
    assert [item // 100 for item in chosen] == list(range(10))
    assert sample(items, 1000, 1) == list(items)


def test_prove_begins_with_the_larger_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    for times, wanted in ((1, 1), (2, 3)):
        monkeypatch.setattr(arena, "TIMES", times)
        assert depth(1, prove=3) == wanted


CHECKED: list[Path] = []


def notes(case: Path, _promises: list[str]) -> None:
    CHECKED.append(case)


def finds_fault(_case: Path, _promises: list[str]) -> None:
    raise AssertionError("as always")


def test_an_undisturbed_run_that_passed_is_not_checked_again() -> None:
    """Only of the same setup, victim and check; what failed is not taken for good."""
    first, second = toy("none", "list"), toy("none", "recover")

    def work(place: Arena, _number: int, _count: int) -> tuple[int, bool]:
        place.prepare(filled)
        place.fresh()
        for victim in (first, first, second, first):
            assert place.undisturbed(filled, victim, notes) is None
        assert place.undisturbed(empty, first, notes) is None
        failed = [place.undisturbed(filled, first, finds_fault) for _ in range(2)]
        return len(CHECKED), all(failed)

    wanted = 10 if arena.FULL else 3
    assert in_workers(work, workers=1) == [(wanted, True)]


def test_a_copy_passes_for_the_original(case: Path) -> None:
    """The product would refuse to work in a directory that is not the one it made."""
    project, workspace = case / "home/projects/p", case / "workspace"
    project.mkdir(parents=True)
    workspace.mkdir()
    rows = [{"path": str(workspace), "device": 1, "inode": 2}, {"path": "/gone", "inode": 3}]
    registry = project / "worktrees.json"
    registry.write_text(json.dumps({"version": 1, "worktrees": rows}))
    adopt(case)
    found = workspace.stat()
    rows[0].update(device=found.st_dev, inode=found.st_ino)
    assert json.loads(registry.read_text())["worktrees"] == rows
    registry.write_text("{torn")
    adopt(case)
    assert registry.read_text() == "{torn"


def trace(argv: list[str], case: Path, *, at: str = "", **limits: float) -> tuple[int, list[str]]:
    """Exit status and calls of a traced command; killed at the call whose text is `at`."""
    calls: list[str] = []

    def on_call(call: Call) -> tracer.Action:
        calls.append(call.describe(str(case)))
        return tracer.KILL if calls[-1] == at else RUN

    def work(_arena: Arena, _number: int, _count: int) -> tuple[int, list[str]]:
        with (case.parent / "out").open("w") as out:
            ending = Tracer([str(case)], on_call).run(
                argv,
                cwd=str(case),
                env=dict(os.environ),
                stdout=out.fileno(),
                stderr=out.fileno(),
                timeout_s=limits.get("timeout_s", 20),
                linger_s=limits.get("linger_s", 5),
            )
        return ending.status, calls

    return in_workers(work, workers=1)[0]


@pytest.fixture
def case(tmp_path: Path) -> Path:
    place = tmp_path / "case"
    place.mkdir()
    return place


def test_the_tracer_follows_sessions_ptys_threads_and_git(case: Path) -> None:
    program = """
import os, pty, subprocess, threading
subprocess.run(["git", "init", "-q", "r"], check=True)
pty.spawn(["sh", "-c", "echo > from-pty"])
subprocess.run(["setsid", "sh", "-c", "sh -c 'echo > grandchild' & wait"])
t = threading.Thread(target=lambda: open("thread", "w").close()); t.start(); t.join()
"""
    status, calls = trace([sys.executable, "-I", "-c", program], case)
    assert status == 0
    for part in ("r/.git/HEAD.lock, r/.git/HEAD", "from-pty", "grandchild", "thread"):
        assert any(part in call for call in calls), (part, calls)


def test_a_kill_takes_the_whole_tree_with_it(case: Path) -> None:
    """Also a process in a session of its own that the victim has forgotten."""
    script = (
        "(setsid sh -c 'echo $$ > pid; sleep 300') & until test -s pid; do :; done; echo > here"
    )
    status, _ = trace(["sh", "-c", script], case, at="openat(here)")
    assert status == -signal.SIGKILL
    assert not (case / "here").exists()
    forgotten = Path("/proc") / (case / "pid").read_text().strip() / "stat"
    assert not forgotten.exists() or ") Z " in forgotten.read_text()


def test_what_lingers_or_hangs_is_ended(case: Path) -> None:
    begun = time.monotonic()
    assert trace(["sh", "-c", "sleep 300 & exit 4"], case, linger_s=0.1)[0] == 4
    assert trace(["sleep", "300"], case, timeout_s=0.1)[0] == -signal.SIGKILL
    assert time.monotonic() - begun < 100


def test_job_control_works_under_trace(case: Path) -> None:
    script = "sleep 300 & kill -STOP $!; kill -CONT $!; kill $!; wait $!; echo $? > status"
    assert trace(["sh", "-c", script], case)[0] == 0
    assert (case / "status").read_text() == f"{128 + signal.SIGTERM}\n"
