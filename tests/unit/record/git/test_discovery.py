"""The repository is found by names alone, and is what git finds."""

import os
from pathlib import Path

import pytest

from siding.ground.git.discovery import find_repository, read_settings
from siding.ground.git.errors import NoCommits, NotARepository, UnknownRevision
from siding.ground.git.refs import HeadState
from siding.ground.git.repository import Repository

from .world import World, write


def says(world: World, what: str, cwd: Path) -> Path:
    arguments = ["rev-parse", "--path-format=absolute", what]
    return Path(os.fsdecode(world.user(*arguments, cwd=cwd).rstrip(b"\n")))


@pytest.mark.parametrize("below", ["", "src", "src/deep"])
def test_from_anywhere_in_the_main_worktree(world: World, below: str) -> None:
    paths = find_repository(world.root / below)
    assert paths.root == paths.worktree == paths.main_worktree == world.root
    assert paths.git_dir == paths.common_dir == says(world, "--git-dir", world.root)
    assert not paths.linked
    assert not paths.bare


def test_from_a_file_and_through_a_link(world: World, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(world.root / "src")
    assert find_repository(world.root / "a.txt").root == world.root
    assert find_repository(tmp_path / "link").root == world.root


def test_a_linked_worktree_belongs_to_the_main_ones_project(task: World) -> None:
    paths = find_repository(task.worktree / "src")
    assert paths.root == task.root
    assert paths.worktree == task.worktree
    assert paths.git_dir == says(task, "--git-dir", task.worktree)
    assert paths.common_dir == says(task, "--git-common-dir", task.worktree)
    assert paths.linked


def test_inside_the_git_directory(world: World) -> None:
    assert find_repository(world.root / ".git" / "refs").root == world.root


def test_a_bare_repository_and_a_worktree_of_it(world: World, tmp_path: Path) -> None:
    bare = tmp_path / "bare.git"
    world.user("clone", "-q", "--bare", str(world.root), str(bare))
    world.user("worktree", "add", "-q", str(tmp_path / "w"), cwd=bare)
    for start in (bare, bare / "refs", tmp_path / "w"):
        paths = find_repository(start)
        assert (paths.root, paths.common_dir, paths.bare) == (bare, bare, True)
    assert find_repository(bare).worktree is None
    assert find_repository(tmp_path / "w").worktree == tmp_path / "w"


@pytest.mark.parametrize("shape", [".bare", ".git", "elsewhere", "converted", "sparse"])
def test_a_directory_around_a_bare_repository_is_no_checkout(
    world: World, tmp_path: Path, shape: str
) -> None:
    """Its worktrees are the checkouts; from everywhere it is the same repository."""
    around = tmp_path / "around"
    bare = {"elsewhere": tmp_path / "bare.git", ".bare": around / ".bare"}.get(
        shape, around / ".git"
    )
    if shape == "converted":  # the index of before is there
        world.root.rename(around)
        world.user("config", "core.bare", "true", cwd=around)
        for each in {*around.iterdir()} - {bare}:
            each.rename(tmp_path / f"old-{each.name}")
    else:
        world.user("clone", "-q", "--bare", str(world.root), str(bare))
    if bare.name != ".git":
        write(around / ".git", f"gitdir: {os.path.relpath(bare, around)}\n")
    world.user("worktree", "add", "-q", "-b", "w", str(around / "w"), cwd=bare)
    if shape == "sparse":  # then git keeps core.bare in another file
        world.user("sparse-checkout", "set", "src", cwd=around / "w")
        assert "core.bare" not in read_settings(bare / "config")
    write(around / "notes/n.txt", "")
    for start in (around, around / "notes", bare, bare / "refs"):
        paths = find_repository(start)
        assert (paths.root, paths.worktree, paths.main_worktree) == (bare, None, None)
    paths = find_repository(around / "w")
    assert (paths.root, paths.worktree, paths.bare) == (bare, around / "w", True)
    assert paths.name == ("bare.git" if shape == "elsewhere" else "around")


@pytest.mark.parametrize("separate", [False, True])
def test_a_checkout_that_was_called_bare_by_mistake_is_one(
    task: World, tmp_path: Path, separate: bool
) -> None:
    root = task.root
    if separate:
        root = tmp_path / "here"
        task.user("clone", "-q", f"--separate-git-dir={tmp_path / 's'}", str(task.root), str(root))
    task.user("config", "core.bare", "true", cwd=root)
    for start in [root, root / "src", *([] if separate else [task.worktree, root / ".git/refs"])]:
        paths = find_repository(start)
        assert (paths.root, paths.main_worktree, paths.bare) == (root, root, False)


def test_a_work_tree_elsewhere(world: World, tmp_path: Path) -> None:
    real = tmp_path / "real"
    real.mkdir()
    world.user("config", "core.worktree", str(real))
    world.user("worktree", "add", "-q", str(tmp_path / "w"), cwd=world.root / ".git")
    for start in (world.root, world.root / "src", world.root / ".git"):
        paths = find_repository(start)
        assert (paths.root, paths.worktree, paths.main_worktree) == (world.root, real, real)
    paths = find_repository(tmp_path / "w")
    assert (paths.root, paths.worktree, paths.main_worktree) == (world.root, tmp_path / "w", real)
    real.rmdir()
    assert find_repository(world.root).main_worktree is None


def test_a_submodule_is_a_repository_of_its_own(world: World, tmp_path: Path) -> None:
    other = World(tmp_path / "other")
    other.commit({"lib.c": "x"})
    world.user("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(other.root), "lib")
    paths = find_repository(world.root / "lib")
    assert paths.root == world.root / "lib"
    assert paths.common_dir == world.root / ".git" / "modules" / "lib"
    world.user("worktree", "add", "-q", str(tmp_path / "w"), cwd=world.root / "lib")
    assert find_repository(tmp_path / "w").root == world.root / "lib"


def test_a_separate_git_directory(world: World, tmp_path: Path) -> None:
    place, stored = tmp_path / "here", tmp_path / "stored"
    world.user("init", "-q", f"--separate-git-dir={stored}", str(place))
    paths = find_repository(place)
    assert (paths.root, paths.common_dir) == (place, stored)


def test_none_and_broken_ones_are_refused(tmp_path: Path, world: World) -> None:
    with pytest.raises(NotARepository):
        find_repository(tmp_path / "world")
    write(tmp_path / "gone" / ".git", f"gitdir: {tmp_path}/nowhere\n")
    with pytest.raises(NotARepository, match="points at"):
        find_repository(tmp_path / "gone")
    os.mkfifo(tmp_path / "world" / ".git")
    with pytest.raises(NotARepository):
        find_repository(tmp_path / "world")
    config = world.root / ".git" / "config"
    config.write_text(config.read_text() + "[extensions]\n\tobjectFormat = md5\n")
    with pytest.raises(NotARepository, match="md5"):
        find_repository(world.root)


def test_settings_are_read_as_git_writes_them(tmp_path: Path) -> None:
    write(
        tmp_path / "config",
        '; c\n[core]\n\tBare = true # why\n\tflag\n[remote "core"]\n\turl = x\n'
        '[extensions] objectformat = "sha256"\n[core]\n\tbare = false\n',
    )
    assert read_settings(tmp_path / "config") == {
        "core.bare": "false",
        "core.flag": "true",
        "extensions.objectformat": "sha256",
    }


def test_heads_in_every_state(world: World) -> None:
    repository = world.repository
    sha = world.head()
    assert repository.head() == (HeadState.BRANCH, "main", sha)
    world.user("pack-refs", "--all", "--prune")
    assert repository.head() == (HeadState.BRANCH, "main", sha)
    world.user("checkout", "-q", "-b", "feature/\u00e9")
    assert repository.head().branch == "feature/\u00e9"
    world.user("checkout", "-q", "--detach")
    assert repository.head() == (HeadState.DETACHED, None, sha)
    world.user("checkout", "-q", "--orphan", "void")
    assert repository.head() == (HeadState.UNBORN, "void", None)


def test_a_head_that_no_file_tells_is_asked_of_git(world: World) -> None:
    (world.root / ".git" / "HEAD").unlink()
    (world.root / ".git" / "HEAD").symlink_to("refs/heads/main")
    assert world.repository.head() == (HeadState.BRANCH, "main", world.head())


def test_names_of_commits(world: World) -> None:
    repository = world.repository
    first, second = world.head(), world.commit({"x": "y"}, "subject \u00fc\n\nbody")
    world.user("tag", "-a", "-m", "t", "v1", first)
    assert repository.resolve("v1") == first
    assert repository.resolve("HEAD~1") == first
    assert repository.resolve("main") == second
    summary = repository.summary(second)
    assert (summary.subject, summary.author) == ("subject \u00fc", "Ada")
    assert repository.is_ancestor(first, second)
    assert not repository.is_ancestor(second, first)
    assert repository.divergence(first, second) == (0, 1)
    for bad in ("nothing", "-p", "", "--all", "HEAD^{tree}", "a\0b", first[:39] + "g"):
        with pytest.raises(UnknownRevision):
            repository.resolve(bad)


def test_a_linked_worktrees_head_is_its_own(task: World) -> None:
    task.user("commit", "-q", "--allow-empty", "-m", "x", cwd=task.worktree)
    here = Repository(task.git, find_repository(task.worktree))
    assert here.resolve("HEAD") == task.head(cwd=task.worktree) != task.head()


def test_no_commit_is_an_error_of_its_own(tmp_path: Path) -> None:
    world = World(tmp_path / "w")
    with pytest.raises(NoCommits):
        world.repository.resolve("HEAD")


def test_working_status(world: World, tmp_path: Path) -> None:
    write(world.home / ".config" / "git" / "ignore", "*.swp\n")
    write(world.root / ".gitignore", "build/\n")
    for name in ("x.swp", "build/out", "dir/new", "dir/new2"):
        write(world.root / name, "x")
    write(world.root / "a.txt", "changed\n")
    write(world.root / "staged\n", "x")
    world.user("add", "staged\n", ".gitignore")
    (world.root / "src" / "b.txt").unlink()
    status = world.repository.status(world.settings, world.root, world.root / ".git")
    assert status.staged == (b".gitignore", b"staged\n")
    assert status.modified == (b"a.txt", b"src/b.txt")
    assert status.untracked == (b"dir/",)
    assert set(status.ignored) == {b"build/", b"x.swp"}
    assert not status.clean
    every = world.repository.status(
        world.settings, world.root, world.root / ".git", every_file=True
    )
    assert every.untracked == (b"dir/new", b"dir/new2")


def test_working_status_of_a_checkout_with_line_endings(world: World) -> None:
    """Files that the user's settings convert are not changed ones."""
    world.user("config", "--global", "core.autocrlf", "true")
    write(world.root / "crlf.txt", b"a\r\nb\r\n")
    world.user("add", "-A")
    world.user("commit", "-qm", "x")
    os.utime(world.root / "crlf.txt", (1, 1))
    assert world.repository.status(world.settings, world.root, world.root / ".git").clean


def test_conflicts_are_told(world: World) -> None:
    world.user("checkout", "-qb", "other")
    world.commit({"a.txt": "theirs\n"})
    world.user("checkout", "-q", "main")
    world.commit({"a.txt": "ours\n"})
    world.user("merge", "other", check=False)
    status = world.repository.status(world.settings, world.root, world.root / ".git")
    assert status.conflicted == (b"a.txt",)


def test_what_a_commit_will_lack(world: World, tmp_path: Path) -> None:
    repository = world.repository
    plain = world.head()
    assert repository.submodules(plain) == []
    assert not repository.uses_filter(plain)
    world.user("update-index", "--add", "--cacheinfo", f"160000,{plain},deep/sub")
    write(world.root / "assets" / ".gitattributes", "*.png filter=lfs diff=lfs -text\n")
    world.user("add", "assets")
    world.user("commit", "-qm", "x")
    full = repository.resolve("HEAD")
    assert repository.submodules(full) == [(b"deep/sub", plain)]
    assert repository.uses_filter(full)
    assert not repository.is_shallow()
    shallow = tmp_path / "shallow"
    world.user("clone", "-q", "--depth=1", f"file://{world.root}", str(shallow))
    assert Repository(world.git, find_repository(shallow)).is_shallow()


def test_a_subject_may_have_what_python_takes_for_ends_of_lines(world: World) -> None:
    subject = "one\x0btwo\x0cthree\x1cfour\x85five\u2028six"
    first, second = world.head(), world.commit({"x": "y"}, subject)
    assert world.repository.summary(second).subject == subject
    assert [each.sha for each in world.repository.recent(second, 5)] == [second, first]
    assert [each.sha for each in world.repository.recent(second, 1)] == [second]
