"""Push the work of a task and open its pull request, once a person has seen what is pushed."""

from siding.applying.pull_request import (
    PreparedPullRequest,
    PullRequestRequest,
    open_pull_request,
)
from siding.ground.errors import counted
from siding.record.place.project import Project
from siding.record.recording.held_traps import see


def push_and_open(project: Project, task_id: str, found: PreparedPullRequest) -> str:
    """Push, and open the pull request or update it; return what came of it.

    The person has seen what other programs would run: it was shown before.
    """
    if found.holds:
        see(project, found.traps)
    done = open_pull_request(project, PullRequestRequest(task=task_id))
    pushed = counted(done.prepared.new_commits, "commit")
    what = f"pushed {pushed} to {done.prepared.remote} as {done.prepared.branch}"
    if done.url is None:
        page = f": {done.page}" if done.page else ""
        return f"{what}; gh is not installed, so the pull request is yours to open{page}"
    return f"{what}; {'opened' if done.created else 'the open pull request has it now'}: {done.url}"
