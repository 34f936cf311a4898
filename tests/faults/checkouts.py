"""Ten checkouts of a person in which an apply may end: how each is made, and what of it is seen.

In each, a task has a run that changes, makes and deletes files, with a commit and without. `Sides`
are what the person has before the apply and after it, to the byte; a checkout that is in the middle
of something refuses the apply, and has one side.
"""

import os
import pickle
import shutil
import stat
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from .arena import Command, Setup, resolve
from .commands import act
from .copies import adopt, copy_tree, remove_tree
from .product import must

APPLY = ("apply", "--no-close")
LFS = shutil.which("git-lfs") is not None
_BY = "git -c user.name=B -c user.email=b@b -c protocol.file.allow=always"
_AGENT = (
    f"echo agent >>file; rm gone; mkdir -p dir; echo new >dir/new; chmod +x tool; {_BY} add -A;"
    f" {_BY} commit -qm B; echo rest >rest"
)
# What an apply may leave in a git directory, or changes in it without a person seeing it: objects,
# the history of refs, what is compared with git's own words, and Siding's name of the project.
_UNSEEN = ("objects", "logs", "index", "lfs", "siding")
Seen = Mapping[str, object]


class Sides(NamedTuple):
    """What the person has before the apply and after it, and the branch before it."""

    before: Seen
    after: Seen
    old: str

    @property
    def is_refused(self) -> bool:
        return self.before == self.after


def sides(case: Path) -> Sides:
    found = pickle.loads((case / "sides").read_bytes())
    assert isinstance(found, Sides)
    return found


def seen(case: Path, old: str) -> Seen:
    """Return every byte of the person's: files, permissions, refs, index, what git is about.

    A branch that has moved is known by the tree and the number of its new commits, as the ids of
    these hold the time.
    """
    found: dict[str, object] = {}
    for root in (case / "repo", case / "elsewhere"):
        if not root.exists():
            continue
        for path in _below(root):
            found[str(path.relative_to(case))] = _one(path)
        words = (("ls-files", "-s", "-v"), ("status", "--porcelain", "-uall", "--ignored"))
        for each in words:
            found[f"{root.name}: {each[0]}"] = sorted(git(case, *each, root=root).splitlines())
    main = git(case, "rev-parse", "refs/heads/main").strip()
    if main != old:
        tree = git(case, "rev-parse", "main^{tree}")
        found["repo/.git/refs/heads/main"] = tree + git(case, "rev-list", "--count", f"{old}..main")
    stash = case / "repo/.git/logs/refs/stash"
    found["stash"] = stash.read_bytes() if stash.exists() else b""
    return found


def locks(case: Path) -> list[str]:
    """Return what no act may leave in a git directory of the person."""
    git_dir = case / "repo/.git"
    left = [*git_dir.rglob("*.lock"), *git_dir.rglob("siding-*")]
    return sorted(str(path.relative_to(case)) for path in left)


def git(case: Path, *words: str, root: Path | str = "{case}/repo") -> str:
    """Run git as the person, without its taking the occasion to write the index."""
    command = Command(("git", *words), env={"GIT_OPTIONAL_LOCKS": "0"}, cwd=str(root))
    return must(case, command).stdout


def _below(root: Path) -> list[Path]:
    found = []
    for folder, folders, names in os.walk(root):
        here = Path(folder)
        unseen = (*_UNSEEN, "worktrees") if here == root / ".git" else ()
        folders[:] = [name for name in folders if name not in unseen]
        found += [here / name for name in (*folders, *names) if name not in unseen]
    own = root / ".git/worktrees/elsewhere"  # of the others each is an agent's
    if own.is_dir():
        found += [own / name for name in os.listdir(own) if name not in _UNSEEN]
    return found


def _one(path: Path) -> tuple[str, bytes]:
    there = path.lstat()
    if stat.S_ISLNK(there.st_mode):
        content = os.fsencode(os.readlink(path))
    else:
        content = path.read_bytes() if stat.S_ISREG(there.st_mode) else b""
    return stat.filemode(there.st_mode), content


# --- the ten ---------------------------------------------------------------------------------


def _begun(
    case: Path,
    before: Callable[[Path], None] | None = None,
    then: Callable[[Path], None] | None = None,
    agent: str = "",
) -> None:
    """A repository with what `before` adds, a task with a run, and what the person does `then`."""
    repo = case / "repo"
    repo.mkdir(exist_ok=True)  # a link, if it is on another file system
    (case / "tmp").mkdir()
    for name in ("file", "gone", "mine", "tool"):
        (repo / name).write_text(f"{name}\n", encoding="utf-8")
    (repo / ".gitignore").write_text("ignored\n", encoding="utf-8")
    git(case, "init", "-q", "-b", "main", "--template=")
    if before is not None:
        before(case)
    _committed(case, "first")
    act(case, "-q", "task", "start", "T")
    act(case, "-q", "run", "--", "sh", "-ec", agent + _AGENT)
    (repo / "ignored").write_text("ignored\n", encoding="utf-8")
    if then is not None:
        then(case)
    _with_sides(case)


def _with_sides(case: Path) -> None:
    """Find out what an apply would make of it, and put all back."""
    old = git(case, "rev-parse", "main").strip()
    before, spare = seen(case, old), case.with_name("spare")
    copy_tree(case, spare)
    act(case, *APPLY, status=None)
    after = seen(case, old)
    remove_tree(case)
    spare.rename(case)
    adopt(case)
    (case / "sides").write_bytes(pickle.dumps(Sides(before, after, old)))


def _committed(case: Path, message: str) -> None:
    git(case, "add", "-A")
    git(case, "commit", "-q", "-m", message)


def _attempt(case: Path, *words: str) -> None:
    """Run git where it may well end with a conflict."""
    argv, env, cwd = resolve(Command(("git", *words), cwd="{case}/repo"), case)
    subprocess.run(argv, cwd=cwd, env=env, capture_output=True, check=False, timeout=60)


def _mine(case: Path, text: str) -> None:
    (case / "repo/mine").write_text(text, encoding="utf-8")


def _other_branch(case: Path) -> None:
    """A branch `other` that disagrees with main about a file that the task does not touch."""
    git(case, "switch", "-q", "-c", "other")
    _mine(case, "other\n")
    git(case, "commit", "-qam", "other")
    git(case, "switch", "-q", "main")
    _mine(case, "main\n")
    git(case, "commit", "-qam", "main")


def dirty(case: Path) -> None:
    """Other files are changed, staged, new and ignored."""

    def then(case: Path) -> None:
        _mine(case, "not committed\n")
        (case / "repo/staged").write_text("staged\n")
        git(case, "add", "staged")
        (case / "repo/untracked").write_text("untracked\n")

    _begun(case, then=then)


def unmerged(case: Path) -> None:
    """The index has nothing but the three versions of a conflict."""

    def then(case: Path) -> None:
        sha = git(case, "rev-parse", "HEAD:mine").strip()
        lines = [f"0 {'0' * 40}\tmine", *(f"100644 {sha} {n}\tmine" for n in (1, 2, 3))]
        argv, env, cwd = resolve(Command(("git", "update-index", "--index-info")), case)
        text = "".join(f"{line}\n" for line in lines).encode()
        subprocess.run(argv, cwd=f"{cwd}/repo", env=env, input=text, check=True, timeout=60)

    _begun(case, then=then)


def stash_conflict(case: Path) -> None:
    """A stash was popped onto a commit that disagrees with it."""

    def then(case: Path) -> None:
        _mine(case, "stashed\n")
        git(case, "stash")
        _mine(case, "main\n")
        git(case, "commit", "-qam", "main")
        _attempt(case, "stash", "pop")

    _begun(case, then=then)


def rebasing(case: Path) -> None:
    """A rebase has stopped at a conflict."""

    def then(case: Path) -> None:
        _other_branch(case)
        _attempt(case, "rebase", "other")

    _begun(case, then=then)


def lfs(case: Path) -> None:
    """Some files are pointers in git; where there is no Git LFS, a filter of the same kind."""

    def before(case: Path) -> None:
        if LFS:
            git(case, "lfs", "install", "--skip-repo")
        else:
            for side in ("clean", "smudge"):
                git(case, "config", "--global", f"filter.lfs.{side}", "tr a-z n-za-m")
            git(case, "config", "--global", "filter.lfs.required", "true")
        (case / "repo/.gitattributes").write_text("*.bin filter=lfs diff=lfs merge=lfs -text\n")
        (case / "repo/large.bin").write_bytes(b"large\n" * 100)
        git(case, "config", "lfs.locksverify", "false")

    agent = "echo more >>large.bin; echo another >another.bin; "
    _begun(case, before, lambda case: _mine(case, "not committed\n"), agent)


def autocrlf(case: Path) -> None:
    """Lines end with CR LF in the checkout and with LF in git."""

    def before(case: Path) -> None:
        git(case, "config", "--global", "core.autocrlf", "true")
        for name in ("file", "gone", "mine", "tool"):
            (case / "repo" / name).write_bytes(name.encode() + b"\r\n")

    def then(case: Path) -> None:
        (case / "repo/mine").write_bytes(b"not committed\r\n")

    _begun(case, before, then, "printf 'two\\r\\n' >>file; ")


def sparse(case: Path) -> None:
    """The checkout shows one of two directories, and both are changed."""

    def before(case: Path) -> None:
        for name in ("shown", "hidden"):
            (case / "repo" / name).mkdir()
            (case / "repo" / name / "file").write_text(name)

    def then(case: Path) -> None:
        git(case, "sparse-checkout", "set", "shown")
        _mine(case, "not committed\n")

    _begun(case, before, then, "echo more >>shown/file; echo more >>hidden/file; ")


def submodule(case: Path) -> None:
    """The person has work in a submodule, and the task moves it to another commit."""

    def before(case: Path) -> None:
        library = case / "library"
        library.mkdir()
        git(case, "init", "-q", "-b", "main", "--template=", root=library)
        git(case, "commit", "-q", "--allow-empty", "-m", "one", root=library)
        allowed = ("-c", "protocol.file.allow=always")
        git(case, *allowed, "submodule", "add", "-q", str(library), "library")

    def then(case: Path) -> None:
        (case / "repo/library/work").write_text("not committed\n")
        _mine(case, "not committed\n")

    agent = (
        f"{_BY} submodule update -q --init; cd library; echo in >in; git add in;"
        f" {_BY} commit -qm in; cd ..; "
    )
    _begun(case, before, then, agent)


def bisecting(case: Path) -> None:
    """A bisect has begun."""
    _begun(case, then=lambda case: _attempt(case, "bisect", "start"))


def elsewhere(case: Path) -> None:
    """The branch is checked out in a linked worktree, with work in it; here is another one."""

    def then(case: Path) -> None:
        git(case, "switch", "-q", "-c", "here")
        git(case, "worktree", "add", "-q", "../elsewhere", "main")
        (case / "elsewhere/mine").write_text("not committed\n")
        _mine(case, "not committed, here\n")

    _begun(case, then=then)


MOVING: tuple[Setup, ...] = (dirty, lfs, autocrlf, sparse, submodule, elsewhere)
REFUSING: tuple[Setup, ...] = (unmerged, stash_conflict, rebasing, bisecting)
