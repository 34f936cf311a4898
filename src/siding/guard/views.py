"""Read-only views of the policy: the verdict on a command, the rules, the project's examples."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from siding.ground.errors import NoActiveTask, NotFound, SidingError
from siding.ground.files.regular import read_bytes
from siding.ground.git.errors import NotARepository
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.fields import text
from siding.guard.in_force import (
    InForce,
    PolicyGround,
    environment_for,
    ground_here,
    ground_of,
    place_for,
    policy_in,
    project_file,
)
from siding.record.place.project import find_project
from siding.record.place.selection import select
from siding.record.place.wiring import home_is_hidden
from siding.shellguard.face import Action, JudgingPlace, Policy, ToolUse, Verdict

if TYPE_CHECKING:
    from siding.record.place.project import Project
    from siding.record.place.wiring import App

EXAMPLES = "policy-tests.yaml"  # beside the policy file
_BUILT_IN, _OFF = "built-in", "off"


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

    name: str
    group: str  # the set it belongs to
    reason: str
    action: str  # an Action, or "off"
    source: str  # "built-in", "yours" or "project"
    built_in: str = ""  # the action of a built-in rule without any policy
    pattern: str = ""  # of a rule that is not built in


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
    verdict = in_force.policy.judge(command, place, environment_for(app.env))
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
    verdict = in_force.policy.judge(command, place, environment_for(project.app.env))
    return CheckedCommand(verdict=verdict, on=in_force.on, workspace=workspace)


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
    return in_force, [*_of_people(in_force), *_built_in(in_force)]


def rule_named(app: "App", name: str) -> ListedRule:
    """Return the rule with this name; raise NotFound."""
    _in_force, listed = rules(app)
    for each in listed:
        if each.name == name:
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
        yield Tried(line=line, wanted=wanted, verdict=policy.judge(line, place))


def as_record(checked: CheckedCommand) -> dict[str, Any]:
    """Return a verdict as a JSON object."""
    verdict = checked.verdict.as_record()
    return {
        "action": verdict["action"],
        "runs": verdict["runs"],
        "on": checked.on,
        "workspace": str(checked.workspace),
        "parts": verdict["parts"],
    }


def from_record(record: Mapping[str, Any]) -> CheckedCommand:
    """Return the verdict in a JSON object that `as_record` made, in another process."""
    on = record.get("on")
    return CheckedCommand(
        verdict=Verdict.from_record(record),
        on=on if isinstance(on, bool) else None,
        workspace=Path(text(record.get("workspace"))),
    )


def _place(ground: PolicyGround, policy: Policy) -> tuple[JudgingPlace, Path]:
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
        read = Policy.read_examples(read_bytes(path, limit=1 << 20))
    except FileNotFoundError:
        return ()
    if read.broken:
        raise PolicyBroken(f"{path}: {read.broken}")
    return read.examples


def _of_people(in_force: InForce) -> Iterator[ListedRule]:
    """Yield the rules that people have written, each with the first file that has it."""
    files = [(each.name, rule) for each in in_force.sources for rule in each.policy.rules]
    for rule in in_force.policy.rules:
        yield ListedRule(
            name=rule.name,
            group=rule.group,
            reason=rule.reason,
            action=rule.action.value,
            source=next((file for file, each in files if each == rule), _BUILT_IN),
            pattern="" if rule.pattern is None else rule.pattern.pattern,
        )


def _built_in(in_force: InForce) -> Iterator[ListedRule]:
    """Yield the built-in rules, each with its action in force and the file that set this action."""
    for rule in Policy().in_force():
        now = in_force.policy.rule(rule.name)
        listed = ListedRule(
            name=rule.name,
            group=rule.group,
            reason=rule.reason,
            action=_OFF if now is None else now.action.value,
            source=_BUILT_IN,
            built_in=rule.action.value,
        )
        yield listed if now == rule else listed._replace(source=_changed_by(in_force, listed))


def _changed_by(in_force: InForce, rule: ListedRule) -> str:
    """Return the first file that sets the action of a built-in rule."""
    for each in in_force.sources:
        off, actions = each.policy.off, each.policy.actions
        if rule.action == _OFF and (rule.name in off or rule.group in off):
            return each.name
        if rule.action != _OFF and actions.get(rule.name) == rule.action:
            return each.name
    return _BUILT_IN
