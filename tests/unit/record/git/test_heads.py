"""The commits that HEAD went through: which are found, which are kept, and what is said of them."""

import os
from collections.abc import Sequence

import pytest

from siding.ground.git import refs
from siding.ground.git.objects import Commit
from siding.ground.ids import Sha
from siding.record.snapshots import git_state
from siding.record.snapshots.git_state import MovedHeads, head_in, heads_since, keep_commits

from .lines import Line
from .world import TASK, World

NOWHERE = Sha("12" * 20)
NO_TREE = Sha("34" * 20)


class Moving(Line):
    """Ada's own checkout as a workspace, and a task that began at its first commit."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.git_dir = world.root / ".git"
        self.tip = self.snapshot("base")

    def made(self, name: str) -> Sha:
        """Commit in the workspace."""
        self.world.user("commit", "-q", "--allow-empty", "-m", name)
        return self.world.head()

    def since(self, message: str = "") -> MovedHeads:
        last = Commit(NO_TREE, (), f"run 0001\n{message}")
        return heads_since(self.store, TASK, self.git_dir, last)

    def keep(self, moved: MovedHeads) -> tuple[tuple[Sha, ...], tuple[str, ...]]:
        return keep_commits(self.store, TASK, self.tip, moved, keep_fds=())

    def held(self, shas: Sequence[Sha]) -> set[str]:
        return self.store.present(shas)


@pytest.fixture
def moving(world: World) -> Moving:
    return Moving(world)


def lowest_free() -> int:
    fd = os.open(os.devnull, os.O_RDONLY)
    os.close(fd)
    return fd


def test_a_head_that_stands_where_it_was_went_through_nothing(moving: Moving) -> None:
    found = moving.since()
    size = (moving.git_dir / "logs/HEAD").stat().st_size
    assert found == MovedHeads(moving.base, (), size, "main")
    assert found.trailers() == f"\nHead: {moving.base}\nReflog: {size}"
    assert moving.keep(found) == ((), ())
    assert moving.store.packs() == 0


def test_each_commit_that_it_came_to_is_found_the_newest_first_and_once(moving: Moving) -> None:
    first, second = moving.made("first"), moving.made("second")
    moving.world.user("reset", "-q", "--hard", first)
    third = moving.made("third")
    found = moving.since()
    assert found.heads == (third, first, second)
    again = moving.since(found.trailers())
    assert (again.head, again.heads, again.reflog) == (third, (), found.reflog)
    fourth = moving.made("fourth")
    later = moving.since(found.trailers())
    assert later.heads == (fourth,)
    assert later.reflog > found.reflog
    assert head_in(f"run 0002\n{later.trailers()}") == fourth
    assert head_in("run 0002\n") is None


def test_what_a_snapshot_keeps_already_is_not_named_again(moving: Moving) -> None:
    first = moving.made("first")
    moving.snapshot("run 0001", first)
    assert moving.since().heads == ()
    second = moving.made("second")
    assert moving.since().heads == (second,)


def test_of_very_many_the_newest_are_named(moving: Moving, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git_state, "_KEPT_AT_ONCE", 2)
    commits = [moving.made(str(number)) for number in range(4)]
    assert moving.since().heads == (commits[3], commits[2])


def test_a_log_is_read_from_where_it_was_read_to(
    moving: Moving, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = moving.git_dir / "logs/HEAD"
    commits = [moving.made(str(number)) for number in range(3)]
    size = log.stat().st_size
    line = size // 4  # of equal lengths but for the first
    before = lowest_free()
    assert moving.since(f"\nReflog: {size}").heads == (commits[2],)  # where HEAD is
    assert moving.since(f"\nReflog: {size - line}").heads == (commits[2],)
    assert moving.since(f"\nReflog: {size - 2 * line}").heads == (commits[2], commits[1])
    assert lowest_free() == before
    # One that is shorter than what was read is another log: all of it is new.
    assert moving.since(f"\nReflog: {size + 1}").heads == tuple(reversed(commits))
    monkeypatch.setattr(git_state, "_REFLOG_READ", 2 * line)
    found = moving.since()
    assert (found.heads, found.reflog) == ((commits[2], commits[1]), size)


def test_without_a_log_only_the_place_of_head_is_known(moving: Moving) -> None:
    first = moving.made("first")
    moving.made("second")
    moving.world.user("reset", "-q", "--hard", first)
    (moving.git_dir / "logs/HEAD").unlink()
    found = moving.since("\nReflog: 12")
    assert (found.heads, found.reflog) == ((first,), 12)


def test_lines_that_say_no_commit_are_passed_over(moving: Moving) -> None:
    first = moving.made("first")
    moving.world.user("reset", "-q", "--hard", "HEAD~1")
    zeros = "0" * 40
    lines = [f"{moving.base} {zeros} x", f"{zeros} nonsense x", "torn", f"{zeros} {first}"]
    (moving.git_dir / "logs/HEAD").write_text("\n".join([*lines, f"{zeros} {first} Ada\n"]))
    assert moving.since().heads == (first,)
    (moving.git_dir / "logs/HEAD").write_text("\n".join([*lines, ""]))
    assert moving.since().heads == ()


def test_without_a_git_directory_it_is_where_it_was(moving: Moving) -> None:
    last = Commit(NO_TREE, (), f"run 0001\n\nHead: {NOWHERE}\nReflog: 345")
    found = heads_since(moving.store, TASK, None, last)
    assert found == MovedHeads(NOWHERE, (), 345)
    nothing = heads_since(moving.store, TASK, None, last._replace(message="run 0001"))
    assert nothing == MovedHeads(None, (), 0)
    assert nothing.trailers() == "\nReflog: 0"


def test_a_head_without_a_commit_has_been_where_its_log_says(moving: Moving) -> None:
    first = moving.made("first")
    moving.world.user("symbolic-ref", "HEAD", "refs/heads/unborn")
    found = moving.since()
    assert (found.head, found.branch, found.heads) == (None, "unborn", (first,))


def test_the_commits_are_copied_with_what_they_stand_on(moving: Moving) -> None:
    first, second = moving.made("first"), moving.made("second")
    moving.world.user("reset", "-q", "--hard", moving.base)
    found = moving.since()
    assert moving.keep(found) == ((second, first), ())
    assert moving.held([first, second, moving.base]) == {first, second}


def test_of_commits_that_are_gone_the_one_of_head_is_kept(moving: Moving) -> None:
    head = moving.made("first")
    lost = MovedHeads(head, (head, NOWHERE), 0)
    said = "gone already: 1 commit that HEAD went through"
    assert moving.keep(lost) == ((head,), (said,))
    assert moving.held([head]) == {head}
    failed = ((), ("the commits that HEAD went through could not be copied",))
    assert moving.keep(MovedHeads(moving.base, (NOWHERE,), 0)) == failed
    assert moving.keep(MovedHeads(NOWHERE, (NOWHERE,), 0)) == failed


def test_what_is_gone_is_named_all_the_same(moving: Moving) -> None:
    head = moving.made("first")
    with (moving.git_dir / "logs/HEAD").open("a") as log:
        log.write(f"{head} {NOWHERE} Ada\n")
    assert moving.since().heads == (head, NOWHERE)


def test_before_the_first_snapshot_all_of_them_are_named(moving: Moving) -> None:
    head = moving.made("first")
    refs.delete_ref(moving.store.root, moving.store.task(TASK).ref)
    assert moving.since().heads == (head,)


@pytest.mark.parametrize("what", ["pipe", "link"])
def test_a_log_that_is_no_file_is_not_waited_for_and_not_read(moving: Moving, what: str) -> None:
    head, log = moving.made("first"), moving.git_dir / "logs/HEAD"
    moving.made("second")
    moving.world.user("reset", "-q", "--hard", head)
    log.rename(moving.git_dir / "log")
    if what == "pipe":
        os.mkfifo(log)
    else:
        log.symlink_to(moving.git_dir / "log")
    found = moving.since("\nReflog: 12")
    assert (found.heads, found.reflog) == ((head,), 12)
