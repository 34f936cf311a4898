"""Ask the user's repository about commits and files, by git's plumbing commands.

`give_pack` gives it objects that it lacks.
"""

import os
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from siding.ground.files.durable import flush, flush_dir, make_dirs, write_all
from siding.ground.files.regular import read_small
from siding.ground.git import refs
from siding.ground.git.command import Git, Place, output_of
from siding.ground.git.discovery import RepositoryPaths, read_settings
from siding.ground.git.errors import (
    BranchExists,
    CommandFailed,
    GitError,
    NoCommits,
    UnknownRevision,
)
from siding.ground.git.refs import Head, as_sha, head_of
from siding.ground.git.settings import UserSettings, filter_environment, load_settings, settings_in
from siding.ground.git.status import ARGUMENTS, EntryKind, parse
from siding.ground.ids import Sha
from siding.ground.namedtuples import NamedTuple

_SUFFIX = re.compile(r"[~^:]|@\{")  # where the name in ``main~2`` or ``main@{yesterday}`` ends
_NO_BRANCH = frozenset({"", "@", "HEAD"})
_LARGEST_RULES = 64 << 20  # bytes
_GITLINK = re.compile(rb"160000 commit ([0-9a-f]+)\t([^\0]+)\0")


class CommitSummary(NamedTuple):
    """A commit as lists show it. `time` is the author's, in seconds since 1970."""

    sha: Sha
    subject: str
    author: str
    time: int


class WorkingStatus(NamedTuple):
    """The differences between a checkout and its last commit. Paths are as git gives them.

    ``ignored`` is collapsed: a directory that is ignored as a whole is one entry, with a slash.
    A nested repository is one entry of ``untracked``, with a slash as well. ``unknown`` may be as
    in the last commit or not: they go through a filter of the repository that nobody trusted.
    """

    staged: tuple[bytes, ...]
    modified: tuple[bytes, ...]
    untracked: tuple[bytes, ...]
    conflicted: tuple[bytes, ...]
    ignored: tuple[bytes, ...]
    unknown: tuple[bytes, ...] = ()

    @property
    def clean(self) -> bool:
        return not (self.staged or self.modified or self.untracked or self.conflicted)


class Submodule(NamedTuple):
    """A submodule in a commit: its path, and the commit of the other repository."""

    path: bytes
    sha: Sha


class Divergence(NamedTuple):
    """The numbers of commits that only the one, or only the other, of two histories has."""

    ahead: int
    behind: int


class Repository:
    """A repository of the user. Only `delete_branch` changes it; all other methods only read."""

    def __init__(
        self,
        git: Git,
        paths: RepositoryPaths,
        *,
        read_settings: Callable[[], UserSettings] | None = None,
    ) -> None:
        self.git = git
        self.paths = paths
        self._read_settings = read_settings
        self._place = Place(git_dir=paths.common_dir)

    def settings_now(self) -> UserSettings:
        """Return the person's settings as they are at this moment."""
        return self._read_settings() if self._read_settings else load_settings(self.git, self.paths)

    def head(self, git_dir: Path | None = None) -> Head:
        """Return what a worktree has checked out; without `git_dir` the main worktree."""
        return head_of(self.git, git_dir or self.paths.common_dir, self.paths.common_dir)

    def resolve(self, revision: str) -> Sha:
        """Return the commit that a revision names; a branch goes before a tag of its name.

        git itself takes the tag. Here a word says where work starts and what it is applied to, and
        that is a branch. Raises UnknownRevision, or NoCommits when the repository has none at all.
        """
        if not revision or revision.startswith("-") or "\0" in revision:
            raise UnknownRevision(f"{revision!r} cannot be the name of a commit")
        wanted = ("refs/heads/" if self._begins_with_branch(revision) else "") + revision
        arguments = ["rev-parse", "--verify", "-q", "--end-of-options", wanted + "^{commit}"]
        place = self._place._replace(git_dir=self.paths.git_dir, common_dir=self.paths.common_dir)
        done = self.git.attempt(place, arguments)
        sha = as_sha(done.stdout.strip()) if done.returncode == 0 else None
        if sha is not None:
            return sha
        done = self.git.attempt(self._place, ["rev-list", "-n1", "--all"])
        if done.returncode:  # such as a mistake in its configuration
            output_of(done, doing=f"reading the repository {str(self.paths.root)!r}")
        if not done.stdout.strip():
            raise NoCommits(
                f"the repository {str(self.paths.root)!r} has no commit yet",
                hint="make a first commit: a task starts from one",
            )
        raise UnknownRevision(
            f"{revision!r} stands for no commit in {str(self.paths.root)!r}",
            hint="`git branch -a` and `git tag` list the names there are",
        )

    def ambiguity(self, name: str, taken: Sha) -> str | None:
        """Return a sentence if a word names a branch and another commit as well; else None.

        `taken` is the commit that `resolve` returned for it.
        """
        if not self._begins_with_branch(name):
            return None
        for place, kind in (("refs/tags/", "tag"), ("refs/remotes/", "remote branch")):
            if self._ref(place + name) is None:
                continue
            with suppress(UnknownRevision):
                if self.resolve(place + name) != taken:
                    return (
                        f"{name!r} is a branch and a {kind}; the branch is taken "
                        f"({place}{name} names the {kind})"
                    )
        return None

    def _begins_with_branch(self, revision: str) -> bool:
        """Tell whether what comes before ``~2`` and the like is a local branch."""
        name = _SUFFIX.split(revision, maxsplit=1)[0]
        if name in _NO_BRANCH or refs.is_sha(name):
            return False
        try:
            return self.branch(name) is not None
        except GitError:  # it cannot be one
            return False

    def summary(self, sha: Sha) -> CommitSummary:
        """Return what to show of a commit."""
        return self._summaries(["-1", "--no-walk", sha])[0]

    def recent(self, sha: Sha, most: int) -> list[CommitSummary]:
        """Return a commit and what it stands on, newest first, at most so many."""
        return self._summaries([f"--max-count={most}", sha])

    def merge_base(self, one: Sha, other: Sha) -> Sha | None:
        """Return the best common ancestor of two commits, None if they have none."""
        done = self.git.attempt(self._place, ["merge-base", one, other])
        return as_sha(done.stdout.strip()) if done.returncode == 0 else None

    def is_ancestor(self, old: Sha, new: Sha) -> bool:
        """Tell whether `old` is `new` or one of its ancestors."""
        done = self.git.attempt(self._place, ["merge-base", "--is-ancestor", old, new])
        if done.returncode not in (0, 1):
            output_of(done, doing="comparing commits")
        return done.returncode == 0

    def divergence(self, ours: Sha, theirs: Sha) -> Divergence:
        """Return how far `ours` is ahead of and behind `theirs`."""
        output = self._run(
            ["rev-list", "--count", "--left-right", f"{ours}...{theirs}"], "counting commits"
        )
        ahead, behind = output.split()
        return Divergence(ahead=int(ahead), behind=int(behind))

    def branch(self, name: str) -> Sha | None:
        """Return the commit that a local branch points at, None when there is no such branch."""
        refs.check_ref_part(name)
        return self._ref(f"refs/heads/{name}")

    def refuse_blocked_branch(self, name: str) -> None:
        """Raise BranchExists if git could not make a branch of this name beside another one.

        One is in the way if it is called like a directory of the name, or lies below the name.
        """
        if self.branch(name) is not None:
            return
        above = [name[: each.start()] for each in re.finditer("/", name)]
        found = next((each for each in above if self.branch(each) is not None), None)
        found = found or self._branch_below(name)
        if found is not None:
            raise BranchExists(
                f"branch {found!r} is in the way of {name!r}: git makes a directory of one of them",
                hint=f"rename it, with `git branch -m {found} NAME`, and go on then; "
                "git.branch_prefix in the settings is what names of new branches begin with",
            )

    def _branch_below(self, name: str) -> str | None:
        listing = ["for-each-ref", "--count=1", "--format=%(refname)", f"refs/heads/{name}/"]
        found = self._run(listing, "listing branches").decode("utf-8", "surrogateescape").strip()
        return found.removeprefix("refs/heads/") or None

    def free_branch_name(self, name: str) -> str:
        """Return the name with a dash for a slash behind which git could make no branch.

        A branch is a file where refs are files: below `main` there can be no `main/x`.
        """
        parts = name.split("/")
        for number in range(1, len(parts)):
            if self.branch("/".join(parts[:number])) is not None:
                rest = "-".join(parts[number - 1 : number + 1])
                parts[number - 1 : number + 1] = [rest]
                return self.free_branch_name("/".join(parts))
        return name

    def _ref(self, name: str) -> Sha | None:
        """Return the object that a ref of this full name points at."""
        if self.paths.ref_format == "files":
            return refs.read_ref(self.paths.common_dir, name)
        done = self.git.attempt(self._place, ["rev-parse", "--verify", "-q", name])
        return as_sha(done.stdout.strip())

    def delete_branch(self, name: str, expected: Sha) -> bool:
        """Delete a branch if it still points at `expected`; returns whether it is gone."""
        refs.check_ref_part(name)
        arguments = ["update-ref", "-d", f"refs/heads/{name}", expected]
        self.git.attempt(self._place, arguments)
        return self.branch(name) is None

    def status(
        self, user: UserSettings, worktree: Path, git_dir: Path, *, every_file: bool = False
    ) -> WorkingStatus:
        """Return what a checkout of the user's has uncommitted, as `git status` would say it.

        ``every_file`` lists the files of untracked directories one by one.
        """
        place = Place(
            git_dir=git_dir,
            common_dir=self.paths.common_dir,
            work_tree=worktree,
            settings=settings_in(self.git, user, git_dir),
        )
        arguments = [*ARGUMENTS, "--ignored=traditional", "--ignore-submodules=dirty"]
        if not every_file:
            arguments[arguments.index("--untracked-files=all")] = "--untracked-files=normal"
        output = self.git.run(
            place,
            arguments,
            doing="looking at your checkout",
            env=filter_environment(self.git, user),
        )
        lists: dict[str, list[bytes]] = {name: [] for name in WorkingStatus._fields}
        for entry in parse(output):
            if entry.kind is EntryKind.TRACKED:
                if entry.staged != ".":
                    lists["staged"].append(entry.path)
                if entry.unstaged != ".":
                    lists["modified"].append(entry.path)
            else:
                lists[entry.kind.value].append(entry.path)
        if user.off_filters and lists["modified"]:
            from siding.ground.git.drivers import filters_on_disk

            # Without its filter a file differs from what is stored, whether it was changed or not.
            names = filters_on_disk(self.git, place, lists["modified"])
            lists["unknown"] = [p for p in lists["modified"] if names.get(p) in user.off_filters]
            lists["modified"] = [p for p in lists["modified"] if p not in lists["unknown"]]
        return WorkingStatus(**{name: tuple(paths) for name, paths in lists.items()})

    def submodules(self, commit: Sha) -> list[Submodule]:
        """Return the submodules of a commit."""
        output = self._run(["ls-tree", "-r", "-z", "--full-tree", commit], "listing submodules")
        return [
            Submodule(path=path, sha=Sha(sha.decode("ascii")))
            for sha, path in _GITLINK.findall(output)
        ]

    def uses_filter(self, commit: Sha, name: str = "lfs") -> bool:
        """Tell whether a .gitattributes of the commit asks for a filter, Git LFS for one."""
        done = self.git.attempt(
            self._place,
            ["grep", "-q", "-F", "-e", f"filter={name}", commit, "--", ":(glob)**/.gitattributes"],
            env={"GIT_LITERAL_PATHSPECS": "0"},
        )
        return done.returncode == 0

    def is_shallow(self) -> bool:
        """Tell whether older history was left out when the repository was cloned."""
        return (self.paths.common_dir / "shallow").is_file()

    def is_sparse(self, git_dir: Path | None = None) -> bool:
        """Tell whether a worktree leaves out part of the files."""
        return is_sparse(self.paths, git_dir or self.paths.common_dir)

    def is_partial(self) -> bool:
        """Tell whether objects were left out when the repository was cloned (`--filter`)."""
        settings = read_settings(self.paths.common_dir / "config")
        return "extensions.partialclone" in settings

    def _summaries(self, arguments: Sequence[str]) -> list[CommitSummary]:
        listing = ["rev-list", "--format=%H%x00%an%x00%at%x00%s", "--no-commit-header"]
        try:
            output = self._run([*listing, *arguments], "reading commits")
        except CommandFailed as error:
            # Asked only now: it is a process of its own.
            if self.git.version() < (2, 33):
                raise GitError("git is too old", hint="install git 2.34 or newer") from error
            raise
        found = []
        # Not `splitlines`: a subject may have characters that it takes for ends of lines.
        for line in output.decode("utf-8", "replace").rstrip("\n").split("\n"):
            sha, author, time, subject = line.split("\0", 3)
            found.append(
                CommitSummary(sha=Sha(sha), subject=subject, author=author, time=int(time))
            )
        return found

    def _run(self, arguments: Sequence[str], doing: str) -> bytes:
        return self.git.run(self._place, arguments, doing=doing)


def is_sparse(paths: RepositoryPaths, git_dir: Path) -> bool:
    """Tell whether a sparse checkout is in force in the worktree of a git directory."""
    shared = read_settings(paths.common_dir / "config")
    own = read_settings(git_dir / "config.worktree")
    value = own.get("core.sparsecheckout", shared.get("core.sparsecheckout", "false"))
    on = value.lower() in ("true", "yes", "on", "1")
    return on and (git_dir / "info" / "sparse-checkout").exists()


def sparse_rules(paths: RepositoryPaths, git_dir: Path) -> bytes | None:
    """Return the rules of the sparse checkout in the worktree of a git directory; None if it has
    all files."""
    if not is_sparse(paths, git_dir):
        return None
    return read_small(git_dir / "info" / "sparse-checkout", _LARGEST_RULES)


def give_pack(repository: Repository, pack: Path, *, doing: str, strict: bool = False) -> None:
    """Copy a pack into the repository, durably. Safe to repeat after an interruption.

    The pack's index is made beside `pack`, in a directory of ours, and renamed into the repository:
    `git index-pack` writes it slowly under its final name, and half an index makes every git
    command complain. A pack without an index is ignored by git. git computes each object's id from
    its content. `strict` refuses objects that `git fsck` would report, and those that refer to
    missing objects. Raises CommandFailed, which names `doing`.
    """
    index = pack.with_suffix(".idx.new")
    index.unlink(missing_ok=True)
    repository.git.run(
        Place(git_dir=repository.paths.common_dir),
        ["index-pack", *(["--strict"] if strict else []), "-o", str(index), str(pack)],
        doing=doing,
    )
    target = repository.paths.objects / "pack"
    make_dirs(target)
    name = f"pack-{os.urandom(20).hex()}"
    for source, suffix in ((pack, ".pack"), (index, ".idx")):
        partial = target / f"tmp_{name}{suffix}"  # git prunes files of this name
        try:
            _copy(source, partial)
            partial.rename(target / f"{name}{suffix}")
        except BaseException:
            partial.unlink(missing_ok=True)
            raise
    index.unlink()
    flush_dir(target)


def _copy(source: Path, target: Path) -> None:
    fd = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o444)
    try:
        with source.open("rb") as file:
            while block := file.read(1 << 20):
                write_all(fd, block)
        flush(fd)
    finally:
        os.close(fd)
