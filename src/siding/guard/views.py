"""Read-only views of the policy: the verdict on a command, the rules, the project's examples."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from siding.ground.errors import NoActiveTask, NotFound, SidingError
from siding.ground.files.regular import read_bytes
from siding.ground.git.errors import NotARepository
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.fields import mappings, text, words
from siding.guard.in_force import (
    InForce,
    PolicyGround,
    PolicySource,
    environment_for,
    ground_here,
    ground_of,
    place_for,
    policy_in,
    project_file,
)
from siding.record.place.project import find_project
from siding.record.place.sandbox_inside import home_is_hidden
from siding.record.place.selection import select
from siding.shellguard.engine import check_argv, check_line, check_tool
from siding.shellguard.file import PolicyMistake, read_examples
from siding.shellguard.policy import Policy
from siding.shellguard.rules import BUILT_IN, Rule
from siding.shellguard.tool_use import ToolUse
from siding.shellguard.verdict import Action, CommandPart, RuleFinding, Verdict

if TYPE_CHECKING:
    from siding.record.place.project import Project
    from siding.record.place.wiring import App
    from siding.shellguard.paths import JudgingPlace

EXAMPLES = "policy-tests.yaml"  # beside the policy file


class PolicyBroken(SidingError):
    """A policy, or its examples, cannot be read."""

    code = "policy_broken"
    exit_code = 5


class CheckedCommand(NamedTuple):
    """The verdict on a command in the working directory."""

    verdict: Verdict
    on: bool | None  # whether `siding run` applies the policy; None if a sandbox hides the settings
    workspace: Path  # the directory that the command was taken to run in


class ListedRule(NamedTuple):
    """One rule, its action, and the source of the action."""

    rule: Rule
    action: str  # an Action, or "off"
    source: str  # "built-in", "yours" or "project"


class Tried(NamedTuple):
    """One example from a project's policy, and the verdict on it."""

    line: str
    wanted: Action
    verdict: Verdict

    @property
    def holds(self) -> bool:
        """Whether the verdict is as wanted; "allow" also accepts log and warn."""
        if self.wanted is Action.ALLOW:
            return self.verdict.runs
        return self.verdict.action is self.wanted


def check(app: "App", command: tuple[str, ...] | str) -> CheckedCommand:
    """Judge a shell command line (a str) or an argument list as `siding run` would; run nothing."""
    ground = ground_here(app)
    in_force = policy_in(ground)
    place, workspace = _place(ground, in_force.policy)
    verdict = _verdict(app, in_force, place, command)
    return CheckedCommand(verdict=verdict, on=is_on(app, in_force), workspace=workspace)


def check_in(
    project: "Project",
    workspace: Path,
    cwd: Path,
    command: tuple[str, ...] | str | ToolUse,
    notes: tuple[str, ...] = (),
) -> CheckedCommand:
    """Judge what is done in the directory `cwd` of a task's workspace; run nothing.

    `notes` are directories in the home that may be written besides.
    """
    ground = ground_of(project)
    in_force = policy_in(ground)
    place = place_for(ground, cwd=cwd, workspace=workspace, policy=in_force.policy)
    own = (os.path.realpath(f"{place.home}/{each}") for each in notes)
    place = place._replace(writable=(*place.writable, *own))
    verdict = _verdict(project.app, in_force, place, command)
    return CheckedCommand(verdict=verdict, on=in_force.on, workspace=workspace)


def _verdict(
    app: "App", in_force: InForce, place: "JudgingPlace", command: tuple[str, ...] | str | ToolUse
) -> Verdict:
    if isinstance(command, ToolUse):
        return check_tool(command, place, in_force.policy, environment_for(app.env))
    if isinstance(command, str):
        return check_line(command, place, in_force.policy, environment_for(app.env))
    return check_argv(command, place, in_force.policy, environment_for(app.env))


def is_on(app: "App", in_force: InForce) -> bool | None:
    """Return whether `siding run` applies the policy; None if a sandbox hides the settings."""
    if home_is_hidden(app) and _project(app) is None:
        return None
    return in_force.on


def _project(app: "App") -> "Project | None":
    """Return the project of the working directory; None without a project or a repository."""
    try:
        return find_project(app)
    except NotARepository:
        return None


def rules(app: "App") -> tuple[InForce, list[ListedRule]]:
    """Return the policy in force here and every rule, including those that are switched off."""
    in_force = policy_in(ground_here(app))
    return in_force, [_listed(in_force, rule) for rule in _all_rules(in_force)]


def rule_named(app: "App", name: str) -> ListedRule:
    """Return the rule with this name; raise NotFound."""
    _in_force, listed = rules(app)
    for each in listed:
        if each.rule.name == name:
            return each
    raise NotFound(f"there is no rule {name!r}", hint="`siding policy list` names them")


def examples(app: "App") -> Iterator[Tried]:
    """Yield the project's examples, each judged by the project's policy file alone.

    The file counts as trusted, and the person's own rules do not apply: an example documents what
    the file means, so its verdict must be the same on every machine. Raises PolicyBroken if the
    policy or the examples do not parse.
    """
    ground = ground_here(app)
    source = next((each for each in policy_in(ground).sources if each.name == "project"), None)
    policy = Policy() if source is None else source.policy
    if policy.broken:
        raise PolicyBroken(f"the policy does not parse: {policy.broken}")
    place, _workspace = _place(ground, policy)
    for line, wanted in (*policy.examples, *_own_file(ground)):
        yield Tried(line=line, wanted=wanted, verdict=check_line(line, place, policy))


def as_record(checked: CheckedCommand) -> dict[str, Any]:
    """Return a verdict as a JSON object."""
    return {
        "action": checked.verdict.action.value,
        "runs": checked.verdict.runs,
        "on": checked.on,
        "workspace": str(checked.workspace),
        "parts": [
            {
                "command": part.text,
                "via": list(part.via),
                "action": part.action.value,
                "findings": [each._asdict() for each in part.findings],
            }
            for part in checked.verdict.parts
        ],
    }


def from_record(record: Mapping[str, Any]) -> CheckedCommand:
    """Return the verdict in a JSON object that `as_record` made, in another process."""
    parts = tuple(
        CommandPart(
            text=text(part.get("command")),
            via=words(part.get("via")),
            findings=tuple(
                RuleFinding(
                    rule=text(each.get("rule")),
                    action=_action(each.get("action")),
                    matched=text(each.get("matched")),
                    reason=text(each.get("reason")),
                )
                for each in mappings(part.get("findings"))
            ),
        )
        for part in mappings(record.get("parts"))
    )
    on = record.get("on")
    return CheckedCommand(
        verdict=Verdict(_action(record.get("action")), parts),
        on=on if isinstance(on, bool) else None,
        workspace=Path(text(record.get("workspace"))),
    )


def _action(value: object) -> Action:
    """Return an action; one that this version does not know blocks."""
    known = [each for each in Action if each == value]
    return known[0] if known else Action.BLOCK


def _place(ground: PolicyGround, policy: Policy) -> tuple["JudgingPlace", Path]:
    """Return the place for judging, and its workspace.

    The workspace is that of the active task; without one, the main checkout stands in for it.
    """
    workspace = _workspace(ground.app) or ground.root or ground.app.cwd
    here = ground.app.cwd.resolve()
    cwd = workspace
    for root in (workspace, ground.root):
        if root is not None and here.is_relative_to(root.resolve()):
            cwd = workspace / here.relative_to(root.resolve())
            break
    return place_for(ground, cwd=cwd, workspace=workspace, policy=policy), workspace


def _workspace(app: "App") -> Path | None:
    try:
        project = find_project(app)
        if project is None:
            return None
        workspace = project.registry.of_task(select(project, None).id)
    except (NotARepository, NoActiveTask, NotFound):
        return None
    return None if workspace is None else Path(workspace.path)


def _own_file(ground: PolicyGround) -> tuple[tuple[str, Action], ...]:
    policy = project_file(ground)
    if policy is None:
        return ()
    path = policy.parent / EXAMPLES
    try:
        return read_examples(read_bytes(path, limit=1 << 20))
    except FileNotFoundError:
        return ()
    except PolicyMistake as mistake:
        raise PolicyBroken(f"{path}: {mistake}") from None


def _all_rules(in_force: InForce) -> list[Rule]:
    return [*in_force.policy.rules, *BUILT_IN.values()]


def _listed(in_force: InForce, rule: Rule) -> ListedRule:
    """Return a rule with its action in force, and the file that set this action."""
    if rule.pattern is not None:
        source = _first(in_force.sources, lambda policy: rule in policy.rules)
        return ListedRule(rule=rule, action=rule.action.value, source=source)
    now = in_force.policy.rule(rule.name)
    if now is not None and now.action is rule.action:
        return ListedRule(rule=rule, action=rule.action.value, source="built-in")
    action = "off" if now is None else now.action.value
    source = _first(
        in_force.sources,
        lambda policy: (
            rule.name in policy.off or rule.group in policy.off
            if now is None
            else policy.actions.get(rule.name) is now.action
        ),
    )
    return ListedRule(rule=rule, action=action, source=source)


def _first(sources: tuple[PolicySource, ...], made_it_so: Any) -> str:
    return next((each.name for each in sources if made_it_so(each.policy)), "built-in")
