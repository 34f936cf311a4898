"""When a person is told that something waits: once, at once or in a moment, and not what they see.

- What asks is told at once. What has ended (a run that failed, a workflow) is told after a while
  (`call.after`, 20 seconds), if it waits still: who stands beside it sees it end.
- Nothing is told while the person looks at a screen of Siding, which shows it. A screen that cannot
  tell counts as one that nobody looks at.
- Nothing is told twice, and what no longer waits is taken off the desktop.

The while is waited for by a process of its own (`siding __notice`): a run ends when it ends.
"""

import json
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from siding.asking.decisions.record import DecisionChanged
from siding.asking.notifications import Call, Ways, call_by, call_of, ways_of
from siding.asking.screens import somebody_looks
from siding.asking.told import Told
from siding.asking.views import InboxEntry, Waits, decision_entry, identity, step_entry, view_of
from siding.ground.errors import SidingError
from siding.ground.process.capture import start
from siding.ground.storage.fields import mapping, text
from siding.guard.enforcement import run_judged_hook
from siding.guard.hooks import HookResult, hooks_for
from siding.record.place.event_log import StepRecorded
from siding.record.place.project import Project

if TYPE_CHECKING:
    from siding.record.place.wiring import Event

NOTIFY_TIMEOUT_S = 10.0
ENDED = (Waits.FAILED, Waits.POLICY, Waits.WORKFLOW, Waits.DONE)


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
    return [*failed, *give_notice(project, entry, call)]


def give_notice(project: Project, entry: InboxEntry, call: Call) -> list[HookResult]:
    """Tell a person now, or have it told in a while; return the ways that failed."""
    try:
        ways = ways_of(project)
    except SidingError as error:
        return [HookResult("notify", "call", "settings", 1, error.message)]
    if not ways.are_here(project.app.env):
        return []
    if entry.kind in ENDED and ways.after_s > 0:
        return _have_told_later(project, entry, call, ways)
    return tell_now(project, entry, call, ways)


def tell_now(project: Project, entry: InboxEntry, call: Call, ways: Ways) -> list[HookResult]:
    """Tell a person, unless they were told, or look at a screen, or want to be left alone."""
    home = project.app.home
    if somebody_looks(home) or ways.is_quiet(project):
        return []
    told, waits = Told(home, project.app.env), identity(entry)
    if not told.is_first(waits):
        return []
    done = call_by(project, ways, call)
    if not done.is_said:
        told.forget(waits)  # another way may say it: the browser
    elif done.number:
        told.on_desktop(waits, done.number)
    return done.failed


def _have_told_later(
    project: Project, entry: InboxEntry, call: Call, ways: Ways
) -> list[HookResult]:
    app = project.app
    words = {"entry": entry._asdict(), "call": call._asdict(), "after": ways.after_s}
    argv = [sys.executable, "-m", "siding", "-q", "__notice"]
    try:
        start(
            argv,
            env={**app.env, "SIDING_HOME": str(app.home.root)},
            cwd=project.layout.root,  # with -m, Python looks for the package there first: ours
            stdin=json.dumps(words).encode(),
        )
    except (SidingError, OSError) as error:
        return [HookResult("notify", "call", "settings", 1, str(error))]
    return []


def parsed(said: bytes) -> tuple[InboxEntry, Call, float]:
    """Return what is to be told, and after how many seconds. Raises ValueError."""
    found: Mapping[str, Any] = mapping(json.loads(said))
    entry, call = mapping(found.get("entry")), mapping(found.get("call"))
    after = 0.0
    with suppress(TypeError, ValueError):
        after = max(0.0, float(found["after"]))
    return (
        InboxEntry(**{name: text(entry.get(name)) for name in InboxEntry._fields}),
        Call(text(call.get("title")), text(call.get("text")), mapping(call.get("record"))),
        after,
    )


def _plain(text: str) -> str:
    """Return one line of at most 300 characters, without control characters."""
    kept = "".join(each if each.isprintable() else " " for each in text)
    return " ".join(kept.split())[:300]
