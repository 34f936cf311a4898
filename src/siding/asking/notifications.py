"""Call a person when something starts to wait: run ``hooks.notify``, and what `calling` has.

The commands get the details in environment variables, never as words of the command line, because
an agent may have written them. Hooks of the repository run only if they are trusted. A hook that
fails or hangs is reported and does not stop the act.
"""

from typing import TYPE_CHECKING

from siding.asking.calling import call_of, call_person
from siding.asking.entries import InboxEntry, decision_entry, step_entry
from siding.asking.events import DecisionChanged
from siding.asking.views import view_of
from siding.ground.errors import SidingError
from siding.guard.enforcement import run_judged_hook
from siding.guard.hooks import HookResult, hooks_for
from siding.record.place.project import Project
from siding.record.place.step_events import StepRecorded

if TYPE_CHECKING:
    from siding.record.place.listeners import Event

NOTIFY_TIMEOUT_S = 10.0


def notify_event(project: Project, event: "Event", *, url: str | None) -> list[HookResult]:
    """Run the hooks for an event; return those that failed."""
    entry = None
    match event:
        case StepRecorded(task=task, step=step):
            entry = step_entry(project, task.id, task.name, step)
        case DecisionChanged(decision=decision):
            entry = decision_entry(project, view_of(decision, gate=""))
    return [] if entry is None else notify(project, entry, url=url)


def notify(project: Project, entry: InboxEntry, *, url: str | None = None) -> list[HookResult]:
    """Run the hooks for an entry of the inbox; return those that failed.

    Each hook may take `NOTIFY_TIMEOUT_S` seconds. `url` is the page of the entry, if one is known.
    """
    try:
        hooks, _untrusted = hooks_for(project, "notify")
    except SidingError as error:
        return [HookResult("notify", "", "project", 1, error.message)]
    env = {
        **project.app.env,
        "SIDING_WAITS": entry.kind,
        "SIDING_WAITS_TITLE": _plain(entry.title),
        "SIDING_WAITS_PROJECT": _plain(entry.repo_root),
        "SIDING_WAITS_TASK": _plain(entry.task_name or entry.task_id),
        "SIDING_WAITS_SESSION": entry.session_id,
        "SIDING_WAITS_COMMAND": entry.command,
        "SIDING_WAITS_URL": url or "",
    }
    failed = []
    for hook in hooks:
        try:
            done = run_judged_hook(
                project, hook, root=project.paths.root, env=env, timeout_s=NOTIFY_TIMEOUT_S
            )
        except SidingError as error:  # it hung, or could not be started
            done = HookResult(hook.moment, hook.command, hook.source, 1, error.message)
        if done.exit_code != 0:
            failed.append(done)
    call = call_of(entry, url=url, plain_title=_plain(entry.title))
    return [*failed, *call_person(project, call)]


def _plain(text: str) -> str:
    """Return one line of at most 300 characters, without control characters."""
    kept = "".join(each if each.isprintable() else " " for each in text)
    return " ".join(kept.split())[:300]
