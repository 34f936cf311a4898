"""For the verbs that run a command in a task's workspace: what is asked before, and told after."""

import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from os.path import basename, isdir, realpath
from shlex import quote
from typing import TYPE_CHECKING

from siding.agents.table import BY_PROGRAM
from siding.faces.cli.edge import complain
from siding.faces.cli.globals import Context
from siding.faces.cli.screen.screen import Screen, inert, shorten
from siding.faces.cli.screen.words import changes_of, changes_with_turns, duration, task_step
from siding.faces.cli.telling.step_words import command_line, event_words, outside_words
from siding.ground.errors import UsageError, counted
from siding.guard.guard import Guard, agent_of, can_be_guarded, guard
from siding.record.place.project import ensure_project
from siding.record.place.quantities import bytes_in
from siding.record.place.wiring import is_in_step
from siding.running.request import RunRequest
from siding.running.run import Ending, RunResult, Terminal, choose_stdin
from siding.sandbox.request import SandboxRequest
from siding.sandbox.sandbox import SandboxPlan, is_guard_open

if TYPE_CHECKING:
    from siding.guard.ruling import Asker, PolicyQuestion, Ruling
    from siding.record.recording.step_details import IsolationReport, Trap
    from siding.record.recording.steps import Step

_TRAPS = 5  # that are named when a run has ended
SHELL_BUILTINS = frozenset({"cd", "export", "source", ".", "alias", "set", "unset", "eval", "exec"})
_MEANWHILE = 4  # that are printed when a run has ended
_SIZES = ("output", "memory", "disk")
_OF_SANDBOX = ("network", "allow_host", "read", "write")


def sandbox_request(arguments: Namespace) -> SandboxRequest:
    """Return what the flags ask for. Raises UsageError."""
    sizes = {name: _size(name, getattr(arguments, f"max_{name}")) for name in _SIZES}
    given = [name for name in _OF_SANDBOX if getattr(arguments, name)]
    asked = True if given or arguments.sandbox is not None else None
    if given and arguments.no_sandbox:
        flag = given[0].replace("_", "-")
        raise UsageError(f"--{flag} is of the sandbox, and --no-sandbox asks for none")
    return SandboxRequest(
        sandbox=False if arguments.no_sandbox else asked,
        profile=arguments.sandbox or None,
        network=arguments.network,
        hosts=tuple(arguments.allow_host),
        read=tuple(arguments.read),
        write=tuple(arguments.write),
        processes=_count(arguments.max_processes),
        **sizes,
    )


def _size(name: str, text: str | None) -> int | None:
    size = None if text is None else bytes_in(text)
    if text is not None and (size is None or size <= 0):
        raise UsageError(f"--max-{name} {text!r} is not a size", hint="4096, 100MiB or 2GB")
    return size


def _count(text: str | None) -> int | None:
    if text is None:
        return None
    if not text.isascii() or not text.isdecimal() or int(text) < 1:
        raise UsageError(f"--max-processes {text!r} is not a number", hint="a number from 1")
    return int(text)


def terminal_of(arguments: Namespace) -> tuple[Terminal, bool]:
    """Return which streams the command gets, and whether an empty pipe was not passed on."""
    pty = arguments.tty
    if pty is None:
        pty = sys.stdin.isatty() and sys.stdout.isatty() and not arguments.json
    explicit = {"auto": None, "pass": True, "none": False}[arguments.stdin]
    plan, withheld = choose_stdin(explicit)
    out = 2 if arguments.json else 1
    return Terminal(stdin=plan, pty=pty, out=out, err=2), withheld


def ask_guard_once(context: Context, request: RunRequest) -> None:
    """Have the person say, once, how agents run, before the first that runs at a terminal."""
    program = request.argv[0]
    if not can_be_guarded(agent_of(program)) or guard(context.app) is not Guard.UNASKED:
        return
    if is_in_step(context.app):  # it would be an agent that answers
        return
    project, _made = ensure_project(context.app)
    if _is_person_there() and is_guard_open(project, request.sandbox, program):
        from siding.faces.cli.telling.questions import ask_guard

        ask_guard(context.screen, project, program)


def _is_person_there() -> bool:
    """Tell whether somebody reads what we say and types."""
    return sys.stdin.isatty() and sys.stdout.isatty() and sys.stderr.isatty()


def asker(screen: Screen) -> "Asker | None":
    """Return a function that asks a person what the policy asks, or None if nobody is there."""
    if not (sys.stdin.isatty() and screen.err.isatty()):
        return None
    from siding.faces.cli.telling.questions import ask_policy

    return lambda questions: ask_policy(screen, map(_asked, questions))


def _asked(question: "PolicyQuestion") -> str:
    matched = f": {shorten(inert(question.matched), 60)}" if question.matched else ""
    return (
        f"  {command_line(question.command, question.via)}\n"
        f"    {question.reason} ({question.rule}){matched}"
    )


def ask_seen(screen: Screen) -> "Callable[[tuple[Trap, ...]], bool] | None":
    """Return a function that shows traps to a person, or None if nobody is at a terminal."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    from siding.faces.cli.telling.questions import ask_about_traps

    return lambda traps: ask_about_traps(screen, traps, "run the command beside them?")


def say_run(context: Context, result: RunResult) -> None:
    """Say what was recorded first, what stopped the command or how it ended, and its step."""
    screen = context.screen
    for step in result.settled:
        change = changes_of(step)
        what = (
            f"it was cut off; its output and {change} are kept"
            if step.status == "interrupted"
            else f"{step.message}: {change}"
        )
        screen.note(f"{task_step(result.task.name, step.id)} recorded first: {what}", "yellow")
    for hook in result.hooks:
        if hook.exit_code != 0:
            screen.warn(f"{hook.moment} hook {hook.command!r} ended with {hook.exit_code}")
            screen.quote(hook.output)
    if result.untrusted_hooks:
        screen.note(
            f"{counted(result.untrusted_hooks, 'hook')} of the repository did not run; "
            "`siding trust` shows and allows them"
        )
    _say_ruling(screen, result.ruling)
    _say_sandbox(screen, result.sandbox)
    for note in _notes(result):
        screen.note(note, "yellow")
    for sentence in _refused(result):
        screen.note(inert(sentence), "yellow")
    if result.outcome is not None:
        _say_outcome(context, result)
    recorded = result.step
    _say_isolation(screen, result.isolation if recorded is None else recorded.isolation)
    if recorded is not None:
        _say_traps(screen, result.task.name, recorded)
        _say_what_agent_lacks(context, result, recorded)
        _say_step(context, result)


def _say_ruling(screen: Screen, ruling: "Ruling") -> None:
    """Print the policy's verdict on a run."""
    for event in ruling.events:
        if event.action == "warn":
            screen.warn(f"policy: {event_words(event)}")
    if not ruling.runs:
        complain(ruling.reason, ruling.hint)
        for event in ruling.events:
            stops = event.action in ("block", "ask") and event.rule != "policy-broken"
            if stops and event.answer != "no":  # a person who said no has just read it
                screen.note(f"  {event_words(event)}")
    if ruling.withheld:
        screen.note(
            f"{counted(ruling.withheld, 'permission')} in the repository's policy "
            f"{'does' if ruling.withheld == 1 else 'do'} not count; "
            "`siding trust` shows and allows them"
        )


def _say_sandbox(screen: Screen, plan: SandboxPlan) -> None:
    """Print where the sandbox is not as requested."""
    for warning in plan.warnings:
        screen.warn(warning)
    if plan.refusal:
        screen.warn(plan.refusal)
        screen.note("nothing ran; `siding doctor --sandbox` says what works on this machine")


def _notes(result: RunResult) -> tuple[str, ...]:
    """Return what is to be known of the run beside its ending; a step has more of it."""
    ran = None if result.step is None else result.step.as_run
    if ran is not None:
        return ran.notes
    return () if result.outcome is None else result.outcome.notes


def _refused(result: RunResult) -> Sequence[str]:
    ran = None if result.step is None else result.step.as_run
    if ran is None or ran.wire is None:
        return ()
    from siding.usage.wire import refused_lines

    return refused_lines(result.step) if result.step is not None else ()


def _say_outcome(context: Context, result: RunResult) -> None:
    outcome = result.outcome
    assert outcome is not None
    screen = context.screen
    if outcome.ending is Ending.NOT_STARTED:
        screen.warn(outcome.reason or "the command could not be started")
        hint = _hint_for(result.step.cmd if result.step is not None else ())
        if hint:
            screen.note(f"  hint: {hint}")
    elif outcome.reason:
        screen.warn(outcome.reason)
    if outcome.ended_by_us:
        what = counted(len(outcome.ended_by_us), "process", "processes")
        if outcome.ending is Ending.EXITED:  # the command ended by itself
            named = ", ".join(f"{each.pid} ({each.name})" for each in outcome.ended_by_us)
            what = f"what the command left running: process {inert(named)}"
        screen.note(f"ended {what}")
    for process in outcome.survivors:
        screen.warn(f"process {process.pid} ({process.name}) could not be ended")
    for process in outcome.left_running:
        screen.note(f"left running: process {process.pid} ({process.name})", "yellow")
    if outcome.left_running:  # it may be a run that the command has started in the background
        screen.note("  siding runs shows it · siding stop RUN ends it", "dim")


def _hint_for(argv: Sequence[str]) -> str | None:
    """Return a hint about a command that could not be started, if it looks like a line of shell."""
    if not argv:
        return None
    if argv[0] in SHELL_BUILTINS:
        return f"{argv[0]!r} is built into shells: siding run -- sh -c '...'; --cwd DIR runs in DIR"
    if " " in argv[0] and len(argv) == 1:
        return f"a line for the shell is run by one: siding run -- sh -c {quote(inert(argv[0]))}"
    return None


def _blocked_by(result: RunResult) -> str:
    if result.ruling.runs:
        return "stopped by a hook"
    return "held until somebody looks" if result.ruling.by_traps else "blocked by policy"


def _say_isolation(screen: Screen, found: "IsolationReport | None") -> None:
    """Print what changed outside the workspace during a run."""
    if found is None:
        return
    if found.alarms:
        screen.warn("outside the workspace, while this ran (by it or by somebody else):")
        for each in found.alarms:
            screen.warn(f"  {outside_words(each)}")
    for each in found.notes[:_MEANWHILE]:
        screen.note(f"changed meanwhile: {outside_words(each)}", "dim")
    if len(found.notes) > _MEANWHILE:
        screen.note(f"changed meanwhile: {len(found.notes) - _MEANWHILE} more (siding show)", "dim")


def _say_traps(screen: Screen, task: str, step: "Step") -> None:
    """Print what a run in a sandbox left for programs outside of it."""
    ran = step.as_run if step.trap_count else None
    if ran is None or ran.sandbox is None or ran.sandbox.engine is None:
        return
    more = f" and {step.trap_count - _TRAPS} more" if step.trap_count > _TRAPS else ""
    names = ", ".join(each.path for each in step.traps[:_TRAPS])
    show = f"siding trust -t {quote(task)} --show"
    screen.note(f"left for other programs to run: {inert(names)}{more} · {show}", "yellow")


def _say_what_agent_lacks(context: Context, result: RunResult, step: "Step") -> None:
    """Print what an agent that failed may have failed over: our options, settings it cannot see."""
    ran = step.as_run if step.status == "failed" else None
    agent = BY_PROGRAM.get(basename(ran.cmd[0])) if ran is not None and ran.cmd else None
    if ran is None or agent is None or ran.ending != Ending.EXITED:
        return
    screen = context.screen
    if ran.reported is not None and not ran.reported.session:
        words = f"siding run --no-reports -- {agent.name}"
        screen.note(f"  if it does not know an option that Siding adds: {words}", "dim")
    launch, home = result.sandbox.launch, context.app.env.get("HOME", "")
    for name in agent.keeps if launch is not None and home else ():
        place = f"{home}/{name}"
        if launch is not None and isdir(place) and launch.view.hides(realpath(place)):
            screen.note(
                f"{agent.name} keeps its settings in ~/{name}, which the sandbox hides; "
                f"--read ~/{name} shows it",
                "yellow",
            )


def _say_step(context: Context, result: RunResult) -> None:
    step = result.step
    assert step is not None
    how = {
        "timeout": "timed out",
        "interrupted": "interrupted",
        "blocked": _blocked_by(result),
    }.get(step.status, f"exit {step.exit_code}")
    colour = "green" if step.status == "completed" else "red"
    change = changes_with_turns(step)
    screen = context.screen
    screen.note(
        f"{task_step(result.task.name, step.id)} · {how} · {change} · {duration(step.duration_ms)}",
        colour,
    )
    if not step.complete:
        screen.note("not everything was captured; `siding show` says what was left out", "yellow")
    screen.detail(f"task {result.task.id}, snapshot {step.snapshot}")
