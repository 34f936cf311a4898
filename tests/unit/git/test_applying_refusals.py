"""A move that is refused says why, and changes nothing."""

import errno
from collections.abc import Callable
from typing import NoReturn

import pytest

from siding.git.applying import carry_out
from siding.git.applying.move import CheckoutBusy, RefusedMove
from siding.git.errors import CommandFailed

from .moving import Ready, go
from .world import write


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
        patch.setattr(carry_out, step, failing(stderr))
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

    monkeypatch.setattr(carry_out, "exchange", fails)
    monkeypatch.setattr(carry_out, "reverse", lambda *_arguments, **_more: stays)
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
