"""A patch is what `git apply` takes: applied to the old snapshot it gives the new one."""

import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, reject, settings

from siding.ground.git.command import Git
from siding.ground.git.errors import CommandFailed, SnapshotDamaged
from siding.ground.ids import Sha
from siding.ground.process.capture import Running
from siding.record.snapshots.patches import (
    DiffPart,
    DiffStat,
    diff_stat,
    diff_trees,
    parse_stat,
    paths_in_tree,
    write_patch,
    write_patch_counted,
)

from .test_capture_laws import edit, edits_of_trees
from .world import TASK, Tree, World, on_disk, write


def patch_between(world: World, old: str, new: str, paths: tuple[bytes, ...] = ()) -> bytes:
    path = world.directory / "patch"
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC)
    try:
        write_patch(world.store, [DiffPart(old, new)], fd, paths=paths)
    finally:
        os.close(fd)
    return path.read_bytes()


def counted(world: World, *parts: DiffPart) -> tuple[bytes, DiffStat]:
    """Return the patch and the figures that are made at once."""
    path = world.directory / "counted"
    with path.open("w+b") as file:
        stat = write_patch_counted(world.store, parts, file.fileno())
    return path.read_bytes(), stat


def written(world: World, *parts: DiffPart, paths: tuple[bytes, ...] = ()) -> bytes:
    path = world.directory / "written"
    with path.open("w+b") as file:
        write_patch(world.store, parts, file.fileno(), paths=paths)
    return path.read_bytes()


def applied(world: World, old: str, patch: bytes) -> Tree:
    """Return what plain `git apply` makes of the old snapshot's files."""
    place = Path(tempfile.mkdtemp(dir=world.directory))
    edit(place, world.stored(old))
    subprocess.run(["git", "init", "-q", "."], cwd=place, env=world.env, check=True)
    if patch:
        done = subprocess.run(
            ["git", "apply", "--whitespace=nowarn", "-"],
            cwd=place,
            env=world.env,
            input=patch,
            capture_output=True,
            check=False,
        )
        # A link to itself that becomes a directory: git looks through it before it removes it.
        if b"Too many levels of symbolic links" in done.stderr:
            reject()
        assert done.returncode == 0, done.stderr
    return on_disk(place)


def test_h11_every_kind_of_change_applies(world: World) -> None:
    world.commit(
        {
            "binary": bytes(range(256)) * 4,
            "gone": "will go\n",
            "no end": "no newline at the end",
            "long.txt": "".join(f"line {n}\n" for n in range(60)),
            "crlf": b"a\r\nb\r\nc\r\n",
            "tool": "#!/bin/sh\n",
            "empty": b"",
        }
    )
    (world.root / "link").symlink_to("binary")
    world.commit({})
    world.start()
    tree = world.worktree
    write(tree / "binary", bytes(reversed(range(256))) * 4)
    (tree / "gone").unlink()
    write(tree / "no end", "still none")
    (tree / "long.txt").rename(tree / "renamed.txt")
    write(tree / "crlf", b"a\r\nB\r\nc\r\n")
    (tree / "tool").chmod(0o755)
    (tree / "link").unlink()
    (tree / "link").symlink_to("tool")
    write(tree / "empty", "no more\n")
    write(tree / "trailing", "x\n   \n\n\n")
    write(tree / 'odd "na\\me\n\t\u00e9', "odd\n")
    taken = world.capture()
    patch = patch_between(world, taken.parent, taken.snapshot)
    assert b"rename from long.txt" in patch
    assert b"GIT binary patch" in patch
    assert applied(world, taken.parent, patch) == on_disk(tree)


def test_a_space_before_a_slash_applies(task: World) -> None:
    """What `git diff` itself writes for these, `git apply` refuses."""
    tree = task.worktree
    write(tree / " " / "empty", b"")
    write(tree / "dir " / "binary", bytes(range(256)))
    write(tree / "dir " / " both ", "text\n")
    write(tree / "plain", "text\n")
    first = task.capture()
    (tree / "dir " / " both ").chmod(0o755)
    (tree / " " / "empty").unlink()
    write(tree / "dir " / "binary", bytes(range(255)))
    second = task.capture()
    for old, new in ((first.parent, first.snapshot), (first.snapshot, second.snapshot)):
        patch = patch_between(task, old, new)
        assert applied(task, old, patch) == task.stored(new)
        assert counted(task, DiffPart(old, new))[0] == patch


def test_a_patch_does_not_depend_on_the_users_settings(world: World) -> None:
    for key in ("diff.noprefix", "diff.mnemonicPrefix", "color.ui", "diff.wordRegex"):
        world.user("config", "--global", key, "true" if "color" not in key else "always")
    world.commit({".gitattributes": "*.txt -diff diff=nothing\n"})
    world.start()
    write(world.worktree / "a.txt", "changed\n")
    taken = world.capture()
    patch = patch_between(world, taken.parent, taken.snapshot)
    assert patch.startswith(b"diff --git a/a.txt b/a.txt\n")
    assert b"-one\n+changed\n" in patch


def test_a_link_that_becomes_a_directory_with_it_inside(world: World) -> None:
    """git's own patch of that, a rename, is one that `git apply` refuses."""
    world.commit({})
    world.start()
    (world.worktree / "d").symlink_to("nowhere")
    old = world.capture().snapshot
    (world.worktree / "d").unlink()
    (world.worktree / "d").mkdir()
    (world.worktree / "d" / "new").symlink_to("nowhere")
    new = world.capture().snapshot
    patch, stat = counted(world, DiffPart(old, new))
    assert patch == patch_between(world, old, new)
    for before, after in ((old, new), (new, old)):
        patch = patch_between(world, before, after)
        assert applied(world, before, patch) == world.stored(after)
    assert stat.files == 1


@settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(first=edits_of_trees, second=edits_of_trees)
def test_patches_apply(tmp_path: Path, first: Tree, second: Tree) -> None:
    world = World(Path(tempfile.mkdtemp(dir=tmp_path)) / "w")
    world.commit({})
    world.start()
    edit(world.worktree, first)
    old = world.capture().snapshot
    edit(world.worktree, second)
    new = world.capture().snapshot
    for before, after in ((old, new), (new, old)):
        patch = patch_between(world, before, after)
        assert applied(world, before, patch) == world.stored(after)
        stat = diff_stat(world.store, [DiffPart(before, after)])
        assert (stat.files == 0) == (patch == b"") == (before == after)
    world.close()


def test_figures(task: World) -> None:
    write(task.worktree / "a.txt", "one\nand two\n")
    write(task.worktree / "bin", b"\0\1")
    (task.worktree / "src" / "b.txt").rename(task.worktree / "moved\t\n.txt")
    (task.worktree / "src" / "deep" / "c.txt").unlink()
    taken = task.capture()
    stat = diff_stat(task.store, [DiffPart(taken.parent, taken.snapshot)])
    assert (stat.files, stat.additions, stat.deletions) == (4, 1, 1)
    found = {f.path: (f.status, f.additions, f.deletions, f.old_path) for f in stat.per_file}
    assert found == {
        b"a.txt": ("M", 1, 0, None),
        b"bin": ("A", None, None, None),
        b"moved\t\n.txt": ("R", 0, 0, b"src/b.txt"),
        b"src/deep/c.txt": ("D", 0, 1, None),
    }
    names = {(c.status, c.path) for c in diff_trees(task.store, taken.parent, taken.snapshot)}
    assert names == {
        ("M", b"a.txt"),
        ("A", b"bin"),
        ("A", b"moved\t\n.txt"),
        ("D", b"src/b.txt"),
        ("D", b"src/deep/c.txt"),
    }


def test_only_some_paths(task: World) -> None:
    write(task.worktree / "a.txt", "changed\n")
    write(task.worktree / "src" / "b.txt", "changed\n")
    write(task.worktree / "*", "a name, not a pattern\n")
    taken = task.capture()
    old, new = taken.parent, taken.snapshot
    assert patch_between(task, old, new, (b"src",)).count(b"diff --git") == 1
    assert diff_stat(task.store, [DiffPart(old, new)], paths=[b"src", b"a.txt"]).files == 2
    assert diff_stat(task.store, [DiffPart(old, new)], paths=[b"*"]).files == 1


def test_what_git_says_of_renames_is_read() -> None:
    zeros = "0" * 40
    raw = f":100644 100644 {zeros} {zeros} R087\0old\0new\0:100644 100644 {zeros} {zeros} M\0b\0"
    stat = parse_stat(raw.encode() + b"3\t1\t\0old\0new\0-\t-\tb\0")
    assert [(f.path, f.status, f.additions, f.old_path) for f in stat.per_file] == [
        (b"new", "R", 3, b"old"),
        (b"b", "M", None, None),
    ]


def test_a_patch_of_a_large_difference_streams(task: World) -> None:
    write(task.worktree / "large", os.urandom(8 << 20))
    taken = task.capture()
    patch = patch_between(task, taken.parent, taken.snapshot)
    assert len(patch) > 8 << 20
    assert applied(task, taken.parent, patch) == on_disk(task.worktree)
    assert TASK in task.store.tasks()


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> tuple[World, Sha, Sha]:
    """Two commits that differ in `a.txt`, and in `src` by a change, a rename and a new file."""
    world = World(tmp_path_factory.mktemp("patches") / "world")
    text = "".join(f"line {number}\n" for number in range(9))
    first = world.commit({"a.txt": "1\n", "b": "1\n", "src/b.txt": "1\n", "src/in/c.txt": text})
    (world.root / "src/in/c.txt").rename(world.root / "src/moved.txt")
    (world.root / "b").unlink()
    return world, first, world.commit({"a.txt": "2\n", "src/b.txt": "2\n", "src/new": "\n"})


def sides(stat: DiffStat) -> list[tuple[str, bytes, bytes | None]]:
    return [(each.status, each.path, each.old_path) for each in stat.per_file]


def test_a_part_is_called_by_the_directory_that_it_is_the_contents_of(
    two: tuple[World, Sha, Sha],
) -> None:
    world, old, new = two
    below = DiffPart(f"{old}:src", f"{new}:src", below=b"src")
    whole = DiffPart(old, new)
    parts = (DiffPart(old, new, without=(b"src",)), below)
    patch, stat = counted(world, *parts)
    assert patch == written(world, *parts)
    assert applied(world, old, patch) == world.stored(new)
    assert sides(stat) == sides(diff_stat(world.store, [whole]))
    assert sides(diff_stat(world.store, [below])) == [
        ("M", b"src/b.txt", None),
        ("R", b"src/moved.txt", b"src/in/c.txt"),
        ("A", b"src/new", None),
    ]


def test_of_parts_only_what_the_paths_name_is_compared(two: tuple[World, Sha, Sha]) -> None:
    world, old, new = two
    below = DiffPart(f"{old}:src", f"{new}:src", below=b"src")
    rest = DiffPart(old, new, without=(b"src",))
    for paths, found in (
        ((), [b"a.txt", b"b", b"src/b.txt", b"src/moved.txt", b"src/new"]),
        ((b"src",), [b"src/b.txt", b"src/moved.txt", b"src/new"]),
        ((b"src/b.txt",), [b"src/b.txt"]),
        ((b"src/b.txt", b"a.txt"), [b"a.txt", b"src/b.txt"]),
        ((b"a.txt",), [b"a.txt"]),
        ((b"sr",), []),
        ((b"*",), []),
    ):
        stat = diff_stat(world.store, [rest, below], paths=paths)
        assert [each.path for each in stat.per_file] == found
        patch = written(world, rest, below, paths=paths)
        # Below a directory a rename is told as a deletion and a new file.
        renamed = b"src/moved.txt" in found
        assert patch.count(b"diff --git") == len(found) + renamed


def test_a_directory_inside_a_part_that_the_paths_lie_above_is_all_of_it(
    two: tuple[World, Sha, Sha],
) -> None:
    world, old, new = two
    deep = DiffPart(f"{old}:src/in", f"{new}:src", below=b"src/in")
    assert sides(diff_stat(world.store, [deep], paths=[b"src"])) == [
        ("A", b"src/in/b.txt", None),
        ("R", b"src/in/moved.txt", b"src/in/c.txt"),
        ("A", b"src/in/new", None),
    ]


def test_the_objects_of_a_part_may_lie_elsewhere(two: tuple[World, Sha, Sha], world: World) -> None:
    elsewhere, old, new = two
    part = DiffPart(old, new, objects=elsewhere.paths.objects)
    assert written(world, part) == written(elsewhere, DiffPart(old, new))
    with pytest.raises(SnapshotDamaged):
        written(world, part._replace(objects=None))


def test_a_patch_that_cannot_be_written_leaves_no_process(
    two: tuple[World, Sha, Sha], monkeypatch: pytest.MonkeyPatch
) -> None:
    world, old, new = two
    started: list[Running] = []
    really = Git.start

    def start(git: Git, *words: Any, **more: Any) -> Running:
        started.append(really(git, *words, **more))
        return started[-1]

    monkeypatch.setattr(Git, "start", start)
    with open("/dev/full", "wb") as full, pytest.raises(CommandFailed):
        write_patch_counted(world.store, [DiffPart(old, new)], full.fileno())
    with pytest.raises(ProcessLookupError):
        os.kill(started[0].pid, 0)


def test_which_paths_a_tree_has(two: tuple[World, Sha, Sha]) -> None:
    world, old, _ = two
    asked = [b"a.txt", b"src", b"src/in/c.txt", b"sr", b"*", b"src/new"]
    assert paths_in_tree(world.store, old, asked) == {b"a.txt", b"src", b"src/in/c.txt"}
