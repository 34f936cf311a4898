"""Judge a run by the policy, and get a person's answer if the policy asks for one.

A command that a rule blocks does not run. A command that a rule asks about runs if a person agrees:
at the terminal, with ``--allow RULE``, or with an earlier "always" for the same command in the same
task. If nobody can be asked, the answer is no. Every match and every answer is recorded in the
step's ``policy_events``.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from siding.ground.errors import UsageError
from siding.guard.hooks import Hook
from siding.guard.in_force import (
    InForce,
    environment_for,
    ground_of,
    how_to_only_warn,
    how_to_run_a_line,
    keep_answers,
    kept_answers,
    place_for,
    policy_in,
)
from siding.guard.ruling import Asker, PolicyAnswer, PolicyQuestion, Ruling, RunToJudge
from siding.record.ledger.reports import PolicyEvent
from siding.record.place.events import PolicyBlocked
from siding.record.place.project import Project
from siding.record.place.redaction import printable
from siding.record.place.wiring import is_in_step
from siding.shellguard.face import Action, Policy, Verdict


def judge_run(
    project: Project, run: RunToJudge, *, allow: tuple[str, ...], ask: Asker | None
) -> Ruling:
    """Return whether the command may run, and ask a person if a rule wants that.

    Raises UsageError for an `allow` that is not permitted or names no rule that asks.
    """
    in_force = policy_in(ground_of(project))
    # A command that was started inside a step comes from an agent, which must not answer.
    inside = is_in_step(project.app)
    if allow:
        _check_allow(project, in_force, allow, inside=inside)
    verdict = _judge(project, run, in_force, by_agent=inside)
    ruling = _answered(project, run, verdict, allow, None if inside else ask)
    if not ruling.runs:
        rules = sorted({each.rule for each in ruling.events})
        project.events.emit(PolicyBlocked(run.task_id, rules))
    return ruling._replace(withheld=len(in_force.withheld))


def judge_hook(project: Project, hook: Hook, *, root: Path, env: Mapping[str, str]) -> Ruling:
    """Return whether a hook of the repository may run.

    A rule that asks counts as answered: the person who trusted the hook saw exactly this command.
    """
    in_force = policy_in(ground_of(project))
    place = place_for(ground_of(project), cwd=root, workspace=root, policy=in_force.policy)
    verdict = in_force.policy.judge(hook.command, place, environment_for(env))
    events = _events(verdict, dict.fromkeys(_questions(verdict), PolicyAnswer.REMEMBERED))
    told = tuple(each._replace(via=(f"{hook.moment} hook", *each.via)) for each in events)
    if verdict.action is not Action.BLOCK:
        return Ruling(events=told)
    return Ruling(runs=False, events=told, reason=_reason(verdict), hint=_hint(verdict))


# -- the verdict --------------------------------------------------------------------------------


def _judge(project: Project, run: RunToJudge, in_force: InForce, *, by_agent: bool) -> Verdict:
    place = place_for(
        ground_of(project), cwd=run.cwd, workspace=run.workspace, policy=in_force.policy
    )._replace(by_agent=by_agent)
    argv = run.argv
    if run.added:  # variables of `-e` are judged as part of `env K=V COMMAND`
        values = project.redaction.environment(run.added)
        argv = ("env", *(f"{name}={value}" for name, value in values.items()), *argv)
    return in_force.policy.judge(argv, place, environment_for(run.env))


def _check_allow(
    project: Project, in_force: InForce, allow: tuple[str, ...], *, inside: bool
) -> None:
    if inside or not project.settings.policy_overrides:
        why = (
            "is a person's word, and this runs inside a step"
            if inside
            else "is switched off by the setting `policy.overrides`"
        )
        raise UsageError(f"--allow {why}", hint="ask at a terminal, or change the policy")
    rules = {rule.name: rule for rule in in_force.policy.in_force()}
    for name in allow:
        if name not in rules:
            raise UsageError(
                f"--allow {name!r}: no rule in force has this name",
                hint="`siding policy list` names them",
            )
        if rules[name].action is Action.BLOCK:
            raise UsageError(
                f"--allow {name!r}: this rule blocks, and does not ask", hint=_how_to_change(name)
            )


def _answered(
    project: Project,
    run: RunToJudge,
    verdict: Verdict,
    allow: tuple[str, ...],
    ask: Asker | None,
) -> Ruling:
    """Return the ruling for a verdict, and ask a person the questions that are still open."""
    questions = _questions(verdict)
    if verdict.action is Action.BLOCK:
        blocked = Ruling(runs=False, reason=_reason(verdict), hint=_hint(verdict))
        return blocked._replace(events=_events(verdict, {}))
    kept = kept_answers(project, run.task_id) if questions else frozenset()
    answers: dict[PolicyQuestion, PolicyAnswer] = {}
    for each in questions:
        if each.rule in allow:
            answers[each] = PolicyAnswer.FLAG
        elif (each.rule, project.redaction.text(each.command)) in kept:
            answers[each] = PolicyAnswer.REMEMBERED
    left = tuple(each for each in questions if each not in answers)
    answer = PolicyAnswer.YES
    if left:
        answer = PolicyAnswer.NOBODY if ask is None else ask(left)
        answers |= dict.fromkeys(left, answer)
    events = _events(verdict, answers)
    if answer is PolicyAnswer.ALWAYS:
        keep_answers(project, run.task_id, [(each.rule, each.command) for each in left])
    if answer in (PolicyAnswer.YES, PolicyAnswer.ALWAYS):
        return Ruling(events=events)
    hint = ""
    if answer is PolicyAnswer.NOBODY:
        hint = printable(how_to_run_a_line(run.argv)) or _way_out(left)
    return Ruling(runs=False, events=events, reason=_refusal(left, answer), hint=hint)


def _questions(verdict: Verdict) -> tuple[PolicyQuestion, ...]:
    return tuple(
        PolicyQuestion(
            command=part.text,
            via=part.via,
            rule=finding.rule,
            reason=finding.reason,
            matched=finding.matched,
        )
        for part in verdict.parts
        for finding in part.findings
        if finding.action is Action.ASK
    )


def _events(
    verdict: Verdict, answers: Mapping[PolicyQuestion, PolicyAnswer]
) -> tuple[PolicyEvent, ...]:
    told = {(each.command, each.rule, each.matched): answer for each, answer in answers.items()}
    events = []
    for part in verdict.parts:
        for finding in part.findings:
            answer = told.get((part.text, finding.rule, finding.matched))
            asked = finding.action is Action.ASK
            events.append(
                PolicyEvent(
                    rule=finding.rule,
                    action=finding.action.value,
                    matched=printable(finding.matched),
                    reason=printable(finding.reason),
                    command=printable(part.text),
                    via=tuple(map(printable, part.via)),
                    answer=answer.value if asked and answer is not None else None,
                )
            )
    return tuple(events)


# -- messages -----------------------------------------------------------------------------------


def _worst(verdict: Verdict) -> Any:
    return next(each for each in verdict.findings if each.action is verdict.action)


def _reason(verdict: Verdict) -> str:
    worst = _worst(verdict)
    return printable(f"blocked by policy: {worst.reason} ({worst.rule}): {worst.matched}")


def _refusal(left: tuple[PolicyQuestion, ...], answer: PolicyAnswer) -> str:
    first = left[0]
    why = "nobody could be asked" if answer is PolicyAnswer.NOBODY else "the answer was no"
    return printable(f"blocked by policy: {first.reason} ({first.rule}), and {why}")


def _hint(verdict: Verdict) -> str:
    worst = _worst(verdict)
    if worst.rule == "policy-broken":
        return "correct the file; `policy.enabled: false` in the project's settings switches it off"
    return how_to_only_warn(verdict) or _how_to_change(worst.rule)


def _how_to_change(rule: str) -> str:
    if Policy.built_in(rule) is None:
        return f"the rule is the project's own, or yours: `siding policy show {rule}`"
    return (
        f"`siding policy show {rule}` says where the rule comes from; a policy file changes it "
        f"with `actions: {{{rule}: ask}}`"
    )


def _way_out(left: tuple[PolicyQuestion, ...]) -> str:
    flags = " ".join(dict.fromkeys(f"--allow {each.rule}" for each in left))
    return f"run it at a terminal to be asked, or with `siding run {flags} -- …` if you mean it"
