"""What is read of an index without git is what git says of it."""

import subprocess
from pathlib import Path

import pytest

from siding.ground.git import index_file
from siding.ground.git.index_file import Exceptions, exceptions_in

SHA1 = 20


@pytest.fixture
def root(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q", "-b", "main")
    for name in ("a", "b", "c", "d", "long" + "g" * 200, "m", "z"):
        (tmp_path / name).write_text("ours\n")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "base")
    return tmp_path


def git(root: Path, *words: str, status: int = 0, stdin: bytes = b"") -> bytes:
    argv = ["git", "-c", "user.name=A", "-c", "user.email=a@example.org", *words]
    done = subprocess.run(argv, cwd=root, input=stdin, capture_output=True, check=False)
    assert done.returncode == status, done.stderr
    return done.stdout


def with_conflicts(root: Path) -> None:
    git(root, "checkout", "-qb", "other")
    (root / "m").write_text("theirs\n")
    git(root, "rm", "-q", "z")
    git(root, "commit", "-qam", "theirs")
    git(root, "checkout", "-q", "main")
    (root / "m").write_text("changed\n")
    (root / "z").write_text("changed\n")
    git(root, "commit", "-qam", "ours")
    git(root, "merge", "-q", "other", status=1)
    sha = git(root, "rev-parse", "HEAD:a").strip()
    alone = b"100644 " + sha + b" 2\ty\n"  # of which there is no other side
    git(root, "update-index", "--index-info", stdin=alone)


def said_by_git(root: Path) -> Exceptions:
    lines = git(root, "ls-files", "--unmerged", "-z").split(b"\0")[:-1]
    unmerged = dict.fromkeys(line.partition(b"\t")[2] for line in lines)
    tags = [(line[:1], line[2:]) for line in git(root, "ls-files", "-v", "-z").split(b"\0")]
    excused = {path for tag, path in tags if tag.islower() or tag == b"S"}
    return Exceptions(tuple(unmerged), frozenset(excused))


@pytest.mark.parametrize("version", ["2", "3"])
def test_exceptions_are_those_that_git_names(root: Path, version: str) -> None:
    assert exceptions_in(root / ".git/index", SHA1) == Exceptions((), frozenset())
    with_conflicts(root)
    git(root, "update-index", "--assume-unchanged", "a", "b")
    if version == "3":  # of which git makes the index when an entry needs it
        git(root, "update-index", "--skip-worktree", "b", "c")
    (root / "new").write_text("")
    git(root, "add", "-N", "new")
    git(root, "update-index", "--untracked-cache")
    found = exceptions_in(root / ".git/index", SHA1)
    assert found == said_by_git(root)
    assert found is not None
    assert found.unmerged == (b"m", b"y", b"z")
    assert found.excused == {b"a", b"b", *([b"c"] if version == "3" else [])}


def test_git_is_asked_where_the_index_is_not_read_here(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = root / ".git/index"
    assert exceptions_in(root / "none", SHA1) == Exceptions((), frozenset())
    whole = index.read_bytes()
    for damaged in (whole[:-30], whole[:90], b""):
        (root / "damaged").write_bytes(damaged)
        assert exceptions_in(root / "damaged", SHA1) is None
    monkeypatch.setattr(index_file, "_WITHOUT_GIT", len(whole))
    assert exceptions_in(index, SHA1) is None
    monkeypatch.undo()
    git(root, "update-index", "--index-version", "4")
    assert exceptions_in(index, SHA1) is None
    git(root, "update-index", "--index-version", "2")
    git(root, "update-index", "--split-index")
    assert exceptions_in(index, SHA1) is None
    index.unlink()
    index.symlink_to("elsewhere")
    assert exceptions_in(index, SHA1) is None


def test_a_sparse_index_is_left_to_git(root: Path) -> None:
    (root / "in").mkdir()
    (root / "out").mkdir()
    for directory in ("in", "out"):
        (root / directory / "f").write_text("")
    git(root, "add", ".")
    git(root, "commit", "-qm", "directories")
    git(root, "sparse-checkout", "set", "--cone", "--sparse-index", "in")
    assert b"out/\0" in (root / ".git/index").read_bytes()
    assert exceptions_in(root / ".git/index", SHA1) is None
