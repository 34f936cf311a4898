"""Run a command on the result of an apply before it is applied (``apply --if``).

The result is checked out into a temporary directory, without a lock: the task, the target and the
person's files are not held up by a long test run. The apply then goes on only if its result is
still the same.
"""

from siding.applying.hooks import rehearse
from siding.applying.plan import ApplyPlan
from siding.ground.errors import SidingError
from siding.ground.ids import Sha
from siding.ground.namedtuples import NamedTuple
from siding.ground.process.attached import run_shown
from siding.record.moving.bench import Bench
from siding.record.place.project import Project

ITS_OUTPUT = 2  # the caller's standard error: what `--json` prints stays alone


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
