"""The verbs `siding agent …` about the agent: whether it can work, and how it is set up."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from siding.faces.cli.formats import print_json
from siding.faces.cli.globals import Context
from siding.faces.cli.screen.screen import inert
from siding.faces.cli.screen.table import print_table
from siding.faces.cli.screen.words import duration, size
from siding.faces.cli.verb import Verb

if TYPE_CHECKING:
    from siding.assistant.views.doctor import AgentFinding, AgentVariable
    from siding.assistant.views.performance import StartPhase
    from siding.assistant.views.spending import ToolSpending


_COLOURS = {"ok": "green", "note": "yellow", "broken": "red"}  # by `Health`


def _doctor_options(parser: ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print it as JSON")


def _doctor(arguments: Namespace, context: Context) -> int:
    from siding.assistant.views.doctor import Health, agent_findings

    found = list(agent_findings(context.app))
    if arguments.json:
        print_json(context.screen, [each._asdict() for each in found])
    else:
        for each in found:
            _print_doctor(context, each)
    return 1 if any(each.health is Health.BROKEN for each in found) else 0


DOCTOR = Verb(
    """\
Say whether the agent can work here, and what is missing. The exit status is 1 if something is.

It looks at the model, its libraries and key (which is never shown), the files of settings and what
of them is withheld, what searches files, the sandbox, the broker of a run, and Siding's home. No
model is asked, and nothing is changed. `siding doctor` looks at the records of the project.
""",
    _doctor_options,
    _doctor,
)


def _print_doctor(context: Context, found: AgentFinding) -> None:
    from siding.assistant.views.doctor import Health

    screen = context.screen
    mark = screen.style(f"{found.health:<7}", _COLOURS[found.health])
    screen.print(f"{mark} {found.what}: {inert(found.text)}")
    if found.hint and found.health is not Health.OK:
        screen.print(f"        {inert(found.hint)}")


def _env_options(parser: ArgumentParser) -> None:
    parser.add_argument("-a", "--all", action="store_true", help="those that are not set, too")
    parser.add_argument("--json", action="store_true", help="print it as JSON")


def _env(arguments: Namespace, context: Context) -> int:
    from siding.assistant.settings import NO_FLAGS, values_here
    from siding.assistant.views.doctor import variables

    found = variables(context.app.env)
    values = values_here(context.app, NO_FLAGS)
    by_settings = {name: values.origins[f"env.{name}"].source for name in values.env}
    if arguments.json:
        document = {"variables": [each._asdict() for each in found], "by_settings": by_settings}
        print_json(context.screen, document)
        return 0
    shown = sorted(found, key=lambda each: not each.is_set)
    rows = [_env_cells(each) for each in shown if each.is_set or arguments.all]
    rows += [
        (inert(name), "set, not shown", f"by the settings: {inert(source)}")
        for name, source in by_settings.items()
    ]
    if rows:
        print_table(context.screen, ("VARIABLE", "VALUE", "WHAT IT IS"), rows)
    else:
        context.screen.note("none is set; --all names them")
    return 0


ENV = Verb(
    """\
List the variables that the agent reads, and whether they are set. Keys are never shown.

Those that are set come first in the list; --all shows the others, too. Of an address no password
and no query is shown. Variables that the settings set for the agent's commands are named with their
file.
""",
    _env_options,
    _env,
)


def _env_cells(each: AgentVariable) -> tuple[str, str, str]:
    value = inert(each.value) or "-"
    if each.is_set and each.is_secret:
        value = "set, not shown"
    return each.name, value, each.about


_NEWEST = "-"


def _perf_options(parser: ArgumentParser) -> None:
    parser.add_argument(
        "session", nargs="?", metavar="SESSION", default="", help="this conversation's calls, too"
    )
    parser.add_argument("--json", action="store_true", help="print it as JSON")


def _perf(arguments: Namespace, context: Context) -> int:
    from siding.assistant.views.conversation import calls_of, looked_at
    from siding.assistant.views.performance import start_phases
    from siding.assistant.views.spending import tools_used
    from siding.record.place.project import require_project

    screen = context.screen
    tools: tuple[ToolSpending, ...] = ()
    if arguments.session:
        named = "" if arguments.session == _NEWEST else arguments.session
        tools = tools_used(calls_of(looked_at(require_project(context.app), named).history))
    phases = start_phases(context.app)
    if arguments.json:
        document = {
            "phases": [each._asdict() for each in phases],
            "tools": [each._asdict() for each in tools],
        }
        print_json(screen, document)
        return 0
    heads = ("PHASE", "CPU", "MEMORY", "MODULES", "")
    print_table(screen, heads, [_perf_cells(each) for each in phases])
    if arguments.session and not tools:
        screen.note("no tool was called in the conversation")
    if tools:
        rows = [
            (inert(each.name), str(each.calls), duration(each.total_ms), duration(each.longest_ms))
            for each in tools
        ]
        screen.print()
        print_table(screen, ("TOOL", "CALLS", "TIME", "LONGEST"), rows)
    return 0


PERF = Verb(
    """\
Measure what it costs to start the agent: CPU time, memory and modules of each phase.

Each phase includes those before it, and runs in a process of its own. With SESSION also how long
the calls of that conversation took, by tool; `-` is the newest of this workspace.
""",
    _perf_options,
    _perf,
)


def _perf_cells(phase: StartPhase) -> tuple[str, ...]:
    if phase.problem:
        return (phase.name, "-", "-", "-", f"{phase.about}: {inert(phase.problem)}")
    cpu = f"{phase.cpu_us / 1000:.0f} ms"
    return (phase.name, cpu, size(phase.memory), str(phase.modules), phase.about)


_SHOW = ("current", "status")  # as Claude Code's /effort has it


def _effort_options(parser: ArgumentParser) -> None:
    parser.add_argument(
        "effort",
        nargs="?",
        metavar="EFFORT",
        default="",
        help="low, medium, high, xhigh, a number of tokens, or auto",
    )
    parser.add_argument("--json", action="store_true", help="print it as JSON")


def _effort(arguments: Namespace, context: Context) -> int:
    from siding.assistant.views.effort import effort_here, set_effort

    app, screen = context.app, context.screen
    lines: tuple[str, ...] = ()
    if arguments.effort and arguments.effort.strip().lower() not in _SHOW:
        lines = set_effort(app, arguments.effort)
    found = effort_here(app)
    if arguments.json:
        print_json(
            screen,
            {
                "effort": found.choice.effort,
                "by": found.choice.by.name.lower(),
                "source": found.source,
                "kept": found.kept,
                "variable": found.variable,
                "said": list(lines),
            },
        )
        return 0
    for line in lines or (found.text,):
        screen.print(inert(line))
    return 0


EFFORT = Verb(
    """\
Show how much the model is to think, and who says so; with EFFORT, keep another one.

EFFORT is low, medium, high, xhigh, or a number of tokens; `auto` leaves it to the model again. It
is kept for all your projects. `--effort` of `siding agent` goes before it, and so does the variable
SIDING_AGENT_EFFORT; settings of the project or of the machine may as well. `max` is not kept: give
it with `--effort`.

  siding agent effort
  siding agent effort high
""",
    _effort_options,
    _effort,
)
