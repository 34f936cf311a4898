"""Check the result of an apply before it is applied: by the commit hooks, or by a command.

With ``--hooks`` the person's commit hooks run on the commit that the apply makes. A hook may change
the index and files, and some stash unstaged changes first. That must not happen to the person's own
files. So hooks run in a checkout of the result in a directory of ours, with HEAD on the target
branch and its own index. What a hook stages there becomes part of the commit, as with `git commit`.

With ``--if`` a command runs in such a checkout, without a lock: the task, the target and the
person's files are not held up by a long test run. The apply then goes on only if its result is
still the same.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from siding.applying.git.commits import NewCommit, person_who_commits, read_commits, write_commit
from siding.applying.plan import ApplyPlan
from siding.ground.errors import SidingError
from siding.ground.git.errors import GitError
from siding.ground.git.settings import UserSettings, filter_environment, scoped_values
from siding.ground.ids import Sha
from siding.ground.namedtuples import NamedTuple
from siding.ground.process import capture
from siding.ground.process.attached import run_shown
from siding.record.moving.bench import Bench
from siding.record.moving.move import changed_paths
from siding.record.place.project import Project

ITS_OUTPUT = 2  # the caller's standard error: what `--json` prints stays alone


def with_hooks(
    project: Project, bench: Bench, plan: ApplyPlan
) -> tuple[ApplyPlan, tuple[str, ...]]:
    """Run pre-commit (or pre-merge-commit) and commit-msg on the last commit of the plan.

    Returns the plan with what the hooks changed, and the git settings with which moving the branch
    runs the reference-transaction hook. Only the last commit is checked: its tree is the whole
    result. Raises HookRefused.
    """
    hooks = hooks_directory(bench)
    settings = (f"core.hooksPath={hooks}",)
    if not plan.target.branch or plan.new is None:
        return plan, settings
    (tip,) = read_commits(bench, [plan.new])
    place = rehearse(bench, project.user_settings, branch=plan.target.branch, tree=tip.tree)
    first = "pre-merge-commit" if len(tip.parents) > 1 else "pre-commit"
    run_hook(hooks, first, [], place)
    file = place.git_dir / "COMMIT_EDITMSG"
    file.write_bytes(tip.message)
    run_hook(hooks, "commit-msg", [str(file)], place)
    tree = staged_tree(bench, place)
    message = file.read_bytes().decode("utf-8", "replace")
    if tree == tip.tree and message.encode() == tip.message:
        return plan, settings
    person = person_who_commits(project.git, project.repository)
    commit = NewCommit(tree=tree, parents=tip.parents, message=message, author=tip.author)
    new = write_commit(bench, commit, person, sign=plan.wanted.sign)
    subject = message.partition("\n")[0]
    last = plan.commits[-1]._replace(sha=new, subject=subject)
    changes = changed_paths(bench.repository, bench.place(), plan.target.sha, tree)
    return plan._replace(
        new=new,
        tree=tree,
        message=message,
        commits=(*plan.commits[:-1], last),
        changes=tuple(changes),
    ), settings


class HookRefused(GitError):
    """A hook ended with a failure, so there is no commit."""

    code = "hook_refused"


class Rehearsal(NamedTuple):
    """The checkout in which hooks run."""

    root: Path
    git_dir: Path
    env: Mapping[str, str]


def hooks_directory(bench: Bench) -> Path:
    """Return the directory of the person's hooks."""
    users, local = scoped_values(bench.git, bench.repository.paths)
    named = {**users, **local}.get("core.hookspath")
    if not named:
        return bench.repository.paths.common_dir / "hooks"
    home = bench.git.environ.get("HOME", "")
    text = named.replace("~/", home + "/", 1) if named.startswith("~/") else named
    paths = bench.repository.paths
    return (paths.main_worktree or paths.root) / text


def rehearse(bench: Bench, user: UserSettings, *, branch: str, tree: Sha) -> Rehearsal:
    """Check the tree out into a new temporary checkout, for hooks or `apply --if`."""
    root, git_dir = bench.root / "rehearsal", bench.root / "rehearsal.git"
    root.mkdir(mode=0o700)
    git_dir.mkdir(mode=0o700)
    (git_dir / "commondir").write_bytes(os.fsencode(bench.repository.paths.common_dir) + b"\n")
    (git_dir / "HEAD").write_text(f"ref: refs/heads/{branch}\n", encoding="utf-8")
    place = bench.place(
        git_dir=git_dir, common_dir=bench.repository.paths.common_dir, work_tree=root, locks=True
    )
    place = place._replace(settings=(*user.settings, *place.settings))
    bench.git.run(place, ["read-tree", tree], doing="preparing a checkout of the result")
    bench.git.run(
        place,
        ["checkout-index", "-a", "-q", "-u"],
        doing="checking out the result",
        env=filter_environment(bench.git, user),
    )
    inherited = {k: v for k, v in bench.git.environ.items() if not k.startswith("GIT_")}
    shared = bench.git.environment(place)
    names = ("GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES")
    env = {
        **inherited,
        **{name: shared[name] for name in names},
        **{k: v for k, v in bench.git.environ.items() if k.startswith(("GIT_AUTHOR", "GIT_COMMI"))},
        "GIT_DIR": str(git_dir),
        "GIT_WORK_TREE": str(root),
        "GIT_INDEX_FILE": str(git_dir / "index"),
    }
    return Rehearsal(root=root, git_dir=git_dir, env=env)


def run_hook(hooks: Path, name: str, arguments: Sequence[str], place: Rehearsal) -> None:
    """Run a hook if it exists. Raises HookRefused, with the hook's output, if it fails."""
    hook = hooks / name
    if not os.access(hook, os.X_OK):
        return
    done = capture.run_captured([str(hook), *arguments], env=place.env, cwd=place.root)
    if done.returncode:
        said = (done.stdout + done.stderr).decode("utf-8", "replace").strip()
        raise HookRefused(
            f"your {name} hook refused (status {done.returncode})" + (f": {said}" if said else ""),
            hint="nothing was changed; leave out --hooks to apply without them",
        )


def staged_tree(bench: Bench, place: Rehearsal) -> Sha:
    """Return the tree of the rehearsal's index."""
    where = bench.place(
        git_dir=place.git_dir, common_dir=bench.repository.paths.common_dir, locks=True
    )
    output = bench.git.run(where, ["write-tree"], doing="reading what the hooks staged")
    return Sha(output.decode("ascii").strip())


class NotProven(SidingError):
    """The command did not hold on the result, or the result changed meanwhile."""

    code = "not_proven"


class Proof(NamedTuple):
    """A command that held on a result, which is the tree `result`."""

    command: str
    result: Sha

    def require(self, plan: ApplyPlan) -> None:
        """Raise NotProven if the plan leads to another result."""
        if plan.changes and plan.tree != self.result:
            raise NotProven(
                f"the task or {plan.target.branch or 'the checkout'} changed while "
                f"{self.command!r} ran on the result",
                hint="nothing was applied; try again",
            )


def prove(
    project: Project, bench: Bench, plan: ApplyPlan, command: str, *, workspace: str
) -> Proof:
    """Run the command with `/bin/sh` in a checkout of the plan's result; raises NotProven.

    It finds the task's workspace in SIDING_WORKSPACE: what is ignored, such as installed
    dependencies, is only there.
    """
    proof = Proof(command, plan.tree)
    if plan.conflicts or not plan.changes:
        return proof  # the apply itself says so
    place = rehearse(
        bench, project.user_settings, branch=plan.target.branch or "result", tree=plan.tree
    )
    status = run_shown(
        ["/bin/sh", "-c", command],
        env={**place.env, "SIDING_WORKSPACE": workspace},
        cwd=place.root,
        out=ITS_OUTPUT,
    )
    if status:
        raise NotProven(
            f"{command!r} ended with {status} on the result",
            hint="nothing was applied; mend it in the workspace, or apply without --if",
        )
    return proof
