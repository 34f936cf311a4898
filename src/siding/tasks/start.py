"""Start a task: add it to the board, make its workspace, and write its start card."""

from collections.abc import Sequence

from siding.ground.errors import SidingError, UsageError
from siding.ground.git.errors import UnknownRevision
from siding.ground.git.paths import quote_path
from siding.ground.git.refs import Head
from siding.ground.ids import Sha, TaskId, new_task_id
from siding.ground.namedtuples import NamedTuple
from siding.guard.enforcement import run_judged_hook
from siding.guard.hooks import HookResult, hooks_for
from siding.record.ledger.step import Step
from siding.record.place.environment import environment_in
from siding.record.place.events import TaskChanged
from siding.record.place.locks import Hold, holding_task
from siding.record.place.project import Project
from siding.record.place.selection import select
from siding.record.place.terminal_task import make_current
from siding.record.recording.inherited_mark import inherit_mark
from siding.record.recording.opening import open_recorder
from siding.record.tasks.names import problem_with_name
from siding.record.tasks.registry import Workspace
from siding.record.tasks.task import Task, TaskState, WorkspaceState
from siding.record.workspaces.attempts import Attempt
from siding.record.workspaces.beginning import FROM, Beginning, StartPoint
from siding.record.workspaces.recovery import recover_cut_off, recover_if_cut_off
from siding.record.workspaces.workspaces import create, undo_creation
from siding.tasks.carry import carry_changes, copy_included, require_checkout
from siding.tasks.changes import refuse_blocked
from siding.tasks.startcard import StartCard, draw_card

_NAMED = 5  # paths that a note lists


class Started(NamedTuple):
    """A task that was started, or only planned."""

    task: Task
    workspace: Workspace | None  # None for a task that is only planned
    card: StartCard | None
    carried: Step | None
    hooks: tuple[HookResult, ...]
    untrusted_hooks: int
    switched: bool
    begun: StartPoint | None = None  # where it starts, if not at its base
    notes: tuple[str, ...] = ()


class StartRequest(NamedTuple):
    """The options of ``siding task start`` but for ``--from``, which becomes a `Beginning`."""

    name: str
    base: str | None = None
    switch: bool = True
    carry: bool = False
    workspace: bool = True
    description: str | None = None


def start_task(project: Project, *, name: str, base: str | None, switch: bool = True) -> Started:
    """Start a task with its workspace; see `start`."""
    return start(project, StartRequest(name=name, base=base, switch=switch))


def start(project: Project, request: StartRequest, beginning: Beginning | None = None) -> Started:
    """Make a task and, unless it is only planned, its workspace.

    With a `beginning` the workspace starts there; the base of the request does not count. Raises
    UsageError for an invalid name or base, and NoCommits for a repository without commits. If the
    workspace cannot be made, the error is raised and the task stays on the board as pending.
    """
    act = "worktree.create" if request.workspace else "task.create"
    with Attempt(project, act, worktree=_wanted(request.name, request.base)) as attempt:
        return _start(project, request, attempt, beginning)


def _start(
    project: Project, request: StartRequest, attempt: Attempt, beginning: Beginning | None
) -> Started:
    project.require_repository()
    name = check_name(project, request.name)
    if beginning is None:
        base_ref, base = _base(project, request)
    else:
        base_ref, base = beginning.base_ref, beginning.base
    request = request._replace(
        name=name,
        description=request.description and project.redaction.text(request.description),
    )
    recover_cut_off(project)
    if request.workspace:
        project.branch_for(name, "0")  # a prefix that allows for no branch leaves no task behind
    task = put_on_board(project, request, base_ref)
    attempt.about(task)
    if not request.workspace:
        return _planned(project, task, switch=request.switch)
    with holding_task(project, task.id, f"starting task {request.name}") as hold:
        request = request._replace(base=base_ref)
        started = furnish(
            project, task, hold, attempt, base=base, request=request, beginning=beginning
        )
        switched = request.switch
        if switched:
            with project.changing(f"switching to task {task.id}"):
                make_current(project, task.id)
    return started._replace(switched=switched)


def _wanted(name: str | None, base: str | None) -> dict[str, str]:
    """Return what an event can say of a workspace that was asked for."""
    return {"name": name or "", "base_ref": base or ""}


def furnish(
    project: Project,
    task: Task,
    hold: Hold,
    attempt: Attempt,
    *,
    base: Sha,
    request: StartRequest,
    beginning: Beginning | None = None,
) -> Started:
    """Make the workspace of a task, fill it, run its hooks, and write its start card.

    The caller holds the task's lock. `request` says under which name the base is recorded, and
    whether uncommitted changes are carried over.
    """
    base_ref, carry = request.base or "", request.carry
    point = None if beginning is None else beginning.point
    checks_out = beginning is not None and beginning.fill is None
    at = point.commit if point is not None and checks_out else None
    planned = task
    task, workspace = create(
        project,
        task,
        hold,
        attempt,
        base_ref=base_ref,
        base=base,
        start=at,
        source=None if beginning is None else beginning.source,
    )
    try:
        carried = None if beginning is None else _begin(project, task, hold, beginning)
    except SidingError:
        _take_back(project, planned, workspace, hold)
        raise
    inherit_mark(project, task.id, base, base if at is None else at)
    included = copy_included(project, workspace)
    recorder = open_recorder(project, task, hold)  # takes the base snapshot
    notes = () if beginning is None else beginning.notes
    nested: list[bytes] = []
    if carry:
        left = carry_changes(project, workspace)
        nested = left.nested
        notes += _not_carried(left.unknown)
        carried = recorder.checkpoint(
            "uncommitted changes carried over", origin="carry", only_if_changed=True
        )
    hooks, untrusted = hooks_for(project, "post_create")
    env = environment_in(project, task, workspace, {}, cwd=recorder.root)
    results = tuple(run_judged_hook(project, hook, root=recorder.root, env=env) for hook in hooks)
    if results:
        recorder.settle("made by post_create hooks")
    card = draw_card(
        project,
        base=base,
        base_ref=base_ref,
        carried=carry,
        nested=nested,
        included=included,
        start=None if point is None else point.commit,
        workspace=workspace,
    )
    told = {} if point is None else {FROM: point.record()}
    task = project.tasks.load(task.id)._replace(start={**card.record(), **told})
    with project.changing(f"keeping the start card of task {task.id}"):
        project.tasks.save(task)
    return Started(
        task=task,
        workspace=workspace,
        card=card,
        carried=carried,
        hooks=results,
        untrusted_hooks=untrusted,
        switched=False,
        begun=point,
        notes=notes,
    )


def _not_carried(unknown: Sequence[bytes]) -> tuple[str, ...]:
    if not unknown:
        return ()
    named = ", ".join(quote_path(path) for path in unknown[:_NAMED])
    more = f" and {len(unknown) - _NAMED} more" if len(unknown) > _NAMED else ""
    return (
        f"not carried: {named}{more}, whose filter is off, so nothing can say whether you changed "
        "them; `siding trust` turns it on",
    )


def _begin(project: Project, task: Task, hold: Hold, beginning: Beginning) -> Step | None:
    """Record where the workspace starts as its first step; return None if that is its base."""
    recorder = open_recorder(project, task, hold)
    if beginning.fill is not None:
        return beginning.fill(project, task, hold)
    return recorder.checkpoint(
        f"started from {beginning.point.title}", origin="from", only_if_changed=True
    )


def _take_back(project: Project, planned: Task, workspace: Workspace, hold: Hold) -> None:
    """Make a task planned again if nothing of its beginning was done: it could not be taken."""
    if hold.intents.all() or project.ledger(planned.id).last() is not None:
        return  # it was begun: the next command in the task records what was done
    undo_creation(project, workspace)
    with project.changing(f"undoing the start of task {planned.id}"):
        project.tasks.save(planned)


def add_workspace(
    project: Project,
    named: str | None,
    *,
    base: str | None,
    carry: bool,
    force: bool = False,
    name: str = "",
) -> Started:
    """Make a workspace for a planned task; one that was removed is brought back by `reopen`.

    `name` is what the worktree is called. Raises TaskBlocked if the task waits for another one,
    unless `force` is set.
    """
    with Attempt(project, "worktree.create", worktree=_wanted(named, base)) as attempt:
        task = select(project, named)
        called = check_worktree(project, name) if name else ""
        request = StartRequest(name=task.name, base=base or task.base_ref or None, carry=carry)
        attempt.about(task, _wanted(task.name, request.base))
        if not force:
            refuse_blocked(project, task, "starting it")
        base_ref, commit = _base(project, request)
        left = _where_it_was_left(project, task, request, base_ref, commit)
        recover_cut_off(project)
        with holding_task(project, task.id, f"adding a workspace to {task.name}") as hold:
            recover_if_cut_off(project, task.id)
            request = request._replace(base=base_ref)
            base = commit if left is None else left.base
            task = task._replace(worktree=called or task.worktree)
            return furnish(project, task, hold, attempt, base=base, request=request, beginning=left)


def _where_it_was_left(
    project: Project, task: Task, request: StartRequest, base_ref: str, base: Sha
) -> Beginning | None:
    """Return the branch that another tool made for a task, whose worktree is gone; else None."""
    tip = project.repository.branch(task.branch) if task.branch and not task.worktree else None
    if tip is None:
        return None
    if request.carry:
        raise UsageError(
            f"--carry takes the uncommitted changes of your checkout along, and task "
            f"{task.name!r} goes on from its branch {task.branch!r}",
            hint="leave --carry out",
        )
    common = project.repository.merge_base(base, tip)
    if common is None:
        raise UsageError(
            f"branch {task.branch!r} and {base_ref} have no commit in common",
            hint="--base names the branch that it belongs to",
        )
    return Beginning(StartPoint("branch", task.branch, tip), base_ref, common)


def check_worktree(project: Project, name: str) -> str:
    """Return the name of a new worktree; UsageError for an invalid one and one that is used."""
    problem = problem_with_name(name)
    if problem is not None:
        raise UsageError(f"{name!r} cannot name a worktree: {problem}")
    there = project.registry.named(name)
    if there is not None and there.status is not WorkspaceState.REMOVED:
        raise UsageError(
            f"there is a worktree {name!r} already: {there.path!r}",
            hint="`siding worktree list` shows them",
        )
    return name


def check_name(project: Project, name: str) -> str:
    """Return a task's name as it is recorded, without secrets; UsageError for an invalid one."""
    problem = problem_with_name(name)
    if problem is not None:
        raise UsageError(f"{name!r} cannot name a task: {problem}")
    return project.redaction.text(name)


def default_base_of(project: Project, head: Head) -> str:
    """Return the base for a task that names none, of somebody who stands where `head` is.

    A setting that names no branch here does not count: see `_base`.
    """
    if project.settings.default_base:
        try:
            project.repository.resolve(project.settings.default_base)
        except UnknownRevision:
            pass
        else:
            return project.settings.default_base
    return head.branch or head.sha or "HEAD"


def default_base(project: Project) -> str:
    """Return the base for a task that names none: the setting, else what is checked out."""
    return project.settings.default_base or where_one_stands(project)


def where_one_stands(project: Project) -> str:
    """Return the branch that is checked out; its commit if HEAD is detached."""
    checkout = project.checkout
    head = project.repository.head(None if checkout is None else checkout.git_dir)
    return head.branch or head.sha or "HEAD"


def resolve_base(project: Project, named: str | None) -> tuple[str, Sha]:
    """Return the base and its commit: the one that is named, else the default.

    Raises UnknownRevision, and NoCommits for a repository without commits.
    """
    base_ref = named or default_base(project)
    try:
        base = project.repository.resolve(base_ref)
        if named or project.settings.default_base:
            say_what_is_taken(project, base_ref, base)
        return base_ref, base
    except UnknownRevision:
        if named is not None or base_ref != project.settings.default_base:
            raise
        # Another tool of this format writes `default_base: main` into every project and never uses
        # it. A setting that names no branch here must not stop the start.
        base_ref = where_one_stands(project)
        return base_ref, project.repository.resolve(base_ref)


def say_what_is_taken(project: Project, named: str, taken: Sha) -> None:
    """Warn if a word that somebody wrote names two commits, a branch and a tag."""
    said = project.repository.ambiguity(named, taken)
    if said is not None:
        project.app.warn(said)


def _base(project: Project, request: StartRequest) -> tuple[str, Sha]:
    base_ref, base = resolve_base(project, request.base)
    checkout = project.checkout
    if request.carry:
        require_checkout(project)
    head = project.repository.head(None if checkout is None else checkout.git_dir)
    if request.carry and base != head.sha:
        raise UsageError(
            "--carry takes the uncommitted changes along, and they belong to the commit that is "
            f"checked out here, not to {base_ref!r}",
            hint="leave out --base, or commit the changes first",
        )
    return base_ref, base


def put_on_board(project: Project, request: StartRequest, base_ref: str) -> Task:
    """Make a pending task, and return it. The caller has checked its name with `check_name`."""
    now = project.app.now()
    with project.changing("adding a task"):
        task = Task(
            id=fresh_id(project),
            name=request.name,
            repo_root=str(project.paths.root),
            base_ref=base_ref,
            base_commit=Sha(""),
            branch="",
            workspace_path="",
            status=TaskState.PENDING,
            created_at=now,
            updated_at=now,
            closed_at=None,
            owner="",
            blocked_by=(),
            worktree="",
            metadata={"description": request.description} if request.description else {},
            start={},
            rest={},
        )
        project.tasks.save(task)
    project.events.emit(TaskChanged(task, "created"))
    return task


def fresh_id(project: Project) -> TaskId:
    """Return an id that no task of the project has."""
    taken = set(project.tasks.ids())
    while (task_id := new_task_id(project.app.random_bytes)) in taken:
        pass
    return task_id


def _planned(project: Project, task: Task, *, switch: bool) -> Started:
    if switch:
        with project.changing(f"switching to task {task.id}"):
            make_current(project, task.id)
    return Started(
        task=task,
        workspace=None,
        card=None,
        carried=None,
        hooks=(),
        untrusted_hooks=0,
        switched=switch,
    )
