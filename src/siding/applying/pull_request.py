"""Push a task's work as a branch and open a pull request.

The person's own programs do both: `git push` and `gh`, run in the person's repository. What the
agent left uncommitted is pushed as one more commit on top of the agent's. No local branch moves.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from siding.applying.branch_move import bench_root, beside_of, sources_of
from siding.applying.content import LeftOut, Side, Sources, bench_for, state_at, with_commits
from siding.applying.git.commit_graph import commits_since
from siding.applying.git.commits import (
    AskedPerson,
    NewCommit,
    RawCommit,
    read_commits,
    with_trailers,
    write_commit,
)
from siding.applying.history import (
    refuse_dropped,
    refuse_unresolved,
    unfinished_in_workspace,
)
from siding.applying.links import stray_links
from siding.applying.person_git import environment_of, remote_of
from siding.applying.pull_request_body import body_of
from siding.applying.rolled_back_commits import WouldPublish, described, gone_back
from siding.applying.task_title import task_trailers, title_of
from siding.ground.errors import SidingError
from siding.ground.git.command import Place, find_program
from siding.ground.git.errors import GitError
from siding.ground.git.refs import as_sha, check_ref_part
from siding.ground.ids import Sha
from siding.ground.namedtuples import NamedTuple
from siding.ground.process.attached import run_attached
from siding.ground.process.capture import Completed, run_captured
from siding.record.acts.skeleton import working
from siding.record.ledger.left_behind import abandoned_steps, returns_in
from siding.record.ledger.reports import Trap
from siding.record.place.events import PullRequestChanged
from siding.record.place.locks import holding_task
from siding.record.place.named_task import require_of_board
from siding.record.place.project import Project
from siding.record.place.selection import select
from siding.record.recording.held_traps import TrapsUnseen, holds, not_seen, traps_of_task
from siding.record.recording.line_base import line_base
from siding.record.tasks.task import Task


class PushFailed(SidingError):
    """The remote did not take the branch."""

    code = "push_failed"


class NoPullRequest(SidingError):
    """The branch was pushed, but the pull request could not be opened."""

    code = "no_pull_request"


class PullRequestRequest(NamedTuple):
    """The options of one ``siding pr``."""

    task: str | None = None
    title: str | None = None
    body: str | None = None  # instead of the one made from the ledger
    base: str | None = None
    remote: str | None = None
    branch: str | None = None
    draft: bool = False
    force: bool = False
    sign: bool = False
    now: bool = False  # while runs live: the workspace as it is, not the newest recorded state


class PreparedPullRequest(NamedTuple):
    """The commit to push, and the title and text of the pull request."""

    task: Task
    commit: Sha
    branch: str
    remote: str
    url: str  # of the remote, as git says it
    base: str
    title: str
    body: str
    new_commits: int
    gone_back: tuple[RawCommit, ...]  # commits of the workspace that are not pushed: gone back from
    note: str = ""  # a sentence, if runs live: which state was taken
    traps: tuple[Trap, ...] = ()  # of what is pushed, those that nobody has seen
    holds: bool = False  # nothing is pushed until somebody has seen them
    left_out: tuple[LeftOut, ...] = ()


class PullRequest(NamedTuple):
    """The result. `url` is None if `gh` is not installed; `page` is then the web page on which a
    person can open the pull request."""

    prepared: PreparedPullRequest
    url: str | None
    created: bool
    page: str | None


def open_pull_request(project: Project, wish: PullRequestRequest) -> PullRequest:
    """Push the task's work and open a pull request. One that is open already gets the new commits.

    If PushFailed or TrapsUnseen is raised, nothing was changed here. NoPullRequest is raised after
    the push.
    """
    prepared = prepare(project, wish)
    if prepared.holds:
        raise TrapsUnseen(prepared.task, prepared.traps, "nothing was pushed")
    push(project, prepared, force=wish.force)
    _remember_push(project, prepared)  # also where gh fails: the next push counts on it
    gh = find_program("gh", project.app.env)
    if gh is None:
        done = PullRequest(prepared, None, created=False, page=_page(prepared))
    else:
        url, created = _with_gh(project, gh, prepared, draft=wish.draft)
        done = PullRequest(prepared, url, created=created, page=None)
    _remember(project, done)
    return done


def prepare(project: Project, wish: PullRequestRequest) -> PreparedPullRequest:
    """Make the commit to push, and store it in the repository, and make the text."""
    project.require_repository()
    task = require_of_board(select(project, wish.task), "`siding pr`")
    remote, url = remote_of(project, wish.remote, task.base_ref)
    what, beside = f"preparing a pull request of {task.name}", beside_of(now=wish.now)
    with (
        holding_task(project, task.id, what, pauses_runs=True) as hold,
        working(project, task.id, hold, needs_workspace=False, pauses_runs=beside) as work,
    ):
        recorder = work.recorder
        work.pause.go_on()  # the workspace is not looked at any more
        named = title_of(project, task, recorder.workspace.base_snapshot)
        branch = check_ref_part(wish.branch or _branch(project, task, remote, named))
        title = wish.title or named
        with bench_for(project, project.snapshots, bench_root(project, task.id)) as bench:
            sources = sources_of(recorder, bench)
            made = _tip(project, sources, recorder.seen.snapshot, wish, title, remote, branch)
            traps = not_seen(
                project,
                traps_of_task(
                    project, recorder.workspace, project.snapshots, recorder.seen.snapshot
                ),
            )
    steps = list(project.ledger(task.id).steps())
    hide = project.redaction.redactor.mask_text  # it leaves the machine, whatever the settings say
    body = wish.body
    if body is None:
        base_snapshot = recorder.workspace.base_snapshot
        left = made.steps | abandoned_steps(steps, returns_in(steps, base_snapshot))
        trailers = task_trailers(project, task)
        body = body_of(task, steps, made.commits, hide=hide, gone_back=left, trailers=trailers)
    return PreparedPullRequest(
        task=task,
        commit=made.tip,
        branch=branch,
        remote=remote,
        url=url,
        base=wish.base or task.base_ref.removeprefix("refs/heads/"),
        title=title,
        body=body,
        new_commits=len(made.commits),
        gone_back=made.gone_back,
        note="" if recorder.last_state is None else recorder.last_state.sentence,
        traps=traps,
        holds=bool(traps) and holds(project, task.id),
        left_out=made.left_out,
    )


def _branch(project: Project, task: Task, remote: str, title: str) -> str:
    """Return the name of the branch to push.

    It is the task's branch. A name made from a command that was gone back from is replaced, unless
    it was pushed before.
    """
    if title == task.name or _pushed(project, f"refs/remotes/{remote}/{task.branch}"):
        return task.branch
    return project.branch_for(title, task.id)


def push(project: Project, prepared: PreparedPullRequest, *, force: bool) -> None:
    """Push with the person's own git, which may ask them for a passphrase; raises PushFailed.

    With `force` the branch there is replaced only if it is as Siding pushed it last. Otherwise a
    `git fetch` that ran meanwhile would count as having looked at what others pushed.
    """
    name = f"refs/heads/{prepared.branch}"
    last = _pushed_last(prepared)
    lease = [f"--force-with-lease={name}{f':{last}' if last else ''}"] if force else []
    argv = [
        project.git.program,
        "push",
        "--porcelain",
        *lease,
        prepared.remote,
        f"{prepared.commit}:{name}",
    ]
    done = run_attached(argv, env=environment_of(project), cwd=project.paths.root)
    if done.returncode == 0:
        return
    rejected = [
        line for line in done.stdout.decode("utf-8", "replace").splitlines() if line.startswith("!")
    ]
    why = rejected[0].split("\t")[-1] if rejected else f"git push ended with {done.returncode}"
    behind = "non-fast-forward" in why or "fetch first" in why or "stale info" in why
    raise PushFailed(
        f"{prepared.remote} did not take {prepared.branch!r}: {why}",
        hint="the branch there has commits that this task has not: `git fetch` and look at them; "
        "--force replaces what Siding pushed last, and nothing that others pushed since"
        if behind
        else "has it a branch that is called like a directory of this one? `siding pr --branch "
        "NAME` pushes as another one; git.branch_prefix is what new names begin with"
        if _in_the_way(why)
        else "nothing was changed here; git has said above what is wrong",
    )


def _pushed_last(prepared: PreparedPullRequest) -> Sha | None:
    """Return the commit that Siding last pushed to this branch; None if it never did."""
    known = prepared.task.metadata.get("pull_request")
    if not isinstance(known, dict):
        return None
    same = (known.get("remote"), known.get("branch")) == (prepared.remote, prepared.branch)
    return as_sha(str(known.get("commit", "")).encode("ascii", "replace")) if same else None


class _Made(NamedTuple):
    """The commit to push, the commits since the base, and the commits and steps that stay here
    because a rollback went back from them, with the paths that cannot be pushed."""

    tip: Sha
    commits: tuple[RawCommit, ...]
    gone_back: tuple[RawCommit, ...]
    steps: frozenset[int]
    left_out: tuple[LeftOut, ...]


def _tip(
    project: Project,
    sources: Sources,
    snapshot: Sha,
    wish: PullRequestRequest,
    title: str,
    remote: str,
    branch: str,
) -> _Made:
    """Return a commit that holds the task's whole change; write it if no commit does yet."""
    bench, base = sources.bench, sources.workspace.base_commit
    with AskedPerson(project.git, project.repository) as asked:
        side: Side = state_at(sources, snapshot)
        refuse_unresolved(sources, side.tree, unfinished=unfinished_in_workspace(sources))
        head = sources.head() or base
        pushed = _pushed(project, f"refs/remotes/{remote}/{branch}")
        found = gone_back(sources, [head, *([pushed] if pushed else [])])
        behind = found.behind(head)
        if head != base:
            side = with_commits(sources, side, head, gone_back=behind)
        person = asked.answer()
    refused = pushed is not None and bool(found.behind(pushed))
    if refused and not wish.force:
        assert pushed is not None
        raise WouldPublish(
            f"{branch!r} on {remote} has commits that were gone back from since they were pushed",
            described(bench, found, found.behind(pushed)),
            hint="nothing was pushed. `siding pr --force` replaces the branch there, if it is as "
            "you fetched it; who has seen the commits has them, so change what was secret",
        )
    since = line_base(project, sources.workspace).commit
    stray = _stray_links(sources, head, [base, since, *([pushed] if pushed else [])])
    parent = since if behind or stray else head
    if pushed is not None and not refused and bench.repository.is_ancestor(parent, pushed):
        parent = pushed  # what was pushed before is the agent's work too: this is a fast-forward
    if pushed is None:
        _refuse_dropped(project, sources, parent, wish.base, remote)
    tip = parent
    if bench.tree_of(parent) != side.tree:
        message = with_trailers(title, task_trailers(project, sources.task))
        commit = NewCommit(tree=side.tree, parents=(parent,), message=message)
        tip = write_commit(bench, commit, person, sign=wish.sign)
        bench.keep(tip, without=(base, parent))
    listed = bench.git.run(
        bench.place(),
        ["rev-list", "--topo-order", "--reverse", "--no-merges", tip, f"^{base}", f"^{since}"],
        doing="listing the commits of the task",
    )
    shas = [Sha(line) for line in listed.decode("ascii").split()]
    if not shas:
        raise SidingError(
            f"task {sources.task.name!r} has changed nothing, so there is nothing to propose"
        )
    return _Made(
        tip=tip,
        commits=tuple(read_commits(bench, shas)),
        gone_back=described(bench, found, behind),
        steps=found.steps,
        left_out=(*side.left_out, *_left_out_of_commits(side, stray)),
    )


def _stray_links(sources: Sources, head: Sha, known: Sequence[Sha]) -> tuple[bytes, ...]:
    """Return the links of commits that nobody has seen yet and that no `.gitmodules` names."""
    bench = sources.bench
    if head in known:
        return ()
    commits = tuple(read_commits(bench, commits_since(bench, head, known)))
    return stray_links(bench, commits, (sources.base_tree,))


def _left_out_of_commits(side: Side, stray: Sequence[bytes]) -> Iterator[LeftOut]:
    named = {each.path for each in side.left_out}
    for path in stray:
        if path not in named:
            why = "a commit links to this repository, and no .gitmodules names it: the change is "
            yield LeftOut(path=path, why=f"{why}pushed as one commit")


def _refuse_dropped(
    project: Project, sources: Sources, parent: Sha, named: str | None, remote: str
) -> None:
    """Raise Dropped if commits would be published that were taken off the base branch."""
    name = sources.task.base_ref.removeprefix("refs/heads/")
    try:
        here = project.repository.branch(name)
    except GitError:  # the task started from a tag or a commit
        return
    there = _pushed(project, f"refs/remotes/{remote}/{name}")
    if here is None or named not in (None, name):
        return
    base = line_base(project, sources.workspace).commit
    bases = (sources.workspace.base_commit, base)
    ends = [end for end in (here, there) if end is not None]
    refuse_dropped(sources, parent, bases, ends, "a pull request")


def _pushed(project: Project, tracking: str) -> Sha | None:
    """Return the commit of a remote-tracking branch, as the last push or fetch left it."""
    place = Place(git_dir=project.paths.common_dir)
    found = project.git.attempt(place, ["rev-parse", "--verify", "-q", tracking])
    return as_sha(found.stdout.strip()) if found.returncode == 0 else None


def _with_gh(
    project: Project, gh: str, prepared: PreparedPullRequest, *, draft: bool
) -> tuple[str, bool]:
    """Return the address of the pull request, and whether it was opened now."""
    found = _gh(project, [gh, "pr", "view", prepared.branch, "--json", "url,state"])
    if found.returncode == 0:
        try:
            said = json.loads(found.stdout)
        except ValueError:
            said = {}
        if isinstance(said, dict) and said.get("state") == "OPEN":
            return str(said.get("url", "")), False
    argv = [
        gh,
        "pr",
        "create",
        "--head",
        prepared.branch,
        "--base",
        prepared.base,
        "--title",
        prepared.title,
        "--body-file",
        "-",
    ]
    done = _gh(project, [*argv, *(["--draft"] if draft else [])], stdin=prepared.body.encode())
    if done.returncode != 0:
        said_text = done.stderr.decode("utf-8", "replace").strip().replace("\n", "; ")
        login = done.returncode == 4
        raise NoPullRequest(
            f"the branch is pushed, and gh could not open the pull request: {said_text}",
            hint="`gh auth login`, then `siding pr` again" if login else "`siding pr` tries again",
        )
    lines = done.stdout.decode("utf-8", "replace").split()
    return next((word for word in reversed(lines) if "://" in word), ""), True


def _in_the_way(why: str) -> bool:
    """Tell whether a remote may have a branch below the name, or one above it.

    git 2.39 says only that it failed to update the ref; the remote's words are on the screen.
    """
    return any(each in why for each in ("conflict", "failed to update ref", "failed to lock"))


def _remember_push(project: Project, prepared: PreparedPullRequest) -> None:
    """Store what was pushed in the task's metadata, beside a pull request that is known."""
    known = prepared.task.metadata.get("pull_request")
    url = known.get("url") if isinstance(known, dict) else None
    _store(project, prepared, url)


def _remember(project: Project, done: PullRequest) -> None:
    """Store the pull request in the task's metadata and emit an event."""
    record = _store(project, done.prepared, done.url)
    how = "opened" if done.created else "pushed"
    project.events.emit(PullRequestChanged(done.prepared.task, how, record))


def _store(project: Project, prepared: PreparedPullRequest, url: str | None) -> dict[str, Any]:
    record: dict[str, Any] = {
        "branch": prepared.branch,
        "remote": prepared.remote,
        "base": prepared.base,
        "commit": prepared.commit,
        "url": url,
        "at": project.app.now(),
    }
    with project.changing(f"noting the pull request of task {prepared.task.id}"):
        task = project.tasks.load(prepared.task.id)
        metadata = {**task.metadata, "pull_request": record}
        project.tasks.save(task._replace(metadata=metadata, updated_at=project.app.now()))
    return record


def _page(prepared: PreparedPullRequest) -> str | None:
    """Return GitHub's page for opening the pull request by hand; None for another host."""
    url = prepared.url.removesuffix(".git")
    for start in ("git@github.com:", "ssh://git@github.com/", "https://github.com/"):
        if url.startswith(start):
            place = url.removeprefix(start)
            return (
                f"https://github.com/{place}/compare/{prepared.base}...{prepared.branch}?expand=1"
            )
    return None


def _gh(project: Project, argv: Sequence[str], stdin: bytes = b"") -> Completed:
    env = environment_of(project) | {"GH_PROMPT_DISABLED": "1", "NO_COLOR": "1"}
    return run_captured(argv, env=env, cwd=project.paths.root, stdin=stdin)


__all__ = [
    "LeftOut",
    "NoPullRequest",
    "PullRequest",
    "PullRequestRequest",
    "PushFailed",
    "RawCommit",
    "open_pull_request",
    "prepare",
]
