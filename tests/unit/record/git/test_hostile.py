"""An agent may write the worktree and the repository's own git directory. Whatever it plants
there, no function of the git package runs it."""

import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import pytest

from siding.ground.errors import SidingError
from siding.record.snapshots.changes import CaptureLimits
from siding.record.snapshots.patches import DiffPart, diff_stat, diff_trees, write_patch
from siding.record.snapshots.peek import peek
from siding.record.snapshots.seeding import pin
from siding.record.snapshots.status_look import CaptureRequest, changed_count
from siding.record.snapshots.store_upkeep import repack, verify_snapshots
from siding.record.snapshots.task_line import lineage
from siding.record.worktrees.linked import add_worktree, undo_add
from siding.record.worktrees.listing import worktrees
from siding.record.worktrees.registration import (
    attach_worktree,
    detach_worktree,
    is_attached,
    reattach,
)
from siding.tasks.carry import ignored_matching

from .world import TASK, World, write

COMMAND = "touch $HOME/fired"
PASSING = "sh -c 'touch $HOME/fired; cat' --"  # a filter that goes on to do its work


class Vector(NamedTuple):
    name: str
    plant: Callable[[World], None]


def configure(*pairs: tuple[str, str]) -> Callable[[World], None]:
    def plant(world: World) -> None:
        for key, value in pairs:
            world.user("config", key, value)

    return plant


def attributes(line: str, *pairs: tuple[str, str], info: bool = False) -> Callable[[World], None]:
    def plant(world: World) -> None:
        where = world.root / ".git" / "info" / "attributes" if info else None
        for place in (where,) if where else (world.worktree, world.root):
            write(place if where else place / ".gitattributes", line)
        configure(*pairs)(world)

    return plant


def hook(name: str) -> Callable[[World], None]:
    return lambda world: _script(world.root / ".git" / "hooks" / name)


def _script(path: Path) -> None:
    write(path, f"#!/bin/sh\n{COMMAND}\nexit 1\n")
    path.chmod(0o755)


def _hooks_path(world: World) -> None:
    for name in ("post-index-change", "post-checkout", "reference-transaction"):
        _script(world.directory / "hooks" / name)
    world.user("config", "core.hooksPath", str(world.directory / "hooks"))


def _worktree_config(world: World) -> None:
    world.user("config", "extensions.worktreeConfig", "true")
    world.user("config", "--worktree", "core.fsmonitor", COMMAND, cwd=world.worktree)


def _include(world: World) -> None:
    text = f'[core]\n\tfsmonitor = "{COMMAND}"\n[filter "x"]\n\tclean = "{COMMAND}"\n'
    write(world.worktree / "evil.inc", text)
    write(world.worktree / ".gitattributes", "* filter=x\n")
    world.user("config", "include.path", str(world.worktree / "evil.inc"))


def _evil_git_file(world: World) -> None:
    evil = world.directory / "evil.git"
    shutil.copytree(world.root / ".git", evil)
    write(world.worktree / ".git", f"gitdir: {evil}\n")
    for key, value in (
        ("core.fsmonitor", COMMAND),
        ("core.worktree", str(world.worktree)),
        ("filter.x.clean", PASSING),
    ):
        world.user("config", "-f", str(evil / "config"), key, value)
    write(world.worktree / ".gitattributes", "* filter=x\n")


def _evil_repository(world: World) -> None:
    (world.worktree / ".git").unlink()
    shutil.copytree(world.root / ".git", world.worktree / ".git")
    config = str(world.worktree / ".git" / "config")
    world.user("config", "-f", config, "core.fsmonitor", COMMAND)


def _evil_submodule(world: World) -> None:
    for top in (world.worktree, world.root):
        inner = top / "sub"
        world.user("init", "-q", str(inner))
        write(inner / "x", "x")
        world.user("add", "x", cwd=inner)
        world.user("commit", "-qm", "x", cwd=inner)
        world.user("add", "sub", cwd=top)
        write(top / ".gitmodules", '[submodule "sub"]\n\tpath = sub\n\turl = ./sub\n')
        world.user("config", "core.fsmonitor", COMMAND, cwd=inner)
        write(inner / "x", "xy")


FILTER = (("filter.x.clean", PASSING), ("filter.x.required", "true"))
VECTORS = [
    Vector("fsmonitor", configure(("core.fsmonitor", COMMAND))),
    Vector("fsmonitor of the worktree", _worktree_config),
    Vector("an included file", _include),
    *(
        Vector(f"hook {name}", hook(name))
        for name in (
            "pre-commit",
            "post-checkout",
            "post-index-change",
            "reference-transaction",
            "pre-auto-gc",
        )
    ),
    Vector("hooks elsewhere", _hooks_path),
    Vector("clean filter", attributes("* filter=x\n", *FILTER)),
    Vector("smudge filter", attributes("* filter=x\n", ("filter.x.smudge", PASSING))),
    Vector("filter process", attributes("* filter=x\n", ("filter.x.process", COMMAND))),
    Vector("clean filter, private", attributes("* filter=x\n", *FILTER, info=True)),
    Vector("dotted filter", attributes("* filter=a.b\n", ("filter.a.b.clean", PASSING))),
    Vector("textconv", attributes("* diff=x\n", ("diff.x.textconv", COMMAND))),
    Vector("diff command", attributes("* diff=x\n", ("diff.x.command", COMMAND))),
    Vector("external diff", configure(("diff.external", COMMAND))),
    Vector("merge driver", attributes("* merge=x\n", ("merge.x.driver", COMMAND))),
    Vector("pager", configure(("core.pager", COMMAND), ("pager.status", COMMAND))),
    Vector("editor", configure(("core.editor", COMMAND))),
    Vector(
        "gpg",
        configure(("gpg.program", COMMAND), ("commit.gpgSign", "true"), ("log.showSignature", "1")),
    ),
    Vector("ssh", configure(("core.sshCommand", COMMAND), ("remote.origin.url", "x:y"))),
    Vector("ext remote", configure(("remote.origin.url", f"ext::sh -c {COMMAND}"))),
    Vector("credentials", configure(("credential.helper", "!" + COMMAND))),
    Vector("upload-pack", configure(("remote.origin.uploadpack", COMMAND))),
    Vector("pack hook", configure(("uploadpack.packObjectsHook", COMMAND))),
    Vector("alias", configure(("alias.status", "!" + COMMAND))),
    Vector("evil .git file", _evil_git_file),
    Vector("evil repository", _evil_repository),
    Vector("evil submodule", _evil_submodule),
    Vector("alternate refs", configure(("core.alternateRefsCommand", COMMAND))),
    Vector("trace to a socket", configure(("trace2.eventTarget", "af_unix:/nonexistent"))),
]


@pytest.fixture
def target(task: World) -> World:
    """A task with work in it, about to be attacked."""
    write(task.worktree / "a.txt", "work\n")
    write(task.worktree / "new.txt", "work\n")
    task.capture()
    write(task.worktree / "a.txt", "more work\n")
    return task


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector.name.replace(" ", "-"))
def test_nothing_planted_runs(target: World, vector: Vector) -> None:
    vector.plant(target)
    fired = target.home / "fired"
    fired.unlink(missing_ok=True)  # planting it may set it off: git ran there as the user does
    for act in everything(target):
        with suppress(SidingError):
            act()
        assert not fired.exists(), f"{vector.name} ran in {act}"


def test_capture_works_under_attack(target: World) -> None:
    """Silent is not enough: the work is recorded all the same."""
    for vector in VECTORS:
        if "evil" not in vector.name:
            vector.plant(target)
    stored = target.stored(target.capture().snapshot)
    assert stored[b"a.txt"] == ("100644", b"more work\n")
    assert stored[b"new.txt"] == ("100644", b"work\n")


def test_the_vectors_are_alive(world: World) -> None:
    """Plain git, used as tools use it, runs most of them: the test above can fail."""
    alive = []
    for number, vector in enumerate(VECTORS):
        victim = World(world.directory / str(number))
        victim.commit({"a.txt": "one\n", "b.txt": "x"})
        victim.start()
        write(victim.worktree / "a.txt", "work\n")
        vector.plant(victim)
        (victim.home / "fired").unlink(missing_ok=True)
        for command in (
            "status",
            "diff HEAD",
            "add -A",
            "commit -qm x",
            "checkout -f HEAD -- .",
            "log -p -1",
            "gc --auto",
            "fetch origin",
        ):
            victim.user(*command.split(), cwd=victim.worktree, check=False)
        alive += [vector.name] if (victim.home / "fired").exists() else []
    assert len(alive) >= 16, alive


def everything(world: World) -> list[Callable[[], object]]:
    """Every function of the package that starts git, or looks where the agent writes."""
    store, repository, base = world.store, world.repository, world.store.base(TASK)
    user, tip = world.settings, world.store.tip(TASK) or base
    request = CaptureRequest(
        task_id=TASK,
        root=world.where,
        git_dir=world.git_dir,
        branch=world.branch,
        step="1",
        kind="run",
        at=0,
        limits=CaptureLimits(max_file_bytes=1 << 20, ignored=("*.log",)),
    )
    other = world.directory / "work" / "other"
    aside = world.directory / "aside"

    def patch() -> None:
        fd = os.open(world.directory / "patch", os.O_WRONLY | os.O_CREAT)
        write_patch(store, [DiffPart(base, store.tip(TASK) or tip)], fd)
        os.close(fd)

    def look() -> None:
        with peek(store, request, unique="u") as found:
            diff_trees(found.store, tip, found.tree)

    return [
        lambda: world.settings,
        lambda: repository.resolve("HEAD"),
        lambda: repository.resolve("siding/task"),
        lambda: repository.summary(base),
        lambda: repository.divergence(base, base),
        lambda: repository.is_ancestor(base, base),
        lambda: repository.head(world.git_dir),
        lambda: repository.status(user, world.root, world.root / ".git"),
        lambda: repository.status(user, world.worktree, world.git_dir),
        lambda: repository.submodules(base),
        lambda: repository.uses_filter(base),
        lambda: ignored_matching(
            repository, user, world.root, world.root / ".git", world.root / ".gitignore"
        ),
        lambda: changed_count(store, request),
        look,
        world.capture,
        lambda: world.capture(ignored=("**",)),
        patch,
        lambda: diff_stat(store, [DiffPart(base, tip)]),
        lambda: diff_trees(store, base, tip),
        lambda: lineage(store, TASK),
        lambda: verify_snapshots(store, TASK, contents=True),
        lambda: repack(store),
        lambda: pin(world.git, world.paths, base),
        lambda: worktrees(repository),
        lambda: add_worktree(repository, other, "siding/other", base, user=user),
        lambda: undo_add(repository, other, "siding/other", base, aside=aside),
        lambda: is_attached(repository, world.worktree, world.git_dir),
        lambda: reattach(repository, world.worktree, world.git_dir, world.branch, base),
        lambda: detach_worktree(repository, world.worktree, world.git_dir, aside / "task"),
        lambda: attach_worktree(repository, world.worktree, aside / "task" / "git-dir"),
        lambda: repository.delete_branch("siding/other", base),
    ]
