"""Which ignored files of a checkout match the patterns of what is to be taken along."""

from pathlib import Path
from typing import Any

import pytest

from siding.ground.git.command import Git, Place
from siding.ground.git.errors import CommandFailed
from siding.ground.process.capture import Completed
from siding.tasks.carry import ignored_matching

from .world import World, write


def matching(world: World, patterns: str) -> list[bytes]:
    file = world.directory / "patterns"
    file.write_text(patterns)
    git_dir = world.root / ".git"
    return ignored_matching(world.repository, world.settings, world.root, git_dir, file)


@pytest.fixture
def checkout(tmp_path: Path) -> World:
    world = World(tmp_path / "world")
    world.commit({".gitignore": ".env\n*.log\n:odd\n/build/\n", "tracked.log": "tracked"})
    for name in (".env", "sub/.env", "z.log", "a.log", ":odd", "build/deep/x", "plain"):
        write(world.root / name, name)
    return world


def test_only_ignored_files_that_match_are_found_and_sorted(checkout: World) -> None:
    assert matching(checkout, ".env\n*.log\nplain\n") == [b".env", b"a.log", b"sub/.env", b"z.log"]
    assert matching(checkout, "build/\n") == [b"build/deep/x"]
    assert matching(checkout, ":*\n") == [b":odd"]  # no magic of a pathspec
    assert matching(checkout, "/.env\n!sub/.env\n") == [b".env"]


def test_what_matches_and_is_not_ignored_is_none(checkout: World) -> None:
    assert matching(checkout, "plain\n") == []
    assert matching(checkout, "nothing\n") == matching(checkout, "") == []


def test_the_persons_own_patterns_count(checkout: World) -> None:
    write(checkout.home / ".config/git/ignore", "plain\n")
    assert matching(checkout, "plain\n") == [b"plain"]
    write(checkout.home / "elsewhere", "*.txt\n")
    checkout.user("config", "core.excludesFile", str(checkout.home / "elsewhere"))
    write(checkout.root / "a.txt", "x")
    assert matching(checkout, "plain\n*.txt\n") == [b"a.txt"]


def test_a_question_that_fails_is_not_taken_for_no(checkout: World) -> None:
    (checkout.root / ".git/index").write_bytes(b"DIRC damaged")
    with pytest.raises(CommandFailed, match="looking for ignored files"):
        matching(checkout, ".env\n")


def test_a_second_question_that_fails_is_not_taken_for_no(
    checkout: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed = Completed(("git", "check-ignore"), 128, b"", b"fatal: broken\n")
    really = Git.attempt

    def attempt(git: Git, place: Place, words: list[str], **more: Any) -> Completed:
        return failed if words[0] == "check-ignore" else really(git, place, words, **more)

    monkeypatch.setattr(Git, "attempt", attempt)
    with pytest.raises(CommandFailed, match="looking for ignored files"):
        matching(checkout, ".env\n")
