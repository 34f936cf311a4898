"""A file that cannot be moved: foreseen and named, or everything is exchanged back.

What is said has the path, the reason and the way out; nothing is left half done.
"""

import errno
import os
import shutil
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from prepared import prepared
from privileges import behind, without_privileges
from sandbox import Sandbox
from siding.ground.files import exchange
from siding.record.files import restore as restoring
from siding.record.restoring.refusal import Refusal

FILES = (
    "mkdir d; for f in a b c d/e d/f; do echo $f >$f; done; echo more >>hello.txt; rm src/a.py; "
    "git add -A; git commit -qm half -- a"
)
GOING = (
    ("rollback", "--base"),
    ("rollback", "--base", "--force"),
    ("rollback", "--step", "1", "--hard"),
    ("undo",),
)


def _worked(sandbox: Sandbox) -> None:
    sandbox.siding("-q", "task", "start", "x")
    sandbox.siding("-q", "run", "--no-tty", "--", "true")
    sandbox.siding("-q", "run", "--no-tty", "--", "sh", "-c", FILES)


def state(sandbox: Sandbox) -> object:
    """Every name below the workspace with mode and bytes, a file with its inode; git's state."""
    root = sandbox.workspace()
    found = {}
    for path in sorted(root.rglob("*")):
        status = os.lstat(path)
        data = path.read_bytes() if stat.S_ISREG(status.st_mode) else b""
        found[str(path)] = (0 if path.is_dir() else status.st_ino, status.st_mode, data)
    git = [
        sandbox.git(*words, cwd=root)
        for words in (("rev-parse", "HEAD"), ("symbolic-ref", "HEAD"), ("ls-files", "-s"))
    ]
    return found, git


@pytest.fixture
def worked() -> Sandbox:
    return prepared(_worked)


@pytest.fixture
def immutable(worked: Sandbox) -> Iterator[Path]:
    """A file of the workspace that nobody may move, not even root."""
    path = worked.workspace() / "d/e"
    chattr = shutil.which("chattr")
    if chattr is None or subprocess.run([chattr, "+i", path], check=False).returncode:
        pytest.skip("no file can be made immutable here")
    yield path
    subprocess.run([chattr, "-i", path], check=True)


@pytest.mark.parametrize("words", GOING)
def test_an_immutable_file_is_foreseen(
    worked: Sandbox, immutable: Path, words: tuple[str, ...]
) -> None:
    before, steps = state(worked), worked.steps()
    if words[0] == "rollback":
        told = worked.siding(*words, "--dry-run").stdout
        assert b"stuck   d/e is immutable" in told
        assert b"chattr -i d/e" in told
    said = worked.siding(*words, status=1).stderr
    assert b"d/e is immutable" in said
    assert b"chattr -i d/e" in said
    assert b"b'" not in said
    assert state(worked) == before
    assert worked.steps() == steps
    assert worked.siding("doctor").stdout == b"everything agrees\n"


@pytest.mark.parametrize("number", range(6))
@pytest.mark.parametrize("error", [errno.EBUSY, errno.EIO])
def test_what_was_not_foreseen_is_exchanged_back(
    worked: Sandbox, monkeypatch: pytest.MonkeyPatch, number: int, error: int
) -> None:
    """One rename or exchange fails, whichever it is: HEAD, index and each inode are as before."""
    from siding.record.place.project import require_project
    from siding.record.place.wiring import open_app
    from siding.record.restoring.rollback import RollbackRequest, rollback

    before, steps = state(worked), worked.steps()
    calls = iter(range(100))
    put, rename = exchange.put, os.rename

    def one_fails() -> None:
        if next(calls) == number:
            raise OSError(error, os.strerror(error), b"e")

    def failing_put(new: exchange.Entry, place: exchange.Entry) -> bool:
        one_fails()
        return put(new, place)

    class Os:
        """`os` of the restoration, whose renames may fail."""

        def __getattr__(self, name: str) -> object:
            return getattr(os, name)

        @staticmethod
        def rename(*words: object, **more: object) -> None:
            one_fails()
            rename(*words, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(restoring, "put", failing_put)
    monkeypatch.setattr(restoring, "os", Os())
    app = open_app(env=worked.env, cwd=worked.repo)
    with pytest.raises(Refusal, match="cannot be"):
        rollback(require_project(app), RollbackRequest(step=None))
    assert next(calls) > number
    monkeypatch.undo()
    assert state(worked) == before
    assert worked.steps() == steps
    worked.siding("rollback", "--base")
    worked.siding("undo")
    assert worked.siding("doctor").stdout == b"everything agrees\n"


def test_a_directory_of_another_user_is_foreseen(worked: Sandbox) -> None:
    """As a container leaves one: root's, in the workspace of an ordinary user."""
    prefix = without_privileges()
    theirs = worked.workspace() / "d"
    if not prefix:
        pytest.skip("needs root, to make a directory of another user")
    os.chown(theirs, 12345, 12345)
    before, steps = state(worked), worked.steps()
    for words in (("rollback", "--base"), ("rollback", "--base", "--force"), ("undo",)):
        said = behind(worked, prefix, *words, status=1)
        assert "d/e in d, which belongs to another user" in said
        assert "chown -R $USER d" in said
        assert "b'" not in said
    assert state(worked) == before
    assert worked.steps() == steps


def test_a_mount_point_is_foreseen(worked: Sandbox) -> None:
    """A file over which another one is mounted, and a directory that is mounted read-only."""
    unshare = shutil.which("unshare")
    root = worked.workspace()
    script = 'mount --bind "$1" "$1" && shift && exec "$@"'
    probe = ("unshare", "-m", "sh", "-c", script, "sh")
    works = unshare and not subprocess.run([*probe, root / "d/e", "true"], check=False).returncode
    if not works:
        pytest.skip("nothing can be mounted here")
    before = state(worked)
    for place in ("d/e", "d"):
        said = behind(worked, (*probe, str(root / place)), "rollback", "--base", status=1)
        assert f"is a mount point, or below the one at {place}" in said
    assert state(worked) == before
