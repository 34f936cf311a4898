"""Say what became of the branch of a task that was closed."""

from siding.app.life.branches import BranchFate


def branch_line(fate: BranchFate) -> str:
    """Return one line: whether the branch was deleted, and why."""
    if fate.asked:
        return f"branch {fate.branch} kept, as you asked"
    return f"branch {fate.branch} {'deleted' if fate.deleted else 'kept'}: {fate.why}"
