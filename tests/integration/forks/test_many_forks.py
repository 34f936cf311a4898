"""Many threads and processes fork at once: no two get one workspace, and nothing is left."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from faults.arena import depth
from integration.undo.desk import Desk
from prepared import prepared
from siding.forks import returning
from siding.forks.bring_back import BroughtBack, bring_back
from siding.forks.sweep import sweep
from siding.record.tasks.slots import Slot, SlotBooks

from .bench import contents, dropped, git, git_says, left_of_the_pool, made, state

THREADS, PROCESSES, FORKS = 16, 4, depth(16, prove=100)

WORK = """
import os, sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from siding.record.place.project import require_project
from siding.record.place.wiring import open_app
from siding.record.place.named_task import resolve
from siding.forks.state import recorded
from siding.forks.forks import ForkRequest, drop, fork

project = require_project(open_app(env=os.environ, cwd=Path.cwd()))
at = recorded(project, resolve(project, sys.argv[1]))
count, threads, process = int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]

def one(number):
    found = fork(project, at, ForkRequest(group="many", call=f"{process}/{number}"))
    mine = found.path / "mine"
    assert not mine.exists(), "another fork's file"
    assert sorted(os.listdir(found.path)) == [".git", "hello.txt", "src"]
    if number % 3 == 0:
        mine.write_text(found.id)
        assert mine.read_text() == found.id
    return found.id, drop(project, found).differs

with ThreadPoolExecutor(threads) as pool:
    for task_id, differs in pool.map(one, range(count)):
        print(task_id, differs)
"""


@pytest.fixture
def desk() -> Desk:
    return Desk.at(prepared(Desk))


def test_many_forks_by_sixteen_threads_in_four_processes(desk: Desk) -> None:
    words = [str(FORKS // PROCESSES), str(THREADS // PROCESSES)]
    started = [
        subprocess.Popen(
            [sys.executable, "-c", WORK, desk.task.id, *words, str(number)],
            cwd=desk.sandbox.repo,
            env=desk.sandbox.env,
            stdout=subprocess.PIPE,
        )
        for number in range(PROCESSES)
    ]
    found: dict[str, str] = {}
    for process in started:
        out, _err = process.communicate(timeout=600)
        assert process.returncode == 0
        found |= dict(line.split() for line in out.decode().splitlines())
    assert len(found) == FORKS
    assert len(os.listdir(desk.sandbox.repo / ".git/worktrees")) <= THREADS + 1
    assert git(desk, desk.sandbox.repo, "branch", "--list").split() == [
        "*",
        "main",
        "+",
        desk.branch,
    ]
    (desk.project.layout.root / "config.yaml").write_text("version: 1\nforks:\n  pool: 0\n")
    assert sweep(Desk.again(desk).project).half_made == 0
    assert left_of_the_pool(desk) == []
    assert sorted(desk.project.tasks.fork_ids()) == sorted(found)


def test_sixteen_forks_come_back_at_once(desk: Desk) -> None:
    at = state(desk)
    forks = [made(desk, at, f"c{number}") for number in range(THREADS)]
    for number, each in enumerate(forks):
        (each.path / f"of{number}").write_text(f"{number}\n")
    with ThreadPoolExecutor(THREADS) as pool:
        done = list(pool.map(lambda each: bring_back(desk.project, each.task), forks))
    assert all(isinstance(each, BroughtBack) and each.step for each in done)
    for number in range(THREADS):
        assert (desk.root / f"of{number}").read_text() == f"{number}\n"


def test_no_more_wait_than_are_kept_if_another_is_put_back_meanwhile(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It comes between the look at how many wait and the entry of one more."""
    at, books = state(desk), SlotBooks(desk.project.layout.forks)
    first, second = made(desk, at, "c0"), made(desk, at, "c1")
    entering = SlotBooks.put_back

    def meanwhile(entered: SlotBooks, slot: Slot) -> None:
        monkeypatch.setattr(SlotBooks, "put_back", entering)
        dropped(desk.project, second)
        assert [each.name for each in books.free()] != []
        entering(entered, slot)

    monkeypatch.setattr(returning, "at_once", lambda _project: 1)
    monkeypatch.setattr(SlotBooks, "put_back", meanwhile)
    dropped(desk.project, first)
    assert len(books.free()) == 1
    assert len(os.listdir(desk.project.layout.forks.workspaces_dir)) == 1


Edit = tuple[str, object, object]
NAMES = st.sampled_from(["a", "b", "d/a", "d/b", "d/e/f", "src/a.py", "hello.txt", "ü\n", "-x"])
GIT = ("add -A", "commit -qm x --allow-empty", "rm -qr --cached .", "reset -q", "switch -q -d HEAD")
CONTENT = st.binary(max_size=40)
EDIT = st.one_of(
    st.tuples(st.just("write"), NAMES, CONTENT),
    st.tuples(st.just("mode"), NAMES, st.sampled_from([0o600, 0o755, 0o444, 0o640])),
    st.tuples(st.just("link"), NAMES, st.sampled_from(["a", "nowhere", "../x"])),
    st.tuples(st.just("remove"), NAMES, st.none()),
    st.tuples(st.just("directory"), NAMES, st.none()),
    st.tuples(st.just("hard"), NAMES, NAMES),
    st.tuples(st.just("git"), st.sampled_from(GIT), st.none()),
    st.tuples(st.just("step"), st.none(), st.none()),
)


def carry_out(desk: Desk, edit: Edit) -> None:
    """Do it where it can be done; the state is whatever comes of it."""
    kind, name, more = edit
    if kind == "step":
        desk.checkpoint()
        return
    if kind == "git":
        subprocess.run(
            ["git", *str(name).split()],
            cwd=desk.root,
            env=desk.sandbox.env,
            capture_output=True,
            check=False,
        )
        return
    path = desk.root / str(name)
    try:
        if kind in ("write", "link", "directory", "hard"):
            path.parent.mkdir(parents=True, exist_ok=True)
        if kind == "write":
            path.write_bytes(more if isinstance(more, bytes) else b"")
        elif kind == "mode" and path.is_file() and not path.is_symlink():
            path.chmod(int(str(more)))
        elif kind == "link":
            path.symlink_to(str(more))
        elif kind == "directory":
            path.mkdir()
        elif kind == "hard":
            os.link(desk.root / str(more), path, follow_symlinks=False)
        elif kind == "remove":
            path.unlink()
    except OSError:
        return


@settings(max_examples=depth(3, prove=20), suppress_health_check=list(HealthCheck))
@given(st.lists(EDIT, min_size=4, max_size=30), st.data())
def test_a_fork_equals_the_recorded_state(
    edits: list[tuple[str, object, object]], data: st.DataObject
) -> None:
    """Each state that was recorded, in any order, from one workspace of the pool."""
    desk = Desk.at(prepared(Desk))
    wanted = {}
    for edit in [*edits, ("step", None, None)]:
        carry_out(desk, edit)
        if edit[0] == "step":
            wanted[desk.steps()[-1].id] = (contents(desk.root), git_says(desk, desk.root))
    order = data.draw(st.lists(st.sampled_from(sorted(wanted)), min_size=1, max_size=4))
    for step in order:
        found = made(desk, state(desk, step))
        assert (contents(found.path), git_says(desk, found.path)) == wanted[step], step
        assert not dropped(desk.project, found)


def test_a_fork_is_made_where_the_repository_was_forked_from(desk: Desk) -> None:
    """The directory of a fork belongs to it: a command there is about it."""
    found = made(desk, state(desk))
    inner = found.path / "src"
    said = desk.sandbox.siding("status", "--format", "json", cwd=inner).stdout.decode()
    assert found.id in said
    assert Path(found.workspace.path) == found.path
