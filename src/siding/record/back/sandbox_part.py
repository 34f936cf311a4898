"""Bring the git directory of a sandboxed run that lives along with the workspace.

The run works on a copy of the workspace's git directory. What it committed was handed over when the
present state was recorded; the copy follows when the workspace has gone to another state.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from siding.ground.errors import SidingError
from siding.record.acts.skeleton import Work
from siding.record.returning.plan import GitReturn
from siding.record.returning.small_files import plan_small_files


class GitOfItsOwn(SidingError):
    """The git directory of a sandboxed run has something that could not be brought back."""

    code = "git_of_its_own"


def refuse_git_of_its_own(work: Work) -> None:
    """Refuse to go anywhere while the run's git directory is not as the recorded state has it."""
    recorder = work.recorder
    if not recorder.layout.sandbox_lock.exists():
        return
    from siding.record.unfinished.sandbox_commits import locks_of_living

    locks = locks_of_living(recorder.layout)
    why = [*recorder.not_handed_over, *(f"git holds {lock}" for lock in locks)]
    if why:
        raise GitOfItsOwn(
            f"a sandboxed run of task {work.task.id} works on a copy of its git directory, which "
            f"cannot go back with the workspace: {'; '.join(why)}",
            hint="nothing was changed. --stop ends the runs first; `siding rollback --files` "
            "takes files alone",
        )


@contextmanager
def sandbox_following(work: Work, plan: GitReturn | None) -> Iterator[None]:
    """After the block, bring the run's git directory to where the workspace's is."""
    layout = work.recorder.layout
    if plan is None or not layout.sandbox_lock.exists():
        yield
        return
    from siding.record.quarantine.living import follow, will_follow
    from siding.record.unfinished.sandbox_commits import living_quarantine

    if living_quarantine(layout) is None:
        yield
        return
    present, wanted = plan.present.files_in_sandbox, plan.wanted.files_in_sandbox
    files = plan_small_files(work.project.snapshots, present, wanted)
    head = plan.then.head or "" if plan.branch is None else f"ref: refs/heads/{plan.branch}"
    root = layout.sandbox_dir
    will_follow(root, work.project.repository, head, files.written, files.removed)
    try:
        yield
    except BaseException:
        follow(root, small_files=False)
        raise
    follow(root)
