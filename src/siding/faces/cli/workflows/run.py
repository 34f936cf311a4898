"""The verbs that work on a run of a workflow: begin one, go on with one."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING

from siding.faces.cli.edge import guarded
from siding.faces.cli.globals import Context
from siding.faces.cli.screen.screen import inert
from siding.faces.cli.screen.words import task_name
from siding.faces.cli.verb import Verb
from siding.ground.errors import SidingError, UsageError

if TYPE_CHECKING:
    from siding.record.place.project import Project
    from siding.workflows.acts.request import ResumeRequest
    from siding.workflows.acts.run import Prepared
    from siding.workflows.acts.scripts import FoundScript


_STANDARD_INPUT = "-"


_UNITS = {"k": 1000, "m": 1_000_000}


def _run_options(parser: ArgumentParser) -> None:
    parser.add_argument("workflow", metavar="WORKFLOW", help="a name, a script, or -")
    parser.add_argument("words", nargs="*", metavar="NAME=TEXT", help="an argument; NAME:=JSON")
    parser.add_argument("--args", metavar="JSON", help="all arguments as JSON, or as a text")
    parser.add_argument("-t", "--task", metavar="TASK", help="the task (default: this terminal's)")
    parser.add_argument("--agent", default="", metavar="TYPE", help="for calls that name none")
    parser.add_argument("--model", default="", metavar="MODEL", help="for calls that name none")
    parser.add_argument(
        "--slots", type=int, metavar="N", help="agents at once, 1 to 16 (default: 3)"
    )
    parser.add_argument("--budget", metavar="TOKENS", help="what all may write: 500k, 2M")
    parser.add_argument("--dollars", type=float, metavar="N", help="what all may cost")
    parser.add_argument("--sandbox", action="store_true", help="run the agents in a sandbox")
    parser.add_argument("--trust", action="store_true", help="allow the repository's script, as is")
    parser.add_argument("-d", "--detach", action="store_true", help="go on in the background")


def _warn_of_unread(context: Context, found: FoundScript, words: list[str]) -> None:
    """Say which of the arguments the script does not read by their names: they may be misspelt."""
    from siding.workflows.acts.scripts import arguments_in

    known = arguments_in(found.source)
    given = [word.partition("=")[0].removesuffix(":") for word in words]
    unread = [name for name in given if name not in known]
    if known and unread:
        context.screen.warn(
            f"{found.name} reads no argument {inert(', '.join(unread))}; it reads "
            f"{inert(', '.join(known))}"
        )


def _run(arguments: Namespace, context: Context) -> int:
    from siding.record.place.project import ensure_project
    from siding.workflows.acts.request import WorkflowOptions, args_from_words
    from siding.workflows.acts.run import WorkflowRequest, prepare

    project, _made = ensure_project(context.app)
    found = find_script(project, arguments.workflow)
    _warn_of_unread(context, found, arguments.words)
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


RUN = Verb(
    """\
Run a workflow: a script that runs many agents, in the task's workspace.

WORKFLOW is a name (`siding workflow list`), the path of a script, or `-` for one on standard input.
Each agent is a run of the task, with a step of its own. Each answer is on disk before the script
gets it: whatever is killed, `siding workflow resume` goes on from there. What the script returns is
printed at the end. Arguments are texts, NAME:=JSON gives another value; a result with a key `exit`
ends the command with that status.

  siding workflow run review 'change=the last two commits'
  siding workflow run fix-until-green 'check=pytest -q' rounds:=3
  siding workflow run plan.py --args '{"goal": "faster start"}' --budget 2M
""",
    _run_options,
    _run,
    mixed=True,
)


def carry_out_and_tell(
    context: Context, project: Project, prepared: Prepared, *, detach: bool
) -> int:
    """Work on a run, here or in the background, and tell how it goes; return the exit status."""
    from siding.faces.cli.workflows.lines import RunLines, say_end
    from siding.workflows.acts.background import carry_out_detached, tell_ended
    from siding.workflows.acts.run import carry_out, make_agents

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
    from siding.workflows.acts.trust import not_trusted_in
    from siding.workflows.acts.views import ScriptError

    try:
        return not_trusted_in(project, found.script())
    except ScriptError:
        return []  # whoever prepares the run says what is wrong with it


def allow(
    context: Context, project: Project, scripts: Sequence[FoundScript], *, is_allowed: bool
) -> None:
    """Allow scripts of the repository that nobody has allowed yet, if the person here says so."""
    from siding.workflows.acts.trust import is_trusted, trust

    for found in scripts:
        if is_trusted(project, found):
            continue
        if is_allowed or _asked_and_allowed(context, found):
            trust(project, found)


def find_script(project: Project, workflow: str) -> FoundScript:
    """Return the script that a person names. Raises WorkflowNotFound and ScriptError."""
    from siding.workflows.acts.scripts import at, inline, named

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


def _resume_options(parser: ArgumentParser) -> None:
    parser.add_argument(
        "run", nargs="?", metavar="RUN", help="an id, the beginning of one, or last"
    )
    parser.add_argument("-a", "--all", action="store_true", help="all runs that were interrupted")
    parser.add_argument("--script", metavar="FILE", help="with this script in the place of the old")
    parser.add_argument("--anew", action="store_true", help="run every agent again")
    parser.add_argument("--agents", metavar="IDS", help="run these again, too: 2,5 or 3-7")
    parser.add_argument(
        "--rerun-lost", action="store_true", help="go on though lines of the journal are lost"
    )
    parser.add_argument("--trust", action="store_true", help="allow what its script calls, as is")
    parser.add_argument("--budget", metavar="TOKENS", help="what all may write now: 500k, 2M")
    parser.add_argument("--dollars", type=float, metavar="N", help="what all may cost now")
    parser.add_argument("-d", "--detach", action="store_true", help="go on in the background")


def _resume(arguments: Namespace, context: Context) -> int:
    from siding.record.place.project import require_project
    from siding.workflows.acts.request import ResumeRequest
    from siding.workflows.acts.run import called_again, policy_from_words, prepare_again

    if (arguments.run is None) == (not arguments.all):
        raise UsageError("name one run, or --all", hint="`siding workflow list` shows the runs")
    project = require_project(context.app)
    if arguments.trust and arguments.run is not None:
        source = _read(context, arguments.script) if arguments.script else None
        allow(context, project, called_again(project, arguments.run, source), is_allowed=True)
    policy = policy_from_words(anew=arguments.anew, agents=arguments.agents)
    source = None if arguments.script is None else _read(context, arguments.script)
    request = ResumeRequest(
        policy=policy,
        source=source,
        tokens=tokens_in(arguments.budget),
        dollars=arguments.dollars,
        reruns_lost=arguments.rerun_lost,
    )
    if arguments.all:
        return _resume_all(context, project, request)
    prepared = prepare_again(project, arguments.run, request)
    return carry_out_and_tell(context, project, prepared, detach=arguments.detach)


RESUME = Verb(
    """\
Go on with a run of a workflow: what is recorded is not run again.

Agents that failed are run again, those that were at work when the run was cut off go on with their
conversation where they can. With an edited script (`--script`) calls that did not change are taken
from the record; a changed one and what follows it in its lane are made anew, and it is said why.
""",
    _resume_options,
    _resume,
)


def _resume_all(context: Context, project: Project, request: ResumeRequest) -> int:
    """Go on with each run that was interrupted, in the background. One that cannot is named."""
    from siding.workflows.acts.run import interrupted, prepare_again

    runs = interrupted(project)
    if not runs:
        context.screen.note("no run was interrupted")
    worst = 0
    for run_id in runs:
        try:
            prepared = prepare_again(project, run_id, request)
            status = carry_out_and_tell(context, project, prepared, detach=True)
        except (SidingError, OSError) as error:
            context.screen.warn(f"the run {run_id} is not resumed: {inert(str(error))}")
            status = 1
        worst = max(worst, status)
    return worst


def _read(context: Context, path: str) -> str:
    from pathlib import Path

    try:
        return Path(context.app.cwd / path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SidingError(f"{path!r} cannot be read: {error}") from None


def _work_options(parser: ArgumentParser) -> None:
    parser.add_argument("run")
    parser.add_argument("--sandbox", action="store_true")


def _work(arguments: Namespace, context: Context) -> int:
    from siding.faces.cli.workflows.lines import status_of
    from siding.record.place.project import require_project
    from siding.workflows.acts.request import ResumeRequest
    from siding.workflows.acts.run import carry_out, make_agents, prepare_again

    project = require_project(context.app)
    prepared = prepare_again(project, arguments.run, ResumeRequest())
    if arguments.sandbox:
        prepared = prepared._replace(options=prepared.options._replace(sandbox=True))
    done = carry_out(project, prepared, make_agents, lambda _event, _state: None)
    return status_of(done)


WORK = Verb(
    """\
Work on a run of a workflow, in the background. The broker of a run calls this; nobody else.""",
    _work_options,
    _work,
)
