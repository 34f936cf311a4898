"""A base commit is kept alive by one ref; git's second look after a warning."""

from typing import Any

import pytest

from siding.git.command import Git, Place
from siding.git.errors import CommandFailed, UnknownRevision
from siding.git.snapshots.look_again import looked
from siding.git.snapshots.pins import pin
from siding.ids import Sha
from siding.process.capture import Completed

from .world import World


@pytest.mark.parametrize("ref_format", ["files", "reftable"])
def test_a_base_is_pinned_once_and_survives(
    world: World, monkeypatch: pytest.MonkeyPatch, ref_format: str
) -> None:
    sha, git = world.head(), world.git
    paths = world.paths._replace(ref_format=ref_format)
    really = Git.run
    run: list[str] = []

    def noted(self: Git, place: Place, words: list[str], **more: Any) -> bytes:
        run.append(words[0])
        return really(self, place, words, **more)

    monkeypatch.setattr(Git, "run", noted)
    pin(git, paths, sha)
    assert run == ([] if ref_format == "files" else ["update-ref"])
    name = f"refs/siding/base/{sha}"
    assert world.user("for-each-ref", "--format=%(refname) %(objectname)", name).decode() == (
        f"{name} {sha}\n"
    )
    path = paths.common_dir / name
    assert path.read_bytes() == f"{sha}\n".encode()
    if ref_format == "files":
        assert path.stat().st_mode & 0o777 == 0o644

    def started(*_: Any, **__: Any) -> Completed:
        raise AssertionError("a process for what is pinned already")

    monkeypatch.setattr(Git, "attempt", started)
    pin(git, paths, sha)


def test_what_is_no_commit_is_not_pinned(world: World) -> None:
    blob = world.user("rev-parse", "HEAD:a.txt").decode().strip()
    for sha in ("12" * 20, blob):
        with pytest.raises(UnknownRevision, match=sha):
            pin(world.git, world.paths, Sha(sha))
        assert not (world.paths.common_dir / "refs/siding/base" / sha).exists()


def test_a_pin_that_holds_another_commit_is_put_right(world: World) -> None:
    sha = world.head()
    other = world.commit({"a.txt": "later\n"})
    world.user("update-ref", f"refs/siding/base/{sha}", other)
    pin(world.git, world.paths, sha)
    assert world.user("rev-parse", f"refs/siding/base/{sha}").decode().strip() == sha


def done(returncode: int, stdout: bytes, stderr: bytes = b"") -> Completed:
    return Completed(("git", "status"), returncode, stdout, stderr)


@pytest.mark.parametrize(
    ("first", "again"),
    [
        (done(0, b"first"), False),
        (done(0, b"first", b"warning: could not open directory 'x/': EIO\n"), True),
        (done(0, b"first", b"hint: core.fsmonitor=true is deprecated\n"), False),
        (done(0, b"first", b"x is deprecated\nwarning: y\n"), True),
    ],
)
def test_after_a_warning_git_looks_once_more(
    world: World, monkeypatch: pytest.MonkeyPatch, first: Completed, *, again: bool
) -> None:
    asked: list[Any] = []

    def attempt(_git: Git, *words: Any) -> Completed:
        asked.append(words)
        return done(0, b"second", b"warning: still\n")

    monkeypatch.setattr(Git, "attempt", attempt)
    place = Place(git_dir=world.root / ".git")
    assert looked(world.git, place, ["status"], first) == (b"second" if again else b"first")
    assert asked == ([(place, ["status"])] if again else [])


def test_a_look_that_fails_is_told(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    place = Place(git_dir=world.root / ".git")
    failed = done(128, b"", b"fatal: broken\n")
    monkeypatch.setattr(Git, "attempt", lambda *_: failed)
    for first in (failed, done(0, b"", b"warning: x\n")):
        with pytest.raises(CommandFailed, match="looking for changes"):
            looked(world.git, place, ["status"], first)
    monkeypatch.setattr(Git, "attempt", lambda *_: done(0, b"second"))
    warned = failed._replace(stderr=b"warning: x\n")
    with pytest.raises(CommandFailed, match="looking for changes"):
        looked(world.git, place, ["status"], warned)
