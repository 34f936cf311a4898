"""A move that is refused says why, and changes nothing."""

import errno
from collections.abc import Callable
from typing import NoReturn

import pytest

from siding.applying import branch_move
from siding.ground.git.errors import CommandFailed
from siding.record.moving import move_recovery
from siding.record.moving.model import CheckoutBusy, RefusedMove
from siding.record.moving.move import checkout_of

from .moving import Ready, go
from .world import World, write


def failing(stderr: bytes) -> Callable[..., NoReturn]:
    def fails(*_arguments: object, **_more: object) -> NoReturn:
        raise CommandFailed("looking", ["git"], 128, stderr)

    return fails


@pytest.mark.parametrize(
    ("step", "what"), [("overlaps", "could not be compared"), ("stage", "could not be changed")]
)
@pytest.mark.parametrize(
    ("stderr", "said"), [(b"fatal: it broke\n", "it broke"), (b"", "git did not say why")]
)
def test_what_git_said_is_told(
    ready: Ready, monkeypatch: pytest.MonkeyPatch, step: str, what: str, stderr: bytes, said: str
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(branch_move, step, failing(stderr))
        with pytest.raises(RefusedMove, match=f"{what}: .*{said}") as refused:
            go(ready, ready.move)
    assert "nothing was changed" in str(refused.value.hint)
    assert ready.is_at(ready.move.old)


@pytest.mark.parametrize("stays", [[], [b"a.txt", b"src/b.txt"]])
def test_what_was_saved_meanwhile_is_named(
    ready: Ready, monkeypatch: pytest.MonkeyPatch, stays: list[bytes]
) -> None:
    def fails(*_arguments: object) -> NoReturn:
        raise OSError(errno.EIO, "the disk fails")

    monkeypatch.setattr(branch_move, "exchange", fails)
    monkeypatch.setattr(move_recovery, "reverse", lambda *_arguments, **_more: stays)
    with pytest.raises(RefusedMove, match=r"could not be changed: .*the disk fails") as refused:
        go(ready, ready.move)
    hint = str(refused.value.hint)
    assert ("but for a.txt, src/b.txt, saved meanwhile" in hint) is bool(stays)


def test_a_merge_under_way_is_in_the_way(ready: Ready) -> None:
    write(ready.world.root / ".git/MERGE_HEAD", f"{ready.move.old}\n")
    with pytest.raises(CheckoutBusy):
        go(ready, ready.move)
    (ready.world.root / ".git/MERGE_HEAD").unlink()
    assert ready.is_at(ready.move.old)


def test_a_branch_that_is_checked_out_twice(world: World) -> None:
    world.user("worktree", "add", "-q", "-f", str(world.directory / "twice"), "main")
    with pytest.raises(CheckoutBusy, match=r"'main' is checked out at .*repo' and .*twice'"):
        checkout_of(world.repository, "main")


def test_a_branch_that_is_rebased_is_checked_out_nowhere_and_busy(world: World) -> None:
    world.commit({"a": "1\n"})
    assert checkout_of(world.repository, "main") is not None
    world.user("rebase", "--exec", "false", "HEAD~1", check=False)
    with pytest.raises(CheckoutBusy, match="rebase"):
        checkout_of(world.repository, "main")
    world.user("rebase", "--abort")
    assert checkout_of(world.repository, "main") is not None


def test_a_conflict_of_which_one_version_is_left(world: World) -> None:
    """Both sides have renamed the file: the index has but what it was."""
    sha = world.user("rev-parse", "HEAD:a.txt").decode().strip()
    assert checkout_of(world.repository, "main") is not None
    world.user("update-index", "--index-info", stdin=f"100644 {sha} 1\told name\n".encode())
    with pytest.raises(CheckoutBusy, match=r"not resolved \(old name\)"):
        checkout_of(world.repository, "main")
