"""The task's index around a restoration, and which files are ignored: now, and by other rules."""

from pathlib import Path

import pytest

from siding.ground.git.errors import CommandFailed
from siding.ground.ids import Sha
from siding.record.files.index_entries import (
    expect,
    ignored_among,
    ignored_now,
    ignored_there,
    let_go,
)
from siding.record.snapshots.patches import Change

from .world import TASK, World, write

NONE, FILE, GITLINK = "000000", "100644", "160000"
ZEROS, ONE = Sha("0" * 40), Sha("1" * 40)
RULES = {".gitignore": "*.log\nout/\n", "kept.log": "kept\n", "zz/.gitignore": "*.tmp\n"}


@pytest.fixture
def task(world: World) -> World:
    """A task with rules in two places, and the person's own."""
    write(world.root / ".git/info/exclude", "mine\n")
    world.commit(RULES)
    world.start()
    return world


def deleted(*paths: bytes, old_mode: str = FILE) -> list[Change]:
    return [Change("D", path, old_mode, NONE, ONE, ZEROS) for path in paths]


def written(*paths: bytes) -> list[Change]:
    return [Change("M", path, FILE, FILE, ONE, ONE) for path in paths]


def tree_of(world: World, files: dict[str, str], link: str | None = None) -> Sha:
    """Store a tree of these files with git; `link` is the target of one more `.gitignore`."""
    lines = []
    for name, content in files.items():
        sha = world.user("hash-object", "-w", "--stdin", stdin=content.encode()).decode().strip()
        lines.append(f"100644 {sha}\t{name}\n")
    if link is not None:
        sha = world.user("hash-object", "-w", "--stdin", stdin=link.encode()).decode().strip()
        lines.append(f"120000 {sha}\tlinked/.gitignore\n")
    world.env["GIT_INDEX_FILE"] = str(world.directory / "index")
    world.user("read-tree", "--empty")
    world.user("update-index", "--index-info", stdin="".join(lines).encode())
    tree = Sha(world.user("write-tree").decode().strip())
    del world.env["GIT_INDEX_FILE"]
    return tree


def indexed(world: World) -> dict[bytes, bytes]:
    store = world.store
    place = store.place(store.task(TASK))
    listed = store.git.run(place, ["ls-files", "--stage", "-z"], doing="listing")
    entries = [line.partition(b"\t") for line in listed.split(b"\0")[:-1]]
    return {path: about.split(b" ")[1] for about, _, path in entries}


def test_what_will_be_written_is_entered_and_what_is_let_go_is_not_there(task: World) -> None:
    before = indexed(task)
    expect(task.store, TASK, written(b"a.txt", b"new/one"), keep_fds=())
    assert indexed(task) == before | {b"a.txt": ONE.encode(), b"new/one": ONE.encode()}
    let_go(task.store, TASK, [b"a.txt", b"new/one"], keep_fds=())
    assert indexed(task).keys() == before.keys() - {b"a.txt"}
    expect(task.store, TASK, [], keep_fds=())
    let_go(task.store, TASK, [], keep_fds=())
    assert indexed(task).keys() == before.keys() - {b"a.txt"}


def test_what_is_ignored_now(task: World) -> None:
    assert ignored_now(task.store, TASK, task.where) == []
    for name in ("x.log", "out/deep/file", "mine", "zz/a.tmp", "new", "a.tmp", "kept.log"):
        write(task.worktree / name, "x\n")
    assert ignored_now(task.store, TASK, task.where) == [b"mine", b"out", b"x.log", b"zz/a.tmp"]


def test_of_paths_those_that_are_ignored_and_not_recorded(task: World) -> None:
    asked = [b"x.log", b"kept.log", b"out/file", b"mine", b":(top)y.log", b"a.txt", b"\xff.log"]

    def ignored(*paths: bytes) -> set[bytes]:
        return ignored_among(task.store, TASK, task.worktree, paths)

    assert ignored(*asked) == {b"x.log", b"out/file", b"mine", b":(top)y.log", b"\xff.log"}
    assert ignored(b"a.txt") == set()
    with pytest.raises(CommandFailed, match="asking what is ignored there"):
        ignored(b"../outside")


def there(task: World, tree: Sha, changes: list[Change]) -> set[bytes]:
    place = task.directory / "scratch" / "rules"
    place.parent.mkdir(exist_ok=True)
    found = ignored_there(task.store, TASK, task.where, tree, changes, place=place)
    assert not place.exists()
    return found


def test_rules_that_do_not_change_are_the_worktrees(task: World) -> None:
    nowhere = Sha("12" * 20)  # the tree is not read
    changes = [
        *deleted(b"kept.log", b"a.txt", b"mine", b"zz/a.tmp"),
        *deleted(b"out/sub", old_mode=GITLINK),
        *written(b"x.log"),
    ]
    assert there(task, nowhere, changes) == {b"kept.log", b"mine", b"zz/a.tmp"}
    assert there(task, nowhere, written(b"x.log", b".gitignore")) == set()
    assert there(task, nowhere, deleted(b"out/sub", old_mode=GITLINK)) == set()
    assert there(task, nowhere, deleted(b"a.txt")) == set()


@pytest.mark.parametrize("changed", [b".gitignore", b"zz/.gitignore"])
def test_other_rules_are_those_of_the_tree(task: World, changed: bytes) -> None:
    tree = tree_of(
        task,
        {"a.gitignore": "*\n", ".gitignore": "*.old\n", "f": "*\n", "zz/.gitignore": "*.txt\n"},
        link="*.c",
    )
    gone = deleted(b"x.old", b"zz/a.txt", b"a.txt", b"kept.log", b"mine", b"linked/x.c")
    assert there(task, tree, [*gone, *written(changed)]) == {b"x.old", b"zz/a.txt", b"mine"}
    plain = tree_of(task, {"a.txt": "one\n"})
    assert there(task, plain, [*written(changed), *gone]) == {b"mine"}


def test_rules_are_not_read_where_nothing_is_deleted(task: World, tmp_path: Path) -> None:
    place = tmp_path / "never"
    changes = written(b".gitignore")
    found = ignored_there(task.store, TASK, task.where, ZEROS, changes, place=place)
    assert (found, place.exists()) == (set(), False)
