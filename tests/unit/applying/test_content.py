"""What of a task's state can be committed, and what is left out and said."""

import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest

from siding.applying.content import (
    LeftOut,
    Side,
    Sources,
    bench_for,
    state_at,
    with_applied,
    with_commits,
)
from siding.ground.errors import SidingError
from siding.ground.ids import Sha
from siding.record.moving.bench import TreeEntry
from siding.record.snapshots.coverage import Coverage, Skipped

from .ledgers import Told, last_at

LINK, OTHER_LINK = "12" * 20, "34" * 20
NO_SNAPSHOT = "no snapshot holds it: too big"


def tree_of(told: Told, entries: Mapping[str, str]) -> Sha:
    """Store a tree in the person's repository, where the store finds it: path -> mode and what.

    What is the text of a file, or the commit of a link to one.
    """
    git = told.desk.sandbox.git
    index = {"GIT_INDEX_FILE": str(told.desk.sandbox.directory / "an-index")}
    lines = []
    for path, entry in entries.items():
        mode, _, text = entry.partition(" ")
        file = told.desk.sandbox.directory / "text"
        file.write_text(text)
        sha = text if mode == "160000" else git("hash-object", "-w", str(file))
        lines.append(f"{mode} {sha}\t{path}\n")
    for arguments, told_it in (
        (["read-tree", "--empty"], ""),
        (["update-index", "--index-info"], "".join(lines)),
    ):
        subprocess.run(
            ["git", *arguments],
            cwd=told.desk.sandbox.repo,
            env={**told.desk.sandbox.env, **index},
            input=told_it.encode(),
            check=True,
        )
    done = subprocess.run(
        ["git", "write-tree", "--missing-ok"],
        cwd=told.desk.sandbox.repo,
        env={**told.desk.sandbox.env, **index},
        capture_output=True,
        check=True,
    )
    return Sha(done.stdout.decode().strip())


@contextmanager
def based_on(
    told: Told, entries: Mapping[str, str], last: Any = None, **coverage: Any
) -> Iterator[Sources]:
    """Yield the sources of a task whose base has these entries."""
    tree = tree_of(told, entries)
    commit = Sha(told.desk.sandbox.git("commit-tree", "-m", "base", tree))
    with told.sources(last) as sources:
        workspace = sources.workspace._replace(base_commit=commit, base_snapshot=tree)
        yield sources._replace(workspace=workspace, coverage=Coverage(**coverage))


def entries_of(sources: Sources, tree: Sha, directory: bytes = b"") -> dict[bytes, TreeEntry]:
    return dict(sources.bench.read_trees([(tree, directory)])[tree, directory])


def test_the_base_itself_is_the_tree_of_the_base(told: Told) -> None:
    with told.sources() as sources:
        assert state_at(sources, told.base) == Side(tree=sources.base_tree)
        assert not state_at(sources, told.base).attributes
        assert sources.head() == told.main
        without = sources._replace(workspace=sources.workspace._replace(git_dir=""))
        assert without.head() is None
    with told.sources(last_at(Sha(LINK))) as sources:
        assert sources.head() == LINK


def test_what_changed_since_a_snapshot_goes_on_top_of_the_base(told: Told) -> None:
    one = {"a": "100644 1", "b": "100644 1"}
    with based_on(told, one) as sources:
        first = tree_of(told, {**one, "a": "100644 2", "c": "100644 2"})
        second = tree_of(
            told, {**one, "a": "100644 2", "b": "100755 1", "c": "100644 3", "d": "120000 x"}
        )
        assert state_at(sources, second).tree == second
        since = state_at(sources, second, since=first)
        names = {**one, "b": "100755 1", "c": "100644 3", "d": "120000 x"}
        assert since == Side(tree=tree_of(told, names))
        part = state_at(sources, second, paths=(b"c", b"d"))
        assert part == Side(tree=tree_of(told, {**one, "c": "100644 3", "d": "120000 x"}))
        assert state_at(sources, first, since=first) == Side(tree=sources.base_tree)


def test_links_to_commits_go_in_as_they_are(told: Told) -> None:
    link, other = f"160000 {LINK}", f"160000 {OTHER_LINK}"
    base = {"moved": link, "gone": link, "file": link, "link": "100644 1", "keep": link}
    after = {"moved": other, "new": other, "file": "100644 1", "link": link, "keep": link}
    for more in ({}, {".gitattributes": "100644 * text"}):
        with based_on(told, base | more) as sources:
            snapshot = tree_of(told, after | more)
            assert state_at(sources, snapshot) == Side(tree=snapshot, attributes=bool(more))


def test_what_no_snapshot_holds_is_left_out_and_said(told: Told) -> None:
    base = {"a": "100644 1"}
    after = {"a": "100644 2", "in/x": "100644 1", "big/x": "100644 1", "big/y": "100644 1"}
    skipped = tuple(Skipped(path, "too big") for path in (b"big", b"file", b"big/x"))
    with based_on(told, base, nested=(b"in",), skipped=skipped) as sources:
        side = state_at(sources, tree_of(told, after))
        assert side.tree == tree_of(told, {"a": "100644 2"})
        assert side.left_out == (
            LeftOut(b"big/x", NO_SNAPSHOT),
            LeftOut(b"big/y", NO_SNAPSHOT),
            LeftOut(b"big", NO_SNAPSHOT),
            LeftOut(b"file", NO_SNAPSHOT),
            LeftOut(b"in", "it is a repository of its own"),
        )


class Submodule:
    """A submodule of the workspace at `deep/sub`, with one commit in it."""

    path, name = b"deep/sub", "deep/sub"

    def __init__(self, told: Told, *, elsewhere: bool = False) -> None:
        self.told = told
        self.root = told.desk.root / self.name
        self.root.mkdir(parents=True)
        modules = told.desk.git_dir / "modules"
        modules.mkdir()
        git_dir = (told.desk.sandbox.directory if elsewhere else modules) / "sub"
        self.git("init", "-q", f"--separate-git-dir={git_dir}")

    def git(self, *arguments: str) -> str:
        return self.told.desk.sandbox.git(*arguments, cwd=self.root)

    def commit(self, text: str) -> Sha:
        (self.root / "f").write_text(text)
        self.git("add", "-A")
        self.git("commit", "-q", "-m", text)
        return Sha(self.git("rev-parse", "HEAD"))


def side_with(told: Told, commit: str, files: str, **more: Any) -> tuple[Sources, Side]:
    """Return the side of a task whose base names this commit, and whose snapshot has the file."""
    paths = more.pop("paths", ())
    with based_on(told, {"deep/sub": f"160000 {commit}"}, nested=(b"deep/sub",), **more) as sources:
        return sources, state_at(
            sources, tree_of(told, {"deep/sub/f": files, "x": "100644 1"}), paths=paths
        )


def expected(told: Told, link: str) -> Sha:
    return tree_of(told, {"deep/sub": f"160000 {link}", "x": "100644 1"})


def test_a_submodule_goes_to_the_commit_that_it_has_checked_out(told: Told) -> None:
    submodule = Submodule(told)
    one = submodule.commit("1")
    _, side = side_with(told, one, "100644 1")
    assert side == Side(tree=expected(told, one))
    two = submodule.commit("2")
    _, side = side_with(told, one, "100644 2")
    assert (side.tree, side.left_out) == (expected(told, two), ())
    assert side.notes == (
        f"submodule 'deep/sub' goes to {two[:12]}: push that commit from the workspace, where it "
        "is",
    )
    uncommitted = (LeftOut(b"deep/sub", "its files are not committed in this submodule"),)
    _, side = side_with(told, one, "100644 3")
    assert (side.tree, side.left_out) == (expected(told, two), uncommitted)
    _, side = side_with(told, one, "100644 2", paths=(b"x",))
    assert (side.tree, side.left_out, side.notes) == (expected(told, one), (), ())
    _, side = side_with(told, one, "100644 2", paths=(b"deep",))
    assert side.notes != ()


def test_a_submodule_whose_commit_is_not_known_stays_where_it_was(told: Told) -> None:
    uncommitted = (LeftOut(b"deep/sub", "its files are not committed in this submodule"),)
    submodule = Submodule(told)
    _, side = side_with(told, LINK, "100644 1")  # it has no commit yet
    assert (side.tree, side.left_out, side.notes) == (expected(told, LINK), uncommitted, ())
    one = submodule.commit("1")
    (submodule.root / ".git").write_text("gitdir: /nowhere\n")
    _, side = side_with(told, one, "100644 1")
    assert (side.tree, side.left_out, side.notes) == (expected(told, one), uncommitted, ())


def test_files_of_a_submodule_that_no_snapshot_has_are_not_committed(told: Told) -> None:
    one = Submodule(told).commit("1")
    with based_on(told, {"deep/sub": f"160000 {one}"}, nested=(b"deep/sub",)) as sources:
        side = state_at(sources, tree_of(told, {"x": "100644 1"}))
    assert [each.path for each in side.left_out] == [b"deep/sub"]


def test_a_repository_that_the_base_has_as_a_file_or_not_at_all(told: Told) -> None:
    own = (LeftOut(b"deep/sub", "it is a repository of its own"),)
    for base in ({"deep/sub": "100644 1"}, {"y": "100644 0"}):
        with based_on(told, base, nested=(b"deep/sub",)) as sources:
            side = state_at(sources, tree_of(told, {"deep/sub/f": "100644 1", "y": "100644 1"}))
            assert side == Side(tree=tree_of(told, {**base, "y": "100644 1"}), left_out=own)


def test_a_recorded_state_does_not_say_where_submodules_were(told: Told) -> None:
    Submodule(told).commit("1")
    with pytest.raises(SidingError, match="repositories of its own"):
        side_with(told, LINK, "100644 1", last=last_at(None))
    with based_on(told, {"x": "100644 1"}, last_at(None)) as sources:
        other = tree_of(told, {"x": "100644 2"})
        assert state_at(sources, other) == Side(tree=other)


@pytest.fixture
def committed(told: Told) -> Told:
    """A workspace whose HEAD has files of every kind that the side to be applied lacks."""
    desk = told.desk
    for name in ("file", "gone", "now-a-directory", "behind/file", "also"):
        desk.write(name, "1\n")
    (desk.root / "link").symlink_to("nowhere")
    (desk.root / "to-directory").symlink_to("behind")
    desk.git("add", "-A")
    desk.git("update-index", "--add", "--cacheinfo", f"160000,{LINK},sub")
    desk.git("update-index", "--add", "--cacheinfo", f"160000,{LINK},sub-gone")
    desk.git("commit", "-q", "-m", "all")
    (desk.root / "sub").mkdir()
    (desk.root / "sub-gone").write_text("")
    (desk.root / "gone").unlink()
    (desk.root / "now-a-directory").unlink()
    (desk.root / "now-a-directory").mkdir()
    os.rename(desk.root / "behind", desk.root / "moved")
    (desk.root / "behind").symlink_to("moved")
    return told


def test_committed_files_that_no_snapshot_has_are_kept_while_they_are_there(
    committed: Told,
) -> None:
    desk = committed.desk
    head = committed.commit_of(desk.branch)
    with committed.sources() as sources:
        base = sources.base_tree
        side = Side(tree=base, left_out=(LeftOut(b"x", "why"),))
        found = with_commits(sources, side, head)
        kept = {b"file", b"also", b"link", b"to-directory"}
        assert set(entries_of(sources, found.tree)) == {*entries_of(sources, base), *kept}
        # No `.gitmodules` names the link `sub`, so nobody could check it out.
        assert [each.path for each in found.left_out] == [b"x", b"sub"]
        assert found.stray == (b"sub",)
        there = entries_of(sources, sources.bench.tree_of(head))
        assert all(entries_of(sources, found.tree)[name] == there[name] for name in kept)
        assert with_commits(sources, side, committed.main) == side
        assert with_commits(sources, side, committed.main, gone_back=[head]) == side


def test_of_those_that_a_rollback_went_back_from_it_is_said(committed: Told) -> None:
    desk = committed.desk
    (desk.root / "file").write_text("2\n")
    (desk.root / "gone").write_text("2\n")
    desk.git("add", "file", "gone")
    desk.git("commit", "-q", "-m", "one")
    (desk.root / "gone").unlink()
    head = committed.commit_of(desk.branch)
    with committed.sources() as sources:
        side = Side(tree=sources.base_tree, left_out=(LeftOut(b"x", "why"),))
        found = with_commits(sources, side, head, gone_back=[head])
        why = "it is ignored, and in a commit that was gone back from"
        assert LeftOut(b"file", why) in found.left_out
        assert b"file" not in entries_of(sources, found.tree)
        assert b"also" in entries_of(sources, found.tree)


def test_a_file_that_the_side_has_too_is_the_sides(committed: Told) -> None:
    with committed.sources() as sources:
        base = sources.base_tree
        mine = TreeEntry(b"100755", entries_of(sources, base)[b"hello.txt"].sha)
        tree = sources.bench.edit_tree(base, {b"file": mine, b"extra": mine})
        found = with_commits(sources, Side(tree=tree), committed.commit_of(committed.desk.branch))
        assert entries_of(sources, found.tree)[b"file"] == mine
        assert entries_of(sources, found.tree)[b"extra"] == mine


def test_a_state_that_was_applied_with_no_ignored_file_is_what_it_is(told: Told) -> None:
    with told.sources() as sources:
        base = sources.base_tree
        assert with_applied(sources, base, told.main, told.main) == base


def test_a_bench_is_there_as_long_as_it_is_used(told: Told) -> None:
    project, root = told.desk.project, told.desk.sandbox.directory / "bench"
    with bench_for(project, project.snapshots, root) as bench:
        assert root.is_dir()
        assert bench.tree_of(told.main)
    assert not root.exists()
