"""Take an apply back, or do it again: the branch and the checkout move together, as they came.

Only where it costs nobody anything: the branch is still where the apply left it, and no remote
that this repository knows of has seen it.
"""

from siding.app.applying.steps import Settled, new_token, record_move
from siding.app.life.recovery import recover_if_cut_off
from siding.app.place.locking import holding_task
from siding.app.place.project import Project
from siding.errors import SidingError
from siding.git.applying.move import (
    Move,
    changed_paths,
    checkout_of,
    move_from,
    pushed_to,
    refuse_busy,
)
from siding.git.command import Place
from siding.git.errors import CommandFailed
from siding.ledger.details.apply import ApplyDetail
from siding.ledger.details.reversal import Reversal
from siding.ledger.step import Step
from siding.tasks.task import Task


class CannotUndo(SidingError):
    """Taking it back would change what others have, or what came later."""

    code = "cannot_undo"


def undo_apply(project: Project, task: Task, step: Step) -> Step:
    """Take the apply `step` back; return the step that this is.

    Raises CannotUndo when the branch has moved on or was pushed, Overlapping when the person's own
    changes are in the way; nothing is changed then. The task and its workspace are not touched.
    """
    move = _move_of(step)
    if move.branch:
        _refuse_moved(project, move, step)
        remotes = pushed_to(project.repository, move.new)
        if remotes:
            raise CannotUndo(
                f"the commits of step {step.id} were pushed: {', '.join(remotes[:3])} has them",
                hint=f"`git revert` makes a commit that takes them back on {move.branch}",
            )
    back = move.reversed(new_token(project))
    return _go(project, task, step, back, Reversal(undoes=step.id))


def redo_apply(project: Project, task: Task, step: Step) -> Step:
    """Do the apply `step`, which was taken back, again: the same commits."""
    move = _move_of(step)._replace(token=new_token(project))
    place = Place(git_dir=project.paths.common_dir)
    gone = project.git.attempt(place, ["cat-file", "-e", move.new]).returncode != 0
    if gone:
        raise CannotUndo(
            f"the commits of step {step.id} are no longer in the repository",
            hint="`siding apply` makes new ones",
        )
    if move.branch:
        _refuse_moved(project, move.reversed(move.token), step)
    return _go(project, task, step, move, Reversal(redoes=step.id))


def _go(project: Project, task: Task, step: Step, move: Move, reversal: Reversal) -> Step:
    repository = project.repository
    if move.branch:
        move = move._replace(checkout=checkout_of(repository, move.branch))
    elif move.checkout is not None:
        refuse_busy(repository, move.checkout)
    try:
        changes = changed_paths(
            repository, Place(git_dir=project.paths.common_dir), move.old, move.new
        )
    except CommandFailed as error:
        raise CannotUndo(
            f"the commits of step {step.id} are no longer in the repository"
        ) from error
    done = applied_in(step)
    undoes = reversal.undoes is not None
    detail = ApplyDetail(
        mode=done.mode,
        commit_sha=move.new if move.branch else "",
        commit_message=done.commit_message,
        message=f"{'undo' if undoes else 'redo'} of step {step.id}",
        target_branch=move.branch,
        target_before=move.old if move.branch else "",
        whole=done.whole and not undoes,
        head=done.head,
        reversal=reversal,
    )
    files_back = not move.branch and undoes
    with holding_task(project, task.id, f"taking step {step.id} back") as hold:
        recover_if_cut_off(project, task.id)
        recorder = Settled(project, project.tasks.load(task.id), hold)
        return record_move(recorder, move, changes, detail, files_back=files_back)


def _move_of(step: Step) -> Move:
    record = applied_in(step).move
    if record is None:
        raise _not_ours(step)
    return move_from(record)


def applied_in(step: Step) -> ApplyDetail:
    """Return what the apply `step` did; raise CannotUndo when it is no apply."""
    applied = step.as_apply
    if applied is None:
        raise _not_ours(step)
    return applied


def _not_ours(step: Step) -> CannotUndo:
    return CannotUndo(f"step {step.id} is not an apply that Siding can take back")


def _refuse_moved(project: Project, move: Move, step: Step) -> None:
    at = project.repository.branch(move.branch)
    if at != move.new:
        raise CannotUndo(
            f"branch {move.branch!r} is at {at[:12] if at else 'nothing'} now, not where step "
            f"{step.id} belongs ({move.new[:12]})",
            hint="what came after it would be lost; `git revert` takes single commits back",
        )
