"""Show what the repository brings that you have to allow, and allow exactly this.

Hooks are shell commands in the repository's `.siding/config.yaml`; they never run before you
allowed them. Its policy, `.siding/policy.yaml`, may always forbid more; what it permits beyond the
built-in rules counts once you allowed it. Sandbox settings and limits in `.siding/config.yaml` may
always make a run narrower; wider only once you allowed it. Any change asks again.
"""

from argparse import ArgumentParser, Namespace

from siding.app.place.project import ensure_project
from siding.app.place.trust import forget_all
from siding.app.policy.hooks import RepositoryHooks, repository_hooks, trust
from siding.app.policy.in_force import PolicySource, ground_of, loosening_policy, trust_policy
from siding.app.recording.calling_step import refuse_inside_step
from siding.app.sandbox.trust import AskedByRepository, trust_sandbox, widening
from siding.cli.globals import Context
from siding.cli.screen.screen import Screen, inert
from siding.cli.screen.words import counted


def add_arguments(parser: ArgumentParser) -> None:
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--show", action="store_true", help="only show them")
    choice.add_argument("--revoke", action="store_true", help="allow none any more")


def run(arguments: Namespace, context: Context) -> int:
    project, _made = ensure_project(context.app)
    screen = context.screen
    if arguments.revoke:
        screen.note(f"forgot {counted(forget_all(project), 'allowed set', 'allowed sets')}")
        return 0
    hooks = repository_hooks(project)
    policy = loosening_policy(ground_of(project))
    sandbox = widening(project)
    if not hooks.hooks and policy is None and sandbox is None:
        screen.note("this repository brings no hooks, and no policy that permits more")
        return 0
    _show(screen, hooks, policy, sandbox)
    needed = (
        (bool(hooks.hooks) and not hooks.trusted)
        or (policy is not None and not policy.trusted)
        or (sandbox is not None and not sandbox.trusted)
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
        screen.note("allowed, as long as they stay exactly these", "green")
    return 0


def _show(
    screen: Screen,
    hooks: RepositoryHooks,
    policy: PolicySource | None,
    sandbox: AskedByRepository | None,
) -> None:
    for moment, commands in hooks.hooks.items():
        for command in commands:
            screen.print(f"{moment:<12} {inert(command)}")
    for each in () if policy is None else policy.policy.loosens:
        screen.print(f"{'policy':<12} {inert(each)}")
    for each in () if sandbox is None else sandbox.lines:
        screen.print(f"{'sandbox':<12} {inert(each)}")
