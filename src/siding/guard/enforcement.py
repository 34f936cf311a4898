"""Enforce the policy for runs and hooks.

The verdict is made in `judgement`, which is imported only if there is a policy. Without one a run
pays for two tests whether a file exists.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from siding.guard.guard import agent_of, is_judged_by_guard
from siding.guard.hooks import HOOK_TIMEOUT_S, Hook, HookResult, run_hook
from siding.guard.ruling import POLICY_EXIT, Asker, Ruling, RunToJudge
from siding.record.ledger.draft import Draft
from siding.record.ledger.reports import HookReport, PolicyEvent
from siding.record.ledger.run_details import RunDetail
from siding.record.place.project import Project
from siding.record.place.settings import DEFAULT_POLICY_PATH, OWN_POLICY

NO_POLICY = Ruling()


def rule_on(
    project: Project, run: RunToJudge, *, allow: tuple[str, ...] = (), ask: Asker | None = None
) -> Ruling:
    """Return whether the command may run.

    `allow` are the rules of ``--allow``; `ask` puts questions to a person, None if nobody can be
    asked. The caller holds the task's lock, because an answer may be stored.
    """
    if not may_be_judged(project) and not is_judged_by_guard(project, agent_of(run.argv[0])):
        return NO_POLICY
    from siding.guard.judgement import judge_run

    return judge_run(project, run, allow=allow, ask=ask)


def run_judged_hook(
    project: Project,
    hook: Hook,
    *,
    root: Path,
    env: Mapping[str, str],
    timeout_s: float = HOOK_TIMEOUT_S,
) -> HookResult:
    """Run a hook and return how it ended. `timeout_s` is in seconds.

    A hook that came with the repository does not run if the policy blocks it.
    """
    events: tuple[PolicyEvent, ...] = ()
    if hook.source == "repository" and may_be_judged(project):
        from siding.guard.judgement import judge_hook

        ruling = judge_hook(project, hook, root=root, env=env)
        events = ruling.events
        if not ruling.runs:
            return HookResult(
                moment=hook.moment,
                command=hook.command,
                source=hook.source,
                exit_code=POLICY_EXIT,
                output=ruling.reason,
                policy_events=events,
            )
    return run_hook(hook, cwd=root, env=env, timeout_s=timeout_s)._replace(policy_events=events)


def with_hooks(draft: Draft, hooks: Sequence[HookResult]) -> Draft:
    """Return the draft of a run with its hooks and the policy rules that the hooks matched."""
    assert isinstance(draft.detail, RunDetail)
    reports = tuple(
        HookReport(each.moment, each.command, each.source, each.exit_code, each.output)
        for each in hooks
    )
    return draft._replace(
        detail=draft.detail._replace(hooks=reports),
        policy_events=(
            *draft.policy_events,
            *(event for each in hooks for event in each.policy_events),
        ),
    )


def may_be_judged(project: Project) -> bool:
    """Return whether there is a policy.

    The setting ``policy.enabled`` decides. Without it there is a policy if there is a policy file,
    or if the settings name one: a file that is named and missing must be reported.
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
