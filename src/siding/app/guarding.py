"""Whether a command may run, as a run asks it. The work is in `judging`, and loaded only where a
policy is in force: without one a run pays for two looks at files that are not there.
"""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from siding.app.hooks import HOOK_TIMEOUT_S, Hook, HookResult, run_hook
from siding.app.project import Project
from siding.app.ruling import POLICY_EXIT, Asker, Ruling, RunToJudge
from siding.app.settings import DEFAULT_POLICY_PATH, OWN_POLICY
from siding.ledger.reports import PolicyEvent

NO_POLICY = Ruling()


def rule_on(
    project: Project, run: RunToJudge, *, allow: tuple[str, ...] = (), ask: Asker | None = None
) -> Ruling:
    """Return whether the command may run. The task's lock is held: an answer may be kept."""
    if not may_be_judged(project):
        return NO_POLICY
    from siding.app.judging import judge_run

    return judge_run(project, run, allow=allow, ask=ask)


def run_judged_hook(
    project: Project,
    hook: Hook,
    *,
    root: Path,
    env: Mapping[str, str],
    timeout_s: float = HOOK_TIMEOUT_S,
) -> HookResult:
    """Run a hook, unless it came with the repository and the policy blocks it."""
    events: tuple[PolicyEvent, ...] = ()
    if hook.source == "repository" and may_be_judged(project):
        from siding.app.judging import judge_hook

        ruling = judge_hook(project, hook, root=root, env=env)
        events = ruling.events
        if not ruling.runs:
            return HookResult(
                moment=hook.moment, command=hook.command, source=hook.source,
                exit_code=POLICY_EXIT, output=ruling.reason, policy_events=events,
            )  # fmt: skip
    return run_hook(hook, cwd=root, env=env, timeout_s=timeout_s)._replace(policy_events=events)


def hook_fields(ruling: Ruling, hooks: Iterable[HookResult]) -> dict[str, Any]:
    """Return what the ledger holds of the hooks of a step, and of the rules they matched."""
    records = []
    events = list(ruling.events)
    for hook in hooks:
        record = hook._asdict()
        del record["policy_events"]
        records.append(record)
        events += hook.policy_events
    fields: dict[str, Any] = {"hooks": records} if records else {}
    if len(events) > len(ruling.events):
        fields["policy_events"] = [each.as_record() for each in events]
    return fields


def may_be_judged(project: Project) -> bool:
    """Return whether there is a policy: the setting says so, or says nothing and there is a file.

    A file that is named and missing counts: that it does not hold has to be said.
    """
    settings = project.settings
    if settings.policy_enabled is not None:
        return settings.policy_enabled
    main = project.paths.main_worktree
    return (
        settings.policy_path != DEFAULT_POLICY_PATH
        or os.path.lexists(project.app.home.root / OWN_POLICY)
        or (main is not None and os.path.lexists(main / DEFAULT_POLICY_PATH))
    )
