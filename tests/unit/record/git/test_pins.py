"""A base commit is kept alive by one ref; git's second look after a warning."""

from typing import Any

import pytest

from siding.ground.git.command import Git, Place
from siding.ground.git.errors import UnknownRevision
from siding.ground.ids import Sha
from siding.record.snapshots.seeding import pin

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

    def started(*_: Any, **__: Any) -> None:
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
