"""Run a workflow: a script that runs many agents, in the task's workspace.

WORKFLOW is a name (`siding workflow list`), the path of a script, or `-` for one on standard input.
Each agent is a run of the task, with a step of its own. Each answer is on disk before the script
gets it: whatever is killed, `siding workflow resume` goes on from there. What the script returns is
printed at the end. Arguments are texts, NAME:=JSON gives another value; a result with a key `exit`
ends the command with that status.

  siding workflow run review 'change=the last two commits'
  siding workflow run fix-until-green 'check=pytest -q' rounds:=3
  siding workflow run plan.py --args '{"goal": "faster start"}' --budget 2M
"""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence

from siding.faces.cli.edge import guarded
from siding.faces.cli.globals import Context
from siding.faces.cli.screen.screen import inert
from siding.faces.cli.screen.words import task_name
from siding.faces.cli.telling.workflow_ends import say_end
from siding.faces.cli.telling.workflow_lines import RunLines
from siding.ground.errors import UsageError
from siding.record.place.project import Project, ensure_project
from siding.workflows.acts.agents import make_agents
from siding.workflows.acts.background import carry_out_detached, tell_ended
from siding.workflows.acts.request import WorkflowOptions, args_from_words
from siding.workflows.acts.run import Prepared, WorkflowRequest, carry_out, prepare
from siding.workflows.acts.scripts import FoundScript, at, inline, named
from siding.workflows.acts.trust import is_trusted, not_trusted_in, trust
from siding.workflows.acts.views import ScriptError

MIXED = True
_STANDARD_INPUT = "-"
_UNITS = {"k": 1000, "m": 1_000_000}


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("workflow", metavar="WORKFLOW", help="a name, a script, or - ")
    parser.add_argument("words", nargs="*", metavar="NAME=TEXT", help="an argument; NAME:=JSON")
    parser.add_argument("--args", metavar="JSON", help="all arguments as JSON, or as a text")
    parser.add_argument("-t", "--task", metavar="TASK", help="the task (default: this terminal's)")
    parser.add_argument("--agent", default="", metavar="TYPE", help="for calls that name none")
    parser.add_argument("--model", default="", metavar="MODEL", help="for calls that name none")
    parser.add_argument("--slots", type=int, metavar="N", help="agents at once, 1 to 16 (3)")
    parser.add_argument("--budget", metavar="TOKENS", help="what all may write: 500k, 2M")
    parser.add_argument("--dollars", type=float, metavar="N", help="what all may cost")
    parser.add_argument("--sandbox", action="store_true", help="run the agents in a sandbox")
    parser.add_argument("--trust", action="store_true", help="allow the repository's script, as is")
    parser.add_argument("-d", "--detach", action="store_true", help="go on in the background")


def run(arguments: Namespace, context: Context) -> int:
    project, _made = ensure_project(context.app)
    found = find_script(project, arguments.workflow)
    allow(context, project, [found], is_allowed=arguments.trust)
    allow(context, project, called_by(project, found), is_allowed=arguments.trust)
    prepared = prepare(
        project,
        WorkflowRequest(
            found=found,
            args=args_from_words(arguments.words, arguments.args),
            task=arguments.task,
            options=WorkflowOptions(
                max_concurrency=arguments.slots,
                tokens=tokens_in(arguments.budget),
                dollars=arguments.dollars,
                agent_type=arguments.agent,
                model=arguments.model,
                sandbox=arguments.sandbox,
            ),
        ),
    )
    for problem in prepared.script.warnings:
        context.screen.warn(inert(str(problem)))
    return carry_out_and_tell(context, project, prepared, detach=arguments.detach)


def carry_out_and_tell(
    context: Context, project: Project, prepared: Prepared, *, detach: bool
) -> int:
    """Work on a run, here or in the background, and tell how it goes; return the exit status."""
    run_id = prepared.folder.run_id
    context.screen.note(
        f"workflow {inert(prepared.name)} · run {run_id} · task {task_name(prepared.task.name)}"
    )
    if detach:
        status = carry_out_detached(project, prepared, make_agents, guarded)
        if status == 0:
            context.screen.print(run_id)
            context.screen.note(f"it goes on: `siding workflow watch {run_id}`")
        return status
    done = carry_out(project, prepared, make_agents, RunLines(context.screen))
    tell_ended(project, run_id, detached=False)
    return say_end(context.screen, done)


def called_by(project: Project, found: FoundScript) -> list[FoundScript]:
    """Return the workflows that a script calls and that nobody has allowed yet."""
    try:
        return not_trusted_in(project, found.script())
    except ScriptError:
        return []  # whoever prepares the run says what is wrong with it


def allow(
    context: Context, project: Project, scripts: Sequence[FoundScript], *, is_allowed: bool
) -> None:
    """Allow scripts of the repository that nobody has allowed yet, if the person here says so."""
    for found in scripts:
        if is_trusted(project, found):
            continue
        if is_allowed or _asked_and_allowed(context, found):
            trust(project, found)


def find_script(project: Project, workflow: str) -> FoundScript:
    """Return the script that a person names. Raises WorkflowNotFound and ScriptError."""
    if workflow == _STANDARD_INPUT:
        return inline(sys.stdin.read())
    if "/" in workflow or workflow.endswith((".py", ".js", ".mjs", ".ts")):
        return at(project, workflow, anywhere=True)
    return named(project, workflow)


def tokens_in(text: str | None) -> int | None:
    """Return the tokens in ``500k``, ``2M`` or ``1000``. Raises UsageError."""
    if text is None:
        return None
    digits, unit = (text[:-1], text[-1].lower()) if text[-1:].lower() in _UNITS else (text, "")
    try:
        count = int(float(digits) * _UNITS.get(unit, 1))
    except ValueError:
        count = 0
    if count <= 0:
        raise UsageError(f"--budget {text!r} is no number of tokens", hint="500k, 2M or 10000")
    return count


def _asked_and_allowed(context: Context, found: FoundScript) -> bool:
    """Show a script of the repository to a person at a terminal, and ask; False without one."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    screen = context.screen
    screen.note(f"the workflow {inert(found.name)} comes with the repository: {inert(found.path)}")
    for line in found.source.splitlines():
        screen.note(f"  | {inert(line)}", "dim")
    screen.note("it runs agents and commands; allow it, as it is? [y/N]", "yellow")
    return sys.stdin.readline().strip().lower() in {"y", "yes"}
