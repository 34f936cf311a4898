"""Take an apply back, or do it again. The branch and the checkout move together.

This is refused if it would cost anybody work: the branch must still be where the apply left it, and
no remote-tracking branch may have the commits.
"""

from siding.applying.branch_move import MoveAct, MovePlan, new_token
from siding.ground.git.command import Place
from siding.ground.git.errors import CommandFailed
from siding.record.acts.skeleton import Work
from siding.record.ledger.kinds import Reversal
from siding.record.ledger.move_details import ApplyDetail
from siding.record.ledger.step import Step
from siding.record.moving.model import Move, move_from
from siding.record.moving.move import changed_paths, checkout_of, pushed_to, refuse_busy
from siding.record.place.project import Project
from siding.record.restoring.refusal import Reason, Refusal


class ReverseApply(MoveAct[Step]):
    """Take the apply `step` back, or repeat one that was taken back, with the same commits.

    Raises Refusal if the branch has moved, was pushed, or its commits are gone, and Overlapping
    if the person's own changes are in the way. After these nothing was changed. The task and its
    workspace are never touched.
    """

    def __init__(self, step: Step, reversal: Reversal) -> None:
        self.what = f"taking step {step.id} back"
        self._step = step
        self._reversal = reversal

    def move_plan(self, work: Work) -> MovePlan:
        project, step = work.project, self._step
        move = _move_of(step)
        if self._reversal.undoes is not None:
            _refuse_published(project, move, step)
            move = move.reversed(new_token(project))
        else:
            move = move._replace(token=new_token(project))
            _refuse_gone(project, move, step)
        return _plan(project, step, move, self._reversal)

    def moved(self, work: Work, step: Step | None) -> Step:
        assert step is not None
        return step


def _refuse_published(project: Project, move: Move, step: Step) -> None:
    if not move.branch:
        return
    _refuse_moved(project, move, step)
    remotes = pushed_to(project.repository, move.new)
    if remotes:
        named = ", ".join(remotes[:3])
        raise Refusal(Reason.APPLY_PUSHED, step=step.id, remotes=named, branch=move.branch)


def _refuse_gone(project: Project, move: Move, step: Step) -> None:
    place = Place(git_dir=project.paths.common_dir)
    if project.git.attempt(place, ["cat-file", "-e", move.new]).returncode != 0:
        raise Refusal(Reason.APPLY_GONE, step=step.id)
    if move.branch:
        _refuse_moved(project, move.reversed(move.token), step)


def _plan(project: Project, step: Step, move: Move, reversal: Reversal) -> MovePlan:
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
        raise Refusal(Reason.APPLY_DAMAGED, step=step.id) from error
    done = applied_in(step)
    undoes = reversal.undoes is not None
    figures = done.applied
    if undoes and figures is not None:
        figures = figures._replace(additions=figures.deletions, deletions=figures.additions)
    detail = ApplyDetail(
        applied=figures,
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
    return MovePlan(move, changes, detail, files_back=not move.branch and undoes)


def _move_of(step: Step) -> Move:
    record = applied_in(step).move
    if record is None:
        raise _not_ours(step)
    return move_from(record)


def applied_in(step: Step) -> ApplyDetail:
    """Return what the apply `step` did; raise Refusal when it is no apply."""
    applied = step.as_apply
    if applied is None:
        raise _not_ours(step)
    return applied


def _not_ours(step: Step) -> Refusal:
    return Refusal(Reason.APPLY_OF_OTHERS, step=step.id)


def _refuse_moved(project: Project, move: Move, step: Step) -> None:
    at = project.repository.branch(move.branch)
    if at != move.new:
        raise Refusal(
            Reason.BRANCH_MOVED_ON,
            branch=move.branch,
            at=at[:12] if at else "nothing",
            step=step.id,
            commit=move.new[:12],
        )
