"""Plan an act on a task for the page: what it would do now, and a digest of all of it.

Making a plan takes no lock and changes nothing.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

from siding.applying.apply import ApplyRequest, Mode, WouldPublish
from siding.applying.apply import preview as apply_preview
from siding.faces.web.words import counted
from siding.ground.errors import UsageError
from siding.ground.hashing import sha256_hex
from siding.ground.ids import TaskId
from siding.ground.namedtuples import NamedTuple
from siding.record.back import rollback as rolling
from siding.record.back.git_words import git_lines
from siding.record.back.rollback import quote_path
from siding.record.back.survey import Survey
from siding.record.place.locks import busy_with, held_by, live_in
from siding.record.place.project import Project
from siding.record.recording.steps import log
from siding.record.unfinished.left_running import in_the_way, to_pause
from siding.undo.preview import coming

_GIT_SIDE = "on git's side"  # HEAD, the branch, the index, what is under way, the phases
_UNSEEN = "a run left files for other programs to run, and nobody has seen them yet"
SHOWN = 400  # paths of a kind that a plan lists; its digest is of all of them


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


def _plan_rollback(project: Project, task_id: TaskId, wish: ActRequest) -> ActPlan:
    if not wish.step:
        raise UsageError("step is missing")
    with rolling.preview(project, rollback_request(task_id, wish)) as survey:
        target = survey.destination.name
        return _survey_plan("rollback", f"Go back to {target}", target, survey, wish)


def rollback_request(task_id: TaskId, wish: ActRequest) -> rolling.RollbackRequest:
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
        stops=tuple(f"{each}; {each.way_out}" for each in survey.stuck),
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
    with apply_preview(project, apply_request(task_id, wish)) as (_task, found, _bench):
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
                "run later by other programs",
                "write",
                [f"{each.path} ({each.by}, {each.when})" for each in found.traps],
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
            concerns=(_UNSEEN,) if found.holds and not wish.force else (),
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
                    [each.content for each in found.traps],
                    wish.force,
                ]
            ),
        )


def apply_request(task_id: TaskId, wish: ActRequest) -> ApplyRequest:
    mode = Mode(wish.mode)
    return ApplyRequest(
        task=task_id,
        # None is `commit` too, but makes one commit where that would publish too much.
        mode=None if mode is Mode.COMMIT else mode,
        message=wish.message or None,
        onto=wish.onto or None,
        close=wish.close,
        seen=wish.force,
    )


def _plan_close(project: Project, task_id: TaskId, wish: ActRequest) -> ActPlan:
    task, steps = log(project, task_id, limit=1)
    workspace = project.registry.of_task(task_id)
    stays = wish.keep or (workspace is not None and workspace.adopted)
    last = steps[-1] if steps else None
    applied = last is not None and last.as_apply is not None
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


_PLANS: Mapping[str, Callable[[Project, TaskId, ActRequest], ActPlan]] = {
    "rollback": _plan_rollback,
    "undo": _plan_undo,
    "redo": _plan_undo,
    "apply": _plan_apply,
    "close": _plan_close,
}
ACTS = tuple(_PLANS)
