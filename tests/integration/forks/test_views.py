"""One view for all readers of a state: nobody writes in it unseen, and who dies frees it."""

import os
import signal
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from integration.undo.desk import Desk
from prepared import prepared
from siding.forks.sweep import sweep
from siding.forks.views import view

from .bench import contents, git, left_of_the_pool, state

READERS = 16


@pytest.fixture
def desk() -> Desk:
    return Desk.at(prepared(Desk))


def test_sixteen_readers_share_one_view(desk: Desk) -> None:
    desk.run("sh", "-c", "echo 1 >new; chmod 755 new; mkdir deep; ln -s new deep/link")
    wanted, at = contents(desk.root), state(desk)
    refs = git(desk, desk.sandbox.repo, "for-each-ref")
    with ThreadPoolExecutor(READERS) as pool:
        found = list(pool.map(lambda n: view(desk.project, at, reader=f"r{n}"), range(READERS)))
    assert len({each.path for each in found}) == 1
    root = found[0].path
    inodes = {path.lstat().st_ino for each in found for path in each.path.rglob("*")}
    assert len(inodes) == len(list(root.rglob("*")))
    seen = {path: each[1] for path, each in contents(root).items()}
    assert seen == {path: each[1] for path, each in wanted.items()}
    for path in (root, *root.rglob("*")):
        mode = path.lstat().st_mode
        assert path.is_symlink() or not mode & 0o222, (path, oct(mode))
        assert not stat.S_ISDIR(mode) or mode & 0o555 == 0o555
    assert git(desk, root, "log", "-1", "--format=%s") == "first\n"
    assert git(desk, desk.sandbox.repo, "for-each-ref") == refs
    assert list(desk.project.tasks.fork_ids()) == []
    with ThreadPoolExecutor(READERS) as pool:
        returned = list(pool.map(lambda each: each.close(), found))
    assert {each.written for each in returned} == {()}
    assert view(desk.project, at).path == root  # again


@pytest.mark.parametrize(
    "write",
    [
        lambda root: (root / "hello.txt").write_text("mine"),
        lambda root: (root / "src/new.py").write_text(""),
        lambda root: (root / "hello.txt").unlink(),
        lambda root: (root / "x.log").write_text("ignored"),
        lambda root: (root / "hello.txt").chmod(0o644),
        lambda root: (root / "made").mkdir(),
        lambda root: os.mkfifo(root / "pipe"),
    ],
)
def test_a_reader_that_writes_is_named_and_the_view_thrown_away(desk: Desk, write: object) -> None:
    desk.write(".gitignore", "*.log\n")
    at = state(desk)
    honest, writer = view(desk.project, at, reader="honest"), view(desk.project, at, reader="evil")
    assert honest.close().written == ()
    writer.path.chmod(0o755)
    (writer.path / "src").chmod(0o755)
    (writer.path / "hello.txt").chmod(0o644)
    write(writer.path)  # type: ignore[operator]
    (writer.path / "hello.txt").exists() and None
    returned = writer.close()
    assert returned.written
    assert returned.readers == ("evil",)
    again = view(desk.project, at)
    assert again.path != writer.path
    assert not writer.path.exists()
    assert (again.path / "hello.txt").read_text() == "hello\n"


def test_who_still_reads_a_spoiled_view_is_told_and_new_readers_get_another(desk: Desk) -> None:
    at = state(desk)
    one, other = view(desk.project, at, reader="one"), view(desk.project, at, reader="other")
    os.chmod(one.path / "hello.txt", 0o644)
    (one.path / "hello.txt").write_text("mine")
    assert one.close().readers == ("one", "other")
    third = view(desk.project, at)
    assert third.path != other.path
    assert other.close().written == ("hello.txt",)
    assert not other.path.exists()
    assert third.close().written == ()


DIES = """
import os, sys
from pathlib import Path
from siding.record.place.project import require_project
from siding.record.place.wiring import open_app
from siding.record.place.named_task import resolve
from siding.forks.state import recorded
from siding.forks.views import view
project = require_project(open_app(env=os.environ, cwd=Path.cwd()))
found = view(project, recorded(project, resolve(project, sys.argv[1])), reader="dies")
print(found.path, flush=True)
sys.stdin.read()
"""


def test_a_reader_that_is_killed_frees_the_view(desk: Desk) -> None:
    at = state(desk)
    process = subprocess.Popen(
        [sys.executable, "-c", DIES, desk.task.id],
        cwd=desk.sandbox.repo,
        env=desk.sandbox.env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    path = Path(process.stdout.readline().decode().strip())
    assert view(desk.project, at).path == path
    assert sweep(desk.project).views == 0  # it is read
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    assert process.stdin is not None
    process.stdin.close()
    mine = view(desk.project, at)
    assert sweep(desk.project).views == 0
    mine.close()
    (desk.project.layout.root / "config.yaml").write_text("version: 1\nforks:\n  pool: 0\n")
    # This process read it once above and did not return it.
    assert sweep(Desk.again(desk).project).views in (0, 1)


def test_views_go_with_a_sweep(desk: Desk) -> None:
    at = state(desk)
    view(desk.project, at).close()
    assert sweep(desk.project).views == 1
    assert left_of_the_pool(desk) == []
