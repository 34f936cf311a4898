"""Acts that change files: plan one for the page, then carry out exactly that plan.

Making a plan takes no lock and changes nothing. The plan has a digest of everything it shows.
Before it is carried out the plan is made again; if the digest differs, nothing is done. The page
also needs a code from the terminal, see `nonces`.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

from siding.app.applying.apply import ApplyRequest, Mode, WouldPublish
from siding.app.applying.apply import apply as apply_task
from siding.app.applying.apply import preview as apply_preview
from siding.app.back import rollback as rolling
from siding.app.back.git_words import git_lines
from siding.app.back.restore_act import written_meanwhile
from siding.app.back.rollback import quote_path
from siding.app.back.survey import Survey
from siding.app.life.close import Fate, close_task
from siding.app.place.locks import TaskBusy, busy_with, held_by, live_in
from siding.app.place.project import Project
from siding.app.recording.steps import Step, log
from siding.app.undo.preview import coming
from siding.app.undo.undo import Undone, redo, undo
from siding.app.undo.undo import UndoRequest as UndoRequest
from siding.app.unfinished.left_running import in_the_way, to_pause
from siding.errors import SidingError, UsageError
from siding.hashing import sha256_hex
from siding.ids import TaskId
from siding.namedtuples import NamedTuple
from siding.web.words import counted

_GIT_SIDE = "on git's side"  # HEAD, the branch, the index, what is under way, the phases
SHOWN = 400  # paths of a kind that a plan lists; its digest is of all of them


class Changed(SidingError):
    """The plan that was shown is out of date. Nothing was done."""

    code = "changed"


class NotPossible(SidingError):
    """The plan that was shown cannot be carried out. Nothing was done."""

    code = "not_possible"


class ActRequest(NamedTuple):
    """A request for an act on a task. `step` is a step's number, or ``base``."""

    act: str
    step: str = ""
    hard: bool = False
    force: bool = False
    mode: str = Mode.COMMIT.value
    onto: str = ""
    message: str = ""
    close: bool = True
    keep: bool = False

    def means(self) -> dict[str, Any]:
        """Return the parameters that a code is bound to."""
        return self._asdict()


class PathGroup(NamedTuple):
    """Paths that an act treats alike."""

    what: str  # what happens to them, as the page shows it
    tone: str  # "write", "delete", "trash", "leave", "stop"
    paths: tuple[str, ...]
    many: int  # how many there are, with those that are not listed


class ActPlan(NamedTuple):
    """What an act would do.

    `stops` are reasons why it is not possible; `concerns` are reasons that need consent (force).
    `target` is where it leads, such as a branch or a step. `commits` are the subjects of the
    commits it applies. `nothing` is True when it would change nothing.
    """

    act: str
    title: str
    sentence: str
    groups: tuple[PathGroup, ...]
    notes: tuple[str, ...]
    concerns: tuple[str, ...]
    stops: tuple[str, ...]
    nothing: bool
    digest: str
    target: str = ""
    commits: tuple[str, ...] = ()

    def record(self) -> dict[str, Any]:
        """Return the plan as values that JSON can hold, for the API."""
        found = self._asdict()
        found["groups"] = [{**g._asdict(), "paths": list(g.paths)} for g in self.groups]
        return found


class ActDone(NamedTuple):
    """The result of an act: a sentence, and the id of the step that recorded it."""

    said: str
    step: str | None


def plan(project: Project, task_id: TaskId, wish: ActRequest) -> ActPlan:
    """Return what the act would do now."""
    found = _PLANS[wish.act](project, task_id, wish)
    busy = busy_with(project, task_id) if wish.act == "close" else held_by(project, task_id)
    if busy:
        return found._replace(stops=(f"the task is busy: {busy}; wait until that has ended",))
    live = live_in(project, task_id)
    if wish.act == "close" and (left := in_the_way(project, task_id)):
        what = ", ".join(f"{each.run.id} (`siding stop {each.run.id}` ends it)" for each in left)
        return found._replace(stops=(f"something still runs that was left by {what}",))
    left = to_pause(project, task_id)
    if not (live or left) or wish.act == "apply":  # the plan of an apply says which state it takes
        return found
    named = ", ".join(
        (
            *(f"{run.id} `{run.title[:60]}`" for run in live),
            *(f"what {each.run.id} left running" for each in left),
        )
    )
    one = len(live) + len(left) == 1
    how = "is paused meanwhile, and goes on" if one else "are paused meanwhile, and go on"
    return found._replace(notes=(*found.notes, f"{named} {how}"))


def shown_plan(project: Project, task_id: TaskId, wish: ActRequest, digest: str) -> ActPlan:
    """Return the plan if it still has this digest.

    Raises Changed when it has another one, and NotPossible when it cannot be carried out.
    """
    now = plan(project, task_id, wish)
    if now.digest != digest:
        raise Changed("the plan has changed since it was shown", hint="look at it again")
    if now.stops or now.concerns or now.nothing:
        reason = [*now.stops, *now.concerns, now.sentence][0]
        raise NotPossible(f"this is not possible now: {reason}", hint="nothing was changed")
    return now


def carry_out(project: Project, task_id: TaskId, wish: ActRequest, digest: str) -> ActDone:
    """Carry out the plan with this digest. Raises Changed and NotPossible, like `shown_plan`."""
    shown_plan(project, task_id, wish, digest)
    try:
        return _ACTS[wish.act](project, task_id, wish)
    except TaskBusy as busy:  # its own hint names an option of the command line
        raise NotPossible(
            busy.message, hint="nothing was done; wait until that has ended"
        ) from busy


def told(named: str, wish: ActRequest, shown: ActPlan) -> str:
    """Return the act in words, for the line in the terminal that shows its code.

    `named` is the task, as that line names it.
    """
    match wish.act:
        case "rollback":
            return _listed(
                f"roll {named} back to {shown.target}",
                "moving ignored files into the trash" if wish.hard else "",
                "whatever is in the way" if wish.force else "",
            )
        case "apply":
            return _listed(
                f"apply {named} to {shown.target} as {wish.mode}",
                f"with the message {wish.message[:60]!r}" if wish.message else "",
                "and close the task" if wish.close else "and leave the task open",
            )
        case "close":
            return _listed(
                f"close {named}",
                "keeping its workspace" if wish.keep else "its workspace into the trash",
                "with work that was not applied" if wish.force else "",
            )
        case _:
            forced = "whatever is in the way" if wish.force else ""
            return _listed(f"{wish.act} in {named}: {shown.target}", forced)


def _listed(*parts: str) -> str:
    return ", ".join(part for part in parts if part)


def _plan_rollback(project: Project, task_id: TaskId, wish: ActRequest) -> ActPlan:
    if not wish.step:
        raise UsageError("step is missing")
    with rolling.preview(project, _rollback_request(task_id, wish)) as survey:
        target = survey.destination.name
        return _survey_plan("rollback", f"Go back to {target}", target, survey, wish)


def _rollback_request(task_id: TaskId, wish: ActRequest) -> rolling.RollbackRequest:
    step = None if wish.step == "base" else wish.step
    return rolling.RollbackRequest(step=step, task=task_id, hard=wish.hard, force=wish.force)


def _survey_plan(act: str, title: str, target: str, survey: Survey, wish: ActRequest) -> ActPlan:
    blocked = [quote_path(path) for path in survey.blocked]
    concerns = list(survey.concerns)
    if blocked:
        concerns.append("files in the way are in no snapshot; they are moved into the trash")
    groups = [
        _group("written", "write", [quote_path(each.path) for each in survey.plan.writes]),
        _group("deleted", "delete", [quote_path(each.path) for each in survey.plan.deletes]),
        _group(
            "given other permissions",
            "write",
            [
                f"{quote_path(each.path)} ({each.before:04o} to {each.after:04o})"
                for each in survey.plan.chmods
            ],
        ),
        _group(_GIT_SIDE, "write", [": ".join(each) for each in git_lines(survey.git)]),
        _group("moved into the trash", "trash", [quote_path(path) for path in survey.aside]),
        _group("in the way", "stop", blocked),
        _group(
            "left alone",
            "leave",
            [f"{quote_path(each.path)} ({each.why.value})" for each in survey.plan.left],
        ),
    ]
    found = _plan(
        act,
        title,
        "the workspace is in that state already" if survey.nothing_to_do else _counts(groups),
        groups,
        notes=survey.git.notes if survey.git else (),
        concerns=() if wish.force else tuple(concerns),
        nothing=survey.nothing_to_do,
    )
    return found._replace(target=target)


def _plan_undo(project: Project, task_id: TaskId, wish: ActRequest) -> ActPlan:
    with coming(project, task_id, wish.act) as found:
        title = f"{wish.act.capitalize()}: {found.what}"
        if found.survey is None:
            return _plan(wish.act, title, found.what, [])._replace(target=found.what)
        return _survey_plan(wish.act, title, found.what, found.survey, wish._replace(force=True))


def _plan_apply(project: Project, task_id: TaskId, wish: ActRequest) -> ActPlan:
    try:
        return _preview_apply(project, task_id, wish)
    except WouldPublish as refused:
        sentence = "the change cannot be applied this way"
        return _plan("apply", "Apply", sentence, [], stops=(refused.message, refused.hint or ""))


def _preview_apply(project: Project, task_id: TaskId, wish: ActRequest) -> ActPlan:
    with apply_preview(project, _apply_request(task_id, wish)) as (_task, found, _bench):
        where = found.target.branch or "your checkout"
        groups = [
            _group(
                f"changed on {where}",
                "write",
                [f"{each.status} {quote_path(each.path)}" for each in found.stat.per_file],
            ),
            _group(
                "in conflict",
                "stop",
                [f"{quote_path(each.path)} ({each.kind})" for each in found.conflicts],
            ),
            _group("changed by you too", "stop", [quote_path(p) for p in found.overlaps.all]),
            _group(
                "left out",
                "leave",
                [f"{quote_path(each.path)} ({each.why})" for each in found.left_out],
            ),
            _group(
                "of commits that were gone back from, left out",
                "leave",
                [f"{each.sha[:10]} {each.subject}" for each in found.gone_back],
            ),
        ]
        stops = []
        if found.conflicts:
            stops.append(
                f"the task and {where} disagree; `siding apply --resolve` brings both "
                "sides into the workspace"
            )
        if found.overlaps.all:
            stops.append("your own uncommitted changes are in the way; they are not touched")
        stat = found.stat
        commits = counted(len(found.commits), "commit") if found.commits else "the files"
        sentence = f"{commits} onto {where}: +{stat.additions:,} -{stat.deletions:,}"
        if found.nothing_to_do:
            sentence = "nothing to apply" if found.unchanged else f"{where} has all of it already"
        made = _plan(
            "apply",
            f"Apply to {where}",
            sentence,
            groups,
            notes=tuple(found.notes),
            stops=tuple(stops),
            nothing=found.nothing_to_do,
        )
        return made._replace(
            target=where,
            commits=tuple(each.subject for each in found.commits[:SHOWN]),
            digest=_digest(
                [
                    found.target.sha,
                    found.tree,
                    found.wanted.mode.value,
                    [each.sha for each in found.gone_back],
                ]
            ),
        )


def _apply_request(task_id: TaskId, wish: ActRequest) -> ApplyRequest:
    mode = Mode(wish.mode)
    return ApplyRequest(
        task=task_id,
        # None is `commit` too, but makes one commit where that would publish too much.
        mode=None if mode is Mode.COMMIT else mode,
        message=wish.message or None,
        onto=wish.onto or None,
        close=wish.close,
    )


def _plan_close(project: Project, task_id: TaskId, wish: ActRequest) -> ActPlan:
    task, steps = log(project, task_id, limit=1)
    workspace = project.registry.of_task(task_id)
    stays = wish.keep or (workspace is not None and workspace.adopted)
    last = steps[-1] if steps else None
    applied = last is not None and last.kind == "apply"
    concerns: tuple[str, ...] = ()
    if not (applied or stays or wish.force or last is None or last.snapshot is None):
        concerns = ("the workspace holds work that was not applied; it is put away too",)
    fate = "stays where it is" if stays else "is moved into the trash, whole"
    return _plan(
        "close",
        f"Close {task.name}",
        f"the workspace {fate}; undo opens the task again",
        [],
        concerns=concerns,
    )


def _plan(
    act: str,
    title: str,
    sentence: str,
    groups: list[PathGroup],
    *,
    notes: tuple[str, ...] = (),
    concerns: tuple[str, ...] = (),
    stops: tuple[str, ...] = (),
    nothing: bool = False,
) -> ActPlan:
    says = [act, title, sentence, [group._asdict() for group in groups], concerns, stops, notes]
    return ActPlan(
        act=act,
        title=title,
        sentence=sentence,
        groups=tuple(group._replace(paths=group.paths[:SHOWN]) for group in groups if group.many),
        notes=notes,
        concerns=concerns,
        stops=stops,
        nothing=nothing,
        digest=_digest(says),
    )


def _digest(told: object) -> str:
    return sha256_hex(json.dumps(told, sort_keys=True).encode())[:32]


def _group(what: str, tone: str, paths: list[str]) -> PathGroup:
    return PathGroup(what=what, tone=tone, paths=tuple(paths), many=len(paths))


def _counts(groups: list[PathGroup]) -> str:
    return ", ".join(
        f"{counted(group.many, 'change' if group.what == _GIT_SIDE else 'path')} {group.what}"
        for group in groups
        if group.many
    )


def _do_rollback(project: Project, task_id: TaskId, wish: ActRequest) -> ActDone:
    done = rolling.rollback(project, _rollback_request(task_id, wish))
    where = done.survey.destination.name
    said = f"back to {where}{_meanwhile(project, done.restored.step)}"
    return ActDone(said, done.restored.step.id)


def _do_undo(project: Project, task_id: TaskId, wish: ActRequest) -> ActDone:
    act: Callable[[Project, UndoRequest], Undone] = undo if wish.act == "undo" else redo
    done = act(project, UndoRequest(task=task_id, force=wish.force))
    step = done.restored.step if done.restored is not None else done.applied
    if step is None:
        return ActDone(done.what, None)
    return ActDone(f"{done.what}{_meanwhile(project, step)}", step.id)


def _do_apply(project: Project, task_id: TaskId, wish: ActRequest) -> ActDone:
    done = apply_task(project, _apply_request(task_id, wish))
    where = done.plan.target.branch or "your checkout"
    if done.step is None:
        return ActDone("nothing to apply", None)
    closed = "; the task is closed" if done.closed is not None else ""
    said = f"applied to {where}{closed}{_meanwhile(project, done.step)}"
    return ActDone(said, done.step.id)


def _meanwhile(project: Project, step: Step) -> str:
    """Return where the versions are that other programs wrote during an act; "" for none."""
    moved = step.as_rollback or step.as_apply
    if moved is None or not moved.kept:
        return ""
    place = (project.layout.root / moved.kept[0]).parent
    return f"; {written_meanwhile(len(moved.kept))} {place}"


def _do_close(project: Project, task_id: TaskId, wish: ActRequest) -> ActDone:
    task = project.tasks.load(task_id)
    fate = Fate.KEEP if wish.keep else Fate.USUAL
    branch = close_task(project, task, fate=fate, force=wish.force).branch
    more = "" if branch is None else f"; {branch.sentence}"
    return ActDone(f"closed {task.name}{more}", None)


_PLANS: Mapping[str, Callable[[Project, TaskId, ActRequest], ActPlan]] = {
    "rollback": _plan_rollback,
    "undo": _plan_undo,
    "redo": _plan_undo,
    "apply": _plan_apply,
    "close": _plan_close,
}
_ACTS: Mapping[str, Callable[[Project, TaskId, ActRequest], ActDone]] = {
    "rollback": _do_rollback,
    "undo": _do_undo,
    "redo": _do_undo,
    "apply": _do_apply,
    "close": _do_close,
}
ACTS = tuple(_PLANS)
