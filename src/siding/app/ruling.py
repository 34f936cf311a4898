"""Whether a command may run: the policy's verdict, and a person's word where it asks for one.

What a rule blocks does not run. What it asks about runs when a person says so: at the terminal,
with ``--allow RULE``, or earlier, for this very command in this task. Where nobody can be asked the
answer is no. Everything that matched, and every answer, is in the step's ``policy_events``.
"""

from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from siding.app.hooks import HOOK_TIMEOUT_S, Hook, HookResult, run_hook
from siding.app.masking import masked_environment, printable
from siding.app.policy import InForce, environment_for, ground_of, place_for, policy_for_runs
from siding.app.project import Project
from siding.errors import UsageError
from siding.ids import TaskId
from siding.storage import faults
from siding.storage.documents import read_document_or_none, write_document

if TYPE_CHECKING:
    from siding.policy.verdict import Verdict

POLICY_EXIT = 5
ALLOWED_VERSION = 1


class Answer(StrEnum):
    """What became of a question."""

    YES = "yes"
    NO = "no"
    ALWAYS = "always"  # yes, and for this command in this task from now on
    REMEMBERED = "remembered"  # somebody said always
    FLAG = "flag"  # `--allow`
    NOBODY = "nobody"  # there was nobody to ask


class Asked(NamedTuple):
    """One thing a person is asked about."""

    command: str  # the simple command it is about
    via: tuple[str, ...]
    rule: str
    reason: str
    matched: str


Asker = Callable[[tuple[Asked, ...]], Answer]


class Ruling(NamedTuple):
    """What the policy says to one run."""

    runs: bool = True
    events: tuple[Mapping[str, Any], ...] = ()
    reason: str = ""  # why it does not run
    hint: str = ""
    withheld: int = 0  # what of the project's policy does not count, for want of trust

    @property
    def intent(self) -> dict[str, Any]:
        """What is written before anything: a blocked attempt is one, also when Siding dies."""
        return {} if faults.is_enabled("forget-verdict") else self.fields

    @property
    def fields(self) -> dict[str, Any]:
        """What the ledger holds of it."""
        fields: dict[str, Any] = {"policy_events": list(self.events)} if self.events else {}
        if not self.runs:
            fields |= {"status": "blocked", "exit_code": POLICY_EXIT, "reason": self.reason}
        return fields


NO_POLICY = Ruling()


class RunToJudge(NamedTuple):
    """A command, and where it would run."""

    argv: tuple[str, ...]
    cwd: Path
    workspace: Path
    env: Mapping[str, str]  # the whole environment
    added: Mapping[str, str]  # what of it `-e` sets
    task_id: TaskId


def rule_on(
    project: Project, run: RunToJudge, *, allow: tuple[str, ...] = (), ask: Asker | None = None
) -> Ruling:
    """Return whether the command may run. The task's lock is held: an answer may be kept."""
    in_force = policy_for_runs(ground_of(project))
    if in_force is None:
        return NO_POLICY
    inside = bool(project.app.env.get("SIDING_STEP_TOKEN"))  # what runs in a step is no person
    if allow:
        _check_allow(project, in_force, allow, inside=inside)
    verdict = _judge(project, run, in_force)
    ruling = _answered(project, run, verdict, allow, None if inside else ask)
    if not ruling.runs:
        rules = sorted({str(each["rule"]) for each in ruling.events})
        project.events.emit("policy.blocked", task={"id": run.task_id}, rules=rules)
    return ruling._replace(withheld=len(in_force.withheld))


def run_judged_hook(
    project: Project,
    hook: Hook,
    *,
    root: Path,
    env: Mapping[str, str],
    timeout_s: float = HOOK_TIMEOUT_S,
) -> HookResult:
    """Run a hook, unless it came with the repository and the policy blocks it.

    Questions are not asked again: the person who trusted the hook saw exactly this command.
    """
    in_force = policy_for_runs(ground_of(project)) if hook.source == "repository" else None
    if in_force is None:
        return run_hook(hook, cwd=root, env=env, timeout_s=timeout_s)
    from siding.policy.engine import check_line
    from siding.policy.verdict import Action

    place = place_for(ground_of(project), cwd=root, workspace=root, policy=in_force.policy)
    verdict = check_line(hook.command, place, in_force.policy, environment_for(env))
    events = _events(verdict, dict.fromkeys(_questions(verdict), Answer.REMEMBERED))
    told = tuple({**each, "via": [f"{hook.moment} hook", *each["via"]]} for each in events)
    if verdict.action is not Action.BLOCK:
        done = run_hook(hook, cwd=root, env=env, timeout_s=timeout_s)
        return done._replace(policy_events=told)
    return HookResult(
        moment=hook.moment, command=hook.command, source=hook.source, exit_code=POLICY_EXIT,
        output=_reason(verdict), policy_events=told,
    )  # fmt: skip


def hook_fields(ruling: Ruling, hooks: Iterable[HookResult]) -> dict[str, Any]:
    """Return what the ledger holds of the hooks of a step, and of the rules they matched."""
    records = [each._asdict() for each in hooks]
    events = [event for record in records for event in record.pop("policy_events")]
    fields: dict[str, Any] = {"hooks": records} if records else {}
    return {**fields, "policy_events": [*ruling.events, *events]} if events else fields


# -- the verdict --------------------------------------------------------------------------------


def _judge(project: Project, run: RunToJudge, in_force: InForce) -> "Verdict":
    from siding.policy.engine import check_argv

    place = place_for(
        ground_of(project), cwd=run.cwd, workspace=run.workspace, policy=in_force.policy
    )
    argv = run.argv
    if run.added:  # judged as `env K=V COMMAND` is
        values = masked_environment(run.added)
        argv = ("env", *(f"{name}={value}" for name, value in values.items()), *argv)
    return check_argv(argv, place, in_force.policy, environment_for(run.env))


def _check_allow(
    project: Project, in_force: InForce, allow: tuple[str, ...], *, inside: bool
) -> None:
    from siding.policy.verdict import Action

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
    verdict: "Verdict",
    allow: tuple[str, ...],
    ask: Asker | None,
) -> Ruling:
    """Put the verdict's questions to whoever can answer them."""
    from siding.policy.verdict import Action

    questions = _questions(verdict)
    if verdict.action is Action.BLOCK:
        blocked = Ruling(runs=False, reason=_reason(verdict), hint=_hint(verdict))
        return blocked._replace(events=_events(verdict, {}))
    kept = _kept(project, run.task_id) if questions else frozenset()
    answers: dict[Asked, Answer] = {}
    for each in questions:
        if each.rule in allow:
            answers[each] = Answer.FLAG
        elif (each.rule, each.command) in kept:
            answers[each] = Answer.REMEMBERED
    left = tuple(each for each in questions if each not in answers)
    answer = Answer.YES
    if left:
        answer = Answer.NOBODY if ask is None else ask(left)
        answers |= dict.fromkeys(left, answer)
    events = _events(verdict, answers)
    if answer is Answer.ALWAYS:
        _keep(project, run.task_id, left)
    if answer in (Answer.YES, Answer.ALWAYS):
        return Ruling(events=events)
    return Ruling(runs=False, events=events, reason=_refusal(left, answer), hint=_way_out(left))


def _questions(verdict: "Verdict") -> tuple[Asked, ...]:
    from siding.policy.verdict import Action

    return tuple(
        Asked(command=part.text, via=part.via, rule=finding.rule, reason=finding.reason,
              matched=finding.matched)
        for part in verdict.parts
        for finding in part.findings
        if finding.action is Action.ASK
    )  # fmt: skip


def _events(verdict: "Verdict", answers: Mapping[Asked, Answer]) -> tuple[Mapping[str, Any], ...]:
    told = {(each.command, each.rule, each.matched): answer for each, answer in answers.items()}
    events = []
    for event in verdict.events():
        spelled = {key: _printable(value) for key, value in event.items()}
        answer = told.get((event["command"], event["rule"], event["matched"]))
        if event["action"] == "ask" and answer is not None:
            spelled["answer"] = answer.value
        events.append(spelled)
    return tuple(events)


def _printable(value: Any) -> Any:
    if isinstance(value, list):
        return [printable(each) for each in value]
    return printable(value) if isinstance(value, str) else value


# -- the words ----------------------------------------------------------------------------------


def _worst(verdict: "Verdict") -> Any:
    return next(each for each in verdict.findings if each.action is verdict.action)


def _reason(verdict: "Verdict") -> str:
    worst = _worst(verdict)
    return printable(f"blocked by policy: {worst.reason} ({worst.rule}): {worst.matched}")


def _refusal(left: tuple[Asked, ...], answer: Answer) -> str:
    first = left[0]
    why = "nobody could be asked" if answer is Answer.NOBODY else "the answer was no"
    return printable(f"blocked by policy: {first.reason} ({first.rule}), and {why}")


def _hint(verdict: "Verdict") -> str:
    worst = _worst(verdict)
    if worst.rule == "policy-broken":
        return "correct the file; `policy.enabled: false` in the project's settings switches it off"
    return _how_to_change(worst.rule)


def _how_to_change(rule: str) -> str:
    from siding.policy.rules import BUILT_IN

    if rule not in BUILT_IN:
        return f"the rule is the project's own, or yours: `siding policy show {rule}`"
    return (
        f"`siding policy show {rule}` says where the rule comes from; a policy file changes it "
        f"with `actions: {{{rule}: ask}}`"
    )


def _way_out(left: tuple[Asked, ...]) -> str:
    flags = " ".join(dict.fromkeys(f"--allow {each.rule}" for each in left))
    return f"run it at a terminal to be asked, or with `siding run {flags} -- …` if you mean it"


# -- answers that are kept ----------------------------------------------------------------------


def _allowed_json(project: Project, task_id: TaskId) -> Path:
    return project.task_layout(task_id).root / "allowed.json"


def _kept(project: Project, task_id: TaskId) -> frozenset[tuple[str, str]]:
    """Return (rule, command) of what somebody allowed for good in this task."""
    document = read_document_or_none(
        _allowed_json(project, task_id), what="answers to the policy", version=ALLOWED_VERSION
    )
    entries = (document or {}).get("allowed")
    return frozenset(
        (str(each.get("rule")), str(each.get("command")))
        for each in (entries if isinstance(entries, list) else [])
        if isinstance(each, dict)
    )


def _keep(project: Project, task_id: TaskId, answered: tuple[Asked, ...]) -> None:
    path = _allowed_json(project, task_id)
    document = read_document_or_none(path, what="answers to the policy", version=ALLOWED_VERSION)
    before = (document or {}).get("allowed")
    entries = [
        {"rule": each.rule, "command": each.command, "at": project.app.now()} for each in answered
    ]
    kept = [*(before if isinstance(before, list) else []), *entries]
    write_document(path, {"version": ALLOWED_VERSION, "allowed": kept})
