"""Submodules that were filled or emptied between two snapshots: what they are compared with."""

import os
from pathlib import Path

import pytest

from siding.ground.ids import Sha
from siding.record.snapshots.patches import DiffPart, diff_stat
from siding.record.snapshots.submodules import Filled, filled_between, repository_of, tree_in

from .world import World, write


class Modules:
    """A repository with two submodules, `lib` and `deep/er`, both checked out in it."""

    def __init__(self, directory: Path) -> None:
        self.other = World(directory / "other")
        self.commit = self.other.commit({"lib.c": "int x;\n", "sub/more.c": "int y;\n"})
        self.tree = self.text(self.other, "HEAD^{tree}")
        self.world = World(directory / "world")
        for path in ("lib", "deep/er"):
            allowed = ("-c", "protocol.file.allow=always")
            self.world.user(*allowed, "submodule", "-q", "add", str(self.other.root), path)
        self.links = self.world.commit({"a.txt": "one\n"})
        self.git_dir = self.world.root / ".git"

    @staticmethod
    def text(world: World, revision: str) -> Sha:
        return Sha(world.user("rev-parse", revision).decode().strip())

    def filled(self, *paths: str, more: str = "") -> Sha:
        """Commit the files of these submodules in place of their links; return the commit."""
        world = self.world
        world.user("read-tree", "HEAD")
        for path in paths:
            world.user("rm", "-q", "--cached", path)
            world.user("fetch", "-q", str(self.other.root), "HEAD")
            world.user("read-tree", f"--prefix={path}/", self.tree)
            if more:
                blob = world.user("hash-object", "-w", "--stdin", stdin=more.encode())
                info = f"100644,{blob.decode().strip()},{path}/more"
                world.user("update-index", "--add", "--cacheinfo", info)
        tree = world.user("write-tree").decode().strip()
        world.user("read-tree", "HEAD")
        return Sha(world.user("commit-tree", "-mx", tree).decode().strip())

    def between(self, old: Sha, new: Sha) -> tuple[Filled, ...]:
        return filled_between(self.world.store, self.world.root, self.git_dir, old, new)

    def objects(self, path: str) -> Path:
        return self.git_dir / "modules" / path / "objects"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Modules:
    return Modules(tmp_path_factory.mktemp("submodules"))


def test_a_filled_one_is_compared_with_the_commit_that_its_link_names(made: Modules) -> None:
    new = made.filled("lib", more="new\n")
    assert made.between(made.links, new) == (
        Filled(b"lib", made.tree, f"{new}:lib", made.objects("lib")),
    )
    assert made.between(new, made.links) == (
        Filled(b"lib", f"{new}:lib", made.tree, made.objects("lib")),
    )
    (found,) = made.between(made.links, new)
    part = DiffPart(found.old, found.new, below=found.path, objects=found.objects)
    stat = diff_stat(made.world.store, [part])
    assert [(each.status, each.path) for each in stat.per_file] == [("A", b"lib/more")]


def test_each_of_several_is_found(made: Modules) -> None:
    found = made.between(made.links, made.filled("lib", "deep/er"))
    assert [each.path for each in found] == [b"deep/er", b"lib"]
    assert found[0].objects == made.objects("deep/er")
    assert found[0].new.endswith(":deep/er")


def test_links_that_only_come_or_go_are_none(made: Modules) -> None:
    world = made.world
    world.user("rm", "-q", "--cached", "lib", "a.txt")
    tree = world.user("write-tree").decode().strip()
    world.user("read-tree", "HEAD")
    without = Sha(world.user("commit-tree", "-mx", tree).decode().strip())
    for old, new in ((made.links, without), (without, made.links), (made.links, made.links)):
        assert made.between(old, new) == ()


def test_without_a_git_directory_or_modules_nothing_is_compared(made: Modules) -> None:
    new, store, root = made.filled("lib"), made.world.store, made.world.root
    assert filled_between(store, root, None, made.links, new) == ()
    assert filled_between(store, root, made.other.root / ".git", made.links, new) == ()


def test_a_repository_that_lacks_the_commit_is_left_out(made: Modules) -> None:
    world = made.world
    world.user("update-index", "--cacheinfo", f"160000,{'12' * 20},lib")
    tree = world.user("write-tree").decode().strip()
    world.user("read-tree", "HEAD")
    links = Sha(world.user("commit-tree", "-mx", tree).decode().strip())
    assert [each.path for each in made.between(links, made.filled("lib", "deep/er"))] == [
        b"deep/er"
    ]


def test_the_repository_is_one_of_the_workspaces_own(made: Modules, tmp_path: Path) -> None:
    root, git_dir = made.world.root, made.git_dir
    assert repository_of(root, git_dir, b"lib") == git_dir / "modules/lib"
    assert repository_of(root, git_dir, b"nothing") is None
    for name, named in (
        ("outside", made.other.root / ".git"),
        ("beside", git_dir / "modules-of-others"),
        ("itself", git_dir / "modules"),
    ):
        write(tmp_path / name / ".git", f"gitdir: {named}\n")
        assert repository_of(tmp_path, git_dir, os.fsencode(name)) is None
    write(tmp_path / "inside/.git", f"gitdir: {git_dir}/modules/lib\n")
    assert repository_of(tmp_path, git_dir, b"inside") == git_dir / "modules/lib"


def test_the_tree_of_a_commit_that_a_repository_has(made: Modules) -> None:
    repository = made.git_dir / "modules/lib"
    assert tree_in(made.world.store, repository, made.commit) == made.tree
    assert tree_in(made.world.store, repository, "12" * 20) is None
