"""From a snapshot's bytes to what git would commit and check out; hooks in a checkout of theirs."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from stat import S_IMODE

import pytest

from siding.applying.content import Content, committed
from siding.applying.git import conversion
from siding.applying.git.conversion import FilterMissing, lay_out, smudged
from siding.applying.rehearsal import HookRefused, hooks_directory, rehearse, run_hook, staged_tree
from siding.ground.git.command import Git
from siding.ground.git.errors import GitError
from siding.ground.ids import Sha
from siding.record.moving.bench import Bench, TreeEntry
from siding.record.moving.move import changed_paths
from siding.record.snapshots.patches import diff_trees

from .world import World, write


@contextmanager
def opened(world: World) -> Iterator[Bench]:
    made = Bench(world.repository, world.store, world.directory / "bench")
    made.open()
    yield made
    made.close()


@pytest.fixture
def bench(task: World) -> Iterator[Bench]:
    with opened(task) as made:
        yield made


def content_of(task: World, bench: Bench) -> Content:
    """Take a snapshot, and return what committing it comes to."""
    taken = task.capture()
    base = bench.tree_of(task.head())
    changes = diff_trees(task.store, taken.parent, taken.snapshot)
    return committed(bench, task.settings, base=base, snapshot=taken.tree, changes=changes)


def body(bench: Bench, content: Content, path: bytes) -> bytes:
    entry = content.edits[path]
    assert entry is not None
    return bench.read([entry.sha], kind=b"blob")[0]


def test_without_attributes_bytes_are_what_they_are(task: World, bench: Bench) -> None:
    write(task.worktree / "new", b"\r\n\0")
    (task.worktree / "a.txt").unlink()
    found = content_of(task, bench)
    assert not found.attributes
    assert found.edits.keys() == {b"new", b"a.txt"}
    assert found.edits[b"a.txt"] is None
    assert body(bench, found, b"new") == b"\r\n\0"
    assert not bench.files.exists()


def test_line_endings_are_stored_as_git_stores_them(task: World, bench: Bench) -> None:
    write(task.worktree / ".gitattributes", "*.txt text\n*.id ident\n")
    write(task.worktree / "x.txt", b"a\r\nb\r\n")
    write(task.worktree / "x.id", b"$Id: 0123456789 $\n")
    write(task.worktree / "x.bin", b"a\r\n")
    found = content_of(task, bench)
    assert found.attributes
    assert body(bench, found, b"x.txt") == b"a\nb\n"
    assert body(bench, found, b"x.id") == b"$Id$\n"
    assert body(bench, found, b"x.bin") == b"a\r\n"
    git_says = task.user("hash-object", "x.txt", cwd=task.worktree).decode().strip()
    entry = found.edits[b"x.txt"]
    assert entry is not None
    assert entry.sha == git_says


def test_a_directory_may_become_a_file_that_git_converts(task: World, bench: Bench) -> None:
    write(task.worktree / ".gitattributes", "* text\n")
    shutil.rmtree(task.worktree / "src")
    write(task.worktree / "src", b"a\r\n")
    assert body(bench, content_of(task, bench), b"src") == b"a\n"


def test_attributes_of_directories_and_of_the_repository_count(task: World, bench: Bench) -> None:
    write(task.worktree / "sub/.gitattributes", "*.txt text\n")
    write(task.root / ".git/info/attributes", "*.md text\n")
    for name in ("sub/x.txt", "x.txt", "x.md"):
        write(task.worktree / name, b"a\r\n")
    found = content_of(task, bench)
    assert body(bench, found, b"sub/x.txt") == b"a\n"
    assert body(bench, found, b"x.txt") == b"a\r\n"
    assert body(bench, found, b"x.md") == b"a\n"


def test_attributes_of_the_repository_alone_count_too(task: World, bench: Bench) -> None:
    write(task.root / ".git/info/attributes", "*.md text\n")
    write(task.worktree / "x.md", b"a\r\n")
    assert body(bench, content_of(task, bench), b"x.md") == b"a\n"


def test_attributes_that_the_task_took_out_do_not_count(world: World) -> None:
    world.commit({".gitattributes": b"* text\n"})
    world.start()
    (world.worktree / ".gitattributes").unlink()
    write(world.worktree / "x", b"a\r\n")
    with opened(world) as bench:
        found = content_of(world, bench)
        assert body(bench, found, b"x") == b"a\r\n"
        assert not found.attributes


def test_attributes_that_say_how_to_merge_are_laid_out(task: World, bench: Bench) -> None:
    write(task.worktree / ".gitattributes", "list merge=union\n")
    write(task.worktree / "list", b"a\r\n")
    found = content_of(task, bench)
    assert found.attributes
    assert body(bench, found, b"list") == b"a\r\n"
    assert [each.name for each in bench.files.iterdir()] == [".gitattributes"]
    assert (bench.files / ".gitattributes").read_text() == "list merge=union\n"


def test_nothing_is_left_of_another_snapshot(task: World, bench: Bench) -> None:
    """Of the file and of how git stored it: with autocrlf it looks at that."""
    task.user("config", "--global", "core.autocrlf", "true")
    write(task.worktree / ".gitattributes", "* -text\n")
    write(task.worktree / "x", b"1\r\n")
    assert body(bench, content_of(task, bench), b"x") == b"1\r\n"
    (task.worktree / ".gitattributes").unlink()
    write(task.worktree / "x", b"2\r\n")
    assert body(bench, content_of(task, bench), b"x") == b"2\n"


def test_for_files_that_go_git_has_nothing_to_convert(world: World) -> None:
    world.commit({".gitattributes": b"* text\n", "gone": b"1\n"})
    world.start()
    (world.worktree / "gone").unlink()
    with opened(world) as bench:
        assert content_of(world, bench) == Content({b"gone": None}, attributes=False)
        assert not bench.files.exists()


def test_git_keeps_line_endings_that_a_file_has_already(world: World) -> None:
    """With autocrlf it does, if what it would replace has them."""
    world.commit({"has": b"1\r\n", "has not": b"1\n"})
    world.user("config", "--global", "core.autocrlf", "true")
    world.start()
    write(world.worktree / "has", b"1\r\n2\r\n")
    write(world.worktree / "has not", b"1\r\n2\r\n")
    with opened(world) as bench:
        found = content_of(world, bench)
        assert body(bench, found, b"has") == b"1\r\n2\r\n"
        assert body(bench, found, b"has not") == b"1\n2\n"


def test_what_comes_to_the_same_is_no_change(task: World, bench: Bench) -> None:
    """Only the line endings on disk differ: git would commit nothing."""
    task.user("config", "--global", "core.autocrlf", "true")
    write(task.worktree / "a.txt", b"one\r\n")
    assert content_of(task, bench).edits == {}


def test_a_filter_that_is_missing_is_no_reason_to_commit_raw_bytes(
    task: World, bench: Bench
) -> None:
    for key in ("clean", "smudge", "process"):
        task.user("config", "--global", f"filter.big.{key}", "no-such-program %f")
    write(task.worktree / ".gitattributes", "*.bin filter=big\n")
    write(task.worktree / "x.bin", b"raw")
    with pytest.raises(FilterMissing, match=r"x\.bin"):
        content_of(task, bench)


def test_a_missing_filter_matters_to_its_own_files_and_to_no_pointer(
    task: World, bench: Bench
) -> None:
    task.user("config", "--global", "filter.big.clean", "no-such-program %f")
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n"
    write(task.worktree / ".gitattributes", "*.bin filter=big\n")
    write(task.worktree / "a.bin", pointer)
    write(task.worktree / "b.bin", pointer)
    write(task.worktree / "c", b"raw")
    found = content_of(task, bench)
    bodies = [body(bench, found, path) for path in (b"a.bin", b"b.bin", b"c")]
    assert bodies == [pointer, pointer, b"raw"]


def test_a_filter_knows_the_way_to_its_server(world: World) -> None:
    """`ssh` through the person's agent, for one; it is told nothing else of the environment."""
    world.git = Git.find({**world.env, "SSH_AUTH_SOCK": "/the/socket", "SECRET": "x"})
    world.user("config", "--global", "filter.asks.clean", "printenv SSH_AUTH_SOCK SECRET; true")
    world.user("config", "--global", "filter.asks.smudge", "printenv SSH_AUTH_SOCK SECRET; true")
    world.commit({".gitattributes": b"*.asks filter=asks\n"})
    world.start()
    write(world.worktree / "x.asks", b"raw")
    with opened(world) as bench:
        assert body(bench, content_of(world, bench), b"x.asks") == b"/the/socket\n"


def test_a_checkout_writes_what_is_smudged(task: World, bench: Bench) -> None:
    write(task.root / ".gitattributes", "*.txt text eol=crlf\n")
    write(task.root / "x.txt", "a\nb\n")
    (task.root / "a.txt").unlink()
    (task.root / "link").symlink_to("x.txt")
    new = task.commit({"plain": "a\nb\n"})
    old = Sha(task.user("rev-parse", f"{new}~1").decode().strip())
    changes = changed_paths(task.repository, bench.place(), old, new)
    edits = smudged(bench, task.settings, bench.tree_of(new), changes)
    crlf, plain, link = edits[b"x.txt"], edits[b"plain"], edits[b"link"]
    assert crlf is not None
    assert plain is not None
    assert link is not None
    assert bench.read([crlf.sha, plain.sha], kind=b"blob") == [b"a\r\nb\r\n", b"a\nb\n"]
    assert (link.mode, bench.read([link.sha], kind=b"blob")) == (b"120000", [b"x.txt"])
    assert edits[b"a.txt"] is None


def test_a_checkout_goes_by_attributes_that_do_not_change(task: World, bench: Bench) -> None:
    old = task.commit({"sub/.gitattributes": "*.txt text eol=crlf\n"})
    new = task.commit({"sub/x.txt": "a\n"})
    changes = changed_paths(task.repository, bench.place(), old, new)
    edits = smudged(bench, task.settings, bench.tree_of(new), changes)
    assert edits.keys() == {b"sub/x.txt"}
    (found,) = edits.values()
    assert found is not None
    assert bench.read([found.sha], kind=b"blob") == [b"a\r\n"]
    (written,) = (each for each in bench.root.glob("smudged-*") if each.is_dir())
    assert S_IMODE(written.stat().st_mode) == 0o700


def test_without_attributes_a_checkout_writes_the_blobs(task: World, bench: Bench) -> None:
    old, new = task.head(), task.commit({"new": "a\n"})
    changes = changed_paths(task.repository, bench.place(), old, new)
    (change,) = changes
    entry = TreeEntry(b"100644", change.new_sha)
    assert smudged(bench, task.settings, bench.tree_of(new), changes) == {b"new": entry}
    assert not list(bench.root.glob("smudged-*"))


def test_files_are_laid_out_byte_for_byte(task: World, bench: Bench) -> None:
    odd = b"d\n/\xff"
    edits = {
        odd: TreeEntry(b"100644", bench.put("blob", b"\0\r\n")),
        b"tool": TreeEntry(b"100755", bench.put("blob", b"#!/bin/sh\n")),
        b"link": TreeEntry(b"120000", bench.put("blob", b"tool")),
    }
    empty = bench.put("tree", b"")
    changes = changed_paths(task.repository, bench.place(), empty, bench.edit_tree(empty, edits))
    lay_out(bench, changes)
    lay_out(bench, changes)  # what is there is left alone
    assert (
        bench.git.run(bench.place(work_tree=bench.files), ["hash-object", "tool"], doing="hashing")
        .decode()
        .strip()
        == edits[b"tool"].sha
    )
    with open(b"%b/%b" % (str(bench.files).encode(), odd), "rb") as file:
        assert file.read() == b"\0\r\n"
    assert (bench.files / "tool").stat().st_mode & 0o111
    assert S_IMODE(bench.files.stat().st_mode) == 0o700
    assert str((bench.files / "link").readlink()) == "tool"


def test_a_large_file_is_streamed_to_its_place(
    task: World, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conversion, "_AT_ONCE", 4)
    bodies = {b"small": b"1234", b"d/large": b"12345\0\r\n", b"other": b"123"}
    edits = {path: TreeEntry(b"100644", bench.put("blob", body)) for path, body in bodies.items()}
    empty = bench.put("tree", b"")
    lay_out(
        bench,
        changed_paths(task.repository, bench.place(), empty, bench.edit_tree(empty, edits)),
    )
    assert {path: (bench.files / path.decode()).read_bytes() for path in bodies} == bodies


@pytest.mark.parametrize("at_once", [4, 16])
def test_no_file_that_was_laid_out_is_left_open(
    task: World, bench: Bench, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conversion, "_AT_ONCE", at_once)
    tree = bench.edit_tree(
        bench.tree_of(task.head()), {b"new": TreeEntry(b"100644", bench.put("blob", b"12345"))}
    )
    changes = changed_paths(task.repository, bench.place(), bench.tree_of(task.head()), tree)
    before = os.listdir("/dev/fd")
    lay_out(bench, changes)
    assert os.listdir("/dev/fd") == before


def test_what_the_snapshot_lacks_is_named(task: World, bench: Bench) -> None:
    old, new = task.head(), task.commit({"new": "a\n"})
    (change,) = changed_paths(task.repository, bench.place(), old, new)
    lost = Sha("12" * 20)
    with pytest.raises(GitError, match=f"the snapshot lacks {lost}$"):
        lay_out(bench, [change, change._replace(path=b"lost", new_sha=lost)])


# Hooks.


def hook(task: World, name: str, script: str) -> Path:
    path = task.root / ".git/hooks" / name
    write(path, "#!/bin/sh\n" + script)
    path.chmod(0o755)
    return path


def test_hooks_see_the_result_and_not_the_persons_files(task: World, bench: Bench) -> None:
    tree = bench.edit_tree(
        bench.tree_of(task.head()), {b"a.txt": TreeEntry(b"100644", bench.put("blob", b"ours\n"))}
    )
    place = rehearse(bench, task.settings, branch="main", tree=tree)
    script = 'git symbolic-ref HEAD; cat a.txt; echo "$1"; echo more >>a.txt; git add a.txt; exit 3'
    hook(task, "commit-msg", script)
    before = (task.root / "a.txt").read_bytes(), (task.root / ".git/index").read_bytes()
    with pytest.raises(HookRefused) as raised:
        run_hook(hooks_directory(bench), "commit-msg", ["the message"], place)
    assert "refs/heads/main\nours\nthe message" in raised.value.message
    assert "status 3" in raised.value.message
    made = staged_tree(bench, place)
    changed = changed_paths(task.repository, bench.place(), tree, made)
    assert [each.path for each in changed] == [b"a.txt"]
    assert ((task.root / "a.txt").read_bytes(), (task.root / ".git/index").read_bytes()) == before


def test_a_hook_that_is_not_there_or_not_executable_is_passed_over(
    task: World, bench: Bench
) -> None:
    place = rehearse(bench, task.settings, branch="main", tree=bench.tree_of(task.head()))
    hook(task, "pre-commit", "exit 1\n").chmod(0o644)
    for name in ("pre-commit", "commit-msg"):
        run_hook(hooks_directory(bench), name, [], place)


def test_where_the_hooks_are_is_the_persons_word(task: World, bench: Bench) -> None:
    assert hooks_directory(bench) == task.root / ".git/hooks"
    task.user("config", "--global", "core.hooksPath", "~/hooks")
    assert hooks_directory(bench) == task.home / "hooks"
    task.user("config", "core.hooksPath", "tools/hooks")
    assert hooks_directory(bench) == task.root / "tools/hooks"
