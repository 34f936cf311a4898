"""Control groups of runs, where a real cgroup v2 was delegated to this process.

Elsewhere these tests skip. They run under `systemd-run --user --scope`, on a machine or in a
virtual one with cgroup v2: docs/reference/reliability.md says how.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bwrap import bwrap_problem
from integration.escapes.world import landlock_version, without_bwrap
from sandbox import Sandbox
from siding.ground.process.limits import Limits
from siding.sandbox.engines.cgroup import Delegation, RunGroup, delegation_here, make_group

HERE = delegation_here()
pytestmark = pytest.mark.skipif(HERE.place is None, reason=f"no delegated cgroup v2: {HERE.reason}")
MEBIBYTE = 1 << 20
# Each takes less than the limit on one process would be; all together take more.
HOGS = """
import os, signal, sys
count, size = map(int, sys.argv[1:])
children = []
for _ in range(count):
    reading, writing = os.pipe()
    if not (pid := os.fork()):
        taken = bytearray(size)
        for at in range(0, size, 4096):
            taken[at] = 1
        os.write(writing, b"x")
        signal.pause()
    os.close(writing)
    os.read(reading, 1)  # nothing, when it was killed
    children.append(pid)
for pid in children:
    os.kill(pid, signal.SIGTERM)
print(sum(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -9 for pid in children))
"""
THREADS = """
import sys, threading
wait, began = threading.Event(), 0
try:
    for _ in range(int(sys.argv[1])):
        threading.Thread(target=wait.wait).start()
        began += 1
except RuntimeError:
    pass
wait.set()
print(began)
"""


@pytest.fixture
def above() -> Iterator[Path]:
    """A group with controllers for those below it, which has a process of ours in none of them."""
    assert HERE.place is not None
    path = HERE.place / f"siding-{os.getpid()}-above"
    path.mkdir()
    (path / "cgroup.subtree_control").write_text("+memory +pids")
    yield path
    path.rmdir()


def said(group: RunGroup, source: str, *words: int) -> int:
    done = subprocess.run(
        [sys.executable, "-c", source, *map(str, words)],
        preexec_fn=group.enter,
        stdout=subprocess.PIPE,
        check=True,
    )
    return int(done.stdout)


def group_of(limits: Limits, delegation: Delegation = HERE) -> RunGroup:
    group = make_group(limits, delegation)
    assert group is not None
    return group


def test_the_kernel_kills_what_takes_too_much_together() -> None:
    group = group_of(Limits(memory=100 * MEBIBYTE))
    assert said(group, HOGS, 4, 40 * MEBIBYTE) > 0
    breach = group.breach()
    assert breach is not None
    assert breach.what == "memory"
    group.close()
    assert not group.path.exists()


def test_what_stays_below_is_no_breach() -> None:
    group = group_of(Limits(memory=100 * MEBIBYTE, processes=4))
    assert said(group, HOGS, 1, 40 * MEBIBYTE) == 0
    assert group.breach() is None
    group.close()


def test_the_kernel_refuses_more_threads() -> None:
    group = group_of(Limits(processes=1))
    assert said(group, THREADS, 100) < 40
    breach = group.breach()
    assert breach is not None
    assert breach.what == "processes"
    group.close()


def test_a_limit_of_a_group_above_is_not_the_run_s(above: Path) -> None:
    (above / "memory.max").write_text(str(60 * MEBIBYTE))
    (above / "memory.swap.max").write_text("0")
    (above / "pids.max").write_text("20")
    group = group_of(Limits(memory=100 * MEBIBYTE, processes=100), Delegation(above))
    assert said(group, HOGS, 2, 40 * MEBIBYTE) > 0
    assert said(group, THREADS, 100) < 20
    assert group.breach() is None
    group.close()


def in_a_child(act: Callable[[], str]) -> str:
    reading, writing = os.pipe()
    if not (pid := os.fork()):
        os.write(writing, act().encode())
        os._exit(0)
    os.close(writing)
    with open(reading, encoding="utf-8") as told:
        text = told.read()
    os.waitpid(pid, 0)
    return text


@pytest.mark.parametrize(
    ("name", "text"), [("memory.max", "1073741824"), ("memory.high", "1000000000")]
)
def test_a_group_with_a_limit_of_its_own_is_not_left(name: str, text: str) -> None:
    assert HERE.place is not None
    limited = HERE.place / f"siding-{os.getpid()}-limited"
    limited.mkdir()

    def found() -> str:
        (limited / "cgroup.procs").write_text("0")
        (limited / name).write_text("max")
        free = delegation_here()
        (limited / name).write_text(text)
        return f"{free.place} {delegation_here().reason}"

    told = in_a_child(found)
    limited.rmdir()
    assert told.startswith(f"{HERE.place} ")
    assert name in told


def test_the_group_of_a_siding_that_was_killed_is_removed() -> None:
    def begun() -> str:
        path = group_of(Limits(memory=MEBIBYTE)).path
        return str(path)

    left = Path(in_a_child(begun))
    assert left.exists()
    group_of(Limits(memory=MEBIBYTE)).close()
    assert not left.exists()


# Prints the limit on memory that it still has after it tried to be rid of it.
WIDENS = """
for limit in $(find /sys/fs/cgroup -path '*/siding-*' -name '*.max' 2>/dev/null); do
    echo max >$limit
done 2>/dev/null
cat $(find /sys/fs/cgroup -path '*/siding-*' -name memory.max)
"""


@pytest.fixture(params=["bwrap", "landlock"])
def engine(request: pytest.FixtureRequest, sandbox: Sandbox) -> dict[str, str]:
    """The environment in which a run has this engine."""
    if request.param == "bwrap":
        if problem := bwrap_problem():
            pytest.skip(problem)
        return {}
    if not landlock_version():
        pytest.skip("this kernel has no Landlock")
    return without_bwrap(sandbox.directory)


class TestRuns:
    LIMIT = ("--sandbox", "--max-memory", "100MiB")

    @pytest.fixture(autouse=True)
    def _task(self, sandbox: Sandbox) -> None:
        sandbox.siding("task", "start", "limited")

    def test_it_cannot_widen_its_limits(self, sandbox: Sandbox, engine: dict[str, str]) -> None:
        done = sandbox.siding("-q", "run", *self.LIMIT, "--", "sh", "-c", WIDENS, env=engine)
        assert done.stdout.split() == [str(100 * MEBIBYTE).encode()]

    def test_the_step_says_what_the_kernel_did(
        self, sandbox: Sandbox, engine: dict[str, str]
    ) -> None:
        command = (sys.executable, "-c", HOGS, "4", str(40 * MEBIBYTE))
        sandbox.siding("-q", "run", *self.LIMIT, "--", *command, env=engine, status=125)
        step = sandbox.steps()[-1]
        assert step["ending"] == "limit"
        assert "memory" in step["reason"]
        assert HERE.place is not None
        assert not list(HERE.place.glob("siding-*"))
