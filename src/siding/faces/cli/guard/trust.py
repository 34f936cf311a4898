"""Show what the repository brings that you have to allow, and allow exactly this.

Hooks are shell commands in the repository's `.siding/config.yaml`; they never run before you
allowed them. Its policy, `.siding/policy.yaml`, may always forbid more; what it permits beyond the
built-in rules counts once you allowed it. Sandbox settings and limits in `.siding/config.yaml` may
always make a run narrower; wider only once you allowed it. So may settings of the built-in agent
there: what they permit counts once you allowed it. Workflows in `.siding/workflows` run
agents and commands; each is allowed by its content. Filters and merge drivers in git's own
configuration of the repository (git-crypt, `git lfs install --local`) run programs whenever files
are stored and checked out; each is allowed by its commands. Any change asks again.

With --task it is about files that runs left in the workspace of that task and that another program
runs later, outside: it says that you have seen them, each by its content. Until then `siding
apply`, `siding pr` and runs without a sandbox are held, if the task has had a run in a sandbox.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING

from siding.faces.cli.globals import Context
from siding.faces.cli.screen.screen import Screen, inert
from siding.faces.cli.screen.words import size
from siding.ground.errors import counted

if TYPE_CHECKING:
    from siding.assistant.settings import AskedOfAgent
    from siding.guard.hooks import RepositoryHooks
    from siding.guard.in_force import PolicySource
    from siding.record.place.project import Project
    from siding.record.place.trust import AskedDriver
    from siding.sandbox.settings import AskedByRepository
    from siding.workflows.acts.scripts import FoundScript


_FIRST_LINES = 12


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "-t", "--task", metavar="TASK", help="what its runs left for other programs to run"
    )
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument(
        "-n", "--dry-run", "--show", dest="show", action="store_true", help="only show them"
    )
    choice.add_argument("--revoke", action="store_true", help="allow none any more")


def run(arguments: Namespace, context: Context) -> int:
    from siding.assistant.settings import asked_of_agent, repository_settings, trust_agent
    from siding.guard.hooks import repository_hooks, trust
    from siding.guard.in_force import ground_of, loosening_policy, trust_policy
    from siding.record.place.project import ensure_project
    from siding.record.place.trust import asked_drivers, forget_all, trust_drivers
    from siding.record.recording.calling_step import refuse_inside_step
    from siding.sandbox.settings import trust_sandbox, widening
    from siding.workflows.acts.trust import is_trusted, of_repository
    from siding.workflows.acts.trust import trust as trust_workflow

    project, _made = ensure_project(context.app)
    screen = context.screen
    if arguments.revoke:
        screen.note(f"forgot {counted(forget_all(project), 'allowed set', 'allowed sets')}")
        return 0
    if arguments.task is not None:
        return _see(project, screen, arguments.task, only_show=arguments.show)
    hooks = repository_hooks(project)
    policy = loosening_policy(ground_of(project))
    sandbox = widening(project)
    agent = asked_of_agent(project, repository_settings(project))
    flows = of_repository(project)
    drivers = asked_drivers(project)
    brings = bool(hooks.hooks) or bool(flows) or bool(drivers)
    if not brings and policy is None and sandbox is None and agent is None:
        screen.note("this repository brings no hooks, and no policy that permits more")
        return 0
    _show(screen, hooks, policy, sandbox, drivers)
    _show_agent(screen, agent)
    new = [flow for flow in flows if not is_trusted(project, flow)]
    for flow in flows:
        _show_workflow(screen, flow, is_new=flow in new)
    needed = (bool(new) or any(not each.trusted for each in drivers)) or (
        (bool(hooks.hooks) and not hooks.trusted)
        or (policy is not None and not policy.trusted)
        or (sandbox is not None and not sandbox.trusted)
        or (agent is not None and not agent.trusted)
    )
    if not needed:
        screen.note("they are allowed")
    elif arguments.show:
        screen.note("they are not allowed; `siding trust` allows them")
    else:
        refuse_inside_step(
            project,
            "what the repository brings is a person's to allow",
            hint="`siding trust` in a terminal of your own",
        )
        if hooks.hooks:
            trust(project, hooks)
        if policy is not None:
            trust_policy(project, policy)
        if sandbox is not None:
            trust_sandbox(project, sandbox)
        if agent is not None:
            trust_agent(project, agent)
        trust_drivers(project)
        for flow in new:
            trust_workflow(project, flow)
        screen.note("allowed, as long as they stay exactly these", "green")
    return 0


def _see(project: Project, screen: Screen, task: str, *, only_show: bool) -> int:
    from shlex import quote

    from siding.faces.cli.telling.step_words import TRAPS_SHOWN, trap_words
    from siding.record.recording.held_traps import see
    from siding.record.recording.task_traps import traps_now

    found = traps_now(project, task)
    new = {each.content for each in found.new}
    for trap in found.traps:
        state = "not seen yet" if trap.content in new else "seen"
        screen.print(f"{'trap':<12} {inert(trap_words(trap))}; {state}")
    if not found.traps:
        screen.note("nothing in its workspace is run by another program")
    elif not new:
        screen.note("somebody has seen all of them, as they are")
    elif only_show:
        unrecorded = {each.content for each in found.unrecorded}
        recorded = [each.path for each in found.new if each.content not in unrecorded]
        task = quote(found.task.name)
        if recorded:
            names = " ".join(map(quote, recorded[:TRAPS_SHOWN]))
            screen.note(f"`siding diff -t {task} {names}` shows what is in them")
        if len(recorded) < len(found.new):
            screen.note(f"what git ignores is in no patch: look at it in `siding cd {task}`")
        screen.note(f"`siding trust -t {task}` says that you have seen them")
        if not found.held:
            screen.note("nothing waits for it: the task has had no run in a sandbox")
    else:
        see(project, found.new)
        screen.note("seen, as long as they stay exactly these", "green")
    return 0


def _show_workflow(screen: Screen, flow: FoundScript, *, is_new: bool) -> None:
    lines = flow.source.splitlines()
    state = "not allowed yet" if is_new else "allowed"
    about = f"{counted(len(lines), 'line')}, {size(len(flow.source.encode()))}, {state}"
    screen.print(f"{'workflow':<12} {inert(flow.name)} ({inert(flow.path)}; {about})")
    for line in lines[:_FIRST_LINES] if is_new else ():
        screen.print(f"{'':<12} | {inert(line)}")
    if is_new and len(lines) > _FIRST_LINES:
        screen.print(f"{'':<12} | … {counted(len(lines) - _FIRST_LINES, 'line')} more")


def _show_driver(screen: Screen, driver: AskedDriver) -> None:
    screen.print(f"{driver.kind:<12} {inert(driver.name)} (in git's configuration; {driver.state})")
    for command in driver.commands:
        screen.print(f"{'':<12} | {inert(command)}")


def _show(
    screen: Screen,
    hooks: RepositoryHooks,
    policy: PolicySource | None,
    sandbox: AskedByRepository | None,
    drivers: Sequence[AskedDriver],
) -> None:
    for moment, commands in hooks.hooks.items():
        for command in commands:
            screen.print(f"{moment:<12} {inert(command)}")
    for each in () if policy is None else policy.policy.loosens:
        screen.print(f"{'policy':<12} {inert(each)}")
    for each in () if sandbox is None else sandbox.lines:
        screen.print(f"{'sandbox':<12} {inert(each)}")
    for driver in drivers:
        _show_driver(screen, driver)


def _show_agent(screen: Screen, agent: AskedOfAgent | None) -> None:
    for each in () if agent is None else agent.lines:
        screen.print(f"{'agent':<12} {inert(each)}")
